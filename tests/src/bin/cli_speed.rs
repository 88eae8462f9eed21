//! `cli_speed [WORKLOADS [PODS]]`: what the command line costs a user, beside kubectl in the same rounds (B40 to B44).
//!
//! It starts `kubectl kai sandbox` as a process of its own and fills it with jobs of so many pods each, 4,000 of one pod
//! unless said. Then every command is run ten times, one after the other in each round, so that a slow moment of the
//! machine is everybody's. Printed are the median, the fastest and the slowest in milliseconds, up to the first line of
//! output and up to the end.
//!
//! ```text
//! cargo build --release --bins && target/release/cli_speed
//! target/release/cli_speed 4000 25     # 100,000 pods
//! ```

use std::{
    env,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kai_tests::{control_plane::say, sandbox::Sandbox};
use kube::{
    Api, Client, Config,
    api::PostParams,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;

const ROUNDS: usize = 10;
/// Requests under way while the cluster is filled.
const AT_ONCE: usize = 32;

/// Names what is run: the id of a benchmark in `docs/performance.md`, the program, and its words.
const COMMANDS: [(&str, &str, &str); 11] = [
    ("B40", "kubectl-kai", "version --client"),
    ("", "kubectl", "version --client"),
    ("B41", "kubectl-kai", "queues default-queue"),
    ("", "kubectl", "get queues.scheduling.run.ai default-queue"),
    ("B42", "kubectl-kai", "list"),
    ("B42", "kubectl-kai", "list --pods"),
    ("", "kubectl", "get jobs"),
    ("", "kubectl", "get pods"),
    ("", "kubectl-kai", "describe w-0007"),
    ("", "kubectl", "describe job w-0007"),
    ("B44", "kubectl-kai", "__complete submit job x --queue d"),
];

#[tokio::main]
async fn main() -> ExitCode {
    match measure().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Result<()> {
    let argument = |at: usize, default: usize| {
        env::args().nth(at).map_or(Ok(default), |text| text.parse::<usize>())
    };
    let (workloads, pods) = (argument(1, 4_000)?, argument(2, 1)?);
    let sandbox = Sandbox::start(&sibling("kubectl-kai")?, "none", &["--operators", "none"])?;
    let begin = Instant::now();
    fill(sandbox.kubeconfig(), workloads, pods).await?;
    say(&format!("{workloads} jobs of {pods} pods each in {:.0?}", begin.elapsed()));
    // What the scheduler and the podgrouper say of them is written before anything is measured.
    tokio::time::sleep(Duration::from_secs(20 + (workloads * pods / 1000) as u64)).await;
    let home = tempfile::tempdir()?;
    let mut times = vec![Vec::new(); COMMANDS.len()];
    for _ in 0..ROUNDS {
        for (times, (_, program, words)) in times.iter_mut().zip(COMMANDS) {
            times.push(time(program, words, sandbox.kubeconfig(), home.path())?);
        }
    }
    say(&format!("{:<4} {:<48} {:>26} {:>26}", "", "", "first line ms", "end ms"));
    for (times, (id, program, words)) in times.into_iter().zip(COMMANDS) {
        let (first, end): (Vec<_>, Vec<_>) = times.into_iter().unzip();
        let what = format!("{program} {words}");
        say(&format!("{id:<4} {what:<48} {:>26} {:>26}", spread(first), spread(end)));
    }
    Ok(())
}

/// The path of another of the project's programs, in the folder of this one.
fn sibling(name: &str) -> Result<PathBuf> {
    Ok(env::current_exe()?.with_file_name(name))
}

async fn fill(kubeconfig: &Path, workloads: usize, pods: usize) -> Result<()> {
    let (file, options) = (Kubeconfig::read_from(kubeconfig)?, KubeConfigOptions::default());
    let client = Client::try_from(Config::from_custom_kubeconfig(file, &options).await?)?;
    let jobs: Api<Job> = Api::default_namespaced(client.clone());
    let created: Vec<Job> = stream::iter((0..workloads).map(|number| {
        let jobs = jobs.clone();
        async move {
            jobs.create(&PostParams::default(), &job(number)?).await.map_err(anyhow::Error::from)
        }
    }))
    .buffered(AT_ONCE)
    .try_collect()
    .await?;
    let api: Api<Pod> = Api::default_namespaced(client);
    let all = created.iter().flat_map(|job| (0..pods).map(move |number| pod(job, number)));
    stream::iter(all.map(|pod| {
        let api = api.clone();
        async move { api.create(&PostParams::default(), &pod?).await.map_err(anyhow::Error::from) }
    }))
    .buffer_unordered(AT_ONCE)
    .try_for_each(|_| async { Ok(()) })
    .await
}

fn container() -> serde_json::Value {
    json!([{"name": "c", "image": "registry.example.com/team/train:1.2.3",
        "command": ["python", "train.py"], "resources": {"limits": {"nvidia.com/gpu": "1"}}}])
}

fn job(number: usize) -> Result<Job> {
    Ok(serde_json::from_value(json!({
        "metadata": {"name": format!("w-{number:04}"), "labels": {"kai.scheduler/queue": "default-queue"}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "schedulerName": "kai-scheduler",
            "containers": container()}}}
    }))?)
}

fn pod(job: &Job, number: usize) -> Result<Pod> {
    let name = job.metadata.name.as_deref().unwrap_or_default();
    Ok(serde_json::from_value(json!({
        "metadata": {"name": format!("{name}-{number:03}"),
            "labels": {"batch.kubernetes.io/job-name": name, "kai.scheduler/queue": "default-queue"},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name,
                "uid": job.metadata.uid, "controller": true}]},
        "spec": {"restartPolicy": "Never", "schedulerName": "kai-scheduler", "containers": container()}
    }))?)
}

/// Runs a command, and gives the time until its first line and until its end.
fn time(
    program: &str,
    words: &str,
    kubeconfig: &Path,
    home: &Path,
) -> Result<(Duration, Duration)> {
    let path = if program == "kubectl" { program.into() } else { sibling(program)? };
    let begin = Instant::now();
    let mut child = Command::new(path)
        .args(words.split(' '))
        .env("HOME", home)
        .env("KUBECONFIG", kubeconfig)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("failed to start {program}"))?;
    let mut output = BufReader::new(child.stdout.take().context("its output is piped")?);
    let mut line = String::new();
    output.read_line(&mut line)?;
    let first = begin.elapsed();
    output.read_to_end(&mut Vec::new())?;
    ensure!(child.wait()?.success(), "{program} {words} failed");
    Ok((first, begin.elapsed()))
}

/// The median of several times, the fastest and the slowest.
fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let millis = |time: &Duration| time.as_secs_f64() * 1000.0;
    let (Some(least), Some(most)) = (times.first(), times.last()) else { return String::new() };
    format!("{:.1} ({:.1}-{:.1})", millis(&times[times.len() / 2]), millis(least), millis(most))
}
