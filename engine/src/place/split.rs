//! Splits nodes for pods that have to go together: into domains, the tightest that fits first.
//!
//! # Source
//! docs/behaviour.md 11.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::{
    base::{
        id_set::IdSet,
        ids::{DomainId, NodeId, PodId, Rank, Symbol},
        resources::{GPU_MILLI, Lane, QueueLane},
    },
    decided::plan::{
        Why,
        domain::{DomainProblem, DomainRoom, NoDomain, Room},
    },
    fit::filter,
    state::{State, device, domains::Domains},
    told::{group::Constraint, pod::GpuRequest},
};

/// What pods that have to go together ask for.
struct Load {
    /// The most that one pod asks for, where all ask for the same kinds of resource.
    each: Option<Vec<(Lane, i64)>>,
    /// True if all ask for the same.
    alike: bool,
    /// The sum.
    all: Vec<(Lane, i64)>,
    /// What the sum has of GPUs in the order of domains: GPU memory is none.
    gpus: i64,
    pods: usize,
    /// True if parts of shared GPUs count as free GPUs.
    parts: bool,
}

/// How much of the scarcest resource a load takes: parts of a whole.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    part: i128,
    whole: i128,
    lane: Lane,
}

impl Ratio {
    /// The ratio of no load at all.
    const NONE: Self = Self { part: 0, whole: 1, lane: Lane::PODS };

    /// The larger of this one and that of an amount against what is free.
    fn with(self, lane: Lane, amount: i64, free: i64) -> Self {
        let (part, whole) = if free > 0 { (amount, free) } else { (1000, 1) };
        let next = Self { part: i128::from(part), whole: i128::from(whole), lane };
        if next.tighter(&self) == Ordering::Less { next } else { self }
    }

    fn tighter(&self, other: &Self) -> Ordering {
        (other.part * self.whole).cmp(&(self.part * other.whole))
    }
}

/// Room of a domain against a load.
#[derive(Clone, Copy, Debug)]
struct Fill {
    /// Against GPUs that are free as a whole: what orders domains.
    order: Ratio,
    /// Against all that is free, parts of shared GPUs too.
    bound: Ratio,
    /// How many of the pods fit, where that can be told.
    pods: Option<usize>,
}

/// So many domains that are too small are told one by one.
const ROOMS_MAX: usize = 100;

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Fill {
    fn fits(&self, load: &Load) -> bool {
        // Of unlike pods the largest alone are counted, so that fewer fit than may: their sum is the bound.
        match self.pods {
            Some(pods) if load.alike => pods >= load.pods,
            Some(_) | None => self.bound.part <= self.bound.whole,
        }
    }

    /// How much there is, where it does not fit.
    fn room(&self, load: &Load) -> Room {
        match self.pods {
            Some(pods) if pods < load.pods => Room::Pods(count(pods)),
            Some(_) | None => Room::Short(self.bound.lane),
        }
    }
}

/// Candidate sets of nodes for a constraint.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    /// One is enough; the first to be tried first.
    pub(crate) sets: Vec<IdSet<Rank>>,
    /// Where a level is preferred: nodes from the most preferred domains to the least.
    pub(crate) tiers: Option<Vec<IdSet<Rank>>>,
}

/// A constraint on pods that have to go together.
#[derive(Debug)]
pub(crate) struct Together<'a> {
    pub(crate) sub_group: Symbol,
    pub(crate) constraint: Constraint,
    /// The pods to place.
    pub(crate) pods: &'a [PodId],
    /// Nodes where pods of the same sub-group are already.
    pub(crate) taken: &'a IdSet<Rank>,
}

/// Splits a set of nodes for pods that have to go together.
///
/// # Source
/// docs/behaviour.md 11.3.
pub(crate) fn split(
    state: &mut State,
    together: &Together<'_>,
    nodes: Option<&IdSet<Rank>>,
) -> Result<Split, Why> {
    let Together { sub_group, constraint, .. } = *together;
    let fail = |problem| {
        let topology = constraint.topology;
        Why::NoDomain(Box::new(NoDomain { sub_group, topology, problem, before: Vec::new() }))
    };
    for pod in together.pods {
        state.ensure_feasible(state.pods()[*pod].shape);
    }
    let domains = state.nodes().index.domains.get(constraint.topology).and_then(Option::as_ref);
    let domains = domains.ok_or_else(|| fail(DomainProblem::NoTopology))?;
    let mut valid = domains.rows[DomainId::new(0)].nodes.clone();
    if let Some(nodes) = nodes {
        valid.intersect(nodes);
    }
    let depth = |level: Option<crate::Level>, required| {
        level.map(|level| domains.depth(level.0, required)).transpose()
    };
    let required = depth(constraint.required, true).map_err(fail)?;
    let preferred = depth(constraint.preferred, false).map_err(fail)?;
    if required.zip(preferred).is_some_and(|(required, preferred)| preferred < required) {
        return Err(fail(DomainProblem::LevelsReversed));
    }
    let narrowest = preferred.or(required).ok_or_else(|| fail(DomainProblem::NeitherLevel))?;
    let start = domains.around(&valid, narrowest);
    let load = load(state, together.pods);
    let fills = fills(state, domains, start, &valid, (&load, together.pods));
    let order = sorted(domains, start, narrowest, &fills);
    let tiers = preferred.map(|depth| tiers(domains, &order, depth, &valid));
    let widest = required.unwrap_or(0);
    let anchors =
        required.map_or_else(Vec::new, |depth| domains.around_each(together.taken, depth));
    // Where pods of the group are, only domains around them will do; none where all of them are on nodes without
    // the labels.
    let is_free = required.is_none() || together.taken.is_empty();
    let is_outside = !is_free && anchors.is_empty();
    let anchored = |id: &DomainId| {
        let nodes = &domains.rows[*id].nodes;
        let inside =
            |anchor: &DomainId| nodes.common_len(&domains.rows[*anchor].nodes) == nodes.len();
        is_free || anchors.iter().any(inside)
    };
    let at = |depth: usize| {
        order.iter().filter(move |id| domains.rows[**id].depth == depth).filter(|id| anchored(id))
    };
    let mut sets = Vec::new();
    for id in (widest..=narrowest).rev().flat_map(at).filter(|id| fills[id].fits(&load)) {
        let mut nodes = domains.rows[*id].nodes.clone();
        nodes.intersect(&valid);
        sets.push(nodes);
    }
    if sets.is_empty() {
        let level = required.map(|depth| domains.levels[depth - 1]);
        let whole = Some(start).filter(|start| !fills[start].fits(&load));
        if let Some(level) = level.filter(|_| is_outside && whole.is_none()) {
            return Err(fail(DomainProblem::Outside { level }));
        }
        let most = at(widest).filter_map(|id| fills[id].pods).max().unwrap_or(0);
        let room =
            |id: &DomainId| DomainRoom { path: domains.path(*id), room: fills[id].room(&load) };
        return Err(fail(DomainProblem::NoFit {
            level,
            whole: whole.map(|start| domains.path(start)),
            rooms: at(widest).take(ROOMS_MAX).map(room).collect(),
            domains: count(at(widest).count()),
            pods_max: count(most),
            pods: count(load.pods),
        }));
    }
    Ok(Split { sets, tiers })
}

/// What pods ask for together, and each at most where all ask for the same kinds of resource.
fn load(state: &State, pods: &[PodId]) -> Load {
    let mut all: BTreeMap<Lane, i64> = BTreeMap::new();
    let mut each: BTreeMap<Lane, i64> = BTreeMap::new();
    let mut kinds = std::collections::BTreeSet::new();
    let (mut gpus, mut parts) = (0, false);
    for pod in pods {
        let shape = &state.shapes()[state.pods()[*pod].shape];
        let mut lanes: BTreeMap<Lane, i64> = shape.take.iter().copied().collect();
        let is_fraction = matches!(shape.facts.gpu, GpuRequest::Fraction { .. });
        gpus += if is_fraction { shape.charge[QueueLane::Gpu] } else { shape.amount(Lane::GPU) };
        if shape.shared > 0 {
            // Not as they are charged, which may be a little more: as many as fill a GPU fit on it.
            let each = (filter::part_micro(state, shape) * GPU_MILLI / 1_000_000).max(1);
            lanes.insert(Lane::GPU, each * i64::from(shape.shared));
            parts = true;
        }
        kinds.insert(
            lanes
                .keys()
                .copied()
                .filter(|lane| *lane != Lane::CPU && *lane != Lane::MEMORY)
                .collect::<Vec<_>>(),
        );
        for (lane, amount) in lanes {
            *all.entry(lane).or_default() += amount;
            let most = each.entry(lane).or_default();
            *most = amount.max(*most);
        }
    }
    let each = (kinds.len() <= 1).then(|| each.into_iter().collect());
    let alike =
        pods.windows(2).all(|pair| state.pods()[pair[0]].shape == state.pods()[pair[1]].shape);
    Load { each, alike, all: all.into_iter().collect(), gpus, pods: pods.len(), parts }
}

/// Room of every domain below `start`, itself included.
fn fills(
    state: &State,
    domains: &Domains,
    start: DomainId,
    valid: &IdSet<Rank>,
    (load, pods): (&Load, &[PodId]),
) -> BTreeMap<DomainId, Fill> {
    let mut fills = BTreeMap::new();
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        let domain = &domains.rows[id];
        open.extend(domain.children.iter().copied());
        let mut free: BTreeMap<Lane, [i64; 2]> = BTreeMap::new();
        let mut count = 0;
        for rank in domain.nodes.common(valid) {
            let node = state.nodes().index.node(rank);
            for (lane, _) in &load.all {
                let [whole, all] = free.entry(*lane).or_default();
                let amount = state.nodes().free(node, *lane);
                *whole += amount;
                *all += amount + free_in_parts(state, node, *lane, load);
            }
            if let Some(each) = &load.each
                && pods.iter().any(|pod| {
                    state.nodes().index.feasible(state.pods()[*pod].shape).contains(rank)
                })
            {
                count += pods_on(state, node, each, load);
            }
        }
        let (mut order, mut bound) = (Ratio::NONE, Ratio::NONE);
        for (lane, amount) in load.all.iter().filter(|(lane, _)| *lane != Lane::PODS) {
            let [whole, all] = free.get(lane).copied().unwrap_or_default();
            let ordered = if *lane == Lane::GPU { load.gpus } else { *amount };
            if ordered > 0 {
                order = order.with(*lane, ordered, whole);
            }
            bound = bound.with(*lane, *amount, all);
        }
        let pods = load.each.as_ref().map(|_| count);
        fills.insert(id, Fill { order, bound, pods });
    }
    fills
}

/// How many pods that ask for `each` at most a node takes.
fn pods_on(state: &State, node: NodeId, each: &[(Lane, i64)], load: &Load) -> usize {
    let bare = each.iter().all(|(lane, _)| *lane == Lane::PODS);
    let fit = |(lane, amount): &(Lane, i64)| {
        let free = state.nodes().free(node, *lane) + free_in_parts(state, node, *lane, load);
        free.max(0) / amount
    };
    let pods = each.iter().map(fit).min().unwrap_or(0);
    let pods = usize::try_from(pods).unwrap_or(0);
    if bare && pods > 0 { load.pods } else { pods }
}

/// What is free beside whole ones, where parts of GPUs are asked for.
#[inline]
fn free_in_parts(state: &State, node: NodeId, lane: Lane, load: &Load) -> i64 {
    if lane == Lane::GPU && load.parts { parts_milli(state, node) } else { 0 }
}

/// What is free of the shared GPUs of a node, at most.
fn parts_milli(state: &State, node: NodeId) -> i64 {
    let capacity = device::capacity(state.nodes().gpus(node)).max(1);
    let milli = |room: i64| (room * GPU_MILLI + capacity - 1) / capacity;
    state
        .nodes()
        .devices
        .get(node)
        .map_or(0, |devices| devices.iter().map(|device| milli(device.room(capacity).max(0))).sum())
}

/// The domains below `start` in tree order, the tightest first among siblings, down to the level below `depth`.
fn sorted(
    domains: &Domains,
    start: DomainId,
    depth: usize,
    fills: &BTreeMap<DomainId, Fill>,
) -> Vec<DomainId> {
    let mut order = vec![start];
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        if id != start {
            order.push(id);
        }
        if domains.rows[id].depth < depth {
            let mut children = domains.rows[id].children.clone();
            children.sort_by(|left, right| fills[left].order.tighter(&fills[right].order));
            open.extend(children.into_iter().rev());
        }
    }
    order
}

/// Nodes by how much their domain is preferred: later domains in tree order, the roomier ones, first; ten steps.
fn tiers(
    domains: &Domains,
    order: &[DomainId],
    depth: usize,
    valid: &IdSet<Rank>,
) -> Vec<IdSet<Rank>> {
    let level: Vec<&DomainId> =
        order.iter().filter(|id| domains.rows[**id].depth == depth).collect();
    let mut tiers: BTreeMap<std::cmp::Reverse<usize>, IdSet<Rank>> = BTreeMap::new();
    for (at, id) in level.iter().enumerate() {
        let step = (at + 1) * 10 / level.len();
        tiers
            .entry(std::cmp::Reverse(step))
            .or_default()
            .extend(domains.rows[**id].nodes.common(valid));
    }
    let mut rest = valid.clone();
    let mut all: Vec<IdSet<Rank>> = tiers.into_values().collect();
    for tier in &all {
        for rank in tier.iter() {
            rest.remove(rank);
        }
    }
    if !rest.is_empty() {
        all.push(rest);
    }
    all
}
