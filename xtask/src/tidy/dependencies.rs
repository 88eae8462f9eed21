//! The dependency rules: which crate may know which, and what is declared is used.

mod named;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Finding;
use crate::repository::{File, capture, cargo, command};

/// Crates that a crate may depend on. `None` for others means "anything".
struct Row {
    name: &'static str,
    ours: &'static [&'static str],
    never: &'static [&'static str],
    others: Option<&'static [&'static str]>,
}

/// Everything of ours that an adapter or a test may build on.
const OURS: &[&str] = &[
    "kai-api",
    "kai-engine",
    "kai-sim",
    "kai-daemon",
    "kai-scheduler",
    "kai-podgrouper",
    "kai-reservation",
    "kai-sandbox",
    "kubectl-kai",
];

/// The table of `ARCHITECTURE.md`; dev-dependencies are free.
const TABLE: &[Row] = &[
    Row { name: "kai-engine", ours: &[], never: &[], others: Some(&[]) },
    Row {
        name: "kai-sim",
        ours: &["kai-engine"],
        never: &[],
        others: Some(&["serde", "serde-saphyr", "thiserror"]),
    },
    Row { name: "kai-api", ours: &[], never: &["tokio"], others: None },
    Row { name: "kai-daemon", ours: &[], never: &["clap"], others: None },
    Row {
        name: "kai-scheduler",
        ours: &["kai-engine", "kai-sim", "kai-api", "kai-daemon"],
        never: &[],
        others: None,
    },
    Row { name: "kai-podgrouper", ours: &["kai-api", "kai-daemon"], never: &[], others: None },
    Row {
        name: "kai-reservation",
        ours: &["kai-api"],
        never: &["clap", "kube", "tokio"],
        others: None,
    },
    Row {
        name: "kai-sandbox",
        ours: &["kai-api", "kai-daemon", "kai-scheduler", "kai-podgrouper"],
        never: &["clap"],
        others: None,
    },
    Row {
        name: "kubectl-kai",
        ours: &[
            "kai-engine",
            "kai-sim",
            "kai-api",
            "kai-sandbox",
            "kai-scheduler",
            "kai-podgrouper",
        ],
        never: &[],
        others: None,
    },
    Row {
        name: "kai-programs",
        ours: &["kai-scheduler", "kai-podgrouper", "kai-reservation", "kubectl-kai"],
        never: &[],
        others: Some(&[]),
    },
    Row { name: "kai-tests", ours: OURS, never: &[], others: None },
    Row {
        name: "xtask",
        ours: &["kai-api", "kubectl-kai"],
        never: &["tokio", "kube"],
        others: None,
    },
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Clone, Debug, Deserialize)]
struct Dependency {
    name: String,
    rename: Option<String>,
    /// `dev` or `build`.
    kind: Option<String>,
    path: Option<String>,
}

/// Compares the manifests with the table, and with the sources.
pub(super) fn check(files: &[File]) -> Result<Vec<Finding>> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let text = capture(&mut command(&cargo(), &arguments))?;
    let metadata: Metadata =
        serde_json::from_str(&text).context("failed to read the output of `cargo metadata`")?;
    let mut findings = compare(&metadata.packages);
    findings.extend(named::check(&metadata.packages, files));
    Ok(findings)
}

fn compare(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let Some(row) = TABLE.iter().find(|row| row.name == package.name) else {
            findings.push(Finding::new(&package.name, "is not in the dependency table"));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|one| one.kind.is_none()) {
            let name = dependency.name.as_str();
            let allowed = if dependency.path.is_some() {
                row.ours.contains(&name)
            } else {
                !row.never.contains(&name) && row.others.is_none_or(|others| others.contains(&name))
            };
            if !allowed {
                findings.push(Finding::new(&package.name, format!("must not depend on {name}")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_depends_on_nothing() {
        let dependency = Dependency { name: "serde".into(), rename: None, kind: None, path: None };
        let engine = Package {
            name: "kai-engine".into(),
            manifest_path: "engine/Cargo.toml".into(),
            dependencies: vec![dependency],
        };
        let found = compare(&[engine]);
        assert_eq!(found, [Finding::new("kai-engine", "must not depend on serde")]);
    }
}
