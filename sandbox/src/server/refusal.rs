//! Refusals of the API: a Kubernetes `Status` with code, reason, message and causes.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// The result of every API operation.
pub(crate) type ApiResult<T> = Result<T, Refusal>;

/// A refused request, answered as a `Status` object.
#[derive(Debug, Clone)]
pub(crate) struct Refusal(Box<Detail>);

#[derive(Debug, Clone)]
struct Detail {
    code: u16,
    reason: Cow<'static, str>,
    message: String,
    details: Map<String, Value>,
    retry_after_seconds: Option<u32>,
}

/// The reason why one field of an object is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    /// The field path as the user writes it, for example `spec.containers[0].name`.
    pub(crate) field: String,
    /// `FieldValueRequired`, `FieldValueInvalid`, ...
    pub(crate) reason: &'static str,
    /// The message without the field.
    pub(crate) message: String,
}

impl Cause {
    fn new(field: impl Into<String>, reason: &'static str, message: String) -> Self {
        Self { field: field.into(), reason, message }
    }

    /// A value is missing.
    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        let message = if detail.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {detail}")
        };
        Self::new(field, "FieldValueRequired", message)
    }

    /// A value is malformed.
    pub(crate) fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self::new(field, "FieldValueInvalid", format!("Invalid value: {}: {detail}", brief(value)))
    }

    /// A value of the wrong JSON type.
    pub(crate) fn wrong_type(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self::new(
            field,
            "FieldValueTypeInvalid",
            format!("Invalid value: {}: {detail}", quoted_type(value)),
        )
    }

    /// A value that is not one of a fixed set, which is shown in the order given.
    pub(crate) fn unsupported(field: impl Into<String>, value: &Value, allowed: &[&str]) -> Self {
        let allowed: Vec<String> = allowed.iter().map(|text| format!("{text:?}")).collect();
        let message = format!(
            "Unsupported value: {}: supported values: {}",
            brief(value),
            allowed.join(", ")
        );
        Self::new(field, "FieldValueNotSupported", message)
    }

    /// A value that may not be set, or not be changed.
    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::new(field, "FieldValueForbidden", format!("Forbidden: {detail}"))
    }

    /// A value that occurs twice where it must be unique.
    pub(crate) fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self::new(field, "FieldValueDuplicate", format!("Duplicate value: {}", brief(value)))
    }

    /// A value that names something which is not there.
    pub(crate) fn not_found(field: impl Into<String>, value: &Value) -> Self {
        Self::new(field, "FieldValueNotFound", format!("Not found: {}", brief(value)))
    }

    /// A string or list over its maximum length.
    pub(crate) fn too_long(field: impl Into<String>, bytes_max: u64) -> Self {
        let message = format!("Too long: may not be more than {bytes_max} bytes");
        Self::new(field, "FieldValueTooLong", message)
    }

    /// A list with too many items.
    pub(crate) fn too_many(field: impl Into<String>, have: usize, items_max: u64) -> Self {
        let message = format!("Too many: {have}: must have at most {items_max} items");
        Self::new(field, "FieldValueTooMany", message)
    }

    fn to_json(&self) -> Value {
        json!({ "reason": self.reason, "message": self.message, "field": self.field })
    }
}

fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => {
            let mut text = value.to_string();
            if text.len() > 200 {
                let mut end = 200;
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                text.truncate(end);
                text.push_str("...");
            }
            text
        }
    }
}

fn quoted_type(value: &Value) -> String {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("{name:?}")
}

/// The group and plural that error messages name: `pods`, `jobs.batch`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResourceName<'a> {
    /// The API group; empty for the core group.
    pub(crate) group: &'a str,
    /// The plural.
    pub(crate) plural: &'a str,
}

impl std::fmt::Display for ResourceName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.group.is_empty() {
            f.write_str(self.plural)
        } else {
            write!(f, "{}.{}", self.plural, self.group)
        }
    }
}

impl Refusal {
    /// A refusal without details.
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Detail {
            code,
            reason: Cow::Borrowed(reason),
            message: message.into(),
            details: Map::new(),
            retry_after_seconds: None,
        }))
    }

    fn about(mut self, resource: ResourceName<'_>, name: &str) -> Self {
        if !name.is_empty() {
            self.0.details.insert("name".to_owned(), json!(name));
        }
        if !resource.group.is_empty() {
            self.0.details.insert("group".to_owned(), json!(resource.group));
        }
        self.0.details.insert("kind".to_owned(), json!(resource.plural));
        self
    }

    /// 404: the object does not exist.
    pub(crate) fn not_found(resource: ResourceName<'_>, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{resource} {name:?} not found")).about(resource, name)
    }

    /// 404: nothing is served under this path.
    pub(crate) fn no_such_path() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
    }

    /// 409: an object of that name exists.
    pub(crate) fn already_exists(resource: ResourceName<'_>, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{resource} {name:?} already exists"))
            .about(resource, name)
    }

    /// 409: the object is not in the state that the writer expects.
    pub(crate) fn conflict(resource: ResourceName<'_>, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} {name:?}: {why}");
        Self::new(409, "Conflict", message).about(resource, name)
    }

    /// 409: the object was written since the writer read it.
    pub(crate) fn modified(resource: ResourceName<'_>, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(resource, name, why)
    }

    /// 422: fields of the object are refused. Panics when `causes` is empty.
    pub(crate) fn invalid(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for cause in causes {
            let text = format!("{}: {}", cause.field, cause.message);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let text = match texts.as_slice() {
            [] => unreachable!("an invalid object has a cause"),
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let full = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        Self::new(422, "Invalid", format!("{full} {name:?} is invalid: {text}"))
            .about(ResourceName { group, plural: kind }, name)
            .causes(causes)
    }

    /// Adds causes to the details.
    pub(crate) fn causes(mut self, causes: &[Cause]) -> Self {
        let causes = causes.iter().map(Cause::to_json).collect();
        self.0.details.insert("causes".to_owned(), Value::Array(causes));
        self
    }

    /// 403: the user, or the state of the cluster, does not allow it.
    pub(crate) fn forbidden(resource: ResourceName<'_>, name: &str, why: &str) -> Self {
        let subject =
            if name.is_empty() { format!("{resource}") } else { format!("{resource} {name:?}") };
        Self::new(403, "Forbidden", format!("{subject} is forbidden: {why}")).about(resource, name)
    }

    /// 400: the request itself makes no sense.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 422: what a patch makes is no object of its kind.
    pub(crate) fn unfit_patch(why: &str) -> Self {
        let message = format!("Invalid value: {why}");
        let cause = Cause { field: "patch".to_owned(), reason: "FieldValueInvalid", message };
        let full = format!(" \"\" is invalid: patch: {}", cause.message);
        Self::new(422, "Invalid", full).causes(&[cause])
    }

    /// 410: the resourceVersion asked for is no longer kept.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 405: the path exists, the verb does not.
    pub(crate) fn method_not_allowed() -> Self {
        Self::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
    }

    /// 501: part of the Kubernetes API that this server leaves out.
    pub(crate) fn not_implemented(what: &str) -> Self {
        Self::new(
            501,
            "NotImplemented",
            format!("{what} is not implemented by the kai sandbox API server"),
        )
    }

    /// 429: the eviction would break a disruption budget.
    pub(crate) fn too_many_requests(message: &str, retry_after_seconds: Option<u32>) -> Self {
        let mut refusal = Self::new(429, "TooManyRequests", message);
        refusal.0.retry_after_seconds = retry_after_seconds;
        refusal
    }

    /// 500: something else that this server needs does not answer.
    pub(crate) fn internal(why: &str) -> Self {
        let message = format!("Internal error occurred: {why}");
        let mut refusal = Self::new(500, "InternalError", message);
        refusal.0.details.insert("causes".to_owned(), json!([{ "message": why }]));
        refusal
    }

    /// A refusal in the words of somebody else, who was asked.
    pub(crate) fn foreign(
        code: u16,
        reason: &str,
        message: String,
        details: Option<&Value>,
    ) -> Self {
        let mut refusal = Self::new(code, "", message);
        refusal.0.reason = Cow::Owned(reason.to_owned());
        if let Some(details) = details.and_then(Value::as_object) {
            refusal.0.details.clone_from(details);
        }
        refusal
    }

    /// The same refusal with another code and reason, and with what was said as its cause.
    pub(crate) fn because(mut self, code: u16, reason: &str, message: &str) -> Self {
        self.0.code = code;
        self.0.reason = Cow::Owned(reason.to_owned());
        self.0.details.insert("causes".to_owned(), json!([{ "message": message }]));
        self
    }

    /// The HTTP status code.
    pub(crate) fn code(&self) -> u16 {
        self.0.code
    }

    /// The `reason` of the Status.
    pub(crate) fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The message of the Status.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// Seconds for the `Retry-After` header.
    pub(crate) fn retry_after_seconds(&self) -> Option<u32> {
        self.0.retry_after_seconds
    }

    /// The `Status` object.
    pub(crate) fn to_json(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.0.message,
        });
        if !self.0.reason.is_empty() {
            status["reason"] = json!(self.0.reason);
        }
        let mut details = self.0.details.clone();
        if let Some(seconds) = self.0.retry_after_seconds {
            details.insert("retryAfterSeconds".to_owned(), json!(seconds));
        }
        if !details.is_empty() {
            status["details"] = Value::Object(details);
        }
        status["code"] = json!(self.0.code);
        status
    }
}
