//! One clock, one source of luck and one order: what keeps the daemons from running the same way twice from a seed.

use super::Finding;
use crate::repository::File;

/// Folders that a simulation runs, and their parts that it does not: connections, and what shows a real clock.
const SIMULATED: &[&str] = &["daemon/src/", "scheduler/src/", "podgrouper/src/", "sandbox/src/"];
const EXCEPTIONS: &[&str] = &[
    "daemon/src/clock.rs",
    "daemon/src/chance.rs",
    // Bearer tokens must not be guessed.
    "sandbox/src/server/tokens.rs",
    "podgrouper/src/admission/server.rs",
    // Selectors of devices are judged in threads, whose stack is bounded and large; simulated clusters have none.
    "scheduler/src/cel/",
    // A file is read by the command line; no daemon does.
    "scheduler/src/snapshot/walk/beside.rs",
    "sandbox/src/streams/",
    "sandbox/src/nodes/inside/",
    "sandbox/src/nodes/serve.rs",
    "sandbox/src/server/serve.rs",
    "sandbox/src/server/logs.rs",
];

/// Folder in which many wait for one change. A watch channel of tokio wakes them in an order that it draws. In the daemons
/// one task waits for each, but for admission and the order of jobs, which no simulation runs.
const MANY_WAIT: &str = "sandbox/src/";
const WATCH_CHANNEL: &str = concat!("sync::", "watch");

/// Words, and what to write instead.
const WORDS: &[(&str, &str)] = &[
    (concat!("Timestamp", "::now()"), "kai_daemon::clock::now"),
    (concat!("System", "Time"), "kai_daemon::clock::now"),
    (concat!("std::time::", "Instant"), "tokio::time::Instant"),
    (concat!("fast", "rand::"), "kai_daemon::chance"),
    (concat!("Uuid::new", "_v4"), "kai_daemon::chance::uuid"),
    (concat!("Random", "State"), "an order"),
    (concat!("spawn_", "blocking"), "a task"),
    (concat!("thread::", "Builder"), "a task"),
    (concat!("thread::", "spawn"), "a task"),
];

/// Finds clocks, luck and threads of other sources, and choices among tasks that tokio draws.
pub(super) fn chance(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let path = &file.path;
        let Some(text) = file.text.as_deref().filter(|_| is_simulated(path)) else { continue };
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
        let lines: Vec<&str> = code.lines().map(str::trim_start).collect();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.starts_with("//")) {
            let at = || format!("{path}:{}", index + 1);
            let found = WORDS.iter().filter(|(word, _)| line.contains(word));
            findings.extend(found.map(|(word, instead)| {
                Finding::new(at(), format!("`{word}` differs from run to run: use {instead}"))
            }));
            if path.starts_with(MANY_WAIT) && line.contains(WATCH_CHANNEL) {
                let what = format!("`{WATCH_CHANNEL}` draws who wakes first: use `sync::Notify`");
                findings.push(Finding::new(at(), what));
            }
            let next = lines.get(index + 1).copied().unwrap_or_default();
            if line.ends_with(concat!("select", "! {")) && next != "biased;" {
                let what =
                    "`select!` draws an order: write `biased;`, with what ends or is due first";
                findings.push(Finding::new(at(), what));
            }
        }
    }
    findings
}

fn is_simulated(path: &str) -> bool {
    let is_in = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    is_in(SIMULATED) && !is_in(EXCEPTIONS) && !is_test
}
