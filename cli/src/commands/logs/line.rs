//! One line of a log.

use jiff::Timestamp;

/// One line, without its end.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) time: Option<Timestamp>,
    pub(super) text: String,
}

/// Reads a line that begins with its time.
pub(super) fn line(bytes: &[u8]) -> Line {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches(['\n', '\r']);
    match text
        .split_once(' ')
        .and_then(|(time, rest)| Some((time.parse::<Timestamp>().ok()?, rest)))
    {
        Some((time, rest)) => Line { time: Some(time), text: rest.to_owned() },
        None => Line {
            time: text.parse().ok(),
            text: if text.parse::<Timestamp>().is_ok() { "" } else { text }.to_owned(),
        },
    }
}
