//! A wanted `PodGroup` against the stored one: what to write, if anything (`docs/grouping.md` 8).

use crate::object::POD_GROUP_API_VERSION;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value, json};

use crate::admission::{Denial, judge_group};
use crate::desired::{Desired, Min, Preemptibility, Subgroup, Topology};
use crate::object::{Object, OwnerRef};
use crate::settings::Settings;
use kai_api::duration::GoDuration;

/// A write that brings a `PodGroup` to what is wanted.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Nothing: it is as wanted.
    Nothing,
    /// Create this object.
    Create(Value),
    /// Apply this merge patch. It carries the stored object's UID and resourceVersion, so that it
    /// fails with a conflict when anybody wrote in between.
    Patch(Value),
}

impl Write {
    /// The length of what is sent.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Create(value) | Self::Patch(value) => value.to_string().len(),
        }
    }
}

/// The write that brings the stored `PodGroup` to what is wanted.
pub fn merge(desired: &Desired, stored: Option<&Object>, settings: &Settings) -> Write {
    match stored {
        None => Write::Create(create(desired)),
        Some(stored) => update(desired, stored, settings),
    }
}

/// A number for all that [`merge`] reads of what is wanted: where it is the same, so is the write.
///
/// Cost: in the sub-groups, and no memory.
pub(crate) fn digest(desired: &Desired) -> u64 {
    // Which pods belong where is for their own marks.
    let Desired {
        name,
        namespace,
        owner,
        labels,
        annotations,
        queue,
        priority_class,
        preemptibility,
        preemption_delay,
        staleness_grace,
        topology,
        min_member,
        min_subgroups,
        subgroups,
        notes: _,
        foreign: _,
    } = desired;
    let mut hasher = DefaultHasher::new();
    (name, namespace, owner, labels, annotations).hash(&mut hasher);
    (queue, priority_class, preemptibility, preemption_delay, staleness_grace).hash(&mut hasher);
    (topology, min_member, min_subgroups, subgroups.len()).hash(&mut hasher);
    for Subgroup { name, parent, min, topology, pods: _ } in subgroups {
        (name, parent, min, topology).hash(&mut hasher);
    }
    hasher.finish()
}

/// Judges a write as admission judges those of others: the API server does not ask about ours.
///
/// # Errors
/// The reason why it is not to be written.
pub(crate) fn judge(desired: &Desired, write: &Write) -> Result<(), Denial> {
    match write {
        Write::Create(group) => judge_group(group, false),
        // Minimums and sub-groups are all as they are wanted, whichever of them change.
        Write::Patch(patch) if patch["spec"].is_object() => {
            judge_group(&json!({"metadata": {"name": desired.name}, "spec": spec(desired)}), true)
        }
        Write::Patch(_) | Write::Nothing => Ok(()),
    }
}

fn create(desired: &Desired) -> Value {
    let mut spec = spec(desired);
    spec.retain(|_, value| !value.is_null());
    json!({
        "apiVersion": POD_GROUP_API_VERSION,
        "kind": "PodGroup",
        "metadata": {
            "name": desired.name,
            "namespace": desired.namespace,
            "labels": desired.labels,
            "annotations": desired.annotations,
            "ownerReferences": [owner(&desired.owner)],
        },
        "spec": spec,
    })
}

fn owner(owner: &OwnerRef) -> Value {
    json!({"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name,
        "uid": owner.uid})
}

/// The fields of the spec that this component owns; null where a field is to be absent.
fn spec(desired: &Desired) -> Map<String, Value> {
    let duration = |value: Option<GoDuration>| json!(value.map(|value| value.to_string()));
    let (members, subgroups) = match desired.min_subgroups {
        Some(subgroups) => (Value::Null, json!(subgroups)),
        None => (json!(desired.min_member), Value::Null),
    };
    let rows: Vec<Value> = desired.subgroups.iter().map(subgroup).collect();
    let fields = [
        ("queue", json!(desired.queue)),
        ("priorityClassName", json!(desired.priority_class)),
        ("preemptibility", json!(desired.preemptibility.map(Preemptibility::as_str))),
        ("preemptionDelay", duration(desired.preemption_delay)),
        ("stalenessGracePeriod", duration(desired.staleness_grace)),
        ("topologyConstraint", topology(&desired.topology)),
        ("minMember", members),
        ("minSubGroup", subgroups),
        ("subGroups", if rows.is_empty() { Value::Null } else { Value::Array(rows) }),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn topology(topology: &Topology) -> Value {
    let fields = [
        ("topology", &topology.name),
        ("requiredTopologyLevel", &topology.required),
        ("preferredTopologyLevel", &topology.preferred),
    ];
    let set = fields.into_iter().filter(|(_, text)| !text.is_empty());
    let table: Map<String, Value> = set.map(|(key, text)| (key.to_owned(), json!(text))).collect();
    if table.is_empty() { Value::Null } else { Value::Object(table) }
}

fn subgroup(subgroup: &Subgroup) -> Value {
    let mut row = Map::new();
    row.insert("name".to_owned(), json!(subgroup.name));
    if let Some(parent) = &subgroup.parent {
        row.insert("parent".to_owned(), json!(parent));
    }
    match subgroup.min {
        Min::Members(members) => row.insert("minMember".to_owned(), json!(members)),
        Min::Subgroups(subgroups) => row.insert("minSubGroup".to_owned(), json!(subgroups)),
    };
    if let Some(found) = subgroup.topology.as_ref().map(topology).filter(|value| !value.is_null()) {
        row.insert("topologyConstraint".to_owned(), found);
    }
    Value::Object(row)
}

fn update(desired: &Desired, stored: &Object, settings: &Settings) -> Write {
    let mut patch = Map::new();
    let spec = spec_patch(desired, stored);
    if !spec.is_empty() {
        patch.insert("spec".to_owned(), Value::Object(spec));
    }
    let mut meta = Map::new();
    let labels = desired.labels.iter().filter(|(key, value)| {
        let found = stored.label(key);
        // Both keys stay as they are once the PodGroup exists: the pool never comes later.
        let is_kept =
            **key == settings.node_pool_label || (**key == settings.queue_label && found.is_some());
        !is_kept && found != Some(value.as_str())
    });
    let labels: Map<String, Value> =
        labels.map(|(key, value)| (key.clone(), json!(value))).collect();
    let annotations =
        desired.annotations.iter().filter(|(key, value)| stored.annotation(key) != Some(value));
    let annotations: Map<String, Value> =
        annotations.map(|(key, value)| (key.clone(), json!(value))).collect();
    for (key, table) in [("labels", labels), ("annotations", annotations)] {
        if !table.is_empty() {
            meta.insert(key.to_owned(), Value::Object(table));
        }
    }
    if stored.owners() != [desired.owner.clone()] || has_flags(stored) {
        meta.insert("ownerReferences".to_owned(), json!([owner(&desired.owner)]));
    }
    if patch.is_empty() && meta.is_empty() {
        return Write::Nothing;
    }
    meta.insert("uid".to_owned(), json!(stored.uid()));
    meta.insert("resourceVersion".to_owned(), json!(stored.resource_version()));
    patch.insert("metadata".to_owned(), Value::Object(meta));
    Write::Patch(Value::Object(patch))
}

/// Tells whether an owner reference carries `controller` or `blockOwnerDeletion`, which ours do not.
fn has_flags(stored: &Object) -> bool {
    let owners = stored.value()["metadata"]["ownerReferences"].as_array();
    let is_set = |owner: &Value| owner["controller"] == true || owner["blockOwnerDeletion"] == true;
    owners.is_some_and(|owners| owners.iter().any(is_set))
}

fn spec_patch(desired: &Desired, stored: &Object) -> Map<String, Value> {
    let mut wanted = spec(desired);
    // The queue is the group's own once it exists, also an empty one.
    wanted.remove("queue");
    if desired.topology.name.is_empty() {
        wanted.remove("topologyConstraint");
    }
    // What pods were given as others may take it back is not promised to them later.
    let is_promise = desired.preemptibility == Some(Preemptibility::NonPreemptible);
    if is_promise && holds_places(stored) {
        wanted.remove("preemptibility");
    }
    let stored = &stored.value()["spec"];
    let mut patch = Map::new();
    for (key, value) in wanted {
        if !same(&key, &stored[&key], &value) {
            let value =
                if key == "topologyConstraint" { replace(&stored[&key], value) } else { value };
            patch.insert(key, value);
        }
    }
    patch
}

/// Tells whether no pod of a group holds a place any more since it was as `before`: what was not promised to them may be then.
pub(crate) fn lets_go(before: &Object, now: &Object) -> bool {
    holds_places(before) && !holds_places(now)
}

/// Tells whether pods of a group hold places, as its status says.
fn holds_places(stored: &Object) -> bool {
    let allocated = &stored.value()["status"]["resourcesStatus"]["allocated"];
    allocated.as_object().is_some_and(|amounts| !amounts.is_empty())
}

/// A merge patch that leaves nothing of the stored table behind.
fn replace(stored: &Value, wanted: Value) -> Value {
    let (Some(stored), Value::Object(mut table)) = (stored.as_object(), wanted.clone()) else {
        return wanted;
    };
    for key in stored.keys() {
        table.entry(key.clone()).or_insert(Value::Null);
    }
    Value::Object(table)
}

/// Equality of one field: absent, null and empty are the same, durations compare by length.
fn same(key: &str, stored: &Value, wanted: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(rows) => rows.is_empty(),
        Value::Object(table) => table.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    if is_empty(stored) && is_empty(wanted) {
        return true;
    }
    match (key, stored, wanted) {
        (
            "preemptionDelay" | "stalenessGracePeriod",
            Value::String(stored),
            Value::String(wanted),
        ) => stored.parse::<GoDuration>() == wanted.parse(),
        ("subGroups", Value::Array(stored), Value::Array(wanted)) => {
            let row = |(stored, wanted): (&Value, &Value)| same_subgroup(stored, wanted);
            stored.len() == wanted.len() && stored.iter().zip(wanted).all(row)
        }
        _ => stored == wanted,
    }
}

fn same_subgroup(stored: &Value, wanted: &Value) -> bool {
    const KEYS: [&str; 5] = ["name", "parent", "minMember", "minSubGroup", "topologyConstraint"];
    KEYS.iter().all(|key| same(key, &stored[key], &wanted[key]))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Write, digest, judge, merge};
    use crate::admission::Denial;
    use crate::desired::{Desired, Preemptibility, Subgroup, Topology};
    use crate::object::{Object, OwnerRef};
    use crate::settings::Settings;

    fn wanted() -> Desired {
        let text = str::to_owned;
        Desired {
            name: text("pg"),
            namespace: text("ns"),
            owner: OwnerRef { kind: text("Job"), name: text("j"), ..OwnerRef::default() },
            labels: [("kai.scheduler/queue", "new"), ("kai.scheduler/node-pool", "np"), ("a", "1")]
                .map(|(key, value)| (text(key), text(value)))
                .into(),
            annotations: [(text("b"), text("2"))].into(),
            queue: text("new"),
            priority_class: text("train"),
            preemptibility: None,
            preemption_delay: "90s".parse().ok(),
            staleness_grace: None,
            topology: Topology::default(),
            min_member: 2,
            min_subgroups: None,
            subgroups: vec![Subgroup::leaf("w", 2)],
            notes: Vec::new(),
            foreign: None,
        }
    }

    fn stored() -> Object {
        Object::new(json!({
            "metadata": {"name": "pg", "uid": "u", "resourceVersion": "7",
                "labels": {"kai.scheduler/queue": "old", "a": "1", "own": "kept"},
                "annotations": {"b": "2"},
                "ownerReferences": [{"apiVersion": "", "kind": "Job", "name": "j", "uid": ""}]},
            "spec": {"queue": "old", "priorityClassName": "train", "minMember": 2,
                "preemptionDelay": "1m30s", "markUnschedulable": false,
                "topologyConstraint": {"topology": "outside"},
                "subGroups": [{"name": "w", "minMember": 2}]},
        }))
    }

    /// Kept: queue and its label, topology from outside, no node pool after creation.
    #[test]
    fn what_is_the_clusters_own_is_kept_and_equal_needs_no_write() {
        assert_eq!(merge(&wanted(), Some(&stored()), &Settings::default()), Write::Nothing);
    }

    /// Two pods of a gang want the same of their group, and belong to other parts of it.
    #[test]
    fn whatever_is_written_changes_the_digest_and_nothing_else_does() {
        type Edit = fn(&mut Desired);
        let known = digest(&wanted());
        let edits: [(bool, Edit); 19] = [
            (false, |wanted| assert!(wanted.route("p", "w"))),
            (false, |wanted| wanted.notes.push(String::new())),
            (false, |wanted| wanted.foreign = Some(String::new())),
            (true, |wanted| wanted.name.clear()),
            (true, |wanted| wanted.namespace.clear()),
            (true, |wanted| wanted.owner.uid.push('u')),
            (true, |wanted| wanted.labels.clear()),
            (true, |wanted| wanted.annotations.clear()),
            (true, |wanted| wanted.queue.clear()),
            (true, |wanted| wanted.priority_class.clear()),
            (true, |wanted| wanted.preemptibility = Some(Preemptibility::Preemptible)),
            (true, |wanted| wanted.preemption_delay = None),
            (true, |wanted| wanted.staleness_grace = wanted.preemption_delay),
            (true, |wanted| wanted.topology.name.push('t')),
            (true, |wanted| wanted.min_member += 1),
            (true, |wanted| wanted.min_subgroups = Some(1)),
            (true, |wanted| wanted.subgroups.clear()),
            (true, |wanted| wanted.subgroups[0].parent = Some(String::new())),
            (true, |wanted| wanted.subgroups[0].topology = Some(Topology::default())),
        ];
        for (at, (is_other, edit)) in edits.into_iter().enumerate() {
            let mut wanted = wanted();
            edit(&mut wanted);
            assert_eq!(digest(&wanted) != known, is_other, "edit {at}");
        }
        let mut wanted = wanted();
        wanted.subgroups = vec![Subgroup::leaf("w", 3)];
        assert_ne!(digest(&wanted), known);
    }

    #[test]
    fn a_change_is_a_patch_of_that_change_with_guards() {
        let mut wanted = wanted();
        wanted.min_subgroups = Some(1);
        wanted.subgroups.clear();
        wanted.annotations.insert("c".to_owned(), "3".to_owned());
        let guards = json!({"uid": "u", "resourceVersion": "7", "annotations": {"c": "3"}});
        let spec = json!({"minMember": null, "minSubGroup": 1, "subGroups": null});
        assert_eq!(
            merge(&wanted, Some(&stored()), &Settings::default()),
            Write::Patch(json!({"metadata": guards, "spec": spec}))
        );
    }

    /// Of the cluster's own labels that of the queue comes later where it is missing.
    #[test]
    fn labels_follow_the_workload_but_for_those_of_the_cluster() {
        for (found, written) in [
            (json!({"kai.scheduler/queue": "old", "a": "1"}), Value::Null),
            (json!({"kai.scheduler/queue": "", "a": "1"}), Value::Null),
            (json!({"a": "1"}), json!({"kai.scheduler/queue": "new"})),
            (json!({"kai.scheduler/queue": "old", "a": "2"}), json!({"a": "1"})),
            (json!({"kai.scheduler/queue": "old"}), json!({"a": "1"})),
        ] {
            let mut value = stored().value().clone();
            value["metadata"]["labels"] = found.clone();
            let labels = match merge(&wanted(), Some(&Object::new(value)), &Settings::default()) {
                Write::Patch(patch) => patch["metadata"]["labels"].clone(),
                Write::Nothing | Write::Create(_) => Value::Null,
            };
            assert_eq!(labels, written, "{found}");
        }
    }

    /// The policy `kai-podgroups` refuses it to whoever may edit the workload.
    #[test]
    fn a_group_that_holds_places_is_not_promised_to_keep_them() {
        const KEPT: Preemptibility = Preemptibility::NonPreemptible;
        for (allocated, word, is_written) in [
            (json!({"cpu": "2"}), KEPT, false),
            (json!({"cpu": "2"}), Preemptibility::Preemptible, true),
            (json!({}), KEPT, true),
        ] {
            let mut value = stored().value().clone();
            value["status"] = json!({"resourcesStatus": {"allocated": allocated}});
            let wanted = Desired { preemptibility: Some(word), ..wanted() };
            let write = merge(&wanted, Some(&Object::new(value)), &Settings::default());
            let guards = json!({"uid": "u", "resourceVersion": "7"});
            let spec = json!({"preemptibility": word.as_str()});
            let patch = Write::Patch(json!({"metadata": guards, "spec": spec}));
            let want = if is_written { patch } else { Write::Nothing };
            assert_eq!(write, want, "{allocated} {word:?}");
        }
    }

    /// Names that a workload's author gave twice; a change of labels alone changes no sub-group.
    #[test]
    fn what_admission_would_refuse_is_not_written() {
        let twice = vec![Subgroup::leaf("w", 2), Subgroup::leaf("w", 1)];
        let wrong = Desired { subgroups: twice, ..wanted() };
        let mut labelled = wanted();
        labelled.labels.insert(String::from("c"), String::from("3"));
        for (wanted, is_refused) in [(wrong, true), (wanted(), false), (labelled, false)] {
            for stored in [None, Some(stored())] {
                let write = merge(&wanted, stored.as_ref(), &Settings::default());
                let judged = judge(&wanted, &write);
                let is_it = |why: &Denial| why.0.contains("duplicate subgroup name w");
                assert_eq!(judged.as_ref().is_err_and(is_it), is_refused, "{write:?}");
                assert_eq!(judged.is_err(), is_refused, "{write:?}");
            }
        }
    }

    #[test]
    fn a_foreign_owner_is_replaced() {
        let mut value = stored().value().clone();
        value["metadata"]["ownerReferences"][0]["name"] = json!("other");
        let write = merge(&wanted(), Some(&Object::new(value)), &Settings::default());
        let Write::Patch(patch) = write else { panic!("{write:?}") };
        assert_eq!(patch["metadata"]["ownerReferences"][0]["name"], "j");
    }

    /// With such a flag the workload could not be deleted before its group, or others would take it for the group's controller.
    #[test]
    fn flags_of_an_owner_go() {
        for flag in ["controller", "blockOwnerDeletion"] {
            let mut value = stored().value().clone();
            value["metadata"]["ownerReferences"][0][flag] = json!(true);
            let write = merge(&wanted(), Some(&Object::new(value)), &Settings::default());
            let Write::Patch(patch) = write else { panic!("{flag}: {write:?}") };
            let owner = json!({"apiVersion": "", "kind": "Job", "name": "j", "uid": ""});
            assert_eq!(patch["metadata"]["ownerReferences"], json!([owner]), "{flag}");
        }
    }

    #[test]
    fn a_level_that_is_no_longer_named_goes() {
        let mut wanted = wanted();
        wanted.topology.name = "net".to_owned();
        wanted.topology.required = "rack".to_owned();
        let mut value = stored().value().clone();
        value["spec"]["topologyConstraint"] =
            json!({"topology": "net", "preferredTopologyLevel": "host"});
        let write = merge(&wanted, Some(&Object::new(value)), &Settings::default());
        let Write::Patch(patch) = write else { panic!("{write:?}") };
        let levels = json!({"topology": "net", "requiredTopologyLevel": "rack",
            "preferredTopologyLevel": null});
        assert_eq!(patch["spec"]["topologyConstraint"], levels);
    }

    #[test]
    fn a_level_of_a_subgroup_follows_its_workload() {
        let mut wanted = wanted();
        wanted.subgroups[0].topology = Some(Topology {
            name: "net".to_owned(),
            required: "rack".to_owned(),
            ..Topology::default()
        });
        let write = merge(&wanted, Some(&stored()), &Settings::default());
        let Write::Patch(patch) = write else { panic!("{write:?}") };
        let level = json!({"topology": "net", "requiredTopologyLevel": "rack"});
        assert_eq!(patch["spec"]["subGroups"][0]["topologyConstraint"], level);
    }
}
