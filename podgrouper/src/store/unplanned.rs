//! Pods that were put on their nodes past the scheduler, by node, in order of creation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Key;
use crate::status::{Unplanned, Usage};

/// So many pods of a node are looked at, as the scheduler does: the others hold nothing.
const PODS_MAX: usize = 256;

#[derive(Debug)]
struct Row {
    usage: Arc<Usage>,
    group: Key,
}

/// The pods that are in a group.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: BTreeMap<Arc<Unplanned>, Row>,
    /// Nodes with such pods of which one came, changed or went since somebody asked.
    changed: BTreeSet<String>,
}

impl Table {
    /// Takes a pod in, with its group if it has one, in the place of the one before of its name.
    pub(super) fn replace(
        &mut self,
        before: Option<&Usage>,
        usage: &Arc<Usage>,
        group: Option<Key>,
    ) {
        let pod = usage.unplanned.as_ref().zip(group);
        let is_other = |before: &&Usage| pod.is_none() || before.unplanned != usage.unplanned;
        if let Some(before) = before.filter(is_other) {
            self.remove(before);
        }
        let Some((pod, group)) = pod else { return };
        let before = self.rows.insert(pod.clone(), Row { usage: usage.clone(), group });
        if before.is_none_or(|before| before.usage != *usage) {
            self.mark(&pod.node);
        }
    }

    /// Takes a pod out.
    pub(super) fn remove(&mut self, usage: &Usage) {
        let Some(pod) = &usage.unplanned else { return };
        if self.rows.remove(pod).is_some() {
            self.mark(&pod.node);
        }
    }

    /// Has the pods of a node looked at, while there are some.
    fn mark(&mut self, node: &str) {
        if self.on(node).next().is_some() {
            self.changed.insert(node.to_owned());
        } else {
            self.changed.remove(node);
        }
    }

    fn on(&self, node: &str) -> impl Iterator<Item = (&Arc<Unplanned>, &Row)> {
        let rows = self.rows.range::<Unplanned, _>(Unplanned::before_all(node)..);
        rows.take_while(move |(pod, _)| pod.node == node)
    }

    /// The first pods of a node, and what each asks for.
    pub(super) fn first_on(&self, node: &str) -> Vec<(Arc<Unplanned>, Arc<Usage>)> {
        let first = self.on(node).take(PODS_MAX);
        first.map(|(pod, row)| (pod.clone(), row.usage.clone())).collect()
    }

    /// The groups of the first pods of a node, and of some behind them, which may have been among the first a moment ago.
    pub(super) fn groups_on(&self, node: &str) -> BTreeSet<Key> {
        self.on(node).take(2 * PODS_MAX).map(|(_, row)| row.group.clone()).collect()
    }

    /// Takes the groups of pods on nodes of which some came, changed or went since the last call.
    pub(super) fn take_moved(&mut self) -> BTreeSet<Key> {
        let nodes = std::mem::take(&mut self.changed);
        nodes.iter().flat_map(|node| self.groups_on(node)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::pod::Pod;
    use crate::store::Store;

    /// A pod of a group of its own on the node `x`, created as the second of this number.
    fn put(store: &Store, at: usize, received: &Value, phase: &str) -> Key {
        let name = format!("p-{at:03}");
        let created = format!("2026-01-01T00:{:02}:{:02}Z", at / 60, at % 60);
        let annotations = json!({"pod-group-name": name, "received-resource-type": received});
        let metadata = json!({"namespace": "n", "name": name, "uid": name,
            "creationTimestamp": created, "annotations": annotations});
        let pod = json!({"metadata": metadata, "spec": {"nodeName": "x"},
            "status": {"phase": phase}});
        store.set_pod(Pod::from_value(&pod), Usage::of(&pod));
        Key::new("n", &name)
    }

    /// Whoever counts all pods of a node for each of them goes through their square.
    #[test]
    fn the_first_pods_of_a_node_are_looked_at() {
        let store = Store::default();
        for at in (0..2 * PODS_MAX).rev() {
            put(&store, at, &Value::Null, "Running");
        }
        put(&store, 0, &json!("Regular"), "Running");
        let first = store.unplanned_on("x");
        let expect: Vec<String> = (1..=PODS_MAX).map(|at| format!("p-{at:03}")).collect();
        let found: Vec<&str> = first.iter().map(|(pod, _)| pod.uid()).collect();
        assert_eq!(found, expect);
        assert!(store.unplanned_on("w").is_empty() && store.unplanned_on("y").is_empty());
    }

    /// The sum of a group says for ever what it was when others were there.
    #[test]
    fn groups_beside_a_pod_that_comes_or_goes_are_named() {
        let store = Store::default();
        let [one, other] = [1, 2].map(|at| put(&store, at, &Value::Null, "Running"));
        let both = BTreeSet::from([one.clone(), other.clone()]);
        assert_eq!((store.take_moved(), store.take_moved()), (both.clone(), BTreeSet::new()));
        assert_eq!(store.unplanned_groups("x"), both);
        put(&store, 1, &Value::Null, "Running");
        assert_eq!(store.take_moved(), BTreeSet::new(), "it is told of once more");
        put(&store, 1, &Value::Null, "Failed");
        assert_eq!(store.take_moved(), BTreeSet::from([other.clone()]));
        put(&store, 3, &Value::Null, "Pending");
        assert!(store.remove_pod(&Key::new("n", "p-003")).is_some());
        assert_eq!(store.take_moved(), BTreeSet::from([other.clone()]));
        // Nobody is beside the last, and nobody may ever ask.
        assert!(store.remove_pod(&other).is_some());
        assert_eq!(store.take_moved(), BTreeSet::new());
    }
}
