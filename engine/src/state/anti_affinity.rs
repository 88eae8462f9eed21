//! The pods with required anti-affinity, by the namespaces that their terms mean: pods of others need not look at them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{PodId, Symbol},
    told::pod::PodTerm,
};

/// Pods whose anti-affinity means pods of a namespace.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct AntiAffinity(BTreeMap<Symbol, BTreeSet<PodId>>);

impl AntiAffinity {
    /// Tells whether no pod has any.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pods whose terms mean pods of a namespace.
    pub(crate) fn on(&self, namespace: Symbol) -> impl Iterator<Item = PodId> {
        self.0.get(&namespace).into_iter().flatten().copied()
    }

    /// Adds a pod of a namespace with such terms.
    ///
    /// # Cost
    /// In the namespaces that the terms name.
    pub(super) fn insert(&mut self, pod: PodId, own: Symbol, terms: &[PodTerm]) {
        for namespace in meant(own, terms) {
            self.0.entry(namespace).or_default().insert(pod);
        }
    }

    /// Takes a pod out that was added like this.
    pub(super) fn remove(&mut self, pod: PodId, own: Symbol, terms: &[PodTerm]) {
        for namespace in meant(own, terms) {
            let Some(pods) = self.0.get_mut(&namespace) else { continue };
            pods.remove(&pod);
            if pods.is_empty() {
                self.0.remove(&namespace);
            }
        }
    }
}

/// Lists the namespaces that terms mean; one that names none means the pod's own.
fn meant(own: Symbol, terms: &[PodTerm]) -> impl Iterator<Item = Symbol> {
    terms.iter().flat_map(move |term| {
        let none = term.namespaces.is_empty().then_some(own);
        term.namespaces.iter().copied().chain(none)
    })
}
