//! `PodDisruptionBudget`: how many pods of an application may be evicted.

use std::collections::HashMap;

use kai_engine::{Budget, BudgetId, Delta};
use serde::Deserialize;

use super::{Ingest, Kind, selector::LabelSelector};

/// The budgets that are there, by `namespace/name`: each one's number, and the full list in which it was seen last.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    rows: HashMap<Box<str>, (u32, u32)>,
    free: Vec<u32>,
}

pub(super) type Wire<'a> = super::object::Object<'a, Spec<'a>, Status>;

#[derive(Deserialize, Debug, Default)]
pub(super) struct Spec<'a> {
    #[serde(borrow, default)]
    selector: Option<LabelSelector<'a>>,
}

#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Status {
    disruptions_allowed: u32,
}

pub(super) fn applied(ingest: &mut Ingest, wire: &Wire<'_>) -> String {
    let version = wire.metadata.resource_version.to_string();
    let Some(selector) = &wire.spec.selector else {
        // Without a selector it is no pod's; with an empty one all pods' of its namespace.
        gone(ingest, &wire.metadata.key());
        return version;
    };
    let generation = ingest.generation(Kind::DisruptionBudget);
    let Budgets { rows, free } = &mut ingest.budgets;
    let next = u32::try_from(rows.len() + free.len()).expect("fewer than 2^32 budgets");
    let row = rows.entry(Box::from(wire.metadata.key())).or_insert_with(|| {
        // The last of those that are free, else one more than all that there are.
        (free.pop().unwrap_or(next), generation)
    });
    row.1 = generation;
    let id = BudgetId::new(row.0);
    let selector = selector.requirements(&mut ingest.names);
    for requirement in &selector {
        ingest.ask_for_pod_label(requirement.key);
    }
    let namespace = ingest.names.symbol(&wire.metadata.namespace);
    let allowed = wire.status.disruptions_allowed;
    let budget = Budget { namespace, selector, allowed };
    ingest.deltas.push(Delta::Budget(id, Box::new(budget)));
    version
}

pub(super) fn gone(ingest: &mut Ingest, key: &str) {
    if let Some((number, _)) = ingest.budgets.rows.remove(key) {
        ingest.budgets.free.push(number);
        ingest.deltas.push(Delta::BudgetGone(BudgetId::new(number)));
    }
}

/// A full list is complete: what was not in it is gone.
pub(super) fn end(ingest: &mut Ingest) {
    let generation = ingest.generation(Kind::DisruptionBudget);
    let rows = ingest.budgets.rows.iter();
    let unseen = rows.filter(|(_, (_, seen))| *seen != generation);
    let mut unseen: Vec<Box<str>> = unseen.map(|(key, _)| key.clone()).collect();
    unseen.sort_unstable();
    for key in unseen {
        gone(ingest, &key);
    }
}
