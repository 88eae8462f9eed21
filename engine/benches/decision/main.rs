//! Benchmarks of a decision, over sizes.
//!
//! `decision ID SIZE` prints one JSON line a measurement: `id`, `size`, `wall_ms` (the median). `--once` runs the measured
//! part once, for callgrind with `--toggle-collect=decision::measured`. `--list` prints what there is.

#![expect(clippy::disallowed_types, reason = "a benchmark reads the clock")]

mod cases;
mod world;

use std::{
    hint::black_box,
    io::{self, Write},
    time::{Duration, Instant},
};

use cases::{Expect, Kind};
use kai_engine::{
    Cluster, Config, Delta, GroupId, Node, NodeId, Plan, PodId, Queue, QueueId, Timestamp, plan,
};
use world::{GPUS, Job, World, node, queue};

/// A benchmark with a loop of its own.
struct Special {
    id: &'static str,
    sizes: &'static [u32],
    slope_max: Option<f64>,
    what: &'static str,
    run: fn(&mut dyn Write, u32, bool) -> io::Result<()>,
}

const SPECIAL: [Special; 2] = [
    Special {
        id: "B03",
        sizes: &[1000, 10_000],
        slope_max: Some(0.1),
        what: "a cycle in which nothing changed",
        run: quiet,
    },
    Special {
        id: "B04",
        sizes: &[1000, 10_000],
        slope_max: None,
        what: "one event to its decision: pod added, pod gone, node flip, queue edit",
        run: event,
    },
];

/// A case is repeated this often, or until this long has passed.
const ROUNDS: usize = 7;
const ROUNDS_TIME_MAX: Duration = Duration::from_secs(3);

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let once = args.iter().any(|arg| arg == "--once");
    let words: Vec<&str> =
        args.iter().map(String::as_str).filter(|arg| !arg.starts_with("--")).collect();
    let mut out = io::stdout().lock();
    let kinds = cases::kinds();
    if args.iter().any(|arg| arg == "--list") {
        return list(&mut out, &kinds);
    }
    let (Some(id), Some(size)) = (words.first(), words.get(1).and_then(|size| size.parse().ok()))
    else {
        return writeln!(out, "usage: decision ID SIZE [--once] | --list");
    };
    if let Some(special) = SPECIAL.iter().find(|special| special.id == *id) {
        return (special.run)(&mut out, size, once);
    }
    match kinds.iter().find(|kind| kind.id == *id) {
        Some(kind) => cycle(&mut out, kind, size, once),
        None => writeln!(out, "no benchmark {id}"),
    }
}

fn list(out: &mut impl Write, kinds: &[Kind]) -> io::Result<()> {
    let special = SPECIAL.iter().map(|one| (one.id, one.sizes, one.slope_max, one.what));
    let mut all: Vec<_> =
        kinds.iter().map(|kind| (kind.id, kind.sizes, kind.slope_max, kind.what)).collect();
    all.extend(special);
    all.sort_by_key(|(id, ..)| *id);
    for (id, sizes, slope, what) in all {
        let slope = slope.map_or_else(|| "null".to_owned(), |slope| slope.to_string());
        writeln!(out, r#"{{"id":"{id}","sizes":{sizes:?},"slope_max":{slope},"what":"{what}"}}"#)?;
    }
    Ok(())
}

/// The part that counts.
#[inline(never)]
fn measured(cluster: &mut Cluster, config: &Config, news: Vec<Delta>) -> Plan {
    for delta in news {
        cluster.apply(delta);
    }
    black_box(plan(cluster, config, Timestamp(0)))
}

/// A benchmark of a wrong decision is worth nothing.
fn judge(plan: &Plan, expect: Expect) {
    assert_eq!(Expect::of(plan), expect, "{:?}", plan.steps);
}

fn line(out: &mut dyn Write, id: &str, size: u32, wall_ms: f64) -> io::Result<()> {
    writeln!(out, r#"{{"id":"{id}","size":{size},"wall_ms":{wall_ms:.6}}}"#)
}

/// Says why no eviction helps, in the words of the last proof; a hopeless search has to be proved so.
fn proof(plan: &Plan, id: &str) -> Option<String> {
    let proof = plan.proofs.last();
    assert!(proof.is_some() || !id.starts_with("B08"), "a hopeless search is proved so");
    proof.map(|proof| format!("{:?} cannot help: {}", proof.kind, proof.shortage))
}

fn timed<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = run();
    (start.elapsed().as_secs_f64() * 1e3, result)
}

fn percentile(mut times: Vec<f64>, percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() - 1) * percent / 100]
}

fn cycle(out: &mut dyn Write, kind: &Kind, size: u32, once: bool) -> io::Result<()> {
    let case = (kind.case)(size);
    let begun = Instant::now();
    let mut times = Vec::new();
    let mut shown = None;
    while times.is_empty() || (!once && times.len() < ROUNDS && begun.elapsed() < ROUNDS_TIME_MAX) {
        let (mut cluster, news) = (case.base.clone(), case.news.clone());
        let (time, plan) = timed(|| measured(&mut cluster, &case.config, news));
        judge(&plan, case.expect);
        shown = proof(&plan, kind.id);
        times.push(time);
    }
    let wall_ms = percentile(times, 50);
    let Some(proof) = shown else { return line(out, kind.id, size, wall_ms) };
    let id = kind.id;
    writeln!(out, r#"{{"id":"{id}","size":{size},"wall_ms":{wall_ms:.6},"proof":"{proof}"}}"#)
}

/// `size` nodes full of one-GPU jobs, planned once.
fn full(size: u32) -> World {
    let mut world = World::default();
    world.departments(0).nodes(size);
    world.jobs(size * GPUS, |at| Job::new(2 + at % 4, 1).on([at / GPUS]));
    world.settle(&Config::default());
    world
}

fn quiet(out: &mut dyn Write, size: u32, once: bool) -> io::Result<()> {
    let config = Config::default();
    let mut cluster = full(size).cluster;
    let times = (0..if once { 1 } else { 101 })
        .map(|_| {
            let (time, plan) = timed(|| measured(&mut cluster, &config, Vec::new()));
            judge(&plan, Expect::default());
            time
        })
        .collect();
    line(out, "B03", size, percentile(times, 50))
}

/// Per kind of event: the news, and what takes it back.
fn event(out: &mut dyn Write, size: u32, once: bool) -> io::Result<()> {
    let config = Config::default();
    let mut world = full(size);
    let mut job = |job: &Job| {
        world.job(job);
        std::mem::take(&mut world.news)
    };
    let pod = size * GPUS;
    let added = job(&Job::new(2, 1));
    let mut cluster = world.cluster;
    let mut times = Vec::new();
    for round in 0..if once { 1 } else { 100 } {
        let victim = (round * 7919) % pod;
        let row = (round * 104_729) % size;
        let blocked = Node { blocked: Some(kai_engine::Blocked::NotReady), ..node(row) };
        let leaf = round % 4 + 2;
        let usual = queue(leaf, Some(leaf % 2), 0);
        let richer = Queue { priority: 101, ..usual.clone() };
        let gone =
            |id: u32| vec![Delta::PodGone(PodId::new(id)), Delta::GroupGone(GroupId::new(id))];
        let events = [
            gone(victim),
            added.clone(),
            gone(pod),
            vec![Delta::Node(NodeId::new(row), Box::new(blocked))],
            vec![Delta::Node(NodeId::new(row), Box::new(node(row)))],
            vec![Delta::Queue(QueueId::new(leaf), Box::new(richer))],
            vec![Delta::Queue(QueueId::new(leaf), Box::new(usual))],
        ];
        for news in events {
            times.push(timed(|| measured(&mut cluster, &config, news)).0);
        }
    }
    line(out, "B04-p50", size, percentile(times.clone(), 50))?;
    line(out, "B04-p99", size, percentile(times, 99))
}
