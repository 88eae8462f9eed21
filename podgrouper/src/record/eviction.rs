//! Evictions, by the events of the scheduler, as rows of a record. Pure.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use kai_api::daily_record::{EvictionRow, WorkloadRecord};
use kai_api::names::annotation;
use serde_json::Value;

use super::day::Day;
use super::settle::{Members, Window, time};
use super::span::{Second, Span, second};
use super::who::NAME_BYTES_MAX;

/// Evictions for one group this close to each other are one.
pub(super) const TOGETHER_SECONDS: Second = 60;
/// Rows that a record of a day keeps, the last ones, and bytes of their texts.
const ROWS_MAX: usize = 16;
const ROWS_BYTES_MAX: usize = 2 << 10;

/// The longest message of an event of ours.
const MESSAGE_BYTES_MAX: usize = 1_024;
/// So many names of a message are kept: the scheduler's have the pod's, and that of the group that it left for.
const NAMES_MAX: usize = 2;

/// One pod that was evicted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) at: Second,
    pub(crate) action: Arc<str>,
    /// Namespace and name of the `PodGroup` that it left for; empty for none.
    pub(crate) by_namespace: Arc<str>,
    pub(crate) by_pod_group: Arc<str>,
    /// Workload and queue of that group.
    pub(crate) by_workload: Arc<str>,
    pub(crate) by_queue: Arc<str>,
    /// Names in the words of the event, its pod's among them.
    pub(crate) names: Arc<[Box<str>]>,
    /// A hash of these words.
    pub(crate) said: u64,
}

impl Seen {
    /// Reads an event of an eviction. Whoever may write events writes others: none counts that the scheduler would not write.
    pub(crate) fn of(event: &Value, scheduler: &str) -> Option<Self> {
        let is_ours =
            event["source"]["component"] == scheduler || event["reportingComponent"] == scheduler;
        let message = event["message"].as_str().unwrap_or_default();
        let about = event["involvedObject"]["name"].as_str().unwrap_or_default();
        if !is_ours || message.len() > MESSAGE_BYTES_MAX || about.len() > NAME_BYTES_MAX {
            return None;
        }
        let annotations = &event["metadata"]["annotations"];
        let text = |key: &str| {
            let text = annotations[key].as_str().unwrap_or_default();
            (text.len() <= NAME_BYTES_MAX).then(|| Arc::from(text))
        };
        let at = ["lastTimestamp", "eventTime", "firstTimestamp"]
            .iter()
            .find_map(|key| second(&event[*key]))?;
        let mut hasher = DefaultHasher::new();
        message.hash(&mut hasher);
        Some(Self {
            at,
            action: text(annotation::EVICTOR_ACTION)?,
            by_namespace: text(annotation::EVICTOR_NAMESPACE)?,
            by_pod_group: text(annotation::EVICTOR_NAME)?,
            by_workload: Arc::default(),
            by_queue: Arc::default(),
            names: names(message),
            said: hasher.finish(),
        })
    }

    /// GPU time that the pod had held when it was evicted: since it was bound, and not another of its name before.
    fn lost(&self, spans: &BTreeMap<&str, Vec<&Span>>) -> u64 {
        let named = self.names.iter().find_map(|name| spans.get(&**name));
        let bound = named.into_iter().flatten().filter_map(|span| Some((span.bound?, span)));
        let held = bound.filter(|(bound, _)| *bound <= self.at).max_by_key(|(bound, _)| *bound);
        let Some((bound, span)) = held else { return 0 };
        let seconds = u64::try_from(self.at - bound).unwrap_or(0);
        let devices = span.devices.iter().map(|devices| devices.micro_gpus);
        let micro = devices.fold(0, u64::saturating_add);
        micro.saturating_mul(seconds)
    }
}

/// The names in a message: what stands behind `NAMESPACE/`.
fn names(message: &str) -> Arc<[Box<str>]> {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.'));
    let behind = message.split('/').skip(1);
    let names = behind.map(|rest| rest.split(is_end).next().unwrap_or_default());
    let names = names.map(|name| name.trim_end_matches('.')).filter(|name| !name.is_empty());
    names.take(NAMES_MAX).map(Box::from).collect()
}

/// Puts the evictions of a window's day into the record. Those that are in it already are not put in again, and none that
/// is in it is lost because its event is.
pub(crate) fn merge(record: &mut WorkloadRecord, members: &[Members], window: Window) {
    let oldest = record.evictions.iter().filter_map(|row| row.at.as_ref()).map(|at| at.0).min();
    let was_left_out = |row: &EvictionRow| {
        record.evictions_left_out > 0
            && row.at.as_ref().zip(oldest).is_some_and(|(at, oldest)| at.0 < oldest)
    };
    let mut fresh = rows(members, Day::of(window.from));
    fresh.retain(|row| !was_left_out(row));
    let count = record.evictions.len();
    for row in fresh {
        enter(record, count, row);
    }
    record.evictions.sort_by_key(|row| row.at.as_ref().map(|at| at.0));
    let over = record.evictions.len() - last_rows(&record.evictions);
    if over > 0 {
        record.evictions.drain(..over);
        record.evictions_left_out =
            record.evictions_left_out.saturating_add(u32::try_from(over).unwrap_or(u32::MAX));
    }
}

/// Counts the last rows that have room in a record.
fn last_rows(rows: &[EvictionRow]) -> usize {
    let mut left = ROWS_BYTES_MAX;
    let fits = |row: &&EvictionRow| {
        let texts =
            [&row.action, &row.by_namespace, &row.by_pod_group, &row.by_workload, &row.by_queue];
        let bytes = texts.iter().map(|text| text.len()).sum();
        left.checked_sub(bytes).map(|less| left = less).is_some()
    };
    rows.iter().rev().take(ROWS_MAX).take_while(fits).count()
}

/// The evictions of a day: those for one group that are close to each other are one row.
fn rows(members: &[Members], day: Day) -> Vec<EvictionRow> {
    let mut today: Vec<(&Seen, u64)> = Vec::new();
    for group in members {
        let mut spans: BTreeMap<&str, Vec<&Span>> = BTreeMap::new();
        for span in &group.spans {
            spans.entry(&span.pod).or_default().push(span);
        }
        let seen = group.evictions.iter().filter(|seen| Day::of(seen.at) == day);
        today.extend(seen.map(|seen| (seen, seen.lost(&spans))));
    }
    today.sort_by_key(|(seen, _)| seen.at);
    let mut rows: Vec<EvictionRow> = Vec::new();
    // The last row of each action for a group, and when it begins.
    let mut last: BTreeMap<[&str; 3], (Second, usize)> = BTreeMap::new();
    for (seen, lost) in today {
        let key = [&*seen.action, &*seen.by_namespace, &*seen.by_pod_group];
        let row = last.get(&key).filter(|(began, _)| seen.at - began <= TOGETHER_SECONDS);
        if let Some(row) = row.and_then(|(_, row)| rows.get_mut(*row)) {
            row.pods += 1;
            row.lost_micro_gpu_seconds = row.lost_micro_gpu_seconds.saturating_add(lost);
            continue;
        }
        last.insert(key, (seen.at, rows.len()));
        rows.push(EvictionRow {
            at: Some(time(seen.at)),
            pods: 1,
            action: seen.action.to_string(),
            by_namespace: seen.by_namespace.to_string(),
            by_pod_group: seen.by_pod_group.to_string(),
            by_workload: seen.by_workload.to_string(),
            by_queue: seen.by_queue.to_string(),
            lost_micro_gpu_seconds: lost,
        });
    }
    rows
}

/// Enters a row, or what it says more than one of the first `count` that are there.
fn enter(record: &mut WorkloadRecord, count: usize, row: EvictionRow) {
    let is_same = |known: &&mut EvictionRow| {
        let at = |row: &EvictionRow| row.at.as_ref().map_or(0, |at| at.0.as_second());
        known.action == row.action
            && known.by_namespace == row.by_namespace
            && known.by_pod_group == row.by_pod_group
            && (at(known) - at(&row)).abs() <= TOGETHER_SECONDS
    };
    if let Some(known) = record.evictions[..count].iter_mut().find(is_same) {
        known.pods = known.pods.max(row.pods);
        known.lost_micro_gpu_seconds = known.lost_micro_gpu_seconds.max(row.lost_micro_gpu_seconds);
        if known.by_workload.is_empty() {
            known.by_workload = row.by_workload;
            known.by_queue = row.by_queue;
        }
    } else {
        record.evictions.push(row);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::super::span::{Devices, End, Ended, Span};
    use super::{Members, Seen, Window, WorkloadRecord, merge};

    fn event(edit: impl FnOnce(&mut Value)) -> Option<Seen> {
        let mut event = json!({
            "metadata": {"annotations": {"evictor-action-type": "preempt",
                "evictor-pod-group-namespace": "m", "evictor-pod-group-name": "g"}},
            "source": {"component": "kai-scheduler"},
            "lastTimestamp": "1970-01-01T00:02:00Z",
            "message": "Pod n/s-0.a was preempted by higher priority workload m/g.",
        });
        edit(&mut event);
        Seen::of(&event, "kai-scheduler")
    }

    /// Whoever may write events of a namespace could have as much text kept as an object holds, for each of them.
    #[test]
    fn an_event_is_one_of_the_schedulers_or_none() {
        let seen = event(|_| ()).expect("it is the scheduler's");
        assert_eq!((seen.at, &*seen.by_pod_group), (120, "g"));
        assert_eq!(seen.names.iter().map(|name| &**name).collect::<Vec<_>>(), ["s-0.a", "g"]);
        assert!(event(|event| event["source"] = Value::Null).is_none());
        assert!(event(|event| event["message"] = json!("m".repeat(1_025))).is_none());
        assert!(event(|event| event["involvedObject"]["name"] = json!("g".repeat(254))).is_none());
        for key in ["evictor-action-type", "evictor-pod-group-namespace", "evictor-pod-group-name"]
        {
            let long =
                event(|event| event["metadata"]["annotations"][key] = json!("x".repeat(254)));
            assert!(long.is_none(), "{key}");
        }
    }

    /// An object holds 128 workloads, whatever events say.
    #[test]
    fn evictions_take_few_bytes_of_a_record() {
        for (bytes, expect) in [(8, 16), (253, 2)] {
            let name = "x".repeat(bytes);
            let seen = |at| Seen {
                at,
                action: "reclaim".into(),
                by_namespace: name.as_str().into(),
                by_pod_group: name.as_str().into(),
                by_workload: name.as_str().into(),
                by_queue: name.as_str().into(),
                names: Arc::default(),
                said: 0,
            };
            let evictions = (0..40).map(|at| seen(100 * at)).collect();
            let members = [Members { evictions, ..Members::default() }];
            let window = Window { from: 0, to: 9_000, begins_waiting: false };
            let mut record = WorkloadRecord::default();
            merge(&mut record, &members, window);
            assert_eq!(record.evictions.len(), expect);
            assert_eq!(usize::try_from(record.evictions_left_out), Ok(40 - expect));
            let again = record.clone();
            merge(&mut record, &members, window);
            assert_eq!(record, again);
        }
    }

    #[test]
    fn the_last_pod_of_the_name_was_evicted() {
        let span = |bound, ended: Option<i64>| Span {
            pod: "s-0.a".into(),
            created: bound,
            bound: Some(bound),
            ended: ended.map(|at| Ended { at, how: End::Gone }),
            devices: Arc::from([Devices { gpu_type: "H100".into(), micro_gpus: 1_000_000 }]),
            counted_to: None,
            is_news: true,
        };
        let (old, new, later) = (span(0, Some(100)), span(110, None), span(130, None));
        let spans = BTreeMap::from([("s-0.a", vec![&old, &new, &later])]);
        let seen = event(|_| ()).expect("it is the scheduler's");
        assert_eq!(seen.lost(&spans), 10_000_000);
    }
}
