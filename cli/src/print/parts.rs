//! Prints a table whose rows come part by part, for lists that are longer than anybody waits for.

use crate::print::error::Error;
use crate::print::flags::ListFlags;
use crate::print::format::Format;
use crate::print::output::Output;
use crate::print::report::{Table, words};
use crate::print::table::Layout;

/// A table that is being printed: its header once, and columns no narrower than in the part before.
#[derive(Debug)]
pub(crate) struct Parts {
    format: Format,
    flags: ListFlags,
    layout: Layout,
}

impl Parts {
    /// Tells whether a form can be printed in parts: what has a line for each row, in the order in which rows come.
    pub(crate) fn can_print(format: &Format, flags: &ListFlags) -> bool {
        let is_arranged = flags.sheet.sort_by.is_some() || flags.sheet.limit.is_some();
        let has_lines = matches!(format, Format::Table | Format::Wide | Format::Name | Format::Csv);
        has_lines && !is_arranged
    }

    /// A table of which nothing is printed yet.
    pub(crate) fn new(format: &Format, flags: &ListFlags, out: &Output) -> Self {
        let is_whole = *format == Format::Wide || flags.show_labels;
        let width = if is_whole { usize::MAX } else { out.columns() };
        Self { format: format.clone(), flags: flags.clone(), layout: Layout::new(width) }
    }

    /// Prints more rows below those that are printed.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(crate) fn print(&mut self, table: &Table, out: &mut Output) -> Result<(), Error> {
        if let Format::Table | Format::Wide = self.format {
            let is_wide = self.format == Format::Wide;
            let text = table.part(is_wide, &self.flags, &mut self.layout);
            self.flags.sheet.no_headers |= !table.rows.is_empty();
            return out.raw(&text);
        }
        if self.format == Format::Name {
            return words(table.rows.iter().map(|row| row.name.as_str()), out);
        }
        let text = table.csv(&self.flags);
        self.flags.sheet.no_headers = true;
        out.document(&text)
    }
}
