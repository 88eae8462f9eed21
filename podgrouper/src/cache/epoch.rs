//! Times between two breaks of the watch of a kind.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Tells reads apart between which something may have changed unseen. No number comes twice, or what was read before the right to watch
/// was withdrawn would count again once it is back.
#[derive(Debug, Default)]
pub(super) struct Epoch {
    /// 0: nothing is watched.
    now: AtomicU64,
    last: AtomicU64,
    is_followed: AtomicBool,
}

impl Epoch {
    /// Tells whether the caller is the first to follow the kind, which goes on for ever; the first epoch begins.
    pub(super) fn begin(&self) -> bool {
        let is_first = !self.is_followed.swap(true, Ordering::AcqRel);
        if is_first {
            self.renew();
        }
        is_first
    }

    /// Begins the epoch after a break.
    pub(super) fn renew(&self) {
        let next = self.last.fetch_add(1, Ordering::AcqRel) + 1;
        self.now.store(next, Ordering::Release);
    }

    /// Notes that nothing is watched until [`Epoch::renew`].
    pub(super) fn end(&self) {
        self.now.store(0, Ordering::Release);
    }

    /// The epoch of now; 0: nothing is watched.
    pub(super) fn now(&self) -> u64 {
        self.now.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::Epoch;

    #[test]
    fn no_epoch_comes_twice_and_one_follows() {
        let epoch = Epoch::default();
        assert_eq!(epoch.now(), 0);
        assert!(epoch.begin());
        let first = epoch.now();
        epoch.end();
        assert_eq!(epoch.now(), 0);
        assert!(!epoch.begin(), "who followed the kind before goes on");
        assert_eq!(epoch.now(), 0);
        epoch.renew();
        assert!(epoch.now() > first);
    }
}
