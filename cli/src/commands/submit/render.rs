//! From a template to an object. Every value is printed as JSON, so no text can break out of its place.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde_json::Value;

use super::request::Request;
use crate::cluster::gpu::Gpu;
use crate::cluster::json::ensure;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::yaml;

/// The templates that are compiled in.
pub(crate) const TEMPLATES: &[(&str, &str)] = &[
    ("argo", include_str!("../../../../templates/argo.yaml")),
    ("job", include_str!("../../../../templates/job.yaml")),
    ("mpi", include_str!("../../../../templates/mpi.yaml")),
    ("mpi-v1", include_str!("../../../../templates/mpi-v1.yaml")),
    ("notebook", include_str!("../../../../templates/notebook.yaml")),
    ("notebook-pod", include_str!("../../../../templates/notebook-pod.yaml")),
    ("pytorch", include_str!("../../../../templates/pytorch.yaml")),
    ("ray", include_str!("../../../../templates/ray.yaml")),
];

/// The text of a template: the user's own of that name, else the compiled-in one.
///
/// # Errors
/// When there is none, or the user's own cannot be read.
pub(crate) fn find(name: &str, folders: &[PathBuf]) -> Result<(String, String), Error> {
    let is_plain =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    for folder in folders.iter().filter(|_| is_plain) {
        let path = folder.join(format!("{name}.yaml"));
        match std::fs::read_to_string(&path) {
            Ok(text) => return Ok((path.display().to_string(), text)),
            Err(e)
                if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(e) => {
                let what = format!("failed to read the template {}: {e}", path.display());
                return Err(Problem::new(number::FILE, Exit::Failure, what).into());
            }
        }
    }
    if let Some((_, text)) = TEMPLATES.iter().find(|(known, _)| *known == name) {
        Ok((format!("template {name}"), (*text).to_owned()))
    } else {
        let known: Vec<&str> = TEMPLATES.iter().map(|(name, _)| *name).collect();
        let what = format!("there is no template \"{name}\"");
        Err(Problem::new(number::TEMPLATE, Exit::NotFound, what)
            .fix(format!(
                "one of {}; or a folder of yours in the configuration: templates: [DIR]",
                known.join(", ")
            ))
            .into())
    }
}

/// Renders a template for a request.
///
/// # Errors
/// With the template's name and line.
pub(crate) fn render(name: &str, template: &str, request: &Request) -> Result<Value, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Json);
    let gpus = match request.gpu {
        Some(Gpu::Whole(count)) => count,
        Some(Gpu::Share { .. } | Gpu::Memory { .. } | Gpu::Mig { .. }) | None => 0,
    };
    let values = context! {
        name => &request.name,
        image => request.image.as_deref().unwrap_or_default(),
        command => &request.command,
        entrypoint => shell(&request.command),
        workers => request.workers.0,
        workers_max => request.workers.1,
        gpus,
        max_runtime_seconds => request.max_runtime_seconds,
        retries => request.retries,
    };
    let failed = |e: minijinja::Error| {
        let place = e.line().map_or_else(String::new, |line| format!(":{line}"));
        let what = format!("{name}{place}: {}", e.detail().unwrap_or("cannot be rendered"));
        Error::from(Problem::new(number::TEMPLATE, Exit::Refused, what).fix(LANGUAGE))
    };
    let parsed = environment.template_from_named_str(name, template).map_err(failed)?;
    Error::all(without_place(name, &parsed.undeclared_variables(false), request))?;
    let text = parsed.render(values).map_err(failed)?;
    let mut object: Value = yaml::one(name, &text)?;
    // A template that gives a name of its own is for more than one workload all the same.
    ensure(&mut object, "/metadata").insert("name".into(), request.name.clone().into());
    Ok(object)
}

/// Where the language of templates is told.
const LANGUAGE: &str = "docs/cli.md lists what a template may use";

/// What was asked for and the template has no place for: left out in silence it would be missed later.
fn without_place(name: &str, used: &HashSet<String>, request: &Request) -> Vec<Problem> {
    [
        (!request.command.is_empty(), ["command", "entrypoint"].as_slice(), "-- COMMAND"),
        (request.workers != (1, 1), &["workers", "workers_max"], "--workers"),
        (request.max_runtime_seconds.is_some(), &["max_runtime_seconds"], "--max-runtime"),
        (request.retries > 0, &["retries"], "--retries"),
    ]
    .into_iter()
    .filter(|(asked, places, _)| *asked && !places.iter().any(|place| used.contains(*place)))
    .map(|(_, places, flag)| {
        let what = format!("{name} has no place for {flag}");
        Problem::new(number::TEMPLATE, Exit::Refused, what)
            .fix(format!("leave it out, or write {{{{ {} }}}} into the template", places[0]))
    })
    .collect()
}

/// Words as one line for a POSIX shell.
fn shell(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let quote = |word: &String| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}
