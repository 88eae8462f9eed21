//! Measures how well pods that have to go together fit into domains: against what is free there, summed over its nodes.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
    ops::{Index, Range},
};

use crate::{
    base::{
        id_set::IdSet,
        ids::{Column, DomainId, Id, NodeId, PodId, Rank, ShapeId},
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
    /// Their shapes, each once.
    shapes: BTreeSet<ShapeId>,
    /// The most that one pod asks for, lane by lane as in the sum, where all ask for the same kinds of resource.
    each: Option<Vec<(Lane, i64)>>,
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
        Self {
            pods,
            shapes: pods.iter().map(|pod| state.pods()[*pod].shape).collect(),
            each: (kinds.len() <= 1).then(|| each.into_iter().collect()),
            all: all.into_iter().collect(),
            gpus_milli,
            parts,
        }
    }

    /// Tells whether some of the pods may ever go to a node.
    fn is_feasible(&self, state: &State, rank: Rank) -> bool {
        self.shapes.iter().any(|shape| state.nodes().index.feasible(*shape).contains(rank))
    }

    /// Tells whether all pods ask for the same.
    fn is_alike(&self) -> bool {
        self.shapes.len() <= 1
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
    /// Measures a load against what is free.
    fn of(free: &[i64], load: &Load<'_>) -> Self {
        let (mut order, mut bound) = (Ratio::NONE, Ratio::NONE);
        let lanes = load.all.iter().zip(free.chunks_exact(2));
        for ((lane, amount), free) in lanes.filter(|((lane, _), _)| *lane != Lane::PODS) {
            let ordered = if *lane == Lane::GPU { load.gpus_milli } else { *amount };
            if ordered > 0 {
                order = order.with(*lane, ordered, free[0]);
            }
            bound = bound.with(*lane, *amount, free[1]);
        }
        let pods = free.last().copied().unwrap_or(0);
        let pods = usize::try_from(pods).unwrap_or(0);
        Self { order, bound, pods: load.each.as_ref().map(|_| pods) }
    }

    /// Tells whether there may be room for a load.
    pub(super) fn fits(&self, load: &Load<'_>) -> bool {
        // Of unlike pods the largest alone are counted, so that fewer fit than may: their sum is the bound.
        match self.pods {
            Some(pods) if load.is_alike() => pods >= load.pods.len(),
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

/// Room of domains against a load.
pub(super) struct Fills(Column<DomainId, Option<Fill>>);

impl Index<DomainId> for Fills {
    type Output = Fill;

    fn index(&self, id: DomainId) -> &Fill {
        self.0[id].as_ref().expect("the domains that are looked at were measured")
    }
}

/// Domains to be measured.
pub(super) struct Below<'a> {
    pub(super) domains: &'a Domains,
    /// The top of them.
    pub(super) start: DomainId,
    /// The depth of the lowest of them.
    pub(super) depth: usize,
    /// The nodes that count.
    pub(super) valid: &'a IdSet<Rank>,
}

impl Below<'_> {
    /// Measures a load against each of them. Nodes are looked at once: what a domain has free is what those below it have.
    pub(super) fn fills(&self, state: &State, load: &Load<'_>) -> Fills {
        let rows = &self.domains.rows;
        // Of each lane what is free of it as a whole and in all, and the number of pods that fit.
        let width = 2 * load.all.len() + 1;
        let mut free = vec![0; rows.len() * width];
        let at = |id: DomainId| -> Range<usize> { id.row() * width..(id.row() + 1) * width };
        let mut order = vec![self.start];
        let mut next = 0;
        while let Some(id) = order.get(next).copied() {
            next += 1;
            let domain = &rows[id];
            if domain.depth < self.depth && !domain.children.is_empty() {
                order.extend(&domain.children);
            } else {
                add_free(state, domain.nodes.common(self.valid), load, &mut free[at(id)]);
            }
        }
        let mut fills: Column<DomainId, Option<Fill>> = rows.ids().map(|_| None).collect();
        for id in order.into_iter().rev() {
            fills[id] = Some(Fill::of(&free[at(id)], load));
            if let Some(up) = rows[id].up.filter(|_| id != self.start) {
                let (above, below) = free.split_at_mut(at(id).start);
                for (sum, part) in above[at(up)].iter_mut().zip(below) {
                    *sum += *part;
                }
            }
        }
        Fills(fills)
    }
}

/// Adds what nodes have free, lane by lane, and the pods that they take.
fn add_free(state: &State, ranks: impl Iterator<Item = Rank>, load: &Load<'_>, sums: &mut [i64]) {
    let each = load.each.as_deref().unwrap_or_default();
    let is_bare = each.iter().all(|(lane, _)| *lane == Lane::PODS);
    for rank in ranks {
        let node = state.nodes().index.node(rank);
        let mut fit: Option<i64> = None;
        for (at, (lane, _)) in load.all.iter().enumerate() {
            let whole = state.nodes().free(node, *lane);
            let free = whole + free_in_parts(state, node, *lane, load);
            sums[2 * at] += whole;
            sums[2 * at + 1] += free;
            if let Some((_, amount)) = each.get(at) {
                let here = free.max(0) / amount;
                fit = Some(fit.map_or(here, |fit| fit.min(here)));
            }
        }
        let fit = fit.unwrap_or(0);
        if fit > 0
            && load.is_feasible(state, rank)
            && let Some(pods) = sums.last_mut()
        {
            *pods += if is_bare { i64::from(count(load.pods.len())) } else { fit };
        }
    }
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
