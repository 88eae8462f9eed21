//! The command line on a cluster that KAI v0.17 runs: it works with what KAI writes, and says once what cannot be known.
//!
//! The objects in `cluster.yaml` are as KAI leaves them; no daemon of ours runs.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::path::Path;

use anyhow::{Context as _, Result};
use http::{Method, Request};
use kai_tests::command_line::kai;
use kai_tests::live::Place;
use kai_tests::stage::scene::documents;
use kube::core::{GroupVersionKind, TypeMeta};
use kube::discovery::{Scope, pinned_kind};
use kube::{Client, Resource as _};
use kubectl_kai::Exit;
use serde_json::Value;

/// Says what cannot be known, as `explain` does.
const UNKNOWN: &str = "The scheduler of this cluster says no more than that";

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_works_with_what_kai_writes() -> Result<()> {
    let place = Place::embedded().await?;
    let client = place.admin().await?;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let records = format!("{definitions}/dailyrecords.kai.scheduler");
    send(&client, Method::DELETE, &records, &Value::Null).await?;
    fill(&client).await?;
    for (line, exit, parts) in [
        ("list", Exit::Ok, vec!["runs", "Running", "waits", "Pending (NoCapacity)"]),
        ("list --eta", Exit::Ok, vec!["runs", "waits"]),
        ("describe waits", Exit::Ok, vec!["didn't have enough resources: GPUs", "evicted"]),
        ("explain waits", Exit::Ok, vec!["default/runs", UNKNOWN, "team-a: holds 6"]),
        ("explain queue/team-a", Exit::Ok, vec!["its fair share is 8 GPUs"]),
        ("explain node/node-1", Exit::Ok, vec!["node-1", "6"]),
        ("explain --order", Exit::Ok, vec!["waits"]),
        ("queues", Exit::Ok, vec!["research", "team-a", "6 / 8"]),
        ("queues team-a", Exit::Ok, vec!["6 / 8"]),
        ("top nodes", Exit::Ok, vec!["node-1", "6/8"]),
        ("top gpus", Exit::Ok, vec!["default/runs"]),
        ("top queues", Exit::Ok, vec!["team-a"]),
        ("top workloads", Exit::Ok, vec!["runs"]),
        ("history", Exit::NoScheduler, vec!["KAI itself keeps none"]),
        ("simulate job wish -q team-a --gpu 2 --image busybox", Exit::Ok, vec!["node-1"]),
        (
            "submit job wish -q team-a --gpu 1 --image busybox --dry-run=server",
            Exit::Ok,
            vec!["wish"],
        ),
    ] {
        let said = kai(client.clone(), "default", line.split_whitespace()).await;
        assert_eq!(said.exit, exit, "{line}: {}{}", said.data, said.talk);
        for part in parts {
            assert!(
                said.data.contains(part) || said.talk.contains(part),
                "{line} does not say {part:?}:\n{}{}",
                said.data,
                said.talk
            );
        }
        let times = said.data.matches(UNKNOWN).count() + said.talk.matches(UNKNOWN).count();
        assert!(times <= 1, "{line} says {times} times what it does not know");
    }
    let doctor = kai(client.clone(), "default", ["doctor"]).await;
    assert!(doctor.data.contains("the scheduler is KAI v0.17's own"), "{}", doctor.data);
    place.stop().await;
    Ok(())
}

/// Makes what is in the file, in its order; `UID-OF-NAME` is the UID that the server gave to that Job,
/// `GROUP-OF-NAME` that of its `PodGroup`, and `NOW` the time.
async fn fill(client: &Client) -> Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kai_v017/cluster.yaml");
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let mut uids: Vec<(String, String)> = Vec::new();
    for object in documents(&file)? {
        let mut text = object.to_string().replace("NOW", &now);
        for (placeholder, uid) in &uids {
            text = text.replace(placeholder, uid);
        }
        let mut object: Value = serde_json::from_str(&text)?;
        let name = object["metadata"]["name"].as_str().context("an object has a name")?.to_owned();
        let types: TypeMeta = serde_json::from_value(object.clone())?;
        let (resource, capabilities) =
            pinned_kind(client, &GroupVersionKind::try_from(types)?).await?;
        let of = object["metadata"]["namespace"].as_str().unwrap_or("default");
        let of = (capabilities.scope == Scope::Namespaced).then_some(of);
        let path = kube::core::DynamicObject::url_path(&resource, of);
        let made =
            send(client, Method::POST, &path, &object).await.with_context(|| name.clone())?;
        if !object["status"].is_null() && resource.kind != "Node" {
            let mut told = made.clone();
            told["status"] = object["status"].take();
            let path = format!("{path}/{name}/status");
            send(client, Method::PUT, &path, &told).await.with_context(|| name.clone())?;
        }
        let uid = made["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        match resource.kind.as_str() {
            "Job" => uids.push((format!("UID-OF-{name}"), uid)),
            "PodGroup" => {
                let owner = made["metadata"]["ownerReferences"][0]["name"].as_str();
                uids.push((format!("GROUP-OF-{}", owner.unwrap_or_default()), uid));
            }
            _ => {}
        }
    }
    Ok(())
}

async fn send(client: &Client, method: Method, path: &str, body: &Value) -> Result<Value> {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(body)?;
    client.request(request).await.with_context(|| path.to_owned())
}
