//! One line of a log, and how far a log was read.

use jiff::Timestamp;

/// One line, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) time: Option<Timestamp>,
    pub(super) text: String,
    /// Tells whether its end was read too: a connection that breaks leaves a part of a line.
    pub(super) is_whole: bool,
}

/// Reads a line that begins with its time.
pub(super) fn line(bytes: &[u8]) -> Line {
    let text = String::from_utf8_lossy(bytes);
    let is_whole = text.ends_with('\n');
    let text = text.trim_end_matches(['\n', '\r']);
    let (time, rest) = match text.split_once(' ') {
        Some((time, rest)) => (time.parse::<Timestamp>().ok(), rest),
        None => (text.parse().ok(), ""),
    };
    Line { time, text: if time.is_some() { rest } else { text }.to_owned(), is_whole }
}

/// Says how far a log was read: the time of the last line, and how many of the lines read have that time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) time: Option<Timestamp>,
    lines: u32,
}

impl Mark {
    /// Takes in a line that was read.
    pub(super) fn pass(&mut self, line: &Line) {
        let Some(time) = line.time else { return };
        if self.time == Some(time) {
            self.lines += 1;
        } else {
            *self = Self { time: Some(time), lines: 1 };
        }
    }

    /// Returns what tells, of the lines of a log that is opened again, those that were not read yet. The server begins at a whole
    /// second.
    pub(super) fn news(self) -> impl FnMut(&Line) -> bool {
        let Self { time: last, mut lines } = self;
        move |line| match (line.time, last) {
            (Some(time), Some(last)) if time < last => false,
            (Some(time), Some(last)) if time == last && lines > 0 => {
                lines -= 1;
                false
            }
            (_, _) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a second reading that are new after those of a first.
    fn check(first: &[&str], second: &[&str], expect: &[&str]) {
        let read = |text: &&str| line(format!("2026-01-01T00:00:{text}\n").as_bytes());
        let mut mark = Mark::default();
        for text in first {
            mark.pass(&read(text));
        }
        let mut is_new = mark.news();
        let news = second.iter().map(read).filter(|line| is_new(line));
        assert_eq!(news.map(|line| line.text).collect::<Vec<_>>(), expect, "{first:?} {second:?}");
    }

    #[test]
    fn a_log_that_is_opened_again_repeats_nothing_and_leaves_nothing_out() {
        check(&[], &["01Z a", "02Z b"], &["a", "b"]);
        check(&["01Z a", "02.5Z b"], &["02.1Z x", "02.5Z b", "02.6Z c"], &["c"]);
        // Lines of one moment are told apart by their number.
        check(&["01Z a", "01Z b"], &["01Z a", "01Z b", "01Z c"], &["c"]);
        check(&["01Z a"], &["03Z b"], &["b"]);
    }

    #[test]
    fn a_line_is_its_time_and_its_text() {
        let of = |bytes: &[u8]| {
            let line = line(bytes);
            (line.time.is_some(), line.text, line.is_whole)
        };
        assert_eq!(of(b"2026-01-01T00:00:00Z a b\n"), (true, "a b".to_owned(), true));
        assert_eq!(of(b"2026-01-01T00:00:00Z \n"), (true, String::new(), true));
        assert_eq!(of(b"2026-01-01T00:00:00Z\r\n"), (true, String::new(), true));
        assert_eq!(of(b"2026-01-01T00:00:00Z a"), (true, "a".to_owned(), false));
        assert_eq!(of(b"no time\n"), (false, "no time".to_owned(), true));
    }
}
