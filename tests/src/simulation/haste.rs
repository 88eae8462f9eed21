//! Counts of how often a process asks for the same: who tries without a pause has no bound on its work (L5, L7).

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use http::Method;
use tokio::time::Instant;

/// Lies above what is asked for most often. The stand-in of the Job controller makes a pod anew at once where a kubelet
/// rejects it, and does not pause as a real one does: 60 such pods within a minute have their Job read 300 times.
const SAME_MAX: u32 = 600;
const WITHIN: Duration = Duration::from_mins(1);

/// Requests of a process, each with the begin of its minute and how often it came in it.
#[derive(Debug, Default)]
pub(super) struct Haste(Mutex<BTreeMap<String, (Instant, u32)>>);

impl Haste {
    /// Counts a request; says so once in a minute in which the same comes too often. Objects that are made come by the path
    /// of their collection, each once.
    pub(super) fn asks(&self, method: &Method, path: &str) -> Option<String> {
        if *method == Method::POST {
            return None;
        }
        let now = Instant::now();
        let what = format!("{method} {path}");
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (begun, count) = asked.entry(what.clone()).or_insert((now, 0));
        if now.duration_since(*begun) > WITHIN {
            (*begun, *count) = (now, 0);
        }
        *count += 1;
        (*count == SAME_MAX).then(|| format!("asks {SAME_MAX} times within a minute: {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_pause_is_enough() {
        for (pause_millis, is_hasty) in [(50, true), (200, false)] {
            let haste = Haste::default();
            let mut said = 0;
            for _ in 0..1000 {
                said += usize::from(haste.asks(&Method::GET, "/api/v1/pods").is_some());
                assert_eq!(haste.asks(&Method::POST, "/api/v1/pods"), None);
                tokio::time::sleep(Duration::from_millis(pause_millis)).await;
            }
            assert_eq!(said > 0, is_hasty, "{pause_millis} ms");
        }
    }
}
