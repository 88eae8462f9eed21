//! `--live`: a page that is drawn anew in its place. It has the terminal's second screen for itself, and leaves the last
//! picture on the first one, so that what was seen stays.

use crate::print::error::Error;
use crate::print::output::Output;

/// Goes to the second screen, hides the cursor, and cuts lines instead of wrapping them.
const OPEN: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// Undoes [`OPEN`].
const CLOSE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Holds the picture back until it is complete, where the terminal can; then goes to its first place.
const BEGIN: &str = "\x1b[?2026h\x1b[H";
/// Clears the rest of a line, and of the screen behind the last one.
const REST_OF_LINE: &str = "\x1b[K\r\n";
const END: &str = "\x1b[J\x1b[?2026l";

/// The screen, and what is on it.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    is_open: bool,
    page: String,
}

impl Screen {
    /// Draws a page with lines below it; of a page that is higher than the screen the first lines.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(crate) fn draw(
        &mut self,
        page: &str,
        below: &[String],
        out: &mut Output,
    ) -> Result<(), Error> {
        if !self.is_open {
            out.control(OPEN)?;
            self.is_open = true;
        }
        let picture = cut(page, below, out.rows());
        let mut text = String::from(BEGIN);
        for line in &picture {
            text += &out.shown(line);
            text += REST_OF_LINE;
        }
        text += END;
        out.control(&text)?;
        page.clone_into(&mut self.page);
        Ok(())
    }

    /// Goes back to the first screen, and leaves the last page there.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub(crate) fn end(self, out: &mut Output) -> Result<(), Error> {
        if !self.is_open {
            return Ok(());
        }
        out.control(CLOSE)?;
        out.raw(&self.page)
    }
}

/// The lines that a screen has room for: the last one of the screen stays empty.
fn cut(page: &str, below: &[String], rows: usize) -> Vec<String> {
    let lines: Vec<&str> = page.lines().collect();
    let gap = usize::from(!below.is_empty());
    let room = rows.saturating_sub(1 + gap + below.len()).max(1);
    let mut picture: Vec<String> = Vec::new();
    if lines.len() > room {
        let shown = room.saturating_sub(1);
        picture.extend(lines[..shown].iter().map(|line| (*line).to_owned()));
        picture.push(format!("... and {} more lines", lines.len() - shown));
    } else {
        picture.extend(lines.into_iter().map(str::to_owned));
    }
    picture.extend(std::iter::repeat_n(String::new(), gap));
    picture.extend(below.iter().cloned());
    picture
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_page_is_cut_at_the_height_of_the_screen() {
        for (page, below, rows, expect) in [
            ("a\nb\n", vec![], 10, "a b"),
            ("a\nb\n", vec!["foot"], 10, "a b  foot"),
            ("a\nb\nc\nd\n", vec!["foot"], 6, "a b ... and 2 more lines  foot"),
            ("a\nb\nc\n", vec![], 3, "a ... and 2 more lines"),
        ] {
            let below: Vec<String> = below.into_iter().map(str::to_owned).collect();
            assert_eq!(cut(page, &below, rows).join(" "), expect, "{page:?} in {rows} rows");
        }
    }
}
