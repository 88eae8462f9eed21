//! How much memory the podgrouper holds for many pods: `podgrouper_memory [PODS]`, 100,000 unless said.
//!
//! An embedded API server in this process holds the pods, in gangs of 1,000; `kai-podgrouper` from the same folder runs
//! as a process of its own and groups all of them. Printed is its resident memory when every pod is marked.

use std::{
    env, fs,
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use kai_tests::{control_plane::say, stage::Stage};
use serde_json::json;
use tokio::time::sleep;

const GANG: usize = 1_000;

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
    let pods: usize = env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let mut stage = Stage::start(&[]).await?;
    let container = json!([{"name": "c", "image": "registry.example.com/team/train:1.2.3",
        "command": ["python", "train.py"], "resources": {"limits": {"nvidia.com/gpu": "1"}}}]);
    for gang in 0..pods.div_ceil(GANG) {
        let job = format!("job-{gang}");
        stage
            .create(&json!({"apiVersion": "batch/v1", "kind": "Job",
                "metadata": {"name": job, "labels": {"kai.scheduler/queue": "default-queue"}},
                "spec": {"suspend": true, "template": {"spec": {"restartPolicy": "Never", "containers": container}}}}))
            .await?;
        for number in 0..GANG.min(pods - gang * GANG) {
            stage
                .create(&json!({"apiVersion": "v1", "kind": "Pod",
                    "metadata": {"name": format!("{job}-{number:05}"),
                        "labels": {"batch.kubernetes.io/job-name": job, "job-name": job,
                            "batch.kubernetes.io/controller-uid": format!("$(Job/{job})"),
                            "controller-uid": format!("$(Job/{job})")},
                        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": job,
                            "uid": format!("$(Job/{job})")}]},
                    "spec": {"schedulerName": "kai-scheduler", "containers": container}}))
                .await?;
        }
    }
    let kubeconfig = tempfile::NamedTempFile::new()?;
    fs::write(kubeconfig.path(), stage.kubeconfig())?;
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
    let mut marked = 0;
    while marked < pods {
        sleep(Duration::from_secs(10)).await;
        ensure!(podgrouper.try_wait()?.is_none(), "the podgrouper ended");
        let list = stage.list("v1", "Pod").await?;
        let is_marked =
            |pod: &&serde_json::Value| !pod["metadata"]["annotations"]["pod-group-name"].is_null();
        marked = list.iter().filter(is_marked).count();
        say(&format!("{marked} of {pods} pods marked"));
    }
    sleep(Duration::from_secs(5)).await;
    let status = fs::read_to_string(format!("/proc/{}/status", podgrouper.id()))?;
    for line in status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"))
    {
        say(line);
    }
    podgrouper.kill()?;
    podgrouper.wait()?;
    stage.end().await
}
