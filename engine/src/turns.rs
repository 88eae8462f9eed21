//! Whose turn it is: the first waiting group of the first queue, down the tree.
//!
//! Queues with the same parent meet in a tournament, so that a change of one costs the logarithm of their number.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    cluster::Cluster,
    ids::{ClassId, GroupId, QueueId},
    order::{GroupKey, Standing},
    resources::Charge,
};

/// The groups that have their turn in this action.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Per leaf queue: the first group of each class that has not failed.
    heads: BTreeMap<QueueId, BTreeSet<(GroupKey, ClassId)>>,
    /// What groups ask for where that is not their class's to say.
    asks: BTreeMap<GroupId, Charge>,
    /// Per queue with children, and for the roots under none: who of them goes first.
    rounds: BTreeMap<Option<QueueId>, Tournament>,
}

/// One group's turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) queue: QueueId,
    pub(crate) class: ClassId,
    pub(crate) key: GroupKey,
    pub(crate) group: GroupId,
}

/// Siblings in a fixed order, and the winner of each pair of them, and of each pair of winners.
#[derive(Debug, Default)]
struct Tournament {
    siblings: Vec<QueueId>,
    /// Where each sibling is in the list.
    seats: BTreeMap<QueueId, usize>,
    standings: Vec<Option<Standing>>,
    /// Winners by position in a complete binary tree; the leaves are the second half.
    winners: Vec<Option<usize>>,
}

impl Tournament {
    fn new(siblings: Vec<QueueId>) -> Self {
        let width = siblings.len().next_power_of_two();
        let standings = vec![None; siblings.len()];
        let seats = siblings.iter().enumerate().map(|(at, queue)| (*queue, at)).collect();
        Self { siblings, seats, standings, winners: vec![None; width * 2] }
    }

    fn winner(&self) -> Option<QueueId> {
        self.winners.get(1).copied().flatten().map(|at| self.siblings[at])
    }

    fn set(&mut self, queue: QueueId, standing: Option<Standing>) {
        let at = self.seats[&queue];
        let mut slot = self.winners.len() / 2 + at;
        self.winners[slot] = standing.is_some().then_some(at);
        self.standings[at] = standing;
        while slot > 1 {
            slot /= 2;
            self.winners[slot] = self.better(self.winners[slot * 2], self.winners[slot * 2 + 1]);
        }
    }

    fn better(&self, left: Option<usize>, right: Option<usize>) -> Option<usize> {
        let (Some(l), Some(r)) = (left, right) else { return left.or(right) };
        let standing = |at: usize| self.standings[at].as_ref().expect("a winner stands");
        Some(if standing(l).compare(standing(r)) == Ordering::Greater { r } else { l })
    }
}

impl Turns {
    /// The turns of all groups that pass: the heads of their pairs.
    pub(crate) fn new(cluster: &Cluster, pairs: impl Iterator<Item = (QueueId, ClassId)>) -> Self {
        let mut turns = Self::default();
        for (queue, class) in pairs {
            if let Some(key) = cluster.agenda.head(queue, class) {
                turns.heads.entry(queue).or_default().insert((key, class));
            }
        }
        turns.seat_all(cluster);
        turns
    }

    /// The turns of some groups, each with what it asks for.
    pub(crate) fn of_groups(
        cluster: &Cluster,
        groups: impl Iterator<Item = (QueueId, GroupKey, Charge)>,
    ) -> Self {
        let mut turns = Self::default();
        for (queue, key, ask) in groups {
            turns.heads.entry(queue).or_default().insert((key, ClassId::new(u32::MAX)));
            turns.asks.insert(key.group, ask);
        }
        turns.seat_all(cluster);
        turns
    }

    fn seat_all(&mut self, cluster: &Cluster) {
        let mut siblings: BTreeMap<Option<QueueId>, BTreeSet<QueueId>> = BTreeMap::new();
        for leaf in self.heads.keys() {
            for queue in cluster.queues.path(*leaf) {
                let parent = cluster.queues.rows[queue].up;
                if !siblings.entry(parent).or_default().insert(queue) {
                    break;
                }
            }
        }
        for (parent, queues) in siblings {
            let mut queues: Vec<QueueId> = queues.into_iter().collect();
            queues.sort_by_key(|queue| {
                cluster.queues.rows[*queue].facts.as_ref().map(|facts| (facts.created, facts.uid))
            });
            self.rounds.insert(parent, Tournament::new(queues));
        }
        let leaves: Vec<QueueId> = self.heads.keys().copied().collect();
        for leaf in leaves {
            self.seat(cluster, leaf);
        }
    }

    /// The next turn, if there is one.
    pub(crate) fn next(&self) -> Option<Turn> {
        let mut queue = self.rounds.get(&None)?.winner()?;
        while let Some(round) = self.rounds.get(&Some(queue)) {
            queue = round.winner()?;
        }
        let (key, class) = *self.heads.get(&queue)?.first()?;
        Some(Turn { queue, class, key, group: key.group })
    }

    /// Takes a turn away.
    pub(crate) fn done(&mut self, cluster: &Cluster, turn: Turn) {
        self.replace(cluster, turn, []);
    }

    /// Takes a turn away and gives the next group of the same class one.
    pub(crate) fn skip(&mut self, cluster: &Cluster, turn: Turn) {
        let heads = self.heads.get_mut(&turn.queue).expect("a turn's queue takes part");
        heads.remove(&(turn.key, turn.class));
        if let Some(key) = cluster.agenda.after(turn.queue, turn.class, turn.key) {
            heads.insert((key, turn.class));
        }
        self.seat(cluster, turn.queue);
    }

    /// Takes a turn away and gives the first groups of some pairs of the same queue theirs.
    pub(crate) fn replace(
        &mut self,
        cluster: &Cluster,
        turn: Turn,
        classes: impl IntoIterator<Item = ClassId>,
    ) {
        let heads = self.heads.get_mut(&turn.queue).expect("a turn's queue takes part");
        heads.remove(&(turn.key, turn.class));
        for class in classes {
            if let Some(key) = cluster.agenda.head(turn.queue, class) {
                heads.insert((key, class));
            }
        }
        self.seat(cluster, turn.queue);
    }

    /// Has a leaf queue and all above it stand where they now do.
    pub(crate) fn seat(&mut self, cluster: &Cluster, leaf: QueueId) {
        let mut queue = leaf;
        loop {
            let standing = self.standing(cluster, queue);
            let parent = cluster.queues.rows[queue].up;
            self.rounds
                .get_mut(&parent)
                .expect("every queue on a path takes part")
                .set(queue, standing);
            match parent {
                Some(parent) => queue = parent,
                None => return,
            }
        }
    }

    /// Where a queue stands with the best group below it; nothing where none waits there.
    fn standing(&self, cluster: &Cluster, queue: QueueId) -> Option<Standing> {
        let mut leaf = queue;
        while let Some(round) = self.rounds.get(&Some(leaf)) {
            leaf = round.winner()?;
        }
        let (key, class) = *self.heads.get(&leaf)?.first()?;
        let ask = match self.asks.get(&key.group) {
            Some(ask) => *ask,
            None => cluster.class_ask(class),
        };
        Some(Standing::new(&cluster.queues.rows[queue], ask, Charge::default(), cluster.total()))
    }
}
