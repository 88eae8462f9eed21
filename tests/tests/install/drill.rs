//! The drill of `install --adopt`: cases say which workloads are grouped otherwise than by KAI.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use http::Method;
use kai_sandbox::server::{Options, Server};
use kai_tests::{command_line, stage::scene::documents};
use serde_json::Value;

use super::Objects;

/// Each case is a file: first `says`, a workload and what differs, then the objects that there are.
#[tokio::test(flavor = "multi_thread")]
async fn each_workload_that_is_grouped_otherwise_is_told() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/install/drill");
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        let mut objects = documents(&path)?;
        let says = objects.remove(0)["says"].take();
        let told = drill(objects).await.with_context(|| path.display().to_string())?;
        assert_eq!(told, says, "{}", path.display());
    }
    Ok(())
}

/// Gives by workload what a dry run tells, in a cluster with these objects and a KAI; no object changes by it.
async fn drill(cluster: Vec<Value>) -> Result<Value> {
    let server = Server::start(Options::default()).await?;
    let run = async |line: &str| {
        command_line::kai(server.client(), "default", line.split_whitespace()).await
    };
    run("install apply -y --components crds,queues").await;
    let objects = Objects { client: server.client() };
    objects.apply("kai.yaml").await?;
    let hook = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mutating-kai-admission";
    objects.send(Method::DELETE, hook, &Value::Null).await?;
    objects.apply_all(cluster).await?;
    let before = objects.find("/api/v1/pods").await?;
    let talk = run("install apply --adopt --dry-run").await.talk;
    let report = run("install apply --adopt --dry-run -o json").await.data;
    let report: Value = serde_json::from_str(&report).with_context(|| talk.clone())?;
    let mut told = serde_json::Map::new();
    for row in report["drill"]["differ"].as_array().into_iter().flatten() {
        let workload = row["workload"].as_str().unwrap_or_default();
        assert!(talk.contains(workload), "{talk}");
        told.insert(workload.to_owned(), row["differences"].clone());
    }
    assert!(talk.contains("not tried: order, place"), "{talk}");
    assert_eq!(objects.find("/api/v1/pods").await?["items"], before["items"]);
    server.stop().await;
    Ok(Value::Object(told))
}
