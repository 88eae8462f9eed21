//! `cargo xtask simulate`: hours of a simulated cluster from a seed; see `kai_tests::simulation`.

use std::{
    collections::BTreeMap,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use kai_tests::simulation::{Report, Settings, run, shrink};

/// Half of what a simulated cluster does is to make small objects and to give them back.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Simulate hours of a cluster, each seed a history of its own
#[derive(Parser, Debug)]
#[command(name = "simulate")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct Arguments {
    /// Hours of each history
    #[arg(long, default_value = "1", value_parser = hours)]
    hours: Duration,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of seeds, one after the other
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Nodes with 8 GPUs each
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: u32,
    /// Pods that are there at a time, about
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    pods: u64,
    /// Hours for which work runs on average
    #[arg(long, default_value = "0.16", value_parser = hours)]
    run_hours: Duration,
    /// Of the faults that are drawn one in so many happens
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    one_fault_in: u64,
    /// Two schedulers run, whose clocks are apart, and answers come late for minutes
    #[arg(long)]
    two_leaders: bool,
    /// Jobs are of more kinds: elastic, apart, together, with volumes or claims of devices
    #[arg(long)]
    mixed: bool,
    /// More work comes than there is room for, and administrators change queues
    #[arg(long)]
    crowded: bool,
    /// Users edit or delete an object at the very moment at which a daemon writes to it, and connections break under way
    #[arg(long)]
    meddlers: bool,
    /// Nothing goes wrong
    #[arg(long)]
    without_faults: bool,
    /// Write what breaks a promise to this folder, with as few faults as do it
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Runs in which fewer faults are looked for
    #[arg(long, default_value_t = 60)]
    shrink_runs: u32,
    /// Run what was kept in this file instead
    #[arg(long, value_name = "FILE")]
    again: Option<PathBuf>,
    /// Write each write of the API server to this file, one a line
    #[arg(long)]
    trace: Option<PathBuf>,
}

/// Reads hours, or a part of one.
fn hours(text: &str) -> Result<Duration, String> {
    let hours: f64 = text.parse().map_err(|_| "not a number of hours, such as 0.5".to_owned())?;
    Duration::try_from_secs_f64(hours * 3600.0).map_err(|error| error.to_string())
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    let mut out = std::io::stdout().lock();
    if let Some(file) = &arguments.again {
        let kept: shrink::Kept = serde_saphyr::from_str(&std::fs::read_to_string(file)?)?;
        let report = run(Settings { trace: arguments.trace, ..kept.settings() })?;
        say(&mut out, kept.seed, &report)?;
        ensure!(report.findings.is_empty(), "a promise was broken again: {}", kept.about);
        return Ok(());
    }
    let (began, mut simulated, mut failed) = (Instant::now(), Duration::ZERO, Vec::new());
    let mut faults: BTreeMap<String, u64> = BTreeMap::new();
    for seed in arguments.seed..arguments.seed + arguments.seeds {
        let settings = Settings {
            seed,
            length: arguments.hours,
            nodes: arguments.nodes,
            pods: arguments.pods,
            run: arguments.run_hours,
            one_fault_in: arguments.one_fault_in,
            has_faults: !arguments.without_faults,
            only: None,
            is_mixed: arguments.mixed,
            is_crowded: arguments.crowded,
            has_meddlers: arguments.meddlers,
            has_two_leaders: arguments.two_leaders,
            trace: arguments.trace.clone(),
        };
        let report = match run(settings.clone()) {
            Ok(report) => report,
            Err(error) => {
                writeln!(out, "seed {seed}: {error:#}")?;
                failed.push(seed);
                continue;
            }
        };
        say(&mut out, seed, &report)?;
        simulated += report.simulated;
        for one in &report.faults {
            *faults.entry(one.fault.clone()).or_default() += 1;
        }
        if report.findings.is_empty() {
            continue;
        }
        failed.push(seed);
        if let Some(folder) = &arguments.keep {
            let kept = shrink::shrink(&settings, &report, arguments.shrink_runs)?;
            let file = keep(folder, &kept)?;
            writeln!(out, "  {} faults are enough: {}", kept.faults.len(), file.display())?;
        }
    }
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    let hours = simulated.as_secs_f64() / 3600.0;
    let kinds: Vec<String> = faults.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    writeln!(out, "{} faults: {}", faults.values().sum::<u64>(), kinds.join(", "))?;
    writeln!(out, "{hours:.1} simulated hours, {:.0} a minute", hours / minutes)?;
    ensure!(failed.is_empty(), "promises were broken by the seeds {failed:?}");
    Ok(())
}

/// Says what became of a seed.
fn say(out: &mut impl Write, seed: u64, report: &Report) -> Result<()> {
    writeln!(
        out,
        "seed {seed}: {:016x}, {} writes, {} binds, {} faults, {:.2} h",
        report.hash,
        report.writes,
        report.binds,
        report.faults.len(),
        report.simulated.as_secs_f64() / 3600.0
    )?;
    for finding in &report.findings {
        writeln!(out, "  {finding}")?;
    }
    out.flush()?;
    Ok(())
}

/// Writes what was kept to a file of its own.
fn keep(folder: &Path, kept: &shrink::Kept) -> Result<PathBuf> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("failed to make {}", folder.display()))?;
    let file = folder.join(format!("seed-{}.yaml", kept.seed));
    std::fs::write(&file, serde_saphyr::to_string(kept)?)
        .with_context(|| format!("failed to write {}", file.display()))?;
    Ok(file)
}
