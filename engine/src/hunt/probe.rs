//! One look for victims for the first so many pods of a group, which stops and goes on between any two steps.

use std::{collections::BTreeSet, sync::Arc};

use super::{Hunt, Pick, Pool, Tally};
use crate::{cluster::Cluster, ids::PodId, victims::Batch};

/// What became of a look.
#[derive(Debug)]
pub(super) enum Probed {
    /// These victims let the pods in; where the pods are all of them, the trial is kept.
    Found(Vec<Arc<Batch>>),
    /// There are none.
    Nothing,
    /// The steps ran out; it goes on from here.
    Spent(Box<Probe>),
}

/// A look for victims under way.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    /// Victims that let fewer pods in; they are part of every set.
    known: Vec<Arc<Batch>>,
    known_pods: BTreeSet<PodId>,
    /// Whether they alone were not tried yet.
    is_new: bool,
    /// What the nodes hold without them.
    held: Tally,
    /// What the nodes hold without any victim that came up.
    tally: Tally,
    /// The other victims that came up.
    pool: Pool,
    tried: BTreeSet<Vec<usize>>,
    /// How many victims came up.
    drawn: usize,
    /// Sets to be tried before the next victim comes up, the first one last.
    sets: Vec<Vec<usize>>,
}

impl Hunt<'_> {
    /// The first set of victims that lets the first so many pods in.
    ///
    /// What counting refuses is not tried: neither a set, nor any set of what came up so far.
    ///
    /// # Cost
    /// In counted steps: each victim that comes up, and each set that is tried with the nodes that are looked at for
    /// it. It stops before the next one where they are spent.
    pub(super) fn probe(&mut self, cluster: &mut Cluster) -> Probed {
        let mut probe = match self.search.probe.take() {
            Some(probe) => probe,
            None => Box::new(self.new_probe(cluster)),
        };
        loop {
            if self.is_spent(cluster) {
                return Probed::Spent(probe);
            }
            if std::mem::take(&mut probe.is_new) {
                let short = self.search.demand.short(&probe.held.room, self.search.count);
                if !probe.known.is_empty()
                    && short.is_none()
                    && self.simulate(cluster, &probe.known)
                {
                    return Probed::Found(probe.known);
                }
                if self.search.pick == Pick::OneNode && self.is_beyond_one(cluster, &probe.held) {
                    return Probed::Nothing;
                }
            } else if let Some(set) = probe.sets.pop() {
                if let Some(victims) = self.victims_of(cluster, &mut probe, set)
                    && self.simulate(cluster, &victims)
                {
                    return Probed::Found(victims);
                }
            } else {
                let Some(batch) = self.drawn(cluster, probe.drawn) else { return Probed::Nothing };
                cluster.steps.victims += 1;
                probe.drawn += 1;
                probe.sets = self.sets_with(cluster, &mut probe, batch);
                probe.sets.reverse();
            }
        }
    }

    fn new_probe(&self, cluster: &Cluster) -> Probe {
        let search = &self.search;
        let known = search.found.clone();
        let known_pods: Vec<PodId> =
            known.iter().flat_map(|batch| batch.pods.iter().copied()).collect();
        let mut held = search.base.clone().expect("a search begins with what the nodes hold");
        held.add(cluster, &search.demand, &search.nodes, &known_pods);
        Probe {
            known,
            known_pods: known_pods.into_iter().collect(),
            is_new: true,
            tally: held.clone(),
            held,
            pool: Pool::default(),
            tried: BTreeSet::new(),
            drawn: 0,
            sets: Vec::new(),
        }
    }

    /// The sets that one more victim makes worth a try.
    fn sets_with(
        &mut self,
        cluster: &Cluster,
        probe: &mut Probe,
        batch: Arc<Batch>,
    ) -> Vec<Vec<usize>> {
        let (pick, count) = (self.search.pick, self.search.count);
        let search = &self.search;
        if batch.pods.iter().any(|pod| probe.known_pods.contains(pod)) {
            return Vec::new();
        }
        probe.tally.add(cluster, &search.demand, &search.nodes, &batch.pods);
        probe.pool.add(cluster, batch);
        if search.demand.short(&probe.tally.room, count).is_some() {
            return Vec::new();
        }
        match pick {
            Pick::OneNode => {
                let (held, tally) = (&probe.held, &probe.tally);
                if self.is_short_there(cluster, (held, tally), &probe.pool) {
                    return Vec::new();
                }
                probe.pool.by_node(cluster)
            }
            Pick::ManyNodes => self.many_nodes(cluster, &probe.pool, count, &probe.known),
        }
    }

    /// The victims of a set with those that are known, unless it was tried or counting refuses it.
    fn victims_of(
        &self,
        cluster: &Cluster,
        probe: &mut Probe,
        set: Vec<usize>,
    ) -> Option<Vec<Arc<Batch>>> {
        let search = &self.search;
        let pods: Vec<PodId> =
            set.iter().flat_map(|at| &probe.pool.batches[*at].pods).copied().collect();
        let room = probe.held.with(cluster, &search.demand, &search.nodes, &pods);
        if set.is_empty() || search.demand.short(&room, search.count).is_some() {
            return None;
        }
        let mut victims = probe.known.clone();
        victims.extend(set.iter().map(|at| probe.pool.batches[*at].clone()));
        probe.tried.insert(set).then_some(victims)
    }
}
