//! Sets of ids as bits, with a summary so that sparse sets cost what they hold.

use std::{fmt, marker::PhantomData};

use crate::base::ids::Id;

const BITS: usize = u64::BITS as usize;

/// A set of ids of one kind.
///
/// A bit per id, and above it a bit per word that is not empty. Finding the first common member of two sets
/// skips 4,096 ids at a time where either has none.
pub(crate) struct IdSet<I> {
    words: Vec<u64>,
    summary: Vec<u64>,
    len: usize,
    id: PhantomData<fn(I)>,
}

impl<I> Default for IdSet<I> {
    fn default() -> Self {
        Self { words: Vec::new(), summary: Vec::new(), len: 0, id: PhantomData }
    }
}

impl<I> Clone for IdSet<I> {
    fn clone(&self) -> Self {
        let mut set = Self::default();
        if self.len > 0 {
            set.clone_from(self);
        }
        set
    }

    fn clone_from(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
        self.summary.clone_from(&other.summary);
        self.len = other.len;
    }
}

impl<I: Id> PartialEq for IdSet<I> {
    /// Equal members; how far the storage reaches does not count.
    fn eq(&self, other: &Self) -> bool {
        let reach = self.words.len().max(other.words.len());
        self.len == other.len && (0..reach).all(|at| self.word(at) == other.word(at))
    }
}

impl<I: Id> Eq for IdSet<I> {}

impl<I: Id> fmt::Debug for IdSet<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Id::row)).finish()
    }
}

impl<I: Id> IdSet<I> {
    /// The set of all rows below `rows`.
    pub(crate) fn full(rows: usize) -> Self {
        let ones = |bits: usize| {
            let mut words = vec![u64::MAX; bits / BITS];
            if !bits.is_multiple_of(BITS) {
                words.push((1 << (bits % BITS)) - 1);
            }
            words
        };
        let words = ones(rows);
        Self { summary: ones(words.len()), words, len: rows, id: PhantomData }
    }

    /// Counts the members.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Tells whether there are no members.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Tells whether `id` is a member.
    pub(crate) fn contains(&self, id: I) -> bool {
        self.word(id.row() / BITS) >> (id.row() % BITS) & 1 == 1
    }

    /// Adds a member; says whether it is new.
    pub(crate) fn insert(&mut self, id: I) -> bool {
        let (at, bit) = (id.row() / BITS, 1 << (id.row() % BITS));
        let Some(word) = self.words.get_mut(at) else { return self.insert_beyond(id) };
        let new = *word & bit == 0;
        if new {
            *word |= bit;
            self.summary[at / BITS] |= 1 << (at % BITS);
            self.len += 1;
        }
        new
    }

    /// As [`insert`](Self::insert), for a row that the storage does not reach.
    #[cold]
    fn insert_beyond(&mut self, id: I) -> bool {
        let words = id.row() / BITS + 1;
        self.words.resize(words, 0);
        self.summary.resize(words.div_ceil(BITS), 0);
        self.insert(id)
    }

    /// Removes a member; says whether it was one.
    pub(crate) fn remove(&mut self, id: I) -> bool {
        let (at, bit) = (id.row() / BITS, 1 << (id.row() % BITS));
        let was = self.word(at) & bit != 0;
        if was {
            self.words[at] &= !bit;
            if self.words[at] == 0 {
                self.summary[at / BITS] &= !(1 << (at % BITS));
            }
            self.len -= 1;
        }
        was
    }

    /// Adds or removes a member.
    pub(crate) fn assign(&mut self, id: I, member: bool) {
        if member {
            self.insert(id);
        } else {
            self.remove(id);
        }
    }

    /// Removes every member and keeps the storage; costs what there are.
    pub(crate) fn clear(&mut self) {
        for (block, summary) in self.summary.iter_mut().enumerate() {
            let mut bits = std::mem::take(summary);
            while bits != 0 {
                self.words[block * BITS + bits.trailing_zeros() as usize] = 0;
                bits &= bits - 1;
            }
        }
        self.len = 0;
    }

    /// Keeps the members that `other` has too.
    pub(crate) fn intersect(&mut self, other: &Self) {
        self.len = 0;
        for at in 0..self.words.len() {
            self.words[at] &= other.word(at);
            self.len += self.words[at].count_ones() as usize;
            if self.words[at] == 0 {
                self.summary[at / BITS] &= !(1 << (at % BITS));
            }
        }
    }

    /// Adds the members that `other` has, 64 ids at a time.
    pub(crate) fn unite(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
            self.summary.resize(other.words.len().div_ceil(BITS), 0);
        }
        for (at, word) in other.words.iter().enumerate() {
            let new = word & !self.words[at];
            if new != 0 {
                self.words[at] |= new;
                self.summary[at / BITS] |= 1 << (at % BITS);
                self.len += new.count_ones() as usize;
            }
        }
    }

    /// Every member, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = I> {
        self.common(self)
    }

    /// Every member of both sets, ascending.
    pub(crate) fn common<'s>(&'s self, other: &'s Self) -> Common<'s, I> {
        Self::all_of([self, other, other])
    }

    /// Every member of all three sets, ascending.
    pub(crate) const fn all_of(sets: [&Self; 3]) -> Common<'_, I> {
        Common { sets, summary: 0, block: 0, word: 0, at: 0 }
    }

    /// Counts the members that both sets have.
    pub(crate) fn common_len(&self, other: &Self) -> usize {
        self.words
            .iter()
            .zip(&other.words)
            .map(|(left, right)| (left & right).count_ones() as usize)
            .sum()
    }

    fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    fn summary(&self, at: usize) -> u64 {
        self.summary.get(at).copied().unwrap_or(0)
    }
}

impl<I: Id> Extend<I> for IdSet<I> {
    fn extend<A: IntoIterator<Item = I>>(&mut self, ids: A) {
        for id in ids {
            self.insert(id);
        }
    }
}

impl<I: Id> FromIterator<I> for IdSet<I> {
    fn from_iter<A: IntoIterator<Item = I>>(ids: A) -> Self {
        let mut set = Self::default();
        for id in ids {
            set.insert(id);
        }
        set
    }
}

/// The members of three sets at once, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Common<'s, I: Id> {
    sets: [&'s IdSet<I>; 3],
    summary: u64,
    block: usize,
    word: u64,
    at: usize,
}

impl<I: Id> Iterator for Common<'_, I> {
    type Item = I;

    fn next(&mut self) -> Option<I> {
        let [a, b, c] = self.sets;
        while self.word == 0 {
            while self.summary == 0 {
                if self.block >= a.summary.len() {
                    return None;
                }
                self.summary =
                    a.summary(self.block) & b.summary(self.block) & c.summary(self.block);
                self.block += 1;
            }
            self.at = (self.block - 1) * BITS + self.summary.trailing_zeros() as usize;
            self.summary &= self.summary - 1;
            self.word = a.word(self.at) & b.word(self.at) & c.word(self.at);
        }
        let row = self.at * BITS + self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(I::of_row(row))
    }
}
