//! Workloads as their records of several days tell of them, put together.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kai_api::daily_record::{EvictionRow, Outcome, WorkloadRecord};

use super::entries::{Entry, hours};
use super::row;
use crate::cluster::gpu;
use crate::print::duration;
use crate::print::output::Style;

/// One workload over all days that are asked for.
#[derive(Clone, Debug)]
pub(super) struct Past {
    pub(super) namespace: String,
    pub(super) uid: String,
    /// The record of its last day.
    pub(super) last: WorkloadRecord,
    pub(super) days: Vec<Entry>,
}

impl Past {
    /// Puts the days together; the workload of the last change comes last.
    pub(super) fn all(entries: Vec<Entry>) -> Vec<Self> {
        let mut by_uid: BTreeMap<(String, String), Vec<Entry>> = BTreeMap::new();
        for entry in entries {
            by_uid.entry((entry.namespace.clone(), entry.uid.clone())).or_default().push(entry);
        }
        let mut all: Vec<Self> = by_uid
            .into_iter()
            .filter_map(|((namespace, uid), mut days)| {
                days.sort_by_key(|entry| entry.day);
                let last = days.last()?.record.clone();
                Some(Self { namespace, uid, last, days })
            })
            .collect();
        all.sort_by_cached_key(|past| {
            let ended = past.last.ended.as_ref().map_or(Timestamp::MAX, |at| at.0);
            (ended, past.created(), past.last.name.clone())
        });
        all
    }

    pub(super) fn created(&self) -> Option<Timestamp> {
        self.records().filter_map(|record| record.created.as_ref()).map(|at| at.0).min()
    }

    pub(super) fn started(&self) -> Option<Timestamp> {
        self.records().filter_map(|record| record.started.as_ref()).map(|at| at.0).min()
    }

    pub(super) fn records(&self) -> impl Iterator<Item = &WorkloadRecord> {
        self.days.iter().map(|entry| &entry.record)
    }

    pub(super) fn sum(&self, of: impl Fn(&WorkloadRecord) -> u64) -> u64 {
        self.records().map(of).fold(0, u64::saturating_add)
    }

    /// Number of workloads that it is: one, but for the sum of those that have no record of their own.
    pub(super) fn count(&self) -> u64 {
        self.sum(|record| u64::from(record.workloads)).max(1)
    }

    pub(super) fn micro_gpu_seconds(&self) -> u128 {
        let rows = self.records().flat_map(|record| &record.usage);
        rows.map(|row| u128::from(row.micro_gpu_seconds)).sum()
    }

    pub(super) fn peak_micro_gpus(&self) -> u64 {
        self.records().map(|record| record.peak_micro_gpus).max().unwrap_or(0)
    }

    pub(super) fn evictions(&self) -> impl Iterator<Item = &EvictionRow> {
        self.records().flat_map(|record| &record.evictions)
    }

    /// Returns how often it was evicted, with the evictions that its records left out.
    pub(super) fn evictions_count(&self) -> u64 {
        let left_out = self.sum(|record| u64::from(record.evictions_left_out));
        left_out + u64::try_from(self.evictions().count()).unwrap_or(u64::MAX)
    }

    /// `kind.group/name`, as other commands name it.
    pub(super) fn label(&self) -> String {
        let (version, kind) = (&self.last.api_version, &self.last.kind);
        let resource = crate::cluster::Resource::new(version, kind, "");
        format!("{}/{}", resource.label(), self.last.name)
    }

    /// It for programs.
    pub(super) fn row(&self) -> row::Workload {
        let days = self.days.iter().map(|entry| row::Day {
            day: entry.day.to_string(),
            usage: entry.record.usage.clone(),
            run_seconds: entry.record.run_seconds,
            wait_seconds: entry.record.wait_seconds,
        });
        row::Workload {
            namespace: self.namespace.clone(),
            name: self.last.name.clone(),
            kind: self.last.kind.clone(),
            api_version: self.last.api_version.clone(),
            uid: self.uid.clone(),
            queue: self.last.queue.clone(),
            user: self.last.user.clone(),
            status: self.last.outcome,
            created: self.created().map(Time),
            started: self.started().map(Time),
            ended: self.last.ended.clone(),
            waits: self.sum(|record| u64::from(record.waits)),
            wait_seconds: self.sum(|record| record.wait_seconds),
            run_seconds: self.sum(|record| record.run_seconds),
            peak_micro_gpus: self.peak_micro_gpus(),
            micro_gpu_seconds: micro(self.micro_gpu_seconds()),
            gpu_hours: hours(self.micro_gpu_seconds()),
            evictions_count: self.evictions_count(),
            evictions: self.evictions().cloned().collect(),
            days: days.collect(),
        }
    }
}

/// An amount as a number of JSON.
pub(super) fn micro(amount: u128) -> u64 {
    u64::try_from(amount).unwrap_or(u64::MAX)
}

/// The style of an outcome.
pub(super) fn style(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Running | Outcome::Succeeded => Style::Good,
        Outcome::Pending | Outcome::Evicted => Style::Warn,
        Outcome::Failed => Style::Bad,
        Outcome::Deleted | Outcome::Stopped => Style::Dim,
    }
}

/// Millionths of GPUs as GPUs; `-` for none.
pub(super) fn gpus(micro_gpus: u64) -> String {
    if micro_gpus == 0 { "-".to_owned() } else { gpu::devices(micro_gpus.div_ceil(1000)) }
}

/// Seconds as a duration; `-` for none.
pub(super) fn span(seconds: u64) -> String {
    if seconds == 0 {
        return "-".to_owned();
    }
    duration::short(i64::try_from(seconds).unwrap_or(i64::MAX))
}

/// Says who evicted: the workload, else its `PodGroup`.
pub(super) fn evictor(row: &EvictionRow) -> String {
    let name = if row.by_workload.is_empty() { &row.by_pod_group } else { &row.by_workload };
    let name = name.split_once('/').map_or(name.as_str(), |(_, name)| name);
    match name {
        "" => "-".to_owned(),
        name => format!("{}/{name}", row.by_namespace),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record keeps the last evictions of its day alone.
    #[test]
    fn evictions_that_records_left_out_are_counted() {
        let entry = |day: i8, kept: usize, evictions_left_out: u32, run_seconds: u64| Entry {
            namespace: "n".to_owned(),
            day: jiff::civil::date(2026, 11, day),
            uid: "u".to_owned(),
            record: WorkloadRecord {
                name: format!("of day {day}"),
                evictions: vec![EvictionRow::default(); kept],
                evictions_left_out,
                run_seconds,
                ..WorkloadRecord::default()
            },
        };
        let all = Past::all(vec![entry(2, 1, 0, 5), entry(1, 2, 40, 7)]);
        let [one] = all.as_slice() else { panic!("it is one workload: {all:?}") };
        assert_eq!((one.evictions_count(), one.sum(|record| record.run_seconds)), (43, 12));
        assert_eq!(one.last.name, "of day 2");
    }
}
