//! Texts that others wrote, cut where nothing that exists is longer.

use std::borrow::Cow;

/// Bytes of a name: the API's own have 253 at most, and some fields that refer to them take megabytes.
pub(crate) const NAME_BYTES_MAX: usize = 1024;
/// Bytes of what is said of a group or a pod: it is kept and written for each pod that waits.
pub(crate) const MESSAGE_BYTES_MAX: usize = 4096;
/// The same where each node has a line of its own, as long as the API takes it in a condition.
pub(crate) const DETAILED_BYTES_MAX: usize = 32 * 1024;
/// Stands for what was cut. No name in the API has it, so that a name that was cut is nobody's.
const REST: char = '\u{2026}';

/// Gives a text as it is, or so many bytes of it and a mark for the rest.
pub(crate) fn short(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(format!("{}{REST}", &text[..end]))
}

/// Tells whether an object of the API can be called so: nothing that a shell, a path or a flag would take for something else.
pub(crate) fn is_name(text: &str) -> bool {
    const BYTES_MAX: usize = 253;
    let is_edge = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.len() <= BYTES_MAX
        && bytes.first().is_some_and(is_edge)
        && bytes.iter().all(|byte| is_edge(byte) || b"-.".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn only_what_is_longer_is_cut_and_no_letter_is_split() {
        for (text, most, expect) in [
            ("queue", 5, "queue"),
            ("queue", 4, "queu\u{2026}"),
            ("a\u{e9}b", 2, "a\u{2026}"),
            ("", 0, ""),
        ] {
            assert_eq!(short(text, most), expect, "{text} {most}");
        }
    }
}
