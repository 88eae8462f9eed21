//! Label and field selectors, as query parameters and as `LabelSelector` objects.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::kinds::{Kind, Version};
use super::object;
use super::refusal::{ApiResult, Refusal};

/// One condition on a label.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Requirement {
    In(String, BTreeSet<String>),
    NotIn(String, BTreeSet<String>),
    Exists(String),
    Absent(String),
    Greater(String, i64),
    Less(String, i64),
}

/// A label selector; all conditions must hold. The empty one selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Labels(Vec<Requirement>);

impl Labels {
    /// Parses the text form: `a=b,c!=d,e in (f,g),h,!i`.
    pub(crate) fn parse(text: &str) -> ApiResult<Self> {
        // Line breaks part words as spaces do.
        let text = &text.replace(['\t', '\r', '\n'], " ");
        let mut requirements = Vec::new();
        for part in split_outside_parentheses(text) {
            let part = part.trim();
            if part.is_empty() {
                if text.trim().is_empty() {
                    continue;
                }
                return Err(unreadable(text, "empty requirement"));
            }
            requirements.push(requirement(part).map_err(|why| unreadable(text, &why))?);
        }
        Ok(Self(requirements))
    }

    /// Reads a `LabelSelector` object. An absent field selects everything.
    pub(crate) fn from_object(selector: &Value) -> Self {
        let mut requirements: Vec<Requirement> = Vec::new();
        for (key, value) in
            selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten()
        {
            let value = value.as_str().unwrap_or_default().to_owned();
            requirements.push(Requirement::In(key.clone(), BTreeSet::from([value])));
        }
        for expression in object::array(selector, "/matchExpressions") {
            let key = object::text(expression, "/key").to_owned();
            let values = object::array(expression, "/values").iter().filter_map(Value::as_str);
            let values: BTreeSet<String> = values.map(str::to_owned).collect();
            requirements.push(match object::text(expression, "/operator") {
                "In" => Requirement::In(key, values),
                "NotIn" => Requirement::NotIn(key, values),
                "Exists" => Requirement::Exists(key),
                _ => Requirement::Absent(key),
            });
        }
        Self(requirements)
    }

    /// Tells whether nothing is asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether the labels of an object fit.
    pub(crate) fn matches(&self, labels: Option<&Map<String, Value>>) -> bool {
        let get = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
        self.0.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => get(key).is_some_and(|value| values.contains(value)),
            Requirement::NotIn(key, values) => get(key).is_none_or(|value| !values.contains(value)),
            Requirement::Exists(key) => get(key).is_some(),
            Requirement::Absent(key) => get(key).is_none(),
            Requirement::Greater(key, than) => number(get(key)).is_some_and(|value| value > *than),
            Requirement::Less(key, than) => number(get(key)).is_some_and(|value| value < *than),
        })
    }
}

impl std::fmt::Display for Labels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let join = |values: &BTreeSet<String>| {
            values.iter().map(String::as_str).collect::<Vec<_>>().join(",")
        };
        for (index, requirement) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            match requirement {
                Requirement::In(key, values) if values.len() == 1 => {
                    write!(f, "{key}={}", join(values))?;
                }
                Requirement::In(key, values) => write!(f, "{key} in ({})", join(values))?,
                Requirement::NotIn(key, values) => write!(f, "{key} notin ({})", join(values))?,
                Requirement::Exists(key) => f.write_str(key)?,
                Requirement::Absent(key) => write!(f, "!{key}")?,
                Requirement::Greater(key, than) => write!(f, "{key}>{than}")?,
                Requirement::Less(key, than) => write!(f, "{key}<{than}")?,
            }
        }
        Ok(())
    }
}

fn number(text: Option<&str>) -> Option<i64> {
    text?.parse().ok()
}

fn unreadable(text: &str, why: &str) -> Refusal {
    Refusal::bad_request(format!("unable to parse requirement: {why} in label selector {text:?}"))
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (index, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn requirement(part: &str) -> Result<Requirement, String> {
    if let Some(key) = part.strip_prefix('!') {
        return Ok(Requirement::Absent(label_key(key)?));
    }
    for (operator, make) in SET_OPERATORS {
        let ends = |at: &usize| part[at + operator.len()..].starts_with([' ', '(']);
        let at = part.match_indices(operator).map(|(at, _)| at).find(ends);
        if let Some((key, rest)) = at.map(|at| (&part[..at], &part[at + operator.len()..])) {
            let inner = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            let inner = inner.ok_or_else(|| format!("expected (values) after{operator}"))?;
            let values = inner
                .split(',')
                .map(|value| label_value(value.trim()))
                .collect::<Result<_, _>>()?;
            return Ok(make(label_key(key)?, values));
        }
    }
    for (operator, negated) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = part.split_once(operator) {
            let values = BTreeSet::from([label_value(value.trim())?]);
            let key = label_key(key)?;
            return Ok(if negated {
                Requirement::NotIn(key, values)
            } else {
                Requirement::In(key, values)
            });
        }
    }
    for (operator, greater) in [('>', true), ('<', false)] {
        if let Some((key, value)) = part.split_once(operator) {
            // A bound is a label's value as well, so none is negative.
            let bound = label_value(value.trim())?;
            let than = bound.parse().map_err(|_| format!("{value:?} is not an integer"))?;
            let key = label_key(key)?;
            return Ok(if greater {
                Requirement::Greater(key, than)
            } else {
                Requirement::Less(key, than)
            });
        }
    }
    Ok(Requirement::Exists(label_key(part)?))
}

type MakeRequirement = fn(String, BTreeSet<String>) -> Requirement;
const SET_OPERATORS: [(&str, MakeRequirement); 2] =
    [(" notin", Requirement::NotIn), (" in", Requirement::In)];

fn label_key(text: &str) -> Result<String, String> {
    let key = text.trim();
    match super::names::qualified_name(key) {
        None => Ok(key.to_owned()),
        Some(why) => Err(format!("invalid label key {key:?}: {why}")),
    }
}

fn label_value(value: &str) -> Result<String, String> {
    match super::names::label_value(value) {
        None => Ok(value.to_owned()),
        Some(why) => Err(format!("invalid label value {value:?}: {why}")),
    }
}

/// A field selector; all terms must hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<Term>);

#[derive(Debug, Clone)]
struct Term {
    /// The field as the user wrote it.
    field: String,
    equal: bool,
    value: String,
}

/// The terms of a selector of fields: commas part them, but for those behind a backslash.
fn parts(text: &str) -> Vec<&str> {
    let mut is_escaped = false;
    let is_comma = |c| {
        let parts = c == ',' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        parts
    };
    text.split(is_comma).collect()
}

/// The field, the value and whether they are to be equal: the operator that comes first counts.
fn term(part: &str) -> Option<(&str, &str, bool)> {
    let at = part.char_indices().find(|(at, c)| *c == '=' || part[*at..].starts_with("!="));
    let (field, rest) = part.split_at(at?.0);
    let value = |operator| Some((field, rest.strip_prefix(operator)?));
    let equal = || value("==").or_else(|| value("="));
    let (value, equal) = match value("!=") {
        Some((_, value)) => (value, false),
        None => (equal()?.1, true),
    };
    Some((field, value, equal))
}

/// A value without its backslashes, which stand before a backslash, a comma or an equals sign and nothing else.
fn unescaped(value: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => plain.push(c),
                Some(c) => {
                    return Err(format!("invalid field selector: invalid escape sequence: \\{c}"));
                }
                None => {
                    return Err(String::from(
                        "invalid field selector: invalid escape sequence: \\",
                    ));
                }
            },
            ',' | '=' => {
                return Err(format!("invalid field selector: unescaped character in value: {c}"));
            }
            c => plain.push(c),
        }
    }
    Ok(plain)
}

impl Fields {
    /// Parses `a=b,c!=d` and refuses fields that the resource does not offer.
    pub(crate) fn parse(text: &str, kind: &Kind, version: &Version) -> ApiResult<Self> {
        let mut terms = Vec::new();
        for part in parts(text).into_iter().filter(|part| !part.is_empty()) {
            let Some((field, value, equal)) = term(part) else {
                let message = format!("invalid selector: '{text}'; can't understand '{part}'");
                return Err(Refusal::bad_request(message));
            };
            let value = unescaped(value).map_err(Refusal::bad_request)?;
            // No field with no value asks for nothing, by either operator.
            if field.is_empty() && value.is_empty() {
                continue;
            }
            if !is_selectable(kind, version, field) {
                return Err(not_selectable(kind, field));
            }
            terms.push(Term { field: field.to_owned(), equal, value });
        }
        Ok(Self(terms))
    }

    /// Tells whether nothing is asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name that `metadata.name=x` asks for.
    pub(crate) fn name(&self) -> Option<&str> {
        let term = self.0.iter().find(|term| term.equal && term.field == "metadata.name")?;
        Some(&term.value)
    }

    /// Tells whether the fields of an object fit.
    pub(crate) fn matches(&self, value: &Value) -> bool {
        self.0.iter().all(|term| (field_text(value, &term.field) == term.value) == term.equal)
    }
}

fn field_text(value: &Value, field: &str) -> String {
    let field = match field {
        // Two names that the API keeps for one field.
        "source" => "source.component",
        "reportingComponent" => "reportingComponent",
        other => other,
    };
    let mut at = value;
    for step in field.split('.') {
        match at.get(step) {
            Some(next) => at = next,
            None => return default_text(field),
        }
    }
    match at {
        Value::String(text) => text.clone(),
        Value::Null => default_text(field),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => at.to_string(),
    }
}

fn default_text(field: &str) -> String {
    match field {
        "spec.unschedulable" | "spec.hostNetwork" => "false".to_owned(),
        "status.successful" | "status.replicas" => "0".to_owned(),
        _ => String::new(),
    }
}

/// The refusal, in the two forms that kube-apiserver has.
fn not_selectable(kind: &Kind, field: &str) -> Refusal {
    if kind.custom || own_fields(kind).is_empty() {
        let scope = if kind.namespaced { ", \"metadata.namespace\"" } else { "" };
        return Refusal::bad_request(format!(
            "{field:?} is not a known field selector: only \"metadata.name\"{scope}"
        ));
    }
    Refusal::bad_request(format!("field label not supported: {field}"))
}

fn is_selectable(kind: &Kind, version: &Version, field: &str) -> bool {
    if field == "metadata.name" || (field == "metadata.namespace" && kind.namespaced) {
        return true;
    }
    if kind.custom {
        return version.selectable_fields.iter().any(|path| path.trim_start_matches('.') == field);
    }
    own_fields(kind).contains(&field)
}

/// The fields of a built-in kind that can be selected by, besides name and namespace.
fn own_fields(kind: &Kind) -> &'static [&'static str] {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "namespaces") => &["status.phase"],
        ("", "secrets") => &["type"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("apps", "replicasets") | ("", "replicationcontrollers") => &["status.replicas"],
        ("batch", "jobs") => &["status.successful"],
        ("resource.k8s.io", "resourceslices") => &["spec.nodeName", "spec.driver"],
        _ => &[],
    }
}
