//! Evictions, by the events of the scheduler, as rows of a record. Pure.

use std::sync::Arc;

use kai_api::daily_record::{EvictionRow, WorkloadRecord};
use kai_api::names::annotation;
use serde_json::Value;

use super::day::Day;
use super::settle::{Members, Window, time};
use super::span::{Second, Span, second};

/// Evictions for one group this close to each other are one.
const TOGETHER_SECONDS: Second = 60;
/// Rows that a record of a day keeps, the last ones.
const ROWS_MAX: usize = 16;

/// One pod that was evicted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) at: Second,
    pub(crate) action: Arc<str>,
    /// Namespace and name of the `PodGroup` that it left for; empty for none.
    pub(crate) by_namespace: Arc<str>,
    pub(crate) by_pod_group: Arc<str>,
    /// Workload and queue of that group.
    pub(crate) by_workload: String,
    pub(crate) by_queue: String,
    /// Words of the event, which name the pod.
    pub(crate) message: Arc<str>,
}

impl Seen {
    /// Reads an event of an eviction.
    pub(crate) fn of(event: &Value) -> Option<Self> {
        let annotations = &event["metadata"]["annotations"];
        let text = |key: &str| Arc::from(annotations[key].as_str().unwrap_or_default());
        let at = ["lastTimestamp", "eventTime", "firstTimestamp"]
            .iter()
            .find_map(|key| second(&event[*key]))?;
        Some(Self {
            at,
            action: text(annotation::EVICTOR_ACTION),
            by_namespace: text(annotation::EVICTOR_NAMESPACE),
            by_pod_group: text(annotation::EVICTOR_NAME),
            by_workload: String::new(),
            by_queue: String::new(),
            message: event["message"].as_str().unwrap_or_default().into(),
        })
    }

    /// Tells whether two events are of one eviction.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.message == other.message && (self.at - other.at).abs() <= TOGETHER_SECONDS
    }

    fn is_of(&self, row: &EvictionRow) -> bool {
        let began = row.at.as_ref().map_or(Second::MIN, |at| at.0.as_second());
        *self.action == *row.action
            && *self.by_namespace == *row.by_namespace
            && *self.by_pod_group == *row.by_pod_group
            && (self.at - began).abs() <= TOGETHER_SECONDS
    }

    /// GPU time that the pod had held when it was evicted.
    fn lost(&self, spans: &[Span]) -> u64 {
        let span = spans.iter().find(|span| {
            names(&self.message, &span.pod) && span.bound.is_some_and(|bound| bound <= self.at)
        });
        let Some((span, bound)) = span.and_then(|span| Some((span, span.bound?))) else { return 0 };
        let seconds = u64::try_from(self.at - bound).unwrap_or(0);
        let micro = span.devices.iter().map(|devices| devices.micro_gpus).sum::<u64>();
        micro.saturating_mul(seconds)
    }
}

/// Tells whether a message names a pod: `/NAME`, and no letter of a longer name after it.
fn names(message: &str, pod: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
    message.match_indices(pod).any(|(at, _)| {
        let after = message[at + pod.len()..].chars().next();
        message[..at].ends_with('/') && !after.is_some_and(is_letter)
    })
}

/// Puts the evictions of a window's day into the record. Those that are in it already are not put in again, and none that
/// is in it is lost because its event is.
pub(crate) fn merge(record: &mut WorkloadRecord, members: &[Members], window: Window) {
    let mut fresh: Vec<EvictionRow> = Vec::new();
    let day = Day::of(window.from);
    for group in members {
        let mut today: Vec<&Seen> =
            group.evictions.iter().filter(|seen| Day::of(seen.at) == day).collect();
        today.sort_by_key(|seen| seen.at);
        for seen in today {
            let lost = seen.lost(&group.spans);
            if let Some(row) = fresh.iter_mut().find(|row| seen.is_of(row)) {
                row.pods += 1;
                row.lost_micro_gpu_seconds = row.lost_micro_gpu_seconds.saturating_add(lost);
                continue;
            }
            fresh.push(EvictionRow {
                at: Some(time(seen.at)),
                pods: 1,
                action: seen.action.to_string(),
                by_namespace: seen.by_namespace.to_string(),
                by_pod_group: seen.by_pod_group.to_string(),
                by_workload: seen.by_workload.clone(),
                by_queue: seen.by_queue.clone(),
                lost_micro_gpu_seconds: lost,
            });
        }
    }
    for row in fresh {
        enter(record, row);
    }
    record.evictions.sort_by_key(|row| row.at.as_ref().map(|at| at.0));
    let over = record.evictions.len().saturating_sub(ROWS_MAX);
    if over > 0 {
        record.evictions.drain(..over);
        record.evictions_left_out =
            record.evictions_left_out.saturating_add(u32::try_from(over).unwrap_or(u32::MAX));
    }
}

/// Enters a row, or what it says more than the one that is there. An eviction that was left out before stays so.
fn enter(record: &mut WorkloadRecord, row: EvictionRow) {
    let is_same = |known: &&mut EvictionRow| {
        let at = |row: &EvictionRow| row.at.as_ref().map_or(0, |at| at.0.as_second());
        known.action == row.action
            && known.by_namespace == row.by_namespace
            && known.by_pod_group == row.by_pod_group
            && (at(known) - at(&row)).abs() <= TOGETHER_SECONDS
    };
    let oldest = record.evictions.iter().filter_map(|row| row.at.as_ref()).map(|at| at.0).min();
    let was_left_out = record.evictions_left_out > 0
        && row.at.as_ref().zip(oldest).is_some_and(|(at, oldest)| at.0 < oldest);
    if let Some(known) = record.evictions.iter_mut().find(is_same) {
        known.pods = known.pods.max(row.pods);
        known.lost_micro_gpu_seconds = known.lost_micro_gpu_seconds.max(row.lost_micro_gpu_seconds);
        if known.by_workload.is_empty() {
            known.by_workload = row.by_workload;
            known.by_queue = row.by_queue;
        }
    } else if !was_left_out {
        record.evictions.push(row);
    }
}
