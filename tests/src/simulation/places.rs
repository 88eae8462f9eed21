//! Promises about the node of a pod when it is bound: it takes pods, its taints are tolerated, its labels are wanted (S11).

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{
    Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint, Toleration,
};
use kai_api::names::SCHEDULER_NAME;
use kube::ResourceExt;
use tokio::time::Instant;

use super::{
    recent::Moment,
    shown::{Life, Shown},
};

/// All nodes, by name, and the pods that were seen on them.
#[derive(Debug, Default)]
pub(super) struct Places {
    nodes: BTreeMap<String, Row>,
    /// UIDs of pods that have their nodes.
    bound: BTreeSet<String>,
}

/// A node.
#[derive(Debug, Default)]
struct Row {
    labels: BTreeMap<String, String>,
    /// Reasons that keep pods away, each since when.
    bars: BTreeMap<Bar, Instant>,
}

/// A reason why a node takes no pod, or only some.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bar {
    Cordoned,
    NotReady,
    Gone,
    Taint { key: String, value: String, effect: String },
}

impl Places {
    /// Takes a node in.
    pub(super) fn node(&mut self, node: &Node, now: Instant) {
        let row = self.nodes.entry(node.name_any()).or_default();
        row.labels.clone_from(node.labels());
        let bars = bars(node).into_iter().map(|bar| {
            let since = row.bars.get(&bar).copied().unwrap_or(now);
            (bar, since)
        });
        row.bars = bars.collect();
    }

    /// Notes that a node is gone.
    pub(super) fn node_gone(&mut self, name: &str, now: Instant) {
        if let Some(row) = self.nodes.get_mut(name) {
            row.bars.entry(Bar::Gone).or_insert(now);
        }
    }

    /// Takes a pod in; says what is wrong with its node where it has it since just now. What a node became of late its
    /// scheduler may not have heard yet.
    pub(super) fn pod(&mut self, shown: &Shown<'_>, at: Moment) -> Option<String> {
        if shown.life == Life::Gone {
            self.bound.remove(&shown.uid);
            return None;
        }
        // Reservation pods are made with their node.
        let scheduler = shown.pod.spec.as_ref().and_then(|spec| spec.scheduler_name.as_deref());
        let is_ours = scheduler == Some(SCHEDULER_NAME) && !shown.is_reservation;
        let node = shown.node.filter(|_| is_ours)?;
        if !self.bound.insert(shown.uid.clone()) {
            return None;
        }
        let row = self.nodes.get(node)?;
        let name = &shown.name;
        let mut bars = row.bars.iter().filter(|(_, since)| **since < at.since);
        if let Some((bar, _)) = bars.find(|(bar, _)| !is_borne(bar, shown.pod)) {
            return Some(format!("{name} is bound to {node}, which is no place for it: {bar:?}"));
        }
        let is_wanted = is_wanted(node, &row.labels, shown.pod);
        (!is_wanted)
            .then(|| format!("{name} is bound to {node}, which its affinity does not select"))
    }
}

/// Reads the reasons that keep pods away from a node.
fn bars(node: &Node) -> Vec<Bar> {
    let spec = node.spec.clone().unwrap_or_default();
    let mut bars = Vec::new();
    if spec.unschedulable == Some(true) {
        bars.push(Bar::Cordoned);
    }
    let mut conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    if conditions.any(|one| one.type_ == "Ready" && one.status != "True") {
        bars.push(Bar::NotReady);
    }
    let keeps_away = |taint: &Taint| matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute");
    let taints = spec.taints.into_iter().flatten().filter(keeps_away);
    bars.extend(taints.map(|taint| Bar::Taint {
        key: taint.key,
        value: taint.value.unwrap_or_default(),
        effect: taint.effect,
    }));
    bars
}

/// Tells whether a pod goes where something keeps others away.
fn is_borne(bar: &Bar, pod: &Pod) -> bool {
    let Bar::Taint { key, value, effect } = bar else { return false };
    let mut tolerations = pod.spec.iter().flat_map(|spec| spec.tolerations.iter().flatten());
    let is_any = |wanted: Option<&String>| wanted.is_none_or(String::is_empty);
    let bears = |one: &Toleration| {
        let is_key = one.key.as_ref() == Some(key) || is_any(one.key.as_ref());
        let is_effect = one.effect.as_ref() == Some(effect) || is_any(one.effect.as_ref());
        let is_value = match one.operator.as_deref() {
            Some("Exists") => true,
            _ => one.key.is_some() && one.value.as_deref().unwrap_or_default() == value,
        };
        is_key && is_effect && is_value
    };
    tolerations.any(bears)
}

/// Tells whether what a pod requires of nodes is so of a node.
fn is_wanted(node: &str, labels: &BTreeMap<String, String>, pod: &Pod) -> bool {
    let affinity =
        pod.spec.as_ref().and_then(|spec| spec.affinity.as_ref()?.node_affinity.as_ref());
    let required =
        affinity.and_then(|node| node.required_during_scheduling_ignored_during_execution.as_ref());
    let Some(required) = required else { return true };
    let is_met = |one: &NodeSelectorRequirement| {
        let values = one.values.as_deref().unwrap_or_default();
        let value = labels.get(&one.key);
        match one.operator.as_str() {
            "In" => value.is_some_and(|value| values.contains(value)),
            "NotIn" => value.is_none_or(|value| !values.contains(value)),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            // Numbers are compared by nobody here.
            _ => true,
        }
    };
    let is_named = |one: &NodeSelectorRequirement| {
        let has_name = one.values.iter().flatten().any(|name| name == node);
        has_name == (one.operator == "In")
    };
    let is_term_met = |term: &NodeSelectorTerm| {
        let mut labels = term.match_expressions.iter().flatten();
        let mut fields = term.match_fields.iter().flatten();
        labels.all(is_met) && fields.all(is_named)
    };
    required.node_selector_terms.iter().any(is_term_met)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kai_sandbox::server::Change;
    use serde_json::{Value, json};

    use super::*;

    /// Shows a node with a spec and a readiness, and 90 s later a pod with a spec on it, where all was heard of that was so
    /// `heard` seconds before.
    fn found(node: &Value, ready: &str, pod: &Value, heard: u64) -> Option<String> {
        let start = Instant::now();
        let now = start + Duration::from_secs(90);
        let node = json!({
            "metadata": {"name": "n", "labels": {"zone": "z1"}}, "spec": node,
            "status": {"conditions": [{"type": "Ready", "status": ready}]},
        });
        let node: Node = serde_json::from_value(node).expect("it is a node");
        let mut places = Places::default();
        places.node(&node, start);
        places.node(&node, now);
        let mut spec = json!({"nodeName": "n", "schedulerName": "kai-scheduler", "containers": []});
        for (key, value) in pod.as_object().into_iter().flatten() {
            spec[key] = value.clone();
        }
        let pod = json!({"metadata": {"name": "p", "uid": "p"}, "spec": spec});
        let pod: Pod = serde_json::from_value(pod).expect("it is a pod");
        let since = now.checked_sub(Duration::from_secs(heard)).unwrap_or(now);
        let at = Moment { now, since, calm: None };
        places.pod(&Shown::of(&pod, Change::Modified), at)
    }

    fn check(node: &Value, ready: &str, pod: &Value, expect: &str) {
        let found = found(node, ready, pod, 60);
        assert_eq!(found.unwrap_or_default(), expect, "{node} {ready} {pod}");
    }

    #[test]
    fn a_pod_goes_where_nothing_keeps_it_away() {
        let none = json!({});
        check(&none, "True", &none, "");
        let cordoned = "p is bound to n, which is no place for it: Cordoned";
        check(&json!({"unschedulable": true}), "True", &none, cordoned);
        let not_ready = "p is bound to n, which is no place for it: NotReady";
        check(&none, "Unknown", &none, not_ready);
        assert_eq!(found(&none, "Unknown", &none, 100), None, "it was ready lately");
    }

    #[test]
    fn a_pod_goes_where_it_tolerates_all_taints() {
        let taint =
            |effect: &str| json!({"taints": [{"key": "k", "value": "v", "effect": effect}]});
        let bears = |toleration: Value| json!({"tolerations": [toleration]});
        let wrong = |effect: &str| {
            format!(
                "p is bound to n, which is no place for it: \
                 Taint {{ key: \"k\", value: \"v\", effect: \"{effect}\" }}"
            )
        };
        check(&taint("PreferNoSchedule"), "True", &json!({}), "");
        check(&taint("NoSchedule"), "True", &json!({}), &wrong("NoSchedule"));
        let exists = bears(json!({"key": "k", "operator": "Exists"}));
        check(&taint("NoSchedule"), "True", &exists, "");
        let other = bears(json!({"key": "k", "value": "w"}));
        check(&taint("NoExecute"), "True", &other, &wrong("NoExecute"));
        let effect = bears(json!({"operator": "Exists", "effect": "NoSchedule"}));
        check(&taint("NoExecute"), "True", &effect, &wrong("NoExecute"));
    }

    #[test]
    fn a_pod_goes_where_its_affinity_selects() {
        let wants = |key: &str, operator: &str, value: &str| {
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [{"matchExpressions":
                    [{"key": key, "operator": operator, "values": [value]}]}]}}}})
        };
        let (none, wrong) = (json!({}), "p is bound to n, which its affinity does not select");
        check(&none, "True", &wants("zone", "In", "z1"), "");
        check(&none, "True", &wants("zone", "NotIn", "z1"), wrong);
        check(&none, "True", &wants("zone", "In", "z2"), wrong);
        check(&none, "True", &wants("rack", "NotIn", "r1"), "");
    }
}
