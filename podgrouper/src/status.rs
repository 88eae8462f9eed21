//! Status of `PodGroup`s and queues: what their pods ask for and have (`docs/contract.md` 5.1, 5.2).
//!
//! Watches say what may have changed; a pass sums up those `PodGroup`s again, has what changed of them count up the queue
//! tree, and patches the statuses that differ.

mod devices;
mod late;
mod metrics;
mod orphans;
mod pass;
mod queues;
mod tally;
mod totals;
mod unplanned;
mod usage;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use crate::store::Key;

pub(crate) use devices::{Devices, Reads, is_gpu_class};
pub(crate) use metrics::{ExtraLabel, QueueMetrics, parse_labels};
pub(crate) use pass::Controller;
pub(crate) use totals::Totals;
pub(crate) use unplanned::Unplanned;
#[cfg(test)]
pub(crate) use unplanned::tests::server_of_node;
pub(crate) use usage::{Usage, effective_request};

/// Objects that have to be looked at again.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    marks: Mutex<Marks>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Marks {
    groups: BTreeSet<Key>,
    has_queues: bool,
}

impl Dirty {
    fn marks(&self) -> std::sync::MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A `PodGroup` or one of its pods changed.
    pub(crate) fn group(&self, key: Key) {
        self.marks().groups.insert(key);
        self.wake.notify_one();
    }

    /// A queue changed.
    pub(crate) fn queues(&self) {
        self.marks().has_queues = true;
        self.wake.notify_one();
    }

    /// Waits until there is something to look at, and takes it.
    async fn take(&self) -> BTreeSet<Key> {
        loop {
            {
                let mut marks = self.marks();
                if marks.has_queues || !marks.groups.is_empty() {
                    return std::mem::take(&mut *marks).groups;
                }
            }
            self.wake.notified().await;
        }
    }
}
