//! Order of turns: the first waiting group of the first queue, down the tree.

use std::{collections::BTreeMap, iter::successors};

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

/// So many groups of a class queue that wait are passed by to find one whose turn is not put off with theirs.
const FOLLOWERS_MAX: usize = 16_384;

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
    /// Per class queue: the first group whose turn is put off, and up to where such are.
    deferred: BTreeMap<Pair, (GroupId, GroupKey)>,
}

/// Parts of an order whose turns are over.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The groups that may have turns, as they are listed now, none where nothing bounds them.
    pub(crate) front: Option<DepthWindow>,
    /// Those that were passed over.
    pub(crate) passed: Passed,
    /// Groups whose turns were put off, one of a class queue, each with its queue.
    pub(crate) deferred: Vec<(QueueId, GroupId)>,
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

    /// Puts off all turns of the queue of now.
    pub(crate) fn close(&mut self, state: &State, pending: &Pending, turn: Turn) {
        for (key, class) in std::mem::take(&mut self.leaves[turn.leaf].heads).iter() {
            self.deferred.entry((turn.queue, *class)).or_insert((key.group, *key));
        }
        self.seat(state, pending, turn.leaf);
    }

    /// Puts off the turn of now, and those that would follow it in its queue of groups that wait as well: in a class queue the
    /// first group behind such has its turn instead.
    ///
    /// # Cost
    /// In the groups whose turns are put off, of each class [`FOLLOWERS_MAX`] at most.
    pub(crate) fn defer(
        &mut self,
        state: &State,
        pending: &Pending,
        turn: Turn,
        waits: impl Fn(GroupId) -> bool,
    ) {
        while let Some(&(key, class)) = self.leaves[turn.leaf].heads.first()
            && waits(key.group)
        {
            let pair = (turn.queue, class);
            let front = self.front.as_ref();
            let follows = |key: &GroupKey| after(front, pending, pair, *key);
            let with_it = successors(Some(key), follows).take(FOLLOWERS_MAX);
            let last = with_it.take_while(|key| waits(key.group)).last().unwrap_or(key);
            let next = follows(&last).filter(|next| !waits(next.group));
            self.deferred.entry(pair).or_insert((key.group, key)).1 = last;
            let heads = &mut self.leaves[turn.leaf].heads;
            heads.pop_first();
            heads.extend(next.map(|key| (key, class)));
        }
        self.seat(state, pending, turn.leaf);
    }

    /// Takes the turn of now away and gives the next group of the same class one; says whether its class has turns to come.
    pub(crate) fn skip(&mut self, state: &State, pending: &Pending, turn: Turn) -> bool {
        let pair = (turn.queue, turn.class);
        let deferred = self.deferred.get_mut(&pair);
        let is_deferred = deferred.is_some();
        match deferred {
            // Those before it had no turn, and it has another with them.
            Some((_, last)) => *last = turn.key,
            None => {
                self.passed.insert(pair, turn.key);
            }
        }
        let next = self.head(pending, turn.queue, turn.class);
        let leaf = &mut self.leaves[turn.leaf];
        leaf.heads.pop_first();
        leaf.heads.extend(next.map(|key| (key, turn.class)));
        self.seat(state, pending, turn.leaf);
        next.is_some() || is_deferred
    }

    /// Finds the first group of a class queue that may have a turn, and was neither passed over nor put off.
    fn head(&self, pending: &Pending, queue: QueueId, class: ClassId) -> Option<GroupKey> {
        let (front, pair) = (self.front.as_ref(), (queue, class));
        match self.deferred.get(&pair) {
            Some((_, last)) => after(front, pending, pair, *last),
            None => head(front, &self.passed, pending, pair),
        }
    }

    /// Has none of a class queue been passed over, nor put off, as all of it had their turns.
    pub(crate) fn forget(&mut self, turn: Turn) {
        self.passed.remove(&(turn.queue, turn.class));
        self.deferred.remove(&(turn.queue, turn.class));
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

    /// Gives what remains once the turns are over.
    pub(crate) fn into_parts(self) -> Parts {
        let Self { front, passed, deferred, .. } = self;
        let deferred = deferred.into_iter().map(|((queue, _), (group, _))| (queue, group));
        Parts { front, passed, deferred: deferred.collect() }
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
        (Some(key), front) => after(front, pending, pair, *key),
    }
}

/// Finds the group of a class queue that follows a key, of those that may have turns.
fn after(
    front: Option<&DepthWindow>,
    pending: &Pending,
    pair: Pair,
    key: GroupKey,
) -> Option<GroupKey> {
    let (queue, class) = pair;
    match front {
        Some(front) => front.after(queue, class, key),
        None => pending.after(queue, class, key),
    }
}
