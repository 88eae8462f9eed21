//! Pods by the labels that rules list them by, in an order in which those that a rule looks for are found.
//!
//! A workload may have ten thousand pods, and a change of it has each of them grouped anew, by a rule that asks about them all.

use std::collections::btree_set::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kai_api::names::annotation;

use super::edit;
use crate::kinds::{lws, mpi, serving};
use crate::pod::Pod;
use crate::sought::Sought;

/// The order of pods that have a label in common.
#[derive(Debug, Clone, Copy)]
enum By {
    /// Those that stay come first, and each half is sorted by another label.
    Label(&'static str),
    /// By the `PodGroup` that they are marked with.
    Group,
}

/// Labels by which rules list pods.
const INDEXED: [(&str, By); 3] = [
    (mpi::JOB_LABEL, By::Label(mpi::ROLE_LABEL)),
    (serving::REVISION_LABEL, By::Group),
    (lws::KEY_LABEL, By::Label(lws::WORKER_LABEL)),
];

/// A namespace, a label, and its value.
type Place = (Arc<str>, &'static str, Arc<str>);

/// All pods that have one of these labels.
#[derive(Debug, Default)]
pub(super) struct Labelled {
    rows: BTreeMap<Place, Row>,
}

/// The pods that have one label in common.
#[derive(Debug, Default)]
struct Row {
    entries: BTreeSet<Entry>,
    /// The `PodGroups` that several of them are marked with, where they are sorted by these.
    shared: BTreeSet<Arc<str>>,
}

/// A pod in the order of its row.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    leaves: bool,
    text: Option<Arc<str>>,
    name: Arc<str>,
}

impl Entry {
    fn of(pod: &Pod, by: By) -> Self {
        let (leaves, text) = match by {
            By::Label(key) => (pod.terminating, pod.labels.shared(key)),
            By::Group => {
                let group = pod.annotations.shared(annotation::POD_GROUP);
                (false, group.filter(|group| !group.is_empty()))
            }
        };
        Self { leaves, text: text.cloned(), name: pod.name.clone() }
    }

    fn has(&self, text: &str) -> bool {
        self.text.as_deref() == Some(text)
    }
}

impl Row {
    /// Enters a pod, or takes it out.
    fn edit(&mut self, entry: Entry, by: By, is_new: bool) {
        let group = entry.text.clone().filter(|_| matches!(by, By::Group));
        edit(&mut self.entries, entry, is_new);
        if let Some(group) = group {
            let has_two = self.since(Some(&group)).nth(1).is_some_and(|other| other.has(&group));
            edit(&mut self.shared, group, has_two);
        }
    }

    /// The pods from this text on, those that stay before those that leave.
    fn since(&self, text: Option<&str>) -> Range<'_, Entry> {
        let first = Entry { leaves: false, text: text.map(Arc::from), name: Arc::from("") };
        self.entries.range(first..)
    }

    /// The first from this text on that stays.
    fn staying(&self, text: Option<&str>) -> Option<&Entry> {
        self.since(text).next().filter(|entry| !entry.leaves)
    }

    /// One that stays and has another text, or none.
    fn staying_but(&self, text: &str) -> Option<&Entry> {
        let first = self.staying(None).filter(|entry| !entry.has(text));
        // No text is between one and the same with a zero behind it.
        first.or_else(|| self.staying(Some(&format!("{text}\0"))))
    }

    /// Two that are marked with the same group, or else the first two that are marked.
    fn same_group(&self) -> impl Iterator<Item = &Entry> {
        let group = self.shared.first().map_or("", |group| &**group);
        self.since(Some(group)).take(2)
    }
}

impl Labelled {
    /// Enters a pod, or takes it out.
    ///
    /// Cost: some searches, however many others have its labels.
    pub(super) fn edit(&mut self, pod: &Pod, is_new: bool) {
        for (label, by) in INDEXED {
            let Some(value) = pod.labels.shared(label) else { continue };
            let place: Place = (pod.namespace.clone(), label, value.clone());
            let row = self.rows.entry(place.clone()).or_default();
            row.edit(Entry::of(pod, by), by, is_new);
            if row.entries.is_empty() {
                self.rows.remove(&place);
            }
        }
    }

    /// Names pods among which all are that decide for a rule that looks for some with these labels; none where it has to look
    /// at all of the namespace.
    ///
    /// Cost: some searches for what rules look for, and it is two pods at most. All with the label are named to whoever looks
    /// for something else.
    pub(super) fn candidates(
        &self,
        namespace: &str,
        labels: &[(String, String)],
        sought: &Sought,
    ) -> Option<Vec<Arc<str>>> {
        let (own, (label, by)) = labels.iter().find_map(|own| {
            let index = INDEXED.into_iter().find(|(label, _)| *label == own.0)?;
            Some((own, index))
        })?;
        let place: Place = (Arc::from(namespace), label, Arc::from(own.1.as_str()));
        let Some(row) = self.rows.get(&place) else { return Some(Vec::new()) };
        let others: Vec<_> = labels.iter().filter(|other| *other != own).collect();
        let found: Vec<&Entry> = match (by, others.as_slice(), sought) {
            (By::Label(_), [], Sought::Staying) => row.staying(None).into_iter().collect(),
            (By::Label(key), [(other, text)], Sought::Staying) if other == key => {
                row.staying(Some(text)).into_iter().collect()
            }
            (By::Label(key), [], Sought::StayingBut(other, text)) if other == key => {
                row.staying_but(text).into_iter().collect()
            }
            (By::Group, [], Sought::SameGroup) => row.same_group().collect(),
            _ => row.entries.iter().collect(),
        };
        Some(found.into_iter().map(|entry| entry.name.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::status::Usage;
    use crate::store::{Key, Store};

    /// Labels of a list, and what is looked for with them.
    type Question = (Vec<(String, String)>, Sought);

    /// The questions of the rules: for a launcher, for a worker, and for a group of several pods.
    fn questions() -> [Question; 3] {
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let launcher = vec![label(mpi::JOB_LABEL, "j"), label(mpi::ROLE_LABEL, "launcher")];
        let worker = Sought::StayingBut(lws::WORKER_LABEL.to_owned(), "0".to_owned());
        [
            (launcher, Sought::Staying),
            (vec![label(lws::KEY_LABEL, "j")], worker),
            (vec![label(serving::REVISION_LABEL, "j")], Sought::SameGroup),
        ]
    }

    /// A pod that each of the questions is about. It has the text as its role, its index and its group, where there is one.
    fn pod(name: &str, text: Option<&str>, leaves: bool) -> (Pod, Usage) {
        let deleted = if leaves { json!("2026-01-01T00:00:00Z") } else { Value::Null };
        let own = [mpi::JOB_LABEL, lws::KEY_LABEL, serving::REVISION_LABEL];
        let mut labels = json!(own.map(|key| (key, "j")).into_iter().collect::<BTreeMap<_, _>>());
        let mut annotations = json!({});
        if let Some(text) = text {
            labels[mpi::ROLE_LABEL] = json!(text);
            labels[lws::WORKER_LABEL] = json!(text);
            annotations[annotation::POD_GROUP] = json!(text);
        }
        let value = json!({"metadata": {"namespace": "n", "name": name, "uid": name, "labels": labels,
            "annotations": annotations, "deletionTimestamp": deleted}});
        (Pod::from_value(&value), Usage::of(&value))
    }

    /// Each round on a pod of a workload asks about all of them, and all others wait for the store meanwhile.
    #[test]
    fn a_rule_looks_at_two_of_very_many_pods_at_most() {
        for leaves in [false, true] {
            for text in [None, Some("0"), Some("launcher"), Some("x")] {
                let mut table = Labelled::default();
                let pods = (0..1_000).map(|number| {
                    // Each has a text of its own, or all have the same.
                    let own = format!("x-{number}");
                    let text = text.map(|text| if text == "x" { own.as_str() } else { text });
                    pod(&format!("p-{number}"), text, leaves).0
                });
                let pods: Vec<Pod> = pods.collect();
                for pod in &pods {
                    table.edit(pod, true);
                }
                for (labels, sought) in questions() {
                    let found = table.candidates("n", &labels, &sought);
                    let count = found.as_ref().map(Vec::len);
                    assert!(count.is_some_and(|count| count <= 2), "{count:?} for {sought:?}");
                }
                for pod in &pods {
                    table.edit(pod, false);
                }
                assert!(table.rows.is_empty(), "a row goes with the last of its pods");
            }
        }
    }

    /// Decides as a rule does: the number of pods that it is given, and whether they are of one group.
    fn decided(found: &[Arc<Pod>]) -> (usize, bool) {
        let groups: BTreeSet<_> =
            found.iter().map(|pod| pod.annotation(annotation::POD_GROUP)).collect();
        (found.len(), groups.len() == 1)
    }

    /// Pods come, leave, are marked and labelled otherwise, and go.
    #[test]
    fn what_is_found_decides_as_all_of_the_pods_do() {
        let texts = [None, Some(""), Some("0"), Some("launcher"), Some("x")];
        let states = texts.into_iter().flat_map(|text| [Some((text, false)), Some((text, true))]);
        let states: Vec<_> = states.chain([None]).collect();
        let (store, mut pods) = (Store::default(), BTreeMap::new());
        let mut set = |name: &'static str, state: Option<(Option<&str>, bool)>| {
            if let Some((text, leaves)) = state {
                let (pod, usage) = pod(name, text, leaves);
                pods.insert(name, store.set_pod(pod, usage).0);
            } else {
                pods.remove(name);
                store.remove_pod(&Key::new("n", name));
            }
            for (labels, sought) in questions() {
                let has = |pod: &&Arc<Pod>| {
                    labels.iter().all(|(key, value)| pod.label(key) == Some(value.as_str()))
                };
                let found = store.pods_with("n", &labels, &sought);
                let expect = sought.pick(pods.values().filter(has));
                assert_eq!(decided(&found), decided(&expect), "{sought:?} of {pods:?}");
                assert_eq!(decided(&sought.pick(found.iter())), decided(&found), "{sought:?}");
            }
        };
        for first in &states {
            set("a", *first);
            for second in &states {
                set("b", *second);
                for third in &states {
                    set("c", *third);
                }
            }
        }
    }

    /// Nobody is told of less than is looked for.
    #[test]
    fn whoever_asks_otherwise_is_told_of_all_that_have_the_label() {
        let mut table = Labelled::default();
        for name in ["a", "b", "c"] {
            table.edit(&pod(name, Some("0"), false).0, true);
        }
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let job = label(mpi::JOB_LABEL, "j");
        for (labels, sought, expect) in [
            (vec![job.clone()], Sought::All, Some(3)),
            (vec![job.clone()], Sought::SameGroup, Some(3)),
            (vec![label("other", "x"), job.clone()], Sought::Staying, Some(3)),
            (vec![job], Sought::Staying, Some(1)),
            (vec![label(mpi::JOB_LABEL, "other")], Sought::All, Some(0)),
            (vec![label("other", "x")], Sought::All, None),
        ] {
            let found = table.candidates("n", &labels, &sought);
            assert_eq!(found.as_ref().map(Vec::len), expect, "{labels:?} {sought:?}");
        }
        assert_eq!(table.candidates("other", &[], &Sought::All), None);
    }
}
