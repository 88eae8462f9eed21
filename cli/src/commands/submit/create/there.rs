//! Objects of a manifest that are there already: one that is as it is written is taken as it is.

use serde_json::Value;

use super::super::Document;
use crate::cluster::{Call, Cluster, Failure};
use crate::print::error::{Exit, Problem, number};
use crate::print::output::clean;
use crate::print::{duration, time};

/// Fields of the metadata that say nothing of what was asked for.
const KEPT: [&str; 3] = ["managedFields", "resourceVersion", "generation"];
/// More differences than anybody reads at once.
const SHOWN: usize = 3;

/// The object that is there, or the problem that it is in the way: a workload always is, anything else where it differs.
/// The server tells what the manifest would make of it, in a rehearsal, so that what it fills in is no difference.
///
/// # Errors
/// The server cannot be asked.
pub(super) async fn look(
    document: &Document,
    call: &Call<'_>,
    cluster: &Cluster,
) -> Result<Result<Value, Problem>, Failure> {
    let old = cluster.get(call).await?.unwrap_or_default();
    if document.is_workload {
        return Ok(Err(taken(document, call, &old)));
    }
    let new = match cluster.patch(call, &document.object, true).await {
        Ok(answer) => answer.body,
        // It may not be changed like that, so it differs.
        Err(Failure::Refused(refusal)) if refusal.code != 401 => Value::Null,
        Err(failure) => return Err(failure),
    };
    let mut found = Vec::new();
    differences(&bare(old.clone()), &bare(new), "", &mut found);
    if found.is_empty() {
        return Ok(Ok(old));
    }
    found.truncate(SHOWN);
    let problem = taken(document, call, &old)
        .line(format!("and differs from {}: {}", document.source, clean(&found.join(", "))))
        .fix("change it with kubectl apply -f, or leave it out of the manifest");
    Ok(Err(problem))
}

fn taken(document: &Document, call: &Call<'_>, old: &Value) -> Problem {
    let kind = document.kind().to_lowercase();
    let age = time::age(&old["metadata"]["creationTimestamp"]);
    let age = age.map_or_else(String::new, |age| format!(" ({} old)", duration::short(age)));
    let place = call.namespace.map_or_else(String::new, |namespace| format!(" in {namespace}"));
    let what = format!("{kind} \"{}\" already exists{place}{age}", call.name);
    Problem::new(number::EXISTS, Exit::Conflict, what)
        .fix(format!("another name, or first: kubectl kai delete {}", call.name))
}

fn bare(mut object: Value) -> Value {
    if let Some(Value::Object(meta)) = object.get_mut("metadata") {
        for field in KEPT {
            meta.remove(field);
        }
    }
    object
}

/// The paths at which two values differ.
fn differences(old: &Value, new: &Value, at: &str, found: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            for key in keys {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                differences(json_at(one, key), json_at(other, key), &at, found);
            }
        }
        (one, other) if one != other => found.push(at.to_owned()),
        (_, _) => {}
    }
}

fn json_at<'v>(map: &'v serde_json::Map<String, Value>, key: &str) -> &'v Value {
    map.get(key).unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(old: Value, new: Value, expect: &[&str]) {
        let mut found = Vec::new();
        differences(&bare(old), &bare(new), "", &mut found);
        assert_eq!(found, expect);
    }

    #[test]
    fn what_the_server_writes_down_for_itself_is_no_difference() {
        check(
            json!({"metadata": {"name": "x", "resourceVersion": "1", "managedFields": []}, "spec": {"a": 1}}),
            json!({"metadata": {"name": "x", "resourceVersion": "2"}, "spec": {"a": 1}}),
            &[],
        );
        check(
            json!({"metadata": {"labels": {"a": "b"}}, "spec": {"ports": [1], "kept": true}}),
            json!({"metadata": {"labels": {"a": "c"}}, "spec": {"ports": [2]}}),
            &["metadata.labels.a", "spec.ports", "spec.kept"],
        );
    }
}
