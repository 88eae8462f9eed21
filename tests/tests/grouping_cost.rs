//! Requests of the podgrouper to the API server: counted on an embedded one, so that the counts are the same in every
//! run.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Result, ensure};
use kai_tests::{
    control_plane::say,
    stage::{Call, Stage, scene::is_write},
};
use serde_json::{Value, json};
use tokio::time::sleep;

/// Reads that a gang costs, whatever its size: discovery of its kind, and its owner as metadata.
const READS: usize = 2;

#[tokio::test(start_paused = true)]
async fn a_flat_gang_costs_one_write_and_a_patch_per_pod() -> Result<()> {
    say("pods  PodGroup writes  pod patches  reads  status writes  writes in an idle hour");
    for pods in [1, 10, 100, 1_000] {
        let counted = count(pods).await?;
        let row = |key: &str| counted.get(key).copied().unwrap_or(0);
        say(&format!(
            "{pods:4}  {:15}  {:11}  {:5}  {:13}  {:22}",
            row("groups"),
            row("pods"),
            row("reads"),
            row("statuses"),
            row("idle")
        ));
        let wanted = [("groups", 1), ("pods", pods), ("reads", READS), ("other", 0), ("idle", 0)];
        for (what, want) in wanted {
            ensure!(
                row(what) == want,
                "{} {what} for {pods} pods, want {want}: {counted:?}",
                row(what)
            );
        }
        // A record of the day is written for crowds: a gang is in one of them, or its first pod is in one of its own.
        ensure!(row("records") <= 2, "{} records for {pods} pods", row("records"));
    }
    Ok(())
}

/// Requests by what they are for, but for watches.
async fn count(pods: usize) -> Result<BTreeMap<&'static str, usize>> {
    // Records are due by the wall clock, which would stand still in an hour of tokio's; at noon no day ends.
    kai_daemon::clock::follow_tokio("2026-01-01T12:00:00Z".parse()?);
    let mut stage = Stage::start(&[]).await?;
    let container = json!([{"name": "c", "image": "i"}]);
    stage
        .create(&json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
            "spec": {"suspend": true, "template": {"spec": {"restartPolicy": "Never", "containers": container}}}}))
        .await?;
    stage.start_podgrouper().await?;
    sleep(Duration::from_secs(5)).await;
    stage.tape.take();
    let owner = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "$(Job/j)"}]);
    for number in 0..pods {
        stage
            .create(&json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": format!("p{number}"), "ownerReferences": owner},
                "spec": {"schedulerName": "kai-scheduler", "containers": container}}))
            .await?;
    }
    sleep(Duration::from_secs(30)).await;
    let marked = stage.list("v1", "Pod").await?;
    let is_marked = |pod: &&Value| !pod["metadata"]["annotations"]["pod-group-name"].is_null();
    ensure!(marked.iter().filter(is_marked).count() == pods, "pods without a PodGroup");
    let mut counted = BTreeMap::new();
    for call in stage.tape.take() {
        if let Some(what) = purpose(&call) {
            *counted.entry(what).or_default() += 1;
        }
    }
    sleep(Duration::from_hours(1)).await;
    let idle = stage.tape.take();
    let writes = idle.iter().filter(|call| is_write(call) || purpose(call) == Some("records"));
    counted.insert("idle", writes.count());
    stage.end().await?;
    Ok(counted)
}

fn purpose(call: &Call) -> Option<&'static str> {
    Some(match call.verb.as_str() {
        "WATCH" => return None,
        "GET" => "reads",
        _ if call.path.ends_with("/status") => "statuses",
        _ if call.path.contains("/dailyrecords") => "records",
        "POST" if call.path.ends_with("/podgroups") => "groups",
        "PATCH" if call.path.contains("/podgroups/") => "groups",
        "PATCH" if call.path.contains("/pods/") => "pods",
        _ => "other",
    })
}
