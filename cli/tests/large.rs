//! A large cluster: what a simulation costs there. The test prints the figures, and holds the bound of memory;
//! docs/performance.md has those of time:
//!
//! ```text
//! cargo test --release --workspace --test large -- --ignored --nocapture --test-threads 1
//! ```

#[path = "../../scheduler/benches/snapshot/file.rs"]
mod file;

use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Looks of which the middle one counts.
const ROUNDS: usize = 5;
/// Runs a command, and says how long it took and how much memory it had at most, in MiB.
fn timed(words: &str) -> (Output, Duration, u64) {
    let begin = Instant::now();
    let mut command = Command::new("/usr/bin/env");
    // GNU time says the most memory on its last line.
    command.args(["time", "-f", "%M", env!("CARGO_BIN_EXE_kubectl-kai")]);
    let output = command.args(words.split(' ')).output();
    let output = output.expect("GNU time is there");
    let took = begin.elapsed();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}: {talk}");
    let kib = talk.lines().last().and_then(|line| line.trim().parse::<u64>().ok());
    let mib = kib.expect("GNU time says it") / 1024;
    (output, took, mib)
}

/// The middle of some rounds.
fn middle(words: &str) -> Duration {
    let mut took: Vec<Duration> = (0..ROUNDS).map(|_| timed(words).1).collect();
    took.sort_unstable();
    took[ROUNDS / 2]
}

#[test]
#[ignore = "a benchmark, to be run by itself"]
fn a_simulation_on_a_large_snapshot_is_soon_ready() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("cluster.zip");
    file::make(&path, 100_000).expect("it can be written");
    let words = format!(
        "simulate --snapshot {} job wish --gpu 8 --workers 2 -q queue-1 --image i -n team-1",
        path.display()
    );
    let (output, _, mib) = timed(&words);
    println!("{}", String::from_utf8_lossy(&output.stdout));
    let took = middle(&words);
    println!("simulate, 10,000 nodes, 100,000 pods: {} ms, {mib} MiB", took.as_millis());
    assert!(mib <= 400, "{mib} MiB");
}
