//! The pods with required anti-affinity, by the namespaces that their terms mean and by a label that these require: pods of
//! others need not look at them, nor pods without that label.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{NamespaceSelectorId, PodId, Symbol},
    state::{State, booking::Sign, rows::PodFacts},
    told::{
        pod::PodTerm,
        requirement::{Holds, Requirement},
    },
};

/// A label that all pods which a term means have, with its value where that is one of some; none where a term requires none.
pub(crate) type Required = Option<(Symbol, Option<Symbol>)>;

/// The terms of a pod are listed in so many places by values of labels and namespaces; those that say more after that, by the key
/// of the label alone.
const PLACES_MAX: usize = 64;

/// Pods whose anti-affinity means pods of a namespace: those that hold or will hold a place, since others keep nobody away.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct AntiAffinity {
    /// Number of pods that have any, with a place or without.
    pods: usize,
    named: BTreeMap<(Symbol, Required), BTreeSet<PodId>>,
    selected: BTreeMap<Required, Selected>,
}

/// Pods by the selectors of namespaces that their terms have.
type Selected = BTreeMap<NamespaceSelectorId, BTreeSet<PodId>>;

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

    /// Forgets those that hold or will hold a place.
    pub(super) fn forget_placed(&mut self) {
        self.named.clear();
        self.selected.clear();
    }

    /// Adds a pod of a namespace with such terms.
    ///
    /// # Cost
    /// In the namespaces that the terms name, and [`PLACES_MAX`] more.
    pub(super) fn insert(&mut self, pod: PodId, own: Symbol, terms: &[PodTerm]) {
        let mut left = PLACES_MAX;
        for term in terms {
            for required in required(term, &mut left) {
                for namespace in named(term, &own) {
                    self.named.entry((*namespace, required)).or_default().insert(pod);
                }
                if let Some(selector) = term.namespace_selector {
                    let selected = self.selected.entry(required).or_default();
                    selected.entry(selector).or_default().insert(pod);
                }
            }
        }
    }

    /// Takes a pod out that was added like this.
    pub(super) fn remove(&mut self, pod: PodId, own: Symbol, terms: &[PodTerm]) {
        let mut left = PLACES_MAX;
        for term in terms {
            for required in required(term, &mut left) {
                for namespace in named(term, &own) {
                    take(&mut self.named, &(*namespace, required), pod);
                }
                if let Some(selector) = term.namespace_selector
                    && let Some(selected) = self.selected.get_mut(&required)
                {
                    take(selected, &selector, pod);
                    if selected.is_empty() {
                        self.selected.remove(&required);
                    }
                }
            }
        }
    }
}

/// Tells which of some pods have one of these selectors.
///
/// # Cost
/// In the fewer of them and of those that the pods have: those that wait may have any number.
fn selecting<'s>(
    selected: &'s Selected,
    selectors: &'s BTreeSet<NamespaceSelectorId>,
) -> impl Iterator<Item = &'s BTreeSet<PodId>> {
    let by_place = selected.len() < selectors.len();
    let placed = by_place.then_some(selected).into_iter().flatten();
    let placed = placed.filter(|(selector, _)| selectors.contains(selector));
    let asked = (!by_place).then_some(selectors).into_iter().flatten();
    let asked = asked.filter_map(|selector| selected.get(selector));
    placed.map(|(_, pods)| pods).chain(asked)
}

fn take<K: Ord>(pods: &mut BTreeMap<K, BTreeSet<PodId>>, key: &K, pod: PodId) {
    let Some(row) = pods.get_mut(key) else { return };
    row.remove(&pod);
    if row.is_empty() {
        pods.remove(key);
    }
}

/// Lists the labels of which each pod that a term means has one: of all requirements that with the fewest values. Values are told
/// apart while places are `left` for them.
fn required(term: &PodTerm, left: &mut usize) -> Vec<Required> {
    let values = term.selector.iter().filter_map(Requirement::values);
    if let Some((key, values)) = values.min_by_key(|(_, values)| values.len()) {
        let places = values.len().saturating_mul(term.namespaces.len().max(1));
        if places <= *left {
            *left -= places;
            let values: BTreeSet<Symbol> = values.iter().copied().collect();
            return values.into_iter().map(|value| Some((key, Some(value)))).collect();
        }
        return vec![Some((key, None))];
    }
    let key = term.selector.iter().find_map(|requirement| match requirement.holds {
        Holds::Exists | Holds::Above(_) | Holds::Below(_) => Some(requirement.key),
        Holds::In(_) | Holds::NotIn(_) | Holds::Absent => None,
    });
    vec![key.map(|key| (key, None))]
}

/// Lists what terms may require that mean a pod.
pub(crate) fn requirements_met(pod: &PodFacts) -> impl Iterator<Item = Required> {
    let labels = pod.labels.iter();
    let met = labels.flat_map(|(key, value)| [Some((*key, None)), Some((*key, Some(*value)))]);
    std::iter::once(None).chain(met)
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
    /// Lists the pods with a place whose required anti-affinity may mean pods of a namespace with a label. One may come twice.
    pub(crate) fn anti_affinity_on(
        &self,
        namespace: Symbol,
        required: Required,
    ) -> impl Iterator<Item = PodId> {
        let selectors = self.namespace_selectors.get(&namespace);
        let selected = selectors.zip(self.anti_affinity.selected.get(&required));
        let selecting = selected.into_iter().flat_map(|(all, selected)| selecting(selected, all));
        let named = self.anti_affinity.named.get(&(namespace, required));
        named.into_iter().chain(selecting).flatten().copied()
    }

    /// Lists the pods with a place whose required anti-affinity may mean a pod. One may come several times.
    pub(crate) fn anti_affinity_towards(&self, pod: &PodFacts) -> impl Iterator<Item = PodId> {
        let namespace = pod.namespace;
        requirements_met(pod).flat_map(move |required| self.anti_affinity_on(namespace, required))
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
