//! Describes what every write needs.

use kai_daemon::lease::Guard;
use kube::Client;
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
}

impl Write {
    /// Counts a write by how it ended.
    pub(crate) fn count(&self, what: &str, done: bool) {
        let result = if done { "success" } else { "error" };
        self.metrics.writes.with_label_values(&[what, result]).inc();
    }
}
