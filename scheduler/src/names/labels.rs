//! Labels of pods, kept as text: selectors may ask about keys that nobody asked about before.
//!
//! Pods of one workload have nearly the same labels, so each key with its value is kept once.

use std::collections::{BTreeSet, HashMap};

use super::{Names, Table};

/// The most labels that are kept of a pod: it waits where it has more.
pub const LABELS_MAX: usize = 128;
/// The most bytes of labels that are kept of a pod: it waits where it has more.
pub const LABELS_BYTES_MAX: usize = 16 << 10;

/// Labels of pods as text, `key=value`.
#[derive(Debug, Default)]
pub struct Labels {
    /// Each with how many pods have it.
    rows: Table<u32>,
    /// The numbers of those of each key: a user may have pods with a million of them, and ask about ever new keys.
    by_key: HashMap<Box<str>, BTreeSet<u32>>,
}

impl Labels {
    /// Lists the numbers of the labels of a key.
    pub fn of_key(&self, key: &str) -> impl Iterator<Item = u32> {
        self.by_key.get(key).into_iter().flatten().copied()
    }

    /// Counts a pod more that has a label; gives the label's number.
    fn add(&mut self, key: &str, text: &str) -> u32 {
        let number = self.rows.intern(text);
        self.rows[number] += 1;
        if self.rows[number] == 1 {
            match self.by_key.get_mut(key) {
                Some(numbers) => drop(numbers.insert(number)),
                None => drop(self.by_key.insert(Box::from(key), BTreeSet::from([number]))),
            }
        }
        number
    }

    /// Counts a pod less.
    fn take(&mut self, number: u32) {
        self.rows[number] -= 1;
        if self.rows[number] > 0 {
            return;
        }
        let (key, _) = self.rows.key(number).split_once('=').unwrap_or_default();
        if let Some(numbers) = self.by_key.get_mut(key) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.by_key.remove(key);
            }
        }
        self.rows.remove(number);
    }
}

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
            now.push(self.labels.add(key, &text));
        }
        self.scratch = text;
        for before in std::mem::replace(&mut self.pods[pod].labels, now.into_boxed_slice()) {
            self.labels.take(before);
        }
    }

    /// Lists the labels that are kept of a pod.
    pub fn labels_of(&self, pod: u32) -> impl Iterator<Item = (&str, &str)> {
        let labels = self.pods[pod].labels.iter();
        labels.filter_map(|label| self.labels.rows.key(*label).split_once('='))
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
