//! Finds out why a pod fits nowhere.

use std::collections::BTreeMap;

use crate::{
    claim::Standings,
    cluster::Cluster,
    company::Company,
    device,
    ids::{NodeId, PodId, Rank},
    idset::IdSet,
    plan::{FreeShape, Misfit, NoRoom, TooLarge, Why},
    pod::GpuRequest,
    resources::{GPU_MILLI, Lane, QueueLane, Resources},
    shape::ShapeRow,
};

/// On how many nodes a reason is looked at closer, to see whether it stands alone.
const WITNESSES_MAX: u32 = 64;

/// How often a reason was found.
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    nodes: u32,
    witnesses: u32,
    /// Whether a node was found that nothing else keeps the pod from.
    alone: bool,
    /// What else keeps the pod from the node that was looked at last.
    behind: Option<Misfit>,
}

impl Cluster {
    /// Why a pod found no node, after `at` pods of its group and `placed` of its sub-group did.
    ///
    /// # Cost
    /// In the number of buckets of free GPUs, and of nodes that have the GPUs and lack something else.
    pub(crate) fn no_room(&mut self, pod: PodId, at: u32, placed: u32) -> Why {
        let (misfits, dominant) = self.misfits(pod);
        let facts = &self.pods[pod];
        let leaf = facts
            .leaf
            .zip(facts.group())
            .map(|(leaf, group)| &self.groups[group].tree.leaves[usize::from(leaf)]);
        let (sub_group, min) = leaf.map_or_else(Default::default, |leaf| (leaf.name, leaf.min));
        // The sub-group's count holds what this attempt placed: less than the minimum means it was for the gang.
        let gang = leaf.is_some_and(|leaf| leaf.count.used < leaf.min);
        let free = self.free_shape(pod);
        let too_large = self.too_large(pod);
        let shape = &self.shapes[self.pods[pod].shape];
        let parts = i64::from(shape.shared) * self.part_micro(shape) * GPU_MILLI / 1_000_000;
        let gpu_milli = shape.amount(Lane::GPU) + parts;
        Why::NoRoom(Box::new(NoRoom {
            pod,
            sub_group,
            at,
            placed,
            min,
            gang,
            dominant,
            gpu_milli,
            misfits,
            free,
            too_large,
        }))
    }

    /// What a pod asks for that no node has in all, where there is something.
    ///
    /// # Source
    /// spec/scheduling.md 10.1, `MaxNodePoolResources`. What devices stand in for is not measured by it (14.3, Q44).
    fn too_large(&mut self, pod: PodId) -> Option<TooLarge> {
        let largest = self.nodes.largest();
        let shape = &self.shapes[self.pods[pod].shape];
        let mut request: Resources =
            shape.asked().filter(|(lane, _)| *lane != Lane::PODS).collect();
        if let GpuRequest::Fraction { .. } = shape.facts.gpu {
            request.add(Lane::GPU, shape.charge[QueueLane::Gpu]);
        }
        let most = |lane: Lane| largest.get(lane.row()).copied().unwrap_or(0);
        let (lane, _) = [Lane::GPU, Lane::CPU, Lane::MEMORY]
            .into_iter()
            .map(|lane| (lane, request.amount(lane)))
            .chain(request.iter())
            .find(|(lane, amount)| {
                *amount > most(*lane) && !self.claims.backs.contains_key(lane)
            })?;
        Some(TooLarge { lane, most: most(lane), request })
    }

    /// How many nodes refuse a pod, by reason, the most frequent first; and the reason that stands out.
    ///
    /// # Source
    /// spec/scheduling.md 1.13 (step 5: room before predicates) and 10.2 for the order of evaluation.
    fn misfits(&mut self, pod: PodId) -> (Vec<(Misfit, u32)>, Misfit) {
        let id = self.pods[pod].shape;
        self.know(id);
        let everywhere = |misfit: Misfit, nodes: usize| {
            (vec![(misfit, u32::try_from(nodes).unwrap_or(u32::MAX))], misfit)
        };
        let nodes = self.nodes.index.ranks().len();
        let shape = &self.shapes[id];
        if let Some(first) = shape.facts.missing.first() {
            let all = u32::try_from(nodes).unwrap_or(u32::MAX);
            let each = shape.facts.missing.iter().map(|one| (Misfit::Missing(*one), all));
            return (each.collect(), Misfit::Missing(*first));
        }
        let standings = match self.special(pod) {
            Ok(standings) => standings,
            Err(misfit) => return everywhere(misfit, nodes),
        };
        let company = self.company(pod);
        let shape = &self.shapes[id];
        let asker = Asker { cluster: self, pod, shape, company, standings };
        let tallies = asker.ask();
        let dominant = dominant(&tallies);
        let mut misfits: Vec<(Misfit, u32)> =
            tallies.into_iter().map(|(misfit, tally)| (misfit, tally.nodes)).collect();
        misfits.sort_by_key(|(misfit, count)| (std::cmp::Reverse(*count), *misfit));
        (misfits, dominant)
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

/// A pod that asks every node why.
struct Asker<'c> {
    cluster: &'c Cluster,
    pod: PodId,
    shape: &'c ShapeRow,
    company: Option<Company>,
    standings: Option<Standings>,
}

impl Asker<'_> {
    fn ask(&self) -> BTreeMap<Misfit, Tally> {
        let index = &self.cluster.nodes.index;
        let mut tallies: BTreeMap<Misfit, Tally> = BTreeMap::new();
        let gpus = self.shape.amount(Lane::GPU) / GPU_MILLI;
        if !index.policy.gpu.packs() || gpus == 0 {
            for rank in index.ranks() {
                self.count(rank, &mut tallies);
            }
            return tallies;
        }
        // Nodes with too few GPUs are counted by the bucket.
        let buckets: Vec<&IdSet<Rank>> = index.by_gpu_below(gpus).collect();
        let few = buckets.iter().map(|bucket| bucket.len()).sum::<usize>();
        if few > 0 {
            let short = Misfit::Short(Lane::GPU);
            let fullest = buckets.iter().rev().flat_map(|bucket| bucket.iter());
            let mut witnesses = fullest.take(usize::try_from(WITNESSES_MAX).unwrap_or(0));
            let mut tally = Tally { witnesses: WITNESSES_MAX, ..Tally::default() };
            tally.nodes = u32::try_from(few).unwrap_or(u32::MAX);
            tally.alone = witnesses.any(|rank| {
                tally.behind = self.refusal(rank, Some(short));
                tally.behind.is_none()
            });
            tallies.insert(short, tally);
        }
        for bucket in index.by_gpu(gpus) {
            for rank in bucket.iter() {
                self.count(rank, &mut tallies);
            }
        }
        tallies
    }

    fn count(&self, rank: Rank, tallies: &mut BTreeMap<Misfit, Tally>) {
        let misfit = self.refusal(rank, None).unwrap_or(Misfit::PodSlots);
        let tally = tallies.entry(misfit).or_default();
        tally.nodes += 1;
        if !tally.alone && tally.witnesses < WITNESSES_MAX {
            tally.witnesses += 1;
            tally.behind = self.refusal(rank, Some(misfit));
            tally.alone = tally.behind.is_none();
        }
    }

    /// Why a node is not for the pod: the first reason in the order of evaluation, but for one.
    fn refusal(&self, rank: Rank, lifted: Option<Misfit>) -> Option<Misfit> {
        let Self { cluster, shape, .. } = self;
        let index = &cluster.nodes.index;
        let node = index.node(rank);
        let stands = |misfit: Misfit| Some(misfit).filter(|misfit| lifted != Some(*misfit));
        let lacks_but = |skip: Lane| {
            let mut lanes = shape.take.iter().filter(move |(lane, _)| *lane != skip);
            lanes.find_map(|(lane, amount)| {
                let lacks = *lane != Lane::PODS && cluster.lacks(node, *lane, *amount);
                if lacks { stands(Misfit::Short(*lane)) } else { None }
            })
        };
        let gpus = shape.amount(Lane::GPU);
        let short_of_gpus = gpus > 0 && cluster.lacks(node, Lane::GPU, gpus);
        let has_room = !lifted.is_some_and(is_shortage);
        if short_of_gpus && lifted != Some(Misfit::Short(Lane::GPU)) {
            return Some(Misfit::Short(Lane::GPU));
        }
        lacks_but(Lane::GPU)
            .or_else(|| cluster.parts_room(shape, node).err().filter(|_| has_room))
            .or_else(|| {
                let costs = shape.gpu_mib > 0 && !cluster.affords_here(self.pod, node);
                if costs { stands(Misfit::Queue) } else { None }
            })
            .or_else(|| {
                let full = cluster.lacks(node, Lane::PODS, 1);
                if full { stands(Misfit::PodSlots) } else { None }
            })
            .or_else(|| {
                let kind = &cluster.nodes.kinds[index.kind(rank)];
                kind.admits_but(shape, index.policy.restrict, lifted).err()
            })
            .or_else(|| {
                let company = self.company.as_ref()?;
                stands(cluster.joins(shape, company, node).err()?)
            })
            .or_else(|| if has_room { self.late_refusal(node).and_then(stands) } else { None })
    }

    /// What is found out only where everything else fits.
    fn late_refusal(&self, node: NodeId) -> Option<Misfit> {
        let Self { cluster, shape, .. } = self;
        if matches!(shape.facts.gpu, GpuRequest::Mig(_)) && cluster.has_legacy_mig(node) {
            return Some(Misfit::LegacyMig);
        }
        let placement = cluster.nodes.index.policy.gpu;
        if cluster.devices(shape, node, placement).is_none() {
            return Some(Misfit::PodSlots);
        }
        let standings = self.standings.as_ref()?;
        cluster.reservation(shape, (node, standings)).err()
    }
}

/// The reason that stands out: the first that alone keeps the pod from a node. Where none does, the most frequent, or
/// what is behind it if that is there to stay while room comes and goes.
fn dominant(tallies: &BTreeMap<Misfit, Tally>) -> Misfit {
    let alone = tallies.iter().filter(|(_, tally)| tally.alone).map(|(misfit, _)| *misfit);
    if let Some(misfit) = alone.min_by_key(|misfit| turn(*misfit)) {
        return misfit;
    }
    let most =
        tallies.iter().max_by_key(|(misfit, tally)| (tally.nodes, std::cmp::Reverse(*misfit)));
    most.map_or(Misfit::PodSlots, |(misfit, tally)| {
        tally
            .behind
            .filter(|behind| is_shortage(*misfit) && !is_shortage(*behind))
            .unwrap_or(*misfit)
    })
}

/// Whether a reason is that too little is free.
fn is_shortage(misfit: Misfit) -> bool {
    matches!(misfit, Misfit::Short(_) | Misfit::Device | Misfit::PodSlots)
}

/// When a reason is evaluated.
///
/// # Source
/// spec/scheduling.md 1.13 (room first) and the table of 10.2.
fn turn(misfit: Misfit) -> u8 {
    match misfit {
        Misfit::Missing(_) | Misfit::Claim(..) => 0,
        Misfit::Short(_) | Misfit::Device => 1,
        Misfit::Queue => 2,
        Misfit::LegacyMig | Misfit::NotMig | Misfit::MigSingle | Misfit::MigMixed => 3,
        Misfit::GpuMemoryUnknown | Misfit::GpuTooSmall => 4,
        Misfit::PodSlots => 5,
        Misfit::Blocked(_) => 6,
        Misfit::Port => 7,
        Misfit::Taint(_) => 8,
        Misfit::Selector => 9,
        Misfit::Affinity | Misfit::AntiAffinity | Misfit::Barred | Misfit::Spread => 10,
        Misfit::Volume | Misfit::VolumeUnbound => 11,
        Misfit::Domain => 12,
        Misfit::Worker => 13,
        Misfit::Devices | Misfit::OnlyClaims => 14,
        Misfit::Zones => 15,
    }
}
