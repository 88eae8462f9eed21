//! Pods evicted, by the group that they were of.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use prometheus::IntCounterVec;

/// So many groups have a series: groups come and go, and users make them.
const SERIES_MAX: usize = 10_000;

/// Labels of a series, in their order.
pub(super) const LABELS: [&str; 5] = ["podgroup", "namespace", "uid", "nodepool", "action"];

/// Counts pods evicted; the series that began first goes where there are too many.
#[derive(Clone, Debug)]
pub struct Evicted {
    counters: IntCounterVec,
    known: Arc<Mutex<VecDeque<[String; 5]>>>,
}

impl Evicted {
    pub(super) fn new(counters: IntCounterVec) -> Self {
        Self { counters, known: Arc::default() }
    }

    /// Counts a pod of a group, by the values of its labels in their order.
    pub fn count(&self, labels: [&str; 5]) {
        let counter = self.counters.with_label_values(&labels);
        counter.inc();
        if counter.get() > 1 {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_back(labels.map(String::from));
        if known.len() > SERIES_MAX
            && let Some(first) = known.pop_front()
        {
            // One that is not there is gone as well.
            let _ = self.counters.remove_label_values(&first.each_ref().map(String::as_str));
        }
    }
}

#[cfg(test)]
mod tests {
    use prometheus::{Opts, core::Collector};

    use super::*;

    #[test]
    fn groups_that_come_and_go_do_not_fill_the_memory() {
        let counters = IntCounterVec::new(Opts::new("evicted", "Pods"), &LABELS);
        let evicted = Evicted::new(counters.expect("names and labels are valid"));
        for number in 0..SERIES_MAX + 5 {
            for _ in 0..2 {
                evicted.count(["g", "n", &number.to_string(), "default", "reclaim"]);
            }
        }
        let families = evicted.counters.collect();
        assert_eq!(families[0].get_metric().len(), SERIES_MAX);
    }
}
