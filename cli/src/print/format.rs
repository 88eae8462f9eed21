//! `-o` and `--jq`: the forms that data can take.

use std::fs;

use kai_api::json_path::{self, Template};
use serde_json::{Map, Value};

use crate::print::columns::Columns;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::jq::Filter;
use crate::print::output::Output;
use crate::print::yaml;

/// The version of everything that is printed for programs; within it fields are only ever added.
pub(crate) const API_VERSION: &str = "cli.kai.scheduler/v1";
/// The forms, as help and errors name them.
pub(crate) const FORMS: &str = "table, wide, json, yaml, name, csv, jsonpath=TEMPLATE, \
    jsonpath-file=FILE, custom-columns=SPEC, custom-columns-file=FILE";

/// A form of output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Format {
    /// For people; what it is depends on the command.
    Table,
    /// A table with all columns.
    Wide,
    Json,
    Yaml,
    /// `kind.group/name`, a line each.
    Name,
    /// The table with all columns, for spreadsheets.
    Csv,
    /// Fields, by kubectl's template language.
    JsonPath(Template),
    /// A table of fields.
    Columns(Columns),
    /// Holds what a jq expression makes of it.
    Jq(Filter),
}

impl Format {
    /// Reads `-o`.
    ///
    /// # Errors
    /// When the form is not known, or its template or file cannot be read.
    pub(crate) fn read(text: Option<&str>) -> Result<Self, Error> {
        Ok(match text {
            None | Some("table") => Self::Table,
            Some("wide") => Self::Wide,
            Some("json") => Self::Json,
            Some("yaml") => Self::Yaml,
            Some("name") => Self::Name,
            Some("csv") => Self::Csv,
            Some(other) => match other.split_once('=') {
                Some(("jsonpath", template)) => Self::json_path(template)?,
                Some(("jsonpath-file", file)) => Self::json_path(&content(file)?)?,
                Some(("custom-columns", spec)) => Self::Columns(Columns::read(spec)?),
                Some(("custom-columns-file", file)) => {
                    Self::Columns(Columns::of_file(&content(file)?)?)
                }
                Some(_) | None => return Err(unknown(other).into()),
            },
        })
    }

    /// Reads `-o` and `--jq` together.
    ///
    /// # Errors
    /// As [`Format::read`], and when the expression is none, or both ask for something else.
    pub(crate) fn asked(output: Option<&str>, jq: Option<&str>) -> Result<Self, Error> {
        let format = Self::read(output)?;
        let Some(expression) = jq else { return Ok(format) };
        if output.is_some() && format != Self::Json {
            let what = format!("-o {} and --jq ask for two forms", output.unwrap_or_default());
            return Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
                .fix("--jq EXPRESSION alone, which reads the JSON")
                .into());
        }
        Ok(Self::Jq(Filter::read(expression)?))
    }

    fn json_path(template: &str) -> Result<Self, Error> {
        Ok(Self::JsonPath(Template::parse(template).map_err(not_understood)?))
    }

    /// Tells whether it is made of a table's rows alone, without the data behind them.
    pub(crate) fn is_rows(&self) -> bool {
        matches!(self, Self::Table | Self::Wide | Self::Name | Self::Csv)
    }

    /// Tells whether people are meant to read it.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }
}

fn unknown(form: &str) -> Problem {
    let head = form.split('=').next().unwrap_or(form);
    let takes = ["jsonpath", "jsonpath-file", "custom-columns", "custom-columns-file"];
    if takes.contains(&form) {
        return Problem::new(number::VALUE, Exit::Usage, format!("-o {form} needs a value"))
            .fix(format!("-o {form}=..."));
    }
    let problem = Problem::new(number::VALUE, Exit::Usage, format!("-o {form} is not known"));
    let problem = match head {
        "go-template" | "go-template-file" | "template" | "templatefile" => {
            problem.line("Go templates are not read here; --jq can do what they do")
        }
        _ => problem,
    };
    problem.fix(format!("one of {FORMS}"))
}

fn content(file: &str) -> Result<String, Error> {
    fs::read_to_string(file).map_err(|e| {
        Problem::new(number::FILE, Exit::Usage, format!("failed to read {file}: {e}")).into()
    })
}

fn not_understood(json_path::Error { part }: json_path::Error) -> Problem {
    Problem::new(number::VALUE, Exit::Usage, format!("-o jsonpath: \"{part}\" is not understood"))
        .fix("-o jsonpath='{range .items[*]}{.name}{\"\\n\"}{end}'")
}

/// A report under its kind, with the version of its fields in front.
pub(crate) fn headed(kind: &str, report: Value) -> Value {
    let mut whole = Map::new();
    whole.insert("apiVersion".into(), API_VERSION.into());
    whole.insert("kind".into(), kind.into());
    if let Value::Object(fields) = report {
        whole.extend(fields);
    }
    Value::Object(whole)
}

/// Prints a report in a form for programs; `false`, and nothing printed, when the form is one for people.
///
/// # Errors
/// When stdout cannot be written, the report is no table and a table was asked for, or an expression fails.
pub(crate) fn report(value: &Value, format: &Format, out: &mut Output) -> Result<bool, Error> {
    match format {
        Format::Json => out.json(value)?,
        Format::Yaml => out.document(&yaml::print(value))?,
        Format::JsonPath(template) => out.document(&template.apply(value))?,
        Format::Columns(columns) => {
            let items = value["items"].as_array();
            let items = items.map_or(std::slice::from_ref(value), Vec::as_slice);
            out.raw(&columns.table(items, true))?;
        }
        Format::Jq(filter) => {
            for line in filter.apply(value)? {
                out.document(&format!("{line}\n"))?;
            }
        }
        Format::Csv => {
            return Err(Problem::new(number::USAGE, Exit::Usage, "this is no table for -o csv")
                .fix("-o json")
                .into());
        }
        Format::Table | Format::Wide | Format::Name => return Ok(false),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::print::output::tests::page;

    /// Says what `-o FORM` prints of two items, or the number of its problem.
    fn check(output: Option<&str>, jq: Option<&str>, expect: &str) {
        let value = headed("TestList", json!({"items": [{"name": "a", "gpu": 1}, {"name": "b"}]}));
        let printed = Format::asked(output, jq)
            .and_then(|format| page(|out| report(&value, &format, out).map(|_| ())));
        let said = printed.unwrap_or_else(|error| {
            error.to_string().lines().next().unwrap_or_default().to_owned()
        });
        assert_eq!(said, expect, "-o {output:?} --jq {jq:?}");
    }

    #[test]
    fn a_report_takes_every_form() {
        let whole = "apiVersion: cli.kai.scheduler/v1\nkind: TestList\nitems:\n- name: a\n  gpu: 1\n- name: b\n";
        check(Some("yaml"), None, whole);
        check(Some("jsonpath={.kind}:{.items[*].name}"), None, "TestList:a b");
        check(Some("custom-columns=N:.name,G:.gpu"), None, "N  G\na  1\nb  <none>\n");
        check(None, Some(".items[].name"), "a\nb\n");
        check(Some("json"), Some(".items | map(.gpu)"), "[1,null]\n");
        check(Some("yaml"), Some("."), "error[KAI1002]: -o yaml and --jq ask for two forms");
        check(Some("jsonpath"), None, "error[KAI1003]: -o jsonpath needs a value");
        check(Some("nonsense"), None, "error[KAI1003]: -o nonsense is not known");
        check(Some("csv"), None, "error[KAI1013]: this is no table for -o csv");
        check(
            Some("jsonpath-file=/nowhere"),
            None,
            "error[KAI1016]: failed to read /nowhere: No such file or directory (os error 2)",
        );
        for wrong in [".[", "nope", ".items | error"] {
            let format = Format::asked(None, Some(wrong));
            let said =
                format.and_then(|format| page(|out| report(&value(), &format, out).map(|_| ())));
            assert!(said.is_err(), "{wrong}");
        }
    }

    fn value() -> Value {
        json!({"items": []})
    }
}
