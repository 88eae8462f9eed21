//! The gate: counts that were accepted, and slopes that were promised.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result, bail, ensure};

use super::{Growth, Line};
use crate::repository::{self, say};

/// Allowed instructions per `ID/size`, and allocations per `ID/size/allocations`; written by `--accept`.
const LIMITS_FILE: &str = "xtask/bench-limits.json";
/// Percentage by which a count may grow before the gate closes: another compiler moves instructions by about as much.
const SLACK_PERCENT: u64 = 5;

/// The counts of a line by the names of their limits.
fn counts(line: &Line) -> impl Iterator<Item = (String, u64, &'static str)> {
    let key = format!("{}/{}", line.measured.id, line.size);
    let allocations =
        line.allocations.map(|count| (format!("{key}/allocations"), count, "allocations"));
    let instructions = line.instructions.map(|count| (key, count, "instructions"));
    instructions.into_iter().chain(allocations)
}

fn limits() -> Result<BTreeMap<String, u64>> {
    let path = repository::root().join(LIMITS_FILE);
    let text =
        fs::read_to_string(&path).with_context(|| format!("failed to read {LIMITS_FILE}"))?;
    serde_json::from_str(&text).with_context(|| format!("failed to read {LIMITS_FILE}"))
}

/// Accepts these counts for the ids that they name.
pub(super) fn accept(lines: &[Line]) -> Result<()> {
    let mut accepted = limits().unwrap_or_default();
    for line in lines {
        accepted.extend(counts(line).map(|(key, count, _)| (key, count)));
    }
    let text = serde_json::to_string_pretty(&accepted)? + "\n";
    fs::write(repository::root().join(LIMITS_FILE), text)?;
    say(&format!("wrote {LIMITS_FILE}"));
    Ok(())
}

/// Fails when something got slower than accepted.
pub(super) fn gate(lines: &[Line], growths: &[Growth]) -> Result<()> {
    let limits = limits()?;
    let mut broken = Vec::new();
    for (key, count, what) in lines.iter().flat_map(counts) {
        match limits.get(&key) {
            Some(limit) if count <= limit + limit * SLACK_PERCENT / 100 => {}
            Some(limit) => broken.push(format!("{key}: {count} {what}, accepted {limit}")),
            None => broken.push(format!("{key}: has no accepted count")),
        }
    }
    for line in lines {
        if let (Some(peak), Some(max)) = (line.measured.peak_mib, line.peak_mib_max)
            && peak > max
        {
            broken.push(format!(
                "{}/{}: peak {peak} MiB, allowed {max}",
                line.measured.id, line.size
            ));
        }
    }
    for growth in growths {
        if growth.slope_max.is_some_and(|max| growth.slope > max) {
            broken.push(format!("{}: slope {:.3}", growth.id, growth.slope));
        }
    }
    ensure!(!lines.is_empty(), "no benchmark ran");
    if !broken.is_empty() {
        bail!(
            "benchmarks got slower; if it is meant, `cargo xtask bench --accept`:\n{}",
            broken.join("\n")
        );
    }
    Ok(())
}
