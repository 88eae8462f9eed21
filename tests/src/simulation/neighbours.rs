//! Promises about pods of one Job: those that stay apart share no node, those that stay together share a rack (S11).

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Pod;
use kai_sandbox::server::Change;
use kube::ResourceExt;

use super::mixed::TOGETHER;

/// Labels of nodes by name.
type Labels = BTreeMap<String, BTreeMap<String, String>>;

/// A pod that has its place.
#[derive(Debug)]
struct Placed {
    name: String,
    job: String,
    node: String,
}

/// Pods that run, by UID.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    placed: BTreeMap<String, Placed>,
    /// Nodes that were gone once: what runs there still is in no rack for whoever binds then.
    lost: BTreeSet<String>,
}

impl Neighbours {
    /// Takes a pod in; gives what is wrong about where it is.
    pub(super) fn pod(&mut self, pod: &Pod, change: Change, labels: &Labels) -> Option<String> {
        let uid = pod.uid().unwrap_or_default();
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        let is_gone = change == Change::Deleted
            || pod.metadata.deletion_timestamp.is_some()
            || matches!(phase, Some("Succeeded" | "Failed"));
        if is_gone {
            self.placed.remove(&uid);
            return None;
        }
        let job = pod.labels().get("batch.kubernetes.io/job-name")?.clone();
        let node = pod.spec.as_ref()?.node_name.clone()?;
        if self.placed.contains_key(&uid) {
            return None;
        }
        let placed = Placed { name: pod.name_any(), job, node };
        let wrong = self.wrong(pod, &placed, labels);
        self.placed.insert(uid, placed);
        wrong
    }

    /// Notes that a node is gone.
    pub(super) fn node_gone(&mut self, name: &str) {
        self.lost.insert(name.to_owned());
    }

    fn wrong(&self, pod: &Pod, placed: &Placed, labels: &Labels) -> Option<String> {
        let affinity = pod.spec.as_ref()?.affinity.as_ref();
        let is_apart = affinity.is_some_and(|affinity| affinity.pod_anti_affinity.is_some());
        let mut others = self.placed.values().filter(|other| other.job == placed.job);
        if is_apart && let Some(other) = others.clone().find(|other| other.node == placed.node) {
            let (name, node) = (&placed.name, &placed.node);
            return Some(format!("{name} is on {node} with {}, and stays apart", other.name));
        }
        let key = pod.annotations().get(TOGETHER)?;
        let value = |node: &str| labels.get(node)?.get(key);
        let own = value(&placed.node);
        let is_lost = |node: &str| self.lost.contains(node);
        let other = others.find(|other| value(&other.node) != own && !is_lost(&other.node))?;
        let (name, node) = (&placed.name, &placed.node);
        Some(format!("{name} is on {node}, {} on {}: not one {key}", other.name, other.node))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A pod of a Job, `name job node`, with what it asks of the others.
    fn pod(text: &str, asks: &str) -> Pod {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut pod = json!({"metadata": {"name": words[0], "uid": words[0],
                "labels": {"batch.kubernetes.io/job-name": words[1]}},
            "spec": {"nodeName": words[2], "containers": []}});
        match asks {
            "apart" => pod["spec"]["affinity"] = json!({"podAntiAffinity": {}}),
            "together" => pod["metadata"]["annotations"] = json!({TOGETHER: "rack"}),
            "leaving" => pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"),
            "ended" => pod["status"] = json!({"phase": "Succeeded"}),
            _ => {}
        }
        serde_json::from_value(pod).expect("it is a pod")
    }

    fn check(pods: &[(&str, &str)], expect: &[&str]) {
        let node = |(name, rack): (&str, &str)| {
            let labels = [("rack".to_owned(), rack.to_owned())];
            (name.to_owned(), labels.into_iter().collect())
        };
        let labels: Labels = [("n1", "r1"), ("n2", "r1"), ("n3", "r2")].map(node).into();
        let mut neighbours = Neighbours::default();
        let found: Vec<String> = pods
            .iter()
            .filter_map(|(text, asks)| neighbours.pod(&pod(text, asks), Change::Modified, &labels))
            .collect();
        assert_eq!(found, expect, "{pods:?}");
    }

    #[test]
    fn pods_of_a_job_are_apart_or_together() {
        check(&[("a j n1", "apart"), ("b j n2", "apart"), ("c k n1", "apart")], &[]);
        let beside = &["b is on n1 with a, and stays apart"];
        check(&[("a j n1", "apart"), ("b j n1", "apart")], beside);
        check(&[("a j n1", "apart"), ("a j n1", "leaving"), ("b j n1", "apart")], &[]);
        check(&[("a j n1", "apart"), ("a j n1", "ended"), ("b j n1", "apart")], &[]);
        check(&[("a j n1", "together"), ("b j n2", "together")], &[]);
        let far = &["b is on n3, a on n1: not one rack"];
        check(&[("a j n1", "together"), ("b j n3", "together")], far);
        check(&[("a j n1", ""), ("b j n3", "")], &[]);
    }
}
