//! `-o`: the forms that data can take.

use kai_api::json_path::{self, Template};
use serde_json::Value;

use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::Output;
use crate::print::yaml;

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
    /// Fields, by kubectl's template language.
    JsonPath(Template),
}

impl Format {
    /// Reads the flag.
    ///
    /// # Errors
    /// When the form is not known.
    pub(crate) fn read(text: Option<&str>) -> Result<Self, Error> {
        Ok(match text {
            None | Some("table") => Self::Table,
            Some("wide") => Self::Wide,
            Some("json") => Self::Json,
            Some("yaml") => Self::Yaml,
            Some("name") => Self::Name,
            Some(other) => {
                if let Some(template) = other.strip_prefix("jsonpath=") {
                    Self::JsonPath(Template::parse(template).map_err(not_understood)?)
                } else {
                    let what = format!("-o {other} is not known");
                    return Err(Problem::new(number::VALUE, Exit::Usage, what)
                        .fix("one of table, wide, json, yaml, name, jsonpath=TEMPLATE")
                        .into());
                }
            }
        })
    }

    /// Whether people are meant to read it.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }
}

fn not_understood(json_path::Error { part }: json_path::Error) -> Problem {
    Problem::new(number::VALUE, Exit::Usage, format!("-o jsonpath: \"{part}\" is not understood"))
        .fix("-o jsonpath='{range .items[*]}{.name}{\"\\n\"}{end}'")
}

/// Prints a report in a form for programs; `false`, and nothing printed, when the form is one for people.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn report(value: &Value, format: &Format, out: &mut Output) -> Result<bool, Error> {
    match format {
        Format::Json => out.data(&format!("{value:#}"))?,
        Format::Yaml => out.raw(&yaml::print(value))?,
        Format::JsonPath(template) => out.raw(&template.apply(value))?,
        Format::Table | Format::Wide | Format::Name => return Ok(false),
    }
    Ok(true)
}
