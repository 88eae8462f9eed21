//! A bug as its patch says it, and the tree with many of them, each behind a switch.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail, ensure};

/// The variable that says which bug is on.
pub(super) const VARIABLE: &str = "KAI_SEEDED";

/// A bug.
#[derive(Debug)]
pub(super) struct Bug {
    /// The name of its file, without the ending.
    pub(super) name: String,
    /// The sentence that says it.
    pub(super) about: String,
    edits: Vec<Edit>,
}

/// Lines of a file that are others with the bug.
#[derive(Debug, PartialEq, Eq)]
struct Edit {
    file: String,
    /// The line, as the patch counts, before which its hunk begins; lines may have moved since.
    line: usize,
    hunk: Vec<String>,
}

impl Bug {
    /// All bugs, by name.
    pub(super) fn all(root: &Path) -> Result<Vec<Self>> {
        let folder = root.join(super::FOLDER);
        let mut bugs = Vec::new();
        let entries = fs::read_dir(&folder);
        for entry in entries.with_context(|| format!("failed to read {}", folder.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "patch") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let bug = Self::read(&name, &fs::read_to_string(&path)?);
                bugs.push(bug.with_context(|| format!("{name}.patch"))?);
            }
        }
        // By number: there are more than a hundred.
        let number = |bug: &Self| -> Option<u32> { bug.name.split('-').next()?.parse().ok() };
        bugs.sort_by(|left, right| (number(left), &left.name).cmp(&(number(right), &right.name)));
        Ok(bugs)
    }

    /// Tells whether all that it changes lies in a folder.
    pub(super) fn is_in(&self, folder: &str) -> bool {
        self.edits.iter().all(|edit| Path::new(&edit.file).starts_with(folder))
    }

    /// Counts the files that it changes.
    #[cfg(test)]
    pub(super) fn files(&self) -> usize {
        let files: std::collections::BTreeSet<&str> =
            self.edits.iter().map(|edit| &*edit.file).collect();
        files.len()
    }

    fn read(name: &str, text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let about = lines.next().unwrap_or_default().to_owned();
        ensure!(about.ends_with('.'), "the first line is no sentence");
        let (mut file, mut edits) = (String::new(), Vec::new());
        for line in lines {
            if let Some(path) = line.strip_prefix("+++ b/") {
                path.clone_into(&mut file);
            } else if let Some(place) = line.strip_prefix("@@ -") {
                let number = place.split([',', ' ']).next().unwrap_or_default().parse()?;
                edits.push(Edit { file: file.clone(), line: number, hunk: Vec::new() });
            } else if let Some(edit) = edits.last_mut()
                && line.starts_with([' ', '-', '+'])
                && !line.starts_with("--- ")
            {
                edit.hunk.push(line.to_owned());
            }
        }
        ensure!(!edits.is_empty(), "there is no hunk");
        Ok(Self { name: name.to_owned(), about, edits })
    }
}

/// Lines of a file, and what takes their place.
struct Change {
    from: usize,
    to: usize,
    text: String,
}

/// The files that bugs change, with all of these bugs in them, each behind a switch.
pub(super) fn switched(root: &Path, bugs: &[&Bug]) -> Result<BTreeMap<String, String>> {
    let mut files: BTreeMap<String, (String, Vec<Change>)> = BTreeMap::new();
    for bug in bugs {
        for edit in &bug.edits {
            if !files.contains_key(&edit.file) {
                let text = fs::read_to_string(root.join(&edit.file))
                    .with_context(|| format!("{}: failed to read {}", bug.name, edit.file))?;
                files.insert(edit.file.clone(), (text, Vec::new()));
            }
            let Some((text, changes)) = files.get_mut(&edit.file) else { continue };
            let lines: Vec<&str> = text.lines().collect();
            changes.extend(changes_of(&bug.name, edit, &lines).with_context(|| bug.name.clone())?);
        }
    }
    let mut texts = BTreeMap::new();
    for (file, (text, mut changes)) in files {
        changes.sort_by_key(|change| (change.from, change.to));
        let is_apart = |pair: &[Change]| pair[0].to <= pair[1].from;
        ensure!(changes.windows(2).all(is_apart), "two bugs change one line of {file}");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for Change { from, to, text } in changes.into_iter().rev() {
            lines.splice(from..to, [text]);
        }
        texts.insert(file, lines.join("\n") + "\n");
    }
    Ok(texts)
}

/// Finds a hunk in a file, and puts what it changes behind a switch.
fn changes_of(bug: &str, edit: &Edit, lines: &[&str]) -> Result<Vec<Change>> {
    let old: Vec<&str> =
        edit.hunk.iter().filter(|line| !line.starts_with('+')).map(|line| &line[1..]).collect();
    let places = lines.windows(old.len()).enumerate().filter(|(_, window)| *window == old);
    let nearest = places.min_by_key(|(at, _)| at.abs_diff(edit.line.saturating_sub(1)));
    let Some((mut at, _)) = nearest else { bail!("the patch does not fit {}", edit.file) };
    let (mut changes, mut run): (Vec<Change>, Option<Run<'_>>) = Default::default();
    // What stays ends a run of lines that change.
    for line in edit.hunk.iter().map(String::as_str).chain([" "]) {
        let (sign, text) = line.split_at(1);
        if sign == " " {
            if let Some(Run { from, old, new }) = run.take() {
                changes.push(Change { from, to: at, text: choice(bug, &old, &new)? });
            }
            at += 1;
            continue;
        }
        let run = run.get_or_insert_with(|| Run { from: at, ..Run::default() });
        if sign == "-" {
            run.old.push(text);
            at += 1;
        } else {
            run.new.push(text);
        }
    }
    Ok(changes)
}

/// Lines that follow each other and change.
#[derive(Default)]
struct Run<'l> {
    from: usize,
    old: Vec<&'l str>,
    new: Vec<&'l str>,
}

/// Texts that end the part before an expression, and that begin the part after one.
const BEFORE: &[&str] = &[" = ", ": ", " in ", "=> ", "if ", "&& ", "|| ", "| ", ", "];
const AFTER: &[&str] = &[" else {", " {", " =>", ";", ",", ")", " && ", " || "];

/// Code that is one of two texts, whichever a variable of the environment says. Statements are chosen as they are; of lines
/// that differ in an expression, the expression.
fn choice(bug: &str, old: &[&str], new: &[&str]) -> Result<String> {
    let (old, new) = (old.join("\n"), new.join("\n"));
    let is_on = format!(
        "{{ static ON: std::sync::OnceLock<bool> = std::sync::OnceLock::new(); \
         *ON.get_or_init(|| std::env::var_os(\"{VARIABLE}\").is_some_and(|bug| bug == \"{bug}\")) }}"
    );
    if old.is_empty() {
        return Ok(format!("if ({is_on}) {{\n{new}\n}}"));
    }
    if new.is_empty() {
        return Ok(format!("if !({is_on}) {{\n{old}\n}}"));
    }
    let same = old.bytes().zip(new.bytes()).take_while(|(left, right)| left == right).count();
    let befores = (0..=same).rev().filter(|at| old.is_char_boundary(*at));
    for before in befores {
        let is_start = old[..before].trim().is_empty();
        if !is_start && !BEFORE.iter().any(|end| old[..before].ends_with(end)) {
            continue;
        }
        let (rest_old, rest_new) = (&old[before..], &new[before..]);
        let ends = rest_old.bytes().rev().zip(rest_new.bytes().rev());
        let same = ends.take_while(|(left, right)| left == right).count();
        for after in (0..=same).rev() {
            let (split_old, split_new) = (rest_old.len() - after, rest_new.len() - after);
            if !rest_old.is_char_boundary(split_old) {
                continue;
            }
            let (is, end) = rest_old.split_at(split_old);
            let with_bug = &rest_new[..split_new];
            // A statement is chosen with all of it.
            let is_end =
                end.is_empty() || (!is_start && AFTER.iter().any(|one| end.starts_with(one)));
            if is_end && is_whole(is) && is_whole(with_bug) {
                let chosen = format!("if ({is_on}) {{ {with_bug} }} else {{ {is} }}");
                let is_statement = is.ends_with([';', '}']) && is_start;
                let chosen = if is_statement { chosen } else { format!("({chosen})") };
                return Ok(format!("{}{chosen}{end}", &old[..before]));
            }
        }
    }
    bail!("what it changes is neither a statement nor an expression")
}

/// Tells whether a text has something, and ends all that it begins.
fn is_whole(text: &str) -> bool {
    // The rest of a `let`, or a guard with its arm.
    if text.trim_end().ends_with("else") || text.contains(" => ") && !text.contains('{') {
        return false;
    }
    let mut depth = 0_i32;
    for letter in text.chars() {
        depth += match letter {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && !text.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expect: &str) {
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        let (old, new) = (old.to_owned().leak(), new.to_owned().leak());
        let text = choice("07-x", &lines(old), &lines(new)).expect("a part differs");
        let (start, rest) = text.split_once("({ static").expect("a switch begins");
        let (_, end) = rest.split_once("\"07-x\")) })").expect("a switch ends");
        assert_eq!(format!("{start}ON{end}"), expect);
    }

    #[test]
    fn the_part_that_differs_is_chosen() {
        check("    a();", "", "if !ON {\n    a();\n}");
        check("", "    return;", "if ON {\n    return;\n}");
        check("if a == B {", "if a == C {", "if (if ON { a == C } else { a == B }) {");
        check("if a && b() {", "if a {", "if (if ON { a } else { a && b() }) {");
        check(
            "let x = f(a <= b);",
            "let x = f(a >= b);",
            "let x = (if ON { f(a >= b) } else { f(a <= b) });",
        );
        check(
            "let Some(a) = b else { return };",
            "let Some(a) = c else { return };",
            "let Some(a) = (if ON { c } else { b }) else { return };",
        );
        check("x if a => f(),", "x if b => f(),", "x if (if ON { b } else { a }) => f(),");
        check("    a: b.c(),", "    a: b,", "    a: (if ON { b } else { b.c() }),");
        check(
            "for a in b.c() {",
            "for a in b.d() {",
            "for a in (if ON { b.d() } else { b.c() }) {",
        );
        check("    x = 1;", "    y = 2;", "    if ON { y = 2; } else { x = 1; }");
        check("(A, f(\"\"), b)", "(A, f(\"\"), c)", "(A, f(\"\"), (if ON { c } else { b }))");
    }

    #[test]
    fn a_bug_is_in_a_folder_where_it_changes_nothing_else() {
        for (files, expect) in [
            (["cli/src/a.rs", "cli/src/b/c.rs"], true),
            (["cli/src/a.rs", "engine/src/b.rs"], false),
            (["client/a.rs", "cli.rs"], false),
        ] {
            let hunk = |file: &str| format!("+++ b/{file}\n@@ -1 +1 @@\n-a;\n+b;\n");
            let patch = format!("It is wrong.\n\n{}", files.map(hunk).concat());
            let bug = Bug::read("01-wrong", &patch).expect("it is a patch");
            assert_eq!(bug.is_in("cli"), expect, "{files:?}");
        }
    }

    #[test]
    fn a_patch_is_found_where_it_moved_to() {
        let patch = "It is wrong.\n\n--- a/x.rs\n+++ b/x.rs\n@@ -9,3 +9,3 @@\n a\n-b;\n+c;\n d\n";
        let bug = Bug::read("01-wrong", patch).expect("it is a patch");
        assert_eq!(bug.about, "It is wrong.");
        let changes = changes_of(&bug.name, &bug.edits[0], &["z", "a", "b;", "d"]);
        let changes = changes.expect("it is there, a line further down");
        assert_eq!((changes[0].from, changes[0].to), (2, 3));
        assert!(changes_of(&bug.name, &bug.edits[0], &["z", "a", "c;", "d"]).is_err());
    }
}
