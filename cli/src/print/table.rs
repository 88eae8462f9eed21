//! Borderless tables, kubectl's way: columns by the widest cell, the least important ones dropped on a narrow terminal.

use unicode_width::UnicodeWidthStr as _;

use crate::print::output::{Output, Style, clean};

/// One column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// The higher, the earlier it is dropped on a narrow terminal; 0 stays.
    pub(crate) drop: u8,
    /// Numbers stand to the right.
    pub(crate) right: bool,
}

impl Column {
    pub(crate) const fn new(title: &'static str) -> Self {
        Self { title, drop: 0, right: false }
    }

    /// Says that it may be dropped; the highest goes first.
    pub(crate) const fn drop(mut self, order: u8) -> Self {
        self.drop = order;
        self
    }
}

/// A cell: a text from anywhere, and how it looks.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), style: Style::Plain }
    }
}

impl Cell {
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// Lays a table out for a width in columns.
pub(crate) fn render(
    columns: &[Column],
    rows: &[Vec<Cell>],
    width: usize,
    headers: bool,
) -> String {
    let texts: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| clean(&cell.text).into_owned()).collect())
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(i, column)| {
            let title = if headers { column.title.width() } else { 0 };
            texts.iter().map(|row| row[i].width()).max().unwrap_or(0).max(title)
        })
        .collect();
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let total =
        |shown: &[usize]| shown.iter().map(|i| widths[*i] + 2).sum::<usize>().saturating_sub(2);
    while total(&shown) > width {
        let Some(at) = (0..shown.len())
            .filter(|at| columns[shown[*at]].drop > 0)
            .max_by_key(|at| columns[shown[*at]].drop)
        else {
            break;
        };
        shown.remove(at);
    }
    let mut out = String::new();
    let mut line = |cells: Vec<(String, Style)>| {
        let last = cells.len().saturating_sub(1);
        for (at, (text, style)) in cells.into_iter().enumerate() {
            let column = &columns[shown[at]];
            let blank = " ".repeat(widths[shown[at]].saturating_sub(text.width()));
            let painted = style.paint(&text);
            out += &match (column.right, at == last) {
                (true, _) => format!("{blank}{painted}"),
                (false, true) => painted,
                (false, false) => format!("{painted}{blank}"),
            };
            if at != last {
                out += "  ";
            }
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    };
    if headers {
        line(shown.iter().map(|i| (columns[*i].title.to_owned(), Style::Bold)).collect());
    }
    for (row, texts) in rows.iter().zip(&texts) {
        line(shown.iter().map(|i| (texts[*i].clone(), row[*i].style)).collect());
    }
    out
}

/// Shortens a text to a width, with an ellipsis.
pub(crate) fn shorten(text: &str, width: usize, out: &Output) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let end = if out.is_ascii() { "..." } else { "…" };
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + c.to_string().width() + end.width() > width {
            break;
        }
        short.push(c);
    }
    short + end
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column::new("NAME"),
        Column::new("KIND").drop(3),
        Column::new("STATUS"),
        Column::new("AGE").drop(1),
    ];

    fn check(width: usize, expect: &str) {
        let rows = vec![
            vec!["llama-ft".into(), "pytorchjob".into(), "Running".into(), "3h".into()],
            vec!["模型".into(), "job".into(), "Pending".into(), "9d".into()],
        ];
        assert_eq!(
            render(COLUMNS, &rows, width, true).replace("\u{1b}[1m", "").replace("\u{1b}[0m", ""),
            expect
        );
    }

    #[test]
    fn columns_go_in_their_order_when_it_gets_narrow() {
        check(
            80,
            "NAME      KIND        STATUS   AGE\nllama-ft  pytorchjob  Running  3h\n模型      job         Pending  9d\n",
        );
        check(30, "NAME      STATUS   AGE\nllama-ft  Running  3h\n模型      Pending  9d\n");
        check(5, "NAME      STATUS\nllama-ft  Running\n模型      Pending\n");
    }
}
