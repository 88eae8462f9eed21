//! The repository's own rules, as a test: sizes, headers, dependencies, links, and what must never be in a file.
//!
//! Each rule is a function from files to findings, so that each can be seen to fail in a test of its own.

mod book;
mod chance;
mod dependencies;
mod documents;
mod layers;
mod panics;
mod prose;
mod signatures;
mod source;

use anyhow::{Result, bail};

use crate::repository::{self, File};

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// `path` or `path:line`.
    at: String,
    /// The mistake, and the way to mend it.
    what: String,
}

impl Finding {
    fn new(at: impl Into<String>, what: impl Into<String>) -> Self {
        Self { at: at.into(), what: what.into() }
    }
}

/// Tells whether a path ends in `.extension`.
fn has_extension(path: &str, extension: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|one| one == extension)
}

type Rule = fn(&[File]) -> Vec<Finding>;

const RULES: &[Rule] = &[
    source::header,
    source::length,
    source::no_mod_rs,
    source::no_leftovers,
    source::no_vague_names,
    source::median_length,
    source::forbidden_words,
    chance::chance,
    panics::panics,
    layers::layers,
    signatures::tuples,
    signatures::riddles,
    prose::links,
    book::contents,
    book::anchors,
    prose::machine_paths,
    prose::scenarios,
    documents::code_map,
    documents::lengths,
    documents::differences,
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
        check(source::no_leftovers, "a/src/x.rs.orig", "", &["a/src/x.rs.orig"]);
        check(source::no_leftovers, "a/src/x.rs", "", &[]);
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
        let clock = concat!("//! x\nlet now = jiff::Timestamp", "::now();");
        check(chance::chance, "scheduler/src/x.rs", clock, &["scheduler/src/x.rs:2"]);
        check(chance::chance, "cli/src/x.rs", clock, &[]);
        let choice = concat!("tokio::select", "! {\n    x = y => {}\n}");
        check(chance::chance, "daemon/src/x.rs", choice, &["daemon/src/x.rs:1"]);
        check(chance::chance, "daemon/src/clock.rs", choice, &[]);
        let aborts = "[profile.release]\npanic = \"abort\"\n";
        check(panics::panics, "Cargo.toml", aborts, &["Cargo.toml:2"]);
        check(panics::panics, "Cargo.toml", "[profile.release]\npanic = \"unwind\"\n", &[]);
        let many = concat!("use tokio::sync::", "watch;");
        check(chance::chance, "sandbox/src/x.rs", many, &["sandbox/src/x.rs:1"]);
        check(chance::chance, "scheduler/src/x.rs", many, &[]);
        let low = file("cli/src/print/x.rs", "//! x\nuse crate::commands::y;\n");
        let high = file("cli/src/commands/y.rs", "//! x\nuse crate::print::x;\n");
        let found: Vec<String> =
            layers::layers(&[low, high]).into_iter().map(|one| one.at).collect();
        assert_eq!(found, ["cli/src/print/x.rs:2"]);
        check(signatures::tuples, "a/src/x.rs", "fn f((a, b): (u8, u8)) {}", &["a/src/x.rs:1"]);
        check(signatures::riddles, "a/src/x.rs", "/// What it is.", &["a/src/x.rs:1"]);
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

    #[test]
    fn documents_can_be_wrong() {
        let map = "ARCHITECTURE.md";
        check(documents::code_map, map, "see `ARCHITECTURE.md` and `a b`", &[]);
        check(documents::code_map, map, "\nsee `engine/src/owner.rs`", &["ARCHITECTURE.md:2"]);
        check(documents::code_map, map, "see `engine/src/owner/`", &["ARCHITECTURE.md:1"]);
        let source = file("a/x.rs", "fn known() {}");
        for (place, expect) in [("known", 0), ("unknown", 1)] {
            let files = [file(map, &format!("`a/x.rs::{place}`")), file("a/x.rs", "fn known() {}")];
            assert_eq!(documents::code_map(&files).len(), expect, "{place}");
        }
        let files = [file(map, "nothing"), file("a/Cargo.toml", ""), source];
        assert_eq!(documents::code_map(&files).len(), 1, "a crate that is not named");

        let design = "DESIGN.md";
        check(documents::lengths, design, "### Why?\n1\n2\n\n3\n4\n5\n6\n7\n8\n", &[]);
        check(
            documents::lengths,
            design,
            "# Design\n### Why?\n1\n2\n3\n4\n5\n6\n7\n8\n9\n",
            &["DESIGN.md:2"],
        );
        check(documents::lengths, design, &"word ".repeat(4_501), &[design]);
        check(documents::lengths, map, &"word ".repeat(1_801), &[map]);

        let table =
            |row: &str| format!("| id | KAI | ours | seen in |\n|---|---|---|---|\n{row}\n");
        check(documents::differences, design, &table("| Q1 | a | b | no test |"), &[]);
        check(documents::differences, design, &table("| Q1 | a | b | `c` |"), &[design]);
        check(documents::differences, design, &table("| Q1 | a | b | |"), &[design]);
        let files =
            [file(design, &table("| Q1 | a | b | `c/d` |")), file("tests/scenarios/c/d.yaml", "")];
        assert_eq!(documents::differences(&files), []);
    }
}
