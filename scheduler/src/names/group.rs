//! What is kept of a pod group.

use kai_api::names::annotation;
use kai_engine::Group;

use super::Presence;

/// What is kept of a pod group.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of one object")]
pub struct GroupRow {
    /// Whether it is there.
    pub presence: Presence,
    /// Its UID.
    pub uid: Box<str>,
    /// The version that was last seen: guards our writes.
    pub version: Box<str>,
    /// The facts as its object says them.
    pub facts: Box<Group>,
    /// Its queue by number.
    pub queue: Option<u32>,
    /// `spec.queue`.
    pub queue_name: Box<str>,
    /// `spec.priorityClassName`.
    pub priority_class: Box<str>,
    /// Whether the priority class decides if it is preemptible.
    pub preemptibility_derived: bool,
    /// Whether a topology is asked for, so that its aliases matter.
    pub has_topology: bool,
    /// Pods get the condition too, unless `spec.markUnschedulable` is false.
    pub mark_unschedulable: bool,
    /// `spec.schedulingBackoff` is 1.
    pub backs_off: bool,
    /// `status.schedulingConditions`, as written.
    pub conditions: Vec<serde_json::Value>,
    /// The three timestamps among its annotations, as written.
    pub stamps: Stamps,
    /// What is explained among them, as written.
    pub explanation: Option<Box<str>>,
    /// When it was explained last, in milliseconds.
    pub explained: i64,
    /// What a write that is under way changes, as it was before; none where the object was read since.
    pub before: Option<Box<Before>>,
    /// Its pods.
    pub pods: Vec<u32>,
    /// What was said of it last; nothing is said twice.
    pub said: Option<Said>,
    /// A write of it is under way.
    pub is_writing: bool,
    /// Binds of its pods that failed in a row.
    pub bind_failures: u32,
    /// It is left out for a while, because a bind failed.
    pub is_paused: bool,
}

impl GroupRow {
    /// The facts as the engine is told them: left out while it is paused, whatever its object says.
    pub fn told(&self) -> Box<Group> {
        let mut facts = self.facts.clone();
        facts.held |= self.is_paused;
        facts
    }

    /// What a write makes of it is kept as if it were there; this is what it was, in case it fails.
    pub fn keep_before(&mut self) {
        let Self { stamps, explanation, conditions, .. } = &*self;
        self.before = Some(Box::new((stamps.clone(), explanation.clone(), conditions.clone())));
    }

    /// The write that was under way ended; one that failed left all as it was. One that was done made this version, from
    /// which the next may be written before the object is read again.
    pub fn wrote(&mut self, settled: bool, version: Option<Box<str>>) {
        self.is_writing = false;
        let Some(before) = self.before.take() else { return };
        if let Some(version) = version {
            self.version = version;
        }
        if !settled {
            (self.stamps, self.explanation, self.conditions) = *before;
        }
    }
}

/// What a write changes of a group: stamps, explanation and conditions.
pub type Before = (Stamps, Option<Box<str>>, Vec<serde_json::Value>);

/// What was said of a group.
#[derive(Debug, Clone, Copy)]
pub struct Said {
    /// The code of the reason.
    pub code: &'static str,
    /// The words, as a hash.
    pub hash: u64,
    /// When, in milliseconds.
    pub at: i64,
}

/// The timestamps on a pod group.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Stamps {
    /// `kai.scheduler/stale-podgroup-timestamp`.
    pub stale_since: Option<i64>,
    /// `kai.scheduler/last-start-timestamp`.
    pub last_start: Option<i64>,
    /// `kai.scheduler/last-eviction-timestamp`.
    pub last_eviction: Option<i64>,
}

impl Stamps {
    /// Each with the key of its annotation.
    pub fn annotations(&self) -> [(&'static str, Option<i64>); 3] {
        [
            (annotation::STALE_SINCE, self.stale_since),
            (annotation::LAST_START, self.last_start),
            (annotation::LAST_EVICTION, self.last_eviction),
        ]
    }
}
