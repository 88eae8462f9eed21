//! Borderless tables, kubectl's way: columns by the widest cell, the least important ones dropped on a narrow terminal.

use std::borrow::Cow;

use comfy_table::{CellAlignment, ColumnConstraint, Row, Table, Width, presets};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::print::output::{Output, Style, clean};
use crate::threads;

/// Blanks between two columns.
const GAP: u16 = 2;
/// The columns of the widest cell: nothing that exists reaches it, and all rows are padded to what somebody wrote.
const CELL_COLUMNS_MAX: usize = 2048;

/// One column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) title: Cow<'static, str>,
    /// The higher, the earlier it is dropped on a narrow terminal; 0 stays.
    pub(crate) drop: u8,
    /// Numbers stand to the right.
    pub(crate) right: bool,
    /// Only `-o wide` and `-o csv` show it.
    pub(crate) wide: bool,
    /// It changes by itself as time goes by.
    pub(crate) ages: bool,
}

impl Column {
    pub(crate) const fn new(title: &'static str) -> Self {
        Self { title: Cow::Borrowed(title), drop: 0, right: false, wide: false, ages: false }
    }

    /// A column whose title the user gave.
    pub(crate) fn titled(title: String) -> Self {
        Self { title: Cow::Owned(title), ..Self::new("") }
    }

    /// Says that it stands to the right, as numbers do.
    pub(crate) const fn right(mut self) -> Self {
        self.right = true;
        self
    }

    /// Says that it changes by itself as time goes by.
    pub(crate) const fn ages(mut self) -> Self {
        self.ages = true;
        self
    }

    /// Says that only `-o wide` and `-o csv` show it.
    pub(crate) const fn wide(mut self) -> Self {
        self.wide = true;
        self
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
    /// Holds what `--sort-by` compares, where the text would not do.
    pub(crate) rank: Option<i64>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), style: Style::Plain, rank: None }
    }
}

impl Cell {
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, rank: None }
    }

    /// A text that stands for a number.
    pub(crate) fn ranked(text: impl Into<String>, rank: Option<i64>) -> Self {
        Self { rank, ..Self::from(text) }
    }
}

/// Lays a table out for a width in columns. comfy-table measures, pads and aligns; a style is laid over the finished
/// line, since comfy-table's own would count as text or follow the environment instead of `--color`.
pub(crate) fn render(
    columns: &[Column],
    rows: &[Vec<Cell>],
    width: usize,
    headers: bool,
) -> String {
    Layout::new(width).render(columns, rows, headers)
}

/// Says how wide the columns of a table are that is printed in parts: no narrower than in the part before, and those that
/// were dropped from the first part stay away.
#[derive(Debug)]
pub(crate) struct Layout {
    width: usize,
    /// Holds how wide each column was at last, None for one that was dropped; empty before the first part.
    columns: Vec<Option<u16>>,
}

impl Layout {
    /// A table that has no part yet, for a width in columns.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, columns: Vec::new() }
    }

    /// Lays the next part out.
    pub(crate) fn render(
        &mut self,
        columns: &[Column],
        rows: &[Vec<Cell>],
        headers: bool,
    ) -> String {
        let titles: Vec<Cell> =
            columns.iter().map(|column| Cell::styled(column.title.clone(), Style::Bold)).collect();
        let rows: Vec<&[Cell]> = headers
            .then_some(titles.as_slice())
            .into_iter()
            .chain(rows.iter().map(Vec::as_slice))
            .collect();
        if rows.is_empty() {
            return String::new();
        }
        let parts = threads::parts(&rows, |rows| Laid::new(columns, rows));
        let mut widths = vec![0; columns.len()];
        for part in &parts {
            for (width, of_part) in widths.iter_mut().zip(part.table.column_max_content_widths()) {
                *width = of_part.max(*width);
            }
        }
        self.fit(columns, &widths);
        let columns = &self.columns;
        threads::each(parts, |part| part.text(columns)).concat()
    }

    /// Hides what has no room, or what the parts before are without, and widens the others to what they were.
    fn fit(&mut self, columns: &[Column], widths: &[u16]) {
        if self.columns.is_empty() {
            let hidden = hidden(columns, widths, self.width);
            self.columns = hidden.iter().map(|is_hidden| (!is_hidden).then_some(0)).collect();
        }
        for (before, now) in self.columns.iter_mut().zip(widths) {
            *before = before.map(|before| before.max(*now));
        }
    }
}

/// Some rows of a table, as comfy-table lays them out.
struct Laid<'r> {
    rows: Vec<&'r [Cell]>,
    table: Table,
}

impl<'r> Laid<'r> {
    fn new(columns: &[Column], rows: &[&'r [Cell]]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).add_rows(rows.iter().map(|row| line_of(row)));
        for (laid, column) in table.column_iter_mut().zip(columns) {
            laid.set_padding((0, GAP));
            laid.set_cell_alignment(if column.right {
                CellAlignment::Right
            } else {
                CellAlignment::Left
            });
        }
        Self { rows: rows.to_vec(), table }
    }

    /// The lines, in columns of at least these widths; those without one are hidden.
    fn text(mut self, columns: &[Option<u16>]) -> String {
        for (column, width) in self.table.column_iter_mut().zip(columns) {
            column.set_constraint(match width {
                Some(width) => {
                    ColumnConstraint::LowerBoundary(Width::Fixed(width.saturating_add(GAP)))
                }
                None => ColumnConstraint::Hidden,
            });
        }
        let mut out = String::new();
        for (row, line) in self.rows.iter().zip(self.table.lines()) {
            let cells = row.iter().zip(columns).filter(|(_, width)| width.is_some());
            out += paint(&line, cells.map(|(cell, _)| cell)).trim_end_matches(' ');
            out.push('\n');
        }
        out
    }
}

/// A row that stays one line, however long its cells are.
fn line_of(row: &[Cell]) -> Row {
    let mut line = Row::from(row.iter().map(seen));
    line.max_height(1);
    line
}

/// The text of a cell as it is laid out.
fn seen(cell: &Cell) -> Cow<'_, str> {
    let text = clean(&cell.text);
    // No text is wider than its bytes.
    if text.len() <= CELL_COLUMNS_MAX { text } else { cut(&text, CELL_COLUMNS_MAX, true).into() }
}

/// Tells which columns are hidden, so that the rest fits: none more than may be dropped.
fn hidden(columns: &[Column], widths: &[u16], width: usize) -> Vec<bool> {
    let width_of = |at: usize| usize::from(widths[at]) + usize::from(GAP);
    let mut hidden = vec![false; columns.len()];
    let mut total = (0..columns.len()).map(width_of).sum::<usize>();
    let mut may_go: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].drop > 0).collect();
    // The last of those that stand level goes first.
    may_go.sort_by_key(|at| columns[*at].drop);
    while total.saturating_sub(usize::from(GAP)) > width {
        let Some(at) = may_go.pop() else { break };
        total -= width_of(at);
        hidden[at] = true;
    }
    hidden
}

/// The line with the style of each cell around its text: what stands before a text is blanks, so the first place where
/// it is found is its own.
fn paint<'c>(line: &str, cells: impl Iterator<Item = &'c Cell>) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    for cell in cells {
        let text = seen(cell);
        if !text.is_empty()
            && let Some((blank, after)) = rest.split_once(text.as_ref())
        {
            out += blank;
            out += &cell.style.paint(&text);
            rest = after;
        }
    }
    out + rest
}

/// Shortens a text to a width, with an ellipsis.
pub(crate) fn shorten(text: &str, width: usize, out: &Output) -> String {
    cut(text, width, out.is_ascii())
}

/// A text that is at most so wide, with dots where something is missing.
pub(crate) fn cut(text: &str, width: usize, is_ascii: bool) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let end = if is_ascii { "..." } else { "…" };
    let (mut short, mut room) = (String::new(), width.saturating_sub(end.width()));
    for c in text.chars() {
        let Some(left) = room.checked_sub(c.width().unwrap_or(1)) else { break };
        room = left;
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

    #[test]
    fn one_long_cell_does_not_pad_all_rows_without_a_bound() {
        let row = |name: String| vec![name.into(), "job".into(), "Pending".into(), "9d".into()];
        let rows = [row("n".repeat(100_000)), row("\u{1b}".repeat(1_000)), row("a".into())];
        let text = render(COLUMNS, &rows, usize::MAX, false);
        let lines: Vec<&str> = text.lines().collect();
        let widths: Vec<usize> = lines.iter().map(|line| line.width()).collect();
        let rest = "  job  Pending  9d".len();
        assert_eq!(widths, [CELL_COLUMNS_MAX + rest; 3]);
        assert!(lines[0].contains("nnn...  job") && lines[2].starts_with("a   "));
    }

    /// Many rows are laid out on several threads: each line is as wide as the widest cell of all has it.
    #[test]
    fn many_rows_stand_in_the_columns_of_all() {
        let row = |at: usize| {
            let name = "n".repeat(if at == 1_999 { 12 } else { 1 + at % 3 });
            vec![name.into(), "job".into(), "Pending".into(), "9d".into()]
        };
        let rows: Vec<Vec<Cell>> = (0..2_000).map(row).collect();
        let text = render(COLUMNS, &rows, 80, false);
        assert_eq!(text.lines().count(), rows.len());
        for (row, line) in rows.iter().zip(text.lines()) {
            assert_eq!(line, format!("{:<12}  job  Pending  9d", row[0].text));
        }
    }

    #[test]
    fn a_later_part_stands_below_the_columns_of_the_first() {
        let mut layout = Layout::new(30);
        let mut part = |rows: &[[&str; 4]], headers: bool| {
            let row = |row: &[&str; 4]| row.iter().map(|text| Cell::from(*text)).collect();
            let rows: Vec<Vec<Cell>> = rows.iter().map(row).collect();
            let text = layout.render(COLUMNS, &rows, headers);
            text.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "")
        };
        let first = part(&[["llama-ft", "pytorchjob", "Running", "3h"]], true);
        assert_eq!(first, "NAME      STATUS   AGE\nllama-ft  Running  3h\n");
        assert_eq!(part(&[["a", "job", "Failed", "9d"]], false), "a         Failed   9d\n");
        let wider = part(&[["llama-ft-2", "job", "Failed", "9d"]], false);
        assert_eq!(wider, "llama-ft-2  Failed   9d\n");
        assert_eq!(part(&[["b", "job", "Failed", "9d"]], false), "b           Failed   9d\n");
        assert_eq!(part(&[], false), "");
    }
}
