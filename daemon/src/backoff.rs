//! Pauses between attempts that fail.

use std::time::Duration;

use crate::chance;

/// The pause after no failure yet.
const PAUSE_MIN: Duration = Duration::from_millis(50);
/// No pause is longer, unless another bound is asked for.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Doubles the pause with each failure up to 30 s, and shortens it by up to a half at random, so that clients spread.
pub fn backoff(failures: u32) -> Duration {
    backoff_to(failures, PAUSE_MAX)
}

/// Does as [`backoff`], with another longest pause.
pub fn backoff_to(failures: u32, pause_max: Duration) -> Duration {
    let full = PAUSE_MIN.saturating_mul(1 << failures.min(12)).min(pause_max);
    full.mul_f64(0.5 + chance::part() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        for (failures, full_ms) in [(0, 50), (1, 100), (3, 400), (9, 25_600), (10, 30_000)] {
            let full = Duration::from_millis(full_ms);
            for pause in (0..100).map(|_| backoff(failures)) {
                assert!(pause >= full / 2 && pause <= full, "{failures} failures: {pause:?}");
            }
        }
        assert!(backoff(u32::MAX) <= PAUSE_MAX);
        assert!(backoff_to(20, Duration::from_secs(3)) <= Duration::from_secs(3));
    }
}
