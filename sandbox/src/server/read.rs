//! GET of an object and of a collection.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Value, json};

use super::accept::{self, Format};
use super::api::Api;
use super::kinds::Kind;
use super::object::{self, Object};
use super::params::Params;
use super::refusal::{ApiResult, Refusal};
use super::reply::{self, Reply};
use super::request::Request;
use super::route::Target;
use super::selector::{Fields, Labels};
use super::state::State;
use super::store::Key;
use super::{convert, table};

/// Answers with one object in the form that the client asked for.
pub(crate) fn get(api: &Api, request: &Request, target: &Target) -> ApiResult<Reply> {
    let object = find(&api.read(), target)?;
    show(request, target, 200, &object)
}

/// The object that a target names.
pub(crate) fn find(state: &State, target: &Target) -> ApiResult<Arc<Object>> {
    let key = Key::new(&target.namespace, &target.name);
    let found = state.store.get(&target.kind.table, &key).map(Arc::clone);
    found.ok_or_else(|| Refusal::not_found(target.kind.resource(), &target.name))
}

/// An object as an answer.
pub(crate) fn show(
    request: &Request,
    target: &Target,
    code: u16,
    object: &Arc<Object>,
) -> ApiResult<Reply> {
    let (kind, version) = (target.kind.as_ref(), target.version.as_str());
    Ok(match accept::format(&request.headers)? {
        Format::Json | Format::Discovery => {
            let bytes = convert::json_of(object, kind, version);
            if is_pretty(request) {
                pretty(code, &bytes)
            } else {
                reply::whole(code, "application/json", bytes)
            }
        }
        Format::Yaml => yaml(code, &convert::serve(&object.value, kind, version))?,
        Format::Metadata => reply::json(code, &convert::metadata_only(&object.value)),
        Format::Table => {
            let rows = [Arc::clone(object)];
            let text =
                table::whole(target, &rows, &object.version.to_string(), None, &request.query)?;
            reply::whole(code, "application/json", text)
        }
    })
}

fn is_pretty(request: &Request) -> bool {
    request.query.split('&').any(|pair| matches!(pair, "pretty=true" | "pretty=1" | "pretty"))
}

fn pretty(code: u16, bytes: &Bytes) -> Reply {
    let value: Value = serde_json::from_slice(bytes).expect("stored objects are JSON");
    let text = serde_json::to_string_pretty(&value).expect("a JSON value has a text");
    reply::whole(code, "application/json", text)
}

fn yaml(code: u16, value: &Value) -> ApiResult<Reply> {
    let text = serde_saphyr::to_string(value).map_err(|error| {
        Refusal::new(500, "InternalError", format!("failed to write YAML: {error}"))
    })?;
    Ok(reply::whole(code, "application/yaml", text))
}

/// The conditions of a list or watch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// The namespace; empty for all.
    pub(crate) namespace: String,
    /// On labels.
    pub(crate) labels: Labels,
    /// On fields.
    pub(crate) fields: Fields,
}

impl Selection {
    /// Reads the selectors of a request.
    pub(crate) fn parse(target: &Target, params: &Params) -> ApiResult<Self> {
        let version = target.kind.version(&target.version).expect("routed to a served version");
        let mut field_selector = params.field_selector.clone();
        if !target.name.is_empty() {
            // A watch of one object is a watch of the collection with its name selected.
            let comma = if field_selector.is_empty() { "" } else { "," };
            field_selector = format!("{field_selector}{comma}metadata.name={}", target.name);
        }
        Ok(Self {
            namespace: target.namespace.clone(),
            labels: Labels::parse(&params.label_selector)?,
            fields: Fields::parse(&field_selector, &target.kind, version)?,
        })
    }

    /// Tells whether an object is selected.
    pub(crate) fn matches(&self, value: &Value) -> bool {
        (self.namespace.is_empty() || object::namespace(value) == self.namespace)
            && self.matches_within(value)
    }

    /// Tells whether an object of its namespace is selected.
    fn matches_within(&self, value: &Value) -> bool {
        (self.labels.is_empty() || self.labels.matches(object::labels(value)))
            && self.fields.matches(value)
    }

    /// The selected objects of the current state, in order; not more than so many.
    pub(crate) fn of(&self, state: &State, kind: &Kind, most: usize) -> Vec<Arc<Object>> {
        let Some(found) = state.store.table(&kind.table) else { return Vec::new() };
        if let (Some(name), false) =
            (self.fields.name(), self.namespace.is_empty() && kind.namespaced)
        {
            let one = found.get(&Key::new(&self.namespace, name));
            return one.filter(|object| self.matches(&object.value)).cloned().into_iter().collect();
        }
        let objects = found.in_namespace(&self.namespace);
        objects.filter(|object| self.matches_within(&object.value)).take(most).cloned().collect()
    }
}

/// One page of a list.
struct Page {
    objects: Vec<Arc<Object>>,
    version: u64,
    /// Start of the next page, and the number of objects that are left.
    next: Option<(Key, usize)>,
}

/// Answers with the objects of a collection.
pub(crate) fn list(
    api: &Api,
    request: &Request,
    target: &Target,
    params: &Params,
) -> ApiResult<Reply> {
    let format = accept::format(&request.headers)?;
    let selection = Selection::parse(target, params)?;
    let page = page(&api.read(), target, params, &selection)?;
    let rest = page.next.as_ref().map(|(key, left)| (continue_token(page.version, key), *left));
    let version = page.version.to_string();
    let mut metadata = json!({ "resourceVersion": version });
    if let Some((token, left)) = &rest {
        metadata["continue"] = json!(token);
        if selection.labels.is_empty() && selection.fields.is_empty() {
            metadata["remainingItemCount"] = json!(left);
        }
    }
    match format {
        Format::Table => {
            let metadata = Some(metadata);
            let text = table::whole(target, &page.objects, &version, metadata, &request.query)?;
            Ok(reply::whole(200, "application/json", text))
        }
        Format::Json | Format::Discovery => {
            let text = list_text(target, &page.objects, &metadata);
            Ok(if is_pretty(request) {
                pretty(200, &text)
            } else {
                reply::whole(200, "application/json", text)
            })
        }
        Format::Yaml => {
            let text = list_text(target, &page.objects, &metadata);
            let value: Value = serde_json::from_slice(&text).expect("stored objects are JSON");
            yaml(200, &value)
        }
        Format::Metadata => {
            let items = page.objects.iter().map(|object| convert::metadata_only(&object.value));
            Ok(reply::json(
                200,
                &json!({
                    "kind": "PartialObjectMetadataList",
                    "apiVersion": "meta.k8s.io/v1",
                    "metadata": metadata,
                    "items": items.collect::<Vec<_>>(),
                }),
            ))
        }
    }
}

fn list_text(target: &Target, objects: &[Arc<Object>], metadata: &Value) -> Bytes {
    let head = json!({
        "kind": target.kind.list_kind,
        "apiVersion": target.kind.api_version(&target.version),
        "metadata": metadata,
    });
    let head = head.to_string();
    let items =
        objects.iter().map(|object| convert::json_of(object, &target.kind, &target.version));
    let items: Vec<Bytes> = items.collect();
    // A buffer of the right size is not moved as it grows.
    let size = items.iter().map(|item| item.len() + 1).sum::<usize>();
    let mut text = BytesMut::with_capacity(head.len() + size + 16);
    text.put_slice(&head.as_bytes()[..head.len() - 1]);
    text.put_slice(b",\"items\":[");
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.put_u8(b',');
        }
        text.put_slice(item);
    }
    text.put_slice(b"]}");
    text.freeze()
}

fn page(state: &State, target: &Target, params: &Params, selection: &Selection) -> ApiResult<Page> {
    let table = state.store.table(&target.kind.table).ok_or_else(Refusal::no_such_path)?;
    let (version, start) = list_position(state, params)?;
    let limit =
        params.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    // Only without a selector is told how many are left.
    let is_counted = selection.labels.is_empty() && selection.fields.is_empty();
    let most = if is_counted { usize::MAX } else { limit.saturating_add(1) };
    let is_selected = |object: &&Arc<Object>| selection.matches(&object.value);
    let is_as_it_was = table.since(version).is_some_and(|mut later| later.next().is_none());
    let mut objects: Vec<Arc<Object>> = if !is_as_it_was {
        let past: BTreeMap<Key, Arc<Object>> = table.at(version).ok_or_else(|| {
            Refusal::expired(
                "The provided continue parameter is too old to display a consistent list result. You can start a \
                 new list without the continue parameter.",
            )
        })?;
        let first = start.unwrap_or_else(|| Key::new("", ""));
        let from = past.range(first..).map(|(_, object)| object);
        from.filter(is_selected).take(most).cloned().collect()
    } else if let Some(start) = start {
        let from = table.in_namespace_from(&selection.namespace, start);
        let is_selected = |object: &&Arc<Object>| selection.matches_within(&object.value);
        from.filter(is_selected).take(most).cloned().collect()
    } else {
        selection.of(state, &target.kind, most)
    };
    let next = objects.get(limit).map(|object| (Key::of(&object.value), objects.len() - limit));
    objects.truncate(limit);
    Ok(Page { objects, version, next })
}

fn list_position(state: &State, params: &Params) -> ApiResult<(u64, Option<Key>)> {
    let now = state.store.version();
    if !params.continue_token.is_empty() {
        if !params.resource_version.is_empty() && params.resource_version != "0" {
            let message = "specifying resource version is not allowed when using continue";
            return Err(Refusal::bad_request(message));
        }
        let (version, start) = read_token(&params.continue_token)
            .ok_or_else(|| Refusal::bad_request("continue key is not valid"))?;
        return Ok((version, Some(start)));
    }
    let version = version_number(&params.resource_version)?;
    match (params.resource_version_match.as_str(), version) {
        ("", None) => Ok((now, None)),
        ("" | "NotOlderThan", Some(version)) if version <= now => Ok((now, None)),
        ("Exact", Some(0)) => Err(Refusal::bad_request(
            "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"",
        )),
        ("Exact", Some(version)) if version <= now => Ok((version, None)),
        ("" | "NotOlderThan" | "Exact", Some(version)) => Err(too_large(version, now)),
        ("NotOlderThan" | "Exact", None) => Err(Refusal::bad_request(
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        )),
        (other, _) => {
            Err(Refusal::bad_request(format!("resourceVersionMatch {other:?} is not supported")))
        }
    }
}

/// The refusal of a resourceVersion that is still to come.
pub(crate) fn too_large(version: u64, now: u64) -> Refusal {
    let refusal = Refusal::new(
        504,
        "Timeout",
        format!("Too large resource version: {version}, current: {now}"),
    );
    refusal.causes(&[super::refusal::Cause {
        field: String::new(),
        reason: "ResourceVersionTooLarge",
        message: "Too large resource version".to_owned(),
    }])
}

/// Reads a resourceVersion parameter; `None` when absent.
pub(crate) fn version_number(text: &str) -> ApiResult<Option<u64>> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.parse();
    number.map(Some).map_err(|_| Refusal::bad_request(format!("invalid resource version {text:?}")))
}

fn continue_token(version: u64, start: &Key) -> String {
    let token = json!({ "rv": version, "namespace": start.namespace, "name": start.name });
    URL_SAFE_NO_PAD.encode(token.to_string())
}

fn read_token(token: &str) -> Option<(u64, Key)> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    let key = Key::new(value.get("namespace")?.as_str()?, value.get("name")?.as_str()?);
    Some((value.get("rv")?.as_u64()?, key))
}
