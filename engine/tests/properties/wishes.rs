//! Wishes of pods about the pods beside them.

use kai_engine::{Holds, PodTerm, Requirement, Shape, Spread, Symbol};
use proptest::prelude::*;

/// Wishes of a pod about those beside it, most of the time none: affinity, anti-affinity, preferences, topology spread.
pub(crate) fn wishes() -> impl Strategy<Value = [bool; 4]> {
    prop_oneof![2 => Just([false; 4]), 1 => any::<[bool; 4]>()]
}

/// A shape with such wishes, about pods with a label or without.
pub(crate) fn wishing(
    shape: Shape,
    [near, far, prefers, spreads]: [bool; 4],
    number: u32,
) -> Shape {
    let some = |holds| vec![Requirement { key: Symbol::new(2), holds }];
    let selector = if number.is_multiple_of(2) {
        some(Holds::In(vec![Symbol::new(number % 3)]))
    } else {
        some(Holds::Exists)
    };
    let term = PodTerm {
        topology_key: Symbol::new(1),
        namespaces: (0..number % 3).map(Symbol::new).collect(),
        namespace_selector: None,
        selector: selector.clone(),
    };
    let spread = Spread {
        topology_key: Symbol::new(1),
        skew_max: 1,
        domains_min: 1,
        namespace: Symbol::new(number % 2),
        selector,
        honors_selection: true,
        honors_taints: false,
        required: number.is_multiple_of(3),
    };
    let terms = |has: bool| has.then(|| term.clone()).into_iter().collect::<Vec<_>>();
    Shape {
        pod_affinity: terms(near),
        pod_anti_affinity: terms(far),
        preferred_pods: terms(prefers).into_iter().map(|term| (1, term)).collect(),
        spread: spreads.then_some(spread).into_iter().collect(),
        ..shape
    }
}
