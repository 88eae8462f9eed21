//! Counts what pods hold that were put on their nodes past the scheduler.
//!
//! Nothing says that their nodes have what they ask for. What no node has counts nowhere.

use crate::{
    base::{
        ids::PodId,
        resources::{Charge, GPU_MILLI, Lane, LaneKind, QueueLane},
    },
    state::{
        State,
        rows::Nodes,
        shape::{self, ShapeRow},
    },
    told::pod::{GpuRequest, Place},
};

impl Nodes {
    /// Gives the shape of a pod as it counts on a node that no plan gave it: of each resource at most what the node offers, and
    /// nothing of a node that is not there. Devices that its place names have its share, whatever the node offers: a node that
    /// offers no GPU for a moment has them still, and others go on to share them.
    #[cold]
    pub(crate) fn cut(&self, shape: &ShapeRow, place: &Place, lanes: &[LaneKind]) -> ShapeRow {
        let node = place.node;
        let facts = self.facts.get(node).and_then(Option::as_deref);
        let most = |lane: Lane| facts.map_or(0, |facts| facts.allocatable.amount(lane));
        let offered = facts.map_or_else(Charge::default, |facts| self.offer_of(node, facts, lanes));
        let mut cut = shape.clone();
        for (lane, amount) in &mut cut.take {
            // Devices of claims are on the account of whoever holds them.
            let own = if *lane == Lane::GPU { shape.own_milli } else { 0 };
            *amount = own + (*amount - own).min(most(*lane));
        }
        let instance = |(lane, count): &(Lane, u32)| {
            i64::from(*count).min(most(*lane)) * shape::mig_milli(lanes, *lane)
        };
        let plain = match &shape.facts.gpu {
            GpuRequest::Mig(all) | GpuRequest::LegacyMig(all) => {
                all.iter().map(instance).sum::<i64>()
            }
            GpuRequest::None
            | GpuRequest::Whole(_)
            | GpuRequest::Fraction { .. }
            | GpuRequest::Memory { .. } => most(Lane::GPU),
        };
        let gpu = &mut cut.charge[QueueLane::Gpu];
        *gpu = (*gpu).min(plain + shape.claims_milli());
        for lane in QueueLane::ALL {
            cut.charge[lane] = cut.charge[lane].min(offered[lane]);
        }
        let gpus = u16::try_from(most(Lane::GPU) / GPU_MILLI).unwrap_or(u16::MAX);
        let shared = shape.shared.min(gpus);
        if place.devices.is_empty() {
            cut.shared = shared;
        }
        if let GpuRequest::Memory { mib, devices } = &mut cut.facts.gpu {
            *mib = (*mib).min(self.gpus(node).memory_mib);
            *devices = shared;
        }
        cut
    }
}

impl State {
    /// Sums what a pod's queue is charged where the pod is, or was until it was evicted; what it asks for where it has no
    /// place.
    pub(crate) fn held(&self, pod: PodId) -> Charge {
        let facts = &self.pods[pod];
        let shape = &self.shapes[facts.shape];
        match &self.pods.status[pod].place {
            Some(place) if facts.is_unplanned => {
                let cut = self.nodes.cut(shape, place, &self.lanes);
                self.nodes.charge(&cut, place.node)
            }
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
            ids::{DeviceId, GroupId, NodeId, QueueId},
            resources::Resources,
        },
        state::trial::Trial,
        told::{
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
            let mut state = State::default();
            state.apply(Delta::Lane(INSTANCES, LaneKind::Mig { gpus: 1 }));
            state.apply(Delta::Queue(QUEUE, Box::default()));
            let group = Group { queue: Some(QUEUE), ..Group::default() };
            state.apply(Delta::Group(GROUP, Box::new(group)));
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
        let mut state = State::default();
        state.apply(Delta::Queue(QUEUE, Box::default()));
        let group = Group { queue: Some(QUEUE), ..Group::default() };
        state.apply(Delta::Group(GROUP, Box::new(group)));
        let share = GpuRequest::Fraction { micro: 900_000, devices: 1 };
        state.apply(runs(&share, &[DeviceId::new(0)]));
        for gpus in [1, 0, 1] {
            state.apply(node(gpus, 0));
            assert_eq!(state.nodes.devices.get(NODE).map_or(0, Vec::len), 1, "{gpus}");
            assert_eq!(state.queues.rows[QUEUE].used[QueueLane::Gpu], gpus * 900);
            assert_eq!(state.check(), Vec::<String>::new());
        }
    }
}
