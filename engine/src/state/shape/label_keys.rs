//! Keys of labels by which nodes are told apart: those that shapes ask for.
//!
//! Who uses a key is counted on both sides, so that a pod with a new key costs no look at any node, and a key is forgotten
//! with the last that used it.

use std::collections::BTreeMap;

use crate::{
    base::ids::Symbol,
    state::{State, shape::volume},
    told::{node::Node, pod::Shape},
};

/// Keys that shapes ask for, and keys that nodes have.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct LabelKeys {
    uses: BTreeMap<Symbol, Use>,
    /// True if shapes ask for keys that nodes have, and by which they were not told apart before.
    are_new: bool,
}

/// Users of a key.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Use {
    /// Number of times that shapes ask for it.
    shapes: u32,
    /// Number of labels of nodes with it.
    nodes: u32,
    /// True if nodes are told apart by it. It stays for as long as nodes have the key: pods that come and go would have all
    /// nodes indexed each time.
    is_known: bool,
}

impl LabelKeys {
    /// A shape more asks for what it says of nodes.
    pub(crate) fn ask(&mut self, facts: &Shape) {
        for key in asked(facts) {
            let one = self.uses.entry(key).or_default();
            one.shapes += 1;
            self.are_new |= !one.is_known && one.nodes > 0;
            one.is_known = true;
        }
    }

    /// A shape less asks.
    pub(crate) fn ask_no_more(&mut self, facts: &Shape) {
        for key in asked(facts) {
            self.drop(key, |one| one.shapes -= 1);
        }
    }

    /// Takes in the labels of a node in place of those that it had.
    pub(crate) fn label(&mut self, old: Option<&Node>, new: Option<&Node>) {
        for label in new.iter().flat_map(|node| &node.labels) {
            self.uses.entry(label.key).or_default().nodes += 1;
        }
        for label in old.iter().flat_map(|node| &node.labels) {
            self.drop(label.key, |one| one.nodes -= 1);
        }
    }

    fn drop(&mut self, key: Symbol, change: impl FnOnce(&mut Use)) {
        let one = self.uses.get_mut(&key).expect("a key is counted while it is used");
        change(one);
        if (one.shapes, one.nodes) == (0, 0) {
            self.uses.remove(&key);
        }
    }

    /// Tells whether nodes are told apart by a key.
    pub(crate) fn tell_apart(&self, key: Symbol) -> bool {
        self.uses.get(&key).is_some_and(|one| one.is_known)
    }

    /// Tells whether some node has a label with a key.
    pub(crate) fn are_on_nodes(&self, key: Symbol) -> bool {
        self.uses.get(&key).is_some_and(|one| one.nodes > 0)
    }

    /// Tells whether nodes have to be told apart by more than when this was asked last.
    pub(crate) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.are_new)
    }

    /// Tells whether others have as many users of each key.
    fn counts_like(&self, other: &Self) -> bool {
        let counts = |keys: &Self| -> Vec<(Symbol, u32, u32)> {
            keys.uses.iter().map(|(key, one)| (*key, one.shapes, one.nodes)).collect()
        };
        counts(self) == counts(other)
    }
}

/// The keys of labels of nodes that a shape asks for.
fn asked(facts: &Shape) -> impl Iterator<Item = Symbol> {
    let volumes = facts.volumes.iter().flat_map(volume::terms);
    let terms = facts.node_affinity.iter().chain(volumes);
    let preferred = facts.preferred_nodes.iter().map(|(_, term)| term);
    let of_nodes = terms.chain(preferred).flatten().map(|requirement| requirement.key);
    let of_pods = facts.preferred_pods.iter().map(|(_, term)| term.topology_key);
    let spread = facts.spread.iter().map(|spread| spread.topology_key);
    let selected = facts.node_selector.iter().map(|(key, _)| *key);
    selected.chain(of_nodes).chain(spread).chain(of_pods)
}

impl State {
    /// Tells whether the users of keys are those of the facts.
    pub(crate) fn label_keys_hold(&self) -> bool {
        let mut anew = LabelKeys::default();
        for (_, row, _) in self.shapes.in_use() {
            anew.ask(&row.facts);
        }
        for one in &self.nodes.index.fragments.typical {
            anew.ask(&one.shape);
        }
        for (_, node) in self.nodes.facts.iter() {
            anew.label(None, node.as_deref());
        }
        self.shapes.keys.counts_like(&anew)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::ids::{NodeId, PodId},
        told::{
            delta::Delta,
            node::Label,
            pod::{Pod, PodState},
        },
    };

    /// Tells of the only node with these labels.
    fn label(state: &mut State, keys: &[Symbol]) {
        let label = |key: &Symbol| Label { key: *key, value: *key, number: None };
        let node = Node { labels: keys.iter().map(label).collect(), ..Node::default() };
        state.apply(Delta::Node(NodeId::new(0), Box::new(node)));
    }

    /// Has a pod select nodes by keys; says whether all nodes have to be told apart anew.
    fn select(state: &mut State, id: u32, keys: &[Symbol]) -> bool {
        let node_selector = keys.iter().map(|key| (*key, *key)).collect();
        let shape = Shape { node_selector, ..Shape::default() };
        let pod = Pod { shape, state: PodState::Pending, ..Pod::default() };
        state.apply(Delta::Pod(PodId::new(id), Box::new(pod)));
        assert_eq!(state.check(), Vec::<String>::new());
        state.nodes.index.stale
    }

    /// A cluster of one node with these labels.
    fn labelled(keys: &[Symbol]) -> State {
        let mut state = State::default();
        label(&mut state, keys);
        state.rebuild_index();
        state.nodes.index.stale = false;
        state
    }

    /// A user may have each pod select by a label of its own.
    #[test]
    fn a_label_that_no_node_has_has_no_node_told_apart_anew() {
        let [zone, rack, none] = [1, 2, 3].map(Symbol::new);
        let mut state = labelled(&[zone]);
        assert!(!select(&mut state, 0, &[none]), "no node has it");
        assert!(!select(&mut state, 1, &[rack]), "nor this one, yet");
        assert!(select(&mut state, 2, &[zone]), "a node has it");
        state.rebuild_index();
        label(&mut state, &[zone, rack]);
        let kind =
            state.nodes.index.kind(state.nodes.index.rank(NodeId::new(0)).expect("it is there"));
        let keys = state.nodes.kinds[kind].labels().iter().map(|label| label.key);
        assert_eq!(keys.collect::<Vec<_>>(), [zone, rack], "nodes that come are told apart by all");
    }

    /// A user may have pods with ever new keys come and go.
    #[test]
    fn a_key_goes_with_the_last_that_used_it() {
        let [zone, rack] = [1, 2].map(Symbol::new);
        let mut state = labelled(&[zone, rack]);
        for round in 0..100 {
            let keys: Vec<Symbol> = (0..10).map(|at| Symbol::new(10 + 10 * round + at)).collect();
            assert!(!select(&mut state, 0, &keys));
        }
        assert_eq!(state.shapes.keys.uses.len(), 12, "of the node and of the pod that is there");
        label(&mut state, &[zone]);
        state.apply(Delta::PodGone(PodId::new(0)));
        assert_eq!(state.shapes.keys.uses.len(), 1);
        assert_eq!(state.check(), Vec::<String>::new());
    }

    /// A user may have pods with one key that nodes have come and go.
    #[test]
    fn a_key_that_nodes_have_has_them_told_apart_once() {
        let zone = Symbol::new(1);
        let mut state = labelled(&[zone]);
        assert!(select(&mut state, 0, &[zone]));
        state.rebuild_index();
        state.nodes.index.stale = false;
        state.apply(Delta::PodGone(PodId::new(0)));
        assert!(!select(&mut state, 1, &[zone]));
    }
}
