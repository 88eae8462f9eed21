//! Topologies that are refused: aliases that don't name one level.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Denial, Judgement};

/// Judges the aliases of a Topology.
///
/// # Source
/// docs/contract.md 3.9.
pub(super) fn validate(topology: &Value) -> Judgement {
    let levels = topology["spec"]["levels"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |key: &'static str| levels.iter().filter_map(move |level| level[key].as_str());
    let labels: BTreeSet<&str> = of("nodeLabel").collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for alias in of("alias").filter(|alias| !alias.is_empty()) {
        *counts.entry(alias).or_default() += 1;
    }
    let twice: Vec<&str> =
        counts.iter().filter(|(_, count)| **count > 1).map(|(alias, _)| *alias).collect();
    let taken: Vec<&str> = counts.keys().copied().filter(|alias| labels.contains(alias)).collect();
    if twice.is_empty() && taken.is_empty() {
        return Judgement::default();
    }
    let why = format!(
        "invalid topology aliases: duplicate aliases [{}], aliases that are node labels of this topology [{}]; each alias \
         must be unique and differ from every nodeLabel",
        twice.join(", "),
        taken.join(", ")
    );
    Judgement { warnings: Vec::new(), denial: Some(Denial(why)) }
}
