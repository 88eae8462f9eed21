//! Past use that cannot be read.

use std::time::Duration;

use anyhow::{Result, ensure};
use kai_api::names::condition;
use kai_tests::cluster::Cluster;
use kube::{
    Client,
    api::{Api, DynamicObject, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::{Value, json};
use tokio::time::sleep;

/// A database of past use that cannot be reached is told in the shard's status, once, and no longer when none is wanted.
pub(super) async fn past_use(cluster: &Cluster, client: &Client) -> Result<()> {
    const ADDRESS: &str = "http://127.0.0.1:9";
    let kind = GroupVersionKind::gvk("kai.scheduler", "v1", "SchedulingShard");
    let shards: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    let wanted = json!({"clientType": "prometheus", "connectionString": format!("{ADDRESS}/hush"),
        "usageParams": {"fetchInterval": "100ms"}});
    for (config, is_told) in [(wanted, true), (Value::Null, false)] {
        let patch = json!({"spec": {"usageDBConfig": config}});
        shards.patch("default", &PatchParams::default(), &Patch::Merge(&patch)).await?;
        let told = async || {
            let rows = shards.get("default").await?.data["status"]["conditions"].take();
            let mut rows = rows.as_array().cloned().unwrap_or_default().into_iter();
            anyhow::Ok(rows.find(|row| row["type"] == condition::USAGE_DATABASE_REACHABLE))
        };
        cluster
            .wait_until("whether past use is read", async || {
                let told = told().await?;
                let seen = told.clone().unwrap_or_default().to_string();
                let is_so = told.is_some_and(|row| {
                    let message = row["message"].as_str().unwrap_or_default();
                    row["status"] == "False"
                        && message.starts_with(ADDRESS)
                        && !message.contains("hush")
                });
                Ok(if is_so == is_told { Ok(()) } else { Err(seen) })
            })
            .await?;
        if is_told {
            let before = told().await?;
            sleep(Duration::from_secs(3)).await;
            ensure!(told().await? == before, "one failure is told once: {before:?}");
        }
    }
    let logs = cluster.logs();
    let lines = logs.lines().filter(|line| line.contains(ADDRESS)).count();
    ensure!((1..=2).contains(&lines), "the log names the address {lines} times");
    Ok(())
}
