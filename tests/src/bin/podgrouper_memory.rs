//! Measures the memory that the podgrouper holds for many pods: `podgrouper_memory [PODS [GANG]]`, 100,000 pods in
//! gangs of 1,000 unless said.
//!
//! An embedded API server in this process holds the pods; `kai-podgrouper` from the same folder runs as a process of
//! its own and groups all of them. Printed is its resident memory when every pod is marked, in all and at its highest;
//! `RssAnon` is what it holds itself, the rest are pages of the program.

use std::{
    env, fs,
    process::{Child, Command, ExitCode, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kai_tests::{control_plane::say, stage::Stage};
use kube::{
    Api, ResourceExt,
    api::{ListParams, PartialObjectMeta, PostParams},
};
use serde_json::json;
use tokio::time::sleep;

#[tokio::main]
async fn main() -> ExitCode {
    match measure().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Result<()> {
    let argument = |at: usize, default: usize| {
        env::args().nth(at).map_or(Ok(default), |text| text.parse::<usize>())
    };
    let (pods, gang_pods) = (argument(1, 100_000)?, argument(2, 1_000)?.max(1));
    let mut stage = Stage::start(&[]).await?;
    let container = json!([{"name": "c", "image": "registry.example.com/team/train:1.2.3",
        "command": ["python", "train.py"], "resources": {"limits": {"nvidia.com/gpu": "1"}}}]);
    let api: Api<Pod> = Api::default_namespaced(stage.client());
    let mut lasts = Vec::new();
    for gang in 0..pods.div_ceil(gang_pods) {
        let job = format!("job-{gang}");
        stage
            .create(&json!({"apiVersion": "batch/v1", "kind": "Job",
                "metadata": {"name": job, "labels": {"kai.scheduler/queue": "default-queue"}},
                "spec": {"suspend": true, "template": {"spec": {"restartPolicy": "Never", "containers": container}}}}))
            .await?;
        let count = gang_pods.min(pods - gang * gang_pods);
        lasts.push(format!("{job}-{:05}", count - 1));
        for number in 0..count {
            let pod = stage.resolve(&json!({
                "metadata": {"name": format!("{job}-{number:05}"),
                    "labels": {"batch.kubernetes.io/job-name": job, "job-name": job,
                        "batch.kubernetes.io/controller-uid": format!("$(Job/{job})"),
                        "controller-uid": format!("$(Job/{job})")},
                    "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": job,
                        "uid": format!("$(Job/{job})")}]},
                "spec": {"schedulerName": "kai-scheduler", "containers": container}}))?;
            api.create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
        }
    }
    let kubeconfig = tempfile::NamedTempFile::new()?;
    fs::write(kubeconfig.path(), stage.kubeconfig()?)?;
    let program = env::current_exe()?.with_file_name("kai-podgrouper");
    let mut podgrouper = Command::new(&program)
        .arg(format!("--kubeconfig={}", kubeconfig.path().display()))
        .args([
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
            "--namespace=kai-scheduler",
        ])
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("failed to start {}", program.display()))?;
    wait_marked(&api, lasts, pods, &mut podgrouper).await?;
    sleep(Duration::from_secs(5)).await;
    let status = fs::read_to_string(format!("/proc/{}/status", podgrouper.id()))?;
    let is_told =
        |line: &&str| ["VmHWM", "VmRSS", "RssAnon"].iter().any(|key| line.starts_with(key));
    status.lines().filter(is_told).for_each(say);
    podgrouper.kill()?;
    podgrouper.wait()?;
    stage.end().await
}

fn is_marked(pod: &PartialObjectMeta<Pod>) -> bool {
    pod.annotations().contains_key("pod-group-name")
}

/// Waits until all pods are marked, while the podgrouper runs.
async fn wait_marked(
    api: &Api<Pod>,
    mut lasts: Vec<String>,
    pods: usize,
    podgrouper: &mut Child,
) -> Result<()> {
    // The gangs' last pods first: to look at all of them costs the API server more than to group them.
    while let Some(name) = lasts.last() {
        ensure!(podgrouper.try_wait()?.is_none(), "the podgrouper ended");
        if is_marked(&api.get_metadata(name).await?) {
            lasts.pop();
        } else {
            say(&format!("{} gangs left", lasts.len()));
            sleep(Duration::from_secs(2)).await;
        }
    }
    loop {
        let list = api.list_metadata(&ListParams::default()).await?;
        let marked = list.items.iter().filter(|pod| is_marked(pod)).count();
        say(&format!("{marked} of {pods} pods marked"));
        if marked == pods {
            break;
        }
        sleep(Duration::from_secs(2)).await;
    }
    Ok(())
}
