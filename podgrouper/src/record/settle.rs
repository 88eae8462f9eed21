//! Adds what a workload did in a window of time to its record of that day. Pure.
//!
//! GPU time is counted pod by pod, from the moment up to which the pod is counted already: a pod of which the watch told
//! late is counted late, and one that had ended by then is counted back. So the sum over all windows is the integral of
//! what was held, whatever the windows were.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kai_api::daily_record::{Outcome, UsageRow, WorkloadRecord};

use super::eviction::{Seen, merge};
use super::span::{End, Second, Span};
use super::sums::{Bounds, Sums, added};

/// The pods of one `PodGroup`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Members {
    pub(crate) queue: Arc<str>,
    pub(crate) spans: Vec<Span>,
    pub(crate) evictions: Vec<Seen>,
}

/// A part of one day.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) from: Second,
    pub(crate) to: Second,
    /// True if the workload waited when the window began.
    pub(crate) begins_waiting: bool,
}

/// Adds a window to the record of its day; `is_deleted` tells that no `PodGroup` of the workload is there any more.
pub(crate) fn settle(
    before: &WorkloadRecord,
    members: &[Members],
    window: Window,
    is_deleted: bool,
) -> WorkloadRecord {
    let mut record = before.clone();
    let spans = || members.iter().flat_map(|row| &row.spans);
    let first = |known: Option<Time>, news: Option<Second>| {
        let known = known.map(|time| time.0.as_second());
        known.into_iter().chain(news).min().map(time)
    };
    record.created = first(record.created, spans().map(|span| span.created).min());
    record.started = first(record.started, spans().filter_map(|span| span.bound).min());
    record.usage = usage(&record.usage, members, window);
    let swept = sweep(members, window);
    record.run_seconds = added(record.run_seconds, swept.run_seconds);
    record.wait_seconds = added(record.wait_seconds, swept.wait_seconds);
    record.waits = record.waits.saturating_add(swept.waits);
    record.peak_micro_gpus = record.peak_micro_gpus.max(swept.peak_micro_gpus);
    merge(&mut record, members, window);
    record.outcome = outcome(&record, members, is_deleted);
    let last = spans().filter_map(|span| span.ended).map(|ended| ended.at).max();
    record.ended = match last {
        _ if record.outcome.is_open() => None,
        Some(last) => Some(time(last)),
        None => record.ended.or_else(|| Some(time(window.to))),
    };
    record.through = Some(time(window.to));
    record
}

/// A moment as the API writes it.
pub(crate) fn time(at: Second) -> Time {
    Time(Timestamp::from_second(at).unwrap_or_default())
}

fn usage(before: &[UsageRow], members: &[Members], window: Window) -> Vec<UsageRow> {
    let mut sums = Sums::of(before, Bounds::ONE);
    for group in members {
        for span in &group.spans {
            let seconds = uncounted_seconds(span, window);
            let is_held = span.holds_at(window.to);
            for devices in &*span.devices {
                let (counted, held) = sums.row(&group.queue, &devices.gpu_type);
                *counted += i128::from(seconds) * i128::from(devices.micro_gpus);
                *held = held.saturating_add(if is_held { devices.micro_gpus } else { 0 });
            }
        }
    }
    sums.into_rows()
}

/// Seconds of a pod that this window counts; below zero where it was counted beyond its end.
fn uncounted_seconds(span: &Span, window: Window) -> Second {
    let Some(from) = span.uncounted_from(window.from) else { return 0 };
    let seconds = span.end().min(window.to) - from;
    if span.counted_to.is_some() { seconds } else { seconds.max(0) }
}

/// Notes on a pod that a window was counted.
pub(crate) fn mark(span: &mut Span, window: Window) {
    if span.bound.is_some_and(|bound| bound <= window.to) {
        span.counted_to = Some(span.end().min(window.to));
    }
}

/// Sums of a window.
#[derive(Debug, Default, PartialEq, Eq)]
struct Swept {
    run_seconds: u64,
    wait_seconds: u64,
    waits: u32,
    peak_micro_gpus: u64,
}

/// Change at a moment of what is there.
#[derive(Debug, Default, Clone, Copy)]
struct Step {
    waiting: i64,
    held: i64,
    micro_gpus: i128,
}

/// Goes through a window from change to change.
fn sweep(members: &[Members], window: Window) -> Swept {
    let mut swept = Swept::default();
    let (mut now, mut at) = (Step::default(), window.from);
    let mut is_waiting = window.begins_waiting;
    for (next, step) in steps(members, window) {
        let seconds = u64::try_from(next - at).unwrap_or(0);
        if seconds > 0 {
            let waits = now.held == 0 && now.waiting > 0;
            swept.waits += u32::from(waits && !is_waiting);
            is_waiting = waits;
            swept.wait_seconds += if waits { seconds } else { 0 };
            swept.run_seconds += if now.held > 0 { seconds } else { 0 };
        }
        at = next;
        now.waiting += step.waiting;
        now.held += step.held;
        now.micro_gpus += step.micro_gpus;
        let held = u64::try_from(now.micro_gpus.max(0)).unwrap_or(u64::MAX);
        swept.peak_micro_gpus = swept.peak_micro_gpus.max(held);
    }
    swept
}

/// The changes of a window, each moment once, its end among them.
fn steps(members: &[Members], window: Window) -> BTreeMap<Second, Step> {
    let mut steps = BTreeMap::from([(window.to, Step::default())]);
    let clip = |at: Second| at.clamp(window.from, window.to);
    for span in members.iter().flat_map(|row| &row.spans) {
        let micro = span.devices.iter().map(|devices| i128::from(devices.micro_gpus)).sum::<i128>();
        let bound = span.bound.unwrap_or(Second::MAX);
        let waited = [(clip(span.created), 1), (clip(bound.min(span.end())), -1)];
        for (at, sign) in waited {
            steps.entry(at).or_default().waiting += sign;
        }
        if bound < span.end() {
            // Whatever is held beyond the window is held at its end.
            let ends = Some((clip(span.end()), -1)).filter(|_| span.end() <= window.to);
            let begins = Some((clip(bound), 1)).filter(|_| bound <= window.to);
            for (at, sign) in begins.into_iter().chain(ends) {
                let step = steps.entry(at).or_default();
                step.held += sign;
                step.micro_gpus += micro * i128::from(sign);
            }
        }
    }
    steps
}

fn outcome(record: &WorkloadRecord, members: &[Members], is_deleted: bool) -> Outcome {
    let spans = || members.iter().flat_map(|row| &row.spans);
    let is_live = |span: &&Span| span.ended.is_none();
    if spans().any(|span| is_live(&span) && span.bound.is_some()) {
        return Outcome::Running;
    }
    if spans().any(|span| is_live(&span)) {
        return Outcome::Pending;
    }
    let gone = if is_deleted { Outcome::Deleted } else { Outcome::Stopped };
    let began = spans().filter_map(|span| span.bound).max();
    let ends = spans().filter_map(|span| span.ended);
    // Helpers are deleted after the pod that counts has ended.
    let told = ends
        .filter(|ended| ended.how != End::Gone && began.is_none_or(|began| ended.at >= began))
        .max_by_key(|ended| ended.at);
    let evicted = record.evictions.last().and_then(|row| Some(row.at.as_ref()?.0.as_second()));
    let is_evicted = evicted.zip(began).is_some_and(|(at, began)| at >= began);
    let how = told.map(|told| told.how);
    if how == Some(End::Succeeded) {
        return Outcome::Succeeded;
    }
    // Containers that are told to end for an eviction may fail.
    if is_evicted {
        return Outcome::Evicted;
    }
    if how == Some(End::Failed) {
        return Outcome::Failed;
    }
    let has_pods = spans().next().is_some();
    if has_pods || record.outcome.is_open() { gone } else { record.outcome }
}

#[cfg(test)]
mod tests;
