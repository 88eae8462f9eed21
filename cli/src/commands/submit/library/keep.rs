//! Keeps templates where the user says: a folder, or a config map that all of a team read.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::{END, config_maps};
use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Failure};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::settings::{TemplatePlace, edit};

/// Checks the name of a template, which is a file's and a key's as well.
///
/// # Errors
/// It is none.
pub(crate) fn check_name(name: &str) -> Result<(), Problem> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.len() <= 200 && name.chars().all(legal) {
        return Ok(());
    }
    let what = format!("\"{name}\" cannot be the name of a template");
    Err(Problem::new(number::TEMPLATE, Exit::Usage, what)
        .fix("a name is of letters, digits, - and _"))
}

/// Saves a template as a new one of a place; where it is then.
///
/// # Errors
/// There is one of that name, or it cannot be written.
pub(crate) async fn save(
    place: &TemplatePlace,
    name: &str,
    template: &str,
    context: &mut Context,
) -> Result<String, Error> {
    match place {
        TemplatePlace::Folder(folder) | TemplatePlace::Project(folder) => {
            let path = folder.join(format!("{name}{END}"));
            if path.exists() {
                return Err(taken(name, &path.display().to_string()).into());
            }
            edit::write(&path, template, edit::SHARED).map_err(|e| unwritable(&path, &e))?;
            Ok(path.display().to_string())
        }
        TemplatePlace::ConfigMap { .. } => {
            let cluster = context.cluster().await?;
            let key = format!("{name}{END}");
            match map(place, &cluster).await? {
                Some(map) if !map["data"][&key].is_null() || !map["data"][name].is_null() => {
                    return Err(taken(name, &place.to_string()).into());
                }
                Some(map) => change(place, &map, &key, json!(template), &cluster).await?,
                None => create(place, &key, template, &cluster).await?,
            }
            Ok(format!("{place}/{key}"))
        }
    }
}

/// Tells whether a place keeps a template of a name, and which words tell where.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) place: TemplatePlace,
    pub(crate) at: String,
}

impl Kept {
    /// Finds the first place that keeps a template of a name.
    ///
    /// # Errors
    /// A place cannot be read.
    pub(crate) async fn find(name: &str, context: &mut Context) -> Result<Option<Self>, Error> {
        for place in context.settings.templates.clone() {
            let at = match &place {
                TemplatePlace::Folder(folder) | TemplatePlace::Project(folder) => {
                    let path = folder.join(format!("{name}{END}"));
                    path.exists().then(|| path.display().to_string())
                }
                TemplatePlace::ConfigMap { .. } => {
                    let cluster = context.cluster().await?;
                    let map = map(&place, &cluster).await?.unwrap_or_default();
                    let keys = [format!("{name}{END}"), name.to_owned()];
                    let key = keys.into_iter().find(|key| !map["data"][key].is_null());
                    key.map(|key| format!("{place}/{key}"))
                }
            };
            if let Some(at) = at {
                return Ok(Some(Self { place, at }));
            }
        }
        Ok(None)
    }
}

/// Deletes a template that is kept somewhere.
///
/// # Errors
/// It cannot be deleted, or somebody changed the config map meanwhile.
pub(crate) async fn delete(kept: &Kept, context: &mut Context) -> Result<(), Error> {
    match &kept.place {
        TemplatePlace::Folder(_) | TemplatePlace::Project(_) => {
            let path = Path::new(&kept.at);
            std::fs::remove_file(path).map_err(|e| unwritable(path, &e).into())
        }
        place @ TemplatePlace::ConfigMap { .. } => {
            let cluster = context.cluster().await?;
            let map = map(place, &cluster).await?.unwrap_or_default();
            let key = kept.at.rsplit('/').next().unwrap_or_default();
            change(place, &map, key, Value::Null, &cluster).await
        }
    }
}

async fn map(place: &TemplatePlace, cluster: &Cluster) -> Result<Option<Value>, Error> {
    let TemplatePlace::ConfigMap { namespace, name } = place else { return Ok(None) };
    let resource = config_maps();
    let call = Call::new("get", &resource).namespace(Some(namespace)).name(name);
    cluster.get(&call).await.map_err(|failure| cluster.explain(&call, &failure))
}

/// Changes one key of a config map, as long as it is what was looked at.
async fn change(
    place: &TemplatePlace,
    map: &Value,
    key: &str,
    value: Value,
    cluster: &Cluster,
) -> Result<(), Error> {
    let TemplatePlace::ConfigMap { namespace, name } = place else { return Ok(()) };
    let resource = config_maps();
    let call = Call::new("patch", &resource).namespace(Some(namespace)).name(name);
    let version = text(&map["metadata"]["resourceVersion"]);
    let patch = json!({ "metadata": { "resourceVersion": version }, "data": { key: value } });
    let changed = cluster.patch(&call, &patch, false).await;
    changed.map(drop).map_err(|failure| cluster.explain(&call, &failure))
}

async fn create(
    place: &TemplatePlace,
    key: &str,
    template: &str,
    cluster: &Cluster,
) -> Result<(), Error> {
    let TemplatePlace::ConfigMap { namespace, name } = place else { return Ok(()) };
    let resource = config_maps();
    let call = Call::new("create", &resource).namespace(Some(namespace)).name(name);
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name, "namespace": namespace },
        "data": { key: template },
    });
    let created: Result<_, Failure> = cluster.create(&call, &map, false).await;
    created.map(drop).map_err(|failure| cluster.explain(&call, &failure))
}

fn taken(name: &str, place: &str) -> Problem {
    let what = format!("there is a template \"{name}\" in {place} already");
    Problem::new(number::EXISTS, Exit::Conflict, what)
        .fix(format!("another name, or first: kubectl kai config templates delete {name}"))
}

fn unwritable(path: &Path, error: &io::Error) -> Problem {
    let what = format!("failed to write {}: {error}", path.display());
    Problem::new(number::FILE, Exit::Failure, what).line("nothing was changed")
}
