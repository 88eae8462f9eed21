//! How many pods nodes would hold at most once victims are gone: a bound that needs no trial.
//!
//! Per shape of the pods to place, and lane by lane, so that it is never too low: what it refuses no search finds.

use std::collections::BTreeMap;

use crate::{
    cluster::Cluster,
    ids::{NodeId, PodId, Rank, ShapeId},
    idset::IdSet,
    resources::{GPU_MILLI, Lane},
    shape::ShapeRow,
};

/// Amounts that come free on one node.
type Freed = Vec<(Lane, i64)>;

/// The shapes of the pods to place, with how many of each are among the first so many.
#[derive(Clone, Debug, Default)]
pub(super) struct Demand {
    /// Per shape, per pod: how many of the shape there are up to it.
    pub(super) shapes: Vec<(ShapeId, Vec<usize>)>,
}

impl Demand {
    pub(super) fn new(cluster: &mut Cluster, pods: &[PodId]) -> Self {
        let mut demand = Self::default();
        for (at, pod) in pods.iter().enumerate() {
            let shape = cluster.pods[*pod].shape;
            if !demand.shapes.iter().any(|(other, _)| *other == shape) {
                cluster.know(shape);
                demand.shapes.push((shape, vec![0; at]));
            }
            for (other, counts) in &mut demand.shapes {
                let before = counts.last().copied().unwrap_or(0);
                counts.push(before + usize::from(*other == shape));
            }
        }
        demand
    }

    /// How many pods of the shape at a place in the list are among the first `count`.
    fn needed(&self, at: usize, count: usize) -> usize {
        count.checked_sub(1).map_or(0, |last| self.shapes[at].1[last])
    }

    /// The first shape of which fewer fit than there are among the first `count`: how many of both.
    pub(super) fn short(&self, room: &[usize], count: usize) -> Option<(usize, usize)> {
        (0..self.shapes.len())
            .map(|at| (self.needed(at, count), room[at]))
            .find(|(needed, most)| needed > most)
    }
}

/// What the nodes would hold, with some victims gone.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    freed: BTreeMap<NodeId, Freed>,
    /// Per shape: how many pods fit at most.
    pub(super) room: Vec<usize>,
}

impl Tally {
    /// Without victims: what `nodes` hold as they are.
    ///
    /// # Cost
    /// In the nodes with enough GPUs; no more are counted than there are pods to place.
    pub(super) fn new(cluster: &Cluster, demand: &Demand, nodes: &IdSet<Rank>) -> Self {
        let index = &cluster.nodes.index;
        let room = demand.shapes.iter().map(|(shape, counts)| {
            let row = &cluster.shapes[*shape];
            let enough = counts.last().copied().unwrap_or(0);
            let mut room = 0;
            let buckets = index.by_gpu(index.gpus_from(row.amount(Lane::GPU)));
            for bucket in buckets {
                for rank in IdSet::all_of([bucket, nodes, index.feasible(*shape)]) {
                    room += most(cluster, row, index.node(rank), &[]);
                    if room >= enough {
                        return room;
                    }
                }
            }
            room
        });
        Self { freed: BTreeMap::new(), room: room.collect() }
    }

    /// Takes victims away.
    pub(super) fn add(
        &mut self,
        cluster: &Cluster,
        demand: &Demand,
        nodes: &IdSet<Rank>,
        pods: &[PodId],
    ) {
        for pod in pods {
            let Some(node) = cluster.node_of(*pod) else { continue };
            let Some(rank) = cluster.nodes.index.rank(node) else { continue };
            let first = !self.freed.contains_key(&node);
            let freed = self.freed.entry(node).or_default();
            let before = freed.clone();
            release(cluster, *pod, freed);
            for (at, (shape, _)) in demand.shapes.iter().enumerate() {
                if !cluster.nodes.index.feasible(*shape).contains(rank) {
                    continue;
                }
                let row = &cluster.shapes[*shape];
                let counted = !first || nodes.contains(rank);
                let had = if counted { most(cluster, row, node, &before) } else { 0 };
                self.room[at] += most(cluster, row, node, freed) - had;
            }
        }
    }

    /// What a node would hold of each shape.
    pub(super) fn on(&self, cluster: &Cluster, shape: ShapeId, node: NodeId) -> usize {
        let freed = self.freed.get(&node).map_or(&[][..], Vec::as_slice);
        most(cluster, &cluster.shapes[shape], node, freed)
    }

    /// How many pods would fit if more victims were gone besides.
    pub(super) fn with(
        &self,
        cluster: &Cluster,
        demand: &Demand,
        nodes: &IdSet<Rank>,
        pods: &[PodId],
    ) -> Vec<usize> {
        let touched: BTreeMap<NodeId, Freed> = pods
            .iter()
            .filter_map(|pod| cluster.node_of(*pod))
            .filter_map(|node| Some((node, self.freed.get(&node)?.clone())))
            .collect();
        let mut part = Self { freed: touched, room: self.room.clone() };
        part.add(cluster, demand, nodes, pods);
        part.room
    }
}

/// Adds what a pod holds of its node.
fn release(cluster: &Cluster, pod: PodId, freed: &mut Freed) {
    let shape = &cluster.shapes[cluster.pods[pod].shape];
    let shared = (Lane::GPU, i64::from(shape.shared) * GPU_MILLI + shape.named_milli);
    for (lane, amount) in shape.take.iter().copied().chain([shared]) {
        match freed.iter_mut().find(|(other, _)| *other == lane) {
            Some((_, sum)) => *sum += amount,
            None => freed.push((lane, amount)),
        }
    }
}

/// How many pods of a shape a node holds at most with so much more free.
fn most(cluster: &Cluster, shape: &ShapeRow, node: NodeId, freed: &[(Lane, i64)]) -> usize {
    let room = |(lane, amount): &(Lane, i64)| {
        let more = freed.iter().find(|(other, _)| other == lane).map_or(0, |(_, more)| *more);
        (cluster.nodes.free(node, *lane) + more).max(0) / amount
    };
    let least = shape.take.iter().map(room).min().unwrap_or(0);
    usize::try_from(least).unwrap_or(0)
}

impl Tally {
    /// Ranks where victims are gone.
    pub(super) fn ranks(&self, cluster: &Cluster) -> impl Iterator<Item = Rank> {
        self.freed.keys().filter_map(|node| cluster.nodes.index.rank(*node))
    }
}
