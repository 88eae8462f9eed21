//! The paths that a Rust file names: `use` trees and paths in code that begin with `crate::` or `super::`.

/// A path as it stands in a file, and its line, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// `crate` or `super` first.
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

/// The code of a file: without comments and without the tests at its end, line for line.
pub(super) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for line in text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")) {
        let is_comment = line.trim_start().starts_with("//");
        code.push_str(if is_comment { "" } else { line });
        code.push('\n');
    }
    code
}

/// Every path of the crate's own that the code names.
pub(super) fn imports(code: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for word in ["crate::", "super::"] {
        for (at, _) in code.match_indices(word) {
            // `super::super::` is one path, and `xsuper::` none of ours.
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c == ':' || c == '$' || c.is_alphanumeric() || c == '_') {
                continue;
            }
            let line = code[..at].matches('\n').count() + 1;
            let paths = tree(&mut &code[at..]);
            found.extend(paths.into_iter().map(|path| Import { path, line }));
        }
    }
    found
}

/// The paths that a file offers under its own name: those of `pub use`.
pub(super) fn exports(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for line_start in code.match_indices("pub").map(|(at, _)| at) {
        let rest = &code[line_start + "pub".len()..];
        let rest = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((_, rest)) => rest,
            None => rest,
        };
        if let Some(mut rest) = rest.strip_prefix(" use ") {
            found.extend(tree(&mut rest));
        }
    }
    found
}

/// Reads a `use` tree: `a::{b, c::d}` is `a::b` and `a::c::d`. Ends where the text is none.
fn tree(text: &mut &str) -> Vec<Vec<String>> {
    *text = text.trim_start();
    if let Some(rest) = text.strip_prefix('{') {
        *text = rest;
        let mut paths = Vec::new();
        loop {
            *text = text.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            match text.strip_prefix('}') {
                Some(rest) => {
                    *text = rest;
                    return paths;
                }
                None => match tree(text) {
                    more if more.is_empty() => return paths,
                    more => paths.extend(more),
                },
            }
        }
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    *text = rest;
    if name.is_empty() {
        return Vec::new();
    }
    let Some(rest) = text.strip_prefix("::") else { return vec![vec![name.to_owned()]] };
    *text = rest;
    let below = tree(text);
    if below.is_empty() {
        return vec![vec![name.to_owned()]];
    }
    below.into_iter().map(|path| [&[name.to_owned()], path.as_slice()].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, usize)]) {
        let found: Vec<(String, usize)> =
            imports(&code(text)).into_iter().map(|one| (one.path.join("::"), one.line)).collect();
        let expect: Vec<(String, usize)> =
            expect.iter().map(|(path, line)| ((*path).to_owned(), *line)).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn trees_are_read_branch_by_branch() {
        check("use crate::a;\n", &[("crate::a", 1)]);
        check(
            "use crate::{\n    a::{self, B},\n    c,\n};\n",
            &[("crate::a::self", 1), ("crate::a::B", 1), ("crate::c", 1)],
        );
        check(
            "\nlet x = super::super::a::f(crate::b::C);",
            &[("crate::b::C", 2), ("super::super::a::f", 2)],
        );
        check(
            "use crate::a::*; // crate::b\n// use crate::c;\n",
            &[("crate::a", 1), ("crate::b", 1)],
        );
        check("$crate::a; std::a\n#[cfg(test)]\nuse crate::b;\n", &[]);
    }

    #[test]
    fn what_is_offered_is_public() {
        let text = "pub use a::{B, c};\npub(crate) use d::E;\nuse f::G;\npub fn used() {}\n";
        let found: Vec<String> = exports(text).iter().map(|path| path.join("::")).collect();
        assert_eq!(found, ["a::B", "a::c", "d::E"]);
    }
}
