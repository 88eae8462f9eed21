//! `-o custom-columns`: a table of fields, in kubectl's grammar `HEADER:.path,HEADER:.path`.

use kai_api::json_path::Path;
use serde_json::Value;

use crate::print::error::{Error, Exit, Problem, number};
use crate::print::table::{Cell, Column, render};

/// Stands for a field that is not there, as kubectl has it.
const NONE: &str = "<none>";

/// The columns that were asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Columns(Vec<(String, Path)>);

impl Columns {
    /// Reads `HEADER:.path,HEADER:.path`.
    ///
    /// # Errors
    /// A column without a header, or with a path that is none.
    pub(crate) fn read(spec: &str) -> Result<Self, Error> {
        let columns = spec.split(',').map(|column| match column.split_once(':') {
            Some((title, path)) if !title.is_empty() && !path.is_empty() => {
                Ok((title.to_owned(), read_path(path)?))
            }
            Some(_) | None => Err(wrong(column).into()),
        });
        Ok(Self(columns.collect::<Result<_, Error>>()?))
    }

    /// Reads a file of two lines: the headers, and below each its path.
    ///
    /// # Errors
    /// There are not as many paths as headers, or a path is none.
    pub(crate) fn of_file(text: &str) -> Result<Self, Error> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let mut words = || lines.next().map(str::split_whitespace).into_iter().flatten();
        let titles: Vec<String> = words().map(str::to_owned).collect();
        let paths: Vec<&str> = words().collect();
        if titles.is_empty() || titles.len() != paths.len() {
            let what = format!("{} headers stand above {} paths", titles.len(), paths.len());
            return Err(Problem::new(number::VALUE, Exit::Usage, what)
                .fix("a line such as NAME QUEUE, and one such as .name .queue")
                .into());
        }
        let read = |(title, path)| Ok((title, read_path(path)?));
        Ok(Self(titles.into_iter().zip(paths).map(read).collect::<Result<_, Error>>()?))
    }

    /// Lays a row for each item.
    pub(crate) fn table(&self, items: &[Value], headers: bool) -> String {
        let columns: Vec<Column> =
            self.0.iter().map(|(title, _)| Column::titled(title.clone())).collect();
        let row = |item: &Value| {
            let cell = |(_, path): &(String, Path)| -> Cell {
                let found = path.find(item);
                let texts: Vec<String> = found.into_iter().filter_map(shown).collect();
                if texts.is_empty() { NONE.into() } else { texts.join(",").into() }
            };
            self.0.iter().map(cell).collect()
        };
        let rows: Vec<Vec<Cell>> = items.iter().map(row).collect();
        render(&columns, &rows, usize::MAX, headers)
    }
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// Reads a path as kubectl takes it here: `{.a.b}`, `.a.b` or `a.b`.
///
/// # Errors
/// It is none.
pub(crate) fn read_path(text: &str) -> Result<Path, Error> {
    let bare = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
    let bare = if bare.starts_with(['.', '[', '$']) { bare.to_owned() } else { format!(".{bare}") };
    Path::parse(&bare).map_err(|_| {
        let what = format!("\"{text}\" is no path to a field");
        Problem::new(number::VALUE, Exit::Usage, what).fix("a path such as .name").into()
    })
}

fn wrong(column: &str) -> Problem {
    let what = format!("-o custom-columns: \"{column}\" has no header or no path");
    Problem::new(number::VALUE, Exit::Usage, what).fix("-o custom-columns=NAME:.name,QUEUE:.queue")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(columns: Result<Columns, Error>, expect: &str) {
        let items =
            [json!({"name": "a", "nodes": ["n", "m"], "gpu": 1}), json!({"name": "b\u{1b}"})];
        let said = match columns {
            Ok(columns) => {
                columns.table(&items, true).replace("\u{1b}[1m", "").replace("\u{1b}[0m", "")
            }
            Err(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
        };
        assert_eq!(said, expect);
    }

    #[test]
    fn columns_are_read_as_kubectl_does() {
        check(
            Columns::read("NAME:.name,ON:{.nodes[*]},GPU:gpu"),
            "NAME     ON      GPU\na        n,m     1\nb\\u{1b}  <none>  <none>\n",
        );
        check(Columns::of_file("N  G\n.name .gpu\n"), "N        G\na        1\nb\\u{1b}  <none>\n");
        check(Columns::of_file("N\n"), "error[KAI1003]: 1 headers stand above 0 paths");
        check(
            Columns::read("N"),
            "error[KAI1003]: -o custom-columns: \"N\" has no header or no path",
        );
        check(Columns::read("N:.a["), "error[KAI1003]: \".a[\" is no path to a field");
    }
}
