//! Manifests: files, standard input, several documents, lists.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::document::Document;
use super::fetch::{self, BYTES_MAX};
use super::folders;
use crate::cluster::json;
use crate::cluster::kinds::Kind;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::yaml;

/// Reads all documents of all files.
///
/// # Errors
/// Every problem of the first file that has one, and when nothing in all of them makes pods.
pub(crate) async fn files(
    paths: &[PathBuf],
    is_recursive: bool,
    wanted: Option<&'static Kind>,
    context: &mut Context,
) -> Result<Vec<Document>, Error> {
    let mut documents = Vec::new();
    let folders = folders::expand(paths, is_recursive, context)?;
    for path in &folders {
        let name = if path == Path::new("-") {
            "standard input".to_owned()
        } else {
            path.display().to_string()
        };
        let text = text(path, &name, context).await?;
        let mut problems = Vec::new();
        for value in yaml::documents(&name, &text)? {
            flatten(value, &name, &mut documents, &mut problems);
        }
        Error::all(problems)?;
    }
    Error::all(twice(&documents))?;
    let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    if documents.is_empty() {
        let what = format!("{} holds no object", names.join(", "));
        return Err(Problem::new(number::NOTHING_TO_SCHEDULE, Exit::Refused, what)
            .fix("a manifest has apiVersion, kind and metadata")
            .into());
    }
    if !documents.iter().any(|document| document.is_workload) {
        return Err(nothing(&names, &documents));
    }
    if let Some(kind) = wanted
        && !documents.iter().any(|document| document.kind() == kind.name)
    {
        let what = format!("{} holds no {}", names.join(", "), kind.name);
        return Err(Problem::new(number::USAGE, Exit::Usage, what)
            .fix("leave the kind out: submit -f FILE")
            .into());
    }
    Ok(documents)
}

/// Reads a file, standard input, or an address.
///
/// # Errors
/// It cannot be read, is too large, or is not text.
pub(super) async fn text(path: &Path, name: &str, context: &mut Context) -> Result<String, Error> {
    if fetch::is_url(name) {
        return utf8(fetch::text(name, &context.env).await?, name);
    }
    let fail = |what: String| Error::from(Problem::new(number::FILE, Exit::Failure, what));
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        context.stdin.by_ref().take(BYTES_MAX + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(context.dir.join(path))
            .and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes))
    };
    read.map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error::from(Problem::new(
            number::FILE,
            Exit::NotFound,
            format!("there is no file {name}"),
        )),
        _ => fail(format!("failed to read {name}: {e}")),
    })?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(fail(format!("{name} is larger than {} MiB", BYTES_MAX >> 20)));
    }
    utf8(bytes, name)
}

fn utf8(bytes: Vec<u8>, name: &str) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|e| {
        Problem::new(
            number::YAML,
            Exit::Refused,
            format!("{name} is not text in UTF-8 (byte {})", e.utf8_error().valid_up_to()),
        )
        .into()
    })
}

/// Takes lists apart, and checks that each object says what it is.
fn flatten(value: Value, name: &str, documents: &mut Vec<Document>, problems: &mut Vec<Problem>) {
    let kind = json::text(&value["kind"]);
    let is_list = kind.ends_with("List") && value["items"].is_array();
    if is_list {
        let Value::Object(mut map) = value else { return };
        if let Some(Value::Array(items)) = map.remove("items") {
            for item in items {
                flatten(item, name, documents, problems);
            }
        }
        return;
    }
    let at = documents.len() + 1;
    let missing = |field: &str| {
        Problem::new(number::YAML, Exit::Refused, format!("{name}: object {at} has no {field}"))
            .fix("a manifest has apiVersion, kind and metadata.name")
    };
    for (field, value) in [("apiVersion", &value["apiVersion"]), ("kind", &value["kind"])] {
        if json::text(value).is_empty() {
            problems.push(missing(field));
            return;
        }
    }
    let meta = &value["metadata"];
    let unquoted = not_text(meta);
    if !unquoted.is_empty() {
        problems.extend(unquoted.into_iter().map(|(field, value)| {
            let what = format!("{name}: object {at}: {field} is {value}, and has to be text");
            Problem::new(number::YAML, Exit::Refused, what)
                .line("without quotes YAML reads numbers, and y, yes, on, n, no, off as true or false")
                .fix(format!("quote it: {}: \"…\"", field.rsplit('.').next().unwrap_or(&field)))
        }));
        return;
    }
    if json::text(&meta["name"]).is_empty() && json::text(&meta["generateName"]).is_empty() {
        problems.push(missing("metadata.name"));
        return;
    }
    documents.push(Document { may_exist: true, ..Document::new(value, name) });
}

/// Objects that come a second time.
fn twice(documents: &[Document]) -> Vec<Problem> {
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    for document in documents.iter().filter(|document| !document.name().is_empty()) {
        let text = |value: &Value| json::text(value).to_owned();
        let object = &document.object;
        let key = (
            text(&object["apiVersion"]),
            document.kind(),
            text(&object["metadata"]["namespace"]),
            document.name(),
        );
        if !seen.insert(key) {
            let kind = document.kind().to_lowercase();
            let what = format!("{}: {kind} \"{}\" comes twice", document.source, document.name());
            problems.push(Problem::new(number::YAML, Exit::Refused, what).fix("keep one of them"));
        }
    }
    problems
}

/// Fields of the metadata that are numbers or booleans and have to be text.
fn not_text(meta: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut check = |field: String, value: &Value| {
        if value.is_boolean() || value.is_number() {
            found.push((field, value.to_string()));
        }
    };
    for field in ["name", "generateName", "namespace"] {
        check(format!("metadata.{field}"), &meta[field]);
    }
    for map in ["labels", "annotations"] {
        for (key, value) in meta[map].as_object().into_iter().flatten() {
            check(format!("metadata.{map}.{key}"), value);
        }
    }
    found
}

fn nothing(names: &[String], documents: &[Document]) -> Error {
    let mut kinds: Vec<&str> = documents.iter().map(Document::kind).collect();
    kinds.dedup();
    let objects = if documents.len() == 1 { "object" } else { "objects" };
    let what = format!(
        "nothing to schedule in {}: {} {objects}, {}, and none has a pod template",
        names.join(", "),
        documents.len(),
        kinds.join(", ")
    );
    Problem::new(number::NOTHING_TO_SCHEDULE, Exit::Refused, what)
        .fix("create it with kubectl apply -f, or add the workload to the file")
        .into()
}
