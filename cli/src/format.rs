//! `-o`: the forms that data can take.

use serde_json::{Value, json};

use crate::cluster::Resource;
use crate::error::{Error, Exit, Problem, number};
use crate::{Context, yaml};

/// A form of output.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    JsonPath(crate::jsonpath::Template),
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
                    Self::JsonPath(crate::jsonpath::Template::parse(template)?)
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

/// Prints a report in a form for programs; `false`, and nothing printed, when the form is one for people.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn report(value: &Value, format: &Format, context: &mut Context) -> Result<bool, Error> {
    match format {
        Format::Json => context.out.data(&format!("{value:#}"))?,
        Format::Yaml => context.out.raw(&yaml::print(value))?,
        Format::JsonPath(template) => context.out.raw(&template.apply(value))?,
        Format::Table | Format::Wide | Format::Name => return Ok(false),
    }
    Ok(true)
}

/// Prints objects in a form other than a table; one object as itself when it was asked for alone, several as a list.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn objects(
    items: Vec<Value>,
    is_list: bool,
    format: &Format,
    context: &mut Context,
) -> Result<(), Error> {
    let items: Vec<Value> = items.into_iter().map(without_managed_fields).collect();
    let whole = || match items.as_slice() {
        [one] if !is_list => one.clone(),
        many => json!({ "apiVersion": "v1", "kind": "List", "items": many }),
    };
    match format {
        Format::Json => context.out.data(&format!("{:#}", whole())),
        Format::Yaml if is_list => context.out.raw(&yaml::print(&whole())),
        Format::Yaml => {
            let documents: Vec<String> = items.iter().map(yaml::print).collect();
            context.out.raw(&documents.join("---\n"))
        }
        Format::JsonPath(template) => context.out.raw(&template.apply(&whole())),
        Format::Table | Format::Wide | Format::Name => {
            items.iter().try_for_each(|item| context.out.data(&name(item)))
        }
    }
}

/// `kind.group/name` of an object.
pub(crate) fn name(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let resource = Resource::new(&text(&object["apiVersion"]), &text(&object["kind"]), "");
    let meta = &object["metadata"];
    let name =
        if meta["name"].is_string() { text(&meta["name"]) } else { text(&meta["generateName"]) };
    format!("{}/{}", resource.label(), crate::output::clean(&name))
}

fn without_managed_fields(mut object: Value) -> Value {
    if let Some(Value::Object(meta)) = object.get_mut("metadata") {
        meta.remove("managedFields");
    }
    object
}
