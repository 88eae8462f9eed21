//! Counts how many pods an Argo workflow makes of each of its templates. Pure; a step for each call that a template makes.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cluster::json::text;

/// A template that is called, and how often.
type Call<'s> = (&'s str, u64);

/// A template whose calls are being followed.
struct Open<'s> {
    name: &'s str,
    left: std::vec::IntoIter<Call<'s>>,
    /// Those that were followed.
    kept: Vec<Call<'s>>,
}

/// Returns how often each template runs, by name: it is called from the entrypoint, by tasks and steps that may be
/// repeated, through templates that call others. What only a run tells (`withParam`) counts once, and a template that
/// calls itself is not followed there. No number is larger than `u32::MAX`, so that sums over templates stay numbers.
pub(super) fn runs(spec: &Value) -> BTreeMap<&str, u64> {
    let most = u64::from(u32::MAX);
    let entrypoint = text(&spec["entrypoint"]);
    let mut runs = BTreeMap::from([(entrypoint, 1)]);
    for (from, calls) in callers_first(spec, entrypoint) {
        let own = runs.get(from).copied().unwrap_or(0);
        for (to, times) in calls {
            let sum: &mut u64 = runs.entry(to).or_default();
            *sum = sum.saturating_add(own.saturating_mul(times)).min(most);
        }
    }
    runs
}

/// Returns the templates that the entrypoint leads to with their calls, each after all that call it.
fn callers_first<'s>(spec: &'s Value, entrypoint: &'s str) -> Vec<(&'s str, Vec<Call<'s>>)> {
    let mut templates: BTreeMap<&str, &Value> = BTreeMap::new();
    for template in spec["templates"].as_array().into_iter().flatten() {
        templates.entry(text(&template["name"])).or_insert(template);
    }
    let look_at = |name: &'s str| {
        let calls: Vec<Call<'s>> = templates.get(name).copied().map(calls).unwrap_or_default();
        Open { name, left: calls.into_iter(), kept: Vec::new() }
    };
    // A tenant chooses how deep templates call each other: a list, since the stack would not hold it.
    let mut open = vec![look_at(entrypoint)];
    let mut is_ended = BTreeMap::from([(entrypoint, false)]);
    let mut ended = Vec::new();
    while let Some(last) = open.last_mut() {
        let Some((to, times)) = last.left.next() else {
            if let Some(Open { name, kept, .. }) = open.pop() {
                is_ended.insert(name, true);
                ended.push((name, kept));
            }
            continue;
        };
        match is_ended.get(to) {
            // It calls itself, by others or directly.
            Some(false) => {}
            Some(true) => last.kept.push((to, times)),
            None => {
                last.kept.push((to, times));
                is_ended.insert(to, false);
                open.push(look_at(to));
            }
        }
    }
    ended.reverse();
    ended
}

/// Returns the templates that a template calls.
fn calls(template: &Value) -> Vec<Call<'_>> {
    let tasks = template["dag"]["tasks"].as_array().into_iter().flatten();
    let steps = template["steps"].as_array().into_iter().flatten();
    let steps = steps.flat_map(|beside| beside.as_array().into_iter().flatten());
    tasks.chain(steps).map(|task| (text(&task["template"]), repeats(task))).collect()
}

/// Returns how often a task of a workflow is run.
fn repeats(task: &Value) -> u64 {
    let number = |value: &Value| value.as_u64().or_else(|| text(value).parse().ok());
    let sequence = &task["withSequence"];
    match (task["withItems"].as_array(), number(&sequence["count"])) {
        (Some(items), _) => u64::try_from(items.len()).unwrap_or(u64::MAX),
        (None, Some(count)) => count,
        (None, None) => match number(&sequence["end"]) {
            Some(end) => end.abs_diff(number(&sequence["start"]).unwrap_or(0)).saturating_add(1),
            None => 1,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Counts the runs of the last template of a chain, each of which calls the next one with these fields.
    fn check(templates: usize, task: &Value, expect: u64) {
        let name = |at: usize| format!("t{at}");
        let template = |at: usize| {
            let mut task = task.clone();
            task["template"] = json!(name(at + 1));
            json!({"name": name(at), "dag": {"tasks": [task]}})
        };
        let all: Vec<Value> = (0..templates).map(template).collect();
        let spec = json!({"entrypoint": "t0", "templates": all});
        assert_eq!(runs(&spec).get(name(templates).as_str()), Some(&expect), "{task}");
    }

    #[test]
    fn no_workflow_is_too_deep_or_too_large_to_be_counted() {
        let most = u64::from(u32::MAX);
        check(3, &json!({"withItems": [1, 2]}), 8);
        check(50_000, &json!({}), 1);
        check(50_000, &json!({"withItems": [1, 2]}), most);
        check(1, &json!({"withSequence": {"count": u64::MAX}}), most);
        check(1, &json!({"withSequence": {"start": "0", "end": u64::MAX.to_string()}}), most);
        check(2, &json!({"withSequence": {"count": "0"}}), 0);
    }
}
