//! Finds the queue that comes first of all, or last: siblings meet in pairs, and the winner stands for the queue above.
//!
//! Each level is a winner tree (Knuth, The Art of Computer Programming, 5.4.1) in a list, here with four siblings:
//! ```text
//!   pair 0                [ nobody, winner of pair 1 ]         the winner of the level
//!   pair 1            [ winner of pair 2, winner of pair 3 ]
//!   pairs 2 and 3    [ sibling 0, sibling 1 ] [ sibling 2, sibling 3 ]
//! ```
//!
//! A change of one leaf costs the logarithm of the number of siblings at each level.

#![expect(
    clippy::inline_always,
    reason = "each turn changes a leaf: calls at each level cost half as much again"
)]

use std::{
    cmp::{Ordering, Reverse},
    ops::Range,
};

use crate::{
    base::{ids::QueueId, resources::Charge, time::Timestamp},
    queues::{
        order::{QueueDemand, QueuePosition, QueueWeights},
        share,
    },
    state::State,
};

/// A tree of tournaments over some leaf queues, which are known by their row.
///
/// All tournaments lie in the same lists, so that one that is put together again needs no memory anew.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// [`Ordering::Less`] where the first wins, [`Ordering::Greater`] where the last does.
    wins: Ordering,
    leaves: Vec<Slot>,
    /// The leaf queue, where there is only one, and whether it stands: nobody is there to meet.
    only: Option<(QueueId, bool)>,
    /// From below: each comes before the one that its winner enters. The last one is that of the roots.
    levels: Vec<Level>,
    /// Level by level, in the order of their places among those that meet.
    siblings: Vec<Sibling>,
    /// Measures of siblings; many of a level are measured alike.
    all_weights: Vec<QueueWeights>,
    /// Level by level: who meets, by position in a complete binary tree. The siblings are its second half, the others won
    /// the meets below them.
    places: Vec<Place>,
    /// Room to put levels together.
    members: Vec<Member>,
    /// The same: where the queues above leaves stand.
    inner: Vec<(QueueId, Slot)>,
}

impl Default for Tournament {
    fn default() -> Self {
        Self {
            wins: Ordering::Less,
            leaves: Vec::new(),
            only: None,
            levels: Vec::new(),
            siblings: Vec::new(),
            all_weights: Vec::new(),
            places: Vec::new(),
            members: Vec::new(),
            inner: Vec::new(),
        }
    }
}

/// A place in a level.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    level: u32,
    /// The row among its siblings.
    at: u32,
}

/// Siblings in a fixed order, and the winner of each pair of them, and of each pair of winners, as far as the last one.
#[derive(Clone, Debug)]
struct Level {
    /// The slot that the winner enters next; none for the roots.
    up: Option<Slot>,
    /// Depth below the roots.
    depth: u32,
    /// The first of its members, which are as many as its siblings.
    member: u32,
    /// The first of its siblings, and of its places, which are as many.
    first: u32,
    /// The one after the last of them; how many there are to be, until they have their places.
    end: u32,
}

impl Level {
    /// The rows of its siblings.
    fn rows(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }
}

/// Two siblings that meet, the left one being older. The first pair of a level never does: its right one has won.
type Pair = [Contender; 2];

/// A pair, and something of the sibling in the same row: what each turn asks of a level, side by side.
#[derive(Clone, Copy, Debug)]
struct Place {
    pair: Pair,
    /// The leaf that the sibling stands for.
    leaf: u32,
}

/// A sibling in a pair.
#[derive(Clone, Copy, Debug)]
struct Contender {
    /// Its row among its siblings; [`NOBODY`] where there is none.
    at: u32,
    /// The same number for siblings that stand alike, of which many do before their first turn: they need not be looked
    /// at to meet. [`NOBODY`] for one that is to be looked at.
    alike: u32,
}

/// Nobody stands here.
const NOBODY: u32 = u32::MAX;

impl Contender {
    const NONE: Self = Self { at: NOBODY, alike: NOBODY };
}

/// One queue of a level; one line of the cache, since each turn meets some that were not met for long.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Sibling {
    /// Its position, as long as it is in a pair.
    standing: QueuePosition,
    /// The row of its weights.
    weights: u32,
    queue: QueueId,
}

/// A queue that takes part, while levels are put together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    parent: Option<QueueId>,
    /// Time when it was made, and its UID: they say who goes first of those that stand alike.
    created: Timestamp,
    uid: u128,
    queue: QueueId,
    /// Its row among the leaves; [`NOBODY`] for those above.
    leaf: u32,
    /// The row of its weights.
    weights: u32,
}

impl Member {
    /// A queue, where so much is there in all; its weights are written down, unless they are those of the one before.
    fn new(
        state: &State,
        queue: QueueId,
        leaf: u32,
        total: Charge,
        all_weights: &mut Vec<QueueWeights>,
    ) -> Self {
        let row = &state.queues().rows[queue];
        let facts = row.facts.as_ref();
        let (created, uid) =
            facts.map_or_else(Default::default, |facts| (facts.created, facts.uid));
        let weights = QueueWeights::new(row, total);
        if all_weights.last() != Some(&weights) {
            all_weights.push(weights);
        }
        let weights = number(all_weights.len() - 1);
        Self { parent: row.up, created, uid, queue, leaf, weights }
    }

    /// Gives what two that are the same have in common.
    fn same(&mut self) -> (QueueId, u32) {
        (self.queue, self.leaf)
    }
}

impl Tournament {
    /// Some leaf queues, by row, and all queues above them; nobody stands yet.
    pub(crate) fn new(
        state: &State,
        leaves: impl ExactSizeIterator<Item = QueueId>,
        wins: Ordering,
    ) -> Self {
        let mut tournament = Self { wins, ..Self::default() };
        tournament.open(state, leaves);
        tournament
    }

    /// Begins anew with other leaf queues.
    pub(crate) fn open(
        &mut self,
        state: &State,
        mut leaves: impl ExactSizeIterator<Item = QueueId>,
    ) {
        self.levels.clear();
        self.siblings.clear();
        self.all_weights.clear();
        self.places.clear();
        self.inner.clear();
        self.leaves.clear();
        self.only = None;
        if leaves.len() == 1 {
            self.only = leaves.next().map(|queue| (queue, false));
            return;
        }
        self.leaves.resize(leaves.len(), Slot::default());
        self.gather(state, leaves);
        self.divide(state);
        self.siblings.reserve(self.members.len());
        self.places.reserve(self.members.len());
        for level in 0..self.levels.len() {
            self.line_up(level);
        }
        self.inner.sort_unstable_by_key(|(queue, _)| *queue);
        for level in &mut self.levels {
            level.up = self.members[level.member as usize].parent.map(|parent| {
                let at = self.inner.binary_search_by_key(&parent, |(queue, _)| *queue);
                self.inner[at.expect("a queue above others takes part")].1
            });
        }
    }

    /// Finds leaves and all above them, siblings side by side.
    fn gather(&mut self, state: &State, leaves: impl Iterator<Item = QueueId>) {
        let Self { members, all_weights, .. } = self;
        let total = share::total(state);
        members.clear();
        // Few queues have one below them alone.
        members.reserve(self.leaves.len() + self.leaves.len() / 2);
        members.extend(
            leaves
                .zip(0..)
                .map(|(queue, leaf)| Member::new(state, queue, leaf, total, all_weights)),
        );
        let mut from = 0;
        while from < members.len() {
            let end = members.len();
            for at in from..end {
                let Some(parent) = members[at].parent else { continue };
                // Siblings come in a row, most of the time.
                if members[end..].last().is_none_or(|last| last.queue != parent) {
                    members.push(Member::new(state, parent, NOBODY, total, all_weights));
                }
            }
            // Leaves come in order, most of the time, so that there is little to sort.
            if !members[end..].is_sorted_by_key(|member| member.queue) {
                members[end..].sort_by_key(|member| member.queue);
                members.dedup_by_key(Member::same);
            }
            from = end;
        }
        members.sort();
        // A queue is found again above leaves of different depth.
        members.dedup_by_key(Member::same);
    }

    /// Makes siblings a level each, the lowest first.
    fn divide(&mut self, state: &State) {
        let depth = |parent: QueueId| state.queues().path(parent).count();
        let mut member = 0;
        let siblings = self.members.chunk_by(|left, right| left.parent == right.parent);
        self.levels.extend(siblings.map(|siblings| {
            let (first, count) = (member, siblings.len());
            member += count;
            let depth = number(siblings[0].parent.map_or(0, depth));
            let member = number(first);
            Level { up: None, depth, member, first: 0, end: number(count) }
        }));
        self.levels.sort_by_key(|level| Reverse(level.depth));
    }

    /// Gives the members of a level their places.
    fn line_up(&mut self, at: usize) {
        let level = &mut self.levels[at];
        let count = level.end as usize;
        let members = &self.members[level.member as usize..][..count];
        level.first = number(self.siblings.len());
        level.end = number(self.siblings.len() + count);
        // The lowest places in the tree are the first from the left.
        let half = members.len().next_power_of_two();
        let (lowest, others) = members.split_at(2 * members.len() - half);
        for (sibling, member) in others.iter().chain(lowest).enumerate() {
            let entry = Slot { level: number(at), at: number(sibling) };
            let Member { queue, leaf, weights, .. } = *member;
            match self.leaves.get_mut(leaf as usize) {
                Some(leaf) => *leaf = entry,
                None => self.inner.push((queue, entry)),
            }
            self.siblings.push(Sibling { standing: QueuePosition::default(), weights, queue });
            self.places.push(Place { pair: [Contender::NONE; 2], leaf });
        }
    }

    /// The meets of a level.
    #[inline(always)]
    fn meets(&mut self, level: u32) -> LevelMeets<'_> {
        let rows = self.levels[level as usize].rows();
        LevelMeets {
            siblings: &mut self.siblings[rows.clone()],
            places: &mut self.places[rows],
            all_weights: &self.all_weights,
            wins: self.wins,
        }
    }

    /// The leaf that wins.
    pub(crate) fn winner(&self) -> Option<usize> {
        if let Some((_, stands)) = self.only {
            return stands.then_some(0);
        }
        let first = self.levels.last()?.first as usize;
        let winner = self.places.get(first + self.places[first].pair[1].at as usize);
        winner.map(|place| place.leaf as usize)
    }

    /// Has a leaf and all above it stand for what is at stake for the leaf that won below each, as `demands` has it; a
    /// leaf without demands stands no more.
    pub(crate) fn seat(
        &mut self,
        state: &State,
        leaf: usize,
        demands: impl Fn(usize) -> Option<QueueDemand>,
    ) {
        let mut demand = demands(leaf);
        if let Some((_, stands)) = &mut self.only {
            *stands = demand.is_some();
            return;
        }
        let mut best = leaf;
        let mut entry = Some(self.leaves[leaf]);
        while let Some(Slot { level, at }) = entry {
            let mut meets = self.meets(level);
            let slot = meets.slot(at);
            let who = meets.stand(state, at, best, demand.as_ref());
            meets.play(slot, who);
            match meets.winner() {
                Some(winner) if winner != best || demand.is_none() => {
                    best = winner;
                    demand = demands(winner);
                }
                Some(_) => {}
                None => demand = None,
            }
            entry = self.levels[level as usize].up;
        }
    }

    /// Has all leaves stand, as [`seat`](Self::seat) has one, each queue once.
    pub(crate) fn seat_all(
        &mut self,
        state: &State,
        demands: impl Fn(usize) -> Option<QueueDemand>,
    ) {
        if self.only.is_some() {
            return self.seat(state, 0, demands);
        }
        let mut last = Origin::default();
        for leaf in 0..self.leaves.len() {
            let Slot { level, at } = self.leaves[leaf];
            let Some(demand) = demands(leaf) else { continue };
            let mut meets = self.meets(level);
            let who = meets.stand_alike(state, at, &demand, &mut last);
            meets.enter(meets.slot(at), who);
        }
        for below in 0..self.levels.len() {
            let mut meets = self.meets(number(below));
            meets.play_all();
            let winner = meets.winner();
            let Some((leaf, Slot { level, at })) = winner.zip(self.levels[below].up) else {
                continue;
            };
            let mut meets = self.meets(level);
            let who = meets.stand(state, at, leaf, demands(leaf).as_ref());
            meets.enter(meets.slot(at), who);
        }
    }
}

/// One level, with all that its meets ask for.
struct LevelMeets<'b> {
    siblings: &'b mut [Sibling],
    /// The winner of pair 1 is the right one of pair 0, the winners of pairs 2 and 3 are pair 1, and so on down to the
    /// siblings.
    places: &'b mut [Place],
    all_weights: &'b [QueueWeights],
    wins: Ordering,
}

/// Origin of the last position, the weights by its row, and how many others there were before.
#[derive(Default)]
struct Origin {
    of: Option<(Charge, QueueDemand, u32)>,
    standing: QueuePosition,
    before: u32,
}

impl LevelMeets<'_> {
    /// The leaf of the queue that wins.
    fn winner(&self) -> Option<usize> {
        let winner = self.places.get(self.places[0].pair[1].at as usize);
        winner.map(|place| place.leaf as usize)
    }

    /// Has a sibling stand for a leaf, or not at all; says who is to meet others in its place.
    #[inline(always)]
    fn stand(
        &mut self,
        state: &State,
        at: u32,
        leaf: usize,
        demand: Option<&QueueDemand>,
    ) -> Contender {
        // One that leaves is not even looked at.
        let Some(demand) = demand else { return Contender::NONE };
        let sibling = &mut self.siblings[at as usize];
        self.places[at as usize].leaf = number(leaf);
        let used = state.queues().rows[sibling.queue].used;
        let weights = &self.all_weights[sibling.weights as usize];
        sibling.standing = QueuePosition::new(used, demand, weights);
        Contender { at, alike: NOBODY }
    }

    /// Has a leaf stand that never stood; alike with the last one where that is so.
    fn stand_alike(
        &mut self,
        state: &State,
        at: u32,
        demand: &QueueDemand,
        last: &mut Origin,
    ) -> Contender {
        let sibling = &mut self.siblings[at as usize];
        let used = state.queues().rows[sibling.queue].used;
        let of = Some((used, *demand, sibling.weights));
        if last.of != of {
            let weights = &self.all_weights[sibling.weights as usize];
            let standing = QueuePosition::new(used, demand, weights);
            *last = Origin { of, standing, before: last.before + 1 };
        }
        sibling.standing = last.standing;
        Contender { at, alike: last.before }
    }

    /// The place of a sibling among those that meet: twice the pair, one more if it is the right one.
    #[inline(always)]
    fn slot(&self, at: u32) -> usize {
        self.siblings.len() + at as usize
    }

    /// Puts somebody in a place among those that meet.
    fn enter(&mut self, slot: usize, who: Contender) {
        self.places[slot / 2].pair[slot % 2] = who;
    }

    /// Puts somebody in a place, and whoever wins from there on in the next.
    #[inline(always)]
    fn play(&mut self, mut slot: usize, mut who: Contender) {
        loop {
            let pair = &mut self.places[slot / 2].pair;
            pair[slot % 2] = who;
            let pair = *pair;
            slot /= 2;
            if slot == 0 {
                return;
            }
            who = self.meet(pair);
        }
    }

    /// Has all siblings meet.
    fn play_all(&mut self) {
        for pair in (1..self.places.len()).rev() {
            self.enter(pair, self.meet(self.places[pair].pair));
        }
    }

    /// The one of two siblings that wins, the left one being older.
    #[inline(always)]
    fn meet(&self, [left, right]: Pair) -> Contender {
        let right_first = if left.alike == right.alike && left.alike != NOBODY {
            false
        } else {
            let Some(r) = self.siblings.get(right.at as usize) else { return left };
            let Some(l) = self.siblings.get(left.at as usize) else { return right };
            let (l_at, r_at) = (&l.standing, &r.standing);
            QueuePosition::compare(r_at, r.weights, l_at, l.weights, self.all_weights).is_lt()
        };
        // The older one goes first where they stand alike.
        if right_first == self.wins.is_lt() { right } else { left }
    }
}

/// The number of a row.
fn number(row: usize) -> u32 {
    u32::try_from(row).expect("queues are numbered by u32")
}
