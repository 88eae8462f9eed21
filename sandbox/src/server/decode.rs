//! From the bytes of a request body to an object of the kind that the path serves.

use serde_json::{Value, json};

use super::refusal::{ApiResult, Refusal};
use super::request::Request;
use super::route::Target;
use super::{accept, object, protobuf};

const ACCEPTED: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// The object in a request's body; `apiVersion` and `kind` are filled in when absent.
pub(crate) fn body(request: &Request, target: &Target) -> ApiResult<Value> {
    let media = accept::content_type(&request.headers);
    let value = text_to_value(&media, &request.body)?;
    object_of(value, target)
}

/// Parses JSON, YAML or protobuf.
pub(crate) fn text_to_value(media: &str, bytes: &[u8]) -> ApiResult<Value> {
    match media {
        "application/json" => serde_json::from_slice(bytes).map_err(|error| {
            Refusal::bad_request(format!("failed to read the body as JSON: {error}"))
        }),
        "application/yaml" => {
            let text = std::str::from_utf8(bytes).map_err(|_| {
                Refusal::bad_request("failed to read the body as YAML: it is not UTF-8")
            })?;
            serde_saphyr::from_str(text).map_err(|error| {
                Refusal::bad_request(format!("failed to read the body as YAML: {error}"))
            })
        }
        protobuf::MEDIA => protobuf::decode(bytes),
        other => Err(accept::unsupported_body(other, ACCEPTED)),
    }
}

/// Checks that a value is an object of the target's kind, version and namespace.
pub(crate) fn object_of(mut value: Value, target: &Target) -> ApiResult<Value> {
    let Some(fields) = value.as_object_mut() else {
        return Err(Refusal::bad_request("the body of the request is not an object"));
    };
    let wanted = (target.kind.api_version(&target.version), target.kind.kind.clone());
    for (key, wanted) in [("apiVersion", &wanted.0), ("kind", &wanted.1)] {
        match fields.get(key) {
            None => {
                fields.insert(key.to_owned(), json!(wanted));
            }
            Some(Value::String(given)) if given == wanted => {}
            Some(given) => {
                return Err(Refusal::bad_request(format!(
                    "the {key} in the data ({given}) does not match the expected {key} ({wanted})"
                )));
            }
        }
    }
    if !matches!(fields.get("metadata"), None | Some(Value::Null | Value::Object(_))) {
        return Err(Refusal::bad_request("metadata is not an object"));
    }
    object::metadata_mut(&mut value);
    let namespace = object::namespace(&value);
    if !namespace.is_empty() && namespace != target.namespace {
        return Err(Refusal::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(value)
}
