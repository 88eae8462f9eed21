//! Rules for `ARCHITECTURE.md` and `DESIGN.md`: short enough to be read, and every place that they name is there.

use super::Finding;
use crate::repository::File;

/// Words that a reader gets through in ten minutes.
const ARCHITECTURE_WORDS_MAX: usize = 1_800;

/// Words that a reader gets through in half an hour, the table of differences included.
const DESIGN_WORDS_MAX: usize = 4_500;

/// Lines of an answer: more is an article, which belongs into `docs/`.
const ANSWER_LINES_MAX: usize = 8;

fn text<'a>(files: &'a [File], path: &str) -> Option<&'a str> {
    files.iter().find(|file| file.path == path)?.text.as_deref()
}

/// `ARCHITECTURE.md` names every crate, and every place that it names is there: `folder/`, `folder/file.rs` or
/// `folder/file.rs::function`.
pub(super) fn code_map(files: &[File]) -> Vec<Finding> {
    let Some(map) = text(files, "ARCHITECTURE.md") else {
        return Vec::new();
    };
    let mut findings: Vec<Finding> = files
        .iter()
        .filter_map(|file| file.path.strip_suffix("/Cargo.toml"))
        .filter(|folder| !folder.contains('/') && !map.contains(&format!("`{folder}/`")))
        .map(|folder| Finding::new("ARCHITECTURE.md", format!("does not name `{folder}/`")))
        .collect();
    for (index, line) in map.lines().enumerate() {
        for place in line.split('`').skip(1).step_by(2).filter(|span| span.contains('/')) {
            if !is_there(files, place) {
                let at = format!("ARCHITECTURE.md:{}", index + 1);
                findings.push(Finding::new(at, format!("there is no `{place}`")));
            }
        }
    }
    findings
}

fn is_there(files: &[File], place: &str) -> bool {
    if place.ends_with('/') {
        return files.iter().any(|file| file.path.starts_with(place));
    }
    let (path, function) = match place.split_once("::") {
        Some((path, function)) => (path, Some(function)),
        None => (place, None),
    };
    let Some(file) = files.iter().find(|file| file.path == path) else {
        return false;
    };
    function.is_none_or(|function| {
        file.text.as_deref().is_some_and(|text| text.contains(&format!("fn {function}(")))
    })
}

/// Both documents are as long as they may be at most, and so is each answer.
pub(super) fn lengths(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let limits = [("ARCHITECTURE.md", ARCHITECTURE_WORDS_MAX), ("DESIGN.md", DESIGN_WORDS_MAX)];
    for (path, words_max) in limits {
        let words = text(files, path).map_or(0, |text| text.split_whitespace().count());
        if words > words_max {
            findings.push(Finding::new(path, format!("{words} words, at most {words_max}")));
        }
    }
    let mut question: Option<(usize, usize)> = None;
    let design = text(files, "DESIGN.md").unwrap_or_default();
    for (index, line) in design.lines().enumerate() {
        if line.starts_with('#') {
            question = line.starts_with("### ").then_some((index, 0));
        } else if let Some((at, lines)) = question.as_mut().filter(|_| !line.is_empty()) {
            *lines += 1;
            if *lines == ANSWER_LINES_MAX + 1 {
                let at = format!("DESIGN.md:{}", *at + 1);
                let what = format!("an answer of more than {ANSWER_LINES_MAX} lines");
                findings.push(Finding::new(at, what));
            }
        }
    }
    findings
}

/// Each row of the table of differences says where it is seen, and what it names is there.
pub(super) fn differences(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let design = text(files, "DESIGN.md").unwrap_or_default();
    let rows = design.split("| id |").nth(1).unwrap_or_default();
    for row in rows.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let id = cells.first().map_or("", |cell| cell.trim_start_matches("| "));
        let seen = cells.get(3).map_or("", |cell| cell.trim_end_matches(" |").trim());
        if id.is_empty() || seen.is_empty() || seen == "|" {
            findings.push(Finding::new("DESIGN.md", format!("{id} does not say where it is seen")));
        }
        for name in seen.split('`').skip(1).step_by(2) {
            let places = [
                format!("tests/scenarios/{name}.yaml"),
                format!("podgrouper/tests/groups/{name}.yaml"),
                format!("{name}.yaml"),
                name.to_owned(),
            ];
            if !places.iter().any(|place| files.iter().any(|file| file.path == *place)) {
                findings.push(Finding::new("DESIGN.md", format!("{id}: there is no `{name}`")));
            }
        }
    }
    findings
}
