//! Benchmarks against a real API server: `cargo xtask bench B20 B22`.
//!
//! Starts etcd and kube-apiserver from the folder in `KUBEBUILDER_ASSETS`; wall times inform, they
//! never gate. B20: pods that wait, from the scheduler's start to its last bind, beside
//! kube-scheduler without client limits in the same run. B22: pods that come at a steady rate, from
//! the request that creates one to its node. B22-share: the same of pods that share GPUs beside others.
//! B27, B28, B30 and B31: both daemons on a large cluster ([`scale`]).
//! Source: docs/performance.md, the scheduler on a real API server.

use std::{
    io::{Error, Result, Write},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

#[path = "live/fill.rs"]
mod fill;
#[path = "live/load.rs"]
mod load;
#[path = "live/plane.rs"]
mod plane;
#[path = "live/process.rs"]
mod process;
#[path = "live/scale.rs"]
mod scale;

use load::{Kind, Load};
use plane::{Child, Plane};
use scale::Scale;

const LIST: &str = r#"{"id":"B20","sizes":[4000],"slope_max":null,"what":"one-GPU pods on size/8 nodes, start to last bind","live":true}
{"id":"B22","sizes":[100],"slope_max":null,"what":"pods a second for 10 s, create to bound","live":true}
{"id":"B22-share","sizes":[100],"slope_max":null,"what":"pods a second for 10 s, each a share of a GPU that is reserved","live":true}
{"id":"B27","sizes":[10000],"slope_max":null,"what":"nodes, up to ten pods of 4 KB on each: memory, cold start (B28), all watches expire (B30), idling (B31)","live":true,"also":["B28","B30","B31"]}
{"id":"B27-large","sizes":[10000],"slope_max":null,"what":"nodes, up to three pods of 15 KB on each: memory and cold start (B28)","live":true,"also":["B28-large"]}"#;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match words[..] {
        ["--list"] => writeln!(std::io::stdout(), "{LIST}"),
        ["B20", size] => runtime.block_on(fill(number(size)?)),
        ["B22", rate] => runtime.block_on(arrivals("B22", number(rate)?, Kind::Whole)),
        ["B22-share", rate] => runtime.block_on(arrivals("B22-share", number(rate)?, Kind::Share)),
        ["B27", nodes] => runtime.block_on(scale::run(Scale {
            suffix: "",
            nodes: number(nodes)?,
            pod_bytes: 4_000,
            steps: &[1, 3, 10],
            is_whole: true,
        })),
        ["B27-large", nodes] => runtime.block_on(scale::run(Scale {
            suffix: "-large",
            nodes: number(nodes)?,
            pod_bytes: 15_000,
            steps: &[1, 2, 3],
            is_whole: false,
        })),
        // `cargo bench` of the workspace runs every target; without an order there is nothing to do.
        _ => writeln!(
            std::io::stderr(),
            "usage: live --list | B20 PODS | B22 PODS_PER_SECOND | B22-share PODS_PER_SECOND | B27 NODES | B27-large NODES"
        ),
    }
}

/// Says how far a long run is.
fn say(line: &str) -> Result<()> {
    writeln!(std::io::stderr(), "{line}")
}

fn number(text: &str) -> Result<u32> {
    text.parse().map_err(|_| Error::other(format!("{text} is no size")))
}

/// B20: all pods are there before the scheduler starts.
async fn fill(pods: u32) -> Result<()> {
    let plane = Plane::start().await?;
    let load = Load::new(plane.client().await?);
    load.prepare(pods.div_ceil(8)).await?;
    load.groups("kai", pods).await?;
    load.pods("kai", pods, "kai-scheduler").await?;
    let started = Instant::now();
    let scheduler = start_scheduler(&plane)?;
    load.wait_until_bound().await?;
    print("B20", pods, started.elapsed())?;
    drop(scheduler);
    let Some(binary) = plane.asset("kube-scheduler") else { return Ok(()) };
    load.clear().await?;
    load.pods("kube", pods, "default-scheduler").await?;
    let started = Instant::now();
    let _peer = start_kube_scheduler(&plane, &binary)?;
    load.wait_until_bound().await?;
    print("B20-kube-scheduler", pods, started.elapsed())
}

/// B22: pods come while the scheduler runs.
async fn arrivals(id: &str, rate: u32, kind: Kind) -> Result<()> {
    const SECONDS: u32 = 10;
    let plane = Plane::start().await?;
    let load = Load::new(plane.client().await?);
    let nodes = match kind {
        Kind::Whole => (rate * SECONDS).div_ceil(8) + 1,
        // Eleven more fit on a GPU, and fewer than 110 on a node.
        Kind::Share => (rate * SECONDS).div_ceil(80) + 1,
    };
    load.prepare(nodes).await?;
    if matches!(kind, Kind::Share) {
        load.reservations(nodes - 1).await?;
    }
    load.groups("kai", rate * SECONDS).await?;
    let _scheduler = start_scheduler(&plane)?;
    // One pod shows that it runs.
    load.groups("first", 1).await?;
    load.pods("first", 1, "kai-scheduler").await?;
    load.wait_until_bound().await?;
    let mut latencies = load.arrivals(rate, SECONDS, kind).await?;
    latencies.sort_unstable();
    let at = |part: usize| latencies[(latencies.len() - 1) * part / 100];
    print(&format!("{id}-p50"), rate, at(50))?;
    print(&format!("{id}-p99"), rate, at(99))
}

fn start_scheduler(plane: &Plane) -> Result<Child> {
    plane.spawn("kai-scheduler", scheduler(plane))
}

fn scheduler(plane: &Plane) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kai-scheduler"));
    command.arg("--kubeconfig").arg(plane.kubeconfig()).arg("--listen-address=127.0.0.1:0");
    command
}

/// kube-scheduler as fast as it goes: no client limits.
fn start_kube_scheduler(plane: &Plane, binary: &Path) -> Result<Child> {
    let config = plane.folder().join("kube-scheduler.yaml");
    let text = format!(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
         leaderElection: {{leaderElect: false}}\n\
         clientConnection: {{kubeconfig: \"{}\", qps: 5000, burst: 5000}}\n",
        plane.kubeconfig().display()
    );
    std::fs::write(&config, text)?;
    let mut command = Command::new(binary);
    command.arg("--config").arg(config).arg("--secure-port=0");
    plane.spawn("kube-scheduler", command)
}

fn print(id: &str, size: u32, wall: Duration) -> Result<()> {
    let wall_ms = wall.as_secs_f64() * 1000.0;
    writeln!(std::io::stdout(), r#"{{"id":"{id}","size":{size},"wall_ms":{wall_ms:.1}}}"#)
}
