//! The repository's own rules, as a test: sizes, headers, dependencies, links, and what must never be in a file.
//!
//! Each rule is a function from files to findings, so that each can be seen to fail in a test of its own.

mod dependencies;
mod layers;
mod prose;
mod source;

use anyhow::{Result, bail};

use crate::repository::{self, File};

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// `path` or `path:line`.
    at: String,
    /// What is wrong and what to do.
    what: String,
}

impl Finding {
    fn new(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self { at: at.into(), what: what.into() }
    }
}

/// Whether a path ends in `.extension`.
fn has_extension(path: &str, extension: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|one| one == extension)
}

type Rule = fn(&[File]) -> Vec<Finding>;

const RULES: &[Rule] = &[
    source::header,
    source::length,
    source::no_mod_rs,
    source::no_vague_names,
    source::median_length,
    source::forbidden_words,
    layers::layers,
    prose::links,
    prose::machine_paths,
    prose::scenarios,
    prose::code_map,
];

/// Runs every rule over the repository.
pub(crate) fn run() -> Result<()> {
    let files = repository::files()?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&files)).collect();
    findings.extend(dependencies::check(&files)?);
    for finding in &findings {
        repository::say(&format!("{}: {}", finding.at, finding.what));
    }
    if !findings.is_empty() {
        bail!("{} places break the rules of the repository", findings.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.into(), text: Some(text.into()) }
    }

    fn check(rule: Rule, path: &str, text: &str, expect: &[&str]) {
        let found: Vec<String> = rule(&[file(path, text)]).into_iter().map(|one| one.at).collect();
        assert_eq!(found, expect, "{path}: {text:.60}");
    }

    #[test]
    fn repository_is_tidy() {
        if let Err(error) = run() {
            panic!("{error:#}");
        }
    }

    #[test]
    fn each_rule_can_fail() {
        check(source::header, "a/src/x.rs", "fn f() {}", &["a/src/x.rs"]);
        check(source::header, "a/src/x.rs", "//! What it is for.\n", &[]);
        let long = format!("//! x\n{}", "// y\n".repeat(500));
        check(source::length, "a/src/x.rs", &long, &["a/src/x.rs"]);
        check(source::length, "a/tests/x.rs", &long, &["a/tests/x.rs"]);
        let tested = format!("//! x\n#[cfg(test)]\nmod tests {{}}\n{}", "// y\n".repeat(500));
        check(source::length, "a/src/x.rs", &tested, &[]);
        check(source::no_mod_rs, "a/src/x/mod.rs", "//! x\n", &["a/src/x/mod.rs"]);
        check(source::no_vague_names, "a/src/utils.rs", "//! x\n", &["a/src/utils.rs"]);
        check(
            source::forbidden_words,
            "a/src/x.rs",
            concat!("//! x\nlet y = z.unwrap", "();"),
            &["a/src/x.rs:2"],
        );
        check(
            source::forbidden_words,
            "a/src/x.rs",
            concat!("//! x\n#[", "allow(dead_code)]"),
            &["a/src/x.rs:2"],
        );
        let low = file("cli/src/print/x.rs", "//! x\nuse crate::commands::y;\n");
        let high = file("cli/src/commands/y.rs", "//! x\nuse crate::print::x;\n");
        let found: Vec<String> =
            layers::layers(&[low, high]).into_iter().map(|one| one.at).collect();
        assert_eq!(found, ["cli/src/print/x.rs:2"]);
        check(prose::links, "README.md", "[a](no-such-file.md)", &["README.md:1"]);
        check(prose::links, "README.md", "[a](https://kubernetes.io)", &[]);
        let machine = format!("see /{}/main", "work");
        check(prose::machine_paths, "README.md", &machine, &["README.md:1"]);
        check(
            prose::scenarios,
            "tests/scenarios/a/b.yaml",
            "why: x\n",
            &["tests/scenarios/a/b.yaml"],
        );
        check(prose::scenarios, "tests/scenarios/a/b.yaml", "title: t\nwhy: x\n", &[]);
    }
}
