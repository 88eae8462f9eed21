//! Says who evicted a workload, by events and, once these are gone, by the records of the last days.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use kai_api::daily_record::{EvictionRow, Outcome, WorkloadRecord};
use kai_api::names::annotation;
use serde_json::{Value, json};

use super::Workload;
use super::history::{self, Eviction};
use super::phase::Phase;
use crate::cluster::records::{self, Day};
use crate::cluster::{Cluster, Resource};
use crate::print::time;

/// Work that was evicted so long ago and is no more is no longer told of.
const GONE_SECONDS_MAX: i64 = 86_400;
/// Days whose records are read: those in which that lies.
const DAYS: i64 = 2;

/// Finds out which workloads that wait or have failed were evicted, and by whom, and adds those that are no more: two
/// requests. Without the right to read events and records nobody is told evicted.
pub(crate) async fn find_evictions(
    workloads: &mut Vec<Workload>,
    cluster: &Cluster,
    namespace: Option<&str>,
) {
    Evictions::read(cluster, namespace).await.mark(workloads);
}

/// The evictions that events and records tell of.
#[derive(Debug)]
pub(crate) struct Evictions {
    events: Vec<Value>,
    days: Vec<Day>,
}

impl Evictions {
    /// Reads those of a namespace, or of all: two requests.
    pub(crate) async fn read(cluster: &Cluster, namespace: Option<&str>) -> Self {
        let selector = records::selector(records::last(DAYS).into_iter());
        let (events, days) = futures::join!(
            history::evictions(cluster, namespace),
            records::read(cluster, namespace, &selector)
        );
        let days = days.ok().flatten().unwrap_or_default();
        Self { events: events.unwrap_or_default(), days }
    }

    /// Adds them to the workloads that they are of, and adds workloads that are no more.
    pub(crate) fn mark(self, workloads: &mut Vec<Workload>) {
        history::mark_evicted(workloads, &self.events);
        mark_recorded(workloads, self.days, Timestamp::now());
    }
}

/// Adds the evictions that records tell of and events did not. Pure.
fn mark_recorded(workloads: &mut Vec<Workload>, mut days: Vec<Day>, now: Timestamp) {
    days.sort_by_key(|day| day.date);
    // The newest record of each comes last, and is kept. Of a UID each namespace has its own: a tenant chooses what its
    // groups name.
    let mut newest: BTreeMap<(String, String), WorkloadRecord> = BTreeMap::new();
    for Day { namespace, workloads, .. } in days {
        for (uid, record) in workloads {
            newest.insert((namespace.clone(), uid), record);
        }
    }
    for workload in workloads.iter_mut().filter(|workload| workload.eviction.is_none()) {
        let key = (workload.namespace.clone(), workload.uid.clone());
        let Some(record) = newest.get(&key) else { continue };
        let Some(row) = since_start(workload, record) else { continue };
        let phase = workload.phase();
        if phase.is_queued() || phase == Phase::Failed {
            workload.set_eviction(Some(of_row(row, &record.name)));
        }
    }
    let within = |one: &Workload, text: &str| (one.namespace.clone(), text.to_owned());
    let uids: BTreeSet<_> = workloads.iter().map(|one| within(one, &one.uid)).collect();
    let mut names: BTreeSet<_> = workloads.iter().map(|one| within(one, &one.name)).collect();
    for (key, record) in newest {
        let row = record.evictions.last().filter(|_| record.outcome == Outcome::Evicted);
        let at = row.and_then(|row| row.at.as_ref()).map(|at| at.0);
        let is_fresh = at.is_some_and(|at| now.as_second() - at.as_second() < GONE_SECONDS_MAX);
        let Some(row) = row.filter(|_| is_fresh) else { continue };
        if uids.contains(&key) {
            continue;
        }
        let (namespace, uid) = key;
        if names.insert((namespace.clone(), record.name.clone())) {
            workloads.push(gone(&uid, &namespace, &record, row));
        }
    }
    workloads.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
}

/// The last eviction of a record, where the work did not start after it.
fn since_start<'r>(workload: &Workload, record: &'r WorkloadRecord) -> Option<&'r EvictionRow> {
    let row = record.evictions.last()?;
    let at = row.at.as_ref()?.0;
    let started =
        |group: &Value| time::of(&group["metadata"]["annotations"][annotation::LAST_START]);
    workload.groups.iter().filter_map(started).all(|started| started <= at).then_some(row)
}

/// A workload of which nothing but its record is left.
fn gone(uid: &str, namespace: &str, record: &WorkloadRecord, row: &EvictionRow) -> Workload {
    let pod = json!({"metadata": {"namespace": namespace, "name": record.name, "uid": uid}});
    Workload {
        resource: Resource::new(&record.api_version, &record.kind, ""),
        queue: record.queue.clone(),
        created: record.created.as_ref().map(|at| at.0),
        eviction: Some(of_row(row, &record.name)),
        ..Workload::of_pod(&pod)
    }
}

/// The eviction that a row tells of.
fn of_row(row: &EvictionRow, whose: &str) -> Eviction {
    let by = if row.by_workload.is_empty() {
        history::named(&row.by_pod_group)
    } else {
        row.by_workload.split_once('/').map_or(row.by_workload.as_str(), |(_, name)| name)
    };
    Eviction {
        when: row.at.as_ref().map(|at| at.0),
        whose: whose.to_owned(),
        pods: usize::try_from(row.pods).unwrap_or(usize::MAX),
        by: (!by.is_empty()).then(|| format!("{}/{by}", row.by_namespace)),
        action: row.action.clone(),
        queues: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A day with one record that was evicted, of this outcome.
    fn day(uid: &str, name: &str, outcome: &str) -> Day {
        let record = json!({"apiVersion": "batch/v1", "kind": "Job", "name": name, "queue": "q",
            "outcome": outcome, "created": "2026-11-24T08:00:00Z",
            "through": "2026-11-24T10:00:00Z",
            "evictions": [{"at": "2026-11-24T09:00:00Z", "pods": 2, "action": "reclaim",
                "byNamespace": "n", "byPodGroup": "pg-x", "byWorkload": "Job/urgent"}]});
        let object = json!({"metadata": {"namespace": "n"},
            "spec": {"day": "2026-11-24", "workloads": {uid: record}}});
        records::parse(&object).expect("it is a record")
    }

    /// Says what a list says of a workload `fill` that waits and last started then, and of others that are gone.
    fn check(day: Day, started: &str, now: &str, expect: &[&str]) {
        let mut waits =
            Workload::of_pod(&json!({"metadata": {"namespace": "n", "name": "fill", "uid": "1"}}));
        waits
            .groups
            .push(json!({"metadata": {"annotations": {(annotation::LAST_START): started}}}));
        let mut workloads = vec![waits];
        mark_recorded(&mut workloads, vec![day], now.parse().expect("a time"));
        let told: Vec<String> = workloads
            .iter()
            .map(|one| {
                let eviction = one.eviction.as_ref().map_or("-".to_owned(), Eviction::status);
                format!("{} {} {} {eviction}", one.resource.kind, one.name, one.state().show())
            })
            .collect();
        assert_eq!(told, expect);
    }

    #[test]
    fn a_record_is_of_the_uid_of_its_own_namespace() {
        let workload = |namespace: &str| {
            let meta = json!({"namespace": namespace, "name": "fill", "uid": "1"});
            let mut waits = Workload::of_pod(&json!({ "metadata": meta }));
            waits.groups.push(json!({ "metadata": {} }));
            waits
        };
        let mut workloads = vec![workload("m"), workload("n")];
        let now = "2026-11-24T11:00:00Z".parse().expect("a time");
        mark_recorded(&mut workloads, vec![day("1", "fill", "Pending")], now);
        let evicted: Vec<bool> = workloads.iter().map(|one| one.eviction.is_some()).collect();
        assert_eq!(evicted, [false, true]);
    }

    #[test]
    fn records_tell_what_events_no_longer_do() {
        let (began, again) = ("2026-11-24T08:10:00Z", "2026-11-24T09:30:00Z");
        let (soon, late) = ("2026-11-24T11:00:00Z", "2026-11-25T10:00:00Z");
        let waits = ["Pod fill Waiting (NoPods) evicted by n/urgent"];
        check(day("1", "fill", "Pending"), began, soon, &waits);
        let nothing = ["Pod fill Waiting (NoPods) -"];
        check(day("1", "fill", "Pending"), again, soon, &nothing);
        // It is another of the name.
        check(day("2", "fill", "Evicted"), began, soon, &nothing);
        let gone = [nothing[0], "Job solo Failed (Evicted) evicted by n/urgent"];
        check(day("2", "solo", "Evicted"), began, soon, &gone);
        check(day("2", "solo", "Evicted"), began, late, &nothing);
        check(day("2", "solo", "Deleted"), began, soon, &nothing);
    }
}
