//! Whole-scheduler cases: a cluster, some rounds of the full cycle or one plan, and what must come out.

use super::Verdict;

pub mod case;
pub mod devices;
pub mod judge;
pub mod renaming;
pub mod room;
pub mod run;
pub mod setup;
pub mod words;
pub mod zones;

/// Runs a case.
///
/// # Errors
///
/// Names what of the case cannot be read.
pub fn judge(case: serde_json::Value) -> anyhow::Result<Verdict> {
    let case: case::Case = serde_json::from_value(case)?;
    Ok(Verdict {
        level: case.classification.level.clone(),
        features: case.features.clone(),
        differences: run::run(&case)?,
    })
}
