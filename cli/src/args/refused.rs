//! Says what clap refuses in sentences of this program: which flag or word, what was typed, what would do.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::print::error::{Exit, Problem, number};

/// Says what is wrong with a value, with flags beside each other, or what is missing; `None` for what clap says itself.
pub(super) fn of(error: &clap::Error, path: &str) -> Option<Problem> {
    let problem = |what: String| Problem::new(number::USAGE, Exit::Usage, what);
    let flag = short(&texts(error, ContextKind::InvalidArg).join(" and "));
    let value = texts(error, ContextKind::InvalidValue).join(" ");
    match error.kind() {
        ErrorKind::InvalidValue if value.is_empty() => {
            Some(problem(format!("{flag} needs a value")))
        }
        ErrorKind::InvalidValue => {
            let known = texts(error, ContextKind::ValidValue);
            let mut problem = problem(format!("{flag} \"{value}\": there is no such value"));
            if !known.is_empty() {
                problem = problem.line(format!("one of {}", known.join(", ")));
            }
            let near = texts(error, ContextKind::SuggestedValue);
            Some(near.iter().fold(problem, |p, near| p.line(format!("did you mean {near}?"))))
        }
        ErrorKind::ValueValidation => {
            let why = plainly(&error.source()?.to_string());
            Some(problem(format!("{flag} \"{value}\": {why}")))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(error, ContextKind::InvalidArg);
            let missing: Vec<String> = missing.iter().map(|one| short(one)).collect();
            Some(problem(format!("kubectl kai{path} needs {}", missing.join(" and "))))
        }
        ErrorKind::ArgumentConflict => {
            let prior = texts(error, ContextKind::PriorArg);
            let prior: Vec<String> = prior.iter().map(|one| short(one)).collect();
            let what = if prior.is_empty() || prior == [flag.as_str()] {
                format!("{flag} can be given once")
            } else {
                format!("{flag} does not go with {}", prior.join(" and "))
            };
            Some(problem(what))
        }
        _ => None,
    }
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(many)) => many.clone(),
        _ => Vec::new(),
    }
}

/// Returns the flag of `--tail <N>`, or the word of `<NAME>...`.
fn short(argument: &str) -> String {
    match argument.strip_prefix('-') {
        Some(_) => argument.split([' ', '=', '[']).next().unwrap_or(argument).to_owned(),
        None => argument.replace(['<', '>', '[', ']'], "").trim_end_matches("...").to_owned(),
    }
}

/// Says what the standard library says of numbers in words that need no type.
fn plainly(why: &str) -> String {
    let open_end = format!("..{}", i64::MAX);
    match why {
        "invalid digit found in string" => "it is not a whole number".to_owned(),
        "cannot parse integer from empty string" => "it is empty".to_owned(),
        _ if why.starts_with("number too large") => "it is too large".to_owned(),
        _ => match why.split_once(" is not in ").and_then(|(_, range)| bounds(range, &open_end)) {
            Some((least, None)) => format!("it has to be at least {least}"),
            Some((least, Some(most))) => format!("it has to be from {least} to {most}"),
            None => why.to_owned(),
        },
    }
}

/// Reads `1..=10`, `1..11`, or a range up to the largest number that there is.
fn bounds<'a>(range: &'a str, open_end: &str) -> Option<(&'a str, Option<i128>)> {
    if let Some(least) = range.strip_suffix(open_end) {
        return Some((least, None));
    }
    let (least, end) = range.split_once("..")?;
    let most = match end.strip_prefix('=') {
        Some(most) => most.parse().ok()?,
        None => end.parse::<i128>().ok()? - 1,
    };
    let is_open = [u32::MAX.into(), u64::MAX.into(), i64::MAX.into()].contains(&most)
        || usize::try_from(most).is_ok_and(|most| most == usize::MAX);
    Some((least, (!is_open).then_some(most)))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Parser as _;

    use super::super::{Cli, Stop, meant, stop};

    fn check(line: &str, expect: &str) {
        let words = std::iter::once("kubectl-kai").chain(line.split_whitespace());
        let words: Vec<OsString> = words.map(Into::into).collect();
        let error = Cli::try_parse_from(&words).expect_err("it is wrong");
        let path = meant::path(&words);
        let Stop::Error(error) = stop(&error, &path) else { panic!("{line} is no mistake") };
        let text = error.to_string();
        assert!(text.contains(expect), "{line}: {text}");
        for leftover in ["possible values", "invalid digit", "tip:", "<", "9223372036854775807"] {
            assert!(!text.contains(leftover), "{line}: {text}");
        }
    }

    #[test]
    fn mistakes_are_told_without_the_parsers_words() {
        check("logs a --tail x", "--tail \"x\": it is not a whole number");
        check("logs a --tail=-2", "--tail \"-2\": it has to be at least -1");
        check("sandbox --rack-nodes 0", "--rack-nodes \"0\": it has to be at least 1");
        check("sandbox --pace 0", "--pace \"0\": it has to be from 1 to 100000");
        check(
            "top nodse",
            "WHAT \"nodse\": there is no such value\n  one of gpus, nodes, queues, workloads\n  did you mean nodes?",
        );
        check("queues set", "kubectl kai queues set needs NAME");
        check("list -o", "--output needs a value");
        check(
            "wait a --for nope",
            "--for \"nope\": there is no such value\n  one of scheduled, running",
        );
        check("sandbox --demo --attach x", "--demo does not go with --attach");
        check("list --all-namespaces --ascii --ascii", "--ascii can be given once");
    }
}
