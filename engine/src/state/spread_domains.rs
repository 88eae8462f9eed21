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

/// The most kinds of nodes that all domains together are kept for: shapes that each select nodes in their own way would
/// otherwise fill the memory. What is forgotten is worked out again when it is asked for.
const KINDS_MAX: usize = 1 << 22;

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
    /// Keeps which domains the constraints of a shape tell apart. Where too much is kept already, all that was kept of
    /// other shapes is forgotten.
    pub(crate) fn note_spread_domains(&mut self, shape: ShapeId, domains: Vec<Arc<SpreadDomains>>) {
        let index = &mut self.nodes.index;
        if index.spread_kinds >= KINDS_MAX {
            index.forget_all_spread();
        }
        for one in &domains {
            let kept = index.spread_domains.entry(one.basis.clone());
            let (_, uses) = kept.or_insert_with(|| {
                index.spread_kinds += one.of.len();
                (Arc::clone(one), 0)
            });
            *uses += 1;
        }
        index.spread.insert(shape, domains);
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use super::{KINDS_MAX, SpreadBasis, SpreadDomains};
    use crate::{
        base::ids::{NodeClassId, ShapeId, Symbol},
        state::State,
    };

    /// Domains of a label in which so many kinds of nodes are.
    fn domains(key: u32, kinds: usize) -> Arc<SpreadDomains> {
        let basis = SpreadBasis {
            topology_key: Symbol::new(key),
            keys: BTreeSet::new(),
            selection: None,
            tolerations: None,
        };
        let kinds = (0..u32::MAX).take(kinds).map(NodeClassId::new);
        let of = kinds.map(|kind| (kind, Symbol::new(1))).collect();
        Arc::new(SpreadDomains { basis, of, values: BTreeSet::new() })
    }

    /// Each shape of a user who selects nodes in ever new ways has domains of its own.
    #[test]
    fn domains_are_forgotten_where_too_many_are_kept() {
        let mut state = State::default();
        let half = KINDS_MAX / 2;
        let note = |state: &mut State, shape: u32, key: u32, kinds: usize| {
            state.note_spread_domains(ShapeId::new(shape), vec![domains(key, kinds)]);
            let index = &state.nodes.index;
            (index.spread.len(), index.spread_domains.len(), index.spread_kinds)
        };
        assert_eq!(note(&mut state, 0, 0, half), (1, 1, half));
        assert_eq!(note(&mut state, 1, 0, half), (2, 1, half), "the same domains are kept once");
        assert_eq!(note(&mut state, 2, 1, half), (3, 2, KINDS_MAX));
        assert_eq!(note(&mut state, 3, 2, 1), (1, 1, 1), "what others had is forgotten");
        state.nodes.index.forget(ShapeId::new(3));
        assert_eq!(state.nodes.index.spread_kinds, 0);
    }
}
