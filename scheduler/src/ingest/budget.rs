//! `PodDisruptionBudget`: how many pods of an application may be evicted.

use std::collections::HashMap;

use kai_engine::{Budget, BudgetId, Delta};
use serde::Deserialize;

use super::{
    Context, Kind,
    selector::{LabelSelector, NAMED_MAX},
};

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

impl Budgets {
    /// Takes a budget in.
    pub(super) fn apply(&mut self, context: &mut Context, wire: &Wire<'_>) -> String {
        let version = wire.metadata.resource_version.to_string();
        let Some(selector) = &wire.spec.selector else {
            // Without a selector it is no pod's; with an empty one all pods' of its namespace.
            self.remove(context, &wire.metadata.key());
            return version;
        };
        // The server heeds a budget whatever it names. One that names too much is compared with no pod, and counts for a refusal
        // of each: a plan that left it out would count on evictions that never come.
        let bounded = selector.bounded(&mut context.names, NAMED_MAX);
        let allowed = if bounded.is_some() { wire.status.disruptions_allowed } else { 0 };
        let selector = bounded.unwrap_or_default();
        let generation = context.generation(Kind::DisruptionBudget);
        let Self { rows, free } = self;
        let next = u32::try_from(rows.len() + free.len()).expect("fewer than 2^32 budgets");
        let row = rows.entry(Box::from(wire.metadata.key())).or_insert_with(|| {
            // The last of those that are free, else one more than all that there are.
            (free.pop().unwrap_or(next), generation)
        });
        row.1 = generation;
        let id = BudgetId::new(row.0);
        for requirement in &selector {
            context.ask_for_pod_label(requirement.key);
        }
        let namespace = context.names.symbol(&wire.metadata.namespace);
        let budget = Budget { namespace, selector, allowed };
        context.deltas.push(Delta::Budget(id, Box::new(budget)));
        version
    }

    pub(super) fn remove(&mut self, context: &mut Context, key: &str) {
        if let Some((number, _)) = self.rows.remove(key) {
            self.free.push(number);
            context.deltas.push(Delta::BudgetGone(BudgetId::new(number)));
        }
    }

    /// A full list is complete: what was not in it is gone.
    pub(super) fn end(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::DisruptionBudget);
        let rows = self.rows.iter();
        let unseen = rows.filter(|(_, (_, seen))| *seen != generation);
        let mut unseen: Vec<Box<str>> = unseen.map(|(key, _)| key.clone()).collect();
        unseen.sort_unstable();
        for key in unseen {
            self.remove(context, &key);
        }
    }
}
