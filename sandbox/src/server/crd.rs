//! `CustomResourceDefinitions`: from the object to a served resource.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kinds::{Kind, Scale, Version};
use super::object;
use super::refusal::Cause;
use super::schema::Compiled;
use super::state::State;
use super::store::TableId;

/// The finalizer of a definition that is being deleted while its objects are still there.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Tells whether a table holds the `CustomResourceDefinitions`.
pub(crate) fn is_table(table: &TableId) -> bool {
    &*table.group == "apiextensions.k8s.io" && &*table.plural == "customresourcedefinitions"
}

/// Fills in names and the status that a real cluster's controllers would write.
pub(crate) fn prepare(value: &mut Value, now: &str) {
    let kind = object::text(value, "/spec/names/kind").to_owned();
    let spec = object::child_mut(value, "spec");
    spec.entry("conversion").or_insert_with(|| json!({ "strategy": "None" }));
    if let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) {
        names.entry("singular").or_insert_with(|| json!(kind.to_lowercase()));
        names.entry("listKind").or_insert_with(|| json!(format!("{kind}List")));
    }
    let names = spec.get("names").cloned().unwrap_or_default();
    let storage = object::array(value, "/spec/versions")
        .iter()
        .find(|version| version.get("storage") == Some(&json!(true)))
        .map(|version| object::text(version, "/name").to_owned());
    let old = value.pointer("/status/conditions").cloned();
    let conditions = old.unwrap_or_else(|| {
        json!([
            {
                "type": "NamesAccepted", "status": "True", "lastTransitionTime": now,
                "reason": "NoConflicts", "message": "no conflicts found",
            },
            {
                "type": "Established", "status": "True", "lastTransitionTime": now,
                "reason": "InitialNamesAccepted", "message": "the initial names have been accepted",
            },
        ])
    });
    if let Some(fields) = value.as_object_mut() {
        let status = json!({ "conditions": conditions, "acceptedNames": names, "storedVersions": [storage] });
        fields.insert("status".to_owned(), status);
    }
}

/// Lists what is wrong with a definition.
pub(crate) fn validate(value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (group, plural) =
        (object::text(value, "/spec/group"), object::text(value, "/spec/names/plural"));
    let expected = format!("{plural}.{group}");
    if object::name(value) != expected {
        let detail = format!("must be spec.names.plural+\".\"+spec.group: {expected:?}");
        causes.push(Cause::invalid("metadata.name", &json!(object::name(value)), &detail));
    }
    for field in ["group", "names/plural", "names/kind", "scope"] {
        if object::text(value, &format!("/spec/{field}")).is_empty() {
            causes.push(Cause::required(format!("spec.{}", field.replace('/', ".")), ""));
        }
    }
    let scope = object::text(value, "/spec/scope");
    if !matches!(scope, "" | "Namespaced" | "Cluster") {
        causes.push(Cause::unsupported("spec.scope", &json!(scope), &["Cluster", "Namespaced"]));
    }
    if object::text(value, "/spec/conversion/strategy") == "Webhook" {
        let detail = "conversion webhooks are not implemented by the kai sandbox API server";
        causes.push(Cause::forbidden("spec.conversion.strategy", detail));
    }
    let versions = object::array(value, "/spec/versions");
    let storage =
        versions.iter().filter(|version| version.get("storage") == Some(&json!(true))).count();
    if storage != 1 {
        let detail = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &json!(storage), detail));
    }
    for (index, version) in versions.iter().enumerate() {
        let at = format!("spec.versions[{index}].schema.openAPIV3Schema");
        match version.pointer("/schema/openAPIV3Schema") {
            None => causes.push(Cause::required(at, "schemas are required")),
            Some(schema) => {
                if let Err(mut cause) = Compiled::new(schema) {
                    cause.field = format!("{at}.{}", cause.field);
                    causes.push(cause);
                }
            }
        }
    }
    causes
}

/// Serves the resource of a stored definition.
pub(crate) fn serve(state: &mut State, value: &Value) {
    let kind = kind(value);
    state.store.add_table(kind.table.clone());
    state.kinds.insert(kind);
}

/// Stops serving the resource of a removed definition. Its objects are gone before.
pub(crate) fn withdraw(state: &mut State, value: &Value) {
    let (group, plural) =
        (object::text(value, "/spec/group"), object::text(value, "/spec/names/plural"));
    state.kinds.remove(group, plural);
    state.store.drop_table(&TableId::new(group, plural));
}

fn kind(value: &Value) -> Kind {
    let text = |pointer: &str| object::text(value, pointer).to_owned();
    let list = |pointer: &str| {
        let items = object::array(value, pointer).iter().filter_map(Value::as_str);
        items.map(str::to_owned).collect::<Vec<_>>()
    };
    let all = object::array(value, "/spec/versions");
    let storage = all.iter().find(|version| version.get("storage") == Some(&json!(true)));
    let mut versions: Vec<Version> = all
        .iter()
        .filter(|version| version.get("served") == Some(&json!(true)))
        .map(version)
        .collect();
    versions.sort_by_key(|version| priority(&version.name));
    let (group, plural) = (text("/spec/group"), text("/spec/names/plural"));
    Kind {
        table: TableId::new(&group, &plural),
        singular: text("/spec/names/singular"),
        kind: text("/spec/names/kind"),
        list_kind: text("/spec/names/listKind"),
        short_names: list("/spec/names/shortNames"),
        categories: list("/spec/names/categories"),
        namespaced: text("/spec/scope") == "Namespaced",
        generation: true,
        stored: true,
        versions,
        storage_version: storage
            .map(|version| object::text(version, "/name").to_owned())
            .unwrap_or_default(),
        custom: true,
        group,
        plural,
    }
}

fn version(value: &Value) -> Version {
    let subresources = value.get("subresources");
    let scale = subresources.and_then(|found| found.get("scale")).map(|scale| {
        let pointer = |key: &str| object::text(scale, key).replace('.', "/");
        let selector = pointer("/labelSelectorPath");
        Scale {
            spec_replicas: pointer("/specReplicasPath"),
            status_replicas: pointer("/statusReplicasPath"),
            selector: (!selector.is_empty()).then_some(selector),
        }
    });
    let schema =
        value.pointer("/schema/openAPIV3Schema").and_then(|schema| Compiled::new(schema).ok());
    let deprecated = value.get("deprecated") == Some(&json!(true));
    let warning = object::text(value, "/deprecationWarning");
    Version {
        name: object::text(value, "/name").to_owned(),
        status: subresources
            .is_some_and(|found| found.get("status").is_some_and(|status| !status.is_null())),
        scale,
        schema: schema.map(Arc::new),
        columns: object::array(value, "/additionalPrinterColumns").to_vec(),
        selectable_fields: object::array(value, "/selectableFields")
            .iter()
            .map(|field| object::text(field, "/jsonPath").to_owned())
            .collect(),
        warning: deprecated.then(|| {
            let name = object::text(value, "/name");
            if warning.is_empty() {
                format!("version {name} is deprecated")
            } else {
                warning.to_owned()
            }
        }),
    }
}

/// Sorts versions as Kubernetes does: stable before beta before alpha, higher numbers first, other names last.
pub(crate) fn priority(name: &str) -> (u8, std::cmp::Reverse<u64>, std::cmp::Reverse<u64>, String) {
    let parsed = (|| {
        let rest = name.strip_prefix('v')?;
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let major: u64 = rest[..digits].parse().ok()?;
        let tail = &rest[digits..];
        let (stage, minor) = match tail {
            "" => (0, 0),
            _ if tail.starts_with("beta") => (1, tail[4..].parse().ok()?),
            _ if tail.starts_with("alpha") => (2, tail[5..].parse().ok()?),
            _ => return None,
        };
        Some((stage, major, minor))
    })();
    match parsed {
        Some((stage, major, minor)) => {
            (stage, std::cmp::Reverse(major), std::cmp::Reverse(minor), name.to_owned())
        }
        None => (3, std::cmp::Reverse(0), std::cmp::Reverse(0), name.to_owned()),
    }
}
