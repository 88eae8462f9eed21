//! Describes what a command found, in every form that it can be printed in.
//!
//! ```text
//!  command ─► Report { data, table or page } ─► arrange (sort, limit) ─► print (-o, --jq)
//! ```

use std::cmp::Ordering;

use serde_json::{Map, Value};

use crate::print::columns::read_path;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::flags::ListFlags;
use crate::print::format::{self, Format};
use crate::print::output::{Output, clean};
use crate::print::page::wrap;
use crate::print::table::{Cell, Column, Layout};

/// Holds what a command found.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// The kind of the data, such as `WorkloadList`.
    pub(crate) kind: &'static str,
    /// The data for programs; of a list, `items` has one for each row of the table.
    pub(crate) data: Value,
    pub(crate) body: Body,
    /// Said after the data to somebody who sits before a terminal.
    pub(crate) footer: Vec<String>,
    /// Said in any case where people read the data: what is missing in it.
    pub(crate) warnings: Vec<String>,
    /// Says how a command ends that prints it once: a part of what was asked for may have failed.
    pub(crate) exit: Exit,
}

/// Says what people read.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Table(Table),
    /// A page that is laid out already, and what `-o name` prints of it.
    Page {
        text: String,
        names: Vec<String>,
    },
}

/// A row for each item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
}

/// A row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Holds what it is told apart by.
    pub(crate) key: String,
    /// Holds what `-o name` prints.
    pub(crate) name: String,
    /// A cell for each column.
    pub(crate) cells: Vec<Cell>,
    /// Holds what `--show-labels` prints.
    pub(crate) labels: Vec<(String, String)>,
}

impl Row {
    /// A row that is told apart by the name that `-o name` prints.
    pub(crate) fn new(name: impl Into<String>, cells: Vec<Cell>) -> Self {
        let name = name.into();
        Self { key: name.clone(), name, cells, labels: Vec::new() }
    }

    /// Tells it apart by more than its name.
    pub(crate) fn keyed(mut self, key: String) -> Self {
        self.key = key;
        self
    }

    /// Adds the labels of its object.
    pub(crate) fn labelled(mut self, labels: Option<&Map<String, Value>>) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let labels = labels.into_iter().flatten();
        self.labels = labels.map(|(key, value)| (key.clone(), text(value))).collect();
        self
    }

    fn labels_cell(&self) -> Cell {
        if self.labels.is_empty() {
            return "<none>".into();
        }
        let each = self.labels.iter().map(|(key, value)| format!("{key}={value}"));
        each.collect::<Vec<_>>().join(",").into()
    }
}

impl Report {
    /// A report whose data are of a kind.
    pub(crate) fn new(kind: &'static str, data: Value, body: Body) -> Self {
        Self { kind, data, body, footer: Vec::new(), warnings: Vec::new(), exit: Exit::Ok }
    }

    /// The data with version and kind.
    pub(crate) fn whole(&self) -> Value {
        format::headed(self.kind, self.data.clone())
    }

    /// Sorts the items, then leaves the first ones, as the flags say.
    ///
    /// # Errors
    /// There is no such column.
    pub(crate) fn arrange(&mut self, flags: &ListFlags) -> Result<(), Error> {
        if let Some(by) = &flags.sheet.sort_by {
            self.sort(by)?;
        }
        let Some(limit) = flags.sheet.limit else { return Ok(()) };
        let all = self.len();
        if let Body::Table(table) = &mut self.body {
            table.rows.truncate(limit);
        }
        if let Some(items) = self.data["items"].as_array_mut() {
            items.truncate(limit);
        }
        if limit < all {
            self.footer.insert(0, format!("{limit} of {all} are shown (--limit)"));
        }
        Ok(())
    }

    fn len(&self) -> usize {
        match &self.body {
            Body::Table(table) => table.rows.len(),
            Body::Page { names, .. } => names.len(),
        }
    }

    fn sort(&mut self, by: &str) -> Result<(), Error> {
        let (by, is_down) = by.strip_prefix('-').map_or((by, false), |by| (by, true));
        let Body::Table(table) = &mut self.body else { return Ok(()) };
        let items = self.data["items"].as_array().map_or(&[][..], Vec::as_slice);
        let keys: Vec<Key> = if by.starts_with(['.', '{']) {
            let path = read_path(by)?;
            let first = |item: &Value| path.find(item).into_iter().next().cloned();
            items.iter().map(|item| Key::of(first(item).as_ref())).collect()
        } else {
            let at = table.column(by)?;
            table.rows.iter().map(|row| Key::of_cell(&row.cells[at])).collect()
        };
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|one, two| {
            let order = keys[*one].cmp(&keys[*two]);
            if is_down { order.reverse() } else { order }
        });
        table.rows = order.iter().map(|at| table.rows[*at].clone()).collect();
        let sorted = order.iter().filter_map(|at| items.get(*at).cloned()).collect();
        self.data["items"] = Value::Array(sorted);
        Ok(())
    }

    /// Prints it: the data on stdout, the rest on stderr.
    ///
    /// # Errors
    /// As [`format::report`].
    pub(crate) fn print(
        &self,
        format: &Format,
        flags: &ListFlags,
        out: &mut Output,
    ) -> Result<(), Error> {
        match (format, &self.body) {
            (Format::Csv, Body::Table(table)) => out.document(&table.csv(flags))?,
            (Format::Name, body) => words(body.names(), out)?,
            (Format::Columns(columns), Body::Table(_)) => {
                let items = self.data["items"].as_array().map_or(&[][..], Vec::as_slice);
                out.raw(&columns.table(items, !flags.sheet.no_headers))?;
            }
            (Format::Table | Format::Wide, Body::Table(table)) => {
                out.raw(&table.text(*format == Format::Wide, flags, out.columns()))?;
            }
            (Format::Table | Format::Wide, Body::Page { text, .. }) => out.raw(text)?,
            (format, _) => {
                format::report(&self.whole(), format, out)?;
            }
        }
        self.talk(format, out);
        Ok(())
    }

    fn talk(&self, format: &Format, out: &mut Output) {
        self.warnings.iter().for_each(|warning| out.warn(warning));
        if format.is_table() && out.is_terminal() && !self.footer.is_empty() {
            out.talk("");
            let columns = out.columns();
            let lines = self.footer.iter().flat_map(|line| wrap(line, columns));
            lines.for_each(|line| out.talk(&line));
        }
    }
}

impl Body {
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Table(table) => table.rows.iter().map(|row| row.name.as_str()).collect(),
            Self::Page { names, .. } => names.iter().map(String::as_str).collect(),
        }
    }
}

/// Prints names, a line for each. One that is no word would become several, or a flag, on the command line of whoever reads
/// them: it is left out, which is told.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn words<'n>(
    names: impl IntoIterator<Item = &'n str>,
    out: &mut Output,
) -> Result<(), Error> {
    let named = names.into_iter().filter(|name| !name.is_empty());
    let (words, others): (Vec<&str>, Vec<&str>) = named.partition(|name| is_word(name));
    let lines: String = words.into_iter().flat_map(|word| [word, "\n"]).collect();
    out.document(&lines)?;
    if !others.is_empty() {
        let left_out = others.len();
        out.warn(&format!(
            "names that are not one word are left out: {left_out} (-o json has all)"
        ));
    }
    Ok(())
}

/// Tells whether a text is one word, and no flag, to a shell and to `xargs`, which takes quotes away.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && !text.contains(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '\\'))
        && clean(text) == text
}

impl Table {
    /// The columns that are shown, by number, and the rows with those cells; labels last.
    fn shown(&self, wide: bool, flags: &ListFlags) -> (Vec<Column>, Vec<Vec<Cell>>) {
        let keep: Vec<usize> =
            (0..self.columns.len()).filter(|at| wide || !self.columns[*at].wide).collect();
        let mut columns: Vec<Column> = keep.iter().map(|at| self.columns[*at].clone()).collect();
        if flags.show_labels {
            columns.push(Column::new("LABELS"));
        }
        let row = |row: &Row| {
            let mut cells: Vec<Cell> = keep.iter().map(|at| row.cells[*at].clone()).collect();
            cells.extend(flags.show_labels.then(|| row.labels_cell()));
            cells
        };
        (columns, self.rows.iter().map(row).collect())
    }

    /// The table for people.
    pub(crate) fn text(&self, wide: bool, flags: &ListFlags, width: usize) -> String {
        let width = if wide || flags.show_labels { usize::MAX } else { width };
        self.part(wide, flags, &mut Layout::new(width))
    }

    /// The table for people, laid out below the parts of it that a layout knows.
    pub(super) fn part(&self, wide: bool, flags: &ListFlags, layout: &mut Layout) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let (columns, rows) = self.shown(wide, flags);
        layout.render(&columns, &rows, !flags.sheet.no_headers)
    }

    /// The rows alone in one of the forms that have a line with all cells for each.
    pub(crate) fn lines(&self, format: &Format, flags: &ListFlags, width: usize) -> Vec<String> {
        if *format == Format::Csv {
            let of_row = |row: &Row| {
                let one = Self { columns: self.columns.clone(), rows: vec![row.clone()] };
                one.csv(flags).trim_end().to_owned()
            };
            return self.rows.iter().map(of_row).collect();
        }
        // The header is laid out all the same: columns stay as wide as they were below it.
        let mut flags = flags.clone();
        flags.sheet.no_headers = false;
        let text = self.text(*format == Format::Wide, &flags, width);
        text.lines().skip(1).map(str::to_owned).collect()
    }

    /// All columns with commas between them, as RFC 4180 has it.
    pub(super) fn csv(&self, flags: &ListFlags) -> String {
        let (columns, rows) = self.shown(true, flags);
        let mut writer = csv::Writer::from_writer(Vec::new());
        // A vector takes all that is written.
        let mut write = |cells: Vec<&str>| writer.write_record(cells).unwrap_or_default();
        if !flags.sheet.no_headers {
            write(columns.iter().map(|column| &*column.title).collect());
        }
        for row in &rows {
            let cells: Vec<String> = row.iter().map(|cell| of_spreadsheet(&cell.text)).collect();
            write(cells.iter().map(String::as_str).collect());
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn column(&self, word: &str) -> Result<usize, Error> {
        let plain = |text: &str| text.to_lowercase().replace([' ', '_', '-', '/'], "");
        let is_it =
            |column: &Column| !column.title.is_empty() && plain(&column.title) == plain(word);
        self.columns.iter().position(is_it).ok_or_else(|| {
            let known = self.columns.iter().map(|column| column.title.to_lowercase());
            let known: Vec<String> = known.filter(|name| !name.is_empty()).collect();
            let what = format!("--sort-by {word}: there is no such column");
            Problem::new(number::VALUE, Exit::Usage, what)
                .fix(format!(
                    "one of {}; or a field of the JSON, such as .created",
                    known.join(", ")
                ))
                .into()
        })
    }
}

/// A cell as spreadsheets take it, on one line: a text that they would work out as a formula has a quote before it.
fn of_spreadsheet(text: &str) -> String {
    // What a table shows as a dash is nothing.
    if text == "-" {
        return String::new();
    }
    let text = clean(text);
    let is_formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    if is_formula { format!("'{text}") } else { text.into_owned() }
}

/// Says what is sorted by: numbers before texts, and what is absent last.
#[derive(Clone, Debug, PartialEq)]
enum Key {
    Number(f64),
    Text(String),
    Absent,
}

impl Key {
    fn of(value: Option<&Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Absent,
            Some(Value::Number(number)) => number.as_f64().map_or(Self::Absent, Self::Number),
            Some(Value::String(text)) => Self::of_text(text),
            Some(other) => Self::Text(other.to_string()),
        }
    }

    fn of_cell(cell: &Cell) -> Self {
        match (cell.rank, cell.text.as_str()) {
            (Some(rank), _) => Self::of(Some(&rank.into())),
            (None, "" | "-" | "?") => Self::Absent,
            (None, text) => Self::of_text(text),
        }
    }

    fn of_text(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Text(text.to_owned()), Self::Number)
    }

    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(two)) => one.total_cmp(two),
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            (Self::Number(_), _) | (Self::Text(_), Self::Absent) => Ordering::Less,
            (Self::Absent, Self::Absent) => Ordering::Equal,
            (Self::Text(_), Self::Number(_)) | (Self::Absent, _) => Ordering::Greater,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::print::flags::SheetFlags;
    use crate::print::output::tests::page;

    fn report() -> Report {
        let row = |name: &str, age: Option<i64>| {
            let shown = age.map_or_else(|| "-".to_owned(), |age| format!("{age}m"));
            let cells = vec![name.into(), Cell::ranked(shown, age), "x,\"y".into()];
            Row::new(format!("job/{name}"), cells).labelled(json!({"team": name}).as_object())
        };
        let rows = vec![row("b", Some(10)), row("c", None), row("a", Some(9))];
        let columns = vec![Column::new("NAME"), Column::new("AGE"), Column::new("NOTE").wide()];
        let items = json!({"items": [{"n": 2}, {"n": 10}, {}]});
        Report::new("TestList", items, Body::Table(Table { columns, rows }))
    }

    /// Says what is printed with some flags.
    fn check(flags: &ListFlags, output: &str, expect: &str) {
        let mut report = report();
        let format = Format::asked(Some(output), flags.sheet.jq.as_deref()).expect("a form");
        let said = report
            .arrange(flags)
            .and_then(|()| page(|out| report.print(&format, flags, out)))
            .unwrap_or_else(|error| error.to_string());
        assert_eq!(said, expect, "-o {output} {flags:?}");
    }

    #[test]
    fn items_are_sorted_and_cut_in_every_form() {
        let by = |by: &str| SheetFlags { sort_by: Some(by.into()), ..SheetFlags::default() };
        check(&by("age").list(), "name", "job/a\njob/b\njob/c\n");
        check(&by("-age").list(), "name", "job/c\njob/b\njob/a\n");
        check(&by("NAME").list(), "jsonpath={.items[*].n}", "2 10");
        check(&by(".n").list(), "name", "job/b\njob/c\njob/a\n");
        let two = SheetFlags { limit: Some(2), ..by("name") };
        check(&two.list(), "table", "NAME  AGE\na     9m\nb     10m\n");
        let wrong = by("colour").list();
        check(
            &wrong,
            "table",
            "error[KAI1003]: --sort-by colour: there is no such column\n  fix: one of name, age, note; or a field of the JSON, such as .created",
        );
    }

    /// A queue of a workload, and its user, are any text of whoever submitted it.
    #[test]
    fn a_name_is_one_word_or_is_left_out() {
        let names = [
            "team-a",
            "",
            "--all",
            "two\nlines",
            "two words",
            "'--all'",
            "\\--all",
            "a\u{1b}[2J",
            "\u{202e}b",
            "größe",
        ];
        let said = page(|out| words(names, out));
        assert_eq!(said.expect("it prints"), "team-a\ngröße\n");
    }

    #[test]
    fn no_cell_is_a_formula_to_a_spreadsheet() {
        for (text, expect) in [
            ("-", ""),
            ("-1", "-1"),
            ("+2.5", "+2.5"),
            ("a=b", "a=b"),
            ("=1+1", "'=1+1"),
            ("-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "\\t=1"),
            ("two\nlines", "two\\nlines"),
        ] {
            assert_eq!(of_spreadsheet(text), expect);
        }
    }

    #[test]
    fn a_table_can_be_laid_out_for_others() {
        let sheet = SheetFlags { no_headers: true, ..SheetFlags::default() };
        let flags = ListFlags { sheet, show_labels: true };
        check(&flags, "table", "b  10m  team=b\nc  -    team=c\na  9m   team=a\n");
        check(
            &flags,
            "csv",
            "b,10m,\"x,\"\"y\",team=b\nc,,\"x,\"\"y\",team=c\na,9m,\"x,\"\"y\",team=a\n",
        );
        check(
            &ListFlags::default(),
            "wide",
            "NAME  AGE  NOTE\nb     10m  x,\"y\nc     -    x,\"y\na     9m   x,\"y\n",
        );
    }
}
