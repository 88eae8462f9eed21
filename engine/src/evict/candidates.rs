//! Candidates by the nodes that they would empty.

use crate::{
    base::{
        few::Few,
        few_map::FewMap,
        id_set::IdSet,
        ids::{GroupId, NodeId, PodId, Rank},
        resources::{GPU_MILLI, Lane, QueueLane},
    },
    evict::{VictimSet, victims::Batch},
    state::{State, shape::ShapeRow},
    told::pod::Place,
};

/// The batches that came up so far, by their places in the order in which they were drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    /// The latest one.
    pub(super) last: Option<usize>,
    by_group: FewMap<GroupId, VictimSet>,
    /// True if some group has more than one pod, so that a set may reach further than one node.
    pub(super) spread: bool,
    pub(super) by_node: FewMap<NodeId, Here>,
    /// Number of these nodes.
    pub(super) nodes: usize,
}

/// Victims that came up on one node.
#[derive(Clone, Debug)]
pub(super) struct Here {
    /// The batch with which the node first came up.
    pub(super) first: usize,
    /// The batches with a pod on it.
    pub(super) victims: VictimSet,
    /// The GPUs that these hold there, in milli-devices.
    pub(super) gpu_milli: i64,
}

impl Pool {
    /// Adds the batch at a place in the order.
    pub(super) fn add(&mut self, state: &State, at: usize, batch: &Batch) {
        for pod in &batch.pods {
            let node = state.node_of(*pod).expect("a candidate holds a place");
            let nodes = &mut self.nodes;
            let none = || {
                *nodes += 1;
                Here { first: at, victims: VictimSet::default(), gpu_milli: 0 }
            };
            let here = self.by_node.or_insert_with(node, none);
            if here.victims.last() != Some(&at) {
                here.victims.push(at);
            }
            here.gpu_milli += gives_milli(state, *pod);
        }
        self.spread |= state.groups()[batch.group].pods.len() > 1;
        self.by_group.or_default(batch.group).push(at);
        self.last = Some(at);
    }

    /// A set, in order, with what its groups spare before they lose what is in it, where the set, with those that are
    /// `known`, would else take from a group's minimum and leave what it could spare.
    pub(super) fn with_steps_before(
        &self,
        state: &State,
        order: &[Batch],
        known: &VictimSet,
        set: VictimSet,
    ) -> VictimSet {
        let has = |at: &usize| set.binary_search(at).is_ok();
        let mut before = VictimSet::default();
        for (group, steps) in self.by_group.iter().filter(|(_, steps)| steps.len() > 1) {
            let last = steps.iter().rposition(has).unwrap_or(0);
            let spared = || steps[..last].iter().filter(|at| !has(at)).copied();
            let own = steps.iter().filter(|at| has(at));
            let lost = known.iter().chain(own).map(|at| &order[*at]);
            if spared().next().is_some() && !keeps_minimum(state, group, lost) {
                before.extend(spared());
            }
        }
        if before.is_empty() {
            return set;
        }
        set.iter().chain(&before).copied().collect::<VictimSet>().in_order()
    }

    /// For each node of the latest candidate's group: every batch of every group with a batch on it.
    pub(super) fn by_node(&self, state: &State, order: &[Batch]) -> Few<VictimSet> {
        let Some(last) = self.last else { return Few::default() };
        let tree = &state.groups()[order[last].group].tree;
        let ranks = tree.pods().filter_map(|pod| state.nodes().index.rank(state.node_of(*pod)?));
        let ranks: Few<Rank> = ranks.collect();
        let ranks = ranks.in_order();
        let here =
            ranks.iter().filter_map(|rank| self.by_node.get(state.nodes().index.node(*rank)));
        here.map(|here| {
            let of = |at: &usize| self.by_group.get(order[*at].group).into_iter().flatten();
            let set: VictimSet = here.victims.iter().flat_map(of).copied().collect();
            set.in_order()
        })
        .collect()
    }
}

/// Nodes on which something is free, or all of them where a pod of the group needs no GPU.
///
/// # Source
/// docs/behaviour.md 8.1.
pub(super) fn useful_nodes(state: &State, group: GroupId) -> IdSet<Rank> {
    let bare = state.groups()[group]
        .pods
        .iter()
        .map(|pod| &state.shapes()[state.pods()[*pod].shape])
        // Devices that a named claim has already need not be free, some are of no node, and others stand in for GPUs.
        .any(|shape| {
            let loose = !shape.asks.is_empty() && shape.own_milli == 0;
            shape.cpu_only || shape.is_named() || loose
        });
    let index = &state.nodes().index;
    if bare { IdSet::full(index.ranks().len()) } else { index.with_free_gpu.clone() }
}

/// Tells whether a group has its minimum in each of its sub-groups without what it loses with some batches.
///
/// # Cost
/// In the batches and in what the group loses, however many sub-groups it has.
pub(super) fn keeps_minimum<'b>(
    state: &State,
    group: GroupId,
    lost: impl Iterator<Item = &'b Batch>,
) -> bool {
    let tree = &state.groups()[group].tree;
    if tree.fill() == 0 {
        return false;
    }
    let mut lost_of: FewMap<u16, usize> = FewMap::default();
    for pod in lost.filter(|batch| batch.group == group).flat_map(|batch| &batch.pods) {
        if let Some(leaf) = state.pods()[*pod].leaf {
            *lost_of.or_default(leaf) += 1;
        }
    }
    lost_of.iter().all(|(leaf, lost)| {
        let leaf = &tree.leaves[usize::from(leaf)];
        leaf.count.active as usize >= leaf.min as usize + lost
    })
}

/// GPUs that come free on a pod's node with it, in milli-devices: what it is charged for, but the devices that its
/// claims got, and whole ones where nobody said which it shares.
pub(crate) fn gives_milli(state: &State, pod: PodId) -> i64 {
    let Some(place) = &state.pods().status[pod].place else { return 0 };
    let facts = &state.pods()[pod];
    let shape = &state.shapes()[facts.shape];
    let plain = if state.lanes_stood_in(pod).contains(&Lane::GPU) {
        0
    } else if facts.is_unplanned {
        state.pods().holding(pod).gives_milli
    } else {
        plain_milli(state, place, shape)
    };
    plain + state.claimed_milli(pod)
}

/// GPUs that a pod of a shape has at a place but for claims, in milli-devices.
fn plain_milli(state: &State, place: &Place, shape: &ShapeRow) -> i64 {
    if place.devices.is_empty() && shape.shared > 0 {
        i64::from(shape.shared) * GPU_MILLI
    } else {
        state.nodes().charge(shape, place.node)[QueueLane::Gpu] - shape.claims_milli()
    }
}
