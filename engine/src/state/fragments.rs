//! Placement that keeps GPUs of use: the node, and on it the shared GPU, where a pod makes the fewest fragments.
//!
//! The typical workload is what the configuration names, or else the pods that there are: each shape counts as often as
//! it is there, to three binary digits, so that what is known of nodes is not worked out again for every pod that comes.
//!
//! A fragment is what is free of GPUs on a node and of no use to a pod of a typical workload: all of it where such a
//! pod finds too little CPU or too few GPUs, else the shared GPUs with less free than it wants. Weighted by how many
//! pods of the workload are like that, this is what the node has of fragments, and the increase is what is ranked by.
//!
//! # Source
//! Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent"
//! (USENIX ATC'23), 4. Here in integers, and per node only when it changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{
        ids::{Column, NodeClassId, NodeId, Rank, ShapeId},
        resources::{GPU_MILLI, Lane, LaneKind},
    },
    state::{
        State,
        device::{self, Device},
        shape::{NodeClasses, ShapeRow, Shapes},
    },
    told::{placement::Typical, pod::GpuRequest},
};

/// A test whether a node has room for one pod more of a shape, as whoever places pods sees it.
type HasRoom = fn(&State, &ShapeRow, NodeId) -> bool;

/// Fragments of GPUs that typical pods could not use, by node.
#[derive(Clone, Default, Debug)]
pub(crate) struct Fragments {
    /// As the configuration has them.
    pub(crate) typical: Vec<Typical>,
    /// The shapes that ask for GPUs where it has none, and about how many pods there are of each.
    learned: Vec<(ShapeId, u32)>,
    shapes: Vec<(ShapeRow, i64)>,
    tables: BTreeMap<NodeClassId, Table>,
    rankings: Column<ShapeId, Option<Ranking>>,
    /// Nodes whose amounts changed, in order.
    changed: Vec<Rank>,
    /// Number of changes that were forgotten before these.
    forgotten: usize,
}

/// More changes than this for each node are forgotten: rankings begin anew.
const CHANGES_MAX: usize = 4;

/// The nodes of a shape by the fragments that one pod more makes there.
#[derive(Clone, Debug)]
struct Ranking {
    order: BTreeSet<(Score, Rank)>,
    scores: Column<Rank, Option<Score>>,
    /// Number of changes that are in it.
    read: usize,
}

/// The fragments that one pod more makes; where that is the same, the free GPUs, then the free CPU: the least first.
type Score = (i64, i64, i64);

/// The typical workload as nodes of one kind see it.
#[derive(Clone, Default, Debug)]
struct Table {
    demands: Vec<Demand>,
    /// The weight of pods that may never come.
    never: i64,
}

/// Typical pods that ask for the same of GPUs.
#[derive(Clone, Debug)]
struct Demand {
    gpu: Need,
    weight: i64,
    /// CPU asked for, ascending, and the weight of all that ask for at most that.
    cpu: Vec<(i64, i64)>,
}

/// Request for GPUs of a typical pod.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Need {
    /// A part of one, in milli-devices.
    Part(i64),
    /// Whole ones.
    Whole(i64),
}

/// Amounts that are free on a node, now or later.
#[derive(Clone, Debug)]
struct Free {
    cpu: i64,
    whole: i64,
    /// Of each shared GPU, in milli-devices.
    parts: Vec<i64>,
}

impl Table {
    fn new(
        kinds: &NodeClasses,
        kind: NodeClassId,
        shapes: &[(ShapeRow, i64)],
        restrict: bool,
    ) -> Self {
        let mut table = Self::default();
        let mut demands: BTreeMap<Need, Vec<(i64, i64)>> = BTreeMap::new();
        for (shape, weight) in shapes {
            let need = match &shape.facts.gpu {
                GpuRequest::Whole(count @ 1..) => Need::Whole(i64::from(*count)),
                GpuRequest::Fraction { micro, devices: 1 } => Need::Part(i64::from(*micro) / 1000),
                // Pods without GPUs have no use for any; the others are no typical ones.
                GpuRequest::None
                | GpuRequest::Whole(0)
                | GpuRequest::Fraction { .. }
                | GpuRequest::Memory { .. }
                | GpuRequest::Mig(_)
                | GpuRequest::LegacyMig(_) => continue,
            };
            if kinds[kind].admits(shape, restrict).is_ok() {
                demands.entry(need).or_default().push((shape.amount(Lane::CPU), *weight));
            } else {
                table.never += weight;
            }
        }
        for (gpu, mut cpu) in demands {
            cpu.sort_unstable();
            let mut weight = 0;
            for (_, sum) in &mut cpu {
                weight += *sum;
                *sum = weight;
            }
            table.demands.push(Demand { gpu, weight, cpu });
        }
        table
    }

    /// Fragments of a node, in milli-devices times weight.
    fn fragments(&self, free: &Free) -> i64 {
        let parts: i64 = free.parts.iter().sum();
        let all = free.gpus();
        let of = |demand: &Demand| {
            let useless = match demand.gpu {
                Need::Whole(count) => (free.whole >= count).then_some(parts),
                Need::Part(part) => {
                    let fits = free.whole > 0 || free.parts.iter().any(|room| *room >= part);
                    fits.then(|| free.parts.iter().filter(|room| **room < part).sum())
                }
            };
            match useless {
                Some(useless) => {
                    let able = demand.able(free.cpu);
                    able * useless + (demand.weight - able) * all
                }
                None => demand.weight * all,
            }
        };
        self.demands.iter().map(of).sum::<i64>() + self.never * all
    }
}

impl Demand {
    /// The weight of pods for which there is enough CPU.
    fn able(&self, cpu: i64) -> i64 {
        let at = self.cpu.partition_point(|(asked, _)| *asked <= cpu);
        at.checked_sub(1).map_or(0, |last| self.cpu[last].1)
    }
}

impl Free {
    /// All of its GPUs, in milli-devices.
    fn gpus(&self) -> i64 {
        self.whole * GPU_MILLI + self.parts.iter().sum::<i64>()
    }

    /// Gives what is left with so much less of a shared GPU, or of one that nobody shares yet.
    fn without(&self, part: i64, at: Option<usize>) -> Self {
        let mut rest = self.clone();
        if let Some(at) = at {
            rest.parts[at] -= part;
        } else {
            rest.whole -= 1;
            rest.parts.push(GPU_MILLI - part);
        }
        rest
    }
}

impl Fragments {
    pub(crate) fn new(typical: &[Typical], lanes: &[LaneKind]) -> Self {
        let shapes = typical
            .iter()
            .map(|one| (ShapeRow::new(&one.shape, &[], lanes, false), i64::from(one.weight)));
        Self { shapes: shapes.collect(), typical: typical.to_vec(), ..Self::default() }
    }

    /// Takes the pods that there are for the typical workload.
    ///
    /// # Cost
    /// In the number of shapes; where one became half as frequent again, also all that is known of nodes.
    pub(crate) fn learn(&mut self, shapes: &Shapes) {
        let wanted = |row: &ShapeRow| {
            matches!(
                row.facts.gpu,
                GpuRequest::Whole(1..) | GpuRequest::Fraction { devices: 1, .. }
            )
        };
        let known = || shapes.in_use().filter(|(_, row, _)| wanted(row));
        let learned: Vec<(ShapeId, u32)> = known().map(|(id, _, uses)| (id, about(uses))).collect();
        if learned == self.learned {
            return;
        }
        let weighed = known().map(|(_, row, uses)| (row.clone(), i64::from(about(uses))));
        *self = Self { shapes: weighed.collect(), learned, ..Self::default() };
    }

    /// Notes that a node's amounts or kind changed.
    pub(crate) fn change(&mut self, rank: Rank, nodes: usize) {
        if self.changed.len() > nodes * CHANGES_MAX {
            self.forgotten += self.changed.len();
            self.changed.clear();
        }
        self.changed.push(rank);
    }

    /// Forgets a shape.
    pub(crate) fn forget(&mut self, shape: ShapeId) {
        // Its number may soon be another's.
        if self.learned.binary_search_by_key(&shape, |(known, _)| *known).is_ok() {
            self.learned.clear();
        }
        if self.rankings.get(shape).is_some() {
            self.rankings[shape] = None;
        }
    }

    /// Forgets how nodes rank for every shape: what has room changed, and no amount of a node.
    pub(crate) fn forget_ranks(&mut self) {
        self.rankings = Column::default();
    }

    /// The nodes of a shape, the one with the fewest new fragments first.
    pub(crate) fn order(&self, shape: ShapeId) -> impl Iterator<Item = Rank> + Clone {
        let ranking = self.rankings.get(shape).and_then(Option::as_ref);
        ranking.into_iter().flat_map(|ranking| ranking.order.iter().map(|(_, rank)| *rank))
    }

    /// Brings the order of a shape's nodes up to date.
    fn update(&mut self, state: &State, shape: ShapeId, has_room: HasRoom) {
        let known = self.rankings.slot(shape).take();
        let mut ranking =
            known.filter(|ranking| ranking.read >= self.forgotten).unwrap_or_else(|| Ranking {
                order: BTreeSet::new(),
                scores: Column::default(),
                read: usize::MAX,
            });
        let ranks: Vec<Rank> = match ranking.read.checked_sub(self.forgotten) {
            Some(read) if read <= self.changed.len() => {
                let mut ranks = self.changed[read..].to_vec();
                ranks.sort_unstable();
                ranks.dedup();
                ranks
            }
            _ => state.nodes.index.feasible(shape).iter().collect(),
        };
        for rank in ranks {
            let score = self.score(state, shape, rank, has_room);
            let was = std::mem::replace(ranking.scores.slot(rank), score);
            if was != score {
                if let Some(was) = was {
                    ranking.order.remove(&(was, rank));
                }
                ranking.order.extend(score.map(|score| (score, rank)));
            }
        }
        ranking.read = self.forgotten + self.changed.len();
        self.rankings[shape] = Some(ranking);
    }

    /// Counts the fragments more that a pod makes on a node; none where it has no room.
    fn score(
        &mut self,
        state: &State,
        shape: ShapeId,
        rank: Rank,
        has_room: HasRoom,
    ) -> Option<Score> {
        let index = &state.nodes.index;
        let (node, kind) = (index.node(rank), index.kind(rank));
        let row = &state.shapes[shape];
        if !index.feasible(shape).contains(rank) || !has_room(state, row, node) {
            return None;
        }
        let restrict = index.policy.restrict;
        let table = self.tables.entry(kind);
        let table =
            table.or_insert_with(|| Table::new(&state.nodes.kinds, kind, &self.shapes, restrict));
        let free = free(state, node);
        let before = table.fragments(&free);
        let (gpus, cpu) = (free.gpus(), free.cpu);
        let mut rest = Free { cpu: free.cpu - row.amount(Lane::CPU), ..free };
        rest.whole -= row.amount(Lane::GPU) / GPU_MILLI;
        if let Some(part) = part_milli(state, row, node) {
            for _ in 0..row.shared {
                let roomy = (0..rest.parts.len()).filter(|at| rest.parts[*at] >= part);
                let new = (rest.whole > 0).then_some(None);
                let ways = roomy.map(Some).chain(new).map(|at| rest.without(part, at));
                rest = ways.min_by_key(|rest| table.fragments(rest))?;
            }
        }
        Some((table.fragments(&rest) - before, gpus, cpu))
    }
}

/// A number to three binary digits, rounded down.
fn about(number: u32) -> u32 {
    let idle = (u32::BITS - number.leading_zeros()).saturating_sub(3);
    number >> idle << idle
}

/// Brings the order of a shape's nodes by fragments up to date.
///
/// # Cost
/// In the nodes that changed since it was asked for last, times the demands of the typical workload.
pub(crate) fn rank_by_fragments(state: &mut State, shape: ShapeId, has_room: HasRoom) {
    let mut fragments = std::mem::take(&mut state.nodes.index.fragments);
    fragments.update(state, shape, has_room);
    state.nodes.index.fragments = fragments;
}

/// Orders shared GPUs that have room, the one with the fewest new fragments first; says whether one that nobody
/// shares yet is better than all of them.
pub(crate) fn order_by_fragments(
    state: &State,
    shape: &ShapeRow,
    node: NodeId,
    sharing: &mut [&Device],
) -> bool {
    let index = &state.nodes.index;
    let table = index.rank(node).and_then(|rank| index.fragments.tables.get(&index.kind(rank)));
    let (Some(table), Some(part)) = (table, part_milli(state, shape, node)) else { return false };
    let free = free(state, node);
    let capacity = device::capacity(state.nodes.gpus(node)).max(1);
    let left = |device: &Device| {
        let room = device.room(capacity) * GPU_MILLI / capacity;
        let at = free.parts.iter().position(|part| *part == room);
        at.map_or(i64::MAX, |at| table.fragments(&free.without(part, Some(at))))
    };
    sharing.sort_by_cached_key(|device| (left(device), device.room(capacity), device.uids));
    let best = sharing.first().map_or(i64::MAX, |device| left(device));
    free.whole > 0 && table.fragments(&free.without(part, None)) < best
}

fn free(state: &State, node: NodeId) -> Free {
    let capacity = device::capacity(state.nodes.gpus(node)).max(1);
    let devices = state.nodes.devices.get(node).map_or(&[][..], Vec::as_slice);
    let rooms = devices.iter().map(|device| device.room(capacity) * GPU_MILLI / capacity);
    Free {
        cpu: state.nodes.free(node, Lane::CPU),
        whole: state.nodes.free(node, Lane::GPU).max(0) / GPU_MILLI,
        parts: rooms.filter(|room| *room > 0).collect(),
    }
}

/// The part of a GPU that a shape shares on a node, in milli-devices.
fn part_milli(state: &State, shape: &ShapeRow, node: NodeId) -> Option<i64> {
    let gpus = state.nodes.gpus(node);
    let part = device::part(&shape.facts.gpu, gpus)?;
    Some(part * GPU_MILLI / device::capacity(gpus).max(1))
}

#[cfg(test)]
mod tests {
    use super::{Fragments, ShapeId};

    /// A shape that does not count leaves what is known of nodes as it is.
    #[test]
    fn a_shape_that_does_not_count_is_forgotten_alone() {
        let learned = vec![(ShapeId::new(1), 4), (ShapeId::new(3), 2)];
        let mut fragments = Fragments { learned: learned.clone(), ..Fragments::default() };
        fragments.forget(ShapeId::new(2));
        assert_eq!(fragments.learned, learned);
        fragments.forget(ShapeId::new(3));
        assert_eq!(fragments.learned, []);
    }
}
