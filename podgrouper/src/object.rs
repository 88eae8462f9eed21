//! Untyped Kubernetes objects, read field by field with errors that name the field.

use std::fmt;

use serde_json::{Map, Value};

/// API version of `PodGroups`.
pub(crate) const POD_GROUP_API_VERSION: &str = "scheduling.run.ai/v2alpha2";

/// So much is shown of an API version and of a kind, and kept of an owner's texts.
const SHOWN_MAX: usize = 253;

/// The field of metadata that says that some of the labels and annotations were not kept. No object of the API has it.
pub(crate) const CUT: &str = "isCut";

/// Group, version and kind of an object; the group of core objects is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gvk {
    /// API group, empty for the core group.
    pub group: String,
    /// Version as the reference to the object wrote it.
    pub version: String,
    /// Kind in camel case.
    pub kind: String,
}

impl Gvk {
    /// Splits `group/version` (or a bare `version`) at its slash.
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    /// `group/version`, or the bare version of the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Tells whether objects of the kind are nodes.
    pub(crate) fn is_node(&self) -> bool {
        self.group.is_empty() && self.kind == "Node"
    }

    /// `Kind.group`, the form that the per-type defaults are looked up by; core kinds are bare.
    pub fn group_kind(&self) -> String {
        if self.group.is_empty() {
            self.kind.clone()
        } else {
            format!("{}.{}", self.kind, self.group)
        }
    }
}

impl fmt::Display for Gvk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Both may be what a user wrote: in a log they are no line of their own, and no longer than a name.
        let shown = |text: &str| -> String {
            text.chars().take(SHOWN_MAX).flat_map(char::escape_debug).collect()
        };
        write!(out, "{} {}", shown(&self.api_version()), shown(&self.kind))
    }
}

/// The four fields of an owner reference that identify the owner.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerRef {
    /// API version as the reference has it.
    pub api_version: String,
    /// Kind of the owner.
    pub kind: String,
    /// Name of the owner, in the namespace of the object that it owns.
    pub name: String,
    /// UID of the owner.
    pub uid: String,
}

impl OwnerRef {
    /// Reads one entry of `metadata.ownerReferences`; a missing field reads as empty. What is longer than any name reads as its
    /// beginning and a mark, by which nothing is found.
    pub fn from_value(value: &Value) -> Self {
        let text = |key: &str| {
            let text = value[key].as_str().unwrap_or_default();
            let end = text.floor_char_boundary(SHOWN_MAX);
            let mark = if end < text.len() { "…" } else { "" };
            format!("{}{mark}", &text[..end])
        };
        Self {
            api_version: text("apiVersion"),
            kind: text("kind"),
            name: text("name"),
            uid: text("uid"),
        }
    }

    /// Group, version and kind of the owner.
    pub fn gvk(&self) -> Gvk {
        Gvk::new(&self.api_version, &self.kind)
    }
}

/// A field that has another type than the rule needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field {path} is {found}, want {want}")]
pub struct FieldError {
    /// Path from the object's root, dots between segments.
    pub path: String,
    /// The type that the rule needs there.
    pub want: &'static str,
    /// The type that is there.
    pub found: &'static str,
}

/// An object as JSON. Whole, or only its metadata where only that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object {
    value: Value,
}

impl Object {
    /// Wraps the JSON of an object; whatever is missing reads as empty.
    pub fn new(value: Value) -> Self {
        Self { value }
    }

    /// The JSON, to be changed.
    pub(crate) fn into_value(self) -> Value {
        self.value
    }

    /// The JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Copies its kind and its metadata.
    pub(crate) fn head(&self) -> Self {
        let keys = ["apiVersion", "kind", "metadata"].into_iter();
        let table: Map<String, Value> =
            keys.map(|key| (key.to_owned(), self.value[key].clone())).collect();
        Self::new(Value::Object(table))
    }

    /// Group, version and kind.
    pub fn gvk(&self) -> Gvk {
        Gvk::new(
            self.value["apiVersion"].as_str().unwrap_or_default(),
            self.value["kind"].as_str().unwrap_or_default(),
        )
    }

    fn meta(&self, key: &str) -> &str {
        self.value["metadata"][key].as_str().unwrap_or_default()
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        self.meta("name")
    }

    /// `metadata.namespace`, empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        self.meta("namespace")
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        self.meta("uid")
    }

    /// `metadata.resourceVersion`.
    pub fn resource_version(&self) -> &str {
        self.meta("resourceVersion")
    }

    /// Tells whether the object is being deleted.
    pub fn is_terminating(&self) -> bool {
        !self.value["metadata"]["deletionTimestamp"].is_null()
    }

    /// A label's value.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.value["metadata"]["labels"][key].as_str()
    }

    /// An annotation's value.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.value["metadata"]["annotations"][key].as_str()
    }

    /// All labels.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        entries(&self.value["metadata"]["labels"])
    }

    /// All annotations.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        entries(&self.value["metadata"]["annotations"])
    }

    /// Owner references in the order of the object.
    pub fn owners(&self) -> Vec<OwnerRef> {
        self.value["metadata"]["ownerReferences"]
            .as_array()
            .map(|list| list.iter().map(OwnerRef::from_value).collect())
            .unwrap_or_default()
    }

    /// A reference to this object, as a `PodGroup`'s owner has it.
    pub fn reference(&self) -> OwnerRef {
        let gvk = self.gvk();
        OwnerRef {
            api_version: gvk.api_version(),
            kind: gvk.kind,
            name: self.name().to_owned(),
            uid: self.uid().to_owned(),
        }
    }

    /// Adds a label or annotation (`table` is `labels` or `annotations`) unless the key is there.
    pub fn add_missing(&mut self, table: &str, key: &str, text: &str) {
        let Value::Object(root) = &mut self.value else { return };
        let meta = root.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(meta) = meta else { return };
        let entries = meta.entry(table).or_insert_with(|| Value::Object(Map::new()));
        if entries.is_null() {
            *entries = Value::Object(Map::new());
        }
        if let Value::Object(entries) = entries {
            entries.entry(key).or_insert_with(|| Value::String(text.to_owned()));
        }
    }
}

fn entries(table: &Value) -> impl Iterator<Item = (&str, &str)> {
    table
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn wrong(path: &str, want: &'static str, value: &Value) -> FieldError {
    FieldError { path: path.to_owned(), want, found: type_of(value) }
}

/// The field at a dotted path; `null` and absent are both `None`.
pub(crate) fn field<'a>(value: &'a Value, path: &str) -> Result<Option<&'a Value>, FieldError> {
    let mut at = value;
    let mut end = 0;
    for segment in path.split('.') {
        match at {
            Value::Null => return Ok(None),
            Value::Object(table) => match table.get(segment) {
                Some(next) => at = next,
                None => return Ok(None),
            },
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(wrong(path[..end].trim_end_matches('.'), "an object", at));
            }
        }
        end += segment.len() + 1;
    }
    Ok((!at.is_null()).then_some(at))
}

/// The integer at a dotted path. Counts of the API have 32 bits, so that sums and products of a few
/// of them cannot overflow.
pub(crate) fn int(value: &Value, path: &str) -> Result<Option<i64>, FieldError> {
    let Some(found) = field(value, path)? else { return Ok(None) };
    let count = found.as_i64().filter(|count| i32::try_from(*count).is_ok());
    count.map(Some).ok_or_else(|| wrong(path, "an integer of 32 bits", found))
}

/// The string at a dotted path.
pub(crate) fn text<'a>(value: &'a Value, path: &str) -> Result<Option<&'a str>, FieldError> {
    let Some(found) = field(value, path)? else { return Ok(None) };
    found.as_str().map(Some).ok_or_else(|| wrong(path, "a string", found))
}

/// The boolean at a dotted path.
pub(crate) fn boolean(value: &Value, path: &str) -> Result<Option<bool>, FieldError> {
    let Some(found) = field(value, path)? else { return Ok(None) };
    found.as_bool().map(Some).ok_or_else(|| wrong(path, "a boolean", found))
}

/// The list at a dotted path; absent is empty.
pub(crate) fn list<'a>(value: &'a Value, path: &str) -> Result<&'a [Value], FieldError> {
    let Some(found) = field(value, path)? else { return Ok(&[]) };
    found.as_array().map(Vec::as_slice).ok_or_else(|| wrong(path, "a list", found))
}

/// The object at a dotted path.
pub(crate) fn table<'a>(
    value: &'a Value,
    path: &str,
) -> Result<Option<&'a Map<String, Value>>, FieldError> {
    let Some(found) = field(value, path)? else { return Ok(None) };
    found.as_object().map(Some).ok_or_else(|| wrong(path, "an object", found))
}

/// An annotation of a pod template or any other object with `metadata.annotations`.
pub(crate) fn annotation<'a>(template: &'a Value, key: &str) -> Option<&'a str> {
    template["metadata"]["annotations"][key].as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_of_another_type_is_named() {
        let spec = json!({"spec": {"replicas": "2", "groups": ["x"], "share": 2.0, "no": null}});
        let message = |error: FieldError| error.to_string();
        assert_eq!(
            int(&spec, "spec.replicas").map_err(message),
            Err("field spec.replicas is a string, want an integer of 32 bits".to_owned())
        );
        assert_eq!(
            int(&spec, "spec.share").map_err(message),
            Err("field spec.share is a fraction, want an integer of 32 bits".to_owned())
        );
        assert_eq!(
            int(&spec, "spec.groups.size").map_err(message),
            Err("field spec.groups is a list, want an object".to_owned())
        );
        assert_eq!(int(&spec, "spec.no.deep"), Ok(None));
        assert_eq!(int(&spec, "status.size"), Ok(None));
    }

    /// Names and UIDs of owners have no length in the API, and many pods may have a megabyte of them each.
    #[test]
    fn an_owner_of_a_long_name_is_kept_in_part_and_is_no_other() {
        let value = json!({"apiVersion": "batch/v1", "kind": "Job", "uid": "u",
            "name": "é".repeat(500_000)});
        let owner = OwnerRef::from_value(&value);
        assert_eq!(owner.name, format!("{}…", "é".repeat(126)));
        assert_eq!((&*owner.kind, &*owner.uid), ("Job", "u"));
    }

    #[test]
    fn a_kind_is_shown_in_one_line() {
        assert_eq!(Gvk::new("batch/v1", "Job").to_string(), "batch/v1 Job");
        let forged = Gvk::new("v1\n2026-01-01 ERROR", &"K".repeat(100_000)).to_string();
        assert!(forged.starts_with("v1\\n2026") && forged.len() < 600, "{forged}");
    }

    #[test]
    fn a_missing_label_is_added_and_a_present_one_kept() {
        let mut object = Object::new(json!({"metadata": {"labels": {"a": "1"}}}));
        object.add_missing("labels", "a", "2");
        object.add_missing("labels", "b", "3");
        object.add_missing("annotations", "c", "4");
        assert_eq!(object.labels().collect::<Vec<_>>(), [("a", "1"), ("b", "3")]);
        assert_eq!(object.annotation("c"), Some("4"));
    }
}
