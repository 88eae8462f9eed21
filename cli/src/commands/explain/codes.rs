//! The numbers that the product prints, each with its section of `docs/errors.md`.

use serde_json::json;

use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::{self, Format};
use crate::print::output::Style;
use crate::print::page::Page;

const PAGE: &str = include_str!("../../../../docs/errors.md");

/// Holds what a number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// `KAI1203`.
    code: &'static str,
    title: &'static str,
    text: &'static str,
}

/// All sections, in the order of the page.
fn sections() -> impl Iterator<Item = Section> {
    PAGE.split("\n## ").skip(1).filter_map(|section| {
        let (head, text) = section.split_once('\n')?;
        let (code, title) = head.split_once(' ')?;
        Some(Section { code, title, text: text.trim() })
    })
}

/// The section of a number; none where the word is no number.
///
/// # Errors
/// A number that the product does not print.
pub(super) fn section(word: &str) -> Result<Option<Section>, Error> {
    let digits = word.to_uppercase();
    let digits = digits.strip_prefix("KAI").unwrap_or(&digits);
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(None);
    }
    let code = format!("KAI{digits}");
    let found = sections().find(|section| section.code == code);
    let missing = || {
        let what = format!("there is no number {code}");
        Problem::new(number::VALUE, Exit::NotFound, what)
            .fix("the numbers and what they mean: docs/errors.md")
    };
    found.map(Some).ok_or_else(|| missing().into())
}

/// Prints a section.
pub(super) fn show(
    section: &Section,
    format: &Format,
    context: &mut Context,
) -> Result<Exit, Error> {
    let Section { code, title, text } = section;
    let data = json!({ "code": code, "title": title, "text": text });
    if format::report(&data, format, &mut context.out)? {
        return Ok(Exit::Ok);
    }
    if *format == Format::Name {
        return context.out.data(code).map(|()| Exit::Ok);
    }
    let mut page = Page::new(context.out.columns());
    page.paragraph(0, &format!("{code}: {title}"), Style::Bold);
    for paragraph in paragraphs(text) {
        page.paragraph(0, &paragraph, Style::Plain);
    }
    context.out.raw(&page.text)?;
    Ok(Exit::Ok)
}

/// Lines that belong together as one; marks of code are left out.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.replace('`', "");
        match paragraphs.last_mut() {
            Some(last) if !line.starts_with("* ") && !line.is_empty() && !last.is_empty() => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => paragraphs.push(line),
        }
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Numbers that the sources of a folder print: `KAI1203`, and reasons of the scheduler, which get the letters later.
    fn printed(folder: &Path, numbers: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("it is there") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                printed(&path, numbers);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).expect("it is text");
                let parts = text.split("KAI").chain(text.split("Reason::new(")).skip(1);
                for part in parts {
                    let digits = part.trim_start().chars().take_while(char::is_ascii_digit);
                    let digits: String = digits.collect();
                    if digits.len() == 4 {
                        numbers.insert(format!("KAI{digits}"));
                    }
                }
            }
        }
    }

    #[test]
    fn every_number_that_is_printed_has_a_section_and_no_other() {
        let mut numbers: BTreeSet<String> =
            number::ALL.iter().map(|number| format!("KAI{number}")).collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for folder in ["cli/src", "scheduler/src", "engine/src", "podgrouper/src", "sandbox/src"] {
            printed(&root.join(folder), &mut numbers);
        }
        // What this file asks for in its own tests.
        numbers.remove("KAI9999");
        let explained: Vec<String> = sections().map(|one| one.code.to_owned()).collect();
        let once: BTreeSet<String> = explained.iter().cloned().collect();
        assert_eq!(once.len(), explained.len(), "a number is explained twice");
        let missing: Vec<&String> = numbers.difference(&once).collect();
        let idle: Vec<&String> = once.difference(&numbers).collect();
        assert!(missing.is_empty(), "docs/errors.md lacks {missing:?}");
        assert!(idle.is_empty(), "nobody prints {idle:?}, which docs/errors.md explains");
    }

    #[test]
    fn a_number_is_told_from_a_name() {
        for (word, expect) in [
            ("KAI1203", Ok(Some("KAI1203"))),
            ("kai1203", Ok(Some("KAI1203"))),
            ("1203", Ok(Some("KAI1203"))),
            ("KAI9999", Err(Exit::NotFound)),
            ("big", Ok(None)),
            ("kai12", Ok(None)),
        ] {
            let found = section(word).map(|found| found.map(|one| one.code));
            assert_eq!(found.map_err(|error| error.exit()), expect, "{word}");
        }
    }

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        assert_eq!(paragraphs("a `b`\nc\n* d\ne"), ["a b c", "* d e"]);
    }
}
