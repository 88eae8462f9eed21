//! The wall clock, read in one place, so that a simulation can have a virtual one.

use std::{
    cell::{Cell, RefCell},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

thread_local! {
    /// The moment at which the virtual clock began, by tokio's clock and by the one on the wall.
    static VIRTUAL: Cell<Option<(Instant, Timestamp)>> = const { Cell::new(None) };
    /// The skew of the clock of whoever runs now.
    static SKEW: RefCell<Skew> = RefCell::default();
}

/// Time by which a virtual clock is ahead of the right one, as that of a machine which is badly set. Copies share it, so
/// that a clock can be set while whoever reads it runs.
#[derive(Clone, Debug, Default)]
pub struct Skew(Arc<AtomicI64>);

impl Skew {
    /// A clock that is ahead by whole seconds, or behind.
    pub fn seconds(seconds: i64) -> Self {
        Self(Arc::new(AtomicI64::new(seconds)))
    }

    /// Sets the clock: it steps by the difference.
    pub fn set(&self, seconds: i64) {
        self.0.store(seconds, Ordering::Relaxed);
    }

    /// Gives the seconds by which it is ahead.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Gives the present moment by the wall clock.
pub fn now() -> Timestamp {
    let Some((began, start)) = VIRTUAL.get() else { return Timestamp::now() };
    let passed = SignedDuration::try_from(began.elapsed()).unwrap_or(SignedDuration::MAX);
    let skew = SKEW.with_borrow(Skew::get);
    let passed = passed.saturating_add(SignedDuration::from_secs(skew));
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

/// Runs a future by a virtual clock with a skew of its own.
pub async fn skewed<F: Future>(skew: Skew, future: F) -> F::Output {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        let before = SKEW.replace(skew.clone());
        let polled = future.as_mut().poll(context);
        SKEW.set(before);
        polled
    })
    .await
}

/// Runs a future by the clock of whoever calls this, for a task of its own.
pub fn inherited<F: Future>(future: F) -> impl Future<Output = F::Output> {
    skewed(SKEW.with_borrow(Skew::clone), future)
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
        let skew = Skew::seconds(30);
        let other = skewed(skew.clone(), async {
            tokio::task::yield_now().await;
            let task = tokio::spawn(inherited(async { now().as_second() }));
            let before = (now().as_second(), task.await.expect("the task ends"));
            skew.set(-5);
            (before, now().as_second())
        });
        assert_eq!(other.await, ((30, 30), -5));
        assert_eq!(now().as_second(), 0);
    }
}
