//! Nodes by a number, in a set for each: looked up without a tree, for there are few different numbers.

use crate::base::{id_set::IdSet, ids::Rank};

/// Sets of nodes by key, ascending.
#[derive(Clone, Default, Debug)]
pub(crate) struct Buckets {
    keys: Vec<i64>,
    /// Per key: its nodes; a set that ran empty stays.
    ranks: Vec<IdSet<Rank>>,
}

impl Buckets {
    /// Adds a node.
    pub(crate) fn insert(&mut self, key: i64, rank: Rank) {
        let at = self.at(key);
        if self.keys.get(at) != Some(&key) {
            self.keys.insert(at, key);
            self.ranks.insert(at, IdSet::default());
        }
        self.ranks[at].insert(rank);
    }

    /// Removes a node.
    pub(crate) fn remove(&mut self, key: i64, rank: Rank) {
        let at = self.at(key);
        if self.keys.get(at) == Some(&key) {
            self.ranks[at].remove(rank);
        }
    }

    /// The sets of a key and of those above it.
    pub(crate) fn from(&self, key: i64) -> &[IdSet<Rank>] {
        &self.ranks[self.at(key)..]
    }

    /// The sets of the keys below one.
    pub(crate) fn below(&self, key: i64) -> &[IdSet<Rank>] {
        &self.ranks[..self.at(key)]
    }

    /// The place of the first key that is not below one.
    fn at(&self, key: i64) -> usize {
        self.keys.partition_point(|other| *other < key)
    }
}

#[cfg(test)]
mod tests {
    use super::Buckets;
    use crate::ids::{Id, Rank};

    fn rows(sets: &[crate::base::id_set::IdSet<Rank>]) -> Vec<usize> {
        sets.iter().flat_map(|set| set.iter().map(Id::row)).collect()
    }

    #[test]
    fn nodes_come_by_key() {
        let mut buckets = Buckets::default();
        for (key, rank) in [(8, 3), (0, 1), (8, 2), (-4, 7), (3, 0)] {
            buckets.insert(key, Rank::new(rank));
        }
        buckets.remove(3, Rank::new(0));
        buckets.remove(5, Rank::new(1));
        assert_eq!(rows(buckets.from(i64::MIN)), [7, 1, 2, 3]);
        assert_eq!(rows(buckets.from(1)), [2, 3]);
        assert_eq!(rows(buckets.below(8)), [7, 1]);
        assert!(rows(buckets.from(9)).is_empty());
    }
}
