//! One line of a log, and how far a log was read. A line without an end comes in pieces.

use jiff::Timestamp;

/// One line, or a piece of one, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) time: Option<Timestamp>,
    pub(super) text: String,
    /// Tells whether it goes on with the line of the piece before, and so has no time.
    pub(super) is_rest: bool,
    pub(super) end: End,
}

/// Says how a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As lines do.
    Whole,
    /// With the next piece.
    GoesOn,
    /// A connection that breaks leaves a part of a line.
    Broken,
}

/// Reads a line that begins with its time.
pub(super) fn line(bytes: &[u8]) -> Line {
    let text = String::from_utf8_lossy(bytes);
    let end = if text.ends_with('\n') { End::Whole } else { End::Broken };
    let text = text.trim_end_matches(['\n', '\r']);
    let (time, rest) = match text.split_once(' ') {
        Some((time, rest)) => (time.parse::<Timestamp>().ok(), rest),
        None => (text.parse().ok(), ""),
    };
    let text = if time.is_some() { rest } else { text }.to_owned();
    Line { time, text, is_rest: false, end }
}

/// Reads a piece of a line: whether it goes on with the one before, and whether another comes.
pub(super) fn piece(bytes: &[u8], is_rest: bool, goes_on: bool) -> Line {
    let mut read = if is_rest {
        let text = String::from_utf8_lossy(bytes);
        let end = if text.ends_with('\n') { End::Whole } else { End::Broken };
        let text = text.trim_end_matches(['\n', '\r']).to_owned();
        Line { time: None, text, is_rest, end }
    } else {
        line(bytes)
    };
    if goes_on {
        read.end = End::GoesOn;
    }
    read
}

/// Says how far a log was read: the time of the last line, how many of the lines read have that time, and how many pieces of
/// the last one were read after its first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) time: Option<Timestamp>,
    lines: u32,
    pieces: u32,
}

impl Mark {
    /// Takes in a line that was read.
    pub(super) fn pass(&mut self, line: &Line) {
        self.pieces = if line.is_rest { self.pieces + 1 } else { 0 };
        let Some(time) = line.time else { return };
        self.lines = if self.time == Some(time) { self.lines + 1 } else { 1 };
        self.time = Some(time);
    }

    /// Returns what tells, of the lines of a log that is opened again, those that were not read yet. The server begins at a whole
    /// second.
    pub(super) fn news(self) -> impl FnMut(&Line) -> bool {
        let Self { time: last, mut lines, mut pieces } = self;
        let mut was_read = false;
        move |line| {
            if line.is_rest {
                // Of the last line that was read others may come.
                let is_old = was_read && (lines > 0 || pieces > 0);
                if was_read && lines == 0 {
                    pieces = pieces.saturating_sub(1);
                }
                return !is_old;
            }
            was_read = match (line.time, last) {
                (Some(time), Some(last)) if time < last => true,
                (Some(time), Some(last)) if time == last && lines > 0 => {
                    lines -= 1;
                    true
                }
                (_, _) => false,
            };
            !was_read
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
    fn of_a_line_that_broke_off_the_pieces_that_are_missing_are_new() {
        let read = |text: &str| match text.strip_prefix('+') {
            Some(rest) => piece(rest.as_bytes(), true, true),
            None => piece(format!("2026-01-01T00:00:{text}").as_bytes(), false, true),
        };
        let all = ["01Z a", "+b", "02Z c", "+2026-01-01T00:00:09Z d", "+e"];
        for seen in 0..=all.len() {
            let mut mark = Mark::default();
            all[..seen].iter().for_each(|text| mark.pass(&read(text)));
            let mut is_new = mark.news();
            let news = all.iter().filter(|text| is_new(&read(text)));
            assert_eq!(news.collect::<Vec<_>>(), all[seen..].iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_line_is_its_time_and_its_text() {
        let of = |bytes: &[u8]| {
            let line = line(bytes);
            (line.time.is_some(), line.text, line.end == End::Whole)
        };
        assert_eq!(of(b"2026-01-01T00:00:00Z a b\n"), (true, "a b".to_owned(), true));
        assert_eq!(of(b"2026-01-01T00:00:00Z \n"), (true, String::new(), true));
        assert_eq!(of(b"2026-01-01T00:00:00Z\r\n"), (true, String::new(), true));
        assert_eq!(of(b"2026-01-01T00:00:00Z a"), (true, "a".to_owned(), false));
        assert_eq!(of(b"no time\n"), (false, "no time".to_owned(), true));
    }
}
