//! The status of `PodDisruptionBudgets`, which evictions ask.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::server::api::Api;
use crate::server::object::{self, Object};
use crate::server::selector::Labels;
use crate::server::state::State;
use crate::server::store::{Key, TableId, Written};

/// Looks at a write and brings the budgets that it touches up to date.
pub(super) fn written(api: &Api, written: &Written) {
    let value = &written.event.object.value;
    let table = TableId::new("policy", "poddisruptionbudgets");
    let is_pod = written.table.group.is_empty() && &*written.table.plural == "pods";
    if !is_pod && written.table != table {
        return;
    }
    let touched: BTreeSet<Key> = {
        let state = api.read();
        let budgets = state.store.table(&table).into_iter();
        budgets
            .flat_map(|budgets| budgets.in_namespace(object::namespace(value)))
            .filter(|budget| {
                if is_pod {
                    selects(budget, value)
                } else {
                    object::name(&budget.value) == object::name(value)
                }
            })
            .map(|budget| Key::of(&budget.value))
            .collect()
    };
    for key in touched {
        let mut state = api.write();
        let Some(budget) = state.store.get(&table, &key).cloned() else { continue };
        let mut new = budget.value.clone();
        set_status(&state, &mut new);
        if new != budget.value {
            state.put(&table, new);
        }
    }
}

fn selects(budget: &Object, pod: &Value) -> bool {
    let selector = budget.value.pointer("/spec/selector");
    selector.is_some_and(|selector| Labels::from_object(selector).matches(object::labels(pod)))
}

/// Counts the healthy pods. Percentages count the pods there are, as this server knows no scale of their owner.
fn set_status(state: &State, budget: &mut Value) {
    let holder = Object::unstored(budget.clone());
    let pods = state.store.table(&TableId::new("", "pods")).into_iter();
    let pods: Vec<&Arc<Object>> = pods
        .flat_map(|pods| pods.in_namespace(object::namespace(budget)))
        .filter(|pod| selects(&holder, &pod.value))
        .filter(|pod| !matches!(object::text(&pod.value, "/status/phase"), "Succeeded" | "Failed"))
        .collect();
    let all = i64::try_from(pods.len()).unwrap_or(i64::MAX);
    let healthy = pods.iter().filter(|pod| is_healthy(&pod.value)).count();
    let healthy = i64::try_from(healthy).unwrap_or(i64::MAX);
    let desired =
        match (budget.pointer("/spec/minAvailable"), budget.pointer("/spec/maxUnavailable")) {
            (Some(least), _) => amount(least, all),
            (None, Some(most)) => (all - amount(most, all)).max(0),
            (None, None) => all - 1,
        };
    let generation = budget.pointer("/metadata/generation").cloned();
    let allowed = (healthy - desired).max(0);
    let status = object::child_mut(budget, "status");
    status.insert("observedGeneration".to_owned(), json!(generation));
    status.insert("currentHealthy".to_owned(), json!(healthy));
    status.insert("desiredHealthy".to_owned(), json!(desired));
    status.insert("expectedPods".to_owned(), json!(all));
    status.insert("disruptionsAllowed".to_owned(), json!(allowed));
}

fn is_healthy(pod: &Value) -> bool {
    !object::is_deleting(pod)
        && object::array(pod, "/status/conditions").iter().any(|condition| {
            object::text(condition, "/type") == "Ready"
                && object::text(condition, "/status") == "True"
        })
}

/// A number, or a percentage of `all` rounded up. What is out of bounds, which kube-apiserver refuses, is brought within.
fn amount(value: &Value, all: i64) -> i64 {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    match percent {
        Some(percent) => (all * percent.clamp(0, 100) + 99) / 100,
        None => value.as_i64().unwrap_or(0).clamp(0, i32::MAX.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_within_bounds_whatever_is_written() {
        for (value, expect) in [
            (json!(2), 2),
            (json!("50%"), 2),
            (json!("9223372036854775807%"), 3),
            (json!("-9223372036854775808%"), 0),
            (json!(i64::MAX), i32::MAX.into()),
            (json!(i64::MIN), 0),
            (json!("all"), 0),
        ] {
            assert_eq!(amount(&value, 3), expect, "{value}");
        }
    }
}
