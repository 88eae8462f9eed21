//! The marks of a grouped pod: its `PodGroup` and its subgroup (`docs/grouping.md` 9).

use serde_json::{Value, json};

use crate::desired::Desired;
use crate::pod::Pod;
use crate::settings::Settings;
use kai_api::names;

/// The merge patch that marks a pod as wanted; `None` when it is marked so already.
///
/// The patch carries the pod's UID, so that it cannot hit a pod of the same name that came later.
///
/// A pod that has a node stays in the group that it has.
pub fn mark(pod: &Pod, desired: &Desired, settings: &Settings) -> Option<Value> {
    if stays_in_another(pod, desired) {
        return None;
    }
    let subgroup = desired.subgroup_of(&pod.namespace, &pod.name).unwrap_or_default();
    let label = pod.label(names::label::SUBGROUP).unwrap_or_default();
    let has_group = pod.annotation(names::annotation::POD_GROUP) == Some(desired.name.as_str());
    let is_stale = subgroup.is_empty() && !label.is_empty();
    if has_group && (label == subgroup || (is_stale && settings.is_kai_v017())) {
        return None;
    }
    let mut patch = json!({"metadata": {"uid": pod.uid}});
    if !has_group {
        patch["metadata"]["annotations"] = json!({names::annotation::POD_GROUP: desired.name});
    }
    if !subgroup.is_empty() && label != subgroup {
        patch["metadata"]["labels"] = json!({names::label::SUBGROUP: subgroup});
    } else if is_stale && !settings.is_kai_v017() {
        patch["metadata"]["labels"] = json!({names::label::SUBGROUP: null});
    }
    Some(patch)
}

/// Tells whether a pod has a node, and another group than the one that is wanted: what it holds is on the account of the group
/// in which it got its node, whichever owners and labels its user gives it later.
pub(crate) fn stays_in_another(pod: &Pod, desired: &Desired) -> bool {
    let group = pod.annotation(names::annotation::POD_GROUP).unwrap_or_default();
    let has_place = !pod.node.is_empty() && !group.is_empty();
    has_place && group != desired.name
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::mark;
    use crate::desired::{Desired, Subgroup};
    use crate::facts::Facts;
    use crate::group::{Case, group};
    use crate::pod::Pod;
    use crate::settings::{Compat, Settings};

    fn desired(pod: &Pod, settings: &Settings) -> Desired {
        let (top, facts) = (pod.to_object(), Facts::default());
        let case = Case {
            pod,
            top: &top,
            owners: &[],
            table: crate::kinds::TABLE,
            settings,
            facts: &facts,
        };
        group(&case).expect("a bare pod needs no fact")
    }

    fn check(compat: Compat, subgroup: Option<&str>, labels: &Value, want: Option<Value>) {
        let settings = Settings { compat, ..Settings::default() };
        let pod = Pod::from_value(&json!({"metadata": {"name": "p", "namespace": "ns", "uid": "u",
            "labels": labels, "annotations": {"pod-group-name": "pg-p-u"}}}));
        let mut desired = desired(&pod, &settings);
        if let Some(name) = subgroup {
            desired.subgroups.push(Subgroup::leaf(name, 1));
            desired.route("p", name);
        }
        let labels = |value| json!({"metadata": {"uid": "u", "labels": value}});
        assert_eq!(mark(&pod, &desired, &settings), want.map(labels));
    }

    #[test]
    fn only_what_differs_is_patched_and_a_stale_subgroup_goes() {
        const KEY: &str = "kai.scheduler/subgroup-name";
        check(Compat::Off, None, &json!({}), None);
        check(Compat::Off, Some("w"), &json!({KEY: "w"}), None);
        check(Compat::Off, Some("w"), &json!({KEY: "x"}), Some(json!({KEY: "w"})));
        check(Compat::Off, None, &json!({KEY: "x"}), Some(json!({KEY: null})));
        check(Compat::KaiV017, None, &json!({KEY: "x"}), None);
    }

    #[test]
    fn a_pod_with_a_node_stays_in_the_group_that_it_has() {
        const KEY: &str = "pod-group-name";
        for (node, annotations, is_marked) in [
            ("n", json!({KEY: "pg-other"}), false),
            ("", json!({KEY: "pg-other"}), true),
            ("n", json!({}), true),
        ] {
            for compat in [Compat::Off, Compat::KaiV017] {
                let settings = Settings { compat, ..Settings::default() };
                let metadata = json!({"name": "p", "namespace": "ns", "uid": "u",
                    "annotations": annotations});
                let pod = json!({"metadata": metadata, "spec": {"nodeName": node}});
                let pod = Pod::from_value(&pod);
                let patch = mark(&pod, &desired(&pod, &settings), &settings);
                let group = patch.map(|patch| patch["metadata"]["annotations"][KEY].clone());
                let want = is_marked.then(|| json!("pg-p-u"));
                assert_eq!(group, want, "{node:?} {annotations} {compat:?}");
            }
        }
    }
}
