//! Patches of three kinds (JSON, merge and strategic merge), on the embedded API server and on a real one.

use anyhow::Result;
use http::{Method, StatusCode};
use kai_sandbox::server::{Options, Server};
use kai_tests::control_plane::{ControlPlane, assets};
use kube::Client;
use serde_json::{Map, Value, json};

use super::{
    drawn,
    requests::{At, send, send_as},
    spoil,
};

/// Objects that are patched, with the path of their list.
fn objects() -> [(&'static str, Value); 3] {
    let labels = json!({"app": "a"});
    let container = |name: &str| {
        json!({"name": name, "image": "i", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"containerPort": 80, "protocol": "TCP"}]})
    };
    let pod = json!({"metadata": {"labels": labels}, "spec": {"containers": [container("a"), container("b")],
        "tolerations": [{"key": "x", "operator": "Exists"}]}});
    [
        (
            "/api/v1/namespaces/default/configmaps",
            json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "fuzz", "labels": {"a": "b", "c": "d"}}, "data": {"k": "v", "l": "w"}}),
        ),
        (
            "/apis/apps/v1/namespaces/default/deployments",
            json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "fuzz", "annotations": {"a": "b"}},
            "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": pod}}),
        ),
        (
            "/apis/batch/v1/namespaces/default/jobs",
            json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "fuzz", "finalizers": ["x.example/a"]},
            "spec": {"suspend": true, "parallelism": 2, "template": {"spec": {"restartPolicy": "Never", "containers": [container("a")]}}}}),
        ),
    ]
}

/// Patches to begin with, by their type; they are spoilt before they are sent.
fn patches() -> Vec<(&'static str, Value)> {
    let list = json!([{"name": "a", "image": "j", "env": [{"name": "A", "value": "9"}, {"name": "C", "value": "3"}]}]);
    let deleting = json!([{"name": "b", "$patch": "delete"}, {"name": "c", "image": "k"}]);
    let template =
        |containers: &Value| json!({"spec": {"template": {"spec": {"containers": containers}}}});
    let merge = json!({"metadata": {"labels": {"a": null, "e": "f"}, "annotations": {"z": "y"}}, "data": {"k": null, "m": "n"}});
    let strategic = "application/strategic-merge-patch+json";
    vec![
        ("application/merge-patch+json", merge.clone()),
        (
            "application/merge-patch+json",
            json!({"spec": {"replicas": 0, "suspend": true, "paused": true}}),
        ),
        (strategic, merge),
        (strategic, template(&list)),
        (strategic, template(&deleting)),
        (
            strategic,
            json!({"metadata": {"finalizers": ["x.example/b"], "$deleteFromPrimitiveList/finalizers": ["x.example/a"]}}),
        ),
        (
            strategic,
            json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "env": [{"$patch": "replace"}, {"name": "Z", "value": "1"}]}]}}}}),
        ),
        (
            "application/json-patch+json",
            json!([
                {"op": "test", "path": "/metadata/name", "value": "fuzz"},
                {"op": "add", "path": "/metadata/annotations", "value": {"a/b": "c"}},
                {"op": "replace", "path": "/metadata/annotations/a~1b", "value": "d"},
                {"op": "remove", "path": "/metadata/labels"},
            ]),
        ),
        (
            "application/json-patch+json",
            json!([
                {"op": "copy", "from": "/spec/template/spec/containers/0", "path": "/spec/template/spec/containers/-"},
                {"op": "replace", "path": "/spec/template/spec/containers/1/name", "value": "z"},
                {"op": "move", "from": "/metadata/labels", "path": "/metadata/annotations"},
            ]),
        ),
    ]
}

/// An object that is patched.
struct Case<'a> {
    /// The path of its list.
    list: &'a str,
    object: &'a Value,
    /// The type of the patch.
    content: &'a str,
}

/// Outcome of a patch: the status, and the object without what every server sets by itself.
async fn patched(client: &Client, case: &Case<'_>, patch: &Value) -> Result<(StatusCode, Value)> {
    let Case { list, object, content } = *case;
    let one = format!("{list}/fuzz");
    let (made, answer) = send(client, Method::POST, list, object.to_string()).await?;
    assert_eq!(made, StatusCode::CREATED, "{answer}");
    let (status, answer) =
        send_as(client, Method::PATCH, &At { path: &one, content }, patch.to_string()).await?;
    remove(client, list).await?;
    if !status.is_success() {
        return Ok((status, Value::Null));
    }
    // A Job's selector and labels name its UID.
    let uid = answer["metadata"]["uid"].as_str().unwrap_or("no UID").to_owned();
    let mut answer: Value = serde_json::from_str(&answer.to_string().replace(&uid, "UID"))?;
    if let Some(metadata) = answer["metadata"].as_object_mut() {
        let own = ["resourceVersion", "creationTimestamp", "managedFields"];
        metadata.retain(|key, _| !own.contains(&&**key));
    }
    answer["status"].take();
    // What a server written in Go leaves out is no change to it, which counts.
    if without_empty(patch.clone()) != *patch {
        answer["metadata"]["generation"].take();
    }
    Ok((status, without_empty(answer)))
}

/// Tells whether a real server's answer can be foretold. It cannot be of a patch that names another object, which is refused
/// for one reason of several; of directives that are no lists of texts, or delete what the same patch adds, which do one thing
/// or another by chance; and of pointers without a slash, whose first step it passes over.
fn is_told(patch: &Value) -> bool {
    let metadata = patch.get("metadata");
    let is_table = |patch: &Value| patch.as_object().is_none_or(are_told);
    let is_rooted = |operation: &Value| {
        let pointers = ["path", "from"].map(|key| operation.get(key).and_then(Value::as_str));
        pointers.into_iter().flatten().all(|pointer| pointer.starts_with('/'))
    };
    is_table(patch)
        && metadata.is_none_or(|metadata| metadata.is_object() && is_table(metadata))
        && patch.as_array().is_none_or(|operations| operations.iter().all(is_rooted))
}

fn are_told(fields: &Map<String, Value>) -> bool {
    let is_told = |(key, gone): (&String, &Value)| {
        let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") else { return true };
        let added = fields.get(list).and_then(Value::as_array);
        let both = |gone: &Value| added.is_some_and(|added| added.contains(gone));
        gone.as_array().is_some_and(|gone| gone.iter().all(|gone| gone.is_string() && !both(gone)))
    };
    !fields.contains_key("name") && fields.iter().all(is_told)
}

/// The object without what a server written in Go leaves out: empty texts and lists, and `false`.
fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(table) => {
            let is_told = |value: &Value| {
                let is_empty = value.as_array().is_some_and(Vec::is_empty);
                *value != "" && *value != false && !is_empty
            };
            let told = table.into_iter().filter(|(_, value)| is_told(value));
            Value::Object(told.map(|(key, value)| (key, without_empty(value))).collect())
        }
        Value::Array(rows) => rows.into_iter().map(without_empty).collect(),
        value => value,
    }
}

/// Makes room for the next: without finalizers an object is gone at once.
async fn remove(client: &Client, list: &str) -> Result<()> {
    let one = format!("{list}/fuzz");
    let freed = json!({"metadata": {"finalizers": null}}).to_string();
    send_as(
        client,
        Method::PATCH,
        &At { path: &one, content: "application/merge-patch+json" },
        freed,
    )
    .await?;
    let options = json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background"});
    send(client, Method::DELETE, &one, options.to_string()).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn patches_do_what_a_real_server_does() -> Result<()> {
    let Some(assets) = assets("fuzz of patches: a real kube-apiserver") else { return Ok(()) };
    let mut plane = ControlPlane::start(&assets, &[]).await?;
    // They would write to the objects meanwhile.
    plane.stop_controllers().await?;
    let real = plane.client().await?;
    let server = Server::start(Options::default()).await?;
    let embedded = server.client();
    let (objects, patches) = (objects(), patches());
    let drawn = drawn((0..objects.len(), 0..patches.len(), spoil::damage()), 8);
    let (mut taken, mut other) = (0, Vec::new());
    for (of, at, damage) in drawn {
        let (list, object) = &objects[of];
        let (content, patch) = &patches[at];
        let case = Case { list, object, content };
        let mut patch = patch.clone();
        spoil::value(&mut patch, damage);
        if !is_told(&patch) {
            continue;
        }
        // Some patches have the real server panic, which ends the connection without an answer.
        let Ok(theirs) = patched(&real, &case, &patch).await else {
            remove(&real, list).await?;
            continue;
        };
        let ours = patched(&embedded, &case, &patch).await?;
        // What it calls a fault of its own is none of a server's answers.
        if theirs.0 == StatusCode::INTERNAL_SERVER_ERROR {
            continue;
        }
        taken += u32::from(theirs.0.is_success());
        if ours != theirs {
            other.push(format!(
                "{content} {patch}\n  of {object}\n  ours {ours:?}\n  real {theirs:?}"
            ));
        }
    }
    server.stop().await;
    assert!(taken > 10, "the real server took {taken} patches only");
    assert!(other.is_empty(), "{} came out otherwise:\n{}", other.len(), other.join("\n"));
    Ok(())
}
