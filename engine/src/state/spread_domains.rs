//! The domains that constraints of topology spread tell apart: kept once for all shapes that tell nodes apart alike.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    base::ids::{NodeClassId, ShapeId, Symbol},
    state::State,
    told::{
        pod::{Shape, Spread, Toleration},
        requirement::Requirement,
    },
};

/// Nodes that a shape selects: by selector, and by required affinity.
type Selection = (Vec<(Symbol, Symbol)>, Vec<Vec<Requirement>>);

/// Everything by which a constraint tells in which domain a node is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SpreadBasis {
    pub(crate) topology_key: Symbol,
    /// Labels that a node has to have so that it counts: those of all constraints that have to hold, or of all that are
    /// only wished for.
    pub(crate) keys: BTreeSet<Symbol>,
    /// Nodes that count; none for all.
    pub(crate) selection: Option<Selection>,
    /// Taints that keep nodes from counting, but for these; none where taints do not matter.
    pub(crate) tolerations: Option<Vec<Toleration>>,
}

impl SpreadBasis {
    /// The basis of a constraint of a shape.
    pub(crate) fn new(spread: &Spread, shape: &Shape) -> Self {
        let alike = shape.spread.iter().filter(|one| one.required == spread.required);
        let selection = || (shape.node_selector.clone(), shape.node_affinity.clone());
        Self {
            topology_key: spread.topology_key,
            keys: alike.map(|one| one.topology_key).collect(),
            selection: spread.honors_selection.then(selection),
            tolerations: spread.honors_taints.then(|| shape.tolerations.clone()),
        }
    }
}

/// Domains of one basis.
#[derive(Clone, Debug)]
pub(crate) struct SpreadDomains {
    pub(crate) basis: SpreadBasis,
    /// Per kind of nodes that are in some: the domain.
    pub(crate) of: BTreeMap<NodeClassId, Symbol>,
    pub(crate) values: BTreeSet<Symbol>,
}

impl State {
    /// Keeps which domains the constraints of a shape tell apart.
    pub(crate) fn note_spread_domains(&mut self, shape: ShapeId, domains: Vec<Arc<SpreadDomains>>) {
        let index = &mut self.nodes.index;
        for one in &domains {
            let kept = index.spread_domains.entry(one.basis.clone());
            kept.or_insert_with(|| (Arc::clone(one), 0)).1 += 1;
        }
        index.spread.insert(shape, domains);
    }
}
