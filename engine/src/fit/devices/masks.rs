//! Sets of the few devices of a node, as bits.

const BITS: usize = u64::BITS as usize;

/// Several sets of devices of one offer, one after the other.
#[derive(Debug)]
pub(super) struct Masks {
    words: Vec<u64>,
    /// Number of words of a set.
    each: usize,
}

impl Masks {
    /// So many empty sets of so many devices.
    pub(super) fn new(sets: usize, devices: usize) -> Self {
        let each = devices.div_ceil(BITS);
        Self { words: vec![0; sets * each], each }
    }

    pub(super) fn of(&self, set: usize) -> &[u64] {
        &self.words[set * self.each..][..self.each]
    }

    pub(super) fn of_mut(&mut self, set: usize) -> &mut [u64] {
        &mut self.words[set * self.each..][..self.each]
    }

    pub(super) fn insert(&mut self, set: usize, device: usize) {
        self.of_mut(set)[device / BITS] |= 1 << (device % BITS);
    }

    pub(super) fn remove(&mut self, set: usize, device: usize) {
        self.of_mut(set)[device / BITS] &= !(1 << (device % BITS));
    }
}

/// Keeps of a set what another has too.
pub(super) fn keep(set: &mut [u64], other: &[u64]) {
    for (word, other) in set.iter_mut().zip(other) {
        *word &= other;
    }
}

/// Adds to a set what another has.
pub(super) fn add(set: &mut [u64], other: &[u64]) {
    for (word, other) in set.iter_mut().zip(other) {
        *word |= other;
    }
}

/// Counts what sets have in common.
pub(super) fn count<const N: usize>(sets: [&[u64]; N]) -> usize {
    let common = |at: usize| sets.iter().fold(u64::MAX, |word, set| word & set[at]);
    (0..sets[0].len()).map(|at| common(at).count_ones() as usize).sum()
}

/// Counts what of a set comes after a device.
pub(super) fn count_after(set: &[u64], device: usize) -> usize {
    let (at, first) = (device / BITS, device % BITS);
    let later: u32 = set[at + 1..].iter().map(|word| word.count_ones()).sum();
    // The bits above the device's own: a shift by all of them would be none.
    (later + ((set[at] >> first) >> 1).count_ones()) as usize
}

/// Tells whether all of a set is in another.
pub(super) fn is_within(set: &[u64], other: &[u64]) -> bool {
    set.iter().zip(other).all(|(word, other)| word & !other == 0)
}

#[cfg(test)]
mod tests {
    use super::{Masks, count, count_after, is_within};

    #[test]
    fn sets_reach_over_words() {
        let mut masks = Masks::new(2, 130);
        for device in [0, 63, 64, 129] {
            masks.insert(1, device);
        }
        assert_eq!(count([masks.of(1)]), 4);
        assert_eq!([0, 62, 63, 128, 129].map(|at| count_after(masks.of(1), at)), [3, 3, 2, 1, 0]);
        assert!(is_within(masks.of(0), masks.of(1)) && !is_within(masks.of(1), masks.of(0)));
        masks.remove(1, 64);
        assert_eq!((count([masks.of(1)]), count([masks.of(0), masks.of(1)])), (3, 0));
    }
}
