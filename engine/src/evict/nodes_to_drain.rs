//! Sets of victims that empty the nodes that are cheapest to empty, for gangs.

use crate::{
    base::{
        few::Few,
        few_map::FewMap,
        ids::{NodeId, PodId, Rank},
        resources::QueueLane,
    },
    evict::{Pool, VictimSearch, VictimSet, candidates, victims::Batch},
    place::capacity_bound,
    state::State,
};

/// Sets to be tried before the next victim comes up.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets {
    /// Those that are listed, the first one last.
    listed: Few<VictimSet>,
    cheapest: Option<Cheapest>,
}

/// Nodes to be emptied: the fewest that could do, then more and more.
#[derive(Clone, Debug)]
struct Cheapest {
    /// The cheapest first.
    nodes: Vec<NodeId>,
    fewest: usize,
    /// Number of victims next, beyond the fewest.
    more: usize,
}

impl Sets {
    /// Sets that are known, in order.
    pub(super) fn listed(mut sets: Few<VictimSet>) -> Self {
        sets.reverse();
        Self { listed: sets, cheapest: None }
    }

    /// The next set, which is then one no more; it is tried with the victims that are `known`.
    pub(super) fn next(
        &mut self,
        state: &State,
        pool: &Pool,
        order: &[Batch],
        known: &VictimSet,
    ) -> Option<VictimSet> {
        let Some(Cheapest { nodes, fewest, more }) = &mut self.cheapest else {
            return self.listed.pop();
        };
        let size = (*fewest + *more).min(nodes.len());
        let on = |node: &NodeId| pool.by_node.get(*node).into_iter().flat_map(|here| &here.victims);
        let set: VictimSet = nodes[..size].iter().flat_map(on).copied().collect();
        *more = (*more * 2).max(1);
        if size == nodes.len() {
            self.cheapest = None;
        }
        Some(pool.with_steps_before(state, order, known, set.in_order()))
    }
}

impl VictimSearch<'_> {
    /// Sets of victims that empty the cheapest nodes: the fewest nodes that could do, then more and more.
    pub(super) fn many_nodes(&mut self, state: &State, pool: &Pool, known: &VictimSet) -> Sets {
        let search = &mut self.search;
        // Of the GPUs of claims those that nodes must have free.
        let need = |pod: &PodId| {
            let shape = &state.shapes()[state.pods()[*pod].shape];
            shape.charge[QueueLane::Gpu] - shape.claims_milli() + shape.own_milli
        };
        let needs = || search.pods[..search.phase.count()].iter().map(need);
        let least = needs().min().unwrap_or(0);
        let mut freed: FewMap<NodeId, i64> = FewMap::default();
        for pod in known.iter().flat_map(|at| &search.order[*at].pods) {
            let node = state.node_of(*pod).expect("a victim holds a place");
            *freed.or_default(node) += candidates::gives_milli(state, *pod);
        }
        let free = |node: NodeId| {
            capacity_bound::free_gpu(state, node) + freed.get(node).copied().unwrap_or(0)
        };
        // What there is without the nodes of candidates.
        let all = &search.nodes;
        let mut baseline = *search.free_milli.get_or_insert_with(|| {
            let node = |rank| capacity_bound::free_gpu(state, state.nodes().index.node(rank));
            all.iter().map(node).sum()
        });
        for (node, _) in pool.by_node.iter() {
            let rank = state.nodes().index.rank(node);
            if rank.is_some_and(|rank| search.nodes.contains(rank)) {
                baseline -= capacity_bound::free_gpu(state, node);
            }
        }
        let elsewhere = freed.iter().filter(|(node, _)| pool.by_node.get(*node).is_none());
        baseline += elsewhere.map(|(_, freed)| freed).sum::<i64>();
        let remaining = (needs().sum::<i64>() - baseline).max(0);
        // Of nodes that came up at once the first by name: numbers decide nothing.
        let rank = |node: NodeId| state.nodes().index.rank(node);
        let mut nodes: Vec<(i64, usize, Option<Rank>, NodeId)> = pool
            .by_node
            .iter()
            .map(|(node, here)| (free(node) + here.gpu_milli, here.first, rank(node), node))
            .filter(|(capacity, ..)| *capacity >= least)
            .collect();
        nodes.sort_unstable();
        let mut sum = 0;
        let mut fewest = 0;
        while sum < remaining {
            let Some((capacity, ..)) = nodes.get(fewest) else { return Sets::default() };
            sum += capacity;
            fewest += 1;
        }
        let nodes = nodes.into_iter().map(|(.., node)| node).collect();
        Sets { listed: Few::default(), cheapest: Some(Cheapest { nodes, fewest, more: 0 }) }
    }
}
