//! Both daemons on a cluster that grows: memory (B27), cold start (B28), all watches broken at once (B30), idling (B31).
//!
//! One filled cluster serves all four. At each size the podgrouper is started twice: the first time it writes what it
//! has to say of the new groups, the second time it is measured. What a daemon does first is checked where what is right
//! is known, and where a daemon that has seen only a part of the cluster would do something else.

use std::{
    fs,
    io::{Error, Result},
    process::Command,
    time::{Duration, Instant},
};

use http::Method;
use serde_json::{Value, json};
use tokio::time::{interval, sleep};

use super::{
    fill::{Corner, Fill, pods},
    load::Load,
    plane::{Child, Plane, free_port},
    process::{Taken, forget_peak, rest},
    scheduler,
};

/// Size of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Added to the ids of what is printed.
    pub(crate) suffix: &'static str,
    pub(crate) nodes: u32,
    pub(crate) pod_bytes: usize,
    /// Pods a node at each size.
    pub(crate) steps: &'static [u32],
    /// The cluster at its largest is idle, and then its watches break.
    pub(crate) is_whole: bool,
}

/// Namespaces whose pods are first and last in every list of pods.
const FIRST: &str = "aa";
const LAST: &str = "zz";
const NODE_OF: &str = "/spec/nodeName";
const GROUP_OF: &str = "/metadata/annotations/pod-group-name";
/// A kubelet tells of its node this often though nothing changed.
const HEARTBEATS: u32 = 300;
const IDLE: Duration = Duration::from_mins(1);

/// Fills a cluster and measures.
pub(crate) async fn run(scale: Scale) -> Result<()> {
    let mut plane = Plane::start().await?;
    let load = Load::new(plane.client().await?);
    load.prepare(scale.nodes).await?;
    for name in [FIRST, LAST] {
        let namespace = json!({"metadata": {"name": name}});
        load.send(Method::POST, "/api/v1/namespaces", &namespace).await?;
    }
    let cold = Corner { load: &load, name: "cold" };
    cold.node("cold-free").await?;
    // Fuller nodes are preferred: who has not seen its pod binds to it.
    cold.node("cold-full").await?;
    cold.holder(LAST, "holder", "cold-full", 8).await?;
    let mut fill = Fill::prepare(&load, scale.nodes, scale.pod_bytes).await?;
    for pods_a_node in scale.steps {
        let size = scale.nodes * pods_a_node;
        fill.up_to(size).await?;
        step(&plane, &cold, &scale, size).await?;
    }
    if scale.is_whole {
        let size = scale.nodes * scale.steps.iter().max().unwrap_or(&0);
        let daemons = Daemons::start(&plane, &load).await?;
        daemons.rest().await?;
        idle(&daemons, &load, &scale, size).await?;
        blind(&mut plane, &daemons, size).await?;
    }
    Ok(())
}

/// Starts each daemon at one size of the cluster, and measures until it rests.
async fn step(plane: &Plane, cold: &Corner<'_>, scale: &Scale, size: u32) -> Result<()> {
    let writer = start_podgrouper(plane)?;
    rest(writer.id()).await?;
    drop(writer);
    let name = format!("grouped-{size}");
    cold.ungrouped(FIRST, &name).await?;
    let started = Instant::now();
    let podgrouper = start_podgrouper(plane)?;
    cold.wait(FIRST, &name, GROUP_OF).await?;
    tell(&podgrouper, "podgrouper", scale, size, started).await?;
    drop(podgrouper);
    let name = format!("bound-{size}");
    cold.waiter(FIRST, &name, 1).await?;
    forget_lease(cold.load).await;
    let started = Instant::now();
    let scheduler = start_scheduler(plane)?;
    let node = cold.wait(FIRST, &name, NODE_OF).await?;
    if node != "cold-free" {
        return Err(Error::other(format!("the first pod was bound to {node}, which has no room")));
    }
    tell(&scheduler, "scheduler", scale, size, started).await
}

/// Prints how long a daemon took to its first decision, and its memory once it rests.
async fn tell(
    daemon: &Child,
    name: &str,
    scale: &Scale,
    size: u32,
    started: Instant,
) -> Result<()> {
    let (wall, taken) = (started.elapsed(), Taken::of(daemon.id())?);
    let suffix = scale.suffix;
    print(&json!({"id": format!("B28{suffix}-{name}"), "size": size, "wall_ms": millis(wall),
        "processor_ms": millis(taken.processor)}))?;
    rest(daemon.id()).await?;
    let taken = Taken::of(daemon.id())?;
    print(
        &json!({"id": format!("B27{suffix}-{name}"), "size": size, "resident_bytes": taken.resident,
        "peak_mib": taken.peak >> 20, "processor_ms": millis(taken.processor)}),
    )
}

/// Both daemons.
struct Daemons {
    scheduler: Child,
    podgrouper: Child,
}

impl Daemons {
    async fn start(plane: &Plane, load: &Load) -> Result<Self> {
        forget_lease(load).await;
        Ok(Self { scheduler: start_scheduler(plane)?, podgrouper: start_podgrouper(plane)? })
    }

    fn each(&self) -> [(&'static str, u32); 2] {
        [("scheduler", self.scheduler.id()), ("podgrouper", self.podgrouper.id())]
    }

    async fn rest(&self) -> Result<()> {
        for (_, pid) in self.each() {
            rest(pid).await?;
        }
        Ok(())
    }
}

fn start_scheduler(plane: &Plane) -> Result<Child> {
    let mut command = scheduler(plane);
    // That a watch expired is told at this level.
    command.env("RUST_LOG", "info,kai_scheduler::watch=debug,hyper=warn,rustls=warn,tower=warn");
    plane.spawn("kai-scheduler", command)
}

fn start_podgrouper(plane: &Plane) -> Result<Child> {
    let program =
        std::path::Path::new(env!("CARGO_BIN_EXE_kai-scheduler")).with_file_name("kai-podgrouper");
    if !program.exists() {
        return Err(Error::other(format!("{} is not built", program.display())));
    }
    let mut command = Command::new(program);
    // As its Deployment has it.
    command.env("MALLOC_ARENA_MAX", "1");
    command
        .arg(format!("--kubeconfig={}", plane.kubeconfig().display()))
        .args(["--metrics-bind-address=0", "--health-probe-bind-address=0"])
        .arg("--namespace=kai-scheduler");
    plane.spawn("kai-podgrouper", command)
}

/// A scheduler that was killed did not give its Lease back, and the next one would wait for it.
async fn forget_lease(load: &Load) {
    let path = "/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases/kai-scheduler";
    // The first time there is none.
    let _ = load.send(Method::DELETE, path, &Value::Null).await;
}

/// B31: what the daemons use while nothing happens, and while nodes say nothing new.
async fn idle(daemons: &Daemons, load: &Load, scale: &Scale, size: u32) -> Result<()> {
    used("B31", daemons, size, sleep(IDLE)).await?;
    let beats = async {
        let mut ticks = interval(Duration::from_secs(1) * HEARTBEATS / scale.nodes.max(1));
        for node in 0..scale.nodes / (HEARTBEATS / 60) {
            ticks.tick().await;
            let now = moment(node);
            let body = json!({"status": {"conditions": [
                {"type": "Ready", "status": "True", "lastHeartbeatTime": now}]}});
            let path = format!("/api/v1/nodes/node-{node:05}/status");
            // One that is late changes the load, not what is right.
            let _ = load.send(Method::PATCH, &path, &body).await;
        }
    };
    used("B31-heartbeats", daemons, size, beats).await
}

/// Some moment, another for each node.
fn moment(node: u32) -> String {
    format!("2026-01-01T{:02}:{:02}:{:02}Z", node / 3600 % 24, node / 60 % 60, node % 60)
}

/// Prints the processor time that each daemon uses meanwhile, in percent of one core.
async fn used(
    id: &str,
    daemons: &Daemons,
    size: u32,
    meanwhile: impl Future<Output = ()>,
) -> Result<()> {
    let before: Vec<Taken> =
        daemons.each().iter().map(|(_, pid)| Taken::of(*pid)).collect::<Result<_>>()?;
    let started = Instant::now();
    meanwhile.await;
    let wall = started.elapsed();
    for ((name, pid), before) in daemons.each().into_iter().zip(before) {
        let used = Taken::of(pid)?.processor.saturating_sub(before.processor);
        let percent = used.as_secs_f64() / wall.as_secs_f64() * 100.0;
        print(&json!({"id": format!("{id}-{name}"), "size": size, "processor_ms": millis(used),
            "processor_percent": percent}))?;
    }
    Ok(())
}

/// B30: the daemons are cut off, others write, and the API server that comes back knows no change from before.
///
/// Two pods wait then. One was made before the pod that fills the node which would be best, and comes long before it in
/// a list of pods: a scheduler that decides while it lists binds it there. The other needs the room of a pod that is gone.
async fn blind(plane: &mut Plane, daemons: &Daemons, size: u32) -> Result<()> {
    let port = plane.port();
    let load = Load::new(plane.client().await?);
    let [taken, gone] = ["taken", "gone"].map(|name| Corner { load: &load, name });
    for name in ["taken-best", "taken-next"] {
        taken.node(name).await?;
    }
    gone.node("gone-only").await?;
    taken.holder(LAST, "holder-best", "taken-best", 7).await?;
    gone.holder(FIRST, "holder-gone", "gone-only", 8).await?;
    daemons.rest().await?;
    let steady: Vec<Taken> =
        daemons.each().iter().map(|(_, pid)| Taken::of(*pid)).collect::<Result<_>>()?;
    plane.restart_at(free_port()?).await?;
    let load = Load::new(plane.client().await?);
    let [taken, gone] = ["taken", "gone"].map(|name| Corner { load: &load, name });
    taken.holder(LAST, "taker", "taken-best", 1).await?;
    taken.waiter(FIRST, "takes-next", 1).await?;
    let path = format!("{}/holder-gone", pods(FIRST));
    load.send(Method::DELETE, &path, &json!({"gracePeriodSeconds": 0})).await?;
    gone.waiter(FIRST, "takes-gone", 8).await?;
    taken.ungrouped(FIRST, "grouped-late").await?;
    for (_, pid) in daemons.each() {
        forget_peak(pid)?;
    }
    plane.restart_at(port).await?;
    let back = Instant::now();
    let load = Load::new(plane.client().await?);
    let corner = Corner { load: &load, name: "taken" };
    let both_bound = async {
        let next = corner.wait(FIRST, "takes-next", NODE_OF).await?;
        let gone = corner.wait(FIRST, "takes-gone", NODE_OF).await?;
        Ok::<_, Error>((next, gone, back.elapsed()))
    };
    let grouped = async {
        corner.wait(FIRST, "grouped-late", GROUP_OF).await?;
        Ok(back.elapsed())
    };
    let ((next, gone, bound), grouped) = tokio::try_join!(both_bound, grouped)?;
    if [&*next, &*gone] != ["taken-next", "gone-only"] {
        return Err(Error::other(format!("bound to {next} and {gone}, where there is no room")));
    }
    daemons.rest().await?;
    for (((name, pid), wall), steady) in
        daemons.each().into_iter().zip([bound, grouped]).zip(steady)
    {
        let now = Taken::of(pid)?;
        print(&json!({"id": format!("B30-{name}"), "size": size, "wall_ms": millis(wall),
            "resident_bytes": now.resident, "peak_mib": now.peak >> 20,
            "processor_ms": millis(now.processor.saturating_sub(steady.processor))}))?;
    }
    is_expired(plane)
}

/// Makes sure that the watches of pods were refused with 410, not resumed.
fn is_expired(plane: &Plane) -> Result<()> {
    for (log, words) in [
        ("kai-scheduler.log", ["listing anew", "410"]),
        ("kai-podgrouper.log", ["v1 Pod", "too old resource version"]),
    ] {
        let text = fs::read_to_string(plane.folder().join(log))?;
        if !text.lines().any(|line| words.iter().all(|word| line.contains(word))) {
            return Err(Error::other(format!("no line of {log} has {words:?}:\n{text}")));
        }
    }
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn print(line: &Value) -> Result<()> {
    std::io::Write::write_all(&mut std::io::stdout(), format!("{line}\n").as_bytes())
}
