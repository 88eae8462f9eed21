//! Objects as they are read, and names that may be none.

use kube::api::{DynamicObject, PartialObjectMeta};
use serde_json::{Value, json};

use crate::object::{Gvk, Object};

/// The longest name of an object.
const SEGMENT_BYTES_MAX: usize = 253;

/// Tells whether a text can be a segment of a path, as every name of the API is. What a user wrote into an owner reference
/// may be anything else: a path of its own, or parameters.
pub(super) fn is_segment(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"/%?#".contains(&byte);
    !matches!(text, "" | "." | "..")
        && text.len() <= SEGMENT_BYTES_MAX
        && text.bytes().all(is_plain)
}

/// Picks of an object's metadata what a rule can tell from another version of it.
pub(super) fn digest(object: &Object) -> [&Value; 6] {
    let meta = &object.value()["metadata"];
    ["uid", "generation", "labels", "annotations", "ownerReferences", "deletionTimestamp"]
        .map(|key| &meta[key])
}

/// Gives an object of which only the metadata was read.
pub(super) fn metadata_object(gvk: &Gvk, found: &PartialObjectMeta<DynamicObject>) -> Object {
    let mut metadata = found.metadata.clone();
    metadata.managed_fields = None;
    Object::new(json!({
        "apiVersion": gvk.api_version(), "kind": gvk.kind, "metadata": metadata,
    }))
}

/// An object as JSON, without the bookkeeping of server-side apply.
pub(crate) fn to_object(gvk: &Gvk, mut found: DynamicObject) -> Object {
    found.metadata.managed_fields = None;
    let Value::Object(mut table) = found.data else { return Object::default() };
    table.insert("apiVersion".to_owned(), json!(gvk.api_version()));
    table.insert("kind".to_owned(), json!(gvk.kind));
    table.insert("metadata".to_owned(), json!(found.metadata));
    Object::new(Value::Object(table))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{digest, is_segment};
    use crate::object::Object;

    /// Rules read queue, priority class and node pool from labels.
    #[test]
    fn another_label_or_annotation_makes_another_version() {
        let stored = json!({"metadata": {"uid": "u", "labels": {"priorityClassName": "train"},
            "annotations": {"a": "1"}, "resourceVersion": "1"}});
        let is_same = |path: &str, value: &str| {
            let mut other = stored.clone();
            *other.pointer_mut(path).expect("it is there") = json!(value);
            digest(&Object::new(stored.clone())) == digest(&Object::new(other))
        };
        assert!(!is_same("/metadata/labels/priorityClassName", "build"));
        assert!(!is_same("/metadata/annotations/a", "2"));
        assert!(is_same("/metadata/resourceVersion", "2"));
    }

    #[test]
    fn a_path_is_no_name() {
        for name in ["job-1", "system:node", "a.b", "v1beta1", "resource.k8s.io"] {
            assert!(is_segment(name), "{name}");
        }
        let long = "a".repeat(254);
        for text in
            ["", ".", "..", "a/pods", "a?watch=1", "a%2fb", "a#b", "a b", "a\n", "ä", &*long]
        {
            assert!(!is_segment(text), "{text:?}");
        }
    }
}
