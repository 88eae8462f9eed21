//! Finds out why a pod fits nowhere.

use std::collections::BTreeMap;

use crate::{
    claim::Standings,
    cluster::Cluster,
    device,
    ids::{NodeId, PodId, Rank},
    idset::IdSet,
    plan::{FreeShape, Misfit, NoRoom, Why},
    resources::{GPU_MILLI, Lane},
    shape::ShapeRow,
};

impl Cluster {
    /// Why a pod found no node, after `at` pods of its group and `placed` of its sub-group did.
    ///
    /// # Cost
    /// In the number of node kinds, of buckets of free GPUs, and of nodes that have the GPUs and lack something else.
    pub(crate) fn no_room(&mut self, pod: PodId, at: u32, placed: u32) -> Why {
        let misfits = self.misfits(pod);
        let facts = &self.pods[pod];
        let leaf = facts
            .leaf
            .zip(facts.group())
            .map(|(leaf, group)| &self.groups[group].tree.leaves[usize::from(leaf)]);
        let (sub_group, min) = leaf.map_or_else(Default::default, |leaf| (leaf.name, leaf.min));
        // The sub-group's count holds what this attempt placed: less than the minimum means it was for the gang.
        let gang = leaf.is_some_and(|leaf| leaf.count.used < leaf.min);
        let dominant = misfits.first().map_or(Misfit::Missing, |(misfit, _)| *misfit);
        let free = self.free_shape(pod);
        Why::NoRoom(Box::new(NoRoom {
            pod,
            sub_group,
            at,
            placed,
            min,
            gang,
            dominant,
            misfits,
            free,
        }))
    }

    /// How many nodes refuse a pod, by reason, the most frequent first.
    fn misfits(&mut self, pod: PodId) -> Vec<(Misfit, u32)> {
        let id = self.pods[pod].shape;
        self.know(id);
        let standings = match self.special(pod) {
            Ok(standings) => standings,
            Err(misfit) => {
                let nodes = u32::try_from(self.nodes.index.ranks().len()).unwrap_or(u32::MAX);
                return vec![(misfit, nodes)];
            }
        };
        let mut counts: BTreeMap<Misfit, u32> = BTreeMap::new();
        let shape = &self.shapes[id];
        let nodes = &self.nodes;
        let restrict = nodes.index.policy.restrict;
        let mut answers = BTreeMap::new();
        if nodes.index.feasible(id).len() < nodes.index.ranks().len() {
            for rank in nodes.index.ranks() {
                let kind = nodes.index.kind(rank);
                let answer = *answers
                    .entry(kind)
                    .or_insert_with(|| nodes.kinds[kind].admits(shape, restrict));
                if let Err(misfit) = answer {
                    *counts.entry(misfit).or_default() += 1;
                }
            }
        }
        let feasible = self.nodes.index.feasible(id);
        let gpus = shape.amount(Lane::GPU) / GPU_MILLI;
        let pack = self.nodes.index.policy.gpu.packs();
        if pack && gpus > 0 {
            let few = self
                .nodes
                .index
                .by_gpu_below(gpus)
                .map(|bucket| bucket.common_len(feasible))
                .sum::<usize>();
            if few > 0 {
                counts.insert(Misfit::Short(Lane::GPU), u32::try_from(few).unwrap_or(u32::MAX));
            }
            for bucket in self.nodes.index.by_gpu(gpus) {
                self.count_misfits(
                    (shape, standings.as_ref()),
                    bucket.common(feasible),
                    &mut counts,
                );
            }
        } else {
            self.count_misfits((shape, standings.as_ref()), feasible.iter(), &mut counts);
        }
        let mut misfits: Vec<(Misfit, u32)> = counts.into_iter().collect();
        misfits.sort_by_key(|(misfit, count)| (std::cmp::Reverse(*count), *misfit));
        misfits
    }

    fn count_misfits(
        &self,
        (shape, standings): (&ShapeRow, Option<&Standings>),
        ranks: impl Iterator<Item = Rank>,
        counts: &mut BTreeMap<Misfit, u32>,
    ) {
        for rank in ranks {
            let misfit = self.misfit((shape, standings), self.nodes.index.node(rank));
            *counts.entry(misfit).or_default() += 1;
        }
    }

    /// Why a node that the pod may go to has no room for it.
    fn misfit(&self, (shape, standings): (&ShapeRow, Option<&Standings>), node: NodeId) -> Misfit {
        if shape.amount(Lane::GPU) > self.nodes.free(node, Lane::GPU) {
            return Misfit::Short(Lane::GPU);
        }
        match self.room(shape, node) {
            Err(misfit) => misfit,
            Ok(_)
                if let Some(Err(misfit)) =
                    standings.map(|standings| self.reservation(shape, (node, standings))) =>
            {
                misfit
            }
            Ok(_) if shape.gpu_mib > 0 => Misfit::Queue,
            Ok(_) => Misfit::PodSlots,
        }
    }

    /// What is free of GPUs on the nodes where a pod may go.
    fn free_shape(&self, pod: PodId) -> FreeShape {
        let feasible = self.nodes.index.feasible(self.pods[pod].shape);
        let mut free = FreeShape::default();
        let mut add = |node: NodeId, count: i64| {
            let whole = self.nodes.free(node, Lane::GPU).max(0) / GPU_MILLI;
            free.whole_max = free.whole_max.max(u32::try_from(whole).unwrap_or(u32::MAX));
            free.gpu_milli += whole * GPU_MILLI * count;
        };
        if self.nodes.index.policy.gpu.packs() {
            for bucket in self.nodes.index.by_gpu(i64::MIN) {
                if let Some(first) = bucket.common(feasible).next() {
                    let count = bucket.common_len(feasible);
                    add(self.nodes.index.node(first), i64::try_from(count).unwrap_or(i64::MAX));
                }
            }
        } else {
            for rank in feasible.iter() {
                add(self.nodes.index.node(rank), 1);
            }
        }
        self.add_parts(feasible, &mut free);
        free
    }

    fn add_parts(&self, feasible: &IdSet<Rank>, free: &mut FreeShape) {
        for rank in self.nodes.index.shared.common(feasible) {
            let node = self.nodes.index.node(rank);
            let capacity = device::capacity(self.nodes.gpus(node)).max(1);
            for device in &self.nodes.devices[node] {
                let part = device.room(capacity).max(0) * GPU_MILLI / capacity;
                free.part_max_milli =
                    free.part_max_milli.max(u32::try_from(part).unwrap_or(u32::MAX));
                free.gpu_milli += part;
            }
        }
    }
}
