//! Rules for the guide: its contents name every page, links lead to a heading that is there, and pages to pages: what is
//! not in the book is linked by its address, for the book is read elsewhere as well.

use std::collections::BTreeSet;

use super::{Finding, has_extension};
use crate::repository::{self, File};

/// Address below which the repository's files are read.
const ADDRESS: &str = "https://github.com/kubectl-kai/kubectl-kai/blob/main/";
/// The contents of the book.
const CONTENTS: &str = "docs/SUMMARY.md";

/// Returns Markdown files with their path and text.
fn pages(files: &[File]) -> impl Iterator<Item = (&str, &str)> {
    let texts = files.iter().filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)));
    texts.filter(|(path, _)| has_extension(path, "md"))
}

/// `docs/SUMMARY.md` names every page below `docs/`.
pub(super) fn contents(files: &[File]) -> Vec<Finding> {
    let Some((_, contents)) = pages(files).find(|(path, _)| *path == CONTENTS) else {
        return Vec::new();
    };
    let named: BTreeSet<&str> = links(contents).map(|(_, target)| target).collect();
    let below = pages(files).filter_map(|(path, _)| path.strip_prefix("docs/"));
    below
        .filter(|page| *page != "SUMMARY.md" && !named.contains(page))
        .map(|page| Finding::new(CONTENTS, format!("does not name {page}")))
        .collect()
}

/// Links lead to files that are there, and to headings that these have; pages of the book to what is in it.
pub(super) fn anchors(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in pages(files) {
        for (line, target) in links(text) {
            let mut find = |what: &str| {
                findings.push(Finding::new(format!("{path}:{line}"), format!("{target} {what}")));
            };
            let Some((file, anchor)) = place(path, target) else { continue };
            if path.starts_with("docs/") && !target.contains("://") && !file.starts_with("docs/") {
                find(&format!("leads out of the book: write {ADDRESS}{file}"));
                continue;
            }
            if path.starts_with("docs/") && !target.contains("://") && file == CONTENTS {
                find(&format!("is no page of the book: write {ADDRESS}{file}"));
            }
            let there = match files.iter().find(|known| known.path == file) {
                Some(known) => known.text.clone().unwrap_or_default(),
                None => match std::fs::read_to_string(repository::root().join(&file)) {
                    Ok(text) => text,
                    Err(_) if repository::root().join(&file).exists() => continue,
                    Err(_) => {
                        find("leads nowhere");
                        continue;
                    }
                },
            };
            if !anchor.is_empty() && !headings(&there).contains(anchor) {
                find("names no heading");
            }
        }
    }
    findings
}

/// The file in the repository that a link of a page leads to, and the heading; `None` for what is elsewhere.
fn place<'t>(page: &str, target: &'t str) -> Option<(String, &'t str)> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    if let Some(file) = file.strip_prefix(ADDRESS) {
        return Some((file.to_owned(), anchor));
    }
    if file.contains("://") || file.starts_with("mailto:") {
        return None;
    }
    if file.is_empty() {
        return Some((page.to_owned(), anchor));
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some((parts.join("/"), anchor))
}

/// The targets of links, with the lines that they are in, without those in blocks of code.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(line, text)| {
        text.split("](").skip(1).filter_map(move |rest| Some((line, rest.split(')').next()?)))
    })
}

/// Lines that are no code, by their number.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        (!fenced && !is_fence).then_some((index + 1, line))
    })
}

/// The names by which headings are linked.
fn headings(text: &str) -> BTreeSet<String> {
    let heading = |line: &str| {
        let title = line.trim_start_matches('#');
        let title = title.strip_prefix(' ').filter(|_| line.starts_with('#'))?;
        let kept = title.trim().chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || matches!(c, '-' | '_') => c.to_lowercase().next(),
            _ => None,
        });
        Some(kept.collect())
    };
    prose(text).filter_map(|(_, line)| heading(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: Some(text.to_owned()) }
    }

    #[test]
    fn a_page_that_nobody_names_is_found() {
        let contents_file = file(CONTENTS, "- [a](guide/a.md)\n");
        let files = [contents_file, file("docs/guide/a.md", ""), file("docs/b.md", "")];
        assert_eq!(contents(&files), [Finding::new(CONTENTS, "does not name b.md")]);
    }

    #[test]
    fn a_link_needs_its_heading() {
        for (link, expect) in [
            ("#is-it-there-yes", 0),
            ("#is-it", 1),
            ("https://example.com#x", 0),
            ("#code", 1),
            ("nowhere.md", 1),
            ("Cargo.toml", 0),
        ] {
            let text = format!("## Is `it` there? Yes\n```\n# code\n```\n[a]({link})\n");
            assert_eq!(anchors(&[file("README.md", &text)]).len(), expect, "{link}");
        }
    }

    #[test]
    fn a_page_of_the_book_links_to_what_is_in_it() {
        for (link, expect) in [
            ("../cli.md", 0),
            ("../../DESIGN.md", 1),
            ("../SUMMARY.md", 1),
            ("https://github.com/kubectl-kai/kubectl-kai/blob/main/DESIGN.md", 0),
            ("https://github.com/kubectl-kai/kubectl-kai/blob/main/DESIGNS.md", 1),
            ("https://github.com/kubectl-kai/kubectl-kai/blob/main/DESIGN.md#nothing-of-it", 1),
        ] {
            let text = format!("[a]({link})\n");
            assert_eq!(anchors(&[file("docs/guide/a.md", &text)]).len(), expect, "{link}");
        }
    }
}
