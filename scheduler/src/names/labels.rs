//! Labels of pods, kept as text: selectors may ask about keys that nobody asked about before.
//!
//! Pods of one workload have nearly the same labels, so each key with its value is kept once.

use super::{Names, Table};

/// The most labels that are kept of a pod: it waits where it has more.
pub const LABELS_MAX: usize = 128;
/// The most bytes of labels that are kept of a pod: it waits where it has more.
pub const LABELS_BYTES_MAX: usize = 16 << 10;

/// Labels of pods as text, `key=value`, each with how many pods have it.
pub type Labels = Table<u32>;

impl Names {
    /// Keeps the labels of a pod instead of those of before; of more than 128, or 16 KiB, only the first.
    pub fn keep_labels<'l>(&mut self, pod: u32, labels: impl Iterator<Item = (&'l str, &'l str)>) {
        let mut text = std::mem::take(&mut self.scratch);
        let mut left = LABELS_BYTES_MAX;
        let mut now = Vec::new();
        for (key, value) in labels.take(LABELS_MAX) {
            let Some(rest) = left.checked_sub(bytes(key, value)) else { break };
            left = rest;
            text.clear();
            for part in [key, "=", value] {
                text.push_str(part);
            }
            let number = self.labels.intern(&text);
            self.labels[number] += 1;
            now.push(number);
        }
        self.scratch = text;
        for before in std::mem::replace(&mut self.pods[pod].labels, now.into_boxed_slice()) {
            self.labels[before] -= 1;
            if self.labels[before] == 0 {
                self.labels.remove(before);
            }
        }
    }

    /// Lists the labels that are kept of a pod.
    pub fn labels_of(&self, pod: u32) -> impl Iterator<Item = (&str, &str)> {
        self.pods[pod].labels.iter().filter_map(|label| self.labels.key(*label).split_once('='))
    }
}

/// Tells whether the labels of a pod are more than are kept.
pub fn are_too_many<'l>(labels: impl Iterator<Item = (&'l str, &'l str)>) -> bool {
    let sizes = labels.map(|(key, value)| bytes(key, value));
    let (count, bytes) = sizes.fold((0, 0), |(count, sum), size| (count + 1, sum + size));
    count > LABELS_MAX || bytes > LABELS_BYTES_MAX
}

fn bytes(key: &str, value: &str) -> usize {
    key.len() + value.len() + 2
}
