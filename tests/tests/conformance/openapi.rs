//! The built-in types (`sandbox/types/*.api`) against those of a real server of the same version: whoever changes a type
//! by hand, or moves to another version, learns here which fields are missing, gone, or required now.
//!
//! Left out where there is no real server.

use std::collections::BTreeSet;

use kai_sandbox::server::{Options, Server};
use kube::Client;
use serde_json::Value;

async fn document(client: &Client, path: &str) -> Option<Value> {
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    client.request(request).await.ok()
}

/// Lists what differs between two definitions of a type.
fn differences(ours: &Value, theirs: &Value) -> Vec<String> {
    let fields = |schema: &Value| -> BTreeSet<String> {
        schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect()
    };
    let required = |schema: &Value| -> BTreeSet<String> {
        let all = schema["required"].as_array().into_iter().flatten();
        all.map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let differ = |what: &str, ours: &BTreeSet<String>, theirs: &BTreeSet<String>| {
        ours.symmetric_difference(theirs)
            .map(|name| {
                format!("{what} {name} only {}", if ours.contains(name) { "here" } else { "there" })
            })
            .collect::<Vec<_>>()
    };
    let mut found = differ("field", &fields(ours), &fields(theirs));
    found.extend(differ("required", &required(ours), &required(theirs)));
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn types_have_the_fields_of_a_real_server() {
    let Some(plane) = super::real("openapi: a real kube-apiserver").await else { return };
    let real = plane.client().await.unwrap();
    let server = Server::start(Options::default()).await.unwrap();
    let embedded = server.client();
    let index = document(&embedded, "/openapi/v3").await.unwrap();
    let (mut compared, mut failures) = (0, Vec::new());
    for path in index["paths"].as_object().unwrap().keys() {
        let path = format!("/openapi/v3/{path}");
        let ours = document(&embedded, &path).await.unwrap();
        let Some(theirs) = document(&real, &path).await else {
            failures.push(format!("{path} is not served there"));
            continue;
        };
        for (name, schema) in ours["components"]["schemas"].as_object().unwrap() {
            let other = &theirs["components"]["schemas"][name];
            compared += 1;
            failures.extend(
                differences(schema, other).into_iter().map(|what| format!("{name}: {what}")),
            );
        }
    }
    server.stop().await;
    assert!(compared > 200, "the documents have types");
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}
