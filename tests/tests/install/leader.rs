//! Two schedulers under one Lease, as a Deployment with two replicas runs them: the leader is killed, and the log says
//! what was decided.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Pod;
use kai_tests::{
    cluster::{Cluster, Setup, processes::start_scheduler},
    control_plane::{assets, say},
};
use kube::{Api, api::PostParams};
use serde_json::json;
use tokio::time::Instant;

use super::SUITE;

/// The Lease's 15 s, what it takes to see the last renewal, and a start from the API server's lists.
const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(18);

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_over_from_a_killed_leader() -> Result<()> {
    let Some(assets) = assets(SUITE) else { return Ok(()) };
    let setup = Setup { nodes: "1xH100:8", operators: None, api_server_flags: &[] };
    let mut cluster = Cluster::start(&assets, setup).await?;
    cluster.scheduler.stop()?;
    let mut leader = start_scheduler(&cluster.plane, "leader", &["--leader-elect"]).await?;
    create(&cluster, "first", 1).await?;
    wait_until_bound(&cluster, "first").await?;
    create(&cluster, "large", 9).await?;
    wait_until_logged(&cluster, "leader", "default/pg-large-", " waits: KAI1").await?;
    let standby = start_scheduler(&cluster.plane, "standby", &["--leader-elect"]).await?;
    wait_until_logged(&cluster, "standby", "standing by", "").await?;
    leader.kill()?;
    let killed = Instant::now();
    create(&cluster, "second", 1).await?;
    wait_until_bound(&cluster, "second").await?;
    let took = killed.elapsed();
    say(&format!("from the death of the leader to the next bind: {:.1} s", took.as_secs_f32()));
    assert!(took < TAKEN_OVER_WITHIN, "it took {took:?}\n{}", standby.log_end()?);
    wait_until_logged(&cluster, "standby", "bound default/second to ", " for pg-second-").await?;
    let log = log(&cluster, "leader")?;
    let said = |part: &str| log.lines().filter(|line| line.contains(part)).count();
    assert_eq!(said("bound default/first to "), 1, "once:\n{log}");
    assert_eq!(said(" waits: KAI1"), 1, "once as long as the reason stays:\n{log}");
    assert!(!log.contains("Status {"), "{log}");
    Ok(())
}

async fn create(cluster: &Cluster, name: &str, gpus: u32) -> Result<()> {
    let pod = json!({"metadata": {"name": name, "labels": {"kai.scheduler/queue": "default-queue"}},
        "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "c", "image": "i",
            "resources": {"limits": {"nvidia.com/gpu": gpus}}}]}});
    let pods: Api<Pod> = Api::default_namespaced(cluster.client().await?);
    pods.create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
    Ok(())
}

async fn wait_until_bound(cluster: &Cluster, name: &str) -> Result<()> {
    let pods: Api<Pod> = Api::default_namespaced(cluster.client().await?);
    cluster
        .wait_until("a bind", async || {
            let pod = pods.get(name).await?;
            let node = pod.spec.and_then(|spec| spec.node_name);
            Ok(node.map(drop).ok_or_else(|| format!("{name} has no node")))
        })
        .await
}

/// Waits for a line with both parts.
async fn wait_until_logged(cluster: &Cluster, name: &str, part: &str, and: &str) -> Result<()> {
    cluster
        .wait_until("a line of the log", async || {
            let log = log(cluster, name)?;
            let is_it = |line: &str| line.contains(part) && line.contains(and);
            Ok(if log.lines().any(is_it) { Ok(()) } else { Err(log) })
        })
        .await
}

fn log(cluster: &Cluster, name: &str) -> Result<String> {
    let file = cluster.plane.folder().join("logs").join(name);
    fs::read_to_string(&file).with_context(|| format!("no {}", file.display()))
}
