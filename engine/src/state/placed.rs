//! The pods that have a place, by namespace: who asks about pods of some namespaces need not look at those of others.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{PodId, Symbol},
    state::{State, anti_affinity::named},
    told::pod::PodTerm,
};

/// Pods that hold or will hold a place, by namespace: none is listed before somebody asks.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct PlacedPods(Option<BTreeMap<Symbol, BTreeSet<PodId>>>);

impl PlacedPods {
    /// Tells whether somebody asked.
    pub(super) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Lists a pod of a namespace, or lists it no more.
    ///
    /// # Cost
    /// A look into two ordered tables.
    pub(super) fn assign(&mut self, pod: PodId, namespace: Symbol, is_placed: bool) {
        let Some(by_namespace) = &mut self.0 else { return };
        if is_placed {
            by_namespace.entry(namespace).or_default().insert(pod);
        } else if let Some(pods) = by_namespace.get_mut(&namespace) {
            pods.remove(&pod);
            if pods.is_empty() {
                by_namespace.remove(&namespace);
            }
        }
    }

    /// Forgets all pods, and goes on listing those that come.
    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(BTreeMap::clear);
    }
}

impl State {
    /// Lists the pods that have a place by namespace, from now on.
    ///
    /// # Cost
    /// In the number of pods, once; else nothing.
    pub(crate) fn ensure_placed(&mut self) {
        if self.placed.0.is_some() {
            return;
        }
        let mut by_namespace: BTreeMap<Symbol, BTreeSet<PodId>> = BTreeMap::new();
        for (pod, facts) in self.pods.facts.iter() {
            let Some(facts) = facts else { continue };
            if self.pods.status[pod].is_somewhere() {
                by_namespace.entry(facts.namespace).or_default().insert(pod);
            }
        }
        self.placed.0 = Some(by_namespace);
    }

    /// The pods of a namespace that have a place; [`ensure_placed`](Self::ensure_placed) has to have been called.
    pub(crate) fn placed_in(&self, namespace: Symbol) -> impl Iterator<Item = PodId> {
        let by_namespace = self.placed.0.as_ref().expect("pods with a place were listed");
        by_namespace.get(&namespace).into_iter().flatten().copied()
    }

    /// The namespaces that a term of a pod of `own` means, of those in which pods have a place.
    ///
    /// # Cost
    /// In the namespaces that the term names; where it selects some, in those that have pods with a place.
    pub(crate) fn namespaces_of(&self, term: &PodTerm, own: Symbol) -> Vec<Symbol> {
        let by_namespace = self.placed.0.as_ref().expect("pods with a place were listed");
        if term.namespace_selector.is_some() {
            let means = |namespace: &Symbol| self.means(term, own, *namespace);
            return by_namespace.keys().copied().filter(means).collect();
        }
        let named = named(term, &own).iter().copied();
        named.filter(|namespace| by_namespace.contains_key(namespace)).collect()
    }

    /// Tells whether a term of a pod of `own` means pods of a namespace.
    pub(crate) fn means(&self, term: &PodTerm, own: Symbol, namespace: Symbol) -> bool {
        let is_selected = |selector| {
            self.namespace_selectors.get(&namespace).is_some_and(|all| all.contains(&selector))
        };
        named(term, &own).binary_search(&namespace).is_ok()
            || term.namespace_selector.is_some_and(is_selected)
    }
}
