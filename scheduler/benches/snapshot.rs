//! Describes what reading a snapshot costs, over sizes. Source: docs/performance.md, the decision.
//!
//! `snapshot B43 PODS` prints a JSON line: `id`, `size`, `wall_ms` (the median), `peak_mib` (the most memory that the
//! process had). `--once` reads once, for callgrind. The file is made before, one object at a time, so that making it
//! takes less memory than reading it.

#[path = "snapshot/file.rs"]
mod file;

use std::{
    fs,
    hint::black_box,
    io::{Error, Result, Write},
    path::Path,
    time::Instant,
};

use file::{PODS_OF_NODE, make};
use kai_scheduler::snapshot::Snapshot;

/// Reading is repeated this often.
const ROUNDS: usize = 5;
const LIST: &str = r#"{"id":"B43","sizes":[1000,2000,5000,10000],"slope_max":1.05,"what":"a snapshot of so many pods on a tenth as many nodes, file to engine"}
{"id":"B43-large","sizes":[100000],"slope_max":null,"peak_mib_max":400,"counted":false,"what":"the same, by time and memory alone"}"#;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--list"] => writeln!(std::io::stdout(), "{LIST}"),
        [id @ ("B43" | "B43-large"), size] => run(id, size, ROUNDS),
        [id @ ("B43" | "B43-large"), size, "--once"] => run(id, size, 1),
        // `cargo bench` of the workspace runs every target; without an order there is nothing to do.
        _ => writeln!(std::io::stderr(), "usage: snapshot --list | B43 PODS [--once]"),
    }
}

fn run(id: &str, size: &str, rounds: usize) -> Result<()> {
    let pods = size.parse().map_err(|_| Error::other(format!("{size} is no size")))?;
    let folder = tempfile::TempDir::with_prefix("kai-snapshot-")?;
    let path = folder.path().join("snapshot.zip");
    make(&path, pods)?;
    let mut times = Vec::new();
    let mut peak_mib = 0;
    for round in 0..rounds {
        let start = Instant::now();
        let snapshot = measured(&path);
        times.push(start.elapsed().as_secs_f64() * 1e3);
        judge(&snapshot, pods);
        if round == 0 {
            peak_mib = peak()?;
        }
    }
    times.sort_by(f64::total_cmp);
    let wall_ms = times[times.len() / 2];
    writeln!(
        std::io::stdout(),
        r#"{{"id":"{id}","size":{pods},"wall_ms":{wall_ms:.3},"peak_mib":{peak_mib}}}"#
    )
}

/// A benchmark of a wrong reading is worth nothing.
fn judge(snapshot: &Snapshot, pods: u32) {
    assert_eq!(snapshot.counts["pods"], pods as usize);
    assert_eq!(snapshot.counts["nodes"], pods.div_ceil(PODS_OF_NODE) as usize);
}

/// The part that counts.
#[inline(never)]
fn measured(path: &Path) -> Snapshot {
    black_box(Snapshot::read_in_one_thread(path).expect("it was written just now"))
}

/// The most memory that this process had, in MiB.
fn peak() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.map(|kib| kib / 1024).ok_or_else(|| Error::other("/proc/self/status has no VmHWM"))
}
