//! Describes how a line of a log looks.

use clap::ValueEnum;

use super::line::{End, Line};
use super::pick::Pick;
use super::source::Source;
use crate::print::error::Error;
use crate::print::output::{Output, Style, clean, clean_log};

/// Says what stands before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Prefix {
    Rank,
    Pod,
    None,
}

/// Says how lines are printed.
#[derive(Debug)]
pub(super) struct Printer {
    /// Tells whether lines come of several pods.
    pub(super) several: bool,
    pub(super) prefix: Option<Prefix>,
    pub(super) timestamps: bool,
    pub(super) pick: Pick,
}

impl Printer {
    /// Prints a line, if it is one of those that are asked for.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(super) fn print(
        &self,
        source: &Source,
        line: &Line,
        out: &mut Output,
    ) -> Result<(), Error> {
        if !self.pick.takes(&line.text) {
            return Ok(());
        }
        let prefix = match (self.prefix, self.several) {
            (Some(Prefix::None), _) | (None, false) => None,
            (Some(Prefix::Pod), _) => Some(&source.pod),
            (Some(Prefix::Rank), _) | (None, true) => Some(&source.rank),
        };
        let mut text = String::new();
        if let Some(prefix) = prefix {
            text += &Style::of_rank(prefix).paint(&format!("[{}]", clean(prefix)));
            text.push(' ');
        }
        if self.timestamps
            && let Some(time) = line.time
        {
            text += &format!("{time} ");
        }
        // A terminal obeys what it is sent; a file gets the bytes as they were.
        if out.is_terminal() {
            text += &clean_log(&line.text);
            out.data(&text)
        } else if line.end == End::GoesOn && !self.several {
            out.bytes(text.as_bytes()).and_then(|()| out.bytes(line.text.as_bytes()))
        } else {
            out.data_as_is(&text, &line.text)
        }
    }
}
