//! The workload that a `PodGroup` is for.

use std::sync::Arc;

use kai_api::daily_record::OTHERS;
use serde::Deserialize;

use crate::object::{Gvk, Object};
use kai_api::names::{annotation, label};

/// The key of a workload. Whoever may write `PodGroup`s of one namespace says there which UID theirs are for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WorkId {
    pub(crate) namespace: Arc<str>,
    pub(crate) uid: Arc<str>,
}

/// So long can a UID and a name in the API be.
pub(super) const UID_BYTES_MAX: usize = 64;
pub(super) const NAME_BYTES_MAX: usize = 253;
/// So long is an identity at most, with four names, a UID and their keys.
const OWNER_BYTES_MAX: usize = 2 << 10;

/// The identity of a workload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Who {
    pub(crate) namespace: String,
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) user: Option<String>,
}

/// The annotation that says it.
#[derive(Deserialize)]
struct TopOwner {
    name: String,
    uid: String,
    #[serde(default)]
    group: String,
    version: String,
    kind: String,
}

impl TopOwner {
    /// Tells whether it can be an object of the API.
    fn is_possible(&self) -> bool {
        let names = [&self.name, &self.version, &self.kind];
        (1..=UID_BYTES_MAX).contains(&self.uid.len())
            && self.uid != OTHERS
            && names.iter().all(|name| is_name(name))
            && self.group.len() <= NAME_BYTES_MAX
    }
}

/// Reads the annotation. Whoever may write `PodGroup`s writes what he likes there: references of YAML to its own parts, which no
/// identity has, make a few lines a million.
fn top_owner(text: &str) -> Option<TopOwner> {
    if text.len() > OWNER_BYTES_MAX || text.contains(['&', '*']) {
        return None;
    }
    serde_saphyr::from_str::<TopOwner>(text).ok().filter(TopOwner::is_possible)
}

/// Tells whether a text is no longer than a name, and not empty.
fn is_name(text: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len())
}

impl Who {
    /// Reads whom a `PodGroup` is for; one that somebody made by hand is a workload by itself.
    pub(crate) fn of(group: &Object) -> Self {
        let text = group.annotation(annotation::TOP_OWNER);
        let user = group.label(label::USER).or_else(|| group.annotation(label::USER));
        let own = Self {
            namespace: group.namespace().to_owned(),
            api_version: crate::object::POD_GROUP_API_VERSION.to_owned(),
            kind: "PodGroup".to_owned(),
            name: group.name().to_owned(),
            uid: group.uid().to_owned(),
            user: user.filter(|user| is_name(user)).map(str::to_owned),
        };
        let Some(top) = text.and_then(top_owner) else { return own };
        let gvk = Gvk { group: top.group, version: top.version, kind: top.kind };
        Self { api_version: gvk.api_version(), kind: gvk.kind, name: top.name, uid: top.uid, ..own }
    }

    /// The key of the workload.
    pub(crate) fn id(&self) -> WorkId {
        WorkId { namespace: self.namespace.as_str().into(), uid: self.uid.as_str().into() }
    }

    /// `Kind/name`.
    pub(crate) fn label(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Who;
    use crate::object::Object;

    fn check(meta: &Value, label: &str, uid: &str, user: Option<&str>) {
        let who = Who::of(&Object::new(json!({"metadata": meta})));
        assert_eq!((who.label().as_str(), who.uid.as_str()), (label, uid));
        assert_eq!(who.user.as_deref(), user);
    }

    #[test]
    fn a_group_is_for_its_top_owner() {
        let owner = "name: \"1\"\nuid: w\ngroup: kubeflow.org\nversion: v1\nkind: PyTorchJob\n";
        let annotations = json!({"kai.scheduler/top-owner-metadata": owner, "user": "ana"});
        check(
            &json!({"name": "g", "uid": "g", "annotations": annotations}),
            "PyTorchJob/1",
            "w",
            Some("ana"),
        );
        check(
            &json!({"name": "g", "uid": "u", "labels": {"user": "bo"},
                "annotations": {"kai.scheduler/top-owner-metadata": "- broken"}}),
            "PodGroup/g",
            "u",
            Some("bo"),
        );
        // What is longer than the API allows is nobody's, and is not kept.
        let long = |uid: usize, name: usize| {
            let [uid, name] = [uid, name].map(|bytes| "x".repeat(bytes));
            let owner = format!("name: {name}\nuid: {uid}\nversion: v1\nkind: Job\n");
            let annotations =
                json!({"kai.scheduler/top-owner-metadata": owner, "user": "a".repeat(254)});
            json!({"name": "g", "uid": "u", "annotations": annotations})
        };
        check(&long(65, 1), "PodGroup/g", "u", None);
        check(&long(1, 254), "PodGroup/g", "u", None);
        check(&long(1, 1), "Job/x", "x", None);
        // Nor is that of the sum of others, nor what refers to itself, or has more than an identity has.
        let longer = format!("name: j\nuid: w\nversion: v1\nkind: Job\n# {}", "x".repeat(2_048));
        for owner in [
            "name: j\nuid: others\nversion: v1\nkind: Job\n",
            "name: &name j\nuid: *name\nversion: v1\nkind: Job\n",
            &longer,
        ] {
            let annotations = json!({"kai.scheduler/top-owner-metadata": owner});
            let meta = json!({"name": "g", "uid": "u", "annotations": annotations});
            check(&meta, "PodGroup/g", "u", None);
        }
    }
}
