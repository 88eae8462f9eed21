//! What a decision costs, over sizes.
//!
//! `decision ID SIZE` prints one JSON line a measurement: `id`, `size`, `wall_ms` (the median). `--once` runs the measured
//! part once, for callgrind with `--toggle-collect='*measured*'`. `--list` prints what there is.

#![expect(clippy::disallowed_types, reason = "a benchmark reads the clock")]

use std::{
    hint::black_box,
    io::{self, Write},
    time::Instant,
};

use kai_engine::{
    Cluster, Config, Delta, GpuRequest, Gpus, Group, GroupId, Lane, Limit, Node, NodeId, Owner,
    PerLane, Place, Plan, Pod, PodId, PodState, Queue, QueueId, Resources, Shape, Timestamp, plan,
};

/// What there is: id, sizes, the steepest slope allowed, what it does.
const LIST: [(&str, &str, &str, &str); 3] = [
    (
        "B01",
        "[100,200,500,1000,2000,5000,10000]",
        "1.05",
        "fill N nodes of 8 GPUs with 8N one-GPU pods",
    ),
    ("B03", "[1000,10000]", "0.1", "a cycle in which nothing changed"),
    (
        "B04",
        "[1000,10000]",
        "null",
        "one event to its decision: pod added, pod gone, node flip, queue edit",
    ),
];

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let once = args.iter().any(|arg| arg == "--once");
    let words: Vec<&str> =
        args.iter().map(String::as_str).filter(|arg| !arg.starts_with("--")).collect();
    let mut out = io::stdout().lock();
    if args.iter().any(|arg| arg == "--list") {
        for (id, sizes, slope, what) in LIST {
            writeln!(
                out,
                r#"{{"id":"{id}","sizes":{sizes},"slope_max":{slope},"what":"{what}"}}"#
            )?;
        }
        return Ok(());
    }
    let size = words.get(1).and_then(|size| size.parse().ok());
    match (words.first().copied(), size) {
        (Some("B01"), Some(size)) => fill(&mut out, size, once),
        (Some("B03"), Some(size)) => quiet(&mut out, size, once),
        (Some("B04"), Some(size)) => event(&mut out, size, once),
        _ => writeln!(out, "usage: decision ID SIZE [--once] | --list"),
    }
}

/// The part that counts.
#[inline(never)]
fn measured(cluster: &mut Cluster, config: &Config, deltas: Vec<Delta>) -> Plan {
    for delta in deltas {
        cluster.apply(delta);
    }
    black_box(plan(cluster, config, Timestamp(0)))
}

/// A benchmark of a wrong decision is worth nothing.
fn expect(changes: usize, right: usize) {
    assert_eq!(changes, right, "the plan has the right number of changes");
}

fn line(out: &mut impl Write, id: &str, size: u32, wall_ms: f64) -> io::Result<()> {
    writeln!(out, r#"{{"id":"{id}","size":{size},"wall_ms":{wall_ms:.6}}}"#)
}

fn timed(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e3
}

fn percentile(mut times: Vec<f64>, percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() - 1) * percent / 100]
}

fn fill(out: &mut impl Write, size: u32, once: bool) -> io::Result<()> {
    let config = Config::default();
    let base = cluster(size, false);
    let times = (0..if once { 1 } else { 7 })
        .map(|_| {
            let mut cluster = base.clone();
            timed(|| {
                expect(
                    measured(&mut cluster, &config, Vec::new()).changes.len(),
                    size as usize * 8,
                );
            })
        })
        .collect();
    line(out, "B01", size, percentile(times, 50))
}

fn quiet(out: &mut impl Write, size: u32, once: bool) -> io::Result<()> {
    let config = Config::default();
    let mut cluster = cluster(size, true);
    plan(&mut cluster, &config, Timestamp(0));
    let times = (0..if once { 1 } else { 101 })
        .map(|_| timed(|| expect(measured(&mut cluster, &config, Vec::new()).changes.len(), 0)))
        .collect();
    line(out, "B03", size, percentile(times, 50))
}

/// Per kind of event: the news, and what takes it back.
fn event(out: &mut impl Write, size: u32, once: bool) -> io::Result<()> {
    let config = Config::default();
    let mut cluster = cluster(size, true);
    plan(&mut cluster, &config, Timestamp(0));
    let (pod, group) = (size * 8, size * 8);
    let mut times = Vec::new();
    for round in 0..if once { 1 } else { 100 } {
        let victim = (round * 7919) % (size * 8);
        let node = (round * 104_729) % size;
        let blocked = Node { blocked: Some(kai_engine::Blocked::NotReady), ..node_of(node) };
        let richer = Queue { priority: 101, ..queue_of(round % 4 + 2) };
        let events = [
            vec![Delta::PodGone(PodId::new(victim)), Delta::GroupGone(GroupId::new(victim))],
            vec![group_delta(group), pod_delta(pod, group, PodState::Pending)],
            vec![Delta::PodGone(PodId::new(pod)), Delta::GroupGone(GroupId::new(group))],
            vec![group_delta(victim), pod_delta(victim, victim, running(victim))],
            vec![Delta::Node(NodeId::new(node), Box::new(blocked))],
            vec![Delta::Node(NodeId::new(node), Box::new(node_of(node)))],
            vec![Delta::Queue(QueueId::new(round % 4 + 2), Box::new(richer))],
            vec![Delta::Queue(QueueId::new(round % 4 + 2), Box::new(queue_of(round % 4 + 2)))],
        ];
        for deltas in events {
            times.push(timed(|| {
                measured(&mut cluster, &config, deltas);
            }));
        }
    }
    line(out, "B04-p50", size, percentile(times.clone(), 50))?;
    line(out, "B04-p99", size, percentile(times, 99))
}

/// `size` nodes of 8 GPUs and 8 one-GPU pods each in four queues of two departments, waiting or running.
fn cluster(size: u32, full: bool) -> Cluster {
    let mut cluster = Cluster::default();
    for queue in 0..6 {
        cluster.apply(Delta::Queue(QueueId::new(queue), Box::new(queue_of(queue))));
    }
    for node in 0..size {
        cluster.apply(Delta::Node(NodeId::new(node), Box::new(node_of(node))));
    }
    for pod in 0..size * 8 {
        cluster.apply(group_delta(pod));
        cluster.apply(pod_delta(pod, pod, if full { running(pod) } else { PodState::Pending }));
    }
    cluster
}

/// Two departments, then four leaves, each with a quarter of what there is over quota.
fn queue_of(queue: u32) -> Queue {
    Queue {
        parent: (queue > 1).then(|| QueueId::new(queue % 2)),
        limit: PerLane::splat(Limit::UNLIMITED),
        weight_milli: PerLane::splat(1000),
        uid: u128::from(queue),
        ..Queue::default()
    }
}

fn node_of(node: u32) -> Node {
    let gib = 1 << 30;
    let amounts =
        [(Lane::CPU, 128_000), (Lane::MEMORY, 1024 * gib), (Lane::GPU, 8000), (Lane::PODS, 110)];
    Node {
        name: format!("node-{node:06}").into_bytes().into(),
        allocatable: amounts.into_iter().collect(),
        gpus: Gpus { count: 8, memory_mib: 81_500, memory_known: true },
        ..Node::default()
    }
}

fn group_delta(group: u32) -> Delta {
    let queue = Some(QueueId::new(2 + group % 4));
    let facts = Group {
        queue,
        priority: 50,
        preemptible: true,
        uid: u128::from(group),
        ..Group::default()
    };
    Delta::Group(GroupId::new(group), Box::new(facts))
}

fn running(pod: u32) -> PodState {
    PodState::Running(Place::on(NodeId::new(pod / 8)))
}

fn pod_delta(pod: u32, group: u32, state: PodState) -> Delta {
    let request: Resources = [(Lane::CPU, 4000), (Lane::MEMORY, 32 << 30)].into_iter().collect();
    let shape = Shape { request, gpu: GpuRequest::Whole(1), ..Shape::default() };
    let owner = Owner::Group(GroupId::new(group));
    Delta::Pod(
        PodId::new(pod),
        Box::new(Pod { owner, shape, state, uid: u128::from(pod), ..Pod::default() }),
    )
}
