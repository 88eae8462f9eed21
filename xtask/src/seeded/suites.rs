//! Suites that take seconds, and simulated clusters: built once, run with each bug.

use std::{
    fs::File,
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::bug::{Bug, VARIABLE};
use crate::repository::{capture, cargo, command, root, say};

/// Suites by folder and name, beside the tests in the libraries.
const SUITES: &[(&str, &str)] = &[
    // Most others of the command line clear the environment of the commands that they start, and with it the switch.
    (CLI, "escapes"),
    (CLI, "plans"),
    (CLI, "requests"),
    ("engine", "histories"),
    ("engine", "properties"),
    ("podgrouper", "admission"),
    ("podgrouper", "groups"),
    ("reservation", "address"),
    ("scheduler", "ingest"),
    ("scheduler", "report"),
    ("scheduler", "sharing"),
    ("sim", "algebra"),
    ("sim", "budgets"),
    ("sim", "history"),
    ("tests", "binding"),
    ("tests", "grouping_failures"),
    ("tests", "lease"),
    ("tests", "old_news"),
    ("tests", "outcomes"),
    ("tests", "refused_writes"),
    ("tests", "scenarios"),
    STORIES,
];
/// Every story of a live cluster, and a daemon's death at a few of the writes in it; it takes longest, and comes last.
const STORIES: (&str, &str) = ("tests", "crash_points");
/// One in so many deaths is told, and none on a real API server.
const DEATHS: [(&str, Option<&str>); 2] =
    [("KAI_CRASH_EVERY", Some("400")), ("KUBEBUILDER_ASSETS", None)];
/// The folder of the command line: its own suites look for its bugs and for no others, since no daemon has any of it.
const CLI: &str = "cli";
/// Packages whose tests look for no bug of a daemon or of the command line.
const LEFT_OUT: &[&str] = &["kai-sandbox", "xtask"];
/// Name of the tests in a library.
const UNIT_TESTS: &str = "unit tests";
/// The program that simulates clusters.
const SIMULATE: &str = "simulate";
/// Size of a simulated cluster.
const CLUSTER: &[&str] = &["--hours", "0.35", "--nodes", "4", "--pods", "90"];
/// One cluster in so many has two leaders whose clocks are apart.
const TWO_LEADERS_IN: u64 = 3;
/// One cluster in so many has Jobs of more kinds, half of the others and of those more work than there is room for, and half
/// of all users who write at the moment at which daemons do.
const MIXED_IN: u64 = 2;
const CROWDED_IN: u64 = 2;
const MEDDLERS_IN: u64 = 2;
/// A suite that takes longer hangs.
const TIME_MAX: Duration = Duration::from_mins(5);

/// Those that noticed a bug.
#[derive(Debug, Default)]
pub(super) struct Caught {
    /// The first suite that failed.
    pub(super) suite: Option<String>,
    /// A simulated cluster broke a promise.
    pub(super) is_simulated: bool,
    /// Hours that were simulated, until then or in all.
    hours: f64,
}

impl Caught {
    /// The hours as the table has them; empty where there were none.
    pub(super) fn hours(&self) -> String {
        if self.is_simulated {
            format!("{:.1}", self.hours)
        } else if self.hours > 0.0 {
            format!("not in {:.1}", self.hours)
        } else {
            String::new()
        }
    }
}

/// Programs to run.
pub(super) struct Suites {
    /// Each with its name and the folder of its package.
    tests: Vec<Suite>,
    simulate: PathBuf,
}

struct Suite {
    name: String,
    folder: PathBuf,
    program: PathBuf,
}

impl Suite {
    /// Its place among the others: clusters of the command line come after its unit tests, which take less.
    fn place(&self) -> (bool, bool, &str) {
        let has_clusters = self.is_of_cli() && !self.name.ends_with(UNIT_TESTS);
        (self.name.ends_with(STORIES.1), has_clusters, self.name.as_str())
    }

    fn is_of_cli(&self) -> bool {
        self.folder.ends_with(CLI)
    }

    /// Tells whether it may notice a bug; all of them run where there is none.
    fn looks_for(&self, bug: Option<&Bug>) -> bool {
        bug.is_none_or(|bug| bug.is_in(CLI) == self.is_of_cli())
    }
}

impl Suites {
    /// Builds them in a tree.
    pub(super) fn build(tree: &Path, simulate_only: bool) -> Result<Self> {
        let mut words =
            if simulate_only { vec!["build"] } else { vec!["test", "--no-run", "--lib"] };
        words.extend(["--locked", "--quiet", "--message-format=json", "--workspace"]);
        for package in LEFT_OUT {
            words.extend(["--exclude", package]);
        }
        words.extend(["--bin", SIMULATE]);
        if !simulate_only {
            for (_, suite) in SUITES {
                words.extend(["--test", suite]);
            }
        }
        let mut build = command(&cargo(), &words);
        build.current_dir(tree).env("CARGO_TARGET_DIR", root().join("target/seeded/build"));
        let messages = capture(build.stdin(Stdio::null()))?;
        let mut suites = Self { tests: Vec::new(), simulate: PathBuf::new() };
        for line in messages.lines() {
            let message: Value = serde_json::from_str(line)?;
            let Some(program) = message["executable"].as_str().map(PathBuf::from) else { continue };
            let target = message["target"]["name"].as_str().unwrap_or_default();
            if message["profile"]["test"] == true {
                let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
                let folder = manifest.parent().context("a manifest lies in a folder")?;
                let of = folder.file_name().unwrap_or_default().to_string_lossy();
                let is_lib = message["target"]["kind"][0] == "lib";
                if is_lib || SUITES.contains(&(&*of, target)) {
                    let name = format!("{of}: {}", if is_lib { UNIT_TESTS } else { target });
                    suites.tests.push(Suite { name, folder: folder.to_path_buf(), program });
                }
            } else if target == SIMULATE {
                suites.simulate = program;
            }
        }
        suites.tests.sort_by(|left, right| left.place().cmp(&right.place()));
        if suites.simulate.as_os_str().is_empty() {
            // It is built beside the tests, which call it.
            suites.simulate = root().join("target/seeded/build/debug").join(SIMULATE);
        }
        ensure!(suites.simulate.is_file(), "cargo built no {SIMULATE}");
        Ok(suites)
    }

    /// Runs all that may notice a bug, or all where there is none: the tests until one fails, clusters until one breaks a
    /// promise.
    pub(super) fn run(&self, bug: Option<&Bug>, seeds: Range<u64>) -> Result<Caught> {
        let mut caught = Caught::default();
        let name = bug.map(|bug| bug.name.as_str());
        let is_simulated = bug.is_none_or(|bug| !bug.is_in(CLI));
        for suite in self.tests.iter().filter(|suite| suite.looks_for(bug)) {
            let mut run = Command::new(&suite.program);
            run.current_dir(&suite.folder).env("CARGO_MANIFEST_DIR", &suite.folder);
            run.env("PROPTEST_RNG_SEED", "17").arg("--quiet");
            for (variable, value) in DEATHS {
                match value {
                    Some(value) => run.env(variable, value),
                    None => run.env_remove(variable),
                };
            }
            if ended(&mut run, name)? != Ended::Well {
                caught.suite = Some(suite.name.clone());
                break;
            }
        }
        for seed in seeds.filter(|_| is_simulated) {
            let mut run = Command::new(&self.simulate);
            run.args(["--seed", &seed.to_string()]).args(CLUSTER).current_dir(root());
            if seed.is_multiple_of(TWO_LEADERS_IN) {
                run.arg("--two-leaders");
            }
            if seed.is_multiple_of(MIXED_IN) {
                run.arg("--mixed");
            }
            if (seed / MIXED_IN).is_multiple_of(CROWDED_IN) {
                run.arg("--crowded");
            }
            if (seed / MIXED_IN / CROWDED_IN).is_multiple_of(MEDDLERS_IN) {
                run.arg("--meddlers");
            }
            let how = ended(&mut run, name)?;
            let text = std::fs::read_to_string(output()).unwrap_or_default();
            caught.hours += hours(&text);
            if how != Ended::Well {
                let finding = text.lines().find(|line| line.starts_with("  ")).unwrap_or_default();
                say(&format!("  {} seed {seed}: {}", name.unwrap_or("no bug"), finding.trim()));
                caught.is_simulated = true;
                break;
            }
        }
        Ok(caught)
    }
}

/// The file that has what a program printed.
fn output() -> PathBuf {
    root().join(format!("target/seeded/output-{}.txt", std::process::id()))
}

/// Hours in the last line that a simulation prints.
fn hours(text: &str) -> f64 {
    let line = text.lines().find(|line| line.contains("simulated hours"));
    line.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or_default()
}

/// End of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ended {
    Well,
    Badly,
}

/// Runs a program with a bug, for as long as it may take.
fn ended(run: &mut Command, bug: Option<&str>) -> Result<Ended> {
    match bug {
        Some(bug) => run.env(VARIABLE, bug),
        None => run.env_remove(VARIABLE),
    };
    run.stdin(Stdio::null()).stderr(Stdio::null()).stdout(File::create(output())?);
    let mut child = run.spawn().with_context(|| format!("failed to start {run:?}"))?;
    let began = Instant::now();
    while began.elapsed() < TIME_MAX {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { Ended::Well } else { Ended::Badly });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(Ended::Badly)
}
