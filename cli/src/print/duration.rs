//! Durations as users type them and as tables show them.

use std::time::Duration;

use crate::print::error::{Exit, Problem, number};

/// Reads `90s`, `30m`, `6h`, `2d`, or several of them together; `none` and `0` mean no limit.
///
/// # Errors
/// Names the flag, the value and the form.
pub(crate) fn parse(flag: &str, text: &str) -> Result<Option<Duration>, Problem> {
    if matches!(text, "none" | "0" | "0s") {
        return Ok(None);
    }
    let mut seconds = 0_u64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, tail) = rest.split_at(digits);
        let letters = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (unit, tail) = tail.split_at(letters);
        let factor = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86400,
            _ => return Err(wrong(flag, text)),
        };
        let part = number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor));
        seconds =
            part.and_then(|part| seconds.checked_add(part)).ok_or_else(|| wrong(flag, text))?;
        rest = tail;
    }
    if seconds == 0 { Err(wrong(flag, text)) } else { Ok(Some(Duration::from_secs(seconds))) }
}

fn wrong(flag: &str, text: &str) -> Problem {
    let number: String = text.chars().take_while(char::is_ascii_digit).collect();
    let rest = text[number.len()..].trim();
    let unit = rest.chars().next().filter(|c| "smhd".contains(*c)).unwrap_or('m');
    let number = if number.is_empty() { "30" } else { &number };
    Problem::new(
        number::DURATION,
        Exit::Usage,
        format!("{flag} \"{text}\": use a number and a unit: 90s, 30m, 6h, 2d"),
    )
    .fix(format!("{flag} {number}{unit}"))
}

/// Writes a span of seconds as kubectl shows ages: `45s`, `14m`, `3h12m`, `9d`, `2y70d`. What a clock that is behind makes
/// negative is nothing.
pub(crate) fn short(seconds: i64) -> String {
    kai_api::human::human(seconds.max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_a_number_and_a_unit() {
        for (text, seconds) in
            [("90s", 90), ("30m", 1800), ("6h", 21600), ("2d", 172_800), ("1h30m", 5400)]
        {
            assert_eq!(parse("--timeout", text), Ok(Some(Duration::from_secs(seconds))));
        }
        for text in ["", "6 hours", "30", "-5s", "1.5h", "99999999999999999999d"] {
            let problem = parse("--timeout", text).expect_err(text);
            assert_eq!(problem.number, number::DURATION);
        }
        let fix = parse("--max-runtime", "6 hours").expect_err("not a duration").fix;
        assert_eq!(fix.as_deref(), Some("--max-runtime 6h"));
    }

    #[test]
    fn ages_are_short() {
        for (seconds, text) in [
            (5, "5s"),
            (119, "119s"),
            (125, "2m5s"),
            (840, "14m"),
            (11520, "3h12m"),
            (777_600, "9d"),
            (69_120_000, "2y70d"),
            (-5, "0s"),
        ] {
            assert_eq!(short(seconds), text);
        }
    }
}
