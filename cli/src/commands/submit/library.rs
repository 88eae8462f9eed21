//! The places where templates are kept: folders, config maps, and this program.

mod keep;

use std::io;
use std::path::Path;

use super::render::TEMPLATES;
use super::template::Template;
use crate::cluster::json::text;
use crate::cluster::{Call, Failure, Resource};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
use crate::settings::{TemplatePlace, trust};
pub(crate) use keep::{Kept, check_name, delete, save};

/// The end of the names of files and keys.
const END: &str = ".yaml";

/// Finds the template that is named: a file where the name is a path, else one that is kept by that name, else the
/// compiled-in one.
///
/// # Errors
/// There is none, or it cannot be read.
pub(crate) async fn find(name: &str, context: &mut Context) -> Result<Template, Error> {
    if name.contains('/') || name.ends_with(END) {
        return of_path(name, &context.dir.clone());
    }
    kept(name, true, context).await
}

/// Finds the template of a kind of which nobody named one: the user's own of that name, else the compiled-in one.
///
/// # Errors
/// There is none, or it cannot be read.
pub(crate) async fn of_kind(name: &str, context: &mut Context) -> Result<Template, Error> {
    kept(name, false, context).await
}

async fn kept(name: &str, is_named: bool, context: &mut Context) -> Result<Template, Error> {
    let built_in = TEMPLATES.iter().find(|(known, _)| *known == name);
    let mut unread = Vec::new();
    for place in context.settings.templates.clone() {
        match read(&place, name, context).await {
            Ok(Some(template)) if is_named || place.is_of_user() || built_in.is_none() => {
                return Ok(template);
            }
            Ok(Some(template)) => context.out.talk(&format!(
                "the template {} is not used unless it is named: --template {name}",
                clean(&template.origin)
            )),
            Ok(None) => {}
            Err(why) => unread.push(format!("{place}: {why}")),
        }
    }
    let Some((_, text)) = built_in else { return Err(unknown(name, unread, context).await.into()) };
    for why in unread {
        context.out.warn(&format!("templates were not read: {why}"));
    }
    Ok(Template::compiled_in(name, format!("template {name}"), text))
}

fn of_path(path: &str, dir: &Path) -> Result<Template, Error> {
    let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match std::fs::read_to_string(dir.join(path)) {
        Ok(text) => Ok(Template::kept(&stem, path.into(), text)),
        Err(e) => {
            let is_missing = e.kind() == io::ErrorKind::NotFound;
            let exit = if is_missing { Exit::NotFound } else { Exit::Failure };
            let what = format!("failed to read the template {path}: {e}");
            Err(Problem::new(number::FILE, exit, what)
                .fix("kubectl kai config templates list   shows those with a name")
                .into())
        }
    }
}

/// Reads a template of a place; none where it has none of that name.
async fn read(
    place: &TemplatePlace,
    name: &str,
    context: &mut Context,
) -> Result<Option<Template>, String> {
    match place {
        TemplatePlace::Folder(folder) | TemplatePlace::Project(folder) => {
            let path = folder.join(format!("{name}{END}"));
            match of_file(place, &path) {
                Ok(text) => Ok(Some(Template::kept(name, path.display().to_string(), text?))),
                Err(e) if is_missing(&e) => Ok(None),
                Err(e) => Err(e.to_string()),
            }
        }
        TemplatePlace::ConfigMap { .. } => {
            let mut all = of_config_map(place, context).await?;
            Ok(all.iter().position(|one| one.name == name).map(|at| all.swap_remove(at)))
        }
    }
}

/// The text of a file of a place, or why what may be somebody else's is not taken.
fn of_file(place: &TemplatePlace, path: &Path) -> io::Result<Result<String, String>> {
    match place {
        TemplatePlace::Project(_) => trust::read_of_project(path),
        TemplatePlace::Folder(_) | TemplatePlace::ConfigMap { .. } => trust::read(path).map(Ok),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// All templates of a place.
async fn all_of(place: &TemplatePlace, context: &mut Context) -> Result<Vec<Template>, String> {
    let (TemplatePlace::Folder(folder) | TemplatePlace::Project(folder)) = place else {
        return of_config_map(place, context).await;
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if is_missing(&e) => return Ok(Vec::new()),
        Err(e) => return Err(e.to_string()),
    };
    let mut found = Vec::new();
    for entry in entries.filter_map(Result::ok) {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(name) = file.strip_suffix(END) else { continue };
        // Whatever else lies in the folder is no template.
        if name.starts_with('.') || check_name(name).is_err() {
            continue;
        }
        if let Ok(Ok(text)) = of_file(place, &entry.path()) {
            let origin = entry.path().display().to_string();
            found.push(Template::kept(name, origin, text));
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn config_maps() -> Resource {
    Resource::new("v1", "ConfigMap", "configmaps")
}

async fn of_config_map(
    place: &TemplatePlace,
    context: &mut Context,
) -> Result<Vec<Template>, String> {
    let TemplatePlace::ConfigMap { namespace, name } = place else { return Ok(Vec::new()) };
    let first = |error: &Error| error.to_string().lines().next().unwrap_or_default().to_owned();
    let cluster = context.cluster().await.map_err(|error| first(&error))?;
    let resource = config_maps();
    let call = Call::new("get", &resource).namespace(Some(namespace)).name(name);
    let map = cluster.get(&call).await.map_err(|failure: Failure| failure.to_string())?;
    let Some(map) = map else { return Err("it does not exist".into()) };
    let entries = map["data"].as_object().into_iter().flatten();
    Ok(entries
        .map(|(key, value)| {
            let name = key.strip_suffix(END).unwrap_or(key);
            Template::kept(name, format!("{place}/{}", clean(key)), text(value).to_owned())
        })
        .collect())
}

/// Every template that a name finds, and the places that could not be read.
pub(crate) async fn all(context: &mut Context) -> (Vec<Template>, Vec<String>) {
    let (mut all, mut unread): (Vec<Template>, Vec<String>) = Default::default();
    for place in context.settings.templates.clone() {
        match all_of(&place, context).await {
            Ok(found) => all.extend(found),
            Err(why) => unread.push(format!("{place}: {why}")),
        }
    }
    let compiled_in =
        |(name, text): &(&str, &str)| Template::compiled_in(name, "compiled in".into(), text);
    all.extend(TEMPLATES.iter().map(compiled_in));
    let mut names = std::collections::BTreeSet::new();
    all.retain(|template| names.insert(template.name.clone()));
    (all, unread)
}

async fn unknown(name: &str, unread: Vec<String>, context: &mut Context) -> Problem {
    let (there, _) = all(context).await;
    let problem =
        Problem::new(number::TEMPLATE, Exit::NotFound, format!("there is no template \"{name}\""));
    let near =
        there.iter().map(|one| &one.name).filter(|one| strsim::damerau_levenshtein(one, name) <= 2);
    let problem = match near.min() {
        Some(near) => problem.line(format!("did you mean \"{}\"?", clean(near))),
        None => problem,
    };
    let problem =
        unread.iter().fold(problem, |problem, why| problem.line(format!("not read: {why}")));
    let names: Vec<_> = there.iter().map(|one| clean(&one.name)).collect();
    problem.fix(format!(
        "one of {}; or save one: kubectl kai config templates save NAME -f FILE",
        names.join(", ")
    ))
}
