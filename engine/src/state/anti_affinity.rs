//! The pods with required anti-affinity, by the namespaces that their terms mean: pods of others need not look at them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{NamespaceSelectorId, PodId, Symbol},
    state::{State, booking::Sign},
    told::pod::PodTerm,
};

/// Pods whose anti-affinity means pods of a namespace: those that hold or will hold a place, since others keep nobody away.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct AntiAffinity {
    /// Number of pods that have any, with a place or without.
    pods: usize,
    named: BTreeMap<Symbol, BTreeSet<PodId>>,
    selected: BTreeMap<NamespaceSelectorId, BTreeSet<PodId>>,
}

/// The selectors that mean each namespace.
pub(crate) type NamespaceSelectors = BTreeMap<Symbol, BTreeSet<NamespaceSelectorId>>;

impl AntiAffinity {
    /// Tells whether no pod has any.
    pub(crate) fn is_empty(&self) -> bool {
        self.pods == 0
    }

    /// Counts a pod with such terms that comes or goes.
    pub(super) fn count(&mut self, terms: &[PodTerm], sign: Sign) {
        if !terms.is_empty() {
            match sign {
                Sign::Plus => self.pods += 1,
                Sign::Minus => self.pods -= 1,
            }
        }
    }

    /// Tells which pods with a place have one of these selectors.
    ///
    /// # Cost
    /// In the fewer of them and of those that pods with a place have: those that wait may have any number.
    fn selecting<'s>(
        &'s self,
        selectors: &'s BTreeSet<NamespaceSelectorId>,
    ) -> impl Iterator<Item = &'s BTreeSet<PodId>> {
        let by_place = self.selected.len() < selectors.len();
        let placed = by_place.then_some(&self.selected).into_iter().flatten();
        let placed = placed.filter(|(selector, _)| selectors.contains(selector));
        let asked = (!by_place).then_some(selectors).into_iter().flatten();
        let asked = asked.filter_map(|selector| self.selected.get(selector));
        placed.map(|(_, pods)| pods).chain(asked)
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
    /// Lists the pods with a place whose required anti-affinity means pods of a namespace. One may come twice.
    pub(crate) fn anti_affinity_on(&self, namespace: Symbol) -> impl Iterator<Item = PodId> {
        let selectors = self.namespace_selectors.get(&namespace);
        let selecting = selectors.into_iter().flat_map(|all| self.anti_affinity.selecting(all));
        let named = self.anti_affinity.named.get(&namespace);
        named.into_iter().chain(selecting).flatten().copied()
    }

    /// Lists a pod with others whose anti-affinity is to be looked at, as it gets a place, or lists it no more.
    pub(super) fn keep_away(&mut self, pod: PodId, is_placed: bool) {
        let facts = &self.pods[pod];
        let terms = &self.shapes[facts.shape].facts.pod_anti_affinity;
        if terms.is_empty() {
            return;
        }
        if is_placed {
            self.anti_affinity.insert(pod, facts.namespace, terms);
        } else {
            self.anti_affinity.remove(pod, facts.namespace, terms);
        }
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
