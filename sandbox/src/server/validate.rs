//! Validation of metadata, and of the fields of the built-in kinds that must hold for the rest to make sense.

use serde_json::{Value, json};

use super::admission::registration;
use super::kinds::Kind;
use super::refusal::Cause;
use super::route::Target;
use super::{crd, names, object};

mod workload;

/// Annotations may hold this much, keys and values together.
const ANNOTATION_BYTES_MAX: u64 = 256 * 1024;

/// Lists what is wrong with a new object.
pub(crate) fn create(target: &Target, value: &Value) -> Vec<Cause> {
    let kind = &target.kind;
    let mut causes = metadata(kind, value);
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        causes.extend(crd::validate(value));
    }
    causes.extend(registration::validate(kind, value));
    causes.extend(workload::create(kind, value));
    causes
}

/// Lists what is wrong with a changed object.
pub(crate) fn update(target: &Target, old: &Value, new: &Value) -> Vec<Cause> {
    let kind = &target.kind;
    let mut causes = metadata(kind, new);
    if object::is_deleting(old) {
        let before = object::finalizers(old);
        let added: Vec<&str> =
            object::finalizers(new).into_iter().filter(|name| !before.contains(name)).collect();
        if !added.is_empty() {
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers {added:?}"
            );
            causes.push(Cause::forbidden("metadata.finalizers", &detail));
        }
    }
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        causes.extend(crd::validate(new));
    }
    if target.subresource.is_empty() {
        causes.extend(registration::validate(kind, new));
        causes.extend(workload::update(kind, old, new));
    }
    if target.subresource == "resize" {
        causes.extend(workload::resize(kind, old, new));
    }
    causes
}

fn metadata(kind: &Kind, value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = object::name(value);
    let wrong = match (kind.group.as_str(), kind.plural.as_str()) {
        ("rbac.authorization.k8s.io", _) => names::path_segment(name),
        ("", "namespaces") => names::dns1123_label(name),
        ("", "services") => names::dns1035_label(name),
        _ => names::dns1123_subdomain(name),
    };
    if let Some(why) = wrong {
        causes.push(Cause::invalid("metadata.name", &json!(name), &why));
    }
    for (key, label) in object::labels(value).into_iter().flatten() {
        if let Some(why) = names::qualified_name(key) {
            causes.push(Cause::invalid("metadata.labels", &json!(key), &why));
        }
        let Some(text) = label.as_str() else {
            causes.push(Cause::invalid(
                "metadata.labels",
                label,
                &format!("the value of {key:?} is not a string"),
            ));
            continue;
        };
        if let Some(why) = names::label_value(text) {
            causes.push(Cause::invalid("metadata.labels", label, &why));
        }
    }
    annotations(value, &mut causes);
    for finalizer in object::array(value, "/metadata/finalizers") {
        let name = finalizer.as_str().unwrap_or_default();
        let is_standard = ["kubernetes", "foregroundDeletion", "orphan"].contains(&name);
        let unqualified = (!kind.custom && !is_standard && !name.contains('/')).then(|| {
            String::from("name is neither a standard finalizer name nor is it fully qualified")
        });
        if let Some(why) = names::qualified_name(name).or(unqualified) {
            causes.push(Cause::invalid("metadata.finalizers", finalizer, &why));
        }
    }
    owners(value, &mut causes);
    causes
}

fn annotations(value: &Value, causes: &mut Vec<Cause>) {
    let found = value.pointer("/metadata/annotations").and_then(Value::as_object);
    let mut bytes = 0;
    for (key, annotation) in found.into_iter().flatten() {
        if let Some(why) = names::qualified_name(&key.to_lowercase()) {
            causes.push(Cause::invalid("metadata.annotations", &json!(key), &why));
        }
        if let Some(text) = annotation.as_str() {
            bytes += (key.len() + text.len()) as u64;
        } else {
            let detail = format!("the value of {key:?} is not a string");
            causes.push(Cause::invalid("metadata.annotations", annotation, &detail));
        }
    }
    if bytes > ANNOTATION_BYTES_MAX {
        causes.push(Cause::too_long("metadata.annotations", ANNOTATION_BYTES_MAX));
    }
}

fn owners(value: &Value, causes: &mut Vec<Cause>) {
    let mut controllers = Vec::new();
    for (index, owner) in object::owners(value).iter().enumerate() {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if object::text(owner, &format!("/{field}")).is_empty() {
                let at = format!("metadata.ownerReferences[{index}].{field}");
                causes.push(Cause::invalid(at, &json!(""), &format!("{field} must not be empty")));
            }
        }
        if owner.get("controller") == Some(&json!(true)) {
            controllers.push(object::text(owner, "/name"));
        }
    }
    if controllers.len() > 1 {
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {}",
            controllers.join(" and ")
        );
        let value = value.pointer("/metadata/ownerReferences").cloned().unwrap_or_default();
        causes.push(Cause::invalid("metadata.ownerReferences", &value, &detail));
    }
}
