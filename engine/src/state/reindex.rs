//! Keeps the index in line with nodes: with their amounts as pods come and go, with their facts, and with the policy.

use std::collections::BTreeMap;

use crate::{
    base::{
        id_set::IdSet,
        ids::{NodeId, Rank, ShapeId},
        resources::{GPU_MILLI, Lane},
    },
    state::{
        State, device,
        domains::Domains,
        fragments::Fragments,
        index::{CpuKey, Index, Largest, PART_STEPS, Policy},
        node_sets::NodeSets,
        rows::Nodes,
        shape::NodeClass,
    },
    told::{
        node::Node,
        placement::{Placement, Typical},
    },
};

impl Nodes {
    /// Brings the index in line with a node's amounts.
    pub(crate) fn reindex(&mut self, node: NodeId) {
        let Some(rank) = self.index.rank(node).filter(|_| !self.index.stale) else { return };
        if self.index.policy.by_fragments() {
            self.index.fragments.change(rank, self.index.node.len());
        }
        let free_milli = self.free(node, Lane::GPU);
        let gpu_key = self.gpu_key_of(node, free_milli);
        let was = std::mem::replace(&mut self.index.gpu_key[rank], gpu_key);
        if was != gpu_key {
            self.index.by_gpu.remove(was, rank);
            self.index.by_gpu.insert(gpu_key, rank);
        }
        if self.index.cpu_wanted {
            let cpu_key = self.cpu_key_of(node);
            let was = std::mem::replace(&mut self.index.cpu_key[rank], cpu_key);
            if was != cpu_key {
                self.index.by_cpu.remove(&(was, rank));
                self.index.by_cpu.insert((cpu_key, rank));
            }
        }
        let shared = self.devices.get(node).is_some_and(|devices| !devices.is_empty());
        if shared || self.index.shared.contains(rank) {
            self.index.shared.assign(rank, shared);
            self.index_parts(node, rank);
        }
        let roomy = free_milli > 0 || self.has_free_part(node);
        self.index.with_free_gpu.assign(rank, roomy);
        let leaving = self.claims_leaving.get(node).is_some_and(|claims| *claims > 0);
        let releasing_or_nominated = leaving || !self.releasing.is_zero(node);
        self.index.releasing_or_nominated.assign(rank, releasing_or_nominated);
    }

    /// Finds out the most that one node offers to pods.
    ///
    /// # Cost
    /// In the number of nodes, once after nodes changed.
    pub(crate) fn ensure_largest(&mut self) {
        if self.index.largest.is_none() {
            let mut largest = vec![0; Lane::PODS.row() + 1];
            let mut by_gpu_milli = BTreeMap::new();
            for (id, node) in self.facts.iter() {
                let Some(node) = node else { continue };
                for (lane, amount) in node.allocatable.iter() {
                    if largest.len() <= lane.row() {
                        largest.resize(lane.row() + 1, 0);
                    }
                    largest[lane.row()] = amount.max(largest[lane.row()]);
                }
                let gpus = node.allocatable.amount(Lane::GPU) + self.slice_gpus(id);
                largest[Lane::GPU.row()] = gpus.max(largest[Lane::GPU.row()]);
                *by_gpu_milli.entry(gpus).or_default() += 1;
            }
            self.index.largest = Some(Largest { lanes: largest, by_gpu_milli });
        }
    }

    /// The nodes as they are when nothing runs; [`ensure_largest`](Self::ensure_largest) has to have been called.
    pub(crate) fn largest(&self) -> &Largest {
        self.index.largest.as_ref().expect("the largest amounts were found out")
    }

    /// Puts a node among those with its largest part of a shared GPU.
    fn index_parts(&mut self, node: NodeId, rank: Rank) {
        let capacity = device::capacity(self.gpus(node)).max(1);
        let largest = self.devices.get(node).and_then(|devices| {
            devices.iter().map(|device| device.room(capacity)).filter(|room| *room > 0).max()
        });
        let steps = |room| usize::try_from(room * PART_STEPS / capacity + 1).unwrap_or(0);
        let sets = largest.map_or(0, steps);
        let was = std::mem::replace(self.index.part_sets.slot(rank), sets);
        if self.index.parts.len() < sets {
            self.index.parts.resize_with(sets, IdSet::default);
        }
        for at in was..sets {
            self.index.parts[at].insert(rank);
        }
        for at in sets..was {
            self.index.parts[at].remove(rank);
        }
    }

    /// Puts nodes in order for CPU work; it is kept from then on.
    fn order_by_cpu(&mut self) {
        self.index.cpu_wanted = true;
        for rank in self.index.ranks() {
            let key = self.cpu_key_of(self.index.node(rank));
            self.index.cpu_key[rank] = key;
            self.index.by_cpu.insert((key, rank));
        }
    }

    /// Tells whether a part of a GPU is free or coming free, MIG instances included.
    fn has_free_part(&self, node: NodeId) -> bool {
        let part = || {
            let capacity = device::capacity(self.gpus(node)).max(1);
            self.devices.get(node).is_some_and(|devices| {
                devices.iter().any(|device| device.room(capacity) * GPU_MILLI >= capacity)
            })
        };
        let offered = self.facts[node].iter().flat_map(|facts| facts.allocatable.iter());
        let mut instances = offered.filter(|(lane, _)| self.mig_lanes.binary_search(lane).is_ok());
        part() || instances.any(|(lane, _)| self.free(node, lane) > 0)
    }

    /// The GPU placement key of a node of which so much is free.
    fn gpu_key_of(&self, node: NodeId, free_milli: i64) -> i64 {
        let free = free_milli.max(0) / GPU_MILLI;
        match self.index.policy.gpu {
            Placement::Pack | Placement::Fragmentation => free,
            Placement::Spread => emptiness(free, i64::from(self.gpus(node).count)),
            Placement::Any => 0,
        }
    }

    fn cpu_key_of(&self, node: NodeId) -> CpuKey {
        let facts = self.facts[node].as_ref().expect("an indexed node is live");
        let gpu_node = facts.mig.enabled
            || facts.allocatable.amount(Lane::GPU) > 0
            || (self.claims_or_zones > 0 && self.slice_gpus(node) > 0);
        let free = self.free(node, Lane::CPU);
        let key = match self.index.policy.cpu {
            Placement::Pack | Placement::Fragmentation => free,
            Placement::Spread => emptiness(free, facts.allocatable.amount(Lane::CPU)),
            Placement::Any => 0,
        };
        (gpu_node, key)
    }
}

/// Orders by free parts of capacity, the emptiest first; distinct parts stay distinct below 2³¹ units.
fn emptiness(free: i64, capacity: i64) -> i64 {
    let part = if capacity > 0 { (i128::from(free) << 32) / i128::from(capacity) } else { 0 };
    i64::try_from(-part).unwrap_or(i64::MIN)
}

impl State {
    /// Builds the index again where nodes, names or policy changed; `typical` pods are those by which fragments count.
    ///
    /// # Cost
    /// Nothing where they did not; else in the number of nodes, sorted. By fragments, in the number of shapes.
    pub(crate) fn refresh_index(&mut self, policy: Policy, typical: &[Typical]) {
        self.nodes.index.stale |= self.nodes.index.policy != policy;
        if policy.by_fragments() && self.nodes.index.fragments.typical != typical {
            self.nodes.index.stale = true;
            let fragments = Fragments::new(typical, &self.lanes);
            let old = std::mem::replace(&mut self.nodes.index.fragments, fragments).typical;
            for one in typical {
                self.shapes.keys.ask(&one.shape);
            }
            for one in &old {
                self.shapes.keys.ask_no_more(&one.shape);
            }
        }
        if self.nodes.index.stale {
            self.nodes.index.policy = policy;
            self.rebuild_index();
        }
        if policy.by_fragments() && typical.is_empty() {
            self.nodes.index.fragments.learn(&self.shapes);
        }
    }

    /// Builds the index from nothing.
    pub(crate) fn rebuild_index(&mut self) {
        let policy = self.nodes.index.policy;
        self.shapes.keys.take_news();
        self.nodes.kinds.clear();
        let mut names: Vec<(&[u8], NodeId)> = self
            .nodes
            .facts
            .iter()
            .filter_map(|(id, node)| Some((&*node.as_ref()?.name, id)))
            .collect();
        names.sort_unstable();
        let fragments = Fragments::new(&self.nodes.index.fragments.typical, &self.lanes);
        let cpu_wanted = self.nodes.index.cpu_wanted;
        let mut index = Index { policy, cpu_wanted, fragments, ..Index::default() };
        let nodes: Vec<NodeId> = names.into_iter().map(|(_, id)| id).collect();
        for id in nodes {
            let node = self.nodes.facts[id].as_ref().expect("a named node is live");
            let kind = self.nodes.kinds.intern(NodeClass::of(node, &self.shapes.keys));
            let rank = index.node.push(id);
            *index.rank.slot(id) = Some(rank);
            index.kind.push(kind);
            index.offering.assign(rank, node.allocatable.amount(Lane::GPU) > 0);
        }
        index.domains = self
            .topologies
            .iter()
            .map(|(_, topology)| {
                let levels = &topology.as_ref()?.levels;
                let labels = index.node.iter().map(|(rank, id)| {
                    let facts = self.nodes.facts[*id].as_ref().expect("a named node is live");
                    let value = |key| {
                        facts.labels.iter().find(|label| label.key == key).map(|label| label.value)
                    };
                    (rank, levels.iter().map(|key| value(*key)).collect())
                });
                Some(Domains::new(levels, labels, &self.spellings))
            })
            .collect();
        self.nodes.index = index;
        for rank in self.nodes.index.ranks() {
            let node = self.nodes.index.node(rank);
            let free_milli = self.nodes.free(node, Lane::GPU);
            let gpu_key = self.nodes.gpu_key_of(node, free_milli);
            let cpu_key = self.nodes.cpu_key_of(node);
            let index = &mut self.nodes.index;
            index.gpu_key.push(gpu_key);
            index.cpu_key.push(cpu_key);
            index.by_gpu.insert(gpu_key, rank);
            if index.cpu_wanted {
                index.by_cpu.insert((cpu_key, rank));
            }
            self.nodes.reindex(node);
        }
    }

    /// Notes that a node's facts changed.
    pub(crate) fn node_indexed(&mut self, id: NodeId, old: Option<&Node>) {
        let Some(new) = &self.nodes.facts[id] else {
            self.nodes.index.stale = true;
            return;
        };
        let placed = !self.topologies.is_empty();
        let renamed =
            old.is_none_or(|old| old.name != new.name || (placed && old.labels != new.labels));
        let Some(rank) = self.nodes.index.rank(id).filter(|_| !renamed && !self.nodes.index.stale)
        else {
            self.nodes.index.stale = true;
            return;
        };
        self.nodes.index.largest = None;
        self.nodes.index.offering.assign(rank, new.allocatable.amount(Lane::GPU) > 0);
        let kind = self.nodes.kinds.intern(NodeClass::of(new, &self.shapes.keys));
        if std::mem::replace(&mut self.nodes.index.kind[rank], kind) == kind {
            return self.nodes.reindex(id);
        }
        self.nodes.index.node_sets = None;
        self.nodes.index.forget_all_spread();
        let restrict = self.nodes.index.policy.restrict;
        let Self { nodes: Nodes { index, kinds, .. }, shapes, .. } = self;
        for shape in index.feasible.ids() {
            if let Some(ranks) = &mut index.feasible[shape] {
                ranks.assign(rank, kinds[kind].admits(&shapes[shape], restrict).is_ok());
            }
        }
        self.nodes.reindex(id);
    }

    /// Makes the sets of nodes by label, where they are not there.
    pub(crate) fn node_sets(&mut self) {
        let Nodes { index, kinds, .. } = &mut self.nodes;
        let Index { node_sets, kind, .. } = index;
        node_sets.get_or_insert_with(|| NodeSets::new(kinds, kind));
    }

    /// Works out the nodes of a shape, once, and has the CPU order built where the shape needs it.
    #[inline]
    pub(crate) fn ensure_feasible(&mut self, shape: ShapeId) {
        if self.shapes[shape].cpu_only && !self.nodes.index.cpu_wanted {
            self.nodes.order_by_cpu();
        }
        if self.nodes.index.feasible.get(shape).is_none_or(Option::is_none) {
            self.compute_feasible(shape);
        }
    }

    #[cold]
    fn compute_feasible(&mut self, shape: ShapeId) {
        let Self { nodes: Nodes { index, kinds, .. }, shapes, .. } = self;
        let restrict = index.policy.restrict;
        let row = &shapes[shape];
        let node_sets = index.node_sets.get_or_insert_with(|| NodeSets::new(kinds, &index.kind));
        let ranks = node_sets.sift(row, kinds, &index.kind, restrict);
        debug_assert!(
            index.kind.iter().all(|(rank, kind)| {
                ranks.contains(rank) == kinds[*kind].admits(row, restrict).is_ok()
            }),
            "sets of nodes say the same as a look at each"
        );
        *index.feasible.slot(shape) = Some(ranks);
    }
}
