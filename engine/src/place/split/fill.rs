//! Measures how well pods that have to go together fit into domains: against what is free there, summed over its nodes.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    base::{
        id_set::IdSet,
        ids::{DomainId, NodeId, PodId, Rank},
        resources::{GPU_MILLI, Lane, QueueLane},
    },
    decided::plan::domain::Room,
    fit::filter,
    state::{State, device, domains::Domains},
    told::pod::GpuRequest,
};

/// Requests of pods that have to go together.
pub(super) struct Load<'a> {
    pub(super) pods: &'a [PodId],
    /// The most that one pod asks for, where all ask for the same kinds of resource.
    each: Option<Vec<(Lane, i64)>>,
    /// Set where all pods ask for the same.
    alike: bool,
    /// The sum.
    all: Vec<(Lane, i64)>,
    /// The sum's GPUs in the order of domains, in thousandths: GPU memory is none.
    pub(super) gpus_milli: i64,
    /// Set where parts of shared GPUs count as free GPUs.
    parts: bool,
}

/// The part of the scarcest resource that a load takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    part: i128,
    whole: i128,
    lane: Lane,
}

/// Room of a domain against a load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    /// Against GPUs that are free as a whole: what orders domains.
    pub(super) order: Ratio,
    /// Against all that is free, parts of shared GPUs too.
    bound: Ratio,
    /// Number of the pods that fit, where that can be told.
    pub(super) pods: Option<usize>,
}

/// A number of pods or domains, as reasons give it.
pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl<'a> Load<'a> {
    /// Sums what pods ask for.
    pub(super) fn of(state: &State, pods: &'a [PodId]) -> Self {
        let mut all: BTreeMap<Lane, i64> = BTreeMap::new();
        let mut each: BTreeMap<Lane, i64> = BTreeMap::new();
        let mut kinds = BTreeSet::new();
        let (mut gpus_milli, mut parts) = (0, false);
        for pod in pods {
            let shape = &state.shapes()[state.pods()[*pod].shape];
            let mut lanes: BTreeMap<Lane, i64> = shape.take.iter().copied().collect();
            let is_fraction = matches!(shape.facts.gpu, GpuRequest::Fraction { .. });
            gpus_milli +=
                if is_fraction { shape.charge[QueueLane::Gpu] } else { shape.amount(Lane::GPU) };
            if shape.shared > 0 {
                // Not as they are charged, which may be a little more: as many as fill a GPU fit on it.
                let each = (filter::part_micro(state, shape) * GPU_MILLI / 1_000_000).max(1);
                lanes.insert(Lane::GPU, each * i64::from(shape.shared));
                parts = true;
            }
            let is_special = |lane: &Lane| *lane != Lane::CPU && *lane != Lane::MEMORY;
            kinds.insert(lanes.keys().copied().filter(is_special).collect::<Vec<_>>());
            for (lane, amount) in lanes {
                *all.entry(lane).or_default() += amount;
                let most = each.entry(lane).or_default();
                *most = amount.max(*most);
            }
        }
        let shape = |pod: &PodId| state.pods()[*pod].shape;
        Self {
            pods,
            each: (kinds.len() <= 1).then(|| each.into_iter().collect()),
            alike: pods.windows(2).all(|pair| shape(&pair[0]) == shape(&pair[1])),
            all: all.into_iter().collect(),
            gpus_milli,
            parts,
        }
    }

    /// Tells whether some of the pods may ever go to a node.
    fn is_feasible(&self, state: &State, rank: Rank) -> bool {
        let feasible =
            |pod: &PodId| state.nodes().index.feasible(state.pods()[*pod].shape).contains(rank);
        self.pods.iter().any(feasible)
    }
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

    /// Orders two of them, the one that leaves less first.
    pub(super) fn tighter(&self, other: &Self) -> Ordering {
        (other.part * self.whole).cmp(&(self.part * other.whole))
    }
}

impl Fill {
    /// Measures a load against what is free on some nodes.
    fn of(state: &State, nodes: impl Iterator<Item = Rank>, load: &Load<'_>) -> Self {
        let mut free: BTreeMap<Lane, [i64; 2]> = BTreeMap::new();
        let mut pods = 0;
        for rank in nodes {
            let node = state.nodes().index.node(rank);
            for (lane, _) in &load.all {
                let [whole, all] = free.entry(*lane).or_default();
                let amount = state.nodes().free(node, *lane);
                *whole += amount;
                *all += amount + free_in_parts(state, node, *lane, load);
            }
            if let Some(each) = &load.each
                && load.is_feasible(state, rank)
            {
                pods += pods_on(state, node, each, load);
            }
        }
        let (mut order, mut bound) = (Ratio::NONE, Ratio::NONE);
        for (lane, amount) in load.all.iter().filter(|(lane, _)| *lane != Lane::PODS) {
            let [whole, all] = free.get(lane).copied().unwrap_or_default();
            let ordered = if *lane == Lane::GPU { load.gpus_milli } else { *amount };
            if ordered > 0 {
                order = order.with(*lane, ordered, whole);
            }
            bound = bound.with(*lane, *amount, all);
        }
        Self { order, bound, pods: load.each.as_ref().map(|_| pods) }
    }

    /// Tells whether there may be room for a load.
    pub(super) fn fits(&self, load: &Load<'_>) -> bool {
        // Of unlike pods the largest alone are counted, so that fewer fit than may: their sum is the bound.
        match self.pods {
            Some(pods) if load.alike => pods >= load.pods.len(),
            Some(_) | None => self.bound.part <= self.bound.whole,
        }
    }

    /// The room that there is, where the load does not fit.
    pub(super) fn room(&self, load: &Load<'_>) -> Room {
        match self.pods {
            Some(pods) if pods < load.pods.len() => Room::Pods(count(pods)),
            Some(_) | None => Room::Short(self.bound.lane),
        }
    }
}

/// Measures a load against every domain below `start`, itself included.
pub(super) fn fills(
    state: &State,
    domains: &Domains,
    start: DomainId,
    valid: &IdSet<Rank>,
    load: &Load<'_>,
) -> BTreeMap<DomainId, Fill> {
    let mut fills = BTreeMap::new();
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        let domain = &domains.rows[id];
        open.extend(domain.children.iter().copied());
        fills.insert(id, Fill::of(state, domain.nodes.common(valid), load));
    }
    fills
}

/// Number of pods that ask for `each` at most which a node takes.
fn pods_on(state: &State, node: NodeId, each: &[(Lane, i64)], load: &Load<'_>) -> usize {
    let bare = each.iter().all(|(lane, _)| *lane == Lane::PODS);
    let fit = |(lane, amount): &(Lane, i64)| {
        let free = state.nodes().free(node, *lane) + free_in_parts(state, node, *lane, load);
        free.max(0) / amount
    };
    let pods = each.iter().map(fit).min().unwrap_or(0);
    let pods = usize::try_from(pods).unwrap_or(0);
    if bare && pods > 0 { load.pods.len() } else { pods }
}

/// Amount that is free beside whole GPUs, where parts of them are asked for.
#[inline]
fn free_in_parts(state: &State, node: NodeId, lane: Lane, load: &Load<'_>) -> i64 {
    if lane == Lane::GPU && load.parts { parts_milli(state, node) } else { 0 }
}

/// The most that is free of the shared GPUs of a node.
fn parts_milli(state: &State, node: NodeId) -> i64 {
    let capacity = device::capacity(state.nodes().gpus(node)).max(1);
    let milli = |room: i64| (room * GPU_MILLI + capacity - 1) / capacity;
    state
        .nodes()
        .devices
        .get(node)
        .map_or(0, |devices| devices.iter().map(|device| milli(device.room(capacity).max(0))).sum())
}
