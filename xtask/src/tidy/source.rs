//! Rules for Rust files.

use super::{Finding, has_extension};
use crate::repository::File;

/// Lines a file may have before its tests.
const LINES_MAX: usize = 500;
/// Lines that half of the files must not exceed.
const LINES_MEDIAN_MAX: usize = 150;
/// Names that say nothing about what is inside.
const VAGUE: &[&str] =
    &["utils", "util", "common", "manager", "helper", "helpers", "misc", "types"];
/// Endings of what a patch, a merge or an editor leaves beside a file.
const LEFTOVERS: &[&str] = &["orig", "rej", "bak", "swp"];

/// The files of Rust that somebody wrote, with their texts.
pub(super) fn rust(files: &[File]) -> impl Iterator<Item = (&str, &str)> {
    files.iter().filter_map(|file| {
        let rust = has_extension(&file.path, "rs") && !file.path.contains("/generated/");
        Some((file.path.as_str(), file.text.as_deref()?)).filter(|_| rust)
    })
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("/benches/")
}

/// The lines before the tests at the end of a file.
fn lines_without_tests(text: &str) -> usize {
    text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count()
}

/// Each file says in its first line what it is for.
pub(super) fn header(files: &[File]) -> Vec<Finding> {
    rust(files)
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(path, _)| Finding::new(path, "starts without a `//!` line that says its purpose"))
        .collect()
}

/// No file is longer than one can keep in mind, a file of tests neither.
pub(super) fn length(files: &[File]) -> Vec<Finding> {
    rust(files)
        .map(|(path, text)| (path, lines_without_tests(text)))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(path, lines)| {
            Finding::new(path, format!("{lines} lines, at most {LINES_MAX}: split"))
        })
        .collect()
}

/// Most files are short.
pub(super) fn median_length(files: &[File]) -> Vec<Finding> {
    let mut lines: Vec<usize> = rust(files)
        .filter(|(path, _)| !is_test(path))
        .map(|(_, text)| lines_without_tests(text))
        .collect();
    lines.sort_unstable();
    let median = lines.get(lines.len() / 2).copied().unwrap_or_default();
    if lines.len() < 20 || median <= LINES_MEDIAN_MAX {
        return Vec::new();
    }
    vec![Finding::new(
        ".",
        format!("the median file has {median} lines, at most {LINES_MEDIAN_MAX}"),
    )]
}

/// `foo.rs` beside `foo/`, never `foo/mod.rs`.
pub(super) fn no_mod_rs(files: &[File]) -> Vec<Finding> {
    rust(files)
        .filter(|(path, _)| path.ends_with("/mod.rs") && !path.contains("/tests/"))
        .map(|(path, _)| Finding::new(path, "name the file after its module"))
        .collect()
}

/// No file is what a tool left behind.
pub(super) fn no_leftovers(files: &[File]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| LEFTOVERS.iter().any(|ending| has_extension(&file.path, ending)))
        .map(|file| Finding::new(&*file.path, "a tool left it behind: delete it"))
        .collect()
}

/// A name says what is inside.
pub(super) fn no_vague_names(files: &[File]) -> Vec<Finding> {
    rust(files)
        .filter(|(path, _)| {
            let stem = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
            VAGUE.contains(&stem)
        })
        .map(|(path, _)| Finding::new(path, "the name says nothing about what is inside"))
        .collect()
}

/// No stub, no `unwrap` outside of tests, no lint silenced without a reason.
pub(super) fn forbidden_words(files: &[File]) -> Vec<Finding> {
    // Written apart so that this file does not find itself.
    let words = [
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("dbg", "!("),
        concat!(".unwrap", "()"),
        concat!("#[", "allow("),
        concat!("#![", "allow("),
        concat!("#[", "ignore"),
    ];
    let mut findings = Vec::new();
    for (path, text) in rust(files).filter(|(path, _)| !is_test(path)) {
        for (index, line) in text.lines().take(lines_without_tests(text)).enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") {
                continue;
            }
            for word in words.iter().filter(|word| code.contains(**word)) {
                findings.push(Finding::new(format!("{path}:{}", index + 1), format!("`{word}`")));
            }
        }
    }
    findings
}
