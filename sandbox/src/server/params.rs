//! The query parameters of a request. One that this server does not know is refused, never ignored.

use jiff::Timestamp;

use super::refusal::{ApiResult, Cause, Refusal};

/// Treatment of unknown and duplicate fields of a written object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FieldValidation {
    /// Drop them silently.
    Ignore,
    /// Drop them and warn; the server's default.
    #[default]
    Warn,
    /// Refuse the object.
    Strict,
}

/// The query parameters of a request.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the query string")]
pub(crate) struct Params {
    pub(crate) label_selector: String,
    pub(crate) field_selector: String,
    pub(crate) limit: Option<u64>,
    pub(crate) continue_token: String,
    pub(crate) resource_version: String,
    pub(crate) resource_version_match: String,
    pub(crate) watch: bool,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) allow_watch_bookmarks: bool,
    pub(crate) send_initial_events: bool,
    pub(crate) dry_run: bool,
    pub(crate) field_manager: String,
    pub(crate) field_validation: FieldValidation,
    pub(crate) force: bool,
    pub(crate) pretty: bool,
    pub(crate) include_object: String,
    pub(crate) propagation_policy: String,
    pub(crate) grace_period_seconds: Option<i64>,
    pub(crate) orphan_dependents: Option<bool>,
    pub(crate) container: String,
    pub(crate) follow: bool,
    pub(crate) previous: bool,
    pub(crate) timestamps: bool,
    pub(crate) tail_lines: Option<i64>,
    pub(crate) limit_bytes: Option<i64>,
    pub(crate) since_seconds: Option<i64>,
    pub(crate) since_time: Option<Timestamp>,
    pub(crate) command: Vec<String>,
    pub(crate) stdin: bool,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    pub(crate) tty: bool,
    pub(crate) ports: Vec<u16>,
}

impl Params {
    /// Reads a query string.
    pub(crate) fn parse(query: &str) -> ApiResult<Self> {
        let mut params = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            params.set(&percent_decode(key)?, percent_decode(value)?)?;
        }
        Ok(params)
    }

    fn set(&mut self, key: &str, value: String) -> ApiResult<()> {
        match key {
            "labelSelector" => self.label_selector = value,
            "fieldSelector" => self.field_selector = value,
            "limit" => self.limit = number(key, &value)?.filter(|limit| *limit > 0),
            "continue" => self.continue_token = value,
            "resourceVersion" => self.resource_version = value,
            "resourceVersionMatch" => self.resource_version_match = value,
            "watch" => self.watch = boolean(key, &value)?,
            "timeoutSeconds" => self.timeout_seconds = number(key, &value)?,
            "allowWatchBookmarks" => self.allow_watch_bookmarks = boolean(key, &value)?,
            "sendInitialEvents" => self.send_initial_events = boolean(key, &value)?,
            "dryRun" => self.dry_run = dry_run(&value)?,
            "fieldManager" => self.field_manager = field_manager(value)?,
            "fieldValidation" => self.field_validation = field_validation(&value)?,
            "force" => self.force = boolean(key, &value)?,
            "pretty" => self.pretty = boolean(key, &value)?,
            "includeObject" => self.include_object = value,
            "propagationPolicy" => self.propagation_policy = value,
            "gracePeriodSeconds" => self.grace_period_seconds = number(key, &value)?,
            "orphanDependents" => self.orphan_dependents = Some(boolean(key, &value)?),
            "container" => self.container = value,
            "follow" => self.follow = boolean(key, &value)?,
            "previous" => self.previous = boolean(key, &value)?,
            "timestamps" => self.timestamps = boolean(key, &value)?,
            "tailLines" => self.tail_lines = number(key, &value)?,
            "limitBytes" => self.limit_bytes = number(key, &value)?,
            "sinceSeconds" => self.since_seconds = number(key, &value)?,
            "sinceTime" => self.since_time = time(key, &value)?,
            "command" => self.command.push(value),
            "stdin" => self.stdin = boolean(key, &value)?,
            "stdout" => self.stdout = boolean(key, &value)?,
            "stderr" => self.stderr = boolean(key, &value)?,
            "tty" => self.tty = boolean(key, &value)?,
            "ports" => {
                for port in value.split(',') {
                    self.ports.extend(number::<u16>(key, port)?);
                }
            }
            // The client's own patience (kubectl --request-timeout), TLS towards a kubelet that is not there, and the
            // cache-busting hash of the OpenAPI index: nothing for this server to do.
            "timeout" | "insecureSkipTLSVerifyBackend" | "hash" => {}
            unknown => {
                return Err(Refusal::bad_request(format!(
                    "query parameter {unknown:?} is not understood by the kai sandbox API server"
                )));
            }
        }
        Ok(())
    }
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> ApiResult<Option<T>> {
    if value.is_empty() {
        return Ok(None);
    }
    let parsed = value.parse().map_err(|_| {
        Refusal::bad_request(format!("query parameter {key}: {value:?} is not a number in range"))
    })?;
    Ok(Some(parsed))
}

fn time(key: &str, value: &str) -> ApiResult<Option<Timestamp>> {
    if value.is_empty() {
        return Ok(None);
    }
    let parsed = value.parse().map_err(|_| {
        Refusal::bad_request(format!("query parameter {key}: {value:?} is not a time"))
    })?;
    Ok(Some(parsed))
}

fn boolean(key: &str, value: &str) -> ApiResult<bool> {
    match value {
        "" | "true" | "True" | "1" => Ok(true),
        "false" | "False" | "0" => Ok(false),
        _ => Err(Refusal::bad_request(format!(
            "query parameter {key}: {value:?} is not true or false"
        ))),
    }
}

fn unsupported(field: &str, value: &str, allowed: &[&str]) -> Refusal {
    let cause = Cause::unsupported(field, &serde_json::json!(value), allowed);
    Refusal::invalid("meta.k8s.io", "Options", "", &[cause])
}

/// Reads one value of `dryRun`.
pub(crate) fn dry_run(value: &str) -> ApiResult<bool> {
    match value {
        "" => Ok(false),
        "All" => Ok(true),
        _ => Err(unsupported("dryRun", value, &["All"])),
    }
}

fn field_manager(value: String) -> ApiResult<String> {
    if value.len() > 128 {
        return Err(Refusal::bad_request("fieldManager: may not be more than 128 bytes"));
    }
    Ok(value)
}

fn field_validation(value: &str) -> ApiResult<FieldValidation> {
    match value {
        "" | "Warn" => Ok(FieldValidation::Warn),
        "Ignore" => Ok(FieldValidation::Ignore),
        "Strict" => Ok(FieldValidation::Strict),
        _ => Err(unsupported("fieldValidation", value, &["Ignore", "Strict", "Warn"])),
    }
}

/// Decodes `%41` and `+` of a query string.
pub(crate) fn percent_decode(text: &str) -> ApiResult<String> {
    decode(&text.replace('+', " "))
}

/// Decodes `%41` of a path segment.
pub(crate) fn decode(text: &str) -> ApiResult<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let code = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let code = code.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(code.ok_or_else(|| {
            Refusal::bad_request(format!("{text:?} is not percent-encoded text"))
        })?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| Refusal::bad_request(format!("{text:?} is not UTF-8")))
}
