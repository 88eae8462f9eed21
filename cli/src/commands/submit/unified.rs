//! Differences between two objects, as a unified diff of their YAML. Pure.

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use crate::cluster::json::text;
use crate::print::output::{Style, clean};
use crate::print::yaml;

/// Fields of the metadata that the server writes down for itself.
const OF_SERVER: [&str; 7] = [
    "managedFields",
    "resourceVersion",
    "generation",
    "uid",
    "creationTimestamp",
    "selfLink",
    "deletionGracePeriodSeconds",
];
/// Lines around a difference.
const CONTEXT: usize = 3;

/// The object without what only the server says.
pub(super) fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
    if let Some(Value::Object(meta)) = object.get_mut("metadata") {
        for field in OF_SERVER {
            meta.remove(field);
        }
    }
    object
}

/// The difference, with the names of both sides; none where there is none. Values of secrets are hidden.
pub(super) fn unified(from: &str, to: &str, old: &Value, new: &Value) -> Option<String> {
    let (old, new) = hidden(old, new);
    let new = in_order_of(&old, new);
    let print = |value: &Value| if value.is_null() { String::new() } else { yaml::print(value) };
    let (old, new) = (print(&old), print(&new));
    if old == new {
        return None;
    }
    let diff = TextDiff::from_lines(&old, &new);
    let mut lines = vec![
        Style::Bold.paint(&format!("--- {}", clean(from))),
        Style::Bold.paint(&format!("+++ {}", clean(to))),
    ];
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        lines.push(Style::Dim.paint(&hunk.header().to_string()));
        for change in hunk.iter_changes() {
            let line = clean(change.value().trim_end_matches('\n')).into_owned();
            lines.push(match change.tag() {
                ChangeTag::Delete => Style::Bad.paint(&format!("-{line}")),
                ChangeTag::Insert => Style::Good.paint(&format!("+{line}")),
                ChangeTag::Equal => format!(" {line}"),
            });
        }
    }
    Some(lines.join("\n"))
}

/// The value with its fields in the order of another's, since their order says nothing.
fn in_order_of(other: &Value, value: Value) -> Value {
    match (other, value) {
        (Value::Object(other), Value::Object(mut map)) => {
            let mut ordered = serde_json::Map::new();
            for (key, of) in other {
                if let Some(value) = map.shift_remove(key) {
                    ordered.insert(key.clone(), in_order_of(of, value));
                }
            }
            ordered.extend(map);
            ordered.into()
        }
        (Value::Array(other), Value::Array(items)) => {
            let pairs = items.into_iter().enumerate();
            let item = |(at, value)| in_order_of(other.get(at).unwrap_or(&Value::Null), value);
            pairs.map(item).collect()
        }
        (_, value) => value,
    }
}

/// Both sides with the values of secrets replaced, so that only their change is seen.
fn hidden(old: &Value, new: &Value) -> (Value, Value) {
    let (mut old, mut new) = (bare(old), bare(new));
    if text(&old["kind"]) != "Secret" && text(&new["kind"]) != "Secret" {
        return (old, new);
    }
    for field in ["data", "stringData"] {
        let values = |object: &Value| object.get(field).cloned().unwrap_or_default();
        let (before, after) = (values(&old), values(&new));
        for (object, other, side) in [(&mut old, &after, "before"), (&mut new, &before, "after")] {
            let map = object.get_mut(field).and_then(Value::as_object_mut);
            for (key, value) in map.into_iter().flatten() {
                let is_same = other.get(key) == Some(value);
                *value = json!(if is_same { "***".to_owned() } else { format!("*** ({side})") });
            }
        }
    }
    (old, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &Value, new: &Value, expect: Option<&str>) {
        let said = unified("a", "b", old, new);
        let said = said.map(|said| anstream::adapter::strip_str(&said).to_string());
        assert_eq!(said.as_deref(), expect);
    }

    #[test]
    fn what_the_server_says_is_no_difference() {
        let spec = json!({ "a": 1, "b": 2 });
        check(
            &json!({ "kind": "Job", "metadata": { "uid": "1" }, "spec": spec, "status": {} }),
            &json!({ "kind": "Job", "metadata": {}, "spec": spec }),
            None,
        );
        check(
            &json!({ "kind": "Job", "spec": { "a": 1, "b": 2 } }),
            &json!({ "kind": "Job", "spec": { "a": 1, "b": 3 } }),
            Some("--- a\n+++ b\n@@ -1,4 +1,4 @@\n kind: Job\n spec:\n   a: 1\n-  b: 2\n+  b: 3"),
        );
    }

    #[test]
    fn values_of_secrets_stay_hidden() {
        check(
            &json!({ "kind": "Secret", "data": { "k": "b2xk", "s": "eA==" } }),
            &json!({ "kind": "Secret", "data": { "k": "bmV3", "s": "eA==" } }),
            Some(
                "--- a\n+++ b\n@@ -1,4 +1,4 @@\n kind: Secret\n data:\n-  k: \"*** (before)\"\n+  k: \"*** (after)\"\n   s: \"***\"",
            ),
        );
    }
}
