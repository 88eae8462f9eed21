//! Documents about the server: discovery, version, health.

use std::collections::BTreeMap;

use http::header::{ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderValue, Method};
use serde_json::{Value, json};

use super::accept::{self, Format};
use super::api::Api;
use super::kinds::{Kind, Version};
use super::refusal::{ApiResult, Refusal};
use super::reply::{self, Reply};
use super::request::Request;
use super::state::State;
use super::{open_api, open_api_v2};

/// Answers a path that names no resource.
pub(crate) fn document(api: &Api, request: &Request, segments: &[String]) -> ApiResult<Reply> {
    if request.method != Method::GET {
        return Err(Refusal::method_not_allowed());
    }
    let words: Vec<&str> = segments.iter().map(String::as_str).collect();
    let state = api.read();
    match words.as_slice() {
        [] => Ok(reply::json(200, &json!({ "paths": paths(&state) }))),
        ["version"] => Ok(reply::json(200, &version())),
        ["healthz" | "livez" | "readyz", ..] => {
            Ok(reply::whole(200, "text/plain; charset=utf-8", "ok"))
        }
        ["api"] => match accept::format(&request.headers)? {
            Format::Discovery => Ok(tagged(request, &aggregated(&state, true))),
            Format::Json | Format::Yaml | Format::Table | Format::Metadata => Ok(reply::json(
                200,
                &json!({
                    "kind": "APIVersions",
                    "versions": ["v1"],
                    "serverAddressByClientCIDRs": [],
                }),
            )),
        },
        ["apis"] => match accept::format(&request.headers)? {
            Format::Discovery => Ok(tagged(request, &aggregated(&state, false))),
            Format::Json | Format::Yaml | Format::Table | Format::Metadata => {
                let groups: Vec<Value> = groups(&state)
                    .into_iter()
                    .filter(|(group, _)| !group.is_empty())
                    .map(|(group, versions)| api_group(&group, &versions))
                    .collect();
                Ok(reply::json(
                    200,
                    &json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups }),
                ))
            }
        },
        ["apis", group] => {
            let groups = groups(&state);
            let versions = groups
                .get(*group)
                .filter(|_| !group.is_empty())
                .ok_or_else(Refusal::no_such_path)?;
            let mut value = api_group(group, versions);
            value["kind"] = json!("APIGroup");
            value["apiVersion"] = json!("v1");
            Ok(reply::json(200, &value))
        }
        ["openapi", "v2"] => {
            Ok(reply::whole(200, open_api_v2::MEDIA, open_api_v2::document(&state.kinds)))
        }
        ["openapi", "v3"] => Ok(reply::json(200, &open_api::index(&state.kinds))),
        ["openapi", "v3", "api", version] => open_api(&state, "", version),
        ["openapi", "v3", "apis", group, version] => open_api(&state, group, version),
        ["api", version] => resources(&state, "", version),
        ["apis", group, version] => resources(&state, group, version),
        _ => Err(Refusal::no_such_path()),
    }
}

/// The paths of the documents about the server, as `kubectl get --raw /` shows them.
fn paths(state: &State) -> Vec<String> {
    let mut paths: Vec<String> =
        ["/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]
            .map(str::to_owned)
            .into();
    for (group, versions) in groups(state) {
        let root = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{group}") };
        paths.extend(versions.iter().map(|version| format!("{root}/{version}")));
        paths.push(root);
    }
    paths.push("/apis".to_owned());
    paths.sort();
    paths
}

fn open_api(state: &State, group: &str, version: &str) -> ApiResult<Reply> {
    let key = (group.to_owned(), version.to_owned());
    let document = open_api::all(&state.kinds).get(&key).ok_or_else(Refusal::no_such_path)?;
    Ok(reply::json(200, document))
}

/// `/version`.
pub(crate) fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "gitVersion": "v1.36.0+kai-sandbox",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}

/// A document with an `ETag`, or 304 when the client has it.
fn tagged(request: &Request, value: &Value) -> Reply {
    let text = value.to_string();
    let tag =
        format!("\"{}\"", uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, text.as_bytes()).simple());
    let same =
        request.headers.get(IF_NONE_MATCH).is_some_and(|have| have.as_bytes() == tag.as_bytes());
    let media = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let mut reply =
        if same { reply::whole(304, media, "") } else { reply::whole(200, media, text) };
    reply.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        reply.headers_mut().insert(ETAG, tag);
    }
    reply
}

/// The served groups with their versions, best first.
fn groups(state: &State) -> BTreeMap<String, Vec<String>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kind in state.kinds.iter() {
        let versions = groups.entry(kind.group.clone()).or_default();
        for version in &kind.versions {
            if !versions.contains(&version.name) {
                versions.push(version.name.clone());
            }
        }
    }
    for versions in groups.values_mut() {
        versions.sort_by_key(|version| super::crd::priority(version));
    }
    groups
}

fn api_group(group: &str, versions: &[String]) -> Value {
    let all: Vec<Value> = versions
        .iter()
        .map(|version| json!({ "groupVersion": format!("{group}/{version}"), "version": version }))
        .collect();
    json!({ "name": group, "versions": all, "preferredVersion": all.first() })
}

/// `APIResourceList` of a group and version.
fn resources(state: &State, group: &str, version: &str) -> ApiResult<Reply> {
    let mut list = Vec::new();
    for kind in state.kinds.iter().filter(|kind| kind.group == group) {
        let Some(found) = kind.version(version) else { continue };
        let mut resource = json!({
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": kind.verbs(),
        });
        if !kind.short_names.is_empty() {
            resource["shortNames"] = json!(kind.short_names);
        }
        if !kind.categories.is_empty() {
            resource["categories"] = json!(kind.categories);
        }
        list.push(resource);
        for part in subresources(kind, found) {
            let mut resource = json!({
                "name": format!("{}/{}", kind.plural, part.name),
                "singularName": "",
                "namespaced": kind.namespaced,
                "kind": part.kind,
                "verbs": part.verbs,
            });
            if part.group != kind.group || part.version != version {
                resource["group"] = json!(part.group);
                resource["version"] = json!(part.version);
            }
            list.push(resource);
        }
    }
    if list.is_empty() {
        return Err(Refusal::no_such_path());
    }
    let group_version =
        if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Ok(reply::json(
        200,
        &json!({
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": group_version,
            "resources": list,
        }),
    ))
}

struct Part {
    name: &'static str,
    group: String,
    version: String,
    kind: String,
    verbs: &'static [&'static str],
}

fn subresources(kind: &Kind, version: &Version) -> Vec<Part> {
    let part = |name, group: &str, version: &str, kind: &str, verbs| Part {
        name,
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        verbs,
    };
    let mut parts = Vec::new();
    let writes: &[&str] = &["get", "patch", "update"];
    if kind.is("", "pods") {
        parts.push(part("binding", "", "v1", "Binding", &["create"]));
        parts.push(part("eviction", "policy", "v1", "Eviction", &["create"]));
        parts.push(part("log", "", "v1", "Pod", &["get"]));
        parts.push(part("attach", "", "v1", "PodAttachOptions", &["create", "get"]));
        parts.push(part("exec", "", "v1", "PodExecOptions", &["create", "get"]));
        parts.push(part("portforward", "", "v1", "PodPortForwardOptions", &["create", "get"]));
        parts.push(part("resize", "", "v1", "Pod", writes));
    }
    if kind.is("", "serviceaccounts") {
        parts.push(part("token", "authentication.k8s.io", "v1", "TokenRequest", &["create"]));
    }
    if kind.is("", "namespaces") {
        parts.push(part("finalize", "", "v1", "Namespace", &["update"]));
    }
    if version.scale.is_some() {
        parts.push(part("scale", "autoscaling", "v1", "Scale", writes));
    }
    if version.status {
        parts.push(part("status", &kind.group, &version.name, &kind.kind, writes));
    }
    parts
}

/// `APIGroupDiscoveryList` of the core group or of all others.
fn aggregated(state: &State, core: bool) -> Value {
    let items: Vec<Value> = groups(state)
        .into_iter()
        .filter(|(group, _)| group.is_empty() == core)
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| {
                    json!({
                        "version": version,
                        "resources": version_resources(state, &group, version),
                        "freshness": "Current",
                    })
                })
                .collect();
            let mut metadata = json!({ "creationTimestamp": Value::Null });
            if !core {
                metadata["name"] = json!(group);
            }
            json!({ "metadata": metadata, "versions": versions })
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn version_resources(state: &State, group: &str, version: &str) -> Vec<Value> {
    let kinds = state.kinds.iter().filter(|kind| kind.group == group);
    kinds
        .filter_map(|kind| {
            let found = kind.version(version)?;
            let response = |group: &str, version: &str, kind: &str| {
                json!({ "group": group, "version": version, "kind": kind })
            };
            let parts: Vec<Value> = subresources(kind, found)
                .into_iter()
                .map(|part| {
                    json!({
                        "subresource": part.name,
                        "responseKind": response(&part.group, &part.version, &part.kind),
                        "verbs": part.verbs,
                    })
                })
                .collect();
            let mut resource = json!({
                "resource": kind.plural,
                "responseKind": response(group, version, &kind.kind),
                "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
                "singularResource": kind.singular,
                "verbs": kind.verbs(),
            });
            if !kind.short_names.is_empty() {
                resource["shortNames"] = json!(kind.short_names);
            }
            if !kind.categories.is_empty() {
                resource["categories"] = json!(kind.categories);
            }
            if !parts.is_empty() {
                resource["subresources"] = json!(parts);
            }
            Some(resource)
        })
        .collect()
}
