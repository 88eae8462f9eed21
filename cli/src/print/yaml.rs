//! YAML in and out, the way kubectl reads and prints it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        // kubectl reads `0644` as octal; YAML 1.2 alone would make 644 of it.
        legacy_octal_numbers: true,
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::Error,
        with_snippet: false,
    }
}

/// Reads one document.
///
/// # Errors
/// With file, line, column and a caret.
pub(crate) fn one<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Error> {
    serde_saphyr::from_str_with_options(text, options()).map_err(|e| wrong(name, text, &e).into())
}

/// Reads all documents of a file; empty ones are left out.
///
/// # Errors
/// With file, line, column and a caret.
pub(crate) fn documents(name: &str, text: &str) -> Result<Vec<serde_json::Value>, Error> {
    let all: Vec<serde_json::Value> = serde_saphyr::from_multiple_with_options(text, options())
        .map_err(|e| Error::from(wrong(name, text, &e)))?;
    let mut all: Vec<_> = all.into_iter().filter(|value| !value.is_null()).collect();
    all.iter_mut().for_each(whole_numbers);
    Ok(all)
}

/// Makes integers of numbers like `1.0` and `1e3`, as kubectl does: the API takes no `1.0` for an integer.
fn whole_numbers(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(number) => {
            // Up to 2^53 a float is exact.
            let exact =
                number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() <= 9_007_199_254_740_992.0);
            if number.is_f64()
                && let Some(whole) = exact.and_then(|f| format!("{f:.0}").parse::<i64>().ok())
            {
                *number = whole.into();
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        serde_json::Value::Object(map) => map.values_mut().for_each(whole_numbers),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::String(_) => {}
    }
}

fn wrong(name: &str, text: &str, error: &serde_saphyr::Error) -> Problem {
    let rendered = error.render();
    let message = rendered.lines().next().unwrap_or("not YAML");
    let Some(location) = error.location() else {
        return Problem::new(number::YAML, Exit::Refused, format!("{name}: {}", clean(message)));
    };
    let (line, column) = (location.line(), location.column());
    // The message ends with the place, which stands in front already.
    let message = message.split(" at line ").next().unwrap_or(message);
    // Advice to the program, not to its user.
    let message = message.split(", set DuplicateKeyPolicy").next().unwrap_or(message);
    let message = message
        .split_once(": ")
        .map_or(message, |(head, tail)| if head.starts_with("error") { tail } else { message });
    let mut problem = Problem::new(
        number::YAML,
        Exit::Refused,
        format!("{name}:{line}:{column}: {}", clean(message)),
    );
    let at = usize::try_from(line).unwrap_or(1).max(1) - 1;
    let from = at.saturating_sub(1);
    for (number, source) in text.lines().enumerate().skip(from).take(at + 1 - from) {
        let source: String = source.chars().take(100).collect();
        problem = problem.line(format!("{:>4} | {}", number + 1, clean(&source)));
    }
    let blank = usize::try_from(column).unwrap_or(1).max(1) - 1;
    if blank < 100 {
        problem = problem.line(format!("     | {}^", " ".repeat(blank)));
    }
    problem
}

/// Prints a document, without long strings folded and with every ambiguous word quoted.
pub(crate) fn print<T: Serialize>(value: &T) -> String {
    let options = serde_saphyr::ser_options! {
        compact_list_indent: true,
        prefer_block_scalars: true,
        min_fold_chars: usize::MAX,
        folded_wrap_chars: usize::MAX,
    };
    let mut text = String::new();
    serde_saphyr::to_fmt_writer_with_options(&mut text, value, options)
        .expect("JSON values are YAML, and a string takes any text");
    text
}

/// A text as a YAML value on one line.
pub(crate) fn scalar(text: &str) -> String {
    print(&text).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::documents;

    /// Says what kubectl 1.32 makes of the same text (`kubectl create --dry-run=client -o json`): YAML 1.1, as in Go.
    #[test]
    fn reads_as_kubectl_does() {
        let text = "[y, Y, n, NO, yes, on, Off, true, ~, 0o17, 0644, 0b11, 0x1F, 1_000, 08, 1e3, 1.0, 1.5, 1., 12:30:45, 2001-01-01, =, +1, 'y', \"on\", !!str 1]";
        let expect = json!([
            true,
            true,
            false,
            false,
            true,
            true,
            false,
            true,
            null,
            15,
            420,
            3,
            31,
            1000,
            8,
            1000,
            1,
            1.5,
            1,
            "12:30:45",
            "2001-01-01",
            "=",
            1,
            "y",
            "on",
            "1"
        ]);
        assert_eq!(documents("x", text).expect("it is YAML"), [expect]);
    }
}
