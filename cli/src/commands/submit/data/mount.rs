//! Volumes as they are typed: one grammar for claims, folders of nodes, and volumes that live as long as the pod. Pure.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Environment, UndefinedBehavior, context};
use serde_json::{Value, json};

use super::env::Source;
use super::legal::{check_name, is_path};
use super::place::Place;
use super::put;
use crate::cluster::json::text;
use crate::commands::submit::values;
use crate::print::error::{Exit, Problem, number};
use crate::settings::Settings;

/// The places that data come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Volume {
    Claim(String),
    Host(String),
    /// A volume of each pod's own, made on demand.
    New {
        size: String,
        class: Option<String>,
    },
    /// Room on the node's disk.
    Empty(Option<String>),
    /// Room in the node's memory.
    Memory(String),
    Files(Source),
}

/// A volume at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) volume: Volume,
    pub(super) path: String,
    /// The folder of the volume that is shown; all of it where there is none.
    sub_path: Option<String>,
    pub(super) is_read_only: bool,
}

/// All forms, for messages.
const FORMS: &str = "-m pvc://CLAIM[/DIR]:/PATH[:ro], host:///DIR:/PATH, new://100Gi[,CLASS]:/PATH, or empty://10Gi:/PATH";

impl Mount {
    pub(super) fn new(volume: Volume, path: &str) -> Self {
        Self { volume, path: path.to_owned(), sub_path: None, is_read_only: false }
    }

    pub(super) fn of_source(source: Source, path: &str) -> Self {
        Self { is_read_only: true, ..Self::new(Volume::Files(source), path) }
    }

    /// Puts it into a template.
    ///
    /// # Errors
    /// Something else is mounted at its path.
    pub(super) fn inject(
        &self,
        object: &mut Value,
        place: &Place,
        container: &str,
    ) -> Result<(), Problem> {
        let mounted = object.pointer(&format!("{container}/volumeMounts"));
        let mounted = mounted.and_then(Value::as_array).into_iter().flatten();
        let there = mounted.map(|old| (text(&old["mountPath"]), text(&old["name"])));
        if let Some((path, name)) = there.into_iter().find(|(path, _)| same(path, &self.path)) {
            let what = format!("nothing can be mounted at {path}: its volume \"{name}\" is there");
            return Err(Problem::new(number::UNSUPPORTED, Exit::Refused, what)
                .fix("another path, or take that volume out of the manifest"));
        }
        let volume = self.volume.manifest();
        let volumes = object.pointer(&format!("{}/volumes", place.volumes));
        let volumes = volumes.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let (name, is_new) = self.name_among(volumes, &volume);
        if is_new {
            let mut entry = json!({ "name": name });
            if let (Some(entry), Value::Object(volume)) = (entry.as_object_mut(), volume) {
                entry.extend(volume);
            }
            put(object, &place.volumes, "volumes", entry, |_| false);
        }
        let mut entry = json!({ "name": name, "mountPath": self.path });
        if let Some(sub_path) = &self.sub_path {
            entry["subPath"] = json!(sub_path);
        }
        if self.is_read_only {
            entry["readOnly"] = json!(true);
        }
        put(object, container, "volumeMounts", entry, |_| false);
        Ok(())
    }

    /// The name of its volume among those of a template, and whether it is new there: one claim is one volume.
    fn name_among(&self, volumes: &[Value], volume: &Value) -> (String, bool) {
        let same = |old: &&Value| {
            let parts = volume.as_object().into_iter().flatten();
            parts.into_iter().all(|(key, value)| old[key] == *value)
        };
        let is_shared = !matches!(self.volume, Volume::Empty(_) | Volume::New { .. });
        if let Some(old) = volumes.iter().find(same).filter(|_| is_shared) {
            return (text(&old["name"]).to_owned(), false);
        }
        let of = match &self.volume {
            Volume::Claim(claim) => claim,
            Volume::Files(source) => source.name(),
            _ => &self.path,
        };
        let legal = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = of.chars().map(legal).take(50).collect();
        let name = match name.trim_matches('-') {
            "" => "volume",
            name => name,
        };
        let is_free = |name: &str| volumes.iter().all(|old| text(&old["name"]) != name);
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| is_free(name));
        (free.unwrap_or_default(), true)
    }
}

impl Volume {
    /// The volume as a manifest has it, without its name.
    fn manifest(&self) -> Value {
        match self {
            Self::Claim(claim) => json!({ "persistentVolumeClaim": { "claimName": claim } }),
            Self::Host(path) => json!({ "hostPath": { "path": path } }),
            Self::New { size, class } => {
                let mut spec = json!({ "accessModes": ["ReadWriteOnce"] });
                if let Some(class) = class {
                    spec["storageClassName"] = json!(class);
                }
                spec["resources"] = json!({ "requests": { "storage": size } });
                json!({ "ephemeral": { "volumeClaimTemplate": { "spec": spec } } })
            }
            Self::Empty(None) => json!({ "emptyDir": {} }),
            Self::Empty(Some(size)) => json!({ "emptyDir": { "sizeLimit": size } }),
            Self::Memory(size) => json!({ "emptyDir": { "medium": "Memory", "sizeLimit": size } }),
            Self::Files(Source::Secret(name)) => json!({ "secret": { "secretName": name } }),
            Self::Files(Source::ConfigMap(name)) => json!({ "configMap": { "name": name } }),
        }
    }
}

/// Reads a mount: as it is typed, or by its name in the configuration, which is told.
///
/// # Errors
/// It is no mount, or the configuration has none of that name.
pub(super) fn read(
    typed: &str,
    settings: &Settings,
    variables: &BTreeMap<String, String>,
) -> Result<(Mount, Option<String>), Problem> {
    if typed.contains(':') {
        return parse(typed).map(|mount| (mount, None));
    }
    let Some(setting) = settings.mount(typed) else {
        let known: Vec<&str> = settings.mounts().collect();
        let what = format!("-m {typed}: the configuration has no mount of that name");
        let problem = Problem::new(number::VALUE, Exit::Usage, what);
        let problem = if known.is_empty() {
            problem
        } else {
            problem.line(format!("it has: {}", known.join(", ")))
        };
        return Err(problem.fix(format!("a claim at a path: -m pvc://{typed}:/PATH")));
    };
    let of_setting =
        |problem: Problem| problem.line(format!("it is the mount {typed} of {}", setting.origin));
    let text = expand(&setting.value, variables).map_err(of_setting)?;
    let mount = parse(&text).map_err(of_setting)?;
    Ok((mount, Some(format!("-m {typed} is {text} ({})", setting.origin))))
}

/// Puts the user's name into a mount of the configuration.
fn expand(text: &str, variables: &BTreeMap<String, String>) -> Result<String, Problem> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let values = match variables.get("USER") {
        Some(user) => context! { user },
        None => context! {},
    };
    environment.render_str(text, values).map_err(|e| {
        let what = format!("-m \"{text}\": {}", e.detail().unwrap_or("it cannot be rendered"));
        Problem::new(number::VALUE, Exit::Usage, what).fix("{{ user }} is the variable USER")
    })
}

fn parse(typed: &str) -> Result<Mount, Problem> {
    let wrong = |why: &str| {
        let what = format!("-m \"{typed}\": {why}");
        Problem::new(number::VALUE, Exit::Usage, what).fix(FORMS)
    };
    let (scheme, rest) = typed.split_once("://").unwrap_or(("pvc", typed));
    if typed.starts_with('/') {
        // As docker has it; a folder of whatever node it comes to is seldom what is meant here, so it is not taken for it.
        let what = format!("-m \"{typed}\": a folder of the node begins with host://");
        return Err(Problem::new(number::VALUE, Exit::Usage, what)
            .fix(format!("-m host://{typed}   or   a claim: -m pvc://CLAIM:/PATH")));
    }
    let (rest, is_read_only) = match rest.strip_suffix(":ro") {
        Some(rest) => (rest, true),
        None => (rest.strip_suffix(":rw").unwrap_or(rest), false),
    };
    let Some((from, path)) = rest.rfind(":/").map(|at| (&rest[..at], &rest[at + 1..])) else {
        return Err(wrong("it has no absolute path of the container, as in :/data"));
    };
    if !is_path(path) {
        return Err(wrong("nothing can be mounted there"));
    }
    let mut sub_path = None;
    let volume = match scheme {
        "pvc" => {
            let (claim, dir) = from.split_once('/').map_or((from, ""), |parts| parts);
            if claim.contains(':') {
                return Err(wrong("the name of a claim has no : in it"));
            }
            check_name("-m", claim).map_err(|problem| problem.line(format!("in {typed}")))?;
            if dir.split('/').any(|part| part == "..") {
                return Err(wrong("the folder of a claim has no .. in it"));
            }
            sub_path = Some(dir.trim_matches('/')).filter(|dir| !dir.is_empty()).map(str::to_owned);
            Volume::Claim(claim.to_owned())
        }
        "host" if is_path(from) || from == "/" => Volume::Host(from.to_owned()),
        "host" => return Err(wrong("a folder of the node is absolute, as in host:///data:/data")),
        "new" => {
            let (size, class) = from.split_once(',').map_or((from, None), |(s, c)| (s, Some(c)));
            if size.is_empty() {
                return Err(wrong("a new volume has a size, as in new://100Gi:/scratch"));
            }
            is_size(typed, size)?;
            class.map_or(Ok(()), |class| check_name("-m", class))?;
            Volume::New { size: size.to_owned(), class: class.map(str::to_owned) }
        }
        "empty" if from.is_empty() => Volume::Empty(None),
        "empty" => {
            is_size(typed, from)?;
            Volume::Empty(Some(from.to_owned()))
        }
        "s3" | "gs" | "gcs" | "az" | "abfs" | "hdfs" => {
            let why = format!("{scheme}:// is mounted by a CSI driver, behind a claim");
            return Err(wrong(&why).fix(format!("-m pvc://CLAIM:{path}")));
        }
        _ => return Err(wrong(&format!("{scheme}:// is not known"))),
    };
    Ok(Mount { volume, path: path.to_owned(), sub_path, is_read_only })
}

fn is_size(typed: &str, size: &str) -> Result<(), Problem> {
    values::amount(&format!("-m {typed}: size"), Some(size), "100Gi")
        .map_err(|problem| problem.fix("a size such as 100Gi or 500Mi"))
}

/// Tells whether two paths are one.
fn same(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Finds paths that are asked for twice.
pub(super) fn twice(mounts: &[Mount]) -> Vec<Problem> {
    let mut seen = BTreeSet::new();
    let mut problems = Vec::new();
    for mount in mounts {
        if !seen.insert(mount.path.trim_end_matches('/')) {
            let what = format!("two volumes are to be mounted at {}", mount.path);
            problems.push(
                Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what).fix("a path for each"),
            );
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, expect: Result<Volume, &str>) {
        let read = parse(typed).map(|mount| mount.volume).map_err(|problem| problem.what);
        assert_eq!(read, expect.map_err(|why| format!("-m \"{typed}\": {why}")));
    }

    #[test]
    fn each_form_of_volume() {
        check("claim:/data", Ok(Volume::Claim("claim".into())));
        check("pvc://my.claim/a/b:/data:ro", Ok(Volume::Claim("my.claim".into())));
        check("host:///a/b:/data", Ok(Volume::Host("/a/b".into())));
        check("new://100Gi:/x", Ok(Volume::New { size: "100Gi".into(), class: None }));
        let class = Some("fast".into());
        check("new://1Ti,fast:/x:rw", Ok(Volume::New { size: "1Ti".into(), class }));
        check("empty://:/x", Ok(Volume::Empty(None)));
        check("empty://10Gi:/x", Ok(Volume::Empty(Some("10Gi".into()))));
    }

    #[test]
    fn wrong_forms_say_why() {
        check("pvc://a:data", Err("it has no absolute path of the container, as in :/data"));
        check("pvc://a:/", Err("nothing can be mounted there"));
        check("pvc://a/../b:/x", Err("the folder of a claim has no .. in it"));
        check("host://a:/x", Err("a folder of the node is absolute, as in host:///data:/data"));
        check("new://:/x", Err("a new volume has a size, as in new://100Gi:/scratch"));
        check("s3://bucket/p:/x", Err("s3:// is mounted by a CSI driver, behind a claim"));
        check("nfs://a:/x", Err("nfs:// is not known"));
    }
}
