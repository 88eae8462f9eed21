//! Counts what pods hold that were put on their nodes past the scheduler.
//!
//! Nothing says that their nodes have what they ask for, be it of one of them or of all together. What no node has counts
//! nowhere: older pods of a node hold of it what they ask for as far as it goes, and the others what is left. That is worked out
//! when such a pod or its node is told of, and kept: a trial changes none of it, and copies nothing of what a pod says.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{
        ids::{NodeId, PodId},
        resources::{Charge, GPU_MILLI, Lane, LaneKind, QueueLane, Resources},
    },
    state::{
        State, device,
        holding::{Holding, NOTHING, Taken, Turn},
        rows::{Nodes, Pods},
        shape::{self, ShapeRow},
    },
    told::{
        node::Gpus,
        pod::{GpuRequest, Place},
    },
};

/// So many pods of a node that no plan placed hold something of it, the oldest ones: each is looked at whenever one comes, goes
/// or changes.
const HOLDERS_MAX: usize = 256;

impl Pods {
    /// Gives a pod's place among those of its node that no plan placed; none where a plan placed it.
    fn turn(&self, pod: PodId) -> Option<Turn> {
        let facts = self.facts.get(pod)?.as_ref().filter(|facts| facts.is_unplanned)?;
        let node = self.status[pod].place.as_ref()?.node;
        Some(Turn { node, created: facts.created, uid: facts.uid, pod })
    }

    /// Lists a pod that no plan placed, which holds nothing yet; gives its node.
    pub(crate) fn list_unplanned(&mut self, pod: PodId) -> Option<NodeId> {
        let turn = self.turn(pod)?;
        self.unplanned.insert(turn, NOTHING.clone());
        Some(turn.node)
    }

    /// Takes a pod that no plan placed off the list; gives its node.
    pub(crate) fn unlist_unplanned(&mut self, pod: PodId) -> Option<NodeId> {
        let turn = self.turn(pod)?;
        self.unplanned.remove(&turn);
        Some(turn.node)
    }

    /// Gives what a pod holds that no plan placed.
    pub(crate) fn holding(&self, pod: PodId) -> &Holding {
        self.turn(pod).and_then(|turn| self.unplanned.get(&turn)).unwrap_or(&NOTHING)
    }

    /// The pods of a node that no plan placed, the oldest first.
    fn unplanned_on(&self, node: NodeId) -> impl Iterator<Item = (&Turn, &Holding)> {
        self.unplanned.range(Turn::first(node)..).take_while(move |(turn, _)| turn.node == node)
    }

    /// The nodes of some pods that no plan placed.
    pub(crate) fn nodes_of_unplanned(&self, pods: &[PodId]) -> BTreeSet<NodeId> {
        pods.iter().filter_map(|pod| Some(self.turn(*pod)?.node)).collect()
    }
}

/// Amounts of a node that are left for pods which no plan placed.
struct Left<'l> {
    amounts: Resources,
    charge: Charge,
    gpus: Gpus,
    lanes: &'l [LaneKind],
}

impl<'l> Left<'l> {
    /// Gives all that a node offers; nothing of one that is not there.
    fn all(nodes: &Nodes, node: NodeId, lanes: &'l [LaneKind]) -> Self {
        let facts = nodes.facts.get(node).and_then(Option::as_deref);
        Self {
            amounts: facts.map_or_else(Resources::default, |facts| facts.allocatable.clone()),
            charge: facts.map_or_else(Charge::default, |facts| nodes.offer_of(node, facts, lanes)),
            gpus: nodes.gpus(node),
            lanes,
        }
    }

    /// Gives the amount of a lane that is left: of GPUs whole ones.
    fn of(&self, lane: Lane) -> i64 {
        let left = self.amounts.amount(lane).max(0);
        if lane == Lane::GPU { left / GPU_MILLI * GPU_MILLI } else { left }
    }

    /// Has a pod hold as much as there is of what it asks for. Devices that its place names have its share, whatever there is: a
    /// node that offers no GPU for a moment has them still, and others go on to share them.
    ///
    /// # Cost
    /// In what the node offers: a pod may ask for hundreds of things that it does not.
    fn hold(&mut self, shape: &ShapeRow, place: &Place) -> Holding {
        let lanes = self.amounts.iter().map(|(lane, _)| lane);
        let amounts: Vec<(Lane, i64)> = lanes
            .map(|lane| (lane, asked(shape, lane).min(self.of(lane))))
            .filter(|(_, amount)| *amount > 0)
            .collect();
        let mut holding = Holding { amounts, ..NOTHING.clone() };
        let mut plain = self.plain_milli(shape, &holding.amounts);
        holding.gives_milli = plain;
        if shape.shared > 0 {
            let whole = self.of(Lane::GPU);
            let shared = u16::try_from(whole / GPU_MILLI).unwrap_or(u16::MAX).min(shape.shared);
            holding.gpu = self.part(&shape.facts.gpu);
            let portion = device::portion_milli(&holding.gpu, self.gpus.memory_mib);
            let is_named = !place.devices.is_empty();
            let held = i64::from(shared) * GPU_MILLI;
            let most = if is_named { self.amounts.amount(Lane::GPU).max(0) } else { held };
            plain = (portion * i64::from(shape.shared)).min(most);
            holding.shared = if is_named { shape.shared } else { shared };
            holding.gives_milli = if is_named { plain } else { held };
            self.amounts.add(Lane::GPU, -holding.gives_milli);
        }
        for (lane, amount) in &holding.amounts {
            self.amounts.add(*lane, -amount);
        }
        holding.charge = shape.charge;
        // As of any pod: who asks for memory of GPUs is not charged for claims besides.
        let is_by_memory = matches!(shape.facts.gpu, GpuRequest::Memory { .. });
        let claims = if is_by_memory { 0 } else { shape.claims_milli() };
        holding.charge[QueueLane::Gpu] = plain + claims;
        for lane in QueueLane::ALL {
            holding.charge[lane] = holding.charge[lane].min(self.charge[lane]).max(0);
        }
        self.charge -= holding.charge;
        holding
    }

    /// GPUs that these amounts are, in milli-devices: whole ones, or those that instances stand for.
    fn plain_milli(&self, shape: &ShapeRow, amounts: &[(Lane, i64)]) -> i64 {
        let milli = |(lane, amount): &(Lane, i64)| match &shape.facts.gpu {
            GpuRequest::Whole(_) if *lane == Lane::GPU => *amount,
            GpuRequest::Mig(all) | GpuRequest::LegacyMig(all)
                if all.iter().any(|(one, _)| one == lane) =>
            {
                amount * shape::mig_milli(self.lanes, *lane)
            }
            GpuRequest::None
            | GpuRequest::Whole(_)
            | GpuRequest::Fraction { .. }
            | GpuRequest::Memory { .. }
            | GpuRequest::Mig(_)
            | GpuRequest::LegacyMig(_) => 0,
        };
        amounts.iter().map(milli).sum()
    }

    /// Gives the part of each GPU that a request shares, at most all of its memory.
    fn part(&self, gpu: &GpuRequest) -> GpuRequest {
        match gpu {
            GpuRequest::Memory { mib, devices } => {
                GpuRequest::Memory { mib: (*mib).min(self.gpus.memory_mib), devices: *devices }
            }
            GpuRequest::None
            | GpuRequest::Whole(_)
            | GpuRequest::Fraction { .. }
            | GpuRequest::Mig(_)
            | GpuRequest::LegacyMig(_) => gpu.clone(),
        }
    }
}

/// The amount of a lane that a shape asks for, claims aside.
fn asked(shape: &ShapeRow, lane: Lane) -> i64 {
    let own = if lane == Lane::GPU { shape.own_milli } else { 0 };
    let found = shape.take.binary_search_by_key(&lane, |(at, _)| *at);
    found.map_or(0, |at| shape.take[at].1 - own)
}

impl State {
    /// Has the pods of a node that no plan placed hold of it what there is for them: those that hold something else are taken off
    /// the account and put back.
    ///
    /// # Cost
    /// In the first of these pods and in what the node offers.
    pub(crate) fn share_out(&mut self, node: NodeId) {
        let holdings = self.holdings_on(node);
        let is_other = |(turn, holding): &(Turn, Holding)| self.pods.unplanned[turn] != *holding;
        let others: Vec<(Turn, Holding)> = holdings.into_iter().filter(is_other).collect();
        for (turn, _) in &others {
            self.give(turn.pod);
        }
        for (turn, holding) in others {
            self.pods.unplanned.insert(turn, holding);
            self.take(turn.pod);
        }
    }

    /// [`share_out`](Self::share_out), on all nodes.
    pub(crate) fn share_out_all(&mut self) {
        let nodes: BTreeSet<NodeId> = self.pods.unplanned.keys().map(|turn| turn.node).collect();
        for node in nodes {
            self.share_out(node);
        }
    }

    /// Lists what the pods of a node that no plan placed hold of it from now on, as far as they hold something, or did.
    fn holdings_on(&self, node: NodeId) -> Vec<(Turn, Holding)> {
        let mut pods = self.pods.unplanned_on(node).enumerate().peekable();
        if pods.peek().is_none() {
            return Vec::new();
        }
        let mut left = Left::all(&self.nodes, node, &self.lanes);
        let holds =
            |(at, (_, held)): &(usize, (&Turn, &Holding))| *at < HOLDERS_MAX || **held != NOTHING;
        let pods = pods.take_while(holds).map(|(at, (turn, _))| {
            let place = self.pods.status[turn.pod].place.as_ref().filter(|_| at < HOLDERS_MAX);
            let shape = &self.shapes[self.pods[turn.pod].shape];
            (*turn, place.map_or_else(|| NOTHING.clone(), |place| left.hold(shape, place)))
        });
        pods.collect()
    }

    /// Lists all pods that no plan placed, and what they hold, from the facts; nothing of it is on the account yet.
    pub(crate) fn hold_anew(&mut self) {
        self.pods.unplanned.clear();
        let pods = self.pods.told();
        let nodes: BTreeSet<NodeId> =
            pods.iter().filter_map(|pod| self.pods.list_unplanned(*pod)).collect();
        for node in nodes {
            let holdings = self.holdings_on(node);
            self.pods.unplanned.extend(holdings);
        }
    }

    /// Tells whether the pods of each node that no plan placed are charged together no more than it offers.
    pub(crate) fn are_unplanned_bounded(&self) -> bool {
        let mut held: BTreeMap<NodeId, Charge> = BTreeMap::new();
        for (turn, holding) in &self.pods.unplanned {
            *held.entry(turn.node).or_default() += holding.charge;
        }
        held.into_iter().all(|(node, held)| {
            let left = Left::all(&self.nodes, node, &self.lanes).charge;
            QueueLane::ALL.into_iter().all(|lane| held[lane] <= left[lane].max(0))
        })
    }

    /// Gives what a pod takes of the node where it is; where it has no place, what it would take of one.
    pub(crate) fn taken(&self, pod: PodId) -> Taken<'_> {
        let facts = &self.pods[pod];
        if facts.is_unplanned {
            self.pods.holding(pod).taken()
        } else {
            self.shapes[facts.shape].taken()
        }
    }

    /// Sums what a pod's queue is charged where the pod is, or was until it was evicted; what it asks for where it has no
    /// place.
    pub(crate) fn held(&self, pod: PodId) -> Charge {
        let facts = &self.pods[pod];
        let shape = &self.shapes[facts.shape];
        match &self.pods.status[pod].place {
            Some(_) if facts.is_unplanned => self.pods.holding(pod).charge,
            Some(place) => self.nodes.charge(shape, place.node),
            None => shape.charge,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::{
            ids::{ClaimId, DeviceClassId, DeviceId, GroupId, QueueId, SliceDeviceId},
            time::Timestamp,
        },
        evict::candidates::gives_milli,
        state::trial::Trial,
        told::{
            claim::{Claim, DeviceCount, DeviceRequest, SliceDevice},
            delta::Delta,
            group::Group,
            node::Node,
            pod::{Owner, Pod, PodState, Shape},
        },
    };

    const NODE: NodeId = NodeId::new(0);
    const POD: PodId = PodId::new(0);
    const GROUP: GroupId = GroupId::new(0);
    const QUEUE: QueueId = QueueId::new(0);
    /// Instances of a profile of one GPU.
    const INSTANCES: Lane = Lane::new(Lane::FIRST_EXTENDED);

    /// A cluster with nothing but the queue and its group.
    fn empty() -> State {
        let mut state = State::default();
        state.apply(Delta::Queue(QUEUE, Box::default()));
        let group = Group { queue: Some(QUEUE), ..Group::default() };
        state.apply(Delta::Group(GROUP, Box::new(group)));
        state
    }

    /// The node with so many whole GPUs and instances.
    fn node(gpus: i64, instances: i64) -> Delta {
        let offers = [(Lane::GPU, gpus * GPU_MILLI), (INSTANCES, instances)];
        let allocatable = Resources::from_iter(offers);
        Delta::Node(NODE, Box::new(Node { allocatable, ..Node::default() }))
    }

    /// A pod that runs on the node, on these devices, put there past the scheduler.
    fn runs(gpu: &GpuRequest, devices: &[DeviceId]) -> Delta {
        let place = Place { devices: Box::from(devices), ..Place::on(NODE) };
        let (owner, state) = (Owner::Group(GROUP), PodState::Running(place));
        let shape = Shape { gpu: gpu.clone(), ..Shape::default() };
        let pod = Pod { owner, shape, state, unplanned: true, ..Pod::default() };
        Delta::Pod(POD, Box::new(pod))
    }

    /// A pod that was made at a time and runs on the node, put there past the scheduler.
    fn made(number: u32, at: i64, gpu: GpuRequest) -> Pod {
        Pod {
            owner: Owner::Group(GROUP),
            shape: Shape { gpu, ..Shape::default() },
            state: PodState::Running(Place::on(NODE)),
            created: Timestamp(at),
            uid: u128::from(number),
            unplanned: true,
            ..Pod::default()
        }
    }

    fn tell(state: &mut State, number: u32, at: i64, gpu: GpuRequest) {
        state.apply(Delta::Pod(PodId::new(number), Box::new(made(number, at, gpu))));
    }

    /// Compares the GPUs that each of three pods holds, and what is left of those of the node; all of it is on the account.
    fn check(state: &State, holds: [i64; 3], left: i64) {
        let milli = |pod| state.pods.holding(PodId::new(pod)).charge[QueueLane::Gpu];
        assert_eq!([0, 1, 2].map(milli), holds.map(|gpus| gpus * GPU_MILLI));
        let used = state.queues.rows[QUEUE].used[QueueLane::Gpu];
        assert_eq!(used, holds.into_iter().sum::<i64>() * GPU_MILLI);
        assert_eq!(state.nodes.idle.get(NODE, Lane::GPU), left * GPU_MILLI);
        assert_eq!(state.check(), Vec::<String>::new());
    }

    /// More than any node has, in each of the forms.
    fn requests() -> [GpuRequest; 4] {
        [
            GpuRequest::Whole(100),
            GpuRequest::Fraction { micro: 500_000, devices: 1000 },
            GpuRequest::Memory { mib: u32::MAX, devices: 1000 },
            GpuRequest::LegacyMig(vec![(INSTANCES, 65_535)]),
        ]
    }

    /// The node comes after its pod, and has now more, now less; the pod is evicted in between, and stays.
    #[test]
    fn a_pod_that_no_plan_placed_holds_no_more_of_a_node_than_it_has() {
        for gpu in requests() {
            let mut state = empty();
            state.apply(Delta::Lane(INSTANCES, LaneKind::Mig { gpus: 1 }));
            state.apply(runs(&gpu, &[]));
            assert_eq!(state.queues.rows[QUEUE].used[QueueLane::Gpu], 0, "{gpu:?}");
            let is_mig = matches!(gpu, GpuRequest::LegacyMig(_));
            for (gpus, instances) in [(0, 0), (4, 7), (2, 1)] {
                state.apply(node(gpus, instances));
                Trial::new(&mut state).evict(POD);
                let held = if is_mig { instances } else { gpus };
                let used = state.queues.rows[QUEUE].used[QueueLane::Gpu];
                assert_eq!(used, held * GPU_MILLI, "{gpu:?}");
                assert_eq!(state.held(POD)[QueueLane::Gpu], used, "{gpu:?}");
                let lane = if is_mig { INSTANCES } else { Lane::GPU };
                assert_eq!(state.nodes.idle.get(NODE, lane), 0, "{gpu:?}");
                assert_eq!(state.check(), Vec::<String>::new());
            }
        }
    }

    /// Its device plugin starts anew. A share that was gone meanwhile would be given to somebody else.
    #[test]
    fn a_device_keeps_its_shares_while_its_node_offers_no_gpu() {
        let mut state = empty();
        let share = GpuRequest::Fraction { micro: 900_000, devices: 1 };
        state.apply(runs(&share, &[DeviceId::new(0)]));
        for gpus in [1, 0, 1] {
            state.apply(node(gpus, 0));
            assert_eq!(state.nodes.devices.get(NODE).map_or(0, Vec::len), 1, "{gpus}");
            assert_eq!(state.queues.rows[QUEUE].used[QueueLane::Gpu], gpus * 900);
            assert_eq!(state.check(), Vec::<String>::new());
        }
    }

    /// A user may put any number of them on a node, of which each asks for all of it.
    #[test]
    fn pods_that_no_plan_placed_hold_their_node_once() {
        let mut state = empty();
        for (number, at) in [(0, 3), (1, 2), (2, 1)] {
            tell(&mut state, number, at, GpuRequest::Whole(3));
        }
        check(&state, [0, 0, 0], 0);
        state.apply(node(4, 0));
        check(&state, [0, 1, 3], 0);
        state.apply(Delta::PodGone(PodId::new(2)));
        check(&state, [1, 3, 0], 0);
        state.apply(node(2, 0));
        check(&state, [0, 2, 0], 0);
        tell(&mut state, 2, 1, GpuRequest::Whole(1));
        check(&state, [0, 1, 1], 0);
        tell(&mut state, 1, 2, GpuRequest::None);
        check(&state, [1, 0, 1], 0);
        state.apply(node(5, 0));
        check(&state, [3, 0, 1], 1);
    }

    #[test]
    fn only_the_oldest_pods_of_a_node_hold_something() {
        let mut state = empty();
        state.apply(node(1000, 0));
        for number in 1..=300 {
            tell(&mut state, number, i64::from(number), GpuRequest::Whole(1));
        }
        let used = |state: &State| state.queues.rows[QUEUE].used[QueueLane::Gpu] / GPU_MILLI;
        assert_eq!(used(&state), 256);
        tell(&mut state, 0, 0, GpuRequest::Whole(1));
        assert_eq!(used(&state), 256, "one that is older than all comes");
        state.apply(Delta::PodGone(PodId::new(1)));
        assert_eq!(used(&state), 256, "one of the oldest goes");
        assert_eq!(state.check(), Vec::<String>::new());
    }

    /// Claims, slices and lanes are told when the pods are there.
    #[test]
    fn holdings_follow_all_that_they_depend_on() {
        let claim = |count| {
            let request = DeviceRequest {
                class: DeviceClassId::new(0),
                count: DeviceCount::Exactly(count),
                instead: false,
                gpu: true,
                mixed: false,
                admin: false,
            };
            let claim = Claim { requests: vec![request], ..Claim::default() };
            Delta::Claim(ClaimId::new(0), Box::new(claim))
        };
        let mut state = empty();
        state.apply(node(4, 1));
        state.apply(claim(1));
        let claims = vec![ClaimId::new(0)];
        let asks = Pod { claims, ..made(0, 1, GpuRequest::None) };
        state.apply(Delta::Pod(PodId::new(0), Box::new(asks)));
        tell(&mut state, 1, 2, GpuRequest::Whole(4));
        tell(&mut state, 2, 3, GpuRequest::LegacyMig(vec![(INSTANCES, 1)]));
        check(&state, [1, 3, 0], 0);
        state.apply(claim(3));
        check(&state, [3, 1, 0], 0);
        let device = SliceDevice::new(SliceDeviceId::new(0), true, Box::default());
        state.apply(Delta::Slices(NODE, vec![device]));
        check(&state, [3, 2, 0], 1);
        state.apply(Delta::Lane(INSTANCES, LaneKind::Mig { gpus: 1 }));
        check(&state, [3, 3, 0], 1);
        tell(&mut state, 1, 2, GpuRequest::None);
        check(&state, [3, 0, 1], 5);
    }

    /// Its user has it ask for whatever there is: a trial goes by its row, and by nothing that it says.
    #[test]
    fn a_trial_reads_what_a_pod_holds_and_works_nothing_out() {
        let mut state = empty();
        state.apply(node(4, 0));
        tell(&mut state, 0, 0, GpuRequest::Whole(100));
        let mut charge = Charge::default();
        charge[QueueLane::Gpu] = 7;
        let row =
            Holding { amounts: vec![(Lane::GPU, 7)], charge, gives_milli: 7, ..NOTHING.clone() };
        for holding in state.pods.unplanned.values_mut() {
            holding.clone_from(&row);
        }
        let mut trial = Trial::new(&mut state);
        trial.evict(POD);
        assert_eq!(trial.nodes.releasing.get(NODE, Lane::GPU), 7);
        assert_eq!(trial.queues.rows[QUEUE].leaving[QueueLane::Gpu], 7);
        assert_eq!(trial.held(POD)[QueueLane::Gpu], 7);
        assert_eq!(gives_milli(&trial, POD), 7);
        drop(trial);
        assert_eq!(state.pods.holding(POD), &row);
    }
}
