//! The four kinds of PATCH.

use json_patch::{AddOperation, PatchOperation};
use serde_json::{Map, Value, json};

use super::decode::{object_of, text_to_value};
use super::fields::{FieldSet, Intent, managed, merge};
use super::params::Params;
use super::refusal::{ApiResult, Refusal};
use super::request::Request;
use super::route::Target;
use super::{accept, object};

mod strategic;

const ACCEPTED: &str = "application/json-patch+json, application/merge-patch+json, \
    application/apply-patch+yaml, application/strategic-merge-patch+json";

/// Operations of a patch of RFC 6902.
const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];
/// Those that have a value. kube-apiserver takes none for `null`, other than RFC 6902, which refuses such a patch.
const VALUED: [&str; 3] = ["add", "replace", "test"];

/// The most operations of such a patch, as kube-apiserver has it.
const OPERATIONS_MAX: usize = 10_000;
/// The most bytes that they may copy together: each can copy what those before it copied, so that few make any size.
const COPIED_BYTES_MAX: usize = 3 * 1024 * 1024;

/// A parsed patch.
#[derive(Debug, Clone)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(json_patch::Patch),
    /// RFC 7386.
    Merge(Value),
    /// Merges lists of built-in kinds by their keys.
    Strategic(Value),
    /// Server-side apply: the fields that the manager wants to own.
    Apply(Value),
}

impl Patch {
    /// Reads a patch for an object of `target`.
    pub(crate) fn parse(request: &Request, target: &Target, params: &Params) -> ApiResult<Self> {
        let media = accept::content_type(&request.headers);
        if params.force && media != "application/apply-patch+yaml" {
            return Err(Refusal::new(
                422,
                "Invalid",
                "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch",
            ));
        }
        if target.kind.custom && media == "application/strategic-merge-patch+json" {
            let accepted = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
            return Err(accept::unsupported_body(&media, accepted));
        }
        let patch = Self::read(&media, &request.body)?;
        match patch {
            Self::Apply(applied) => Ok(Self::Apply(check_applied(applied, target, params)?)),
            Self::Json(_) | Self::Merge(_) | Self::Strategic(_) => Ok(patch),
        }
    }

    /// Reads a patch for something that is no object of the store (`scale`).
    pub(crate) fn parse_plain(request: &Request) -> ApiResult<Self> {
        Self::read(&accept::content_type(&request.headers), &request.body)
    }

    fn read(media: &str, bytes: &[u8]) -> ApiResult<Self> {
        match media {
            "application/json-patch+json" => Ok(Self::Json(operations(bytes)?)),
            "application/merge-patch+json" => Ok(Self::Merge(json_object(bytes)?)),
            // `null` is a patch that asks for nothing.
            "application/strategic-merge-patch+json" if bytes.trim_ascii() == b"null" => {
                Ok(Self::Strategic(json!({})))
            }
            "application/strategic-merge-patch+json" => Ok(Self::Strategic(json_object(bytes)?)),
            "application/apply-patch+yaml" => {
                let media = if bytes.first() == Some(&b'{') {
                    "application/json"
                } else {
                    "application/yaml"
                };
                Ok(Self::Apply(text_to_value(media, bytes)?))
            }
            other => Err(accept::unsupported_body(other, ACCEPTED)),
        }
    }

    /// The object to create when there is none; only apply does so.
    pub(crate) fn creates(
        &self,
        target: &Target,
        intent: &mut Intent<'_>,
    ) -> ApiResult<Option<Value>> {
        let Self::Apply(applied) = self else { return Ok(None) };
        let uid = object::uid(applied);
        if !uid.is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            return Err(Refusal::conflict(target.kind.resource(), &target.name, &why));
        }
        intent.applied = Some(FieldSet::of_applied(applied, managed::schema(target)));
        let mut value = applied.clone();
        object::set_metadata(&mut value, "name", json!(target.name));
        Ok(Some(value))
    }

    /// The patched object, from the one that is stored and its form in the version of the path.
    pub(crate) fn apply(
        self,
        served: Value,
        target: &Target,
        intent: &mut Intent<'_>,
    ) -> ApiResult<Value> {
        let new = match self {
            Self::Strategic(patch) => strategic::merge(served, &patch, target)?,
            Self::Apply(applied) => apply(served, &applied, target, intent),
            Self::Json(_) | Self::Merge(_) => self.apply_plain(served)?,
        };
        if !matches!(new.get("metadata"), None | Some(Value::Null | Value::Object(_))) {
            return Err(Refusal::unfit_patch("metadata is not an object"));
        }
        check_identity(target, &new)?;
        Ok(new)
    }

    /// The patched value, without knowledge of any kind.
    pub(crate) fn apply_plain(self, mut old: Value) -> ApiResult<Value> {
        match self {
            Self::Json(patch) => {
                let mut copied = 0;
                for operation in patch.0 {
                    copied += bytes_copied(&operation, &old);
                    if copied > COPIED_BYTES_MAX {
                        return Err(inapplicable());
                    }
                    if tells_of_none(&operation, &old) {
                        continue;
                    }
                    let operation = [as_taken(operation, &old)];
                    json_patch::patch(&mut old, &operation).map_err(|_| inapplicable())?;
                }
            }
            // `scale` has no lists, so there is nothing strategic about it.
            Self::Merge(patch) | Self::Strategic(patch) => json_patch::merge(&mut old, &patch),
            Self::Apply(_) => return Err(Refusal::not_implemented("server-side apply of scale")),
        }
        Ok(old)
    }
}

/// Bytes of what an operation copies.
fn bytes_copied(operation: &PatchOperation, object: &Value) -> usize {
    let PatchOperation::Copy(copy) = operation else { return 0 };
    object.pointer(copy.from.as_str()).map_or(0, |value| value.to_string().len())
}

/// kube-apiserver takes a `replace` of a member that an object does not have for an `add`, other than RFC 6902.
fn as_taken(operation: PatchOperation, object: &Value) -> PatchOperation {
    let PatchOperation::Replace(replace) = operation else { return operation };
    if !is_free_member(replace.path.as_str(), object) {
        return PatchOperation::Replace(replace);
    }
    PatchOperation::Add(AddOperation { path: replace.path, value: replace.value })
}

/// Tells whether an operation tests that an object does not have a member: kube-apiserver takes none for `null`, other than
/// RFC 6902.
fn tells_of_none(operation: &PatchOperation, object: &Value) -> bool {
    let PatchOperation::Test(test) = operation else { return false };
    test.value.is_null() && is_free_member(test.path.as_str(), object)
}

/// Tells whether a path names a member that an object which is there does not have.
fn is_free_member(path: &str, object: &Value) -> bool {
    let parent = path.rsplit_once('/').and_then(|(parent, _)| object.pointer(parent));
    object.pointer(path).is_none() && parent.is_some_and(Value::is_object)
}

fn check_applied(mut applied: Value, target: &Target, params: &Params) -> ApiResult<Value> {
    if params.field_manager.is_empty() {
        return Err(Refusal::new(
            422,
            "Invalid",
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
        ));
    }
    if !object::array(&applied, "/metadata/managedFields").is_empty() {
        return Err(Refusal::bad_request("metadata.managedFields must be nil"));
    }
    for field in ["apiVersion", "kind"] {
        if object::text(&applied, &format!("/{field}")).is_empty() {
            return Err(Refusal::bad_request(format!("the applied object has no {field}")));
        }
    }
    let name = object::name(&applied);
    if !name.is_empty() && name != target.name {
        return Err(Refusal::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            target.name
        )));
    }
    let metadata = object::metadata_mut(&mut applied);
    metadata.retain(|_, value| !value.is_null());
    object_of(applied, target)
}

/// The live object with the applied fields, and without those that this manager gave up.
fn apply(mut live: Value, applied: &Value, target: &Target, intent: &mut Intent<'_>) -> Value {
    let schema = managed::schema(target);
    let set = FieldSet::of_applied(applied, schema);
    let (before, others) = managed::applied_before(&live, target, intent);
    let kept = set.clone().union(&others);
    merge::merge(&mut live, applied, schema);
    merge::prune(&mut live, &before.difference(&kept), &kept, schema);
    intent.applied = Some(set);
    live
}

/// Reads a patch of RFC 6902: a list of operations, of which one that is unknown is a patch that cannot be applied.
fn operations(bytes: &[u8]) -> ApiResult<json_patch::Patch> {
    if bytes.trim_ascii() == b"null" {
        return Ok(json_patch::Patch::default());
    }
    let operations: Vec<Option<Map<String, Value>>> =
        serde_json::from_slice(bytes).map_err(|error| unread_operations(&error.to_string()))?;
    if operations.len() > OPERATIONS_MAX {
        let count = operations.len();
        let message = format!(
            "The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {count}"
        );
        return Err(Refusal::new(413, "RequestEntityTooLarge", message));
    }
    let text = |operation: &Map<String, Value>, key: &str| match operation.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(unread_operations(&format!("{key} is not text"))),
    };
    for operation in operations.iter().flatten() {
        for key in ["op", "path", "from"] {
            text(operation, key)?;
        }
    }
    let mut taken = Vec::with_capacity(operations.len());
    for operation in operations {
        let mut operation = operation.unwrap_or_default();
        let op = text(&operation, "op")?;
        if !OPERATIONS.contains(&op.as_str()) {
            return Err(inapplicable());
        }
        if VALUED.contains(&op.as_str()) {
            operation.entry("value").or_insert(Value::Null);
        }
        taken.push(Value::Object(operation));
    }
    serde_json::from_value(Value::Array(taken)).map_err(|_| inapplicable())
}

fn unread_operations(why: &str) -> Refusal {
    Refusal::bad_request(format!("failed to read the body as a JSON patch: {why}"))
}

fn inapplicable() -> Refusal {
    let message = "the server rejected our request due to an error in our request";
    Refusal::new(422, "Invalid", message)
}

fn json_object(bytes: &[u8]) -> ApiResult<Value> {
    let value = text_to_value("application/json", bytes)?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(Refusal::bad_request("the patch is not an object"))
    }
}

/// A patch may not change what the object is.
fn check_identity(target: &Target, new: &Value) -> ApiResult<()> {
    let empty = Map::new();
    let fields = new.as_object().unwrap_or(&empty);
    let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
    let wanted = target.kind.api_version(&target.version);
    if text("kind") != target.kind.kind || text("apiVersion") != wanted {
        return Err(Refusal::bad_request(format!(
            "the patch changes the object's kind or apiVersion to {} {}",
            text("apiVersion"),
            text("kind")
        )));
    }
    let name = object::name(new);
    if name != target.name {
        return Err(Refusal::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            target.name
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_has_so_many_operations() {
        let test = r#"{"op":"test","path":"/a","value":1}"#;
        for (count, code) in [(OPERATIONS_MAX, None), (OPERATIONS_MAX + 1, Some(413))] {
            let patch = format!("[{}]", vec![test; count].join(","));
            let refused = operations(patch.as_bytes()).err().map(|refusal| refusal.code());
            assert_eq!(refused, code, "{count}");
        }
    }
}
