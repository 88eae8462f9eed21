//! Homes of types, where they get their methods: in the folder that defines them, so that a layer says all that it can
//! do.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::code;
use crate::{repository::File, tidy::Finding};

/// Words with which a line begins that defines a type.
const TYPES: [&str; 5] = ["struct", "enum", "union", "trait", "type"];

/// Finds `impl` blocks of types of the same crate that another member of its root defines.
pub(super) fn strangers(folder: &str, files: &[File]) -> Vec<Finding> {
    let members: Vec<(&str, &File, String)> = files
        .iter()
        .filter_map(|file| {
            let below = file.path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
            let member = below.split('/').next()?;
            Some((member, file, code(file.text.as_deref()?)))
        })
        .collect();
    let mut homes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (member, _, text) in &members {
        for name in text.lines().filter_map(defined) {
            homes.entry(name).or_default().insert(member);
        }
    }
    let mut findings = Vec::new();
    for (member, file, text) in &members {
        for (number, line) in (1..).zip(text.lines()) {
            let Some(name) = implemented(line) else { continue };
            if let Some(home) = homes.get(name).filter(|homes| !homes.contains(member)) {
                let home = home.iter().copied().collect::<Vec<_>>().join("` or `");
                findings.push(Finding::new(
                    format!("{}:{number}", file.path),
                    format!("`{name}` gets methods in `{member}`, but is one of `{home}`"),
                ));
            }
        }
    }
    findings
}

/// The type that a line at the left edge defines.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let word = words.next().filter(|word| TYPES.contains(word))?;
    let is_at_edge = line.starts_with("pub") || line.starts_with(word);
    words.next().filter(|_| is_at_edge).map(name)
}

/// The type whose `impl` block a line at the left edge begins.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(rest) => without_parameters(rest)?,
        None => rest,
    };
    let of = rest.split_once(" for ").map_or(rest, |(_, of)| of);
    let path = of.trim_start().split(['<', ' ']).next()?;
    path.rsplit("::").next().map(name)
}

/// The text behind the `>` that ends a list of parameters.
fn without_parameters(text: &str) -> Option<&str> {
    let mut depth = 1_u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            // `->` ends nothing.
            '>' if !text[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[at + 1..]);
        }
    }
    None
}

/// The name that a word begins with.
fn name(word: &str) -> &str {
    let end = word.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &word[..end.unwrap_or(word.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expect: &[&str]) {
        let files: Vec<File> = files
            .iter()
            .map(|(path, text)| File { path: (*path).into(), text: Some((*text).into()) })
            .collect();
        let found: Vec<String> = strangers("a/src", &files)
            .into_iter()
            .map(|one| format!("{}: {}", one.at, one.what))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn methods_are_where_the_type_is() {
        let low = ("a/src/low.rs", "pub(crate) struct Low<T>(T);\nenum Own { A }\n");
        let found = "a/src/high.rs:2: `Low` gets methods in `high`, but is one of `low`";
        check(&[low, ("a/src/low/more.rs", "impl<T> Low<T> {\n")], &[]);
        check(&[low, ("a/src/high.rs", "\nimpl Low<u8> {\n")], &[found]);
        check(&[low, ("a/src/high.rs", "\nimpl<F: Fn() -> u8> Iterator for Low<F> {\n")], &[found]);
        check(
            &[low, ("a/src/high.rs", "\nimpl std::ops::Index<u8> for crate::low::Low<u8> {\n")],
            &[found],
        );
        check(
            &[low, ("a/src/high.rs", "struct Own;\nimpl Own {\nimpl From<Own> for String {\n")],
            &[],
        );
        check(&[low, ("a/src/high.rs", "#[cfg(test)]\nmod tests {}\nimpl Low<u8> {\n")], &[]);
    }
}
