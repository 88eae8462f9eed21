//! Order of turns: the first waiting group of the first queue, down the tree.

use crate::{
    base::{
        ids::{ClassId, GroupId, Id, QueueId},
        min_set::MinSet,
        resources::Charge,
    },
    pending::{
        Listing, Pending,
        depth::DepthWindow,
        rounds::{Pair, Passed},
    },
    queues::{order::QueueDemand, tournament::Tournament},
    state::{State, group_key::GroupKey},
};

/// The groups that have their turn in this action.
#[derive(Clone, Default, Debug)]
pub(crate) struct SchedulingOrder {
    leaves: Vec<LeafQueue>,
    /// The class of the first group of each leaf: what is asked for most, in little memory.
    firsts: Vec<Option<ClassId>>,
    tournament: Tournament,
    /// Requests of groups that take part each by itself, as a class of its own; empty where their classes say it.
    asks: Vec<Charge>,
    /// The groups that may have turns; all where nothing bounds them.
    front: Option<DepthWindow>,
    passed: Passed,
}

/// One group's turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) queue: QueueId,
    pub(crate) class: ClassId,
    pub(crate) key: GroupKey,
    pub(crate) group: GroupId,
    /// The row of its leaf queue.
    leaf: usize,
}

/// The first group of a class.
type Head = (GroupKey, ClassId);

/// A leaf queue that takes part; one line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct LeafQueue {
    queue: QueueId,
    /// The first group of each class that has not failed.
    heads: MinSet<Head>,
}

impl LeafQueue {
    /// The class of its first group.
    fn first(&self) -> Option<ClassId> {
        self.heads.first().map(|(_, class)| *class)
    }
}

/// Sums what the first group of a leaf asks for, which is of a class.
fn demand(
    state: &State,
    pending: &Pending,
    asks: &[Charge],
    class: Option<ClassId>,
) -> Option<QueueDemand> {
    let class = class?;
    let ask = match asks.get(class.row()) {
        Some(ask) => *ask,
        None => pending.class_ask(state, class),
    };
    Some(QueueDemand { ask, taken: Charge::default() })
}

impl SchedulingOrder {
    /// The turns of all groups that pass, at most those of a front and without those that were passed over: the heads of their
    /// class queues, which come queue by queue.
    pub(crate) fn new(
        state: &State,
        pending: &Pending,
        class_queues: impl Iterator<Item = (QueueId, ClassId)>,
        front: Option<DepthWindow>,
        passed: Passed,
    ) -> Self {
        let head =
            |pair: Pair| Some((pair.0, head(front.as_ref(), &passed, pending, pair)?, pair.1));
        let mut turns = Self::default();
        turns.open(state, pending, class_queues.filter_map(head));
        Self { front, passed, ..turns }
    }

    /// Begins anew with the turns of some groups, each with its queue and what it asks for, which are put in order.
    pub(crate) fn open_groups(
        &mut self,
        state: &State,
        pending: &Pending,
        groups: &mut [(QueueId, GroupKey, Charge)],
    ) {
        groups.sort_unstable_by_key(|(queue, key, _)| (*queue, *key));
        self.asks.clear();
        self.asks.extend(groups.iter().map(|(.., ask)| *ask));
        let classes = (0..).map(ClassId::new);
        self.open(
            state,
            pending,
            groups.iter().zip(classes).map(|((queue, key, _), class)| (*queue, *key, class)),
        );
    }

    fn open(
        &mut self,
        state: &State,
        pending: &Pending,
        heads: impl Iterator<Item = (QueueId, GroupKey, ClassId)>,
    ) {
        let Self { leaves, firsts, tournament, asks, .. } = self;
        leaves.clear();
        let most = heads.size_hint().1.unwrap_or_else(|| pending.queues());
        leaves.reserve(most.min(state.queues().rows.len()));
        for (queue, key, class) in heads {
            if leaves.last().is_none_or(|leaf| leaf.queue != queue) {
                leaves.push(LeafQueue { queue, heads: MinSet::default() });
            }
            if let Some(leaf) = leaves.last_mut() {
                leaf.heads.insert((key, class));
            }
        }
        tournament.open(state, leaves.iter().map(|leaf| leaf.queue));
        firsts.clear();
        firsts.extend(leaves.iter().map(LeafQueue::first));
        tournament.seat_all(state, |leaf| demand(state, pending, asks, firsts[leaf]));
    }

    /// Counts the leaf queues that take part.
    pub(crate) fn queues(&self) -> usize {
        self.leaves.len()
    }

    /// The next turn, if there is one.
    pub(crate) fn next(&self) -> Option<Turn> {
        let leaf = self.tournament.winner()?;
        let LeafQueue { queue, heads } = &self.leaves[leaf];
        let (key, class) = *heads.first()?;
        Some(Turn { queue: *queue, class, key, group: key.group, leaf })
    }

    /// The first groups of the class queues that have turns to come.
    pub(crate) fn heads(&self) -> impl Iterator<Item = GroupId> {
        self.leaves.iter().flat_map(|leaf| leaf.heads.iter().map(|(key, _)| key.group))
    }

    /// Takes the turn of now away.
    pub(crate) fn done(&mut self, state: &State, pending: &Pending, turn: Turn) {
        self.replace(state, pending, turn, []);
    }

    /// Takes the turns of the queue of now away; the first groups of its class queues.
    pub(crate) fn close(&mut self, state: &State, pending: &Pending, turn: Turn) -> Vec<GroupId> {
        let heads = std::mem::take(&mut self.leaves[turn.leaf].heads);
        self.seat(state, pending, turn.leaf);
        heads.iter().map(|(key, _)| key.group).collect()
    }

    /// Takes the turn of now away and gives the next group of the same class one; says whether there is one.
    pub(crate) fn skip(&mut self, state: &State, pending: &Pending, turn: Turn) -> bool {
        self.passed.insert((turn.queue, turn.class), turn.key);
        let next = self.head(pending, turn.queue, turn.class);
        let leaf = &mut self.leaves[turn.leaf];
        leaf.heads.pop_first();
        leaf.heads.extend(next.map(|key| (key, turn.class)));
        self.seat(state, pending, turn.leaf);
        next.is_some()
    }

    /// The first group of a class queue that may have a turn and was not passed over.
    fn head(&self, pending: &Pending, queue: QueueId, class: ClassId) -> Option<GroupKey> {
        head(self.front.as_ref(), &self.passed, pending, (queue, class))
    }

    /// Has none of a class queue been passed over, as all of it had their turns.
    pub(crate) fn forget(&mut self, turn: Turn) {
        self.passed.remove(&(turn.queue, turn.class));
    }

    /// Takes the turn of now away and gives the first groups of some class queues of the same queue theirs.
    pub(crate) fn replace(
        &mut self,
        state: &State,
        pending: &Pending,
        turn: Turn,
        classes: impl IntoIterator<Item = ClassId>,
    ) {
        if let Some(front) = &mut self.front {
            let Turn { queue, class, key, .. } = turn;
            let now = pending.listing(turn.group).filter(|now| now.queue == queue);
            front.follow(Listing { queue, class, key }, now);
        }
        self.leaves[turn.leaf].heads.pop_first();
        for class in classes {
            let head = self.head(pending, turn.queue, class);
            self.leaves[turn.leaf].heads.extend(head.map(|key| (key, class)));
        }
        self.seat(state, pending, turn.leaf);
    }

    /// The groups that may have turns, as they are listed now, none where nothing bounds them; and those passed over.
    pub(crate) fn into_parts(self) -> (Option<DepthWindow>, Passed) {
        (self.front, self.passed)
    }

    /// Has a leaf queue and all above it stand where they now do, each with the best group below it.
    fn seat(&mut self, state: &State, pending: &Pending, leaf: usize) {
        let Self { leaves, firsts, tournament, asks, .. } = self;
        firsts[leaf] = leaves[leaf].first();
        tournament.seat(state, leaf, |leaf| demand(state, pending, asks, firsts[leaf]));
    }
}

impl Pending {
    /// Groups that wait, each with its queue, in the order in which allocate would give them their turns if none of
    /// them got anything, as of the last plan.
    ///
    /// # Cost
    /// In the number of groups that wait.
    pub(crate) fn order(&self, state: &State) -> Vec<(QueueId, GroupId)> {
        let groups = self.class_queues().flat_map(|(queue, class, class_queue)| {
            let ask = self.class_ask(state, class);
            class_queue.groups.iter().map(move |key| (queue, *key, ask))
        });
        let mut turns = SchedulingOrder::default();
        turns.open_groups(state, self, &mut groups.collect::<Vec<_>>());
        let mut order = Vec::new();
        while let Some(turn) = turns.next() {
            order.push((turn.queue, turn.group));
            turns.done(state, self, turn);
        }
        order
    }
}

/// The first group of a class queue that may have a turn and was not passed over.
fn head(
    front: Option<&DepthWindow>,
    passed: &Passed,
    pending: &Pending,
    pair: Pair,
) -> Option<GroupKey> {
    let (queue, class) = pair;
    match (passed.get(&pair), front) {
        (None, Some(front)) => front.first(queue, class),
        (None, None) => pending.head(queue, class),
        (Some(key), Some(front)) => front.after(queue, class, *key),
        (Some(key), None) => pending.after(queue, class, *key),
    }
}
