//! Counts what pods of others hold of nodes, and what they leave to divide.
//!
//! Nothing says that their nodes have what they ask for. What no node has counts nowhere.

use crate::{
    base::{
        ids::{ClaimId, NodeId},
        resources::{Charge, Lane, LaneKind, QueueLane},
    },
    state::{
        claims::Claims,
        rows::{Nodes, PodFacts},
        shape::{self, ShapeRow},
        supply::Supply,
    },
    told::{claim::charged_milli, node::Node},
};

impl Claims {
    /// Sums what a pod of others holds that asks for `charge` of its node, claims included: of these what was given to them.
    ///
    /// Nobody gives claims of such a pod devices because it is on a node.
    pub(crate) fn foreign_charge(
        &self,
        pod: &PodFacts,
        shape: &ShapeRow,
        mut charge: Charge,
    ) -> Charge {
        if pod.has_claims {
            let given = |claim: &ClaimId| {
                let facts = self.facts(*claim).filter(|facts| !facts.synthetic);
                let facts = facts.filter(|facts| facts.allocation.is_some());
                facts.map_or(0, |facts| charged_milli(&facts.requests))
            };
            let plain = (charge[QueueLane::Gpu] - shape.asks_milli()).max(0);
            charge[QueueLane::Gpu] = plain + pod.claims.iter().map(given).sum::<i64>();
        }
        charge
    }
}

impl Nodes {
    /// Sums what a node offers to queues where it takes pods.
    pub(crate) fn offer_of(&self, id: NodeId, node: &Node, lanes: &[LaneKind]) -> Charge {
        let mut offer = Charge::default();
        for (lane, amount) in node.allocatable.iter() {
            match lane {
                Lane::CPU => offer[QueueLane::Cpu] += amount,
                Lane::MEMORY => offer[QueueLane::Memory] += amount,
                Lane::GPU => offer[QueueLane::Gpu] += amount,
                lane => offer[QueueLane::Gpu] += amount * shape::mig_milli(lanes, lane),
            }
        }
        offer[QueueLane::Gpu] += self.slice_gpus(id);
        offer
    }

    /// Changes the part of a node in what there is to divide, and the sums with it.
    pub(crate) fn change_supply(&mut self, node: NodeId, change: impl FnOnce(&mut Supply)) {
        let supply = self.supply.slot(node);
        let (left, unlabelled_gpu) = (supply.left(), supply.unlabelled_gpu());
        change(supply);
        self.total += supply.left() - left;
        self.unlabelled_gpu += supply.unlabelled_gpu() - unlabelled_gpu;
    }

    /// Tells whether what there is to divide is the sum over nodes of what is left of each.
    pub(crate) fn is_supply_summed(&self) -> bool {
        let left = |sum: Charge, (_, supply): (NodeId, &Supply)| sum + supply.left();
        let total = self.supply.iter().fold(Charge::default(), left);
        total == self.total && self.supply.iter().all(|(_, supply)| supply.holds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::{
            ids::{DeviceClassId, PodId},
            resources::{GPU_MILLI, Resources},
        },
        state::State,
        told::{
            claim::{Allocation, Claim, DeviceCount, DeviceRequest},
            delta::Delta,
            pod::{GpuRequest, Place, Pod, PodState, Shape},
        },
    };

    const NODE: NodeId = NodeId::new(0);
    const POD: PodId = PodId::new(0);

    /// A node with so many GPUs.
    fn node(id: NodeId, gpus: i64) -> Delta {
        let allocatable = Resources::from_iter([(Lane::GPU, gpus * GPU_MILLI)]);
        Delta::Node(id, Box::new(Node { allocatable, ..Node::default() }))
    }

    /// A pod of others that runs on the node.
    fn runs(gpu: GpuRequest, claims: Vec<ClaimId>) -> Delta {
        let shape = Shape { gpu, ..Shape::default() };
        let state = PodState::Running(Place::on(NODE));
        Delta::Pod(POD, Box::new(Pod { shape, state, claims, ..Pod::default() }))
    }

    /// The node comes after its pods, and has now more, now less.
    #[test]
    fn others_hold_no_more_of_a_node_than_it_has() {
        let mut state = State::default();
        state.apply(node(NodeId::new(1), 3));
        state.apply(runs(GpuRequest::Whole(100), Vec::new()));
        for (gpus, left) in [(0, 3), (4, 3), (102, 5), (2, 3)] {
            state.apply(node(NODE, gpus));
            assert_eq!(state.nodes.total[QueueLane::Gpu], left * GPU_MILLI, "{gpus}");
            assert_eq!(state.check(), Vec::<String>::new());
        }
        state.apply(Delta::PodGone(POD));
        assert_eq!(state.nodes.total[QueueLane::Gpu], 5 * GPU_MILLI);
    }

    #[test]
    fn a_claim_of_a_pod_of_others_counts_once_it_was_given_devices() {
        for own in [false, true] {
            let request = DeviceRequest {
                class: DeviceClassId::new(0),
                count: DeviceCount::Exactly(3),
                instead: false,
                gpu: true,
                mixed: false,
                admin: false,
            };
            let claim = Claim { requests: vec![request], own, ..Claim::default() };
            let mut state = State::default();
            state.apply(node(NODE, 4));
            state.apply(Delta::Claim(ClaimId::new(0), Box::new(claim.clone())));
            state.apply(runs(GpuRequest::None, vec![ClaimId::new(0)]));
            assert_eq!(state.nodes.total[QueueLane::Gpu], 4 * GPU_MILLI);
            let allocation = Some(Allocation { node: Some(NODE), ..Allocation::default() });
            state.apply(Delta::Claim(ClaimId::new(0), Box::new(Claim { allocation, ..claim })));
            assert_eq!(state.nodes.total[QueueLane::Gpu], GPU_MILLI);
            assert_eq!(state.check(), Vec::<String>::new());
        }
    }
}
