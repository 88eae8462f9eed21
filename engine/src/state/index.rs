//! Nodes by what is free on them: how a node is found without a scan.
//!
//! Nodes are numbered by name ([`Rank`]), so that the first member of a set is the winner of a tie. GPU nodes sit in
//! buckets by placement key, each a set of ranks; nodes for CPU work are one ordered set, built when first asked for.
//! A shape's nodes are a set too, so the best node of a shape is the first common member of two or three sets.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    base::{
        buckets::Buckets,
        id_set::IdSet,
        ids::{Column, NodeId, Rank, ShapeId, TopologyId},
        resources::GPU_MILLI,
    },
    state::{
        domains::Domains,
        fragments::Fragments,
        node_sets::NodeSets,
        spread_domains::{SpreadBasis, SpreadDomains},
    },
    told::placement::Placement,
};

/// Ranking of nodes, and whether workers are told apart; the index is built for one such policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Policy {
    pub(crate) gpu: Placement,
    pub(crate) cpu: Placement,
    pub(crate) sharing_first: bool,
    pub(crate) restrict: bool,
}

impl Policy {
    /// Tells whether some pods are placed by fragments.
    pub(crate) fn by_fragments(self) -> bool {
        self.gpu == Placement::Fragmentation || self.cpu == Placement::Fragmentation
    }
}

/// Position of a node for CPU work: nodes without GPUs first, then by placement key.
pub(super) type CpuKey = (bool, i64);

/// Number of steps by which nodes are told apart by the largest part of a shared GPU that is free.
pub(super) const PART_STEPS: i64 = 32;

/// The index over all live nodes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Index {
    /// True if the set of nodes, their names or the label keys in use changed, so that all has to be built again.
    pub(crate) stale: bool,
    pub(crate) policy: Policy,
    pub(super) rank: Column<NodeId, Option<Rank>>,
    pub(super) node: Column<Rank, NodeId>,
    pub(super) kind: Column<Rank, crate::base::ids::NodeClassId>,
    pub(super) gpu_key: Column<Rank, i64>,
    pub(super) by_gpu: Buckets,
    pub(super) cpu_key: Column<Rank, CpuKey>,
    pub(super) by_cpu: BTreeSet<(CpuKey, Rank)>,
    pub(super) cpu_wanted: bool,
    /// Nodes that offer whole GPUs.
    pub(crate) offering: IdSet<Rank>,
    /// Nodes with shared GPUs.
    pub(crate) shared: IdSet<Rank>,
    /// Nodes with a GPU, or a part of one, that is free or coming free.
    pub(crate) with_free_gpu: IdSet<Rank>,
    /// Nodes where something is leaving or kept for nominated pods.
    pub(crate) releasing_or_nominated: IdSet<Rank>,
    /// Nodes by the fragments that a pod makes there.
    pub(crate) fragments: Fragments,
    /// Per topology: its domains.
    pub(crate) domains: Column<TopologyId, Option<Domains>>,
    /// Nodes by label and taint, for shapes that are asked about for the first time.
    pub(super) node_sets: Option<NodeSets>,
    /// Nodes by their value of a label that devices of several nodes ask for, or by which pods keep apart. Filled as asked.
    pub(crate) labelled: BTreeMap<crate::Symbol, BTreeMap<crate::Symbol, Vec<NodeId>>>,
    /// Nodes by the largest part of a shared GPU that is free: at a place those where it is at least so many steps.
    pub(super) parts: Vec<IdSet<Rank>>,
    /// Per node: in how many of these it is.
    pub(super) part_sets: Column<Rank, usize>,
    /// Per shape with topology spread: the domains of each constraint. Filled as asked.
    pub(crate) spread: BTreeMap<ShapeId, Vec<Arc<SpreadDomains>>>,
    /// All of these domains, each once, and for how many constraints.
    pub(crate) spread_domains: BTreeMap<SpreadBasis, (Arc<SpreadDomains>, u32)>,
    /// Number of the kinds of nodes in all of these.
    pub(super) spread_kinds: usize,
    /// The nodes as they are when nothing runs. Filled as asked.
    pub(crate) largest: Option<Largest>,
    /// Per shape: the nodes that its pods may ever go to. Filled as asked.
    pub(super) feasible: Column<ShapeId, Option<IdSet<Rank>>>,
}

/// The nodes as they are when nothing runs.
#[derive(Clone, Default, Debug)]
pub(crate) struct Largest {
    /// Per lane: the most that a node offers.
    pub(crate) lanes: Vec<i64>,
    /// Number of nodes by the GPUs that they offer, in milli-devices.
    pub(crate) by_gpu_milli: BTreeMap<i64, u32>,
}

impl PartialEq for Index {
    /// Equal keys of equal nodes; what is filled as asked does not count.
    fn eq(&self, other: &Self) -> bool {
        self.stale == other.stale
            && (self.stale
                || (self.node == other.node
                    && self.gpu_key == other.gpu_key
                    && self.shared == other.shared
                    && self.with_free_gpu == other.with_free_gpu
                    && self.releasing_or_nominated == other.releasing_or_nominated))
    }
}

impl Index {
    /// The node of a rank.
    pub(crate) fn node(&self, rank: Rank) -> NodeId {
        self.node[rank]
    }

    /// The rank of a live node.
    pub(crate) fn rank(&self, node: NodeId) -> Option<Rank> {
        self.rank.get(node).copied().flatten()
    }

    /// Every rank, ascending.
    pub(crate) fn ranks(&self) -> impl ExactSizeIterator<Item = Rank> + use<> {
        self.node.ids()
    }

    /// The kind of a node.
    pub(crate) fn kind(&self, rank: Rank) -> crate::base::ids::NodeClassId {
        self.kind[rank]
    }

    /// Buckets of nodes by GPU placement key, best first, from a key on.
    pub(crate) fn by_gpu(&self, from: i64) -> impl Iterator<Item = &IdSet<Rank>> {
        self.by_gpu.from(from).iter().filter(|ranks| !ranks.is_empty())
    }

    /// The key from which nodes have so much of GPUs free, in milli-devices; all of them unless nodes are packed.
    pub(crate) fn gpus_from(&self, milli: i64) -> i64 {
        match self.policy.gpu {
            Placement::Pack | Placement::Fragmentation => milli / GPU_MILLI,
            Placement::Spread | Placement::Any => i64::MIN,
        }
    }

    /// Buckets of nodes with less than so many free GPUs, where nodes are packed.
    pub(crate) fn by_gpu_below(&self, gpus: i64) -> &[IdSet<Rank>] {
        self.by_gpu.below(gpus)
    }

    /// Of some nodes, or of all, those that packing prefers for pods that take no whole GPU: they offer whole GPUs, some of
    /// theirs are free, and not the most; where as many are free on each, all that offer some.
    ///
    /// # Source
    /// docs/behaviour.md 9.3: 0 where a node offers none and where most is free, 9 where all are alike, and 0 for all
    /// where no GPU is free.
    pub(crate) fn best_packed(&self, domain: Option<&IdSet<Rank>>) -> IdSet<Rank> {
        let mut offering = self.offering.clone();
        if let Some(domain) = domain {
            offering.intersect(domain);
        }
        let of = |bucket: &&IdSet<Rank>| bucket.common(&offering).next().is_some();
        if self.by_gpu(1).find(of).is_none() {
            return IdSet::default();
        }
        let buckets: Vec<&IdSet<Rank>> = self.by_gpu(i64::MIN).filter(of).collect();
        if let [_, .., most] = buckets[..] {
            let most: Vec<Rank> = most.common(&offering).collect();
            for rank in most {
                offering.remove(rank);
            }
        }
        offering
    }

    /// Nodes by CPU placement key, best first, from a key on: those without GPUs, then those with.
    pub(crate) fn by_cpu(&self, from: i64) -> impl Iterator<Item = Rank> + Clone {
        let first = Rank::new(0);
        let bare = self.by_cpu.range(((false, from), first)..((true, i64::MIN), first));
        bare.chain(self.by_cpu.range(((true, from), first)..)).map(|(_, rank)| *rank)
    }

    /// Gives the position of a node for CPU work; smaller is better.
    pub(crate) fn cpu_key(&self, rank: Rank) -> CpuKey {
        self.cpu_key[rank]
    }

    /// Nodes with a shared GPU of which about this part is free, in millionths; some where it is a little less.
    pub(crate) fn sharing(&self, micro: i64) -> Option<&IdSet<Rank>> {
        // Parts are rounded to KiB of a GPU: a step is far more.
        let micro = (micro - 1000).max(0);
        self.parts.get(usize::try_from(micro * PART_STEPS / 1_000_000).ok()?)
    }

    /// The nodes that pods of a shape may ever go to; [`ensure_feasible`](super::State::ensure_feasible) has to have been called for it.
    pub(crate) fn feasible(&self, shape: ShapeId) -> &IdSet<Rank> {
        self.feasible[shape].as_ref().expect("the shape's nodes were worked out")
    }

    /// Nodes by label; [`node_sets`](super::State::node_sets) has to have been called.
    pub(crate) fn known_node_sets(&self) -> &NodeSets {
        self.node_sets.as_ref().expect("the sets of nodes were made")
    }

    /// Forgets a shape's nodes.
    pub(crate) fn forget(&mut self, shape: ShapeId) {
        self.fragments.forget(shape);
        self.forget_spread(shape);
        if self.feasible.get(shape).is_some() {
            self.feasible[shape] = None;
        }
    }

    /// Forgets the domains of all shapes.
    pub(super) fn forget_all_spread(&mut self) {
        self.spread.clear();
        self.spread_domains.clear();
        self.spread_kinds = 0;
    }

    /// Forgets the domains of a shape, and those that no other shape tells apart.
    fn forget_spread(&mut self, shape: ShapeId) {
        for one in self.spread.remove(&shape).unwrap_or_default() {
            let Some((_, uses)) = self.spread_domains.get_mut(&one.basis) else { continue };
            *uses -= 1;
            if *uses == 0 {
                self.spread_kinds -= one.of.len();
                self.spread_domains.remove(&one.basis);
            }
        }
    }
}
