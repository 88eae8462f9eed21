//! The wall clock, read in one place, so that a simulation can have a virtual one.

use std::cell::Cell;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

thread_local! {
    /// The moment at which the virtual clock began, by tokio's clock and by the one on the wall.
    static VIRTUAL: Cell<Option<(Instant, Timestamp)>> = const { Cell::new(None) };
}

/// Gives the present moment by the wall clock.
pub fn now() -> Timestamp {
    let Some((began, start)) = VIRTUAL.get() else { return Timestamp::now() };
    let passed = SignedDuration::try_from(began.elapsed()).unwrap_or(SignedDuration::MAX);
    start.saturating_add(passed).unwrap_or(Timestamp::MAX)
}

/// Has the wall clock of this thread begin at `start` and follow tokio's clock from now on.
pub fn follow_tokio(start: Timestamp) {
    VIRTUAL.set(Some((Instant::now(), start)));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_virtual_clock_follows_tokios() {
        follow_tokio(Timestamp::UNIX_EPOCH);
        assert_eq!(now(), Timestamp::UNIX_EPOCH);
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(now().as_second(), 3);
    }
}
