//! From a path to what it names.

use std::sync::Arc;

use serde_json::Value;

use super::kinds::{Kind, Kinds};
use super::object;
use super::params::decode;
use super::refusal::{ApiResult, Cause, Refusal};

/// Target of a path under `/api` and `/apis`.
#[derive(Debug, Clone)]
pub(crate) enum Route {
    /// A document about the server: discovery, `OpenAPI`, version, health.
    Document(Vec<String>),
    /// A resource, an object or a subresource.
    Resource(Target),
}

/// A resource, an object or a subresource.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The resource.
    pub(crate) kind: Arc<Kind>,
    /// The version of the path; served by `kind`.
    pub(crate) version: String,
    /// The namespace; empty for all namespaces or cluster scope.
    pub(crate) namespace: String,
    /// The object's name; empty for the collection.
    pub(crate) name: String,
    /// The subresource, or empty.
    pub(crate) subresource: String,
}

impl Target {
    /// Refuses an object when there are causes.
    pub(crate) fn refuse(&self, value: &Value, causes: &[Cause]) -> ApiResult<()> {
        if causes.is_empty() {
            return Ok(());
        }
        let kind = &self.kind;
        Err(Refusal::invalid(&kind.group, &kind.kind, object::name(value), causes))
    }
}

/// Finds what a path names.
pub(crate) fn route(kinds: &Kinds, path: &str) -> ApiResult<Route> {
    let segments: Vec<String> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .map(decode)
        .collect::<ApiResult<_>>()?;
    let words: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (group, version, rest) = match words.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ => return Ok(Route::Document(segments)),
    };
    let target = resource(kinds, group, version, rest)?;
    Ok(Route::Resource(target))
}

fn resource(kinds: &Kinds, group: &str, version: &str, rest: &[&str]) -> ApiResult<Target> {
    let make = |plural: &str, namespace: &str, name: &str, subresource: &str| {
        let kind = kinds.find(group, plural).ok_or_else(Refusal::no_such_path)?;
        if kind.version(version).is_none() {
            return Err(Refusal::no_such_path());
        }
        Ok(Target {
            kind: Arc::clone(kind),
            version: version.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: subresource.to_owned(),
        })
    };
    let target = match rest {
        ["namespaces", name, "status" | "finalize"] if group.is_empty() => {
            make("namespaces", "", name, rest[2])?
        }
        ["namespaces", namespace, plural, tail @ ..] => {
            let target = match tail {
                [] => make(plural, namespace, "", "")?,
                [name] => make(plural, namespace, name, "")?,
                [name, subresource] => make(plural, namespace, name, subresource)?,
                _ => return Err(Refusal::no_such_path()),
            };
            if !target.kind.namespaced {
                return Err(Refusal::no_such_path());
            }
            return Ok(target);
        }
        [plural] => return make(plural, "", "", ""),
        [plural, name] => make(plural, "", name, "")?,
        [plural, name, subresource] => make(plural, "", name, subresource)?,
        _ => return Err(Refusal::no_such_path()),
    };
    if target.kind.namespaced { Err(Refusal::no_such_path()) } else { Ok(target) }
}
