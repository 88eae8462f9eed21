//! Finds victims whose room lets a group in.
//!
//! Sets of victims are tried in a trial: they are evicted, the group is placed, the victims are placed again where
//! they can be, and the result is judged. Two ways to pick sets: all that share a node with the latest candidate, for
//! pods that fit on one node; and the nodes that are cheapest to empty, for gangs.
//!
//! A search takes so many counted steps at most. One that they don't suffice for is a [`SearchState`] that goes on where it
//! stopped, in the next cycle ([`resume`]); where something changed that it depends on, with what stands of it ([`take_up`]).
//!
//! # Source
//! docs/behaviour.md 8.

pub(crate) mod candidates;
pub(crate) mod capacity;
pub(crate) mod disprove;
pub(crate) mod nodes_to_drain;
pub(crate) mod other_pending;
pub(crate) mod phase;
pub(crate) mod probe;
pub(crate) mod protected;
pub(crate) mod queue_snapshot;
pub(crate) mod resume;
pub(crate) mod sparing;
pub(crate) mod stability;
pub(crate) mod take_up;
pub(crate) mod validate;
pub(crate) mod victims;

use std::collections::BTreeSet;

use crate::{
    base::{
        few::Few,
        id_set::IdSet,
        ids::{GroupId, PodId, QueueId, Rank, ShapeId},
        resources::Lane,
        time::Timestamp,
    },
    decided::{
        proof::{EvictionKind, Shortage},
        steps::Progress,
    },
    evict::{
        candidates::{Pool, useful_nodes},
        capacity::{Capacity, Demand},
        other_pending::WaitingGroup,
        phase::Phase,
        probe::{Probe, Probed},
        protected::Protected,
        queue_snapshot::QueueSnapshot,
        victims::{Basis, Batch, Rule, VictimFilter, Victims},
    },
    pending::{front::Fronts, scheduling_order::SchedulingOrder},
    place::{Attempt, Mode},
    state::{State, trial::Trial},
};

/// Outcome of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Victims were found and evicted, and pods nominated for their room; it is kept in the log.
    Found,
    /// There are no such victims.
    Nothing,
    /// Counting shows that there cannot be.
    Disproved(Shortage),
    /// The steps it may take ran out.
    Undecided,
}

/// Room to work in, kept so that no trial asks for memory anew.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scratch {
    fronts: Fronts,
    waiting: Vec<WaitingGroup>,
    turns: SchedulingOrder,
    /// Empty between two uses.
    evicted: IdSet<PodId>,
}

/// Purpose of a search for victims.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    /// The group that needs the room.
    pub(crate) group: GroupId,
    /// By which right.
    pub(crate) kind: EvictionKind,
    /// The rule for who has to give it.
    pub(crate) rule: Rule,
    /// True if actions are bounded, and so is what counting compares.
    pub(crate) is_bounded: bool,
}

/// A search for victims for one group: what is looked for, and how far it has come.
#[derive(Clone, Debug)]
pub(crate) struct SearchState {
    pub(crate) group: GroupId,
    /// The kind of eviction, and so the rules that victims have to satisfy.
    pub(crate) kind: EvictionKind,
    rule: Rule,
    /// The queues whose groups may be victims, in order; any where pods are only moved.
    queues: Few<QueueId>,
    victims: Victims,
    /// The victims drawn so far, in order; sets of them hold their places here.
    order: Few<Batch>,
    /// The pods to place.
    pub(crate) pods: Few<PodId>,
    demand: Demand,
    /// Nodes that are of use as they are.
    nodes: IdSet<Rank>,
    /// GPUs that are free or coming free on them, in milli-devices. Filled as asked.
    free_milli: Option<i64>,
    /// Pods that these hold; none before the first step.
    base: Option<Capacity>,
    phase: Phase,
    probe: Option<Box<Probe>>,
    /// The numbers of queues before the evictions that are tried, where they count.
    pub(crate) before: QueueSnapshot,
    /// Sets that were tried so far.
    sets: u64,
    /// True if budgets of disruptions kept some victims out of a set.
    cut: bool,
    /// True if it went on over news: what it tried before may do by now.
    pub(crate) is_dated: bool,
    /// Pods that it has drawn, once it went on over news: none is drawn twice.
    taken: IdSet<PodId>,
}

/// So many shapes of the pods of a group are counted where actions are bounded: each costs as much again for each victim.
const KINDS_MAX: usize = 64;

/// Victims by their places in the order in which they were drawn.
type VictimSet = Few<usize>;

/// A set of so many pods costs no more than the step that each set is.
const SMALL_SET: usize = 16;
/// So many pods beyond that are a step: where they are evicted and come back, where they are counted, where what they were
/// picked from is gone through.
const EVICTED_A_STEP: usize = 4;
const LISTED_A_STEP: usize = 8;
const PASSED_A_STEP: usize = 64;

/// Counts the steps that a set of so many pods costs beside its own, where so many are one.
///
/// So no set costs less than its size, however few nodes are looked at for it.
fn steps_of_set(pods: usize, a_step: usize) -> u64 {
    (pods.saturating_sub(SMALL_SET) / a_step) as u64
}

impl SearchState {
    /// A search that has not begun.
    ///
    /// `queues` are those whose groups may be victims, in order.
    pub(crate) fn new(
        state: &mut State,
        Aim { group, kind, rule, is_bounded }: Aim,
        queues: Few<QueueId>,
        victims: Victims,
    ) -> Self {
        let pods = state.to_place(group);
        let mut demand = Demand::new(state, &pods);
        if is_bounded {
            demand = demand.hardest(state, KINDS_MAX);
        }
        Self {
            group,
            kind,
            rule,
            queues,
            victims,
            order: Few::default(),
            nodes: useful_nodes(state, group),
            demand,
            free_milli: None,
            base: None,
            phase: Phase::new(pods.len()),
            probe: None,
            before: QueueSnapshot::default(),
            sets: 0,
            cut: false,
            is_dated: false,
            taken: IdSet::default(),
            pods,
        }
    }

    /// Works out again what the index of nodes forgets when it is built anew, so that the search may go on.
    pub(crate) fn ensure_feasible(&self, state: &mut State) {
        for (shape, _) in &self.demand.shapes {
            state.ensure_feasible(*shape);
        }
    }

    /// Counts the sets that were tried so far.
    pub(crate) fn sets(&self) -> u64 {
        self.sets
    }

    /// Gives the filter that says who may be a victim.
    pub(crate) fn filter<'a>(&self, basis: Basis<'a>) -> VictimFilter<'a> {
        VictimFilter { basis, group: self.group, rule: self.rule }
    }

    /// Finds the time when the first of those that are safe for now is safe no more.
    pub(crate) fn until(&self, state: &mut State, filter: &VictimFilter<'_>) -> Option<Timestamp> {
        let gives = |queue: QueueId| self.queues.binary_search(&queue).is_ok();
        Victims::safe_until(state, filter, gives)
    }

    /// Sums the groups that are no victims since they are within their minimum run time; none where there are none.
    pub(crate) fn protected(
        &self,
        state: &mut State,
        filter: &VictimFilter<'_>,
    ) -> Option<Protected> {
        let gives = |queue: QueueId| self.queues.binary_search(&queue).is_ok();
        Victims::protected(state, filter, gives)
    }

    /// Counts the groups that budgets of disruptions keep from being victims, at least; none where they keep nobody.
    pub(crate) fn guarded(&self, state: &mut State, filter: &VictimFilter<'_>) -> Option<usize> {
        let may_give = |queue: QueueId| {
            self.kind == EvictionKind::Consolidate || self.queues.binary_search(&queue).is_ok()
        };
        let guarded = Victims::count_guarded(state, filter, may_give);
        (guarded > 0 || self.cut).then_some(guarded.max(1))
    }

    /// Tells how far it has come.
    ///
    /// # Cost
    /// In the running groups, which is little beside the steps that a search takes before it stops.
    pub(crate) fn progress(&self, state: &State, filter: &VictimFilter<'_>) -> Progress {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let drawn: BTreeSet<GroupId> = self.order.iter().map(|batch| batch.group).collect();
        let mut candidates: BTreeSet<GroupId> =
            self.victims.groups(state, filter, &mut 0).collect();
        candidates.extend(&drawn);
        Progress::Eviction {
            kind: self.kind,
            groups: count(drawn.len()),
            candidates: count(candidates.len()),
            pods: count(self.phase.good()),
            pods_all: count(self.pods.len()),
            sets: self.sets,
        }
    }
}

/// A search under way.
#[derive(Debug)]
pub(crate) struct VictimSearch<'a> {
    basis: Basis<'a>,
    scratch: &'a mut Scratch,
    pub(crate) search: SearchState,
    /// At how many steps of the cycle it stops.
    steps_end: u64,
    /// At how many of them counting stops before it begins, where actions are bounded.
    counting_end: u64,
}

impl<'a> VictimSearch<'a> {
    /// Goes on with a search, up to so many steps of the cycle; what is counted before it begins ends at a number of its own.
    pub(crate) fn new(
        basis: Basis<'a>,
        scratch: &'a mut Scratch,
        search: SearchState,
        steps_end: u64,
        counting_end: u64,
    ) -> Self {
        Self { basis, scratch, search, steps_end, counting_end }
    }

    /// Finds victims, evicts them and nominates pods for their room.
    pub(crate) fn run(&mut self, state: &mut State) -> Outcome {
        if self.search.base.is_none() {
            if self.search.pods.is_empty() || self.search.victims.is_empty() {
                return Outcome::Nothing;
            }
            if let Some(shortage) = self.disprove(state) {
                return Outcome::Disproved(shortage);
            }
            self.search.base = Some(self.new_base(state));
        }
        loop {
            let probed = self.probe(state);
            let search = &mut self.search;
            let goes_on = match probed {
                Probed::Spent(probe) => {
                    search.probe = Some(probe);
                    return Outcome::Undecided;
                }
                Probed::Found(_) if search.phase.looks_at_all() => return Outcome::Found,
                Probed::Found(victims) => search.phase.advance(Some(victims)),
                Probed::Nothing => search.phase.advance(None),
            };
            if !goes_on {
                return Outcome::Nothing;
            }
        }
    }

    /// Counts the pods that the nodes hold as they are; where actions are bounded, of as many shapes as are counted at once.
    fn new_base(&self, state: &mut State) -> Capacity {
        let most = if self.is_bounded() { disprove::COUNTED_AT_ONCE } else { u64::MAX };
        let base = Capacity::new(state, &self.search.demand, &self.search.nodes, most);
        state.steps.compared += base.compared;
        base
    }

    /// Tells whether actions are bounded.
    fn is_bounded(&self) -> bool {
        self.basis.config.action_steps_max.is_some()
    }

    fn filter(&self) -> VictimFilter<'a> {
        self.search.filter(self.basis)
    }

    fn is_spent(&self, state: &State) -> bool {
        state.steps.total() >= self.steps_end
    }

    /// The victim at a place in the order, drawn where it was not before.
    fn drawn(&mut self, state: &mut State, at: usize) -> Option<&Batch> {
        let filter = self.filter();
        let search = &mut self.search;
        if at == search.order.len() {
            let mut batch = search.victims.next(state, &filter)?;
            if search.is_dated {
                if batch.pods.iter().any(|pod| search.taken.contains(*pod)) {
                    // Its group stands elsewhere in its queue than when it was drawn, or came up.
                    batch.pods.clear();
                }
                for pod in &batch.pods {
                    search.taken.insert(*pod);
                }
            }
            search.order.push(batch);
        }
        search.order.get(at)
    }

    /// Tells whether no node whatsoever would hold enough besides `held`: victims that are alone reach no further than
    /// one.
    fn is_beyond_one(&self, state: &mut State, held: &Capacity) -> bool {
        if !self.basis.pending.running.are_singles() || state.shapes().has_backed_resources {
            return false;
        }
        state.ensure_largest();
        let largest = state.nodes().largest();
        let most = |(at, room): (usize, &usize)| {
            let shape = &state.shapes()[self.search.demand.shapes[at].0];
            let fit = |(lane, amount): &(Lane, i64)| {
                let backed = state.claims().backs.contains_key(lane);
                let most = largest.lanes.get(lane.row()).copied().unwrap_or(0);
                if backed { i64::MAX } else { most / amount }
            };
            let most = shape.take.iter().map(fit).min().unwrap_or(0);
            room.saturating_add(usize::try_from(most).unwrap_or(0))
        };
        let room: Few<usize> = held.room.iter().enumerate().map(most).collect();
        self.search.demand.short(&room, self.search.phase.count()).is_some()
    }

    /// Tells whether the node of the latest candidate would hold too few besides `held`, with all candidates there
    /// gone.
    fn is_short_there(&self, state: &State, held: &Capacity, gone: &Capacity, pool: &Pool) -> bool {
        let (demand, count) = (&self.search.demand, self.search.phase.count());
        let last = pool.last.and_then(|last| self.search.order[last].pods.first());
        let Some(pod) = last else { return false };
        let Some(node) = state.node_of(*pod).filter(|_| !pool.spread) else { return false };
        let room: Few<usize> = (0..)
            .zip(&held.room)
            .map(|(at, room): (usize, _)| room + gone.on(state, demand.shapes[at].0, node))
            .collect();
        demand.short(&room, count).is_some()
    }

    /// Tries one set of victims: whether it lets the pods in. The trial is kept then, where `keep` says so.
    fn simulate(&mut self, state: &mut State, victims: &VictimSet, keep: bool) -> bool {
        state.steps.scenarios += 1;
        self.search.sets += 1;
        let pods: usize = victims.iter().map(|at| self.search.order[*at].pods.len()).sum();
        state.steps.victims += steps_of_set(pods, EVICTED_A_STEP);
        if keep && self.search.is_dated && !self.may_go(state, victims) {
            return false;
        }
        self.remember(state, victims);
        let SearchState { phase, order, nodes, .. } = &mut self.search;
        let count = phase.count();
        let mut trial = Trial::new(state);
        let mut evicted = std::mem::take(&mut self.scratch.evicted);
        // Where they leave is of use too, as long as they are gone.
        let mut vacated: Few<Rank> = Few::default();
        for pod in victims.iter().flat_map(|at| &order[*at].pods) {
            let node = trial.node(*pod).expect("a victim holds a place");
            if let Some(rank) = trial.nodes().index.rank(node)
                && nodes.insert(rank)
            {
                vacated.push(rank);
            }
            trial.evict(*pod);
            evicted.insert(*pod);
        }
        let placed = self.place_all(&mut trial, count, &evicted);
        evicted.clear();
        self.scratch.evicted = evicted;
        for rank in &vacated {
            self.search.nodes.remove(*rank);
        }
        if !placed || !self.is_fair(&mut trial, count, victims) {
            return false;
        }
        if keep {
            trial.keep();
        }
        true
    }

    /// Places the group and, where there is room, its victims, in the order in which they would wait.
    fn place_all(&mut self, trial: &mut Trial<'_>, count: usize, evicted: &IdSet<PodId>) -> bool {
        let own = &self.search.pods[..count];
        let losers = evicted.iter().filter_map(|pod| trial.pods()[pod].group());
        let losers: Few<GroupId> = losers.collect();
        let mut waiting = std::mem::take(&mut self.scratch.waiting);
        waiting.clear();
        waiting.push(other_pending::waiting(trial, self.search.group, own));
        let mut lists: Few<(GroupId, Few<PodId>)> = Few::default();
        for group in losers.in_order() {
            let status = &trial.pods().status;
            let pods = trial.groups()[group].tree.to_place(&|pod| {
                status[pod].is_waiting() || (evicted.contains(pod) && status[pod].nominee.is_none())
            });
            waiting.push(other_pending::waiting(trial, group, &pods));
            lists.push((group, pods));
        }
        let pending = self.basis.pending;
        other_pending::add_other_pending(trial, pending, &mut self.scratch.fronts, &mut waiting);
        let mut turns = std::mem::take(&mut self.scratch.turns);
        turns.open_groups(trial, pending, &mut waiting);
        let placed = self.place_by_turns(trial, &mut turns, |group| {
            if group == self.search.group {
                return Some(own);
            }
            let at = lists.binary_search_by_key(&group, |(loser, _)| *loser).ok()?;
            Some(&lists[at].1)
        });
        (self.scratch.waiting, self.scratch.turns) = (waiting, turns);
        placed
    }

    /// Places groups in turn, those of which `pods` knows what is to be placed; says whether the one that all is for
    /// found room.
    fn place_by_turns<'p>(
        &self,
        trial: &mut Trial<'_>,
        turns: &mut SchedulingOrder,
        pods: impl Fn(GroupId) -> Option<&'p [PodId]>,
    ) -> bool {
        let mut failed: Few<(QueueId, Few<ShapeId>)> = Few::default();
        while let Some(turn) = turns.next() {
            let Some(pods) = pods(turn.group) else {
                turns.done(trial, self.basis.pending, turn);
                continue;
            };
            let kind = other_pending::kind_of(trial, turn.group, pods);
            let mut nested = trial.nested();
            let placed = !kind.as_ref().is_some_and(|kind| failed.contains(kind))
                && Attempt::new(self.basis.config, turn.group, Mode::Nominate, pods)
                    .run(&mut nested, Some(&self.search.nodes))
                    .is_ok();
            if placed {
                nested.keep();
            } else {
                drop(nested);
                if turn.group == self.search.group {
                    return false;
                }
                failed.extend(kind);
            }
            turns.done(trial, self.basis.pending, turn);
        }
        true
    }
}
