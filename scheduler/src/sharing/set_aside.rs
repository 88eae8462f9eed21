//! Nodes on which no GPU is opened for sharing for a while, because a reservation there came to nothing.

/// The first pause, in milliseconds; each failure in a row doubles it.
const PAUSE_MS: i64 = 10_000;
/// The longest pause.
const PAUSE_MS_MAX: i64 = 600_000;

/// A node whose last reservation failed.
#[derive(Debug, Default)]
pub(super) struct SetAside {
    failures: u32,
    until: Option<i64>,
    /// Says why, as the last reservation said.
    reason: String,
}

impl SetAside {
    /// As many GPUs as a node may have: which one failed is known to its kubelet alone.
    pub(super) const ALL: u16 = u16::MAX;

    /// One more reservation failed.
    pub(super) fn begin(&mut self, now: i64, reason: &str) {
        let pause = PAUSE_MS.saturating_mul(1 << self.failures.min(16)).min(PAUSE_MS_MAX);
        self.failures += 1;
        self.until = Some(now.saturating_add(pause));
        self.reason = String::from(reason);
    }

    /// Ends the pause where it is over; tells whether it ends now.
    pub(super) fn end(&mut self, now: i64) -> bool {
        self.until.take_if(|until| *until <= now).is_some()
    }

    /// Says when the pause ends, while it lasts.
    pub(super) fn until(&self) -> Option<i64> {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_in_a_row_doubles_the_pause() {
        let mut aside = SetAside::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            aside.begin(0, "silent");
            pauses.push(aside.until().unwrap_or_default());
            assert!(!aside.end(pauses.last().map_or(0, |pause| pause - 1)));
        }
        assert_eq!(pauses, [10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000]);
        assert!(aside.end(600_000));
        assert!(!aside.end(600_000), "it ends once");
    }
}
