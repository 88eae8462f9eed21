//! Objects of a manifest that are there already: one that is as it is written is taken as it is, any other is replaced
//! where that is asked for.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::document::{Document, There};
use super::super::list;
use crate::cluster::{Call, Cluster, Failure, json, listing, names};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
use crate::print::{duration, time};

/// Fields of the metadata that say nothing of what was asked for.
const KEPT: [&str; 3] = ["managedFields", "resourceVersion", "generation"];
/// More differences than anybody reads at once.
const SHOWN: usize = 3;

/// Holds what is there already under a document's name, beside it.
struct Compared {
    /// The document, with what it is to the one that is there; without where that cannot be told.
    document: Document,
    old: Value,
    /// The paths at which they differ.
    found: Vec<String>,
}

/// Compares a document with what is there. The server tells what the manifest would make of that, in a rehearsal, so
/// that what it fills in is no difference.
///
/// # Errors
/// The server cannot be asked.
async fn compared(
    document: &Document,
    call: &Call<'_>,
    cluster: &Cluster,
) -> Result<Option<Compared>, Failure> {
    let Some(old) = cluster.get(call).await? else { return Ok(None) };
    let mut found = Vec::new();
    let there = match cluster.patch(call, &document.object, true).await {
        Ok(answer) => {
            differences(&bare(old.clone()), &bare(answer.body), "", &mut found);
            Some(if found.is_empty() { There::Same } else { There::Changeable(old.clone()) })
        }
        // It may not be changed like that, so it differs. The manifest says less than the object has.
        Err(Failure::Refused(refusal)) if refusal.code == 422 => {
            differences(&bare(old.clone()), &bare(document.object.clone()), "", &mut found);
            found.retain(|path| document.object.pointer(&pointer(path)).is_some());
            Some(There::Fixed(old.clone()))
        }
        Err(Failure::Refused(refusal)) if refusal.code != 401 => None,
        Err(failure) => return Err(failure),
    };
    let object = match there {
        Some(There::Same) => old.clone(),
        _ => document.object.clone(),
    };
    Ok(Some(Compared { document: Document { object, there, ..document.clone() }, old, found }))
}

fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

/// The document as it is there already, where that may be taken for it.
///
/// # Errors
/// It is in the way: as it may not be taken, or differs.
pub(super) async fn taken(
    document: &Document,
    call: &Call<'_>,
    cluster: &Cluster,
) -> Result<Document, Error> {
    let compared = compared(document, call, cluster).await;
    let compared = compared.map_err(|failure| cluster.explain(call, &failure))?;
    // It went between two requests.
    let Some(Compared { document: there, old, mut found }) = compared else {
        return Err(in_the_way(document, call, &Value::Null).into());
    };
    if there.is_unchanged() && document.may_exist {
        return Ok(there);
    }
    let problem = in_the_way(document, call, &old);
    if found.is_empty() || !document.may_exist {
        return Err(problem.into());
    }
    found.truncate(SHOWN);
    let source = clean(&document.source).into_owned();
    Err(problem
        .line(format!("and differs from {source}: {}", clean(&found.join(", "))))
        .fix("--replace changes it, or deletes it and creates it anew; or leave it out of the manifest")
        .into())
}

/// Finds what is there of each document, for `--replace`, and says what will be done to it.
///
/// # Errors
/// The server cannot be asked, or would not create what has to be deleted first.
pub(in super::super) async fn find(
    documents: &mut [Document],
    cluster: &Cluster,
    context: &mut Context,
) -> Result<(), Error> {
    let mut problems = Vec::new();
    for document in documents {
        let Some(resource) = document.resource.clone() else { continue };
        if document.name().is_empty() {
            continue;
        }
        let one = document.clone();
        let call = super::call(&one, cluster, &resource);
        let compared = compared(&one, &call, cluster).await;
        let compared = compared.map_err(|failure| cluster.explain(&call, &failure))?;
        let Some(Compared { document: there, found, .. }) = compared else { continue };
        let name = listing::name(&one.object);
        let paths = clean(&found.join(", ")).into_owned();
        match &there.there {
            Some(There::Changeable(_)) => {
                context.out.talk(&format!("  {name} will be changed: {paths}"));
            }
            Some(There::Fixed(_)) => match anew(&one, &call, cluster).await {
                Ok(()) => context.out.talk(&format!(
                    "  {name} will be deleted and created anew, because the API lets nobody change it: {paths}"
                )),
                Err(error) => problems.extend(list(error)),
            },
            Some(There::Same) | None => {}
        }
        *document = there;
    }
    Error::all(problems)
}

/// Names a document for a rehearsal whose own name is taken: as nothing else is called.
pub(in super::super) fn rehearsed() -> String {
    // Keyed anew in each process, and counted on.
    let number = RandomState::new().hash_one(Instant::now());
    format!("kai-rehearsal-{number:016x}")
}

/// Lets the server check a document whose object has to go first, so that nothing is deleted for what it would not create.
///
/// # Errors
/// The server refuses it under any name, or cannot be asked.
async fn anew(document: &Document, call: &Call<'_>, cluster: &Cluster) -> Result<(), Error> {
    let mut object = document.object.clone();
    object["metadata"]["name"] = json!(rehearsed());
    match cluster.create(call, &object, true).await {
        Ok(_) => Ok(()),
        Err(failure) if is_full(&failure) => Ok(()),
        Err(failure) => {
            let problems = list(cluster.explain(call, &failure)).into_iter();
            let deleted = "it would have to be deleted and created anew; nothing was deleted";
            let mended = format!("mend {}, and submit it again", clean(&document.source));
            let problems = problems.map(|problem| {
                let fix = problem.fix.clone().unwrap_or_else(|| mended.clone());
                problem.line(deleted).fix(fix)
            });
            Err(Error::Problems(problems.collect()))
        }
    }
}

/// Tells whether a `ResourceQuota` has no room for a second one, which is what the first gives back.
fn is_full(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(refusal)
        if refusal.code == 403 && refusal.message.contains("exceeded quota"))
}

/// Changes the object that was looked at, and no later one.
///
/// # Errors
/// The server refuses it, or somebody else changed it meanwhile.
pub(super) async fn change(
    document: &Document,
    old: &Value,
    call: &Call<'_>,
    cluster: &Cluster,
) -> Result<Value, Error> {
    let mut patch = document.object.clone();
    let meta = json::ensure(&mut patch, "/metadata");
    for field in ["uid", "resourceVersion"] {
        meta.insert(field.into(), old["metadata"][field].clone());
    }
    let call = Call { verb: "patch", ..call.clone() };
    let changed = cluster.patch(&call, &patch, false).await;
    changed.map(|answer| answer.body).map_err(|failure| cluster.explain(&call, &failure))
}

/// Sets how long a deleted object may take to go, and the time between two looks.
const GONE_WITHIN: Duration = Duration::from_mins(2);
const LOOK: Duration = Duration::from_millis(200);

/// Deletes the object that was looked at, and waits until its name is free.
///
/// # Errors
/// The server refuses it, or it does not go.
pub(super) async fn remove(old: &Value, call: &Call<'_>, cluster: &Cluster) -> Result<(), Error> {
    let uid = json::text(&old["metadata"]["uid"]);
    let call = Call { verb: "delete", ..call.clone() };
    let explain = |failure: Failure| cluster.explain(&call, &failure);
    cluster.delete(&call, uid, false).await.map_err(explain)?;
    let begin = Instant::now();
    while let Some(left) = cluster.get(&call).await.map_err(explain)? {
        if json::text(&left["metadata"]["uid"]) != uid {
            break;
        }
        if begin.elapsed() > GONE_WITHIN {
            let what = format!("{} was deleted and is still going", listing::name(old));
            return Err(Problem::new(number::EXISTS, Exit::Conflict, what)
                .fix("submit it again when it is gone: kubectl kai wait --for=deleted")
                .into());
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

fn in_the_way(document: &Document, call: &Call<'_>, old: &Value) -> Problem {
    let kind = document.kind().to_lowercase();
    let age = time::age(&old["metadata"]["creationTimestamp"]);
    let age = age.map_or_else(String::new, |age| format!(" ({} old)", duration::short(age)));
    let place = call.namespace.map_or_else(String::new, |namespace| format!(" in {namespace}"));
    let what = format!("{kind} \"{}\" already exists{place}{age}", call.name);
    Problem::new(number::EXISTS, Exit::Conflict, what).fix(format!(
        "another name, or first: {} {}",
        deleted_by(document),
        call.name
    ))
}

/// The command that deletes such an object.
fn deleted_by(document: &Document) -> String {
    if document.is_workload {
        return "kubectl kai delete".to_owned();
    }
    format!("kubectl delete {}", document.kind().to_lowercase())
}

/// The object without what nobody asked for: what the server and controllers write down, and who submitted it.
fn bare(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        // Controllers write it meanwhile.
        fields.remove("status");
    }
    for map in ["labels", "annotations"] {
        if let Some(Value::Object(map)) = object.pointer_mut(&format!("/metadata/{map}")) {
            map.remove(names::USER);
        }
    }
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
    use http::{Request, Response};
    use kube::client::Body;

    use super::*;
    use crate::cluster::{Refusal, Resource};

    /// The API server refuses it where somebody else has changed or replaced the object since.
    #[tokio::test]
    async fn a_change_is_one_of_the_version_that_was_looked_at() {
        // It answers with what it was sent.
        let service = tower::service_fn(|request: Request<Body>| async move {
            let sent = request.into_body().collect_bytes().await?;
            Ok::<_, kube::Error>(Response::new(Body::from(sent.to_vec())))
        });
        let cluster = Cluster::given(kube::Client::new(service, "default"), "default");
        let wanted = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "settings"}, "data": {"a": "2"}});
        let document = Document::new(wanted, "settings.yaml");
        let old = json!({"metadata": {"name": "settings", "uid": "u", "resourceVersion": "7"}});
        let resource = Resource::new("v1", "ConfigMap", "configmaps");
        let call = Call::new("create", &resource).namespace(Some("default")).name("settings");
        let sent = change(&document, &old, &call, &cluster).await.expect("it takes all");
        assert_eq!(sent["metadata"], old["metadata"]);
        assert_eq!(sent["data"], json!({"a": "2"}));
    }

    #[test]
    fn a_full_quota_alone_is_no_reason_to_keep_what_takes_it() {
        let full = "jobs.batch \"kai-rehearsal\" is forbidden: exceeded quota: few, requested: count/jobs.batch=1";
        for (code, message, expect) in [
            (403, full, true),
            (403, "jobs.batch is forbidden: User \"ana\" cannot create resource", false),
            (422, "Job.batch \"kai-rehearsal\" is invalid: spec.completions", false),
        ] {
            let message = message.to_owned();
            let failure = Failure::Refused(Refusal { code, message, ..Refusal::default() });
            assert_eq!(is_full(&failure), expect, "{failure}");
        }
    }

    /// An object of the name under which all was rehearsed kept everything from being replaced.
    #[test]
    fn each_rehearsal_has_a_name_of_its_own() {
        let names = [rehearsed(), rehearsed()];
        assert_ne!(names[0], names[1]);
        let is_legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        for name in names {
            assert!(name.len() <= 52 && name.chars().all(is_legal), "{name}");
        }
    }

    fn check(old: Value, new: Value, expect: &[&str]) {
        let mut found = Vec::new();
        differences(&bare(old), &bare(new), "", &mut found);
        assert_eq!(found, expect);
    }

    #[test]
    fn what_the_server_writes_down_for_itself_is_no_difference() {
        check(
            json!({"metadata": {"name": "x", "resourceVersion": "1", "managedFields": []}, "spec": {"a": 1}}),
            json!({"metadata": {"name": "x", "resourceVersion": "2"}, "spec": {"a": 1}, "status": {"b": 2}}),
            &[],
        );
        check(
            json!({"metadata": {"labels": {"a": "b"}}, "spec": {"ports": [1], "kept": true}}),
            json!({"metadata": {"labels": {"a": "c"}}, "spec": {"ports": [2]}}),
            &["metadata.labels.a", "spec.ports", "spec.kept"],
        );
    }
}
