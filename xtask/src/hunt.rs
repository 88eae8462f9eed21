//! `cargo xtask hunt`: properties with other seeds than those of every run, for as long as there is time.
//!
//! A change is judged by the same cases each time (`.cargo/config.toml`), which therefore find nothing new. A scheduled job
//! runs this task: each round draws another seed. Histories and clusters that fail are added to `sim/tests/regressions`,
//! where every later run tries them first; what a property printed lies in `target/hunt`. Simulated clusters that break a
//! promise are added to `tests/simulations`, each with as few faults as do it.

use std::{
    collections::hash_map::RandomState,
    fs,
    hash::{BuildHasher, Hasher},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::repository::{cargo, command, execute, root, say};

/// Length of the hunt, and of a round.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Start no further round after so many minutes; building does not count
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    /// Cases of a property in a round, before its own factor
    #[arg(long, default_value_t = 20_000)]
    cases: u32,
}

/// Packages whose properties are drawn from `PROPTEST_RNG_SEED`; of the last, spoilt inputs alone.
const PACKAGES: &[&str] = &[
    "kai-sim",
    "kai-engine",
    "kai-scheduler",
    "kai-podgrouper",
    "kai-daemon",
    "kai-api",
    "kai-tests",
];

/// Simulated clusters of a round.
const SIMULATIONS: &str = "20";

/// Flags of simulated clusters, each of one round in so many.
const LOADS: &[(u64, &str)] = &[(2, "--mixed"), (3, "--crowded"), (4, "--meddlers")];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    for package in PACKAGES {
        execute(&mut test(package, &["--no-run"]))?;
    }
    let until = Instant::now() + Duration::from_secs(60 * arguments.minutes);
    let mut found = Vec::new();
    let mut rounds = 0_u64;
    while rounds == 0 || Instant::now() < until {
        let seed = draw();
        for package in PACKAGES {
            found.extend(round(package, seed, arguments.cases)?);
        }
        found.extend(simulate(seed, rounds)?);
        rounds += 1;
    }
    say(&format!("{rounds} rounds of {} cases: {} failed", arguments.cases, found.len()));
    ensure!(found.is_empty(), "properties failed:\n{}", found.join("\n"));
    Ok(())
}

/// The tests of a package, compiled with optimisation and with what asserts kept.
fn test(package: &str, more: &[&str]) -> std::process::Command {
    let mut words = vec!["test", "--release", "--locked", "--no-fail-fast", "--package", package];
    words.extend(suite(package));
    words.extend(more);
    command(&cargo(), &words)
}

/// Words that leave out those suites of a package that draw nothing.
fn suite(package: &str) -> &'static [&'static str] {
    if package == "kai-tests" { &["--test", "fuzz"] } else { &[] }
}

/// Tests a package with a seed; where that fails, the line that does it again.
fn round(package: &str, seed: u64, cases: u32) -> Result<Option<String>> {
    let mut again = format!(
        "PROPTEST_RNG_SEED={seed} PROPTEST_CASES={cases} cargo test --release --package {package}"
    );
    for word in suite(package) {
        again.extend([" ", word]);
    }
    say(&format!("$ {again}"));
    let output = test(package, &[])
        .env("PROPTEST_RNG_SEED", seed.to_string())
        .env("PROPTEST_CASES", cases.to_string())
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("failed to start `{again}`"))?;
    if output.status.success() {
        return Ok(None);
    }
    let folder = root().join("target/hunt");
    fs::create_dir_all(&folder).with_context(|| format!("failed to make {}", folder.display()))?;
    let file = folder.join(format!("{package}-{seed}.txt"));
    fs::write(&file, [output.stdout, output.stderr].concat())
        .with_context(|| format!("failed to write {}", file.display()))?;
    Ok(Some(format!("  {again}\n    printed {}", file.display())))
}

/// Simulates clusters with faults and with the loads of a round; where one breaks a promise, the line that does it again.
fn simulate(seed: u64, round: u64) -> Result<Option<String>> {
    // One of many: a number that people can type.
    let seed = (seed % 1_000_000_000).to_string();
    let words = ["run", "--release", "--locked", "--quiet", "--bin", "simulate", "--"];
    let clusters = ["--seed", &seed, "--seeds", SIMULATIONS, "--nodes", "4", "--pods", "60"];
    let keep = ["--keep", "tests/simulations"];
    let mut words = [&words[..], &clusters, &keep].concat();
    words.extend(LOADS.iter().filter(|(times, _)| round % times == 1).map(|(_, flag)| *flag));
    let again = format!("cargo {}", words.join(" "));
    say(&format!("$ {again}"));
    let status = command(&cargo(), &words)
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("failed to start `{again}`"))?;
    Ok((!status.success()).then(|| format!("  {again}")))
}

/// Draws a seed: the standard library's hash tables start from randomness of the system.
fn draw() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::PACKAGES;
    use crate::repository;

    /// A property that is in no round is tried with the same cases for ever.
    #[test]
    fn every_crate_with_properties_is_in_each_round() {
        let files = repository::files().expect("the repository can be read");
        let draws = |file: &&repository::File| {
            let is_rust =
                std::path::Path::new(&file.path).extension().is_some_and(|one| one == "rs");
            is_rust && file.text.as_ref().is_some_and(|text| text.contains("proptest::"))
        };
        let crates = files.iter().filter(draws).filter_map(|file| file.path.split('/').next());
        let crates: BTreeSet<String> = crates
            .filter(|folder| *folder != "xtask")
            .map(|folder| format!("kai-{folder}"))
            .collect();
        let hunted: BTreeSet<String> =
            PACKAGES.iter().map(|package| (*package).to_owned()).collect();
        assert_eq!(crates, hunted);
    }
}
