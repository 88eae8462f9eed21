//! Describes what the scheduler writes on pod groups.

use jiff::Timestamp;
use kai_api::names::annotation;
use serde_json::Value;

/// Holds what the scheduler writes on a pod group, as its object says it.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Record {
    /// `status.schedulingConditions`, whole.
    pub conditions: Vec<Value>,
    /// The three timestamps among its annotations.
    pub stamps: Stamps,
    /// Holds what is explained among them.
    pub explanation: Option<Box<str>>,
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

/// Writes a moment in milliseconds as these annotations hold it: RFC 3339 of KAI has no parts of a second.
pub(crate) fn stamp_text(at: i64) -> Option<String> {
    Timestamp::from_second(at.div_euclid(1000)).ok().map(|at| at.to_string())
}
