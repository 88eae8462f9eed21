//! The wall clock, read in one place, so that a simulation can have a virtual one.

use std::{cell::Cell, pin::pin};

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

thread_local! {
    /// The moment at which the virtual clock began, by tokio's clock and by the one on the wall.
    static VIRTUAL: Cell<Option<(Instant, Timestamp)>> = const { Cell::new(None) };
    /// Time by which the clock of whoever runs now is ahead.
    static AHEAD: Cell<SignedDuration> = const { Cell::new(SignedDuration::ZERO) };
}

/// Gives the present moment by the wall clock.
pub fn now() -> Timestamp {
    let Some((began, start)) = VIRTUAL.get() else { return Timestamp::now() };
    let passed = SignedDuration::try_from(began.elapsed()).unwrap_or(SignedDuration::MAX);
    let passed = passed.saturating_add(AHEAD.get());
    start.saturating_add(passed).unwrap_or(Timestamp::MAX)
}

/// Tells whether this thread has a virtual clock, which goes on as soon as nothing of its runtime works.
pub fn is_virtual() -> bool {
    VIRTUAL.get().is_some()
}

/// Has the wall clock of this thread begin at `start` and follow tokio's clock from now on.
pub fn follow_tokio(start: Timestamp) {
    VIRTUAL.set(Some((Instant::now(), start)));
}

/// Runs a future by a virtual clock that is ahead, as that of a machine which is badly set.
pub async fn ahead<F: Future>(time: SignedDuration, future: F) -> F::Output {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        let before = AHEAD.replace(time);
        let polled = future.as_mut().poll(context);
        AHEAD.set(before);
        polled
    })
    .await
}

/// Runs a future by the clock of whoever calls this, for a task of its own.
pub fn inherited<F: Future>(future: F) -> impl Future<Output = F::Output> {
    ahead(AHEAD.get(), future)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_virtual_clock_follows_tokios() {
        follow_tokio(Timestamp::UNIX_EPOCH);
        assert_eq!(now(), Timestamp::UNIX_EPOCH);
        assert!(is_virtual());
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(now().as_second(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_is_ahead_for_whoever_has_it_and_for_its_tasks() {
        follow_tokio(Timestamp::UNIX_EPOCH);
        let other = ahead(SignedDuration::from_secs(30), async {
            tokio::task::yield_now().await;
            let task = tokio::spawn(inherited(async { now().as_second() }));
            (now().as_second(), task.await.expect("the task ends"))
        });
        assert_eq!(other.await, (30, 30));
        assert_eq!(now().as_second(), 0);
    }
}
