//! One-line YAML scalars, quoted exactly where KAI's writer quotes them.

/// The text as a YAML scalar; double quotes where a reader would take it for another type.
pub(super) fn scalar(text: &str) -> String {
    if text.is_empty() || is_other_type(text) || !is_plain(text) {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        return format!("\"{escaped}\"");
    }
    text.to_owned()
}

fn is_plain(text: &str) -> bool {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    text.chars().all(safe) && !text.starts_with(['-', '.']) || text.starts_with("./")
}

fn is_other_type(text: &str) -> bool {
    const WORDS: [&str; 11] =
        ["null", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", ".nan"];
    let lower = text.to_ascii_lowercase();
    let cased = text == lower
        || text == text.to_ascii_uppercase()
        || text.get(1..) == lower.get(1..) && text.starts_with(|c: char| c.is_ascii_uppercase());
    (cased && WORDS.contains(&lower.as_str())) || is_number(text) || is_date(text)
}

fn is_number(text: &str) -> bool {
    let text = text.replace('_', "");
    let body = text.strip_prefix(['+', '-']).unwrap_or(&text);
    let radix = |prefix: &str, radix: u32| {
        body.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix)))
    };
    if radix("0x", 16) || radix("0X", 16) || radix("0b", 2) || radix("0o", 8) {
        return true;
    }
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (body, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|text| {
        let text = text.strip_prefix(['+', '-']).unwrap_or(text);
        !text.is_empty() && digits(text)
    });
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    exponent_fits && digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty())
}

/// Tells whether the text starts with `year-month-day` and ends there or goes on with a time.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let day = rest.split(['T', 't', ' ']).next().unwrap_or_default();
    let is_whole = day.len() == rest.len();
    let fits = year.len() == 4 && month.len() <= 2 && day.len() <= 2;
    fits && digits(year) && digits(month) && digits(day) && is_whole
}

#[cfg(test)]
mod tests {
    use super::scalar;

    #[test]
    fn text_that_reads_as_another_type_is_quoted() {
        for text in
            ["", "123", "true", "null", "1e3", "0x1f", "0b1", "1.5", "2024-01-01", "yes", "n", "No"]
        {
            assert_eq!(scalar(text), format!("\"{text}\""));
        }
        for text in ["web", "u-1", "1a", "apps", "v1", "a.b", "test_name", "12-34", "1e", "trUe"] {
            assert_eq!(scalar(text), text);
        }
    }
}
