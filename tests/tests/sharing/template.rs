//! Reservation pods as they are made, whole: what the scheduler posts, by its flags and the pod that asks first.
//!
//! `tests/reservation-pods/*.yaml` hold one template each: the flags, and the pod with `$(name)` and `$(group)` where the
//! scheduler draws a group. Each is written from the contract, not from what was posted.
//! Source: docs/contract.md 2.2, 2.4, 4.5 and 11.2.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use http::{Method, Request};
use kai_api::names::{component, label};
use kube::{Client, api::PostParams, client::Body};
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::world::{Killable, Setup, Share, Wanted, World};

/// Time that the reservation pod may take to be made.
const WITHIN: Duration = Duration::from_mins(1);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Golden {
    what: String,
    flags: Vec<String>,
    pod: Value,
}

/// A client that hands on what it posts to the namespace of reservation pods.
fn listening(inner: Client, posted: mpsc::UnboundedSender<Value>) -> Client {
    let posted = Arc::new(Mutex::new(posted));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (inner, posted) = (inner.clone(), Arc::clone(&posted));
        async move {
            let path = request.uri().path();
            let is_meant = *request.method() == Method::POST
                && path.ends_with("/namespaces/kai-resource-reservation/pods");
            if !is_meant {
                return inner.send(request).await;
            }
            let (head, body) = request.into_parts();
            let bytes = body.collect_bytes().await?;
            let pod = serde_json::from_slice(&bytes).map_err(kube::Error::SerdeError)?;
            // Nobody listens once the first was heard.
            let _ = posted.lock().unwrap_or_else(PoisonError::into_inner).send(pod);
            inner.send(Request::from_parts(head, Body::from(bytes.to_vec()))).await
        }
    });
    Client::new(service, "default")
}

/// The first reservation pod that a scheduler with these flags makes.
async fn made(flags: &[String]) -> Result<Value> {
    let one = Wanted {
        name: "one-0".into(),
        group: "one".into(),
        share: Share::Hundredths(50),
        devices: 1,
        has_claim: false,
    };
    let mut asking = one.body();
    asking["spec"]["tolerations"] = json!([
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "team", "operator": "Equal", "value": "a", "effect": "NoExecute", "tolerationSeconds": 60},
    ]);
    let world = World::start(Setup {
        nodes: "1xH100:1",
        reservation_millis: 20..=20,
        wanted: vec![one],
        converge_max: WITHIN,
    })
    .await?;
    world.pods().create(&PostParams::default(), &serde_json::from_value(asking)?).await?;
    let (posted, mut heard) = mpsc::unbounded_channel();
    let client = listening(world.place.account(component::SCHEDULER).await?, posted);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let scheduler = Killable::start_with(client, &flags)?;
    let pod = tokio::time::timeout(WITHIN, heard.recv()).await;
    drop(scheduler);
    world.stop().await?;
    pod.context("no reservation pod was made")?.context("the scheduler is gone")
}

/// The pod's name by the contract: 16 hexadecimal digits of the hash of node and group.
fn name(node: &str, group: &str) -> String {
    let hash = digest(&SHA256, format!("{node}/{group}").as_bytes());
    let digits = hash.as_ref()[..8].iter().map(|byte| format!("{byte:02x}"));
    format!("gpu-reservation-{}", digits.collect::<String>())
}

/// Without tolerations that the API server gives to every pod.
fn without_defaults(pod: &mut Value) {
    if let Some(tolerations) = pod["spec"]["tolerations"].as_array_mut() {
        tolerations.retain(|one| {
            !one["key"].as_str().is_some_and(|key| key.starts_with("node.kubernetes.io/"))
        });
    }
}

fn diff(wanted: &Value, made: &Value) -> String {
    let [wanted, made] = [wanted, made].map(|pod| format!("{pod:#}"));
    let diff = similar::TextDiff::from_lines(&wanted, &made);
    diff.unified_diff().header("contract", "made").to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn reservation_pods_are_made_as_the_contract_has_them() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reservation-pods");
    let mut count = 0;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let text = fs::read_to_string(&path)?;
        let golden: Golden = serde_saphyr::from_str(&text).with_context(|| text.clone())?;
        let mut made = made(&golden.flags).await.with_context(|| golden.what.clone())?;
        without_defaults(&mut made);
        let group = made["metadata"]["labels"][label::GPU_GROUP].as_str().unwrap_or_default();
        assert!(uuid::Uuid::parse_str(group).is_ok(), "{group:?} is no UUID");
        let wanted = golden.pod.to_string();
        let wanted = wanted.replace("$(group)", group).replace("$(name)", &name("node-1", group));
        let wanted: Value = serde_json::from_str(&wanted)?;
        assert!(made == wanted, "{}: {}\n{}", path.display(), golden.what, diff(&wanted, &made));
        count += 1;
    }
    assert_eq!(count, 3, "templates in {}", folder.display());
    Ok(())
}
