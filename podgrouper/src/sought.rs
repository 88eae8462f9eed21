//! The pods among those of a list that a rule looks for.
//!
//! A user may have ten thousand pods with one label, each of which has the rule look at all others: what is found out of them is
//! found out where they are kept, and no more of them is copied than decides.

use std::collections::BTreeMap;
use std::sync::Arc;

use kai_api::names::annotation;

use crate::pod::Pod;

/// The pods that decide what a rule does: it does the same with these alone as with all of the list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sought {
    /// All of them.
    All,
    /// One that stays.
    Staying,
    /// One that stays and whose label with this key has another value than this, or that has no such label.
    StayingBut(String, String),
    /// Two that are marked with the same `PodGroup`; where there are none two that are marked, or the only one.
    SameGroup,
}

impl Sought {
    /// Picks the pods that are looked for; after the last of them it looks at no other.
    pub(crate) fn pick<'p>(&self, mut pods: impl Iterator<Item = &'p Arc<Pod>>) -> Vec<Arc<Pod>> {
        let found = match self {
            Self::All => return pods.cloned().collect(),
            Self::SameGroup => return same_group(pods),
            Self::Staying => pods.find(|pod| !pod.terminating),
            Self::StayingBut(key, value) => {
                pods.find(|pod| !pod.terminating && pod.label(key) != Some(value.as_str()))
            }
        };
        found.cloned().into_iter().collect()
    }
}

/// Picks two pods of the same `PodGroup`, or else the first ones of two.
fn same_group<'p>(pods: impl Iterator<Item = &'p Arc<Pod>>) -> Vec<Arc<Pod>> {
    let mut by_group: BTreeMap<&str, &Arc<Pod>> = BTreeMap::new();
    for pod in pods {
        let group = pod.annotation(annotation::POD_GROUP).unwrap_or_default();
        if group.is_empty() {
            continue;
        }
        if let Some(other) = by_group.insert(group, pod) {
            return vec![other.clone(), pod.clone()];
        }
    }
    by_group.into_values().take(2).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::Sought;
    use crate::pod::Pod;

    /// A pod with an index, that may leave and be marked with a group.
    fn pod(name: &str, index: &str, leaves: bool, group: &str) -> Arc<Pod> {
        let deleted = if leaves { json!("2026-01-01T00:00:00Z") } else { Value::Null };
        let value = json!({"metadata": {"namespace": "n", "name": name, "labels": {"index": index},
            "annotations": {"pod-group-name": group}, "deletionTimestamp": deleted}});
        Arc::new(Pod::from_value(&value))
    }

    /// Picks from pods; gives the names, and the number of pods that were looked at.
    fn picked(sought: &Sought, pods: &[Arc<Pod>]) -> (Vec<String>, usize) {
        let looked = Cell::new(0);
        let each = pods.iter().inspect(|_| looked.set(looked.get() + 1));
        let found = sought.pick(each);
        (found.iter().map(|pod| pod.name.to_string()).collect(), looked.get())
    }

    #[test]
    fn no_more_pods_are_picked_than_decide() {
        let pods = [
            pod("a", "0", true, "g"),
            pod("b", "0", false, ""),
            pod("c", "1", false, "h"),
            pod("d", "2", false, "h"),
            pod("e", "3", false, "h"),
        ];
        let but = |value: &str| Sought::StayingBut("index".to_owned(), value.to_owned());
        for (sought, of, expect, looked) in [
            (Sought::All, 0..5, vec!["a", "b", "c", "d", "e"], 5),
            (Sought::Staying, 0..5, vec!["b"], 2),
            (Sought::Staying, 0..1, vec![], 1),
            (but("0"), 0..5, vec!["c"], 3),
            (but("0"), 0..2, vec![], 2),
            (but("1"), 2..5, vec!["d"], 2),
            (Sought::SameGroup, 0..5, vec!["c", "d"], 4),
            (Sought::SameGroup, 0..3, vec!["a", "c"], 3),
            (Sought::SameGroup, 1..3, vec!["c"], 2),
            (Sought::SameGroup, 1..2, vec![], 1),
        ] {
            let expect = expect.into_iter().map(str::to_owned).collect();
            assert_eq!(
                picked(&sought, &pods[of.clone()]),
                (expect, looked),
                "{sought:?} of {of:?}"
            );
        }
    }
}
