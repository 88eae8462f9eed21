//! Finds out why a pod fits nowhere.

pub(crate) mod detail;
mod shape;

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use crate::{
    base::{
        id_set::IdSet,
        ids::{NodeId, PodId, Rank},
        resources::{GPU_MILLI, Lane, QueueLane, Resources},
    },
    decided::plan::{Misfit, NoRoom, TooLarge, Why, refusal::Refusal},
    fit::{
        best_node,
        devices::{
            admit,
            standing::{self, PodClaims},
        },
        filter::{self, Choice},
        pod_affinity::{self, PodAffinity, pod_affinity},
    },
    queues::limits,
    state::{
        State,
        looks::Looks,
        shape::{ShapeRow, volume},
    },
    told::{claim::ClaimProblem, pod::GpuRequest, requirement::Holds},
};

/// On how many nodes a reason is looked at closer, to see whether it stands alone.
const WITNESSES_MAX: u32 = 64;

/// Of so many nodes that are short of GPUs it is asked what else they are short of.
const LACKING_MAX: usize = 256;
/// So many nodes that are asked why cost a step.
const ASKED_PER_STEP: u64 = 8;
/// Each node is compared with so many requirements for what it costs to ask it at all.
const REQUIREMENTS_PER_STEP: u64 = 32;
/// So many values of a label are looked through in the time of one requirement.
const VALUES_PER_REQUIREMENT: usize = 16;
/// So many nodes are kept by name for each reason that names them.
const NAMED_MAX: usize = 16;

/// Reasons why nodes refuse a pod.
struct Refusals {
    /// Numbers of nodes by reason, the most frequent first.
    misfits: Vec<(Misfit, u32)>,
    /// The reason that stands out.
    dominant: Misfit,
    /// Reasons besides of nodes that are short of one thing.
    also: Vec<(Misfit, u32)>,
    /// The first nodes of reasons that name them.
    named: Vec<(Misfit, NodeId)>,
    /// Node by node, where that is asked for.
    nodes: Vec<Refusal>,
}

impl Refusals {
    /// All of so many nodes refuse, for the same reasons.
    fn everywhere(reasons: &[Misfit], nodes: usize) -> Self {
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        Self {
            misfits: reasons.iter().map(|misfit| (*misfit, nodes)).collect(),
            dominant: reasons[0],
            also: Vec::new(),
            named: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

/// Count of a reason.
#[derive(Clone, Default, Debug)]
struct Capacity {
    nodes: u32,
    witnesses: u32,
    /// True if a node was found that nothing else keeps the pod from.
    alone: bool,
    /// The other thing that keeps the pod from the node that was looked at last.
    behind: Option<Misfit>,
    /// The first nodes, where the reason names them.
    named: Vec<NodeId>,
}

/// A pod that found no node, or none in an area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unplaced<'a> {
    pub(crate) pod: PodId,
    /// Number of pods of its group that found one.
    pub(crate) at: u32,
    /// Number of pods of its sub-group that did.
    pub(crate) placed: u32,
    pub(crate) area: Option<&'a IdSet<Rank>>,
    /// True if each node that refuses is to be named.
    pub(crate) names_nodes: bool,
}

/// Says why a pod found no node.
///
/// # Cost
/// In the number of buckets of free GPUs, and of nodes that have the GPUs and lack something else; in that of all nodes for a
/// pod without whole GPUs, an eighth of which is counted in `steps.nodes`.
pub(crate) fn no_room(state: &mut State, unplaced: &Unplaced<'_>) -> Why {
    let Unplaced { pod, at, placed, area, .. } = *unplaced;
    let Refusals { misfits, dominant, also, named, nodes } = misfits(state, unplaced);
    let facts = &state.pods()[pod];
    let leaf = facts
        .leaf
        .zip(facts.group())
        .map(|(leaf, group)| &state.groups()[group].tree.leaves[usize::from(leaf)]);
    let (sub_group, min) = leaf.map_or_else(Default::default, |leaf| (leaf.name, leaf.min));
    // The sub-group's count holds what this attempt placed: less than the minimum means it was for the gang.
    let gang = leaf.is_some_and(|leaf| leaf.count.used < leaf.min);
    let free = shape::free(state, pod, area);
    let too_dear = too_dear(state, pod, &named);
    let too_large = too_large(state, pod);
    let beside = beside(state, &named);
    let shape = &state.shapes()[state.pods()[pod].shape];
    let parts = i64::from(shape.shared) * filter::part_micro(state, shape) * GPU_MILLI / 1_000_000;
    let gpu_milli = shape.amount(Lane::GPU) + parts;
    let (alike, capacity) = (shape::alike(state, pod), shape::empty(state, gpu_milli));
    let too_heavy = misfits.iter().any(|(misfit, _)| matches!(misfit, Misfit::Overhead(_)));
    let overhead = if too_heavy { shape.facts.overhead.clone() } else { Resources::default() };
    Why::NoRoom(Arc::new(NoRoom {
        pod,
        sub_group,
        at,
        placed,
        min,
        gang,
        dominant,
        gpu_milli,
        misfits,
        also,
        alike,
        free,
        capacity,
        too_large,
        named,
        beside,
        too_dear,
        overhead,
        nodes,
        before: Vec::new(),
    }))
}

/// Finds a request of a pod that no node has in all, where there is one.
///
/// # Source
/// docs/behaviour.md 10.1, `MaxNodePoolResources`. What devices stand in for is not measured by it (14.3, Q44).
fn too_large(state: &mut State, pod: PodId) -> Option<TooLarge> {
    state.ensure_largest();
    let largest = state.nodes().largest();
    let shape = &state.shapes()[state.pods()[pod].shape];
    let mut request: Resources = shape.asked().filter(|(lane, _)| *lane != Lane::PODS).collect();
    if let GpuRequest::Fraction { .. } = shape.facts.gpu {
        request.add(Lane::GPU, shape.charge[QueueLane::Gpu]);
    }
    let most = |lane: Lane| largest.lanes.get(lane.row()).copied().unwrap_or(0);
    let (lane, _) = [Lane::GPU, Lane::CPU, Lane::MEMORY]
        .into_iter()
        .map(|lane| (lane, request.amount(lane)))
        .chain(request.iter())
        .find(|(lane, amount)| *amount > most(*lane) && !state.claims().backs.contains_key(lane))?;
    Some(TooLarge { lane, most: most(lane), request })
}

/// Asks the queue where it is a queue that keeps the pod from one of the nodes.
fn too_dear(state: &State, pod: PodId, named: &[(Misfit, NodeId)]) -> Option<Box<Why>> {
    let (_, node) = named.iter().find(|(misfit, _)| *misfit == Misfit::Queue)?;
    let group = state.pods()[pod].group()?;
    let memory_mib = state.nodes().gpus(*node).memory_mib;
    let charge = state.shapes()[state.pods()[pod].shape].charge_on(memory_mib);
    limits::affords(state, group, charge).err().map(Box::new)
}

/// The pods with MIG by the old annotation on the nodes that refuse for their sake.
fn beside(state: &State, named: &[(Misfit, NodeId)]) -> Vec<(NodeId, PodId)> {
    let nodes = named.iter().filter(|(misfit, _)| *misfit == Misfit::BesideLegacyMig);
    nodes
        .flat_map(|(_, node)| best_node::legacy_mig(state, *node).map(|pod| (*node, pod)))
        .collect()
}

/// Counts the nodes that refuse a pod, in an area or everywhere, by reason.
///
/// # Source
/// docs/behaviour.md 1.13 (step 3: room before predicates) and 10.2 for the order of evaluation.
fn misfits(state: &mut State, unplaced: &Unplaced<'_>) -> Refusals {
    let Unplaced { pod, area, names_nodes, .. } = *unplaced;
    let id = state.pods()[pod].shape;
    state.ensure_feasible(id);
    let missing = state.shapes()[id].facts.missing.iter();
    let mut unmet: Vec<Misfit> = missing.map(|one| Misfit::Missing(*one)).collect();
    let pod_claims = best_node::claims_or_zones(state, pod).unwrap_or_else(|_| {
        unmet.extend(standing::claim_problems(state, pod));
        None
    });
    if let Some(claim) = state.looks.given_up() {
        // Whatever else nodes lack, what the search would have found is not known.
        unmet.push(Misfit::Claim(claim, ClaimProblem::GivenUp));
    }
    if !unmet.is_empty() {
        return Refusals::everywhere(&unmet, state.nodes().index.ranks().len());
    }
    let pod_affinity = pod_affinity(state, pod);
    let shape = &state.shapes()[id];
    let mut looks = state.looks;
    let asker = Asker { state, pod, shape, area, pod_affinity, pod_claims };
    let (tallies, also) = asker.ask(&mut looks);
    let also = also.into_iter().collect();

    let nodes = if names_nodes { asker.refusals(&mut looks) } else { Vec::new() };
    let steps = asker.steps();
    state.count_looks(looks);
    state.steps.nodes += steps;
    let dominant = dominant(&tallies);
    let named = tallies
        .iter()
        .flat_map(|(misfit, tally)| tally.named.iter().map(|node| (*misfit, *node)))
        .collect();
    let mut misfits: Vec<(Misfit, u32)> =
        tallies.into_iter().map(|(misfit, tally)| (misfit, tally.nodes)).collect();
    misfits.sort_by_key(|(misfit, count)| (std::cmp::Reverse(*count), *misfit));
    Refusals { misfits, dominant, also, named, nodes }
}

/// A pod that asks every node why.
struct Asker<'c> {
    state: &'c State,
    pod: PodId,
    shape: &'c ShapeRow,
    /// The nodes that are asked; none for all.
    area: Option<&'c IdSet<Rank>>,
    pod_affinity: Option<PodAffinity>,
    pod_claims: Option<PodClaims>,
}

impl Asker<'_> {
    /// Tells whether nodes are asked one by one: there are no buckets of those that are short.
    fn asks_each(&self) -> bool {
        let packs = self.state.nodes().index.policy.gpu.packs();
        !packs || self.shape.amount(Lane::GPU) < GPU_MILLI
    }

    /// Counts the steps that it takes to ask nodes one by one, of which one that is asked why is a part.
    fn steps(&self) -> u64 {
        let all = || self.state.nodes().index.ranks().len();
        let asked = if self.asks_each() { self.area.map_or_else(all, IdSet::len) } else { 0 };
        asked as u64 * self.weight() / ASKED_PER_STEP
    }

    /// Works out how much more than usual it takes to compare a node with what the shape says of its labels.
    fn weight(&self) -> u64 {
        let facts = &self.shape.facts;
        let volumes = facts.volumes.iter().flat_map(volume::terms);
        let terms = facts.node_affinity.iter().chain(volumes);
        let requirements = terms.flatten().map(|requirement| match &requirement.holds {
            Holds::In(values) | Holds::NotIn(values) => 1 + values.len() / VALUES_PER_REQUIREMENT,
            Holds::Exists | Holds::Absent | Holds::Above(_) | Holds::Below(_) => 1,
        });
        1 + requirements.sum::<usize>() as u64 / REQUIREMENTS_PER_STEP
    }

    /// Counts how often each reason comes first, and what nodes are short of besides.
    fn ask(&self, looks: &mut Looks) -> (BTreeMap<Misfit, Capacity>, BTreeMap<Misfit, u32>) {
        let index = &self.state.nodes().index;
        let mut tallies: BTreeMap<Misfit, Capacity> = BTreeMap::new();
        let mut also = BTreeMap::new();
        let gpus = self.shape.amount(Lane::GPU) / GPU_MILLI;
        if self.asks_each() {
            let all: Vec<Rank> = match self.area {
                Some(area) => area.iter().collect(),
                None => index.ranks().collect(),
            };
            for rank in all {
                self.count(rank, &mut tallies, &mut also, looks);
            }
            return (tallies, also);
        }
        let clip = |bucket| self.clip(bucket);
        // Nodes with too few GPUs are counted by the bucket.
        let buckets: Vec<Cow<'_, IdSet<Rank>>> =
            index.by_gpu_below(gpus).iter().map(clip).collect();
        let few = buckets.iter().map(|bucket| bucket.len()).sum::<usize>();
        if few > 0 {
            let short = Misfit::Short(Lane::GPU);
            let fullest = buckets.iter().rev().flat_map(|bucket| bucket.iter());
            let mut witnesses = fullest.take(usize::try_from(WITNESSES_MAX).unwrap_or(0));
            let mut tally = Capacity { witnesses: WITNESSES_MAX, ..Capacity::default() };
            tally.nodes = u32::try_from(few).unwrap_or(u32::MAX);
            tally.alone = witnesses.any(|rank| {
                tally.behind = self.refusal(rank, Some(short), looks);
                tally.behind.is_none()
            });
            tallies.insert(short, tally);
            // To ask all of many nodes for what else they lack would cost more than it tells.
            if few <= LACKING_MAX {
                let all = buckets.iter().flat_map(|bucket| bucket.iter());
                for rank in all {
                    self.count_others(rank, short, &mut also);
                }
            }
        }
        for bucket in index.by_gpu(gpus).map(clip) {
            for rank in bucket.iter() {
                self.count(rank, &mut tallies, &mut also, looks);
            }
        }
        (tallies, also)
    }

    /// The part of some nodes that is asked.
    fn clip<'a>(&self, nodes: &'a IdSet<Rank>) -> Cow<'a, IdSet<Rank>> {
        let Some(area) = self.area else { return Cow::Borrowed(nodes) };
        let mut nodes = nodes.clone();
        nodes.intersect(area);
        Cow::Owned(nodes)
    }

    /// Counts what a node is short of besides one thing.
    fn count_others(&self, rank: Rank, first: Misfit, also: &mut BTreeMap<Misfit, u32>) {
        let node = self.state.nodes().index.node(rank);
        for misfit in self.others(node, first) {
            *also.entry(self.told(node, misfit)).or_default() += 1;
        }
    }

    /// Lists what a node is short of besides one thing.
    ///
    /// # Source
    /// docs/behaviour.md 12.3: each row of node reasons stands for itself.
    fn others(&self, node: NodeId, first: Misfit) -> impl Iterator<Item = Misfit> {
        let Self { state, shape, .. } = self;
        let lanes = shape
            .take
            .iter()
            .filter(move |(lane, amount)| filter::lacks(state, node, *lane, *amount));
        let parts = filter::parts_room(state, shape, node).err();
        let all = lanes.map(|(lane, _)| Misfit::Short(*lane)).chain(parts);
        all.filter(move |misfit| *misfit != first && is_shortage(*misfit))
    }

    fn count(
        &self,
        rank: Rank,
        tallies: &mut BTreeMap<Misfit, Capacity>,
        also: &mut BTreeMap<Misfit, u32>,
        looks: &mut Looks,
    ) {
        let misfit = self.refusal(rank, None, looks).unwrap_or(Misfit::PodSlots);
        if matches!(misfit, Misfit::Short(_) | Misfit::Device) {
            self.count_others(rank, misfit, also);
        }
        let node = self.state.nodes().index.node(rank);
        let tally = tallies.entry(self.told(node, misfit)).or_default();
        tally.nodes += 1;
        if misfit.names_node() && tally.named.len() < NAMED_MAX {
            tally.named.push(node);
        }
        if !tally.alone && tally.witnesses < WITNESSES_MAX {
            tally.witnesses += 1;
            tally.behind = self.refusal(rank, Some(misfit), looks);
            tally.alone = tally.behind.is_none();
        }
    }

    /// Says why a node is not for the pod: the first reason in the order of evaluation, but for one.
    fn refusal(&self, rank: Rank, lifted: Option<Misfit>, looks: &mut Looks) -> Option<Misfit> {
        let Self { state, shape, .. } = self;
        let index = &state.nodes().index;
        let node = index.node(rank);
        let stands = |misfit: Misfit| Some(misfit).filter(|misfit| lifted != Some(*misfit));
        let lacks_but = |skip: Lane| {
            let mut lanes = shape.take.iter().filter(move |(lane, _)| *lane != skip);
            lanes.find_map(|(lane, amount)| {
                let lacks = *lane != Lane::PODS && filter::lacks(state, node, *lane, *amount);
                if lacks { stands(Misfit::Short(*lane)) } else { None }
            })
        };
        let gpus = shape.amount(Lane::GPU);
        let short_of_gpus = gpus > 0 && filter::lacks(state, node, Lane::GPU, gpus);
        let has_room = !lifted.is_some_and(is_shortage);
        if short_of_gpus && lifted != Some(Misfit::Short(Lane::GPU)) {
            return Some(Misfit::Short(Lane::GPU));
        }
        lacks_but(Lane::GPU)
            .or_else(|| {
                filter::parts_room(state, shape, node).err().filter(|_| has_room).and_then(stands)
            })
            .or_else(|| {
                let costs = shape.gpu_mib > 0 && !limits::affords_here(state, self.pod, node);
                if costs { stands(Misfit::Queue) } else { None }
            })
            .or_else(|| {
                let full = filter::lacks(state, node, Lane::PODS, 1);
                if full { stands(Misfit::Short(Lane::PODS)) } else { None }
            })
            .or_else(|| {
                let kind = &state.nodes().kinds[index.kind(rank)];
                kind.admits_but(shape, index.policy.restrict, lifted).err()
            })
            .or_else(|| {
                let pod_affinity = self.pod_affinity.as_ref()?;
                stands(pod_affinity::joins(state, pod_affinity, node).err()?)
            })
            .or_else(
                || if has_room { self.late_refusal(node, looks).and_then(stands) } else { None },
            )
    }

    /// Finds reasons that count only where everything else fits.
    fn late_refusal(&self, node: NodeId, looks: &mut Looks) -> Option<Misfit> {
        let Self { state, shape, .. } = self;
        if matches!(shape.facts.gpu, GpuRequest::Mig(_)) && best_node::has_legacy_mig(state, node) {
            return Some(Misfit::BesideLegacyMig);
        }
        let placement = state.nodes().index.policy.gpu;
        if filter::devices(state, shape, node, Choice::By(placement)).is_none() {
            return Some(Misfit::PodSlots);
        }
        let pod_claims = self.pod_claims.as_ref()?;
        admit::refusal(state, shape, node, pod_claims, looks)
    }
}

/// The reason that stands out: the first that alone keeps the pod from a node. Where none does, the most frequent, or
/// what is behind it if that is there to stay while room comes and goes.
fn dominant(tallies: &BTreeMap<Misfit, Capacity>) -> Misfit {
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

/// Tells whether a reason is that too little is free.
fn is_shortage(misfit: Misfit) -> bool {
    matches!(
        misfit,
        Misfit::Short(_)
            | Misfit::Overhead(_)
            | Misfit::Device
            | Misfit::SetAside
            | Misfit::PodSlots
    )
}

/// Gives the position of a reason in the order of evaluation.
///
/// # Source
/// docs/behaviour.md 1.13 (room first) and the table of 10.2.
fn turn(misfit: Misfit) -> u8 {
    match misfit {
        Misfit::Missing(_) | Misfit::Claim(..) => 0,
        Misfit::Short(_) | Misfit::Overhead(_) | Misfit::Device | Misfit::SetAside => 1,
        Misfit::Queue => 2,
        Misfit::LegacyMig
        | Misfit::BesideLegacyMig
        | Misfit::NotMig
        | Misfit::MigSingle
        | Misfit::MigMixed => 3,
        Misfit::GpuMemoryUnknown | Misfit::GpuTooSmall => 4,
        Misfit::PodSlots => 5,
        Misfit::Blocked(_) => 6,
        Misfit::Port => 7,
        Misfit::Taint(_) => 8,
        Misfit::Selector => 9,
        Misfit::Affinity | Misfit::AntiAffinity | Misfit::Barred | Misfit::Spread => 10,
        Misfit::Volume
        | Misfit::VolumeUnbound
        | Misfit::StorageAbsent(_)
        | Misfit::StorageShort(_) => 11,
        Misfit::Worker => 13,
        Misfit::Devices | Misfit::Elsewhere | Misfit::OnlyClaims => 14,
        Misfit::Zones => 15,
    }
}
