//! Many mixed submissions on a real kube-apiserver while the daemons are killed, doubled and started again: every promise
//! holds at every moment, seen from outside.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Result;
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kai_tests::{
    cluster::{Cluster, Setup},
    control_plane::assets,
    observer::Observer,
};
use kube::{
    Api, ResourceExt,
    api::{ListParams, PostParams},
};
use tokio::time::sleep;

/// Jobs of a run: gangs of 1 to 4 pods with 1 to 4 GPUs, and pairs of half GPUs.
const JOBS: usize = 100;

async fn start(suite: &str) -> Result<Option<Cluster>> {
    let Some(assets) = assets(suite) else { return Ok(None) };
    let setup = Setup { nodes: "100xH100:8", operators: None, api_server_flags: &[] };
    let cluster = Cluster::start(&assets, setup).await?;
    cluster.kai_ok(&["queues", "create", "team-a", "--gpu-quota", "800", "--yes"])?;
    Ok(Some(cluster))
}

/// Gives the number of pods of the `index`-th Job.
fn pods_of(index: usize) -> usize {
    1 + index % 4
}

/// The `index`-th Job: all of its pods start together or not at all.
fn job(index: usize) -> Result<Job> {
    let (pods, gpus) = (pods_of(index), 1 + (index / 4) % 4);
    let half = index.is_multiple_of(5);
    let gpu = if half { String::new() } else { format!("limits: {{nvidia.com/gpu: \"{gpus}\"}}") };
    let fraction = if half { ", gpu-fraction: \"0.5\"" } else { "" };
    let yaml = format!(
        "apiVersion: batch/v1\nkind: Job\n\
         metadata: {{name: job-{index}, labels: {{kai.scheduler/queue: team-a}}, annotations: {{kai.scheduler/batch-min-member: \"{pods}\"}}}}\n\
         spec:\n  parallelism: {pods}\n  completions: {pods}\n  template:\n    metadata: {{annotations: {{sandbox.kai.scheduler/run-seconds: \"3600\"{fraction}}}}}\n\
         \x20   spec:\n      schedulerName: kai-scheduler\n      restartPolicy: Never\n      containers:\n\
         \x20     - {{name: main, image: busybox, resources: {{{gpu}}}}}\n"
    );
    Ok(serde_saphyr::from_str(&yaml)?)
}

async fn create_jobs(cluster: &Cluster, range: std::ops::Range<usize>) -> Result<()> {
    let jobs: Api<Job> = Api::default_namespaced(cluster.client().await?);
    for index in range {
        jobs.create(&PostParams::default(), &job(index)?).await?;
    }
    Ok(())
}

/// Waits until every pod of the first `jobs` Jobs is bound: there is room for all of them.
async fn wait_until_bound(cluster: &Cluster, jobs: usize) -> Result<()> {
    let api: Api<Pod> = Api::default_namespaced(cluster.client().await?);
    let wanted: usize = (0..jobs).map(pods_of).sum();
    cluster
        .wait_until("all pods to be bound", async || {
            let list = api.list(&ListParams::default()).await?;
            let on_node =
                |pod: &&Pod| pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
            let bound = list.items.iter().filter(on_node).count();
            Ok(if bound == wanted { Ok(()) } else { Err(format!("{bound} of {wanted} bound")) })
        })
        .await
}

/// The fewest pods of each group, read from the `PodGroup`s themselves.
async fn minimums(cluster: &Cluster) -> Result<BTreeMap<String, usize>> {
    let groups: Api<kai_api::pod_group::PodGroup> = Api::all(cluster.client().await?);
    let list = groups.list(&ListParams::default()).await?;
    Ok(list
        .items
        .iter()
        .map(|group| {
            let name = format!("{}/{}", group.namespace().unwrap_or_default(), group.name_any());
            let min = group.spec.min_member.unwrap_or(1);
            (name, usize::try_from(min).unwrap_or_default())
        })
        .collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_daemons_converge_and_no_promise_breaks() -> Result<()> {
    let Some(mut cluster) = start("reliability: kill -9").await? else { return Ok(()) };
    let observer = Observer::start(cluster.client().await?).await?;
    for (round, pause_ms) in [40, 170, 5, 90, 300].into_iter().enumerate() {
        let size = JOBS / 5;
        create_jobs(&cluster, round * size..(round + 1) * size).await?;
        sleep(Duration::from_millis(pause_ms)).await;
        cluster.scheduler.kill()?;
        cluster.podgrouper.kill()?;
        cluster.restart_podgrouper().await?;
        cluster.restart_scheduler().await?;
    }
    wait_until_bound(&cluster, JOBS).await?;
    finish(&cluster, observer).await
}

#[tokio::test(flavor = "multi_thread")]
async fn two_schedulers_of_one_name_never_bind_twice() -> Result<()> {
    let Some(cluster) = start("reliability: two schedulers").await? else { return Ok(()) };
    let observer = Observer::start(cluster.client().await?).await?;
    let second = cluster.second_scheduler().await?;
    create_jobs(&cluster, 0..JOBS).await?;
    wait_until_bound(&cluster, JOBS).await?;
    drop(second);
    finish(&cluster, observer).await
}

async fn finish(cluster: &Cluster, observer: Observer) -> Result<()> {
    let minimums = minimums(cluster).await?;
    let seen = observer.finish().await?;
    assert_eq!(seen.findings, [""; 0]);
    let partial = seen.partial_gangs(|group| minimums.get(group).copied().unwrap_or(1));
    assert_eq!(partial, [""; 0]);
    let pods: Api<Pod> = Api::default_namespaced(cluster.client().await?);
    assert_eq!(seen.binds(), pods.list(&ListParams::default()).await?.items.len());
    Ok(())
}
