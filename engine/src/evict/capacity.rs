//! Capacity of nodes once victims are gone, in pods at most: a bound that needs no trial.
//!
//! Per shape of the pods to place, and lane by lane, so that it is never too low: what it refuses no search finds.

use std::cmp::Reverse;

use crate::{
    base::{
        few::Few,
        few_map::FewMap,
        id_set::IdSet,
        ids::{NodeId, PodId, Rank, ShapeId},
        resources::{GPU_MILLI, Lane},
    },
    fit::filter,
    state::{State, shape::ShapeRow},
};

/// Amounts that come free on one node: of the lanes that every node has, and of others.
#[derive(Clone, Debug, Default)]
struct Freed {
    usual: [i64; Lane::FIRST_EXTENDED as usize],
    others: Vec<(Lane, i64)>,
    /// Per shape: how many pods the node holds with them, as it was counted last. Empty where there are more than
    /// [`KEPT_MAX`] shapes, or nothing was counted.
    room: Few<usize>,
}

impl Freed {
    fn amount(&self, lane: Lane) -> i64 {
        self.usual.get(lane.row()).copied().unwrap_or_else(|| {
            self.others.iter().find(|(other, _)| *other == lane).map_or(0, |(_, amount)| *amount)
        })
    }

    fn add(&mut self, lane: Lane, amount: i64) {
        if let Some(sum) = self.usual.get_mut(lane.row()) {
            *sum += amount;
        } else if let Some((_, sum)) = self.others.iter_mut().find(|(other, _)| *other == lane) {
            *sum += amount;
        } else {
            self.others.push((lane, amount));
        }
    }
}

/// The shapes of the pods to place, with how many of each are among the first so many.
#[derive(Clone, Debug, Default)]
pub(super) struct Demand {
    /// Each shape, in the order in which they come up, with the places of its pods in the list, ascending.
    pub(super) shapes: Few<(ShapeId, Few<usize>)>,
}

impl Demand {
    /// # Cost
    /// In the pods, however unlike they are.
    pub(super) fn new(state: &mut State, pods: &[PodId]) -> Self {
        let mut demand = Self::default();
        let mut known: FewMap<ShapeId, usize> = FewMap::default();
        for (place, pod) in pods.iter().enumerate() {
            let shape = state.pods()[*pod].shape;
            let at = *known.or_insert_with(shape, || {
                state.ensure_feasible(shape);
                demand.shapes.push((shape, Few::default()));
                demand.shapes.len() - 1
            });
            demand.shapes[at].1.push(place);
        }
        demand
    }

    /// Keeps so many shapes at most, those that ask for the most GPUs, then memory, then CPU: where there is no room for the
    /// pods of some, there is none for all of them.
    pub(super) fn hardest(mut self, state: &State, most: usize) -> Self {
        if self.shapes.len() > most {
            let ask = |shape: ShapeId| {
                let row = &state.shapes()[shape];
                [Lane::GPU, Lane::MEMORY, Lane::CPU].map(|lane| row.amount(lane))
            };
            let mut shapes: Vec<(ShapeId, Few<usize>)> = self.shapes.into_iter().collect();
            shapes.sort_by_key(|(shape, _)| Reverse(ask(*shape)));
            shapes.truncate(most);
            self.shapes = shapes.into();
        }
        self
    }

    /// Counts the pods of the shape at a place in the list that are among the first `count`.
    fn needed(&self, at: usize, count: usize) -> usize {
        self.shapes[at].1.partition_point(|place| *place < count)
    }

    /// Counts the comparisons that so many victims cost beside the first shape, which the steps of a search pay for.
    pub(super) fn beside_the_first(&self, victims: usize) -> u64 {
        NODE * self.shapes.len().saturating_sub(1) as u64 * victims as u64
    }

    /// The first shape of which fewer fit than there are among the first `count`: how many of both.
    pub(super) fn short(&self, room: &[usize], count: usize) -> Option<(usize, usize)> {
        (0..self.shapes.len())
            .map(|at| (self.needed(at, count), room[at]))
            .find(|(needed, most)| needed > most)
    }
}

/// Comparisons that it costs to see what a node holds of a shape, and to take a victim off one beside that.
const NODE: u64 = 2;
const VICTIM: u64 = 2;

/// Pods that the nodes would hold, with some victims gone.
#[derive(Clone, Debug)]
pub(super) struct Capacity {
    freed: FewMap<NodeId, Freed>,
    /// Per shape: how many pods fit at most.
    pub(super) room: Few<usize>,
    /// Comparisons that counting took.
    pub(super) compared: u64,
}

impl Capacity {
    /// Without victims: what `nodes` hold as they are. Once more comparisons than `compared_max` were made there is room for
    /// all pods of the shapes that are left, so that the bound is never too low.
    ///
    /// # Cost
    /// In the nodes with enough GPUs; no more are counted than there are pods to place.
    pub(super) fn new(
        state: &State,
        demand: &Demand,
        nodes: &IdSet<Rank>,
        compared_max: u64,
    ) -> Self {
        let index = &state.nodes().index;
        let nothing = Freed::default();
        let mut compared = 0;
        let room = demand.shapes.iter().map(|(shape, places)| {
            let row = &state.shapes()[*shape];
            let enough = places.len();
            let mut room = 0;
            let buckets = index.by_gpu(index.gpus_from(row.amount(Lane::GPU)));
            for bucket in buckets {
                for rank in IdSet::all_of([bucket, nodes, index.feasible(*shape)]) {
                    if compared > compared_max {
                        return enough;
                    }
                    compared += NODE;
                    room += most(state, row, index.node(rank), &nothing);
                    if room >= enough {
                        return room;
                    }
                }
            }
            room
        });
        let room = room.collect();
        Self { freed: FewMap::default(), room, compared }
    }

    /// Takes victims away.
    ///
    /// # Cost
    /// In the victims times the shapes.
    pub(super) fn add(
        &mut self,
        state: &State,
        demand: &Demand,
        nodes: &IdSet<Rank>,
        pods: &[PodId],
    ) {
        self.compared += (VICTIM + NODE * demand.shapes.len() as u64) * pods.len() as u64;
        for pod in pods {
            let Some(node) = state.node_of(*pod) else { continue };
            let Some(rank) = state.nodes().index.rank(node) else { continue };
            // A node that is of no use as it is was not counted so far.
            let is_counted = nodes.contains(rank) || self.freed.get(node).is_some();
            let freed = self.freed.or_default(node);
            recount(Site { state, demand, rank, is_counted }, freed, &mut self.room, |freed| {
                release(state, *pod, freed, 1);
            });
        }
    }

    /// Takes victims that were added back.
    pub(super) fn remove(&mut self, state: &State, demand: &Demand, pods: &[PodId]) {
        for pod in pods {
            let Some(node) = state.node_of(*pod) else { continue };
            let Some(rank) = state.nodes().index.rank(node) else { continue };
            let Some(freed) = self.freed.get_mut(node) else { continue };
            recount(
                Site { state, demand, rank, is_counted: true },
                freed,
                &mut self.room,
                |freed| {
                    release(state, *pod, freed, -1);
                },
            );
        }
    }

    /// Counts the pods of a shape that a node would hold.
    pub(super) fn on(&self, state: &State, shape: ShapeId, node: NodeId) -> usize {
        let nothing = Freed::default();
        let freed = self.freed.get(node).unwrap_or(&nothing);
        most(state, &state.shapes()[shape], node, freed)
    }

    /// Counts the pods that would fit if more victims were gone besides.
    pub(super) fn with(
        &self,
        state: &State,
        demand: &Demand,
        nodes: &IdSet<Rank>,
        pods: &[PodId],
    ) -> Few<usize> {
        let mut touched = FewMap::default();
        for node in pods.iter().filter_map(|pod| state.node_of(*pod)) {
            if let Some(freed) = self.freed.get(node) {
                touched.or_insert_with(node, || freed.clone());
            }
        }
        let mut part = Self { freed: touched, room: self.room.clone(), compared: 0 };
        part.add(state, demand, nodes, pods);
        part.room
    }
}

/// A node, with what is to be placed.
#[derive(Clone, Copy)]
struct Site<'c> {
    state: &'c State,
    demand: &'c Demand,
    rank: Rank,
    /// True if what it held before was counted.
    is_counted: bool,
}

/// So many shapes have what each node holds of them kept; of more it is counted anew, since pods that are all unlike would take
/// their number for each node.
const KEPT_MAX: usize = 8;

/// Changes what comes free on a node, and counts in `room` what it holds then instead of what it held before: nothing where it
/// was not counted.
fn recount(
    Site { state, demand, rank, is_counted }: Site<'_>,
    freed: &mut Freed,
    room: &mut Few<usize>,
    change: impl FnOnce(&mut Freed),
) {
    if is_counted && !freed.room.is_empty() {
        change(freed);
        for (at, (shape, _)) in demand.shapes.iter().enumerate() {
            let most = most_of(state, *shape, rank, freed);
            room[at] = (room[at] + most).saturating_sub(freed.room[at]);
            freed.room[at] = most;
        }
        return;
    }
    let count = |freed: &Freed| -> Few<usize> {
        demand.shapes.iter().map(|(shape, _)| most_of(state, *shape, rank, freed)).collect()
    };
    let before = if is_counted {
        count(freed)
    } else {
        std::iter::repeat_n(0, demand.shapes.len()).collect()
    };
    change(freed);
    let now = count(freed);
    for ((room, before), now) in room.iter_mut().zip(&before).zip(&now) {
        *room = (*room + now).saturating_sub(*before);
    }
    if demand.shapes.len() <= KEPT_MAX {
        freed.room = now;
    }
}

/// Adds (`sign` 1) or takes back (-1) what a pod holds of its node: what it asked for, but the devices that its claims got,
/// whatever they asked for.
fn release(state: &State, pod: PodId, freed: &mut Freed, sign: i64) {
    let taken = state.taken(pod);
    let stands_in = state.lanes_stood_in(pod);
    for (lane, amount) in taken.plain().filter(|(lane, _)| !stands_in.contains(lane)) {
        freed.add(lane, sign * amount);
    }
    let parts = i64::from(taken.shared) * GPU_MILLI;
    freed.add(Lane::GPU, sign * (parts + state.claimed_milli(pod)));
    if taken.shared > 0 {
        // Slots are kept for reservation pods that what it shares has yet to get.
        freed.add(Lane::PODS, sign * i64::from(taken.shared));
    }
}

/// Counts the pods of a shape that a node holds at most with so much more free; none where they may not go.
fn most_of(state: &State, shape: ShapeId, rank: Rank, freed: &Freed) -> usize {
    let index = &state.nodes().index;
    let may = index.feasible(shape).contains(rank);
    if may { most(state, &state.shapes()[shape], index.node(rank), freed) } else { 0 }
}

/// Counts the pods of a shape that a node holds at most with so much more free; devices are not counted.
fn most(state: &State, shape: &ShapeRow, node: NodeId, freed: &Freed) -> usize {
    let room = |(lane, amount): &(Lane, i64)| {
        (state.nodes().free(node, *lane) + freed.amount(*lane)).max(0) / amount
    };
    let bounds = shape.take.iter().filter(|(lane, _)| !filter::is_backed(state, *lane, node));
    let least = bounds.map(room).min().unwrap_or(0);
    usize::try_from(least).unwrap_or(0)
}

impl Capacity {
    /// Ranks where victims are gone.
    pub(super) fn ranks(&self, state: &State) -> impl Iterator<Item = Rank> {
        self.freed.iter().filter_map(|(node, _)| state.nodes().index.rank(node))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::told::{
        delta::Delta,
        node::Node,
        pod::{GpuRequest, Place, Pod, PodState, Shape},
    };

    /// A hundred pods that ask for memory, each of so many kinds for another amount.
    fn pods_of_kinds(kinds: u32) -> (State, Vec<PodId>) {
        let mut state = State::default();
        state.rebuild_index();
        let pods: Vec<PodId> = (0..100).map(PodId::new).collect();
        for (number, pod) in (0_u32..).zip(&pods) {
            let request = [(Lane::MEMORY, i64::from(number % kinds) + 1)].into_iter().collect();
            let shape = Shape { request, ..Shape::default() };
            state.apply(Delta::Pod(*pod, Box::new(Pod { shape, ..Pod::default() })));
        }
        (state, pods)
    }

    /// The memory that the pods of each kind ask for.
    fn amounts(state: &State, demand: &Demand) -> Vec<i64> {
        let amount =
            |(shape, _): &(ShapeId, Few<usize>)| state.shapes()[*shape].amount(Lane::MEMORY);
        demand.shapes.iter().map(amount).collect()
    }

    /// Keeps as many kinds as is said, and none that is left out asks for more.
    #[test]
    fn the_hardest_of_many_kinds_are_kept() {
        let (mut state, pods) = pods_of_kinds(50);
        let demand = Demand::new(&mut state, &pods).hardest(&state, 8);
        assert_eq!(amounts(&state, &demand), [50, 49, 48, 47, 46, 45, 44, 43]);
        assert_eq!(demand.needed(0, pods.len()), 2);
        let all = Demand::new(&mut state, &pods).hardest(&state, 50);
        assert_eq!(amounts(&state, &all)[..2], [1, 2], "they are as they came");
    }

    /// A user may have all pods of a gang be unlike: a list for each of them, as long as the gang, would be its square.
    #[test]
    fn what_is_kept_of_unlike_pods_is_as_long_as_their_gang() {
        for kinds in [1, 7, 100] {
            let (mut state, pods) = pods_of_kinds(kinds);
            let demand = Demand::new(&mut state, &pods);
            let kept: usize = demand.shapes.iter().map(|(_, places)| places.len()).sum();
            assert_eq!((demand.shapes.len(), kept), (kinds as usize, pods.len()));
            for (at, (shape, _)) in demand.shapes.iter().enumerate() {
                let of_shape = |pod: &&PodId| state.pods()[**pod].shape == *shape;
                for count in 0..=pods.len() {
                    let needed = pods[..count].iter().filter(of_shape).count();
                    assert_eq!(demand.needed(at, count), needed, "of {kinds} kinds");
                }
            }
        }
    }

    /// A pod that asks for a hundred GPUs and runs on a node of four, put there by a plan or not.
    pub(in crate::evict) fn asks_for_too_much(unplanned: bool) -> (State, PodId) {
        let (node, pod) = (NodeId::new(0), PodId::new(0));
        let mut state = State::default();
        let allocatable = [(Lane::GPU, 4 * GPU_MILLI)].into_iter().collect();
        state.apply(Delta::Node(node, Box::new(Node { allocatable, ..Node::default() })));
        let shape = Shape { gpu: GpuRequest::Whole(100), ..Shape::default() };
        let running = PodState::Running(Place::on(node));
        let told = Pod { shape, state: running, unplanned, ..Pod::default() };
        state.apply(Delta::Pod(pod, Box::new(told)));
        (state, pod)
    }

    /// One that no plan placed may ask for more than its node has.
    #[test]
    fn a_victim_gives_what_it_holds() {
        let (state, pod) = asks_for_too_much(true);
        let mut freed = Freed::default();
        release(&state, pod, &mut freed, 1);
        assert_eq!(freed.amount(Lane::GPU), 4 * GPU_MILLI);
    }
}
