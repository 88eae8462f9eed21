//! Labels of pods that some selector asks about; the others would only cost the engine memory.

use std::collections::BTreeMap;

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

    /// Gives the pods that have a label which matters since now, as they are to be told, of so many at most: `told` has how they
    /// were. Where [`Context::has_unlabelled`] there are more.
    ///
    /// All have to be told before anything is decided: a pod that keeps away from others by a label would be put beside one of
    /// which the engine does not know that it has it.
    ///
    /// # Cost
    /// In the number of pods, where one has a label of a key that is new.
    pub(in crate::ingest) fn relabelled(
        &mut self,
        told: &dyn Fn(PodId) -> Option<Pod>,
        most: usize,
    ) -> BTreeMap<PodId, Pod> {
        self.find_unlabelled();
        let mut relabelled = BTreeMap::new();
        let kept = self.unlabelled.len().saturating_sub(most);
        for row in self.unlabelled.split_off(kept) {
            let Some(mut facts) = told(PodId::new(row)) else { continue };
            let labels = self.kept_labels(row);
            if facts.labels != labels {
                facts.labels = labels;
                relabelled.insert(PodId::new(row), facts);
            }
        }
        relabelled
    }

    /// Tells whether there are more pods to be told with labels that matter since now.
    pub(in crate::ingest) fn has_unlabelled(&self) -> bool {
        !self.unlabelled.is_empty()
    }

    /// Finds the pods that have a label which matters since now.
    fn find_unlabelled(&mut self) {
        let names = &self.names;
        // There may be a million labels to look up here, of a hundred thousand pods.
        let mut is_new: Vec<bool> = Vec::new();
        for key in self.newly_asked.drain(..) {
            for label in names.labels.of_key(names.symbols.key(key)) {
                let at = label as usize;
                if is_new.len() <= at {
                    is_new.resize(at + 1, false);
                }
                is_new[at] = true;
            }
        }
        if is_new.is_empty() {
            return;
        }
        let has_it = |label: &u32| is_new.get(*label as usize) == Some(&true);
        let rows = names.pods.iter().filter(|(_, pod)| pod.labels.iter().any(has_it));
        self.unlabelled.extend(rows.map(|(row, _)| row));
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kai_engine::{Delta, Pod, PodId, Timestamp};
    use serde_json::{Value, json};

    use crate::{
        Args,
        ingest::{Ingest, Kind, Rules},
    };

    fn apply(ingest: &mut Ingest, pod: &Value) {
        ingest.applied(Kind::Pod, pod.to_string().as_bytes()).expect("it can be read");
    }

    /// Takes what is told of pods; counts them.
    fn take(ingest: &mut Ingest, told: &mut BTreeMap<PodId, Pod>) -> usize {
        let mut count = 0;
        for delta in ingest.context.deltas.drain(..) {
            if let Delta::Pod(id, pod) = delta {
                told.insert(id, *pod);
                count += 1;
            }
        }
        count
    }

    /// Any pod may be the first whose selector names a label that very many have.
    #[test]
    fn pods_whose_label_matters_since_now_are_all_told_and_copied_a_thousand_at_a_time() {
        let args = Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
        let mut ingest = Ingest::new(Rules::new(&args));
        let mut told = BTreeMap::new();
        for number in 0..2_500 {
            let labels = json!({ "app": (number % 7).to_string() });
            let name = number.to_string();
            let pod = json!({ "metadata": { "name": name, "namespace": "ml", "uid": name, "labels": labels } });
            apply(&mut ingest, &pod);
        }
        ingest.advance(Timestamp(0));
        take(&mut ingest, &mut told);
        let term =
            json!({ "topologyKey": "zone", "labelSelector": { "matchLabels": { "app": "0" } } });
        let apart = json!({ "requiredDuringSchedulingIgnoredDuringExecution": [term] });
        let asks = json!({ "metadata": { "name": "asks", "namespace": "ml", "uid": "asks" },
            "spec": { "affinity": { "podAntiAffinity": apart } } });
        apply(&mut ingest, &asks);
        take(&mut ingest, &mut told);
        let mut counts = Vec::new();
        loop {
            let has_more = ingest.relabel(&|pod| told.get(&pod).cloned());
            counts.push(take(&mut ingest, &mut told));
            if !has_more {
                break;
            }
        }
        assert_eq!(counts, [1_000, 1_000, 500]);
        assert_eq!(told.values().filter(|pod| pod.labels.len() == 1).count(), 2_500);
        ingest.tell_again(&|pod| told.get(&pod).cloned());
        assert_eq!(take(&mut ingest, &mut told), 0, "nothing is left");
    }
}
