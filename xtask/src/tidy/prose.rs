//! Rules for documents, data and every other text.

use super::{Finding, has_extension};
use crate::repository::{self, File};

/// Lines a scenario may have: more than one screen is more than one idea.
const SCENARIO_LINES_MAX: usize = 60;

fn texts(files: &[File]) -> impl Iterator<Item = (&str, &str)> {
    files.iter().filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
}

/// Relative links of Markdown files lead somewhere.
pub(super) fn links(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in texts(files).filter(|(path, _)| has_extension(path, "md")) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut fenced = false;
        for (index, line) in text.lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            if fenced {
                continue;
            }
            for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let file = target.split('#').next().unwrap_or_default();
                let local =
                    !file.is_empty() && !file.contains("://") && !file.starts_with("mailto:");
                if local && !repository::root().join(folder).join(file).exists() {
                    findings.push(Finding::new(
                        format!("{path}:{}", index + 1),
                        format!("the link to {file} leads nowhere"),
                    ));
                }
            }
        }
    }
    findings
}

/// Nothing names a path of the machine it was written on.
pub(super) fn machine_paths(files: &[File]) -> Vec<Finding> {
    let roots = [concat!("/", "work/"), concat!("/", "root/"), concat!("/home", "/user")];
    // MPIJob's own default is a path in the image's root account.
    let is_foreign = |line: &str| line.contains("://") || line.contains("sshAuthMountPath");
    let mut findings = Vec::new();
    for (path, text) in texts(files).filter(|(path, _)| *path != "Cargo.lock") {
        for (index, line) in text.lines().enumerate() {
            if roots.iter().any(|root| line.contains(root)) && !is_foreign(line) {
                findings
                    .push(Finding::new(format!("{path}:{}", index + 1), "a path of one machine"));
            }
        }
    }
    findings
}

/// A scenario says what it shows and why, on one screen.
pub(super) fn scenarios(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in texts(files) {
        if !path.starts_with("tests/scenarios/") || !has_extension(path, "yaml") {
            continue;
        }
        if !text.starts_with("title: ") || !text.lines().any(|line| line.starts_with("why: ")) {
            findings.push(Finding::new(path, "starts without `title:` and `why:`"));
        }
        let lines = text.lines().count();
        if lines > SCENARIO_LINES_MAX {
            findings
                .push(Finding::new(path, format!("{lines} lines, at most {SCENARIO_LINES_MAX}")));
        }
    }
    findings
}
