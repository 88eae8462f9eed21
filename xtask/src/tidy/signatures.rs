//! Rules for signatures and what is said above them: parameters with names of their own, comments that say it at once.

use super::{Finding, source};
use crate::repository::File;

/// Macros that make helps of comments: those begin as the helps of other commands do.
const MAKE_HELP: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];
/// Words that begin a clause which the reader has to turn into a statement.
const RIDDLES: [&str; 8] = ["What", "Whether", "How", "Where", "Which", "Who", "Whose", "Why"];

/// No function takes a tuple: each of its parts would be a parameter without a name, past the bound on parameters.
pub(super) fn tuples(all: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in source::rust(all) {
        let code = bare(text);
        for function in functions(&code) {
            for parameter in function.parameters.iter().filter(|one| takes_tuple(one)) {
                let line = 1 + code[..function.at].matches('\n').count();
                let words = parameter.split_whitespace().collect::<Vec<_>>().join(" ");
                findings.push(Finding::new(
                    format!("{path}:{line}"),
                    format!("takes the tuple `{words}`: use parameters of their own, or a struct"),
                ));
            }
        }
    }
    findings
}

/// A comment on an item or a module begins with a verb or names a thing, instead of leaving it to the reader to complete
/// a question.
pub(super) fn riddles(all: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in source::rust(all) {
        let (mut is_first, mut is_help) = (true, false);
        for (number, line) in (1..).zip(text.lines()) {
            if line.starts_with("#[derive(") {
                let mut names = line.split(|letter: char| !letter.is_alphanumeric());
                is_help = names.any(|name| MAKE_HELP.contains(&name));
            }
            is_help &= line != "}";
            let line = line.trim_start();
            let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
            let first = comment.and_then(|comment| comment.split_whitespace().next());
            if let Some(word) = first.filter(|word| is_first && !is_help && RIDDLES.contains(word))
            {
                let what = format!("begins with `{word}`: begin with a verb, or name the thing");
                findings.push(Finding::new(format!("{path}:{number}"), what));
            }
            is_first = comment.is_none();
        }
    }
    findings
}

/// The code of a file: without comments and without the text of literals, line for line.
fn bare(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut is_quoted = false;
    for line in text.lines() {
        let mut letters = line.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' if is_quoted => drop(letters.next()),
                // A quote that is a letter opens nothing.
                '"' if is_quoted || !line[..at].ends_with('\'') => is_quoted = !is_quoted,
                '/' if !is_quoted && line[at..].starts_with("//") => break,
                _ if !is_quoted => code.push(letter),
                _ => {}
            }
        }
        code.push('\n');
    }
    code
}

/// A function's place in a text, and its parameters.
struct Function<'t> {
    at: usize,
    parameters: Vec<&'t str>,
}

/// Finds the functions of a text without comments and literals.
fn functions(code: &str) -> impl Iterator<Item = Function<'_>> {
    code.match_indices("fn ").filter_map(|(at, _)| {
        let is_word =
            !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let signature = code.get(at + 3..).filter(|_| is_word)?;
        let name = signature.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
        let rest = signature[name..].trim_start();
        let rest = match rest.strip_prefix('<') {
            Some(rest) => &rest[end_of(rest, '>')? + 1..],
            None => rest,
        };
        let inside = rest.trim_start().strip_prefix('(')?;
        let parameters = split(&inside[..end_of(inside, ')')?]);
        (name > 0).then_some(Function { at, parameters })
    })
}

/// Tells whether a parameter is taken apart as a tuple, or is one or a reference to one.
fn takes_tuple(parameter: &str) -> bool {
    let parameter = parameter.trim();
    let Some((_, mut of)) = parameter.split_once(": ") else { return false };
    while let Some(referenced) = of.strip_prefix('&') {
        of = referenced.trim_start();
        if let Some(named) = of.strip_prefix('\'') {
            of = named.split_once(' ').map_or(of, |(_, of)| of);
        }
        of = of.strip_prefix("mut ").unwrap_or(of);
    }
    is_tuple(parameter) || is_tuple(of)
}

/// Tells whether a pattern or a type is a tuple: one in parentheses with a comma inside.
fn is_tuple(text: &str) -> bool {
    let inside = text.strip_prefix('(').and_then(|rest| Some(&rest[..end_of(rest, ')')?]));
    inside.is_some_and(|inside| split(inside).len() > 1)
}

/// The place of the bracket that closes what was opened before a text.
fn end_of(text: &str, close: char) -> Option<usize> {
    let mut depth = 0_u32;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            _ if depth == 0 && letter == close && !is_arrow(before, letter) => return Some(at),
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '>' if !is_arrow(before, letter) => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = letter;
    }
    None
}

/// Tells whether two letters are `->` or `=>`, which close nothing.
fn is_arrow(before: char, letter: char) -> bool {
    letter == '>' && matches!(before, '-' | '=')
}

/// The parts of a list that commas part, brackets kept whole.
fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = list;
    while !rest.trim().is_empty() {
        let end = end_of(rest, ',').unwrap_or(rest.len());
        parts.push(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: fn(&[File]) -> Vec<Finding>, text: &str, expect: &[&str]) {
        let file = File { path: "a/src/x.rs".into(), text: Some(text.into()) };
        let found: Vec<String> = rule(&[file]).into_iter().map(|one| one.at).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn a_parameter_is_no_tuple() {
        let first = &["a/src/x.rs:1"][..];
        check(tuples, "fn f(a: u8, (b, c): (u8, u8)) {}", first);
        check(tuples, "fn f(a: (u8, u8)) {}", first);
        check(tuples, "fn f<'a>(a: &'a mut (u8, u8)) {}", first);
        check(tuples, "fn f<F: Fn(u8) -> u8>((b, c): &Pair) {}", first);
        check(
            tuples,
            "\n\npub(crate) fn f(\n    a: u8,\n    (b, c): (u8, u8),\n) {}",
            &["a/src/x.rs:3"],
        );
        check(tuples, "fn f(a: &[(u8, u8)], b: Vec<(u8, u8)>, c: Option<(u8, u8)>) {}", &[]);
        check(tuples, "fn f(a: &(dyn Fn(u8, u8) + Send), b: (), Pair { c, d }: Pair) {}", &[]);
        check(tuples, "fn f(a: impl Fn((u8, u8)) -> bool, b: fn((u8, u8)) -> u8) {}", &[]);
        check(tuples, "let f = |(a, b): (u8, u8)| a + b; // fn f((a, b): (u8, u8))", &[]);
    }

    #[test]
    fn a_comment_is_no_riddle() {
        check(riddles, "/// What it holds.\nx: u8,", &["a/src/x.rs:1"]);
        check(riddles, "x\n    /// Whether it is.\n    /// How it is.", &["a/src/x.rs:2"]);
        check(riddles, "//! Who holds it.\n", &["a/src/x.rs:1"]);
        check(riddles, "/// Says\n/// What it holds.\n///\n/// How it is.", &[]);
        let help =
            "#[derive(clap::Args)]\nstruct A {\n    /// Which file\n    a: u8,\n}\n/// What it is.";
        check(riddles, help, &["a/src/x.rs:6"]);
        check(riddles, "/// Whatever it holds.\n// What it holds.\n", &[]);
    }
}
