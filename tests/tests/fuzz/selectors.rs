//! Label and field selectors, on the embedded API server and on a real one.

use std::{collections::BTreeSet, fmt::Write as _};

use anyhow::Result;
use http::{Method, StatusCode};
use kai_sandbox::server::{Options, Server};
use kai_tests::control_plane::{ControlPlane, assets};
use kube::Client;
use serde_json::{Value, json};

use super::{drawn, requests::send, spoil};

const SELECTORS: &[(&str, &str)] = &[
    ("labelSelector", "a=b"),
    ("labelSelector", "a==b,c!=d"),
    ("labelSelector", "a in (b, c),!e"),
    ("labelSelector", "a notin (b,c),x.example/y"),
    ("labelSelector", "n>1,n<5"),
    ("labelSelector", "a"),
    ("labelSelector", "a in (),c"),
    ("fieldSelector", "metadata.name=a"),
    ("fieldSelector", "metadata.name!=a,metadata.namespace=default"),
    ("fieldSelector", "metadata.name==b"),
    ("fieldSelector", "metadata.name=a\\,b,metadata.name!=\\\\c\\="),
];

async fn fill(client: &Client) -> Result<()> {
    let rows = [
        ("a", json!({"a": "b", "c": "d"})),
        ("b", json!({"a": "c", "n": "3"})),
        ("c", json!({"e": "", "x.example/y": "z", "n": "9"})),
        ("d", json!({"a": "", "n": "x"})),
    ];
    for (name, labels) in rows {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}});
        let path = "/api/v1/namespaces/default/configmaps";
        let (status, answer) = send(client, Method::POST, path, map.to_string()).await?;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
    }
    Ok(())
}

/// The names that a selector finds.
async fn found(client: &Client, key: &str, text: &str) -> Result<(StatusCode, BTreeSet<String>)> {
    let mut path = format!("/api/v1/namespaces/default/configmaps?{key}=");
    for byte in text.bytes() {
        write!(path, "%{byte:02X}")?;
    }
    let (status, list) = send(client, Method::GET, &path, String::new()).await?;
    let names = list["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|item: &Value| item["metadata"]["name"].as_str());
    // Made by a controller where there is one.
    let names = names.filter(|name| *name != "kube-root-ca.crt").map(str::to_owned).collect();
    Ok((status, names))
}

#[tokio::test(flavor = "multi_thread")]
async fn selectors_find_what_a_real_server_finds() -> Result<()> {
    let Some(assets) = assets("fuzz of selectors: a real kube-apiserver") else { return Ok(()) };
    let plane = ControlPlane::start(&assets, &[]).await?;
    let real = plane.client().await?;
    let server = Server::start(Options::default()).await?;
    let embedded = server.client();
    fill(&real).await?;
    fill(&embedded).await?;
    let (mut taken, mut other) = (0, Vec::new());
    let all = 0..SELECTORS.len();
    for (at, next, damage) in drawn((all.clone(), all, spoil::damage()), 8) {
        let ((key, text), (of, next)) = (SELECTORS[at], SELECTORS[next]);
        // All parts of one have to hold.
        let text = if of == key { format!("{text},{next}") } else { text.to_owned() };
        // The real server's lexer takes a NUL for the end of a label selector.
        let text = spoil::text(&text, damage).replace('\0', "");
        let theirs = found(&real, key, &text).await?;
        let ours = found(&embedded, key, &text).await?;
        taken += u32::from(theirs.0.is_success());
        if ours != theirs {
            other.push(format!("{key} {text:?}: ours {ours:?}, real {theirs:?}"));
        }
    }
    server.stop().await;
    assert!(taken > 10, "the real server took {taken} selectors only");
    assert!(other.is_empty(), "{} came out otherwise:\n{}", other.len(), other.join("\n"));
    Ok(())
}
