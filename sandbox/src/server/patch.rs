//! The four kinds of PATCH.

use serde_json::{Map, Value};

use super::accept;
use super::api::Request;
use super::params::Params;
use super::refusal::{ApiResult, Refusal};
use super::route::Target;
use super::write::{Intent, text_to_value};

mod strategic;

const ACCEPTED: &str = "application/json-patch+json, application/merge-patch+json, \
    application/apply-patch+yaml, application/strategic-merge-patch+json";

/// A parsed patch.
#[derive(Debug)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(json_patch::Patch),
    /// RFC 7386.
    Merge(Value),
    /// Merges lists of built-in kinds by their keys.
    Strategic(Value),
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
        Self::read(&media, &request.body)
    }

    /// Reads a patch for something that is no object of the store (`scale`).
    pub(crate) fn parse_plain(request: &Request) -> ApiResult<Self> {
        Self::read(&accept::content_type(&request.headers), &request.body)
    }

    fn read(media: &str, bytes: &[u8]) -> ApiResult<Self> {
        match media {
            "application/json-patch+json" => {
                let patch = serde_json::from_slice(bytes).map_err(|error| {
                    Refusal::bad_request(format!(
                        "failed to read the body as a JSON patch: {error}"
                    ))
                })?;
                Ok(Self::Json(patch))
            }
            "application/merge-patch+json" => Ok(Self::Merge(json_object(bytes)?)),
            "application/strategic-merge-patch+json" => Ok(Self::Strategic(json_object(bytes)?)),
            "application/apply-patch+yaml" => Err(Refusal::not_implemented("server-side apply")),
            other => Err(accept::unsupported_body(other, ACCEPTED)),
        }
    }

    /// The object to create when there is none; only apply does so.
    pub(crate) fn creates(
        &self,
        _target: &Target,
        _intent: &Intent<'_>,
    ) -> ApiResult<Option<Value>> {
        Ok(None)
    }

    /// The patched object.
    pub(crate) fn apply(
        self,
        old: Value,
        target: &Target,
        _intent: &Intent<'_>,
    ) -> ApiResult<Value> {
        let new = match self {
            Self::Strategic(patch) => strategic::merge(old, &patch, target)?,
            Self::Json(_) | Self::Merge(_) => self.apply_plain(old)?,
        };
        check_identity(target, &new)?;
        Ok(new)
    }

    /// The patched value, without knowledge of any kind.
    pub(crate) fn apply_plain(self, mut old: Value) -> ApiResult<Value> {
        match self {
            Self::Json(patch) => {
                json_patch::patch(&mut old, &patch).map_err(|error| {
                    let reason = if error.to_string().contains("test failed") { 422 } else { 422 };
                    let message = format!(
                        "the server rejected our request due to an error in our request: {error}"
                    );
                    Refusal::new(reason, "Invalid", message)
                })?;
            }
            Self::Merge(patch) => json_patch::merge(&mut old, &patch),
            Self::Strategic(_) => {
                return Err(Refusal::not_implemented("a strategic merge patch of scale"));
            }
        }
        Ok(old)
    }
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
    let name = super::object::name(new);
    if name != target.name {
        return Err(Refusal::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            target.name
        )));
    }
    Ok(())
}
