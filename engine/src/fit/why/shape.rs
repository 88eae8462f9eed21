//! Shapes of what a group needs of whole nodes, of what is free there, and of what there is.

use crate::{
    base::{
        id_set::IdSet,
        ids::{NodeId, PodId, Rank, ShapeId},
        resources::{GPU_MILLI, Lane},
    },
    decided::plan::shape::{Alike, EmptyShape, FreeShape},
    state::{
        State, device,
        tree::{Leaf, Tree},
    },
};

/// Counts the pods that a group needs at least and that ask for the same GPUs as one of it, and those of them that have a
/// place: of all sub-groups where it needs all of them, else of the pod's own.
pub(super) fn alike(state: &State, pod: PodId) -> Alike {
    let facts = &state.pods()[pod];
    let Some((leaf, group)) = facts.leaf.zip(facts.group()) else { return Alike::default() };
    let tree: &Tree = &state.groups()[group].tree;
    let needs_all = tree.sets.iter().all(|set| set.needed() == set.members.len());
    let leaves: &[Leaf] = if needs_all {
        &tree.leaves
    } else {
        std::slice::from_ref(&tree.leaves[usize::from(leaf)])
    };
    let gpu = |shape: ShapeId| &state.shapes()[shape].facts.gpu;
    let mut alike = Alike::default();
    for leaf in leaves {
        let is_alike = |other: &&PodId| gpu(state.pods()[**other].shape) == gpu(facts.shape);
        let has_place = |other: &&PodId| {
            let status = &state.pods().status[**other];
            status.place.is_some() || status.nominee.is_some()
        };
        let same = leaf.pods.iter().filter(is_alike);
        let others = leaf.pods.len().saturating_sub(same.clone().count());
        let needed = leaf.min.saturating_sub(u32::try_from(others).unwrap_or(u32::MAX));
        alike.needed = alike.needed.saturating_add(needed);
        alike.placed += u32::try_from(same.filter(has_place).count()).unwrap_or(u32::MAX);
    }
    alike
}

/// Says what all nodes would hold of pods that ask for so many GPUs, if nothing ran.
pub(super) fn empty(state: &State, gpu_milli: i64) -> EmptyShape {
    let nodes = &state.nodes().largest().by_gpu_milli;
    let each = nodes.iter().map(|(milli, count)| (*milli, i64::from(*count)));
    let pods: i64 = match gpu_milli {
        ..=0 => i64::from(u32::MAX),
        asked => each.clone().map(|(milli, count)| milli / asked * count).sum(),
    };
    EmptyShape {
        gpu_milli: each.map(|(milli, count)| milli * count).sum(),
        node_max_milli: nodes.last_key_value().map_or(0, |(milli, _)| *milli),
        pods: u32::try_from(pods).unwrap_or(u32::MAX),
    }
}

/// Sums what is free of GPUs on the nodes where a pod may go, in an area or everywhere.
pub(super) fn free(state: &State, pod: PodId, area: Option<&IdSet<Rank>>) -> FreeShape {
    let everywhere = state.nodes().index.feasible(state.pods()[pod].shape);
    let within = area.map(|area| {
        let mut within = everywhere.clone();
        within.intersect(area);
        within
    });
    let feasible = within.as_ref().unwrap_or(everywhere);
    let mut free = FreeShape::default();
    let mut add = |node: NodeId, count: i64| {
        let whole = state.nodes().free(node, Lane::GPU).max(0) / GPU_MILLI;
        free.whole_max = free.whole_max.max(u32::try_from(whole).unwrap_or(u32::MAX));
        free.gpu_milli += whole * GPU_MILLI * count;
    };
    if state.nodes().index.policy.gpu.packs() {
        for bucket in state.nodes().index.by_gpu(i64::MIN) {
            if let Some(first) = bucket.common(feasible).next() {
                let count = bucket.common_len(feasible);
                add(state.nodes().index.node(first), i64::try_from(count).unwrap_or(i64::MAX));
            }
        }
    } else {
        for rank in feasible.iter() {
            add(state.nodes().index.node(rank), 1);
        }
    }
    add_parts(state, feasible, &mut free);
    free
}

fn add_parts(state: &State, feasible: &IdSet<Rank>, free: &mut FreeShape) {
    for rank in state.nodes().index.shared.common(feasible) {
        let node = state.nodes().index.node(rank);
        let capacity = device::capacity(state.nodes().gpus(node)).max(1);
        for device in &state.nodes().devices[node] {
            let part = device.room(capacity).max(0) * GPU_MILLI / capacity;
            free.part_max_milli = free.part_max_milli.max(u32::try_from(part).unwrap_or(u32::MAX));
            free.gpu_milli += part;
        }
    }
}
