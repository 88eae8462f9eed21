//! Groups that are left out for a while.

use kai_daemon::backoff;
use kai_engine::Timestamp;

use super::{Run, now};

impl Run {
    /// A group whose bind failed is left out for a while, longer each time, so that one that can
    /// never be bound takes nothing from the others.
    pub(super) fn hold(&mut self, group: u32) {
        let row = &mut self.ingest.common.names.groups[group];
        row.bind_failures += 1;
        let pause = backoff(row.bind_failures + 3);
        let until = now().0 + i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        self.ingest.pause(group, true);
        self.held.retain(|(_, known)| *known != group);
        self.held.push((Timestamp(until), group));
    }

    /// Lets groups back in whose pause is over.
    pub(super) fn release(&mut self, now: Timestamp) {
        let (due, rest) =
            std::mem::take(&mut self.held).into_iter().partition(|(at, _)| *at <= now);
        self.held = rest;
        let due: Vec<(Timestamp, u32)> = due;
        for (_, group) in due {
            if self.ingest.common.names.groups.row(group).is_some() {
                self.ingest.pause(group, false);
            }
        }
    }
}
