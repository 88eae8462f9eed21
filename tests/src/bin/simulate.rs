//! `cargo xtask simulate`: hours of a simulated cluster from a seed; see `kai_tests::simulation`.

use std::{
    io::Write,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use clap::Parser;
use kai_tests::simulation::{Settings, run};

/// Simulate hours of a cluster, each seed a history of its own
#[derive(Parser, Debug)]
#[command(name = "simulate")]
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
    /// Nothing goes wrong
    #[arg(long)]
    without_faults: bool,
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
    let (began, mut simulated, mut failed) = (Instant::now(), Duration::ZERO, Vec::new());
    for seed in arguments.seed..arguments.seed + arguments.seeds {
        let report = run(Settings {
            seed,
            length: arguments.hours,
            nodes: arguments.nodes,
            pods: arguments.pods,
            has_faults: !arguments.without_faults,
            trace: arguments.trace.clone(),
        })?;
        writeln!(
            out,
            "seed {seed}: {:016x}, {} writes, {} binds, {} faults, {:.2} h",
            report.hash,
            report.writes,
            report.binds,
            report.faults,
            report.simulated.as_secs_f64() / 3600.0
        )?;
        simulated += report.simulated;
        for finding in &report.findings {
            writeln!(out, "  {finding}")?;
        }
        if !report.findings.is_empty() {
            failed.push(seed);
        }
    }
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    let hours = simulated.as_secs_f64() / 3600.0;
    writeln!(out, "{hours:.1} simulated hours, {:.0} a minute", hours / minutes)?;
    ensure!(failed.is_empty(), "promises were broken by the seeds {failed:?}");
    Ok(())
}
