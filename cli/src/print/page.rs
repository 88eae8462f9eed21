//! The screen: rows with a title in front, wrapped to the width of the terminal.

use unicode_width::UnicodeWidthStr as _;

use super::output::{Style, clean};

/// Columns of the titles with the gap behind them.
const TITLES: usize = 11;
/// The narrowest text that is still wrapped rather than left to the terminal.
const NARROWEST: usize = 30;

/// Holds what is written so far.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) text: String,
    width: usize,
}

impl Page {
    /// An empty page of a width in columns.
    pub(crate) fn new(width: usize) -> Self {
        Self { text: String::new(), width: width.saturating_sub(TITLES).max(NARROWEST) }
    }

    /// A row of text from anywhere; an empty title continues the row above.
    pub(crate) fn row(&mut self, title: &str, text: &str) {
        self.styled(title, text, Style::Plain);
    }

    /// A row that looks like something.
    pub(crate) fn styled(&mut self, title: &str, text: &str, style: Style) {
        for (i, line) in wrap(&clean(text), self.width).iter().enumerate() {
            let title = if i == 0 { title } else { "" };
            self.line(title, &style.paint(line));
        }
    }

    /// A paragraph of text from anywhere, with an indent.
    pub(crate) fn paragraph(&mut self, indent: usize, text: &str, style: Style) {
        let blanks = " ".repeat(indent);
        for line in wrap(&format!("{blanks}{}", clean(text)), self.width + TITLES) {
            self.text += &format!("{}\n", style.paint(&line));
        }
    }

    /// A row that is laid out already, and clean.
    pub(crate) fn line(&mut self, title: &str, line: &str) {
        self.text += &format!("{}  {line}\n", Style::Bold.paint(&format!("{title:<9}")));
    }
}

/// A text in lines of a width, broken at blanks; lines after the first are two further to the right. A word that is
/// longer stays whole, so that names can be copied.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let mut lines = vec![" ".repeat(indent)];
    let mut is_begun = false;
    for word in text.trim_start_matches(' ').split(' ') {
        let line = lines.last().map_or(0, |line| line.width());
        if is_begun && line + 1 + word.width() > width {
            lines.push(" ".repeat(indent + 2));
            is_begun = false;
        }
        if let Some(line) = lines.last_mut() {
            if is_begun {
                line.push(' ');
            }
            line.push_str(word);
        }
        is_begun = true;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn words_stay_whole() {
        for (text, width, expect) in [
            ("a short one", 80, vec!["a short one"]),
            ("one two three four", 9, vec!["one two", "  three", "  four"]),
            ("  one two", 6, vec!["  one", "    two"]),
            ("pg-with-a-long-name is it", 8, vec!["pg-with-a-long-name", "  is it"]),
            ("模型 模型", 6, vec!["模型", "  模型"]),
            ("a  b", 80, vec!["a  b"]),
            ("", 10, vec![""]),
        ] {
            assert_eq!(wrap(text, width), expect, "{text:?}");
        }
    }
}
