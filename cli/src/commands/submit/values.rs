//! Values as they are typed: pairs, amounts, names of queues.

use crate::cluster::gpu::Gpu;
use crate::print::error::{Exit, Problem, number};

/// Checks the default of a flag, as the configuration is told it: one that no command could use helps nobody.
///
/// # Errors
/// Those of the flag.
pub(crate) fn setting(key: &str, value: &str) -> Result<(), Problem> {
    match key {
        "gpu" => Gpu::parse_typed(value).map(drop),
        "cpu" => amount("--cpu", Some(value), CPU_FORMS),
        "memory" => amount("--memory", Some(value), MEMORY_FORMS),
        "queue" => label_value("-q", value),
        "color" if !matches!(value, "auto" | "always" | "never") => {
            let what = format!("--color {value} is not known");
            Err(Problem::new(number::VALUE, Exit::Usage, what).fix("one of auto, always, never"))
        }
        _ if value.trim().is_empty() => {
            let what = format!("{key} has no value");
            Err(Problem::new(number::VALUE, Exit::Usage, what)
                .fix(format!("kubectl kai config unset {key}")))
        }
        _ => Ok(()),
    }
}

/// Forms of amounts of CPU.
pub(super) const CPU_FORMS: &str = "4   or   500m";
/// Forms of amounts of memory.
pub(super) const MEMORY_FORMS: &str = "64Gi   or   500Mi";

/// Reads `KEY=VALUE` pairs.
pub(super) fn pairs(flag: &str, texts: &[String]) -> Result<Vec<(String, String)>, Problem> {
    let pair = |text: &String| match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        Some(_) | None => Err(Problem::new(
            number::VALUE,
            Exit::Usage,
            format!("{flag} \"{text}\" is not KEY=VALUE"),
        )
        .fix(format!("{flag} KEY=VALUE"))),
    };
    texts.iter().map(pair).collect()
}

/// Checks an amount as Kubernetes writes them.
pub(super) fn amount(flag: &str, text: Option<&str>, forms: &str) -> Result<(), Problem> {
    let Some(text) = text else { return Ok(()) };
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &text[number.len()..];
    let known = matches!(
        suffix,
        "" | "m" | "k" | "M" | "G" | "T" | "P" | "E" | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei"
    );
    let digits =
        number.bytes().all(|b| b.is_ascii_digit() || b == b'.') && number.matches('.').count() <= 1;
    let positive = number.bytes().any(|b| (b'1'..=b'9').contains(&b));
    if known && digits && positive {
        return Ok(());
    }
    Err(Problem::new(number::VALUE, Exit::Usage, format!("{flag} \"{text}\" is not an amount"))
        .fix(format!("{flag} {}", forms.replace("   or   ", &format!("   or   {flag} ")))))
}

/// Checks the name of a queue, which is the value of a label.
pub(super) fn label_value(flag: &str, text: &str) -> Result<(), Problem> {
    let ends = |c: char| c.is_ascii_alphanumeric();
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.len() <= 63 && text.chars().all(legal) && text.starts_with(ends) && text.ends_with(ends)
    {
        return Ok(());
    }
    Err(Problem::new(
        number::VALUE,
        Exit::Usage,
        format!("{flag} \"{text}\" cannot be the name of a queue"),
    )
    .fix("kubectl kai queues"))
}
