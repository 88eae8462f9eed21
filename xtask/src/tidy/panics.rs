//! Panics unwind in every profile: what is tested, what is simulated and what is handed out can catch the same.

use super::Finding;
use crate::repository::File;

/// Finds profiles in which a panic ends the process at once. Tests unwind in all of them, so that none would show it.
pub(super) fn panics(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        let lines = file.text.iter().flat_map(|text| text.lines()).enumerate();
        let aborts = lines.filter(|(_, line)| line.replace(' ', "").starts_with("panic=\"abort\""));
        findings.extend(aborts.map(|(index, _)| {
            let what = "nothing catches a panic that aborts: leave it out, `kai_daemon::process::end_on_panic` ends the \
                        process";
            Finding::new(format!("{}:{}", file.path, index + 1), what)
        }));
    }
    findings
}
