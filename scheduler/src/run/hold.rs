//! Groups that are left out for a while.

use kai_daemon::backoff;
use kai_engine::Timestamp;

use super::{Run, now};

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
        let until = now().0 + i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        self.ingest.pause(group, true);
        self.held.retain(|(_, known)| *known != group);
        self.held.push((Timestamp(until), group));
    }

    /// Forgets what was remembered of groups whose objects are gone.
    pub(super) fn forget_groups(&mut self) {
        for group in std::mem::take(&mut self.ingest.context.gone_groups) {
            self.bind_failures.remove(&group);
            self.report.forget(group);
            self.writes.forget(group);
        }
    }

    /// Lets groups back in whose pause is over.
    pub(super) fn release(&mut self, now: Timestamp) {
        let (due, rest) =
            std::mem::take(&mut self.held).into_iter().partition(|(at, _)| *at <= now);
        self.held = rest;
        let due: Vec<(Timestamp, u32)> = due;
        for (_, group) in due {
            self.ingest.pause(group, false);
        }
    }
}
