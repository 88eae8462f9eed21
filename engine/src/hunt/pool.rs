//! Candidates by the nodes that they would empty.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    cluster::Cluster,
    ids::{GroupId, NodeId, PodId, Rank},
    idset::IdSet,
    resources::{Charge, GPU_MILLI, Lane, QueueLane},
    victims::Batch,
};

/// The batches that came up so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    pub(super) batches: Vec<Arc<Batch>>,
    by_group: BTreeMap<GroupId, Vec<usize>>,
    /// Whether some group has more than one pod, so that a set may reach further than one node.
    pub(super) spread: bool,
    /// Per node: when it first came up, the batches with a pod on it, and the GPUs that these hold there.
    pub(super) by_node: BTreeMap<NodeId, (usize, Vec<usize>, i64)>,
}

impl Pool {
    pub(super) fn add(&mut self, cluster: &Cluster, batch: Arc<Batch>) {
        let at = self.batches.len();
        for pod in &batch.pods {
            let node = cluster.node_of(*pod).expect("a candidate holds a place");
            let (_, batches, amount) = self.by_node.entry(node).or_insert((at, Vec::new(), 0));
            if batches.last() != Some(&at) {
                batches.push(at);
            }
            *amount += cluster.gives_milli(*pod);
        }
        self.spread |= cluster.groups[batch.group].pods.len() > 1;
        self.by_group.entry(batch.group).or_default().push(at);
        self.batches.push(batch);
    }

    /// For each node of the latest candidate's group: every batch of every group with a batch on it.
    pub(super) fn by_node(&self, cluster: &Cluster) -> Vec<Vec<usize>> {
        let Some(last) = self.batches.last() else { return Vec::new() };
        let tree = &cluster.groups[last.group].tree;
        let ranks: BTreeSet<Rank> = tree
            .leaves
            .iter()
            .flat_map(|leaf| &leaf.pods)
            .filter_map(|pod| cluster.nodes.index.rank(cluster.node_of(*pod)?))
            .collect();
        ranks
            .into_iter()
            .filter_map(|rank| self.by_node.get(&cluster.nodes.index.node(rank)))
            .map(|(_, batches, _)| {
                let mut groups: Vec<GroupId> =
                    batches.iter().map(|at| self.batches[*at].group).collect();
                groups.sort_unstable();
                groups.dedup();
                let mut set: Vec<usize> =
                    groups.iter().flat_map(|group| self.by_group[group].iter().copied()).collect();
                set.sort_unstable();
                set
            })
            .collect()
    }
}

/// Nodes on which something is free, or all of them where a pod of the group asks for no GPU.
///
/// # Source
/// spec/scheduling.md 8.1.
pub(super) fn useful_nodes(cluster: &Cluster, group: GroupId) -> IdSet<Rank> {
    let bare = cluster.groups[group]
        .pods
        .iter()
        .map(|pod| &cluster.shapes[cluster.pods[*pod].shape])
        // Devices that a named claim has already need not be free, and some are of no node.
        .any(|shape| {
            let loose = cluster.shapes.loose && !shape.asks.is_empty();
            shape.cpu_only || shape.is_named() || loose
        });
    let index = &cluster.nodes.index;
    if bare { IdSet::full(index.ranks().len()) } else { index.roomy.clone() }
}

impl Cluster {
    /// GPUs that are free or coming free on a node, parts of shared ones and MIG instances included.
    pub(crate) fn free_gpu(&self, node: NodeId) -> i64 {
        let capacity = crate::device::capacity(self.nodes.gpus(node)).max(1);
        let parts: i64 = self.nodes.devices.get(node).map_or(0, |devices| {
            devices.iter().map(|device| device.room(capacity).max(0) * GPU_MILLI / capacity).sum()
        });
        let mig = self.nodes.mig_lanes.iter().map(|lane| {
            self.nodes.free(node, *lane).max(0) * crate::shape::mig_milli(&self.lanes, *lane)
        });
        self.nodes.free(node, Lane::GPU).max(0) + parts + mig.sum::<i64>()
    }

    /// GPUs that come free on a pod's node with it, in milli-devices: what it is charged for, but the devices that its
    /// claims got, and whole ones where nobody said which it shares.
    pub(crate) fn gives_milli(&self, pod: PodId) -> i64 {
        let Some(place) = &self.pods.state[pod].place else { return 0 };
        let shape = &self.shapes[self.pods[pod].shape];
        let plain = if self.lanes_stood_in(pod).contains(&Lane::GPU) {
            0
        } else if place.devices.is_empty() && shape.shared > 0 {
            i64::from(shape.shared) * GPU_MILLI
        } else {
            shape.charge_on(self.nodes.gpus(place.node).memory_mib)[QueueLane::Gpu]
                - shape.claims_milli()
        };
        plain + self.claimed_milli(pod)
    }

    /// What a pod's queue was charged where the pod is, or was until it was evicted.
    pub(crate) fn held(&self, pod: PodId) -> Charge {
        let shape = &self.shapes[self.pods[pod].shape];
        match &self.pods.state[pod].place {
            Some(place) => shape.charge_on(self.nodes.gpus(place.node).memory_mib),
            None => shape.charge,
        }
    }
}
