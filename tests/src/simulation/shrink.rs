//! The fewest faults with which a seed still breaks a promise, and the file that keeps them.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::{Happened, Report, Settings, run};

/// A history that broke a promise once, as `tests/simulations` keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a load or a kind of faults of its own")]
pub struct Kept {
    /// The promise that was broken, in one sentence.
    pub about: String,
    /// The seed.
    pub seed: u64,
    /// Seconds for which users go on.
    pub seconds: u64,
    /// The number of nodes.
    pub nodes: u32,
    /// About so many pods are there at a time.
    pub pods: u64,
    /// Seconds for which work runs on average.
    pub run_seconds: u64,
    /// Two schedulers run, whose clocks are apart, and answers come late.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub two_leaders: bool,
    /// Jobs are of more kinds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mixed: bool,
    /// More work comes than there is room for, and administrators change queues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crowded: bool,
    /// Users write to an object at the very moment at which a daemon does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub meddlers: bool,
    /// All that goes wrong.
    pub faults: Vec<Happened>,
}

impl Kept {
    /// The settings that have the same happen.
    pub fn settings(&self) -> Settings {
        Settings {
            seed: self.seed,
            length: Duration::from_secs(self.seconds),
            nodes: self.nodes,
            pods: self.pods,
            run: Duration::from_secs(self.run_seconds),
            has_faults: true,
            one_fault_in: 1,
            only: Some(self.faults.clone()),
            is_mixed: self.mixed,
            is_crowded: self.crowded,
            has_meddlers: self.meddlers,
            has_two_leaders: self.two_leaders,
            trace: None,
        }
    }
}

/// Looks for fewer faults of a report with which the first of its findings still comes, in so many runs at most.
///
/// # Errors
/// A simulation could not be set up.
pub fn shrink(settings: &Settings, report: &Report, mut runs: u32) -> Result<Kept> {
    let about = report.findings.first().cloned().unwrap_or_default();
    let mut kept = Kept {
        about: about.clone(),
        seed: settings.seed,
        seconds: settings.length.as_secs().min(report.simulated.as_secs() + 1),
        nodes: settings.nodes,
        pods: settings.pods,
        run_seconds: settings.run.as_secs(),
        two_leaders: settings.has_two_leaders,
        mixed: settings.is_mixed,
        crowded: settings.is_crowded,
        meddlers: settings.has_meddlers,
        faults: report.faults.clone(),
    };
    let mut parts = 2;
    while runs > 0 && !kept.faults.is_empty() {
        let size = kept.faults.len().div_ceil(parts);
        let fewer = (0..parts).map(|part| {
            let mut faults = kept.faults.clone();
            let end = ((part + 1) * size).min(faults.len());
            faults.drain((part * size).min(end)..end);
            Kept { faults, ..kept.clone() }
        });
        let mut found = None;
        for less in fewer.filter(|less| less.faults.len() < kept.faults.len()) {
            if runs == 0 {
                break;
            }
            runs -= 1;
            // A history that cannot be simulated shows nothing.
            let Ok(again) = run(less.settings()) else { continue };
            if again.findings.first().is_some_and(|finding| kind(finding) == kind(&about)) {
                found = Some(less);
                break;
            }
        }
        match found {
            Some(less) => {
                kept = less;
                parts = 2.max(parts - 1);
            }
            None if size == 1 => break,
            None => parts = (2 * parts).min(kept.faults.len()),
        }
    }
    Ok(kept)
}

/// The words of a finding without the names and numbers in it, which differ from history to history.
fn kind(finding: &str) -> String {
    let is_plain = |word: &&str| !word.contains(|letter: char| letter.is_ascii_digit());
    finding.split_whitespace().filter(is_plain).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn a_finding_is_known_again_by_its_words() {
        let first =
            "at 1045 ms: node-1 holds 9000/8000 milli of nvidia.com/gpu after default/job-4-x8hxb";
        let second =
            "at 7 ms: node-3 holds 9000/8000 milli of nvidia.com/gpu after default/job-7-ab2cd";
        assert_eq!(kind(first), kind(second));
        assert_ne!(kind(first), kind("at rest: job-4 fits and has not ended"));
    }
}
