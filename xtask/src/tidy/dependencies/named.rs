//! Dependencies that a manifest declares are named in the sources of its section: `src` for dependencies, `build.rs`
//! for those of the build, any file of the package for those of development. It needs no tool that would have to be
//! installed first, as cargo-shear would. A crate whose library has another name than its package is told apart by
//! nothing here; there is none.

use std::path::Path;

use super::{Dependency, Package};
use crate::repository::{self, File};
use crate::tidy::{Finding, has_extension};

/// Finds what is declared and never named.
pub(super) fn check(packages: &[Package], files: &[File]) -> Vec<Finding> {
    let root = repository::root();
    let mut findings = Vec::new();
    for package in packages {
        let manifest = Path::new(&package.manifest_path);
        let folder = manifest.strip_prefix(&root).unwrap_or(manifest).with_file_name("");
        let sources: Vec<(&Path, &str)> = files
            .iter()
            .filter(|file| has_extension(&file.path, "rs"))
            .filter_map(|file| {
                Some((Path::new(&file.path).strip_prefix(&folder).ok()?, file.text.as_deref()?))
            })
            .collect();
        for dependency in &package.dependencies {
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_");
            let mut sources = sources.iter().filter(|(path, _)| is_of(path, dependency));
            if !sources.any(|(_, text)| is_named(&name, text)) {
                let what = format!("declares {} and never names it: remove it", dependency.name);
                findings.push(Finding::new(&package.name, what));
            }
        }
    }
    findings
}

/// Tells whether a file may use the dependency: what only tests name belongs to the section of development.
fn is_of(path: &Path, dependency: &Dependency) -> bool {
    match dependency.kind.as_deref() {
        None => path.starts_with("src"),
        Some("build") => path == Path::new("build.rs"),
        Some(_) => true,
    }
}

/// Tells whether code, not a comment, has the crate at the beginning of a path, or takes it in by `use`.
fn is_named(name: &str, text: &str) -> bool {
    let lines = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
    lines.into_iter().any(|line| {
        line.match_indices(name).any(|(at, _)| {
            let (before, after) = (&line[..at], line[at + name.len()..].trim_start());
            let is_path = after.starts_with("::");
            let is_taken =
                before.ends_with("use ") && (after.starts_with(';') || after.starts_with("as "));
            let is_first = !before.ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
            is_first && (is_path || is_taken)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a dependency of a package with one file.
    fn finds(declared: &Dependency, path: &str, text: &str, expect: bool) {
        let package = Package {
            name: "a".into(),
            manifest_path: "a/Cargo.toml".into(),
            dependencies: vec![declared.clone()],
        };
        let file = File { path: path.into(), text: Some(text.into()) };
        let found = check(&[package], &[file]);
        assert_eq!(!found.is_empty(), expect, "{declared:?} in {path}: {text}");
    }

    #[test]
    fn what_is_not_named_is_found() {
        let dependency = |name: &str, kind: Option<&str>| Dependency {
            name: name.into(),
            rename: None,
            kind: kind.map(Into::into),
            path: None,
        };
        let serde_json = &dependency("serde-json", None);
        finds(serde_json, "a/src/x.rs", "use serde_json::Value;", false);
        finds(serde_json, "a/src/x.rs", "//! See serde_json::Value.", true);
        finds(serde_json, "a/src/x.rs", "let serde_json = other::serde_json::VALUE;", true);
        finds(serde_json, "b/src/x.rs", "use serde_json::Value;", true);
        finds(serde_json, "a/tests/x.rs", "use serde_json::Value;", true);
        finds(
            &dependency("serde-json", Some("dev")),
            "a/tests/x.rs",
            "use serde_json as j;",
            false,
        );
        let cc = &dependency("cc", Some("build"));
        finds(cc, "a/build.rs", "cc::Build::new();", false);
        finds(cc, "a/src/x.rs", "cc::Build::new();", true);
        let renamed = &Dependency { rename: Some("json".into()), ..serde_json.clone() };
        finds(renamed, "a/src/x.rs", "json::to_string(x)", false);
    }
}
