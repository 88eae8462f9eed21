//! `cargo xtask bench [ID...]`: one line a measurement and each id's growth slope; `--gate` fails on a steeper slope or
//! on more instructions or allocations than `bench-limits.json` allows. Wall times inform, they never gate.
//!
//! Core benchmarks (B01-B14) are programs of `engine`, B43 reads snapshots and is one of `scheduler`; instructions and
//! allocations are counted by callgrind, which repeats exactly. Where a program tells a bound of its memory, that gates
//! too.
//! Live ones (B20, B22) need `KUBEBUILDER_ASSETS` and are run by the `live` bench of `scheduler`.

mod count;
mod gate;
mod measure;
mod slope;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::repository::print;
use count::Counts;
use measure::{Catalogue, Entry, Measured};

/// Benchmarks to measure, and the way to show them.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Benchmarks to run, e.g. B01; all of the core when none is given
    ids: Vec<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Fail on a steeper slope, or on more instructions or allocations than accepted
    #[arg(long)]
    gate: bool,
    /// Accept the counts of this run
    #[arg(long, conflicts_with = "gate")]
    accept: bool,
    /// Only wall times, without callgrind
    #[arg(long, conflicts_with_all = ["gate", "accept"])]
    wall: bool,
}

/// One measured size of one benchmark.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    id: String,
    size: u64,
    wall_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
    /// The most memory that the process had, and may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_mib: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_mib_max: Option<u64>,
}

/// The growth of one benchmark over its sizes.
#[derive(Debug, Serialize)]
struct Growth {
    id: String,
    slope: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    slope_max: Option<f64>,
    of: &'static str,
}

/// Runs what was asked for.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let catalogue = Catalogue::build(&arguments.ids)?;
    let entries = catalogue.select(&arguments.ids)?;
    let counts = if arguments.wall { Counts::new() } else { count::count(&catalogue, &entries)? };
    let mut lines = Vec::new();
    let mut growths = Vec::new();
    for entry in entries {
        let measured = measure_entry(entry, &counts, arguments)?;
        growths.extend(growth(entry, &measured));
        lines.extend(measured);
    }
    for growth in &growths {
        show_growth(growth, arguments.json)?;
    }
    if arguments.accept {
        return gate::accept(&lines);
    }
    if arguments.gate { gate::gate(&lines, &growths) } else { Ok(()) }
}

fn measure_entry(entry: &Entry, counts: &Counts<'_>, arguments: &Arguments) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for &size in &entry.sizes {
        let count = counts.get(&(entry.id.as_str(), size));
        let instructions = count.map(|count| count.instructions);
        let allocations = count.map(|count| count.allocations);
        for Measured { id, wall_ms, proof, peak_mib } in Catalogue::wall_ms(entry, size)? {
            let peak_mib_max = entry.peak_mib_max;
            let line = Line {
                id,
                size,
                wall_ms,
                instructions,
                allocations,
                proof,
                peak_mib,
                peak_mib_max,
            };
            show(&line, arguments.json)?;
            lines.push(line);
        }
    }
    Ok(lines)
}

fn show(line: &Line, json: bool) -> Result<()> {
    if json {
        return print(&serde_json::to_string(line)?);
    }
    let text = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |one| one.to_string());
    let (counted, allocated) = (text(line.instructions), text(line.allocations));
    let Line { id, size, wall_ms, .. } = line;
    let proof = line.proof.as_ref().map_or_else(String::new, |proof| format!("  {proof}"));
    let peak = line.peak_mib.map_or_else(String::new, |peak| format!("  peak {peak} MiB"));
    print(&format!(
        "{id:<12} {size:>7}  {wall_ms:>12.4} ms  {counted:>15} instructions  {allocated:>9} allocations{proof}{peak}"
    ))
}

fn show_growth(growth: &Growth, json: bool) -> Result<()> {
    if json {
        return print(&serde_json::to_string(growth)?);
    }
    let allowed = growth.slope_max.map_or_else(String::new, |max| format!(" (at most {max})"));
    print(&format!("{:<12} slope {:.3} of {}{allowed}", growth.id, growth.slope, growth.of))
}

fn growth(entry: &Entry, lines: &[Line]) -> Option<Growth> {
    let counted = lines.iter().all(|line| line.instructions.is_some());
    let points: Vec<(f64, f64)> = lines
        .iter()
        .map(|line| {
            let cost = line.instructions.filter(|_| counted).map_or(line.wall_ms, slope::as_float);
            (slope::as_float(line.size), cost)
        })
        .collect();
    Some(Growth {
        id: entry.id.clone(),
        slope: slope::log_log(&points)?,
        slope_max: entry.slope_max,
        of: if counted { "instructions" } else { "wall time" },
    })
}
