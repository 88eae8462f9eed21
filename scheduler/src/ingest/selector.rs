//! Selectors of nodes and of labels, as requirements of the engine.

use kai_engine::{Effect, Holds, Requirement, Symbol};
use serde::Deserialize;

use crate::{
    names::Names,
    server::wire::{Pairs, Text, null_as_default},
};

/// The key under which a node's own name can be selected (`matchFields`).
pub(super) const NAME_KEY: &str = "metadata.name";

/// So many labels, values and namespaces may all selectors of an object name. Names are kept for as long as the process runs,
/// so that they are counted before they are read.
pub(super) const NAMED_MAX: usize = 4096;

/// So many tolerations, host ports, and claims of volumes or devices may a pod have.
pub(super) const LISTED_MAX: usize = 256;

/// One of its terms has to hold.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct NodeSelector<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) node_selector_terms: Vec<NodeTerm<'a>>,
}

impl NodeSelector<'_> {
    /// Counts what it names.
    pub(super) fn named(&self) -> usize {
        self.node_selector_terms.iter().map(NodeTerm::named).sum()
    }
}

/// All of it has to hold.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct NodeTerm<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    match_expressions: Vec<Expression<'a>>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    match_fields: Vec<Expression<'a>>,
}

impl NodeTerm<'_> {
    /// Counts what it names, and itself.
    pub(super) fn named(&self) -> usize {
        let all = self.match_expressions.iter().chain(&self.match_fields);
        1 + all.map(Expression::named).sum::<usize>()
    }

    /// Counts its requirements.
    pub(super) fn len(&self) -> usize {
        self.match_expressions.len() + self.match_fields.len()
    }
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Expression<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow)]
    operator: Text<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    values: Vec<Text<'a>>,
}

impl Expression<'_> {
    fn named(&self) -> usize {
        1 + self.values.len()
    }
}

/// Holds what labels have to be like.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LabelSelector<'a> {
    #[serde(borrow)]
    match_labels: Pairs<'a>,
    #[serde(borrow, deserialize_with = "null_as_default")]
    match_expressions: Vec<Expression<'a>>,
}

/// One of `allowedTopologies` of a storage class.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TopologyTerm<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    match_label_expressions: Vec<Expression<'a>>,
}

/// A term without any requirement selects nothing, as in the API.
pub(super) fn node_term(names: &mut Names, term: &NodeTerm<'_>) -> Vec<Requirement> {
    let all = term.match_expressions.iter().chain(&term.match_fields);
    let mut requirements: Vec<_> = all.map(|one| requirement(names, one)).collect();
    if requirements.is_empty() {
        let key = names.symbol(NAME_KEY);
        requirements.push(Requirement { key, holds: Holds::In(Vec::new()) });
    }
    requirements
}

impl LabelSelector<'_> {
    /// Counts what it names: labels, and their values.
    pub(super) fn named(&self) -> usize {
        let labels = 2 * self.match_labels.iter().count();
        labels + self.match_expressions.iter().map(Expression::named).sum::<usize>()
    }

    /// Works out what has to hold for labels; none where that names more than may be.
    pub(super) fn bounded(&self, names: &mut Names, named_max: usize) -> Option<Vec<Requirement>> {
        (self.named() <= named_max).then(|| self.requirements(names))
    }

    /// Works out what has to hold for labels.
    pub(super) fn requirements(&self, names: &mut Names) -> Vec<Requirement> {
        let mut all = Vec::new();
        for (key, value) in symbols(names, &self.match_labels) {
            all.push(Requirement { key, holds: Holds::In(vec![value]) });
        }
        all.extend(self.match_expressions.iter().map(|one| requirement(names, one)));
        all
    }
}

/// The terms of a node selector: one of them must hold.
pub(super) fn node_terms(names: &mut Names, wire: &NodeSelector<'_>) -> Vec<Vec<Requirement>> {
    wire.node_selector_terms.iter().map(|term| node_term(names, term)).collect()
}

/// Works out what has to hold for a node where a class makes volumes.
pub(super) fn topology_term(names: &mut Names, wire: &TopologyTerm<'_>) -> Vec<Requirement> {
    let mut all = Vec::new();
    for one in &wire.match_label_expressions {
        let key = names.symbol(&one.key);
        let values = one.values.iter().map(|value| names.symbol(value)).collect();
        all.push(Requirement { key, holds: Holds::In(values) });
    }
    all
}

/// Tells whether labels, as text, are what a selector asks for.
pub(super) fn selects(
    selector: &[Requirement],
    labels: &[(Box<str>, Box<str>)],
    names: &Names,
) -> bool {
    selector.iter().all(|requirement| {
        let key = names.text(requirement.key);
        let value = labels.iter().find(|(name, _)| **name == *key).map(|(_, value)| &**value);
        let is_one_of = |values: &[Symbol]| {
            value.is_some_and(|value| values.iter().any(|one| names.text(*one) == value))
        };
        match &requirement.holds {
            Holds::In(values) => is_one_of(values),
            Holds::NotIn(values) => !is_one_of(values),
            Holds::Exists => value.is_some(),
            Holds::Absent => value.is_none(),
            // Labels other than those of nodes are not compared as numbers.
            Holds::Above(_) | Holds::Below(_) => false,
        }
    })
}

/// An operator that is not known holds nowhere.
fn requirement(names: &mut Names, wire: &Expression<'_>) -> Requirement {
    let key = names.symbol(&wire.key);
    let values: Vec<Symbol> = wire.values.iter().map(|value| names.symbol(value)).collect();
    let number = wire.values.first().and_then(|value| value.parse::<i64>().ok());
    let holds = match (&*wire.operator, number) {
        ("In", _) => Holds::In(values),
        ("NotIn", _) => Holds::NotIn(values),
        ("Exists", _) => Holds::Exists,
        ("DoesNotExist", _) => Holds::Absent,
        ("Gt", Some(number)) => Holds::Above(number),
        ("Lt", Some(number)) => Holds::Below(number),
        _ => Holds::In(Vec::new()),
    };
    Requirement { key, holds }
}

/// The pairs as symbols, sorted.
pub(super) fn symbols(names: &mut Names, pairs: &Pairs<'_>) -> Vec<(Symbol, Symbol)> {
    let mut all: Vec<_> =
        pairs.iter().map(|(key, value)| (names.symbol(key), names.symbol(value))).collect();
    all.sort_unstable();
    all
}

/// The effect of a taint or toleration; none where it is empty or unknown.
pub(super) fn effect(text: &str) -> Option<Effect> {
    match text {
        "NoSchedule" => Some(Effect::NoSchedule),
        "PreferNoSchedule" => Some(Effect::PreferNoSchedule),
        "NoExecute" => Some(Effect::NoExecute),
        _ => None,
    }
}
