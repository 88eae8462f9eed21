//! Objects in the forms that programs read.

use serde_json::{Value, json};

use crate::cluster::Resource;
use crate::print::error::Error;
use crate::print::format::{self, Format};
use crate::print::output::{Output, clean};
use crate::print::yaml;

/// Prints objects in a form other than a table; one object as itself when it was asked for alone, several as a list.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn objects(
    items: Vec<Value>,
    is_list: bool,
    format: &Format,
    out: &mut Output,
) -> Result<(), Error> {
    let items: Vec<Value> = items.into_iter().map(without_managed_fields).collect();
    let whole = || match items.as_slice() {
        [one] if !is_list => one.clone(),
        many => json!({ "apiVersion": "v1", "kind": "List", "items": many }),
    };
    match format {
        Format::Yaml if is_list => out.document(&yaml::print(&whole())),
        Format::Yaml => {
            let documents: Vec<String> = items.iter().map(yaml::print).collect();
            out.document(&documents.join("---\n"))
        }
        Format::Table | Format::Wide | Format::Name => {
            items.iter().try_for_each(|item| out.data(&name(item)))
        }
        Format::Json | Format::Csv | Format::JsonPath(_) | Format::Columns(_) | Format::Jq(_) => {
            format::report(&whole(), format, out).map(|_| ())
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
    format!("{}/{}", resource.label(), clean(&name))
}

fn without_managed_fields(mut object: Value) -> Value {
    if let Some(Value::Object(meta)) = object.get_mut("metadata") {
        meta.remove("managedFields");
    }
    object
}
