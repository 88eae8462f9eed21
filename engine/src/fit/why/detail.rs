//! Details of why one node refuses: whether only the overhead of a pod is too much for it, and how much is in use.

use crate::{
    base::{
        ids::{NodeId, Rank},
        resources::{Lane, Resources},
    },
    decided::plan::{
        Misfit,
        refusal::{Amounts, Refusal},
    },
    fit::{filter, why::Asker},
    state::looks::Looks,
};

/// So many nodes are told one by one: verdicts are kept and copied, and nobody reads more.
const NODES_MAX: usize = 200;

impl Asker<'_> {
    /// A shortage as it is told: whether it is the pod's overhead that is too much.
    ///
    /// # Source
    /// docs/behaviour.md 12.3, the suffix of node reasons.
    pub(super) fn told(&self, node: NodeId, misfit: Misfit) -> Misfit {
        if let Misfit::Short(lane) = misfit
            && self.fits_but_for_overhead(node)
        {
            return Misfit::Overhead(lane);
        }
        misfit
    }

    /// Tells whether a node would have room for the pod without its overhead.
    fn fits_but_for_overhead(&self, node: NodeId) -> bool {
        let Self { state, shape, .. } = self;
        let overhead = &shape.facts.overhead;
        *overhead != Resources::default()
            && shape.take.iter().all(|(lane, amount)| {
                !filter::lacks(state, node, *lane, amount - overhead.amount(*lane))
            })
            && filter::parts_room(state, shape, node).is_ok()
    }

    /// The reasons of the first nodes that are asked, by name.
    pub(super) fn refusals(&self, looks: &mut Looks) -> Vec<Refusal> {
        let is_asked = |rank: &Rank| self.area.is_none_or(|area| area.contains(*rank));
        let ranks = self.state.nodes().index.ranks().filter(is_asked);
        ranks.take(NODES_MAX).map(|rank| self.refused(rank, looks)).collect()
    }

    fn refused(&self, rank: Rank, looks: &mut Looks) -> Refusal {
        let node = self.state.nodes().index.node(rank);
        let first = self.refusal(rank, None, looks).unwrap_or(Misfit::PodSlots);
        let is_short = matches!(first, Misfit::Short(_) | Misfit::Device);
        let others = is_short.then(|| self.others(node, first)).into_iter().flatten();
        let reasons = std::iter::once(first)
            .chain(others)
            .map(|misfit| (self.told(node, misfit), self.amounts(node, misfit)))
            .collect();
        Refusal { node, reasons }
    }

    /// Gives what the pod asks for and what the node has, where a reason is that too little is free.
    fn amounts(&self, node: NodeId, misfit: Misfit) -> Option<Amounts> {
        let Self { state, shape, .. } = self;
        let lane = if let Misfit::Short(lane) = misfit {
            lane
        } else if misfit == Misfit::Device {
            // Parts are measured in GPUs, and a GPU that is shared counts as used.
            Lane::GPU
        } else {
            return None;
        };
        let mut requested = shape.amount(lane);
        let mut capacity = state.node_amounts(node, lane).0;
        if lane == Lane::GPU {
            requested += i64::from(shape.shared) * filter::part_micro(state, shape) / 1000;
            capacity += state.nodes().slice_gpus(node);
        }
        Some(Amounts { requested, used: capacity - state.nodes().free(node, lane), capacity })
    }
}
