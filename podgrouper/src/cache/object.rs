//! Objects as they are read, and names that may be none.

use kube::api::DynamicObject;
use serde_json::{Map, Value, json};

use crate::object::{CUT, Gvk, Object, OwnerRef};
use crate::pod::OWNERS_MAX;
use crate::slim::{Kept, OWNER_VALUES_MAX, Shape, Slim};
use crate::texts::bounded;

/// The metadata of an object of any kind, all but the bookkeeping of server-side apply.
#[derive(Debug, Clone, Copy)]
pub(super) struct MetadataShape;

impl Shape for MetadataShape {
    const KEPT: &'static Kept = &Kept::Fields(
        &[("metadata", Kept::Fields(&[("managedFields", Kept::Nothing)], &Kept::Whole))],
        &Kept::Nothing,
    );
    const VALUES_MAX: usize = OWNER_VALUES_MAX;
}

/// Fields of metadata that are kept as they are.
const KEPT: [&str; 7] = [
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
];
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

/// Gives an object that was read, with as much of its metadata as is kept of any.
pub(super) fn kept<S>(gvk: &Gvk, found: Slim<S>) -> Object {
    let mut value = found.into_object(gvk).into_value();
    value["metadata"] = slim(&value["metadata"]);
    Object::new(value)
}

/// The metadata that is kept of an owner, for as long as it exists: what rules read, within the bounds of pods. What is in no
/// namespace is no tenant's, and is kept whole.
fn slim(metadata: &Value) -> Value {
    if metadata["namespace"].is_null() {
        return metadata.clone();
    }
    let mut kept = Map::new();
    for key in KEPT {
        if let Some(value) = metadata.get(key) {
            kept.insert(key.to_owned(), value.clone());
        }
    }
    for key in ["labels", "annotations"] {
        let Some(table) = metadata[key].as_object() else { continue };
        let pairs = table.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
        let texts = bounded(pairs).into_iter();
        let texts: Map<String, Value> =
            texts.map(|(key, text)| (key.to_owned(), json!(text))).collect();
        if texts.len() < table.len() {
            kept.insert(CUT.to_owned(), json!(true));
        }
        kept.insert(key.to_owned(), Value::Object(texts));
    }
    if let Some(owners) = metadata["ownerReferences"].as_array() {
        let owners = owners.iter().take(OWNERS_MAX).map(|owner| {
            let OwnerRef { api_version, kind, name, uid } = OwnerRef::from_value(owner);
            json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid})
        });
        kept.insert("ownerReferences".to_owned(), owners.collect());
    }
    Value::Object(kept)
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

    use super::{MetadataShape, digest, is_segment, kept, slim};
    use crate::object::{Gvk, Object};
    use crate::slim::{AnyShape, Shape, Slim};

    /// Objects of some kinds hold anything, and their bookkeeping is nested as deep as they are. An object of which nothing can
    /// be read breaks the watch of its kind for all namespaces.
    #[test]
    fn metadata_is_read_however_deep_the_bookkeeping_is() {
        fn check<S: Shape>(deep: &str) {
            let text = format!(
                r#"{{"metadata": {{"name": "w", "namespace": "n", "resourceVersion": "7",
                    "managedFields": [{{"fieldsV1": {deep}}}]}}, "spec": {{"a": 1}}}}"#
            );
            let found: Slim<S> = serde_json::from_str(&text).expect("it can be read");
            let object = kept(&Gvk::new("argoproj.io/v1alpha1", "Workflow"), found);
            assert_eq!((object.name(), object.resource_version()), ("w", "7"));
            assert!(object.value()["metadata"]["managedFields"].is_null());
        }
        let deep = format!("{}{{}}{}", "{\"f:a\":".repeat(500), "}".repeat(500));
        check::<MetadataShape>(&deep);
        check::<AnyShape>(&deep);
    }

    /// An owner's metadata is kept for as long as it exists, and a user may have a thousand with 250 KB each.
    #[test]
    fn of_large_metadata_what_rules_read_is_kept() {
        let many: serde_json::Map<String, serde_json::Value> =
            (0..2_500).map(|number| (format!("a-{number}"), json!("x".repeat(90)))).collect();
        let mut annotations = many.clone();
        annotations.insert("kai.scheduler/topology".to_owned(), json!("t"));
        let owner = |number: usize| json!({"apiVersion": "v1", "kind": "K", "name": "n".repeat(9_000), "uid": number});
        let owners: Vec<_> = (0..90).map(owner).collect();
        let kept = slim(
            &json!({"name": "j", "namespace": "n", "labels": many, "annotations": annotations,
            "ownerReferences": owners, "finalizers": ["f".repeat(100_000)]}),
        );
        assert!(kept.to_string().len() < 50_000, "{}", kept.to_string().len());
        assert_eq!(kept["annotations"]["kai.scheduler/topology"], "t");
        assert_eq!(kept["isCut"], true);
        for whole in [
            json!({"name": "j", "namespace": "n", "labels": {"a": "b"}, "uid": "u"}),
            json!({"name": "node", "labels": many}),
        ] {
            assert_eq!(slim(&whole), whole);
        }
    }

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
