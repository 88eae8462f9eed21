//! The pods with required anti-affinity, by the namespaces that their terms mean: pods of others need not look at them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{NamespaceSelectorId, PodId, Symbol},
    state::State,
    told::pod::PodTerm,
};

/// Pods whose anti-affinity means pods of a namespace.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct AntiAffinity {
    named: BTreeMap<Symbol, BTreeSet<PodId>>,
    selected: BTreeMap<NamespaceSelectorId, BTreeSet<PodId>>,
}

/// The selectors that mean each namespace.
pub(crate) type NamespaceSelectors = BTreeMap<Symbol, BTreeSet<NamespaceSelectorId>>;

impl AntiAffinity {
    /// Tells whether no pod has any.
    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty() && self.selected.is_empty()
    }

    /// Adds a pod of a namespace with such terms.
    ///
    /// # Cost
    /// In the namespaces that the terms name.
    pub(super) fn insert(&mut self, pod: PodId, own: Symbol, terms: &[PodTerm]) {
        for namespace in terms.iter().flat_map(|term| named(term, &own)) {
            self.named.entry(*namespace).or_default().insert(pod);
        }
        for selector in terms.iter().filter_map(|term| term.namespace_selector) {
            self.selected.entry(selector).or_default().insert(pod);
        }
    }

    /// Takes a pod out that was added like this.
    pub(super) fn remove(&mut self, pod: PodId, own: Symbol, terms: &[PodTerm]) {
        for namespace in terms.iter().flat_map(|term| named(term, &own)) {
            take(&mut self.named, namespace, pod);
        }
        for selector in terms.iter().filter_map(|term| term.namespace_selector) {
            take(&mut self.selected, &selector, pod);
        }
    }
}

fn take<K: Ord>(pods: &mut BTreeMap<K, BTreeSet<PodId>>, key: &K, pod: PodId) {
    let Some(row) = pods.get_mut(key) else { return };
    row.remove(&pod);
    if row.is_empty() {
        pods.remove(key);
    }
}

/// Lists the namespaces that a term of a pod names; one that says nothing of namespaces means the pod's own.
pub(super) fn named<'t>(term: &'t PodTerm, own: &'t Symbol) -> &'t [Symbol] {
    if term.namespaces.is_empty() && term.namespace_selector.is_none() {
        std::slice::from_ref(own)
    } else {
        &term.namespaces
    }
}

impl State {
    /// Lists the pods whose required anti-affinity means pods of a namespace. One may come twice.
    pub(crate) fn anti_affinity_on(&self, namespace: Symbol) -> impl Iterator<Item = PodId> {
        let AntiAffinity { named, selected } = &self.anti_affinity;
        let selectors = self.namespace_selectors.get(&namespace).into_iter().flatten();
        let selecting = selectors.filter_map(|selector| selected.get(selector));
        named.get(&namespace).into_iter().chain(selecting).flatten().copied()
    }

    /// Takes in whether a selector means a namespace.
    pub(super) fn namespace_selector_told(
        &mut self,
        selector: NamespaceSelectorId,
        namespace: Symbol,
        is_selected: bool,
    ) {
        let row = self.namespace_selectors.entry(namespace).or_default();
        let is_new = if is_selected { row.insert(selector) } else { row.remove(&selector) };
        if row.is_empty() {
            self.namespace_selectors.remove(&namespace);
        }
        if is_new {
            self.changes.grow_room_from_outside();
        }
    }
}
