//! `cargo xtask bench [ID...]`: one line a measurement and each id's growth slope; `--gate` fails on a steeper slope or
//! on more instructions or allocations than `bench-limits.json` allows. Wall times inform, they never gate.
//!
//! Core benchmarks (B01-B14) are programs of `engine`, B43 reads snapshots and is one of `scheduler`; instructions and
//! allocations are counted by callgrind, which repeats exactly. Where a program tells a bound of its memory, that gates
//! too.
//! Live ones (B20 to B31) need `KUBEBUILDER_ASSETS` and are run by the `live` bench of `scheduler`; how their memory
//! grows is told in bytes for each unit of size.

mod count;
mod gate;
mod measure;
mod slope;

use std::collections::BTreeSet;

use anyhow::Result;
use serde::Serialize;

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
    /// This size instead of those that each benchmark has
    #[arg(long, value_name = "N", conflicts_with_all = ["gate", "accept"])]
    size: Option<u64>,
}

/// One measured size of one benchmark.
#[derive(Debug, Clone, Serialize)]
struct Line {
    size: u64,
    #[serde(flatten)]
    measured: Measured,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocations: Option<u64>,
    /// The most memory that the process may have.
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
        growths.extend(self::growths(entry, &measured));
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
    let asked = arguments.size.map(|size| vec![size]);
    for &size in asked.as_ref().unwrap_or(&entry.sizes) {
        let count = counts.get(&(entry.id.as_str(), size));
        for measured in Catalogue::measure(entry, size)? {
            let line = Line {
                size: measured.size.unwrap_or(size),
                measured,
                instructions: count.map(|count| count.instructions),
                allocations: count.map(|count| count.allocations),
                peak_mib_max: entry.peak_mib_max,
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
    let Line { size, measured, .. } = line;
    let parts = [
        measured.wall_ms.map(|wall| format!("{wall:>12.4} ms")),
        line.instructions.map(|count| format!("{count:>15} instructions")),
        line.allocations.map(|count| format!("{count:>9} allocations")),
        measured.proof.clone(),
        measured.resident_bytes.map(|bytes| format!("{:>6} MiB resident", bytes >> 20)),
        measured.peak_mib.map(|peak| format!("peak {peak} MiB")),
        measured.processor_ms.map(|spent| format!("{spent:.0} ms of a core")),
        measured.processor_percent.map(|percent| format!("{percent:.2} % of a core")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    print(&format!("{:<12} {size:>7}  {}", measured.id, parts.join("  ")))
}

fn show_growth(growth: &Growth, json: bool) -> Result<()> {
    if json {
        return print(&serde_json::to_string(growth)?);
    }
    let allowed = growth.slope_max.map_or_else(String::new, |max| format!(" (at most {max})"));
    print(&format!("{:<12} slope {:.3} of {}{allowed}", growth.id, growth.slope, growth.of))
}

/// The growths that the lines of a benchmark show: of all of them, or of each part of one on a cluster.
fn growths(entry: &Entry, lines: &[Line]) -> Vec<Growth> {
    if !entry.live {
        return growth(entry, lines).into_iter().collect();
    }
    let ids: BTreeSet<&str> = lines.iter().map(|line| line.measured.id.as_str()).collect();
    let of_part = |id: &str,
                   of: &'static str,
                   fit: fn(&[(f64, f64)]) -> Option<f64>,
                   cost: fn(&Measured) -> Option<f64>| {
        let lines = lines.iter().filter(|line| line.measured.id == id);
        let points: Option<Vec<_>> =
            lines.map(|line| Some((slope::as_float(line.size), cost(&line.measured)?))).collect();
        Some(Growth { id: id.to_owned(), slope: fit(&points?)?, slope_max: None, of })
    };
    let of_id = |id: &str| {
        let resident = |one: &Measured| one.resident_bytes.map(slope::as_float);
        [
            of_part(id, "wall time", slope::log_log, |one| one.wall_ms),
            of_part(id, "processor time", slope::log_log, |one| one.processor_ms),
            of_part(id, "resident bytes", slope::straight, resident),
        ]
    };
    ids.into_iter().flat_map(of_id).flatten().collect()
}

fn growth(entry: &Entry, lines: &[Line]) -> Option<Growth> {
    let counted = lines.iter().all(|line| line.instructions.is_some());
    let points: Option<Vec<(f64, f64)>> = lines
        .iter()
        .map(|line| {
            let cost = line.instructions.filter(|_| counted).map(slope::as_float);
            Some((slope::as_float(line.size), cost.or(line.measured.wall_ms)?))
        })
        .collect();
    Some(Growth {
        id: entry.id.clone(),
        slope: slope::log_log(&points?)?,
        slope_max: entry.slope_max,
        of: if counted { "instructions" } else { "wall time" },
    })
}
