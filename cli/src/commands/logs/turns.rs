//! Many logs that are followed at once: no more than some are read at one time, the others wait for their turn.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Sets how long a log that is followed is read while others wait.
pub(super) const TURN: Duration = Duration::from_secs(2);

/// The logs that are followed, of which some are read at one time. Who has waited longest is next.
#[derive(Debug)]
pub(super) struct Turns {
    permits: Semaphore,
    waiting: AtomicUsize,
}

impl Turns {
    pub(super) fn new(most: usize) -> Self {
        Self { permits: Semaphore::new(most), waiting: AtomicUsize::new(0) }
    }

    /// Waits for a turn; nothing when there will be none.
    pub(super) async fn take(&self) -> Option<SemaphorePermit<'_>> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let permit = self.permits.acquire().await.ok();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        permit
    }

    /// Tells whether somebody waits for a turn.
    pub(super) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}
