//! Describes what every write needs.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kai_daemon::lease::Guard;
use kube::Client;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::serve::metrics::Metrics;

/// Holds what every write needs.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "the client has none")]
pub struct Write {
    /// To the API server.
    pub client: Client,
    /// The Lease.
    pub guard: Guard,
    /// Says where writes are counted.
    pub metrics: Metrics,
    /// Ends what waits for others.
    pub stop: CancellationToken,
    /// Tells for how long a write may come true that had no certain answer.
    pub open: OpenWrites,
    /// Is cancelled once it only waits until nothing can come true late: it counts no longer among the writes in flight.
    pub idle: CancellationToken,
}

impl Write {
    /// Counts a write by how it ended.
    pub(crate) fn count(&self, what: &str, done: bool) {
        let result = if done { "success" } else { "error" };
        self.metrics.writes.with_label_values(&[what, result]).inc();
    }
}

/// The moment until which some write may come true that had no certain answer. Copies share it.
#[derive(Clone, Default, Debug)]
pub struct OpenWrites(Arc<Mutex<Option<Instant>>>);

impl OpenWrites {
    /// Notes a write that may come true within this time.
    pub(super) fn add(&self, within: Duration) {
        let until = Instant::now() + within;
        let mut latest = self.lock();
        *latest = (*latest).max(Some(until));
    }

    /// Returns the time until none can come true any more; none where none can now.
    pub(crate) fn left(&self) -> Option<Duration> {
        let until = (*self.lock())?;
        let left = until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::time::advance;

    use super::*;
    use crate::server::answering::answering;

    /// An alert is about the part of writes that fails.
    #[tokio::test(start_paused = true)]
    async fn writes_are_counted_by_how_they_ended() {
        let write = answering(|_, _| (200, json!({}))).await;
        for done in [true, true, true, false] {
            write.count("bind", done);
        }
        let count = |result| write.metrics.writes.with_label_values(&["bind", result]).get();
        assert_eq!(["success", "error"].map(count), [3, 1]);
    }

    /// A server that fails at once may have been silent a moment before.
    #[tokio::test(start_paused = true)]
    async fn the_write_that_may_come_true_last_is_waited_for() {
        let [ten, fifty, sixty] = [10, 50, 60].map(Duration::from_secs);
        let open = OpenWrites::default();
        assert_eq!(open.left(), None);
        open.add(sixty);
        advance(ten).await;
        open.clone().add(ten);
        assert_eq!(open.left(), Some(fifty));
        advance(fifty).await;
        assert_eq!(open.left(), None);
    }
}
