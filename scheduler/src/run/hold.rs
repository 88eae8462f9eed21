//! Groups that are left out for a while, and evictions that are not tried again for a while.

use std::time::Duration;

use kai_daemon::backoff;
use kai_engine::{Delta, PodId};
use tokio::time::Instant;

use super::Run;

/// An eviction that failed, of which the engine is told when its pause is over: until then it tries no other for the same.
#[derive(Debug)]
pub struct NotEvicted {
    pub(super) at: Instant,
    pod: u32,
    uid: Box<str>,
}

impl Run {
    /// A group whose bind failed is left out for a while, longer each time, so that one that can
    /// never be bound takes nothing from the others.
    pub(super) fn hold(&mut self, group: u32) {
        if self.ingest.groups.object(group).is_none() {
            return;
        }
        let failures = self.bind_failures.entry(group).or_default();
        *failures += 1;
        let pause = backoff(*failures + 3);
        self.ingest.pause(group, true);
        self.held.retain(|(_, known)| *known != group);
        self.held.push((Instant::now() + pause, group));
    }

    /// An eviction that failed is decided anew: at once where it was the first of its pod, and after pauses that grow where
    /// it fails again, so that one which is always refused is not asked for in every cycle.
    pub(super) fn not_evicted(&mut self, pod: u32, uid: Box<str>, reason: &str) {
        let (of, failures) = self.evict_failures.entry(pod).or_default();
        if *of != uid {
            (*of, *failures) = (uid.clone(), 0);
        }
        let pause = if *failures == 0 { Duration::ZERO } else { backoff(*failures + 3) };
        *failures += 1;
        let row = &self.ingest.context.names.pods[pod];
        tracing::warn!(pod = %format!("{}/{}", row.namespace, row.name), reason, "failed to evict a pod");
        self.not_evicted.push(NotEvicted { at: Instant::now() + pause, pod, uid });
    }

    /// Tells the engine of evictions that failed and whose pause is over.
    fn tell_not_evicted(&mut self, now: Instant) {
        let names = &self.ingest.context.names;
        let deltas = &mut self.ingest.context.deltas;
        self.not_evicted.retain(|NotEvicted { at, pod, uid }| {
            let is_due = *at <= now;
            if is_due && names.pods.find(uid) == Some(*pod) {
                deltas.push(Delta::EvictFailed(PodId::new(*pod)));
            }
            !is_due
        });
    }

    /// Forgets what was remembered of groups whose objects are gone.
    pub(super) fn forget_groups(&mut self) {
        for group in std::mem::take(&mut self.ingest.context.gone_groups) {
            self.bind_failures.remove(&group);
            self.report.forget(group);
            self.writes.forget(group);
        }
    }

    /// Lets groups back in whose pause is over, and evictions.
    pub(super) fn release(&mut self) {
        let now = Instant::now();
        self.tell_not_evicted(now);
        let (due, rest) =
            std::mem::take(&mut self.held).into_iter().partition(|(at, _)| *at <= now);
        self.held = rest;
        let due: Vec<(Instant, u32)> = due;
        for (_, group) in due {
            self.ingest.pause(group, false);
        }
    }
}
