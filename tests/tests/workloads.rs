//! Some sixty workloads: what real operators make of them is grouped, bound and run on a real kube-apiserver.
//!
//! `workloads/*.yaml` say what is submitted and what must come of it. `KAI_RECORD=1` writes what the operators made into
//! `podgrouper/tests/recorded`, which `cargo test` replays without a cluster.

use std::{env, path::Path, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use kai_tests::{
    cluster::{Cluster, Setup},
    control_plane::{assets, operators_command},
    recording,
    workload::{self, Seen, Workload},
};
use kube::Client;
use tokio::time::{Instant, sleep};

/// Time that all workloads of a cluster may take together.
const TIMEOUT: Duration = Duration::from_mins(8);
/// Between two looks, and between the steps of a workload's life.
const PAUSE: Duration = Duration::from_millis(500);
const STEP_PAUSE: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread")]
async fn job_sets_leader_worker_sets_train_jobs_and_mpi_jobs() -> Result<()> {
    run(&["jobset", "lws", "trainer", "mpi"], &["jobset", "lws", "trainer", "mpi"]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn ray_training_argo_and_kubernetes_itself() -> Result<()> {
    run(&["ray", "training", "argo"], &["ray", "training", "argo", "kubernetes"]).await
}

/// Starts the operators and takes every workload of these kinds through its life.
async fn run(operators: &[&str], kinds: &[&str]) -> Result<()> {
    let (Some(assets), Some(command)) = (assets("workloads"), operators_command("workloads"))
    else {
        return Ok(());
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads");
    let only = env::var("KAI_TEST_WORKLOAD").unwrap_or_default();
    let mut workloads = workload::read(&folder)?;
    workloads.retain(|one| kinds.contains(&one.operator.as_str()) && one.name.contains(&only));
    if workloads.is_empty() {
        return Ok(());
    }
    let setup =
        Setup { nodes: "8xH100:8", operators: Some((&command, operators)), api_server_flags: &[] };
    let cluster = Cluster::start(&assets, setup).await?;
    let client = cluster.client().await?;
    let lives = workloads.iter().map(|one| life(&client, one));
    let results = futures::future::join_all(lives).await;
    let failures: Vec<String> =
        results.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
    ensure!(
        failures.is_empty(),
        "{} of {}:\n{}\n{}",
        failures.len(),
        workloads.len(),
        failures.join("\n"),
        cluster.logs()
    );
    Ok(())
}

/// Submits a workload and watches it until everything is as its file says.
async fn life(client: &Client, workload: &Workload) -> Result<()> {
    let mut seen = Seen::default();
    workload.submit(client).await?;
    let end = Instant::now() + TIMEOUT;
    let pause = async || {
        sleep(STEP_PAUSE).await;
        ensure!(Instant::now() < end, "{}: a step's pods did not come", workload.name);
        Ok(())
    };
    workload.go_on(client, pause).await?;
    let mut file = None;
    loop {
        workload.look(client, &mut seen).await?;
        let findings = workload.findings(&seen);
        // Owners go when their work is done: what is to be recorded is read while they are there.
        if findings.iter().all(|finding| finding.ends_with("ran through"))
            && let Ok(found) = recording::record(client, workload, &seen).await
        {
            file = Some(found);
        }
        if findings.is_empty() {
            break;
        }
        if Instant::now() > end {
            bail!("{} ({}): {}", workload.name, workload.what, findings.join("; "));
        }
        sleep(PAUSE).await;
    }
    let file = file.with_context(|| format!("{}: its owners could not be read", workload.name))?;
    if env::var_os("KAI_RECORD").is_some() {
        recording::write(workload, &recording::to_yaml(&file)?)?;
    }
    Ok(())
}
