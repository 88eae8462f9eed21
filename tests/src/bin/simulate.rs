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
    #[arg(long, default_value_t = 1.0)]
    hours: f64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of seeds, one after the other
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Nodes with 8 GPUs each
    #[arg(long, default_value_t = 50)]
    nodes: u32,
    /// Pods that are there at a time, about
    #[arg(long, default_value_t = 500)]
    pods: u64,
    /// Nothing goes wrong
    #[arg(long)]
    without_faults: bool,
    /// Write each write of the API server to this file, one a line
    #[arg(long)]
    trace: Option<PathBuf>,
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
            length: Duration::from_secs_f64(arguments.hours * 3600.0),
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
