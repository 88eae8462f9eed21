//! The pods with required anti-affinity, by the namespaces that their terms mean and by a label that these require: pods of
//! others need not look at them, nor pods without that label.
//!
//! Pods of one shape and namespace keep the same others away, so that these are a kind: a kind is listed once, however many
//! pods it has, and for each node it is counted how many of them are there.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::ids::{NamespaceSelectorId, NodeId, PodId, ShapeId, Symbol},
    state::{State, booking::Sign, rows::PodFacts, tallies::Presence},
    told::{
        pod::PodTerm,
        requirement::{Holds, Requirement},
    },
};

/// A label that all pods which a term means have, with its value where that is one of some; none where a term requires none.
pub(crate) type Required = Option<(Symbol, Option<Symbol>)>;

/// Pods of one shape and namespace, whose terms mean the same.
pub(crate) type Kind = (ShapeId, Symbol);

/// Numbers of the pods of a kind by node, those that are about to leave apart.
type Places = BTreeMap<(NodeId, bool), u32>;

/// The terms of a pod are listed in so many places by values of labels and namespaces; those that say more after that, by the key
/// of the label alone.
const PLACES_MAX: usize = 64;

/// Pods whose anti-affinity means pods of a namespace: those that hold or will hold a place, since others keep nobody away.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct AntiAffinity {
    /// Number of pods that have any, with a place or without.
    pods: usize,
    /// Nodes of the kinds that have pods with a place.
    placed: BTreeMap<Kind, Places>,
    /// These kinds by the namespaces that their terms name.
    named: BTreeMap<(Symbol, Required), BTreeSet<Kind>>,
    selected: BTreeMap<Required, Selected>,
}

/// Kinds of pods by the selectors of namespaces that their terms have.
type Selected = BTreeMap<NamespaceSelectorId, BTreeSet<Kind>>;

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
        self.placed.clear();
        self.named.clear();
        self.selected.clear();
    }

    /// Counts a pod of a kind with such terms where it has a place, or takes it back.
    ///
    /// # Cost
    /// A search or two; for the first pod of a kind and the last, in the namespaces that the terms name, and [`PLACES_MAX`] more.
    fn enter(&mut self, kind: Kind, terms: &[PodTerm], at: Presence, sign: Sign) {
        let is_listed = self.placed.contains_key(&kind);
        let places = self.placed.entry(kind).or_default();
        for node in at.nodes.into_iter().flatten() {
            let pods = places.entry((node, at.leaves)).or_default();
            sign.count(pods);
            if *pods == 0 {
                places.remove(&(node, at.leaves));
            }
        }
        let is_placed = !places.is_empty();
        if !is_placed {
            self.placed.remove(&kind);
        }
        match (is_listed, is_placed) {
            (false, true) => self.list(kind, terms),
            (true, false) => self.list_no_more(kind, terms),
            (true, true) | (false, false) => {}
        }
    }

    fn list(&mut self, kind: Kind, terms: &[PodTerm]) {
        let mut left = PLACES_MAX;
        for term in terms {
            for required in required(term, &mut left) {
                for namespace in named(term, &kind.1) {
                    self.named.entry((*namespace, required)).or_default().insert(kind);
                }
                if let Some(selector) = term.namespace_selector {
                    let selected = self.selected.entry(required).or_default();
                    selected.entry(selector).or_default().insert(kind);
                }
            }
        }
    }

    fn list_no_more(&mut self, kind: Kind, terms: &[PodTerm]) {
        let mut left = PLACES_MAX;
        for term in terms {
            for required in required(term, &mut left) {
                for namespace in named(term, &kind.1) {
                    take(&mut self.named, &(*namespace, required), kind);
                }
                if let Some(selector) = term.namespace_selector
                    && let Some(selected) = self.selected.get_mut(&required)
                {
                    take(selected, &selector, kind);
                    if selected.is_empty() {
                        self.selected.remove(&required);
                    }
                }
            }
        }
    }
}

/// Tells which of some kinds of pods have one of these selectors.
///
/// # Cost
/// In the fewer of them and of those that the pods have: those that wait may have any number.
fn selecting<'s>(
    selected: &'s Selected,
    selectors: &'s BTreeSet<NamespaceSelectorId>,
) -> impl Iterator<Item = &'s BTreeSet<Kind>> {
    let by_place = selected.len() < selectors.len();
    let placed = by_place.then_some(selected).into_iter().flatten();
    let placed = placed.filter(|(selector, _)| selectors.contains(selector));
    let asked = (!by_place).then_some(selectors).into_iter().flatten();
    let asked = asked.filter_map(|selector| selected.get(selector));
    placed.map(|(_, kinds)| kinds).chain(asked)
}

fn take<K: Ord>(kinds: &mut BTreeMap<K, BTreeSet<Kind>>, key: &K, kind: Kind) {
    let Some(row) = kinds.get_mut(key) else { return };
    row.remove(&kind);
    if row.is_empty() {
        kinds.remove(key);
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
    /// Lists the kinds of pods with a place whose required anti-affinity may mean pods of a namespace with a label. One may come
    /// twice.
    pub(crate) fn anti_affinity_on(
        &self,
        namespace: Symbol,
        required: Required,
    ) -> impl Iterator<Item = Kind> {
        let selectors = self.namespace_selectors.get(&namespace);
        let selected = selectors.zip(self.anti_affinity.selected.get(&required));
        let selecting = selected.into_iter().flat_map(|(all, selected)| selecting(selected, all));
        let named = self.anti_affinity.named.get(&(namespace, required));
        named.into_iter().chain(selecting).flatten().copied()
    }

    /// Lists the kinds of pods with a place whose required anti-affinity may mean a pod. One may come several times.
    pub(crate) fn anti_affinity_towards(&self, pod: &PodFacts) -> impl Iterator<Item = Kind> {
        let namespace = pod.namespace;
        requirements_met(pod).flat_map(move |required| self.anti_affinity_on(namespace, required))
    }

    /// Lists the nodes where pods of a kind have a place, `pod` itself aside; with each, whether these are about to leave.
    pub(crate) fn places_of_others(
        &self,
        kind: Kind,
        pod: PodId,
    ) -> impl Iterator<Item = (NodeId, bool)> {
        let facts = &self.pods[pod];
        let is_own = kind == (facts.shape, facts.namespace);
        let own = if is_own { Presence::of(&self.pods.status[pod]) } else { Presence::default() };
        let places = self.anti_affinity.placed.get(&kind).into_iter().flatten();
        let others = places.filter(move |&(&(node, leaves), &pods)| {
            let is_here = leaves == own.leaves && own.nodes.contains(&Some(node));
            pods > u32::from(is_here)
        });
        others.map(|(place, _)| *place)
    }

    /// Counts a pod where it has a place among those whose anti-affinity is to be looked at, or takes it back.
    pub(super) fn keep_away(&mut self, pod: PodId, at: Presence, sign: Sign) {
        let facts = &self.pods[pod];
        let terms = &self.shapes[facts.shape].facts.pod_anti_affinity;
        if !terms.is_empty() {
            self.anti_affinity.enter((facts.shape, facts.namespace), terms, at, sign);
        }
    }

    /// Counts a pod where it has a place by now, and no more where it had one.
    pub(super) fn keep_away_anew(&mut self, pod: PodId, before: Presence) {
        let after = Presence::of(&self.pods.status[pod]);
        if after != before {
            // What comes first comes in first, so that its kind need not be listed anew.
            self.keep_away(pod, after, Sign::Plus);
            self.keep_away(pod, before, Sign::Minus);
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
