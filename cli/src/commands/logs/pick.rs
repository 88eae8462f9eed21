//! Says which lines of a log are asked for: `--grep` and `--exclude`.

use regex::Regex;

use crate::print::error::{Exit, Problem, number};
use crate::print::output::clean;

/// Lines that are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Pick {
    /// One of these has to match, where there are any.
    grep: Vec<Regex>,
    /// None of these may.
    exclude: Vec<Regex>,
}

impl Pick {
    /// Reads the regular expressions.
    ///
    /// # Errors
    /// One is none.
    pub(super) fn read(grep: &[String], exclude: &[String]) -> Result<Self, Problem> {
        let all = |flag: &str, texts: &[String]| {
            texts.iter().map(|text| expression(flag, text)).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self { grep: all("--grep", grep)?, exclude: all("--exclude", exclude)? })
    }

    /// Tells whether a line is one of them.
    pub(super) fn takes(&self, line: &str) -> bool {
        (self.grep.is_empty() || self.grep.iter().any(|one| one.is_match(line)))
            && !self.exclude.iter().any(|one| one.is_match(line))
    }
}

fn expression(flag: &str, text: &str) -> Result<Regex, Problem> {
    Regex::new(text).map_err(|error| {
        let what = format!("{flag} '{}' is no regular expression", clean(text));
        let why = error.to_string();
        // The last line says what is wrong; those before draw where.
        let why = why.lines().last().unwrap_or_default();
        let why = why.strip_prefix("error: ").unwrap_or(why);
        Problem::new(number::VALUE, Exit::Usage, what)
            .line(clean(why).into_owned())
            .fix(format!("{flag} '{}'", regex::escape(text)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are left of `loss 1`, `loss nan` and `step 2`.
    fn check(grep: &[&str], exclude: &[&str], expect: &[&str]) {
        let texts = |of: &[&str]| of.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let pick = Pick::read(&texts(grep), &texts(exclude)).expect("they are expressions");
        let mut lines = vec!["loss 1", "loss nan", "step 2"];
        lines.retain(|line| pick.takes(line));
        assert_eq!(lines, expect, "{grep:?} {exclude:?}");
    }

    #[test]
    fn lines_are_picked_by_what_they_have_and_have_not() {
        check(&[], &[], &["loss 1", "loss nan", "step 2"]);
        check(&["loss"], &["nan"], &["loss 1"]);
        check(&["^step", "nan$"], &[], &["loss nan", "step 2"]);
        check(&[], &[r"\d"], &["loss nan"]);
    }
}
