//! Labels of pods that some selector asks about; the others would only cost the engine memory.

use std::collections::{BTreeMap, HashSet};

use kai_engine::{Pod, PodId, Symbol};

use crate::{ingest::Context, names::labels, server::wire::Pairs};

impl Context {
    /// Picks the labels of a pod that some selector asks about.
    pub(in crate::ingest) fn pod_labels(&mut self, labels: &Pairs<'_>) -> Vec<(Symbol, Symbol)> {
        let mut known = Vec::new();
        for (key, value) in labels.iter() {
            let Some(number) = self.names.symbols.find(key) else { continue };
            if self.asked.contains(&number) {
                known.push((Symbol::new(number), self.names.symbol(value)));
            }
        }
        known.sort_unstable();
        known
    }

    /// Makes this label of pods matter from now on. Pods that were told without it are told anew.
    pub(in crate::ingest) fn ask_for_pod_label(&mut self, key: Symbol) {
        if self.asked.insert(key.number()) {
            self.newly_asked.push(key.number());
        }
    }

    /// Gives the pods that have a label which matters since now, as they are to be told: `told` has how they were.
    ///
    /// # Cost
    /// In the number of pods, where one has a label of a key that is new.
    pub(in crate::ingest) fn relabelled(
        &mut self,
        told: &dyn Fn(PodId) -> Option<Pod>,
    ) -> BTreeMap<PodId, Pod> {
        let new = std::mem::take(&mut self.newly_asked);
        if new.is_empty() {
            return BTreeMap::new();
        }
        let names = &self.names;
        let of_key = |key: &u32| names.labels.of_key(names.symbols.key(*key));
        let labels: HashSet<u32> = new.iter().flat_map(of_key).collect();
        if labels.is_empty() {
            return BTreeMap::new();
        }
        let has_it = |of_pod: &[u32]| of_pod.iter().any(|label| labels.contains(label));
        let rows = names.pods.iter().filter(|(_, pod)| has_it(&pod.labels));
        let rows: Vec<u32> = rows.map(|(row, _)| row).collect();
        let mut relabelled = BTreeMap::new();
        for row in rows {
            let Some(mut facts) = told(PodId::new(row)) else { continue };
            let labels = self.kept_labels(row);
            if facts.labels != labels {
                facts.labels = labels;
                relabelled.insert(PodId::new(row), facts);
            }
        }
        relabelled
    }

    /// Picks the labels that some selector asks about from those that are kept of a pod.
    fn kept_labels(&mut self, row: u32) -> Vec<(Symbol, Symbol)> {
        let is_asked = |(key, value): (&str, &str)| {
            let number = self.names.symbols.find(key)?;
            self.asked.contains(&number).then(|| (Symbol::new(number), String::from(value)))
        };
        let asked: Vec<(Symbol, String)> = self.names.labels_of(row).filter_map(is_asked).collect();
        let mut known: Vec<(Symbol, Symbol)> =
            asked.into_iter().map(|(key, value)| (key, self.names.symbol(&value))).collect();
        known.sort_unstable();
        known
    }
}

/// Says why a pod cannot be placed for the sake of its labels, where that is so.
pub(in crate::ingest) fn refusal(labels: &Pairs<'_>) -> Option<String> {
    let (most, bytes) = (labels::LABELS_MAX, labels::LABELS_BYTES_MAX);
    labels::are_too_many(labels.iter()).then(|| {
        format!("it has more than {most} labels, or more than {bytes} bytes of them, and no more are kept: give it fewer")
    })
}
