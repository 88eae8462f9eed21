//! Rules for the guide: its contents name every page, and links lead to a heading that is there.

use std::collections::BTreeSet;

use super::{Finding, has_extension};
use crate::repository::{self, File};

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

/// A link to a heading of a page finds it.
pub(super) fn anchors(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in pages(files) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, target) in links(text).filter(|(_, target)| !target.contains("://")) {
            let Some((file, anchor)) = target.split_once('#') else { continue };
            let read = if file.is_empty() {
                Ok(text.to_owned())
            } else {
                std::fs::read_to_string(repository::root().join(folder).join(file))
            };
            // That a file is not there is another rule's finding.
            let Ok(there) = read else { continue };
            if !headings(&there).contains(anchor) {
                let what = format!("{target} names no heading");
                findings.push(Finding::new(format!("{path}:{line}"), what));
            }
        }
    }
    findings
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
        for (link, expect) in
            [("#is-it-there-yes", 0), ("#is-it", 1), ("https://example.com#x", 0), ("#code", 1)]
        {
            let text = format!("## Is `it` there? Yes\n```\n# code\n```\n[a]({link})\n");
            assert_eq!(anchors(&[file("README.md", &text)]).len(), expect, "{link}");
        }
    }
}
