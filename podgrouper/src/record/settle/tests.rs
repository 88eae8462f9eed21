//! Windows of histories, and that what they count is the integral of what was held.

use std::sync::Arc;

use kai_api::daily_record::{EvictionRow, Outcome, WorkloadRecord};
use proptest::prelude::*;

use super::super::eviction::Seen;
use super::super::span::{Devices, End, Ended, Second, Span};
use super::{Members, Window, mark, settle, time};

/// A pod by its times: created, bound, ended; with half a GPU.
fn pod(name: &str, created: Second, bound: Option<Second>, ended: Option<(Second, End)>) -> Span {
    Span {
        pod: name.into(),
        created,
        bound,
        ended: ended.map(|(at, how)| Ended { at, how }),
        devices: Arc::from([Devices { gpu_type: "H100".into(), micro_gpus: 500_000 }]),
        counted_to: None,
        is_news: true,
    }
}

fn group(spans: Vec<Span>) -> Vec<Members> {
    vec![Members { queue: "q".into(), spans, evictions: Vec::new() }]
}

/// Settles a window of a new record, and gives its sums: seconds run and waited, waits, GPU-seconds in halves.
fn check(spans: Vec<Span>, to: Second, outcome: Outcome, sums: [u64; 4]) {
    let window = Window { from: 0, to, begins_waiting: false };
    let record = settle(&WorkloadRecord::default(), &group(spans), window, false);
    let halves: u64 = record.usage.iter().map(|row| row.micro_gpu_seconds / 500_000).sum();
    let found = [record.run_seconds, record.wait_seconds, u64::from(record.waits), halves];
    assert_eq!((record.outcome, found), (outcome, sums), "{record:?}");
}

#[test]
fn a_window_has_what_was_waited_for_and_held() {
    use End::{Failed, Gone, Succeeded};
    use Outcome as O;
    check(vec![pod("p", 1, None, None)], 10, O::Pending, [0, 9, 1, 0]);
    check(vec![pod("p", 1, Some(4), None)], 10, O::Running, [6, 3, 1, 6]);
    check(vec![pod("p", 1, Some(4), Some((8, Succeeded)))], 10, O::Succeeded, [4, 3, 1, 4]);
    check(vec![pod("p", 1, Some(4), Some((8, Failed)))], 10, O::Failed, [4, 3, 1, 4]);
    check(vec![pod("p", 1, Some(4), Some((8, Gone)))], 10, O::Stopped, [4, 3, 1, 4]);
    // Two pods at once run for as long as one, and hold twice as much.
    let two = vec![pod("a", 0, Some(2), None), pod("b", 0, Some(4), None)];
    check(two, 10, O::Running, [8, 2, 1, 14]);
    // Evicted and made again: it waits twice.
    let again = vec![pod("a", 0, Some(2), Some((5, Gone))), pod("b", 5, Some(9), None)];
    check(again, 10, O::Running, [4, 6, 2, 4]);
    // Workers that are deleted after the launcher has ended well.
    let helped =
        vec![pod("l", 0, Some(1), Some((5, Succeeded))), pod("w", 0, Some(1), Some((7, Gone)))];
    check(helped, 10, O::Succeeded, [6, 1, 1, 10]);
}

/// Pods that are bound at the very end of a window count as held, since nothing may change for days after it.
#[test]
fn the_end_of_a_window_is_looked_at() {
    let members = group(vec![pod("p", 1, Some(10), None)]);
    let window = Window { from: 0, to: 10, begins_waiting: false };
    let record = settle(&WorkloadRecord::default(), &members, window, false);
    assert_eq!((record.peak_micro_gpus, record.usage[0].held_micro_gpus), (500_000, 500_000));
}

#[test]
fn an_eviction_is_told_once_and_with_its_price() {
    let seen = |at: Second, pod: &str| Seen {
        at,
        action: "reclaim".into(),
        by_namespace: "m".into(),
        by_pod_group: "g".into(),
        by_workload: "Job/j".into(),
        by_queue: "r".into(),
        names: [pod.into()].into(),
        said: 0,
    };
    let gone = |name: &str| pod(name, 0, Some(10), Some((32, End::Gone)));
    let mut members = group(vec![gone("p-1"), gone("p-11")]);
    members[0].evictions = vec![seen(31, "p-11"), seen(30, "p-1")];
    let window = Window { from: 0, to: 60, begins_waiting: false };
    let row = EvictionRow {
        at: Some(time(30)),
        pods: 2,
        action: "reclaim".to_owned(),
        by_namespace: "m".to_owned(),
        by_pod_group: "g".to_owned(),
        by_workload: "Job/j".to_owned(),
        by_queue: "r".to_owned(),
        lost_micro_gpu_seconds: (20 + 21) * 500_000,
    };
    let record = settle(&WorkloadRecord::default(), &members, window, false);
    assert_eq!((record.outcome, &record.evictions), (Outcome::Evicted, &vec![row.clone()]));
    // Containers that do not end well when they are told to are no failure of the work.
    let mut failed = members.clone();
    failed[0].spans = vec![pod("p-1", 0, Some(10), Some((31, End::Failed)))];
    let told = settle(&WorkloadRecord::default(), &failed, window, false);
    assert_eq!(told.outcome, Outcome::Evicted);
    // After a restart the events are heard again, and pods are not.
    members[0].spans.clear();
    let later = Window { from: 60, to: 90, begins_waiting: false };
    assert_eq!(settle(&record, &members, later, true).evictions, std::slice::from_ref(&row));
    // Events run out one by one.
    members[0].evictions = vec![seen(30, "p-1")];
    assert_eq!(settle(&record, &members, later, true).evictions, [row]);
    // Days of many evictions keep the last ones and the number of the others.
    members[0].evictions = (0..40).map(|n| seen(100 * n, "p")).collect();
    let record = settle(&record, &members, later, true);
    assert_eq!((record.evictions.len(), record.evictions_left_out), (16, 24));
    assert_eq!(settle(&record, &members, later, true).evictions, record.evictions);
}

/// A pod of a history: when it is created, how long it waits and runs, and how late the watch tells.
fn history() -> impl Strategy<Value = Vec<[Second; 5]>> {
    let times = [0..200i64, 0..40, 0..100, 0..12, 0..12];
    prop::collection::vec(times, 1..6)
}

/// Length of a history, and of the lag that the last window waits for news.
const END: Second = 400;

proptest! {
    /// Whatever windows a history is cut into, whenever it is told late, and whenever a process begins anew: what the
    /// records count is the integral of what was held.
    #[test]
    fn sums_of_windows_are_the_integral(
        pods in history(),
        cuts in prop::collection::btree_set(1..END, 0..20),
        restarts in prop::collection::btree_set(1..END, 0..4),
        is_told_late in any::<bool>(),
    ) {
        let mut expect = 0;
        let mut known: Vec<Span> = Vec::new();
        let mut record = WorkloadRecord::default();
        let mut from = 0;
        let mut restarted = 0;
        for to in cuts.into_iter().chain([END]) {
            // Who begins anew has seen what was told before it wrote.
            let is_restart = restarts.range(restarted..to).next().is_some() && !is_told_late;
            restarted = to;
            known = pods.iter().enumerate().filter_map(|(number, times)| {
                let [created, waits, runs, bound_late, end_late] = *times;
                let late = |lag: Second| if is_told_late { lag } else { 0 };
                let (bound, end) = (created + waits, created + waits + runs);
                let name = number.to_string();
                let mut span = pod(&name, created, None, None);
                if let Some(before) = known.iter().find(|span| *span.pod == *name) {
                    span = before.clone();
                }
                if bound + late(bound_late) <= to { span.bound = Some(bound); }
                if end + late(end_late).max(late(bound_late)) <= to {
                    span.ended = Some(Ended { at: end, how: End::Gone });
                }
                if is_restart { span.counted_to = None; span.is_news = false; }
                (created <= to).then_some(span)
            }).collect();
            let window = Window { from, to, begins_waiting: false };
            record = settle(&record, &group(known.clone()), window, false);
            for span in &mut known {
                mark(span, window);
            }
            from = to;
        }
        for [_, _, runs, _, _] in pods {
            expect += u64::try_from(runs).expect("a length") * 500_000;
        }
        let counted: u64 = record.usage.iter().map(|row| row.micro_gpu_seconds).sum();
        prop_assert_eq!(counted, expect);
        prop_assert!(record.usage.iter().all(|row| row.held_micro_gpus == 0));
    }
}

/// A record is written whenever something changes, and at midnight.
#[test]
fn a_wait_that_goes_on_is_counted_once() {
    let members = group(vec![pod("p", 1, None, None)]);
    let mut record = WorkloadRecord::default();
    for (from, begins_waiting) in [(0, false), (10, true), (20, true)] {
        let window = Window { from, to: from + 10, begins_waiting };
        record = settle(&record, &members, window, false);
    }
    assert_eq!((record.waits, record.wait_seconds), (1, 29));
}

/// Work that ran again after an eviction has ended as it did then.
#[test]
fn an_eviction_is_not_the_end_of_a_later_run() {
    let seen = Seen {
        at: 30,
        action: "reclaim".into(),
        by_namespace: "m".into(),
        by_pod_group: "g".into(),
        by_workload: "Job/j".into(),
        by_queue: "r".into(),
        names: ["p-1".into()].into(),
        said: 0,
    };
    for (how, expect) in [(End::Failed, Outcome::Failed), (End::Gone, Outcome::Stopped)] {
        let first = pod("p-1", 0, Some(10), Some((31, End::Gone)));
        let again = pod("p-2", 31, Some(40), Some((50, how)));
        let mut members = group(vec![first, again]);
        members[0].evictions = vec![seen.clone()];
        let window = Window { from: 0, to: 60, begins_waiting: false };
        let record = settle(&WorkloadRecord::default(), &members, window, false);
        assert_eq!((record.outcome, record.evictions.len()), (expect, 1), "{how:?}");
    }
}

/// Whoever may edit records writes numbers as large as their fields.
#[test]
fn amounts_of_a_record_end_where_the_api_does() {
    let most = i64::MAX.unsigned_abs();
    let record = WorkloadRecord {
        run_seconds: u64::MAX,
        wait_seconds: most,
        waits: u32::MAX,
        ..WorkloadRecord::default()
    };
    let members = group(vec![pod("p", 1, Some(4), None)]);
    let window = Window { from: 0, to: 10, begins_waiting: false };
    let record = settle(&record, &members, window, false);
    assert_eq!((record.run_seconds, record.wait_seconds), (most, most));
    assert_eq!(record.waits, u32::MAX);
}
