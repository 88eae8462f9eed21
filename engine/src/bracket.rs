//! Who of all queues comes first, or last: siblings meet in a tournament, its winner stands for the queue above.
//!
//! A change of one leaf costs the logarithm of the number of siblings at each level.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use crate::{cluster::Cluster, ids::QueueId, order::Standing};

/// A tree of tournaments over some leaf queues, which are known by their row.
#[derive(Clone, Debug)]
pub(crate) struct Bracket {
    /// [`Ordering::Less`] where the first wins, [`Ordering::Greater`] where the last does.
    wins: Ordering,
    leaves: Vec<Entry>,
    /// The last one is that of the roots.
    rounds: Vec<Tournament>,
}

/// A place in a tournament.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    round: usize,
    at: usize,
}

/// Siblings in a fixed order, and the winner of each pair of them, and of each pair of winners.
#[derive(Clone, Debug)]
struct Tournament {
    /// Where the winner enters next; nothing for the roots.
    up: Option<Entry>,
    siblings: Vec<Sibling>,
    /// Winners by position in a complete binary tree; the leaves are the second half.
    winners: Vec<Option<usize>>,
}

/// One queue of a tournament.
#[derive(Clone, Debug)]
struct Sibling {
    queue: QueueId,
    standing: Option<Standing>,
    /// The leaf below it that it stands for.
    leaf: usize,
}

impl Tournament {
    fn new(queues: &[QueueId]) -> Self {
        let sibling = |queue: &QueueId| Sibling { queue: *queue, standing: None, leaf: 0 };
        let winners = vec![None; queues.len().next_power_of_two() * 2];
        Self { up: None, siblings: queues.iter().map(sibling).collect(), winners }
    }

    /// The leaf of the queue that wins.
    fn winner(&self) -> Option<usize> {
        self.winners[1].map(|at| self.siblings[at].leaf)
    }

    fn set(&mut self, at: usize, leaf: usize, standing: Option<Standing>, wins: Ordering) {
        let mut slot = self.winners.len() / 2 + at;
        self.winners[slot] = standing.is_some().then_some(at);
        self.siblings[at].standing = standing;
        self.siblings[at].leaf = leaf;
        while slot > 1 {
            slot /= 2;
            let (left, right) = (self.winners[slot * 2], self.winners[slot * 2 + 1]);
            self.winners[slot] = self.better(left, right, wins);
        }
    }

    fn better(&self, left: Option<usize>, right: Option<usize>, wins: Ordering) -> Option<usize> {
        let (Some(l), Some(r)) = (left, right) else { return left.or(right) };
        let standing = |at: usize| self.siblings[at].standing.as_ref().expect("a winner stands");
        Some(if standing(r).compare(standing(l)) == wins { r } else { l })
    }
}

impl Bracket {
    /// Some leaf queues, by row, and all queues above them; nobody stands yet.
    pub(crate) fn new(
        cluster: &Cluster,
        leaves: impl Iterator<Item = QueueId> + Clone,
        wins: Ordering,
    ) -> Self {
        let mut siblings: BTreeMap<Option<QueueId>, BTreeSet<QueueId>> = BTreeMap::new();
        for leaf in leaves.clone() {
            for queue in cluster.queues.path(leaf) {
                let parent = cluster.queues.rows[queue].up;
                if !siblings.entry(parent).or_default().insert(queue) {
                    break;
                }
            }
        }
        let mut entries: BTreeMap<QueueId, Entry> = BTreeMap::new();
        let mut parents = Vec::new();
        let mut rounds: Vec<Tournament> = Vec::new();
        // The roots come first in the map and last in the list.
        for (round, (parent, queues)) in siblings.into_iter().rev().enumerate() {
            let mut queues: Vec<QueueId> = queues.into_iter().collect();
            if queues.len() > 1 {
                queues.sort_by_key(|queue| {
                    let facts = cluster.queues.rows[*queue].facts.as_ref();
                    facts.map(|facts| (facts.created, facts.uid))
                });
            }
            entries.extend((0..).zip(&queues).map(|(at, queue)| (*queue, Entry { round, at })));
            rounds.push(Tournament::new(&queues));
            parents.push(parent);
        }
        for (round, parent) in rounds.iter_mut().zip(parents) {
            round.up = parent.map(|parent| entries[&parent]);
        }
        Self { wins, leaves: leaves.map(|leaf| entries[&leaf]).collect(), rounds }
    }

    /// The leaf that wins.
    pub(crate) fn winner(&self) -> Option<usize> {
        self.rounds.last()?.winner()
    }

    /// Has a leaf and all above it stand where `standing` says: a queue, for the leaf that won below it.
    pub(crate) fn seat(
        &mut self,
        leaf: usize,
        standing: impl Fn(QueueId, usize) -> Option<Standing>,
    ) {
        let mut best = Some(leaf);
        let mut entry = Some(self.leaves[leaf]);
        while let Some(Entry { round, at }) = entry {
            let round = &mut self.rounds[round];
            let queue = round.siblings[at].queue;
            let now = best.and_then(|leaf| standing(queue, leaf));
            round.set(at, best.unwrap_or_default(), now, self.wins);
            best = round.winner();
            entry = round.up;
        }
    }
}
