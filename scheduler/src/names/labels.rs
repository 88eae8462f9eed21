//! Labels of pods, kept as text: selectors may ask about keys that nobody asked about before.
//!
//! Pods of one workload have the same labels, so equal ones are kept once.

use super::{Names, Table};

/// The most bytes of labels that are kept of a pod: it waits where it has more.
pub const LABELS_BYTES_MAX: usize = 16 << 10;

/// Labels of pods as text, each with how many pods have them.
pub type Labels = Table<u32>;

impl Names {
    /// Keeps the labels of a pod instead of those of before; of more than 16 KiB only the first.
    pub fn keep_labels<'l>(&mut self, pod: u32, labels: impl Iterator<Item = (&'l str, &'l str)>) {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        for (key, value) in labels {
            if text.len() + bytes(key, value) > LABELS_BYTES_MAX {
                break;
            }
            for part in [key, "=", value, "\n"] {
                text.push_str(part);
            }
        }
        let now = (!text.is_empty()).then(|| self.labels.intern(&text));
        self.scratch = text;
        if let Some(now) = now {
            self.labels[now] += 1;
        }
        if let Some(before) = std::mem::replace(&mut self.pods[pod].labels, now) {
            self.labels[before] -= 1;
            if self.labels[before] == 0 {
                self.labels.remove(before);
            }
        }
    }

    /// Lists the labels that are kept of a pod.
    pub fn labels_of(&self, pod: u32) -> impl Iterator<Item = (&str, &str)> {
        let text = self.pods[pod].labels.map_or("", |labels| self.labels.key(labels));
        pairs(text)
    }
}

/// Lists the labels of a text, as it is kept.
pub fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once('='))
}

/// Tells whether the labels of a pod are more than are kept.
pub fn are_too_large<'l>(labels: impl Iterator<Item = (&'l str, &'l str)>) -> bool {
    labels.map(|(key, value)| bytes(key, value)).sum::<usize>() > LABELS_BYTES_MAX
}

fn bytes(key: &str, value: &str) -> usize {
    key.len() + value.len() + 2
}
