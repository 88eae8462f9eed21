//! Builds the benchmark programs, asks them what they offer, and runs one measurement at a time.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::count::Count;
use crate::repository::{capture, cargo, command, say};

/// One benchmark as its program describes it (`PROGRAM --list`).
#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) sizes: Vec<u64>,
    pub(super) slope_max: Option<f64>,
    what: String,
    /// Runs against a control plane, so that instructions mean nothing.
    #[serde(default)]
    pub(super) live: bool,
    /// Other benchmarks that the same run measures.
    #[serde(default)]
    also: Vec<String>,
    /// Small enough for callgrind.
    #[serde(default = "yes")]
    pub(super) counted: bool,
    /// The most memory that its process may have.
    #[serde(default)]
    pub(super) peak_mib_max: Option<u64>,
    #[serde(skip)]
    program: PathBuf,
    /// The name of the program, in which the function `measured` is.
    #[serde(skip)]
    bench: &'static str,
}

fn yes() -> bool {
    true
}

impl Entry {
    /// Tells whether an id names this benchmark, or all of its kind: `B05` is also `B05-gangs`.
    fn is_asked(&self, id: &str) -> bool {
        let is_of_kind = |own: &String| {
            own.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        std::iter::once(&self.id).chain(&self.also).any(is_of_kind)
    }
}

/// Everything that can be measured.
pub(super) struct Catalogue {
    entries: Vec<Entry>,
}

/// A part of a benchmark as its program tells it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) id: String,
    /// Another size than that of the benchmark.
    #[serde(default, skip_serializing)]
    pub(super) size: Option<u64>,
    /// The median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wall_ms: Option<f64>,
    /// The reason why no search can succeed, where the plan shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) proof: Option<String>,
    /// The most memory that its process had, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) peak_mib: Option<u64>,
    /// The memory that it has while it rests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) resident_bytes: Option<u64>,
    /// The processor time that it took, and in percent of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) processor_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) processor_percent: Option<f64>,
}

#[derive(Deserialize)]
struct Built {
    executable: Option<PathBuf>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Package and bench target of the programs whose costs are counted.
const CORE: [(&str, &str); 2] = [("kai-engine", "decision"), ("kai-scheduler", "snapshot")];
/// Those that need a control plane; built when one of theirs is asked for.
const LIVE: (&str, &str) = ("kai-scheduler", "live");
/// Runs beside the scheduler in some of them.
const LIVE_PEER: &str = "kai-podgrouper";

impl Catalogue {
    /// Builds the programs that `ids` need, optimised; those of the core when there are none.
    pub(super) fn build(ids: &[String]) -> Result<Self> {
        let mut entries: Vec<Entry> = Vec::new();
        for (package, bench) in CORE {
            if entries.is_empty() || !is_whole(ids, &entries) {
                entries.extend(offered(package, bench)?);
            }
        }
        if !ids.is_empty() && !is_whole(ids, &entries) {
            let (package, bench) = LIVE;
            build_peer()?;
            entries.extend(offered(package, bench)?);
        }
        Ok(Self { entries })
    }

    /// The entries with these ids, or all that need no cluster.
    pub(super) fn select(&self, ids: &[String]) -> Result<Vec<&Entry>> {
        for id in ids {
            if !self.entries.iter().any(|entry| entry.is_asked(id)) {
                let known: Vec<String> =
                    self.entries.iter().map(|one| format!("  {}  {}", one.id, one.what)).collect();
                bail!("no benchmark {id}; there are:\n{}", known.join("\n"));
            }
        }
        let asked = |entry: &&Entry| {
            if ids.is_empty() { !entry.live } else { ids.iter().any(|id| entry.is_asked(id)) }
        };
        Ok(self.entries.iter().filter(asked).collect())
    }

    /// Gives what each part of a benchmark takes.
    pub(super) fn measure(entry: &Entry, size: u64) -> Result<Vec<Measured>> {
        let program = entry.program.to_string_lossy();
        let text = capture(&mut command(&program, &[&entry.id, &size.to_string()]))?;
        let mut parts = Vec::new();
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let measured: Measured = serde_json::from_str(line)
                .with_context(|| format!("{} printed {line}", entry.id))?;
            parts.push(measured);
        }
        ensure!(!parts.is_empty(), "{} {size} measured nothing:\n{text}", entry.id);
        Ok(parts)
    }

    /// Instructions and allocations inside the function `measured`, by callgrind.
    pub(super) fn count(&self, id: &str, size: u64) -> Result<Count> {
        let entry = self.entries.iter().find(|entry| entry.id == id).context("selected before")?;
        let folder = tempfile::tempdir()?;
        let out_flag = format!("--callgrind-out-file={}", folder.path().join("profile").display());
        let (program, size) = (entry.program.to_string_lossy(), size.to_string());
        // A profile before each measured part and one after it: each counts what came since the last. Costs could be
        // collected in the function alone, but calls are counted outside of it as well.
        let measured =
            ["before", "after"].map(|when| format!("--dump-{when}={}::measured", entry.bench));
        let mut valgrind = command("valgrind", &["--tool=callgrind", "--quiet", &out_flag]);
        valgrind.args(measured).args([&program, id, size.as_str(), "--once"]);
        capture(&mut valgrind).context("callgrind counts instructions; install valgrind")?;
        let mut sum = Count::default();
        for profile in std::fs::read_dir(folder.path())? {
            let text = std::fs::read_to_string(profile?.path())?;
            if text.lines().any(|line| line.starts_with("desc: Trigger: --dump-after=")) {
                sum += Count::read(&text).context("callgrind wrote no totals")?;
            }
        }
        ensure!(sum.instructions > 0, "{id} {size}: no function named `measured` ran");
        Ok(sum)
    }
}

/// Tells whether these entries are all that is asked for; without ids there are always more.
fn is_whole(ids: &[String], entries: &[Entry]) -> bool {
    let is_there = |id: &String| entries.iter().any(|entry| entry.is_asked(id));
    !ids.is_empty() && ids.iter().all(is_there)
}

/// Lists what a program offers, after it was built.
fn offered(package: &str, bench: &'static str) -> Result<Vec<Entry>> {
    let program = build(package, bench)?;
    let listing = capture(&mut command(&program.to_string_lossy(), &["--list"]))?;
    let mut entries = Vec::new();
    for line in listing.lines().filter(|line| line.starts_with('{')) {
        let entry: Entry =
            serde_json::from_str(line).with_context(|| format!("{bench} --list printed {line}"))?;
        entries.push(Entry { program: program.clone(), bench, ..entry });
    }
    Ok(entries)
}

/// Builds the program that some benchmarks run beside their own, into the same folder.
fn build_peer() -> Result<()> {
    say(&format!("building {LIVE_PEER}"));
    capture(&mut command(&cargo(), &["build", "--profile", "bench", "--package", LIVE_PEER]))?;
    Ok(())
}

fn build(package: &str, bench: &str) -> Result<PathBuf> {
    say(&format!("building {package} {bench}"));
    let arguments =
        ["bench", "--package", package, "--bench", bench, "--no-run", "--message-format=json"];
    let text = capture(&mut command(&cargo(), &arguments))?;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let built: Built = serde_json::from_str(line)?;
        let is_it = built
            .target
            .is_some_and(|one| one.name == bench && one.kind.iter().any(|kind| kind == "bench"));
        if let (true, Some(program)) = (is_it, built.executable) {
            return Ok(program);
        }
    }
    bail!("cargo built no {bench}")
}
