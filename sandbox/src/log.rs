//! A container's log as lines with their times, and the part of it that a client asked for. Pure.

use std::fmt::Write as _;

use jiff::Timestamp;

/// A container's log so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    /// All lines so far, in the order of their times.
    pub lines: Vec<Line>,
    /// Number of times that the container had been started before.
    pub run: u32,
    /// True if the container has ended, so that no line will follow.
    pub ended: bool,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Time when it was written.
    pub time: Timestamp,
    /// Its text, without the line's end.
    pub text: String,
}

/// The part of a log that is wanted, and its form.
///
/// # Source
/// `PodLogOptions` of the Kubernetes API.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// Only that many lines from the end of what is there at first.
    pub tail_lines: Option<usize>,
    /// Only lines of this time and later.
    pub since: Option<Timestamp>,
    /// Stop after so many bytes, if need be inside a line.
    pub limit_bytes: Option<usize>,
    /// Put its time in front of each line.
    pub timestamps: bool,
}

/// Position to which a log was read.
#[derive(Debug, Clone)]
pub struct Reader {
    part: Part,
    /// Lines that need not be looked at again; none before the first look.
    lines_seen: Option<usize>,
    bytes_left: usize,
    /// The run that is read.
    run: Option<u32>,
    is_over: bool,
}

impl Reader {
    /// A reader that has read nothing.
    pub fn new(part: Part) -> Self {
        let bytes_left = part.limit_bytes.unwrap_or(usize::MAX);
        Self { part, lines_seen: None, bytes_left, run: None, is_over: false }
    }

    /// The wanted text of the lines that came since the last call.
    ///
    /// A reader reads one run to its end: the log of another one is not its own.
    pub fn read(&mut self, log: &Log) -> String {
        let is_own = *self.run.get_or_insert(log.run) == log.run;
        self.is_over = log.ended || !is_own;
        if !is_own {
            return String::new();
        }
        let tail = || {
            let lines = self.part.tail_lines.unwrap_or(usize::MAX);
            log.lines.len().saturating_sub(lines)
        };
        let from = self.lines_seen.unwrap_or_else(tail);
        self.lines_seen = Some(log.lines.len());
        let mut text = String::new();
        for line in log.lines.get(from..).unwrap_or_default() {
            if self.part.since.is_some_and(|since| line.time < since) {
                continue;
            }
            if self.part.timestamps {
                // Always nine digits, as container runtimes write them.
                write!(text, "{:.9} ", line.time).expect("a String takes all writes");
            }
            text.push_str(&line.text);
            text.push('\n');
        }
        if text.len() > self.bytes_left {
            text.truncate(text.floor_char_boundary(self.bytes_left));
            self.bytes_left = 0;
        }
        self.bytes_left -= text.len().min(self.bytes_left);
        text
    }

    /// Tells whether the log is of another run than the one that is read; its rest is in the log before.
    pub fn has_lost(&self, log: &Log) -> bool {
        self.run.is_some_and(|run| run != log.run)
    }

    /// Tells whether nothing more will be read, whatever follows.
    pub fn is_over(&self) -> bool {
        self.is_over || self.bytes_left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(texts: &[&str]) -> Log {
        let line = |(second, text): (i64, &&str)| Line {
            time: Timestamp::from_second(second).expect("a second of 1970"),
            text: (*text).to_owned(),
        };
        Log { lines: (0..).zip(texts).map(line).collect(), run: 0, ended: false }
    }

    #[track_caller]
    fn check(part: Part, first: &str, rest: &str) {
        let mut reader = Reader::new(part);
        assert_eq!(reader.read(&log(&["a", "b", "c"])), first);
        assert_eq!(reader.read(&log(&["a", "b", "c", "d"])), rest);
    }

    #[test]
    fn a_reader_ends_with_the_run_that_it_began() {
        let mut reader = Reader::new(Part::default());
        reader.read(&log(&["a"]));
        assert!(!reader.is_over());
        assert!(reader.has_lost(&Log { run: 1, ..log(&["b"]) }) && !reader.has_lost(&log(&["a"])));
        assert_eq!(reader.read(&Log { run: 1, ..log(&["b", "c"]) }), "");
        assert!(reader.is_over());
        let mut reader = Reader::new(Part::default());
        assert_eq!(reader.read(&Log { ended: true, ..log(&["a"]) }), "a\n");
        assert!(reader.is_over());
    }

    #[test]
    fn a_part_is_what_was_asked_for() {
        let second = |n| Timestamp::from_second(n).ok();
        check(Part::default(), "a\nb\nc\n", "d\n");
        check(Part { tail_lines: Some(1), ..Part::default() }, "c\n", "d\n");
        check(Part { tail_lines: Some(0), ..Part::default() }, "", "d\n");
        check(Part { tail_lines: Some(9), ..Part::default() }, "a\nb\nc\n", "d\n");
        check(Part { since: second(2), ..Part::default() }, "c\n", "d\n");
        check(Part { tail_lines: Some(2), since: second(3), ..Part::default() }, "", "d\n");
        check(Part { limit_bytes: Some(3), ..Part::default() }, "a\nb", "");
        check(Part { limit_bytes: Some(7), ..Part::default() }, "a\nb\nc\n", "d");
        let times = Part { tail_lines: Some(1), timestamps: true, ..Part::default() };
        check(times, "1970-01-01T00:00:02.000000000Z c\n", "1970-01-01T00:00:03.000000000Z d\n");
    }
}
