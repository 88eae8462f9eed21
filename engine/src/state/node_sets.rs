//! The nodes that pods of a shape may ever go to, from sets of nodes by label, by taint and by GPU.
//!
//! Shapes share these sets, so that a shape costs what it asks for and not a look at every node.

use std::collections::BTreeMap;

use crate::{
    base::{
        id_set::IdSet,
        ids::{Column, NodeClassId, Rank, Symbol},
    },
    state::shape::{NodeClasses, ShapeRow},
    told::{
        pod::{GpuRequest, Toleration},
        requirement::{Holds, Requirement},
    },
};

/// So many sets are kept that are not about labels: pods come and go, each with tolerations of its own, and no set says
/// whether a pod that asks so is still there.
const BASES_MAX: usize = 1024;

/// Nodes by what shapes ask of them.
#[derive(Clone, Default, Debug)]
pub(crate) struct NodeSets {
    keys: BTreeMap<Symbol, Values>,
    /// Nodes that pass what is not about labels; all are forgotten once they are too many.
    bases: BTreeMap<Base, IdSet<Rank>>,
}

/// Nodes that have a label.
#[derive(Clone, Default, Debug)]
struct Values {
    all: IdSet<Rank>,
    /// Per value: the number that it is, and the nodes with it.
    each: BTreeMap<Symbol, (Option<i64>, Vec<Rank>)>,
}

/// Requirements of a shape that are not about labels.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Base {
    gpu: GpuRequest,
    tolerations: Vec<Toleration>,
    cpu_only: bool,
}

impl Base {
    fn of(shape: &ShapeRow) -> Self {
        // Amounts are not for a node's kind to judge, but for the memory of its GPUs.
        let gpu = match &shape.facts.gpu {
            GpuRequest::None | GpuRequest::Whole(0) => GpuRequest::None,
            GpuRequest::Whole(_) => GpuRequest::Whole(1),
            GpuRequest::Fraction { .. } => GpuRequest::Fraction { micro: 0, devices: 1 },
            GpuRequest::Memory { mib, .. } => GpuRequest::Memory { mib: *mib, devices: 1 },
            GpuRequest::Mig(_) => GpuRequest::Mig(Vec::new()),
            GpuRequest::LegacyMig(_) => GpuRequest::LegacyMig(Vec::new()),
        };
        let tolerations = shape.facts.tolerations.clone();
        Self { gpu, tolerations, cpu_only: shape.cpu_only }
    }
}

impl NodeSets {
    /// The nodes by their labels.
    pub(crate) fn new(kinds: &NodeClasses, kind: &Column<Rank, NodeClassId>) -> Self {
        let mut node_sets = Self::default();
        for (rank, kind) in kind.iter() {
            for label in kinds[*kind].labels() {
                let values = node_sets.keys.entry(label.key).or_default();
                values.all.insert(rank);
                let each = values.each.entry(label.value);
                each.or_insert_with(|| (label.number, Vec::new())).1.push(rank);
            }
        }
        node_sets
    }

    /// The nodes that pods of a shape may ever go to.
    ///
    /// # Cost
    /// In the requirements of the shape and the nodes that they name, with 64 nodes to a step else.
    pub(crate) fn sift(
        &mut self,
        shape: &ShapeRow,
        kinds: &NodeClasses,
        kind: &Column<Rank, NodeClassId>,
        restrict: bool,
    ) -> IdSet<Rank> {
        if !shape.facts.missing.is_empty() {
            return IdSet::default();
        }
        let asked = Base::of(shape);
        if self.bases.len() >= BASES_MAX && !self.bases.contains_key(&asked) {
            self.bases.clear();
        }
        let base = self.bases.entry(asked).or_insert_with(|| {
            let admitted = |rank: &Rank| kinds[kind[*rank]].admits_unlabelled(shape, restrict);
            kind.ids().filter(admitted).collect()
        });
        let mut nodes = base.clone();
        for (key, value) in &shape.facts.node_selector {
            nodes.intersect(&self.of(*key, &[*value]));
        }
        if !shape.facts.node_affinity.is_empty() {
            nodes = self.any(nodes, &shape.facts.node_affinity);
        }
        for volume in shape.facts.volumes.iter() {
            nodes = self.any(nodes, &volume.terms);
        }
        nodes
    }

    /// The nodes that satisfy one of these terms.
    pub(crate) fn any(&self, nodes: IdSet<Rank>, terms: &[Vec<Requirement>]) -> IdSet<Rank> {
        if let [term] = terms {
            return self.term(nodes, term);
        }
        let mut any = IdSet::default();
        for term in terms {
            any.extend(self.term(nodes.clone(), term).iter());
        }
        any
    }

    /// The nodes that satisfy a term; one without requirements selects none, as in the API.
    fn term(&self, mut nodes: IdSet<Rank>, term: &[Requirement]) -> IdSet<Rank> {
        if term.is_empty() {
            return IdSet::default();
        }
        for Requirement { key, holds } in term {
            match holds {
                Holds::In(values) => nodes.intersect(&self.of(*key, values)),
                Holds::NotIn(values) => {
                    for rank in self.of(*key, values).iter() {
                        nodes.remove(rank);
                    }
                }
                Holds::Exists => match self.keys.get(key) {
                    Some(values) => nodes.intersect(&values.all),
                    None => nodes.clear(),
                },
                Holds::Absent => {
                    for rank in self.keys.get(key).into_iter().flat_map(|values| values.all.iter())
                    {
                        nodes.remove(rank);
                    }
                }
                Holds::Above(bound) => nodes.intersect(&self.numbered(*key, |one| one > *bound)),
                Holds::Below(bound) => nodes.intersect(&self.numbered(*key, |one| one < *bound)),
            }
        }
        nodes
    }

    /// The nodes with one of these values of a label.
    pub(crate) fn of(&self, key: Symbol, values: &[Symbol]) -> IdSet<Rank> {
        let Some(all) = self.keys.get(&key) else { return IdSet::default() };
        let each = values.iter().filter_map(|value| all.each.get(value));
        each.flat_map(|(_, ranks)| ranks.iter().copied()).collect()
    }

    /// The nodes with a number as the value of a label for which something holds.
    fn numbered(&self, key: Symbol, holds: impl Fn(i64) -> bool) -> IdSet<Rank> {
        let Some(all) = self.keys.get(&key) else { return IdSet::default() };
        let each = all.each.values().filter(|(number, _)| number.is_some_and(&holds));
        each.flat_map(|(_, ranks)| ranks.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{BASES_MAX, Toleration};
    use crate::{
        base::ids::{NodeId, PodId, Symbol},
        state::{State, shape::labels_meet},
        told::{
            delta::Delta,
            node::{Label, Node},
            pod::{Pod, Shape},
            requirement::{Holds, Requirement},
        },
    };

    /// A bound itself is neither above nor below, and a label that is not there is neither as well.
    #[test]
    fn nodes_are_those_whose_labels_are_as_required() {
        let (key, small, large) = (Symbol::new(1), Symbol::new(2), Symbol::new(3));
        let label = |value, number| Label { key, value, number: Some(number) };
        let labels = [vec![], vec![label(small, 4)], vec![label(large, 8)]];
        for (holds, expect) in [
            (Holds::In(vec![small]), vec![1]),
            (Holds::NotIn(vec![small]), vec![0, 2]),
            (Holds::Exists, vec![1, 2]),
            (Holds::Absent, vec![0]),
            (Holds::Above(4), vec![2]),
            (Holds::Above(8), vec![]),
            (Holds::Below(8), vec![1]),
            (Holds::Below(4), vec![]),
        ] {
            let mut state = State::default();
            for (id, labels) in (0..).zip(&labels) {
                let node = Node { labels: labels.clone(), ..Node::default() };
                state.apply(Delta::Node(NodeId::new(id), Box::new(node)));
            }
            let term = vec![Requirement { key, holds }];
            let shape = Shape { node_affinity: vec![term.clone()], ..Shape::default() };
            let pod = PodId::new(0);
            state.apply(Delta::Pod(pod, Box::new(Pod { shape, ..Pod::default() })));
            state.rebuild_index();
            let shape = state.pods()[pod].shape;
            state.ensure_feasible(shape);
            let index = &state.nodes().index;
            let ranks = index.feasible(shape).iter();
            let mut found: Vec<NodeId> = ranks.map(|rank| index.node(rank)).collect();
            found.sort_unstable();
            let expect: Vec<NodeId> = expect.into_iter().map(NodeId::new).collect();
            assert_eq!(found, expect, "{term:?}");
            for (id, labels) in (0..).zip(&labels) {
                let is_met = expect.contains(&NodeId::new(id));
                assert_eq!(labels_meet(labels, &term), is_met, "{term:?} of {labels:?}");
            }
        }
    }

    /// A user may have pods come and go for ever, no two of which tolerate the same.
    #[test]
    fn sets_for_what_is_gone_are_forgotten() {
        let mut state = State::default();
        state.apply(Delta::Node(NodeId::new(0), Box::default()));
        state.rebuild_index();
        let id = PodId::new(0);
        let most = u32::try_from(BASES_MAX).expect("a bound is small");
        for number in 0..2 * most + 2 {
            let key = Some(Symbol::new(number));
            let tolerations = vec![Toleration { key, value: None, effect: None }];
            let shape = Shape { tolerations, ..Shape::default() };
            state.apply(Delta::Pod(id, Box::new(Pod { shape, ..Pod::default() })));
            let shape = state.pods()[id].shape;
            state.ensure_feasible(shape);
            let nodes = state.nodes().index.feasible(shape).iter().count();
            let kept = state.nodes().index.known_node_sets().bases.len();
            assert_eq!((nodes, kept.min(BASES_MAX)), (1, kept), "after {number} others");
        }
    }
}
