//! `AdmissionReview`: what a webhook is asked, and what it answers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Attributes, Question};
use crate::server::object;
use crate::server::refusal::Refusal;

/// Everything about a request but its objects.
pub(super) fn about(asked: &Attributes<'_>, version: &str) -> Value {
    let target = asked.target;
    let (group, own, kind) = (&asked.kind.group, &asked.kind.version, &asked.kind.kind);
    // Only whole objects are converted; a Scale or Binding stays what it is.
    let wanted = if asked.is_whole() { version } else { own };
    let resource = |version: &str| json!({ "group": target.kind.group, "version": version, "resource": target.kind.plural });
    let mut request = json!({
        "uid": object::new_uid(),
        "kind": { "group": group, "version": wanted, "kind": kind },
        "resource": resource(version),
        "requestKind": { "group": group, "version": own, "kind": kind },
        "requestResource": resource(&target.version),
        "operation": asked.operation.word(),
        "userInfo": { "username": asked.user.name, "groups": asked.user.groups },
        "dryRun": asked.is_dry_run,
        "options": asked.options,
    });
    if !asked.user.uid.is_empty() {
        request["userInfo"]["uid"] = json!(asked.user.uid);
    }
    let texts = [
        ("name", &asked.name),
        ("namespace", &target.namespace),
        ("subResource", &target.subresource),
        ("requestSubResource", &target.subresource),
    ];
    for (key, text) in texts {
        if !text.is_empty() {
            request[key] = json!(text);
        }
    }
    request
}

/// The review that a webhook is sent; `review_version` is `v1` or `v1beta1`.
pub(super) fn request(
    asked: &Attributes<'_>,
    question: &Question<'_>,
    review_version: &str,
) -> Value {
    let mut request = about(asked, question.version);
    request["object"] = question.object.clone();
    request["oldObject"] = question.old.clone();
    json!({
        "kind": "AdmissionReview",
        "apiVersion": format!("admission.k8s.io/{review_version}"),
        "request": request,
    })
}

/// Answer of a webhook.
#[derive(Debug)]
pub(super) struct Answer {
    /// The `status` of a refusal; `None` where the request is allowed.
    pub(super) refused: Option<Value>,
    /// The change.
    pub(super) patch: Option<json_patch::Patch>,
    /// Warnings to tell the client.
    pub(super) warnings: Vec<String>,
}

/// Reads the answer to a review.
///
/// # Errors
/// Why the answer is none.
pub(super) fn answer(sent: &Value, answered: &Value) -> Result<Answer, String> {
    for key in ["apiVersion", "kind"] {
        if sent.get(key) != answered.get(key) {
            return Err(format!(
                "received invalid webhook response: expected {key} {}, got {}",
                sent[key], answered[key]
            ));
        }
    }
    let Some(response) = answered.get("response").filter(|response| response.is_object()) else {
        return Err("received invalid webhook response: webhook response was absent".to_owned());
    };
    let (wanted, uid) = (object::text(sent, "/request/uid"), object::text(response, "/uid"));
    if wanted != uid {
        return Err(format!(
            "received invalid webhook response: expected response.uid={wanted:?}, got {uid:?}"
        ));
    }
    let warnings = object::array(response, "/warnings").iter().filter_map(Value::as_str);
    let is_allowed = response.get("allowed") == Some(&Value::Bool(true));
    let status = response.get("status").cloned().unwrap_or(Value::Null);
    Ok(Answer {
        refused: (!is_allowed).then_some(status),
        patch: patch(response)?,
        warnings: warnings.map(str::to_owned).collect(),
    })
}

fn patch(response: &Value) -> Result<Option<json_patch::Patch>, String> {
    let text = object::text(response, "/patch");
    if text.is_empty() {
        return Ok(None);
    }
    let kind = object::text(response, "/patchType");
    if kind != "JSONPatch" {
        return Err(format!(
            "received invalid webhook response: webhook returned response.patch but not response.patchType=\"JSONPatch\" ({kind:?})"
        ));
    }
    let bytes = STANDARD
        .decode(text)
        .map_err(|error| format!("received invalid webhook response: the patch: {error}"))?;
    let patch = serde_json::from_slice(&bytes)
        .map_err(|error| format!("received invalid webhook response: the patch: {error}"))?;
    Ok(Some(patch))
}

/// A webhook's refusal, in its own words.
pub(super) fn denied(webhook: &str, status: &Value) -> Refusal {
    let by = format!("admission webhook {webhook:?} denied the request");
    let (message, reason) = (object::text(status, "/message"), object::text(status, "/reason"));
    let text = match (message, reason) {
        ("", "") => format!("{by} without explanation"),
        ("", reason) => format!("{by}: {reason}"),
        (message, _) => format!("{by}: {message}"),
    };
    let code = status.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|code| (400..600).contains(code)).unwrap_or(400);
    Refusal::foreign(code, reason, text, status.get("details"))
}
