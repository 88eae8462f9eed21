//! Describes what tells how long work runs: deadlines that workloads have, and the runs that `DailyRecords` tell of.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use kai_api::daily_record::{OTHERS, Outcome, WorkloadRecord};
use kai_sim::past::{Past, Work};
use serde_json::Value;

use crate::cluster::json::text;
use crate::cluster::kinds::{KINDS, Kind};
use crate::cluster::records::{self, Day};
use crate::cluster::{Call, Cluster, Failure, Resource, Select, names};

/// Days of the past that are read.
const DAYS: i64 = 14;

/// Says where kinds of work say for how long they may run.
const DEADLINES: [&str; 2] =
    ["/spec/activeDeadlineSeconds", "/spec/runPolicy/activeDeadlineSeconds"];

/// Kinds that do, beside pods, which are read anyway.
const LIMITED: [&str; 9] = [
    "Job",
    "PyTorchJob",
    "TFJob",
    "XGBoostJob",
    "MPIJob",
    "JAXJob",
    "PaddleJob",
    "RayJob",
    "Workflow",
];

/// For how many seconds work may run, as it says itself.
pub(super) fn longest(object: &Value) -> Option<i64> {
    DEADLINES.iter().find_map(|at| object.pointer(at)?.as_i64())
}

/// Holds what was read, and what not, a sentence each.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// For how many seconds groups may run, by namespace and name.
    pub(super) longest: Vec<(String, i64)>,
    pub(super) past: Past,
    pub(super) left_out: Vec<String>,
}

/// More namespaces than are read one by one.
const NAMESPACES_MAX: usize = 8;

/// Reads deadlines and the past of some namespaces, or of all, as where these are many; what may not be read is said.
pub(super) async fn read(cluster: &Cluster, namespaces: Option<&BTreeSet<String>>) -> Told {
    let few = namespaces.filter(|namespaces| namespaces.len() <= NAMESPACES_MAX);
    let scopes: Vec<Option<&str>> = match few {
        Some(few) => few.iter().map(|namespace| Some(namespace.as_str())).collect(),
        None => vec![None],
    };
    let mut told = Told::default();
    let (deadlines, days) = futures::join!(deadlines(cluster, &scopes), past(cluster, &scopes));
    for (resource, found) in deadlines {
        match found {
            Ok(longest) => told.longest.extend(longest),
            Err(_) => told.left_out.push(format!("{resource}: how long they may run is not known")),
        }
    }
    match days {
        Ok(days) => told.past = runs(days),
        Err(_) => told.left_out.push("dailyrecords: how long work ran is not known".to_owned()),
    }
    told
}

type Limits = (String, Result<Vec<(String, i64)>, Failure>);

/// The deadlines of all kinds that have such and are served.
async fn deadlines(cluster: &Cluster, scopes: &[Option<&str>]) -> Vec<Limits> {
    let Ok(groups) = cluster.groups().await else { return Vec::new() };
    let served = |kind: &'static Kind| {
        if kind.group == "batch" {
            return Some(kind.best());
        }
        let (_, versions) = groups.iter().find(|(group, _)| group == kind.group)?;
        let version = kind.versions.iter().find(|one| versions.iter().any(|v| v == *one))?;
        Some(kind.resource(version))
    };
    let kinds = KINDS.iter().filter(|kind| LIMITED.contains(&kind.name));
    let each = kinds.filter_map(served).map(|resource| async move {
        let within = scopes.iter().map(|scope| limits(cluster, &resource, *scope));
        let found = join_all(within).await.into_iter().collect::<Result<Vec<_>, _>>();
        (resource.in_rbac(), found.map(|parts| parts.into_iter().flatten().collect()))
    });
    join_all(each).await
}

/// The deadlines of one kind, a page at a time.
async fn limits(
    cluster: &Cluster,
    resource: &Resource,
    namespace: Option<&str>,
) -> Result<Vec<(String, i64)>, Failure> {
    let call = Call::new("list", resource).namespace(namespace);
    let of_queues = Select { labels: names::QUEUE, fields: "" };
    let (mut parts, mut next) = (Vec::new(), String::new());
    loop {
        let page = match cluster.page(&call, &of_queues, &next, false).await {
            Ok(page) => page,
            Err(failure) if failure.code() == Some(404) => return Ok(parts),
            Err(failure) => return Err(failure),
        };
        let items = page["items"].as_array().into_iter().flatten();
        parts.extend(items.filter_map(|object| {
            let meta = &object["metadata"];
            let [namespace, name, uid] = ["namespace", "name", "uid"].map(|key| text(&meta[key]));
            Some((format!("{namespace}/pg-{name}-{uid}"), longest(object)?))
        }));
        text(&page["metadata"]["continue"]).clone_into(&mut next);
        if next.is_empty() {
            return Ok(parts);
        }
    }
}

/// The records of the last days: of these namespaces, or of the user's own where no more may be read.
async fn past(cluster: &Cluster, scopes: &[Option<&str>]) -> Result<Vec<Day>, Failure> {
    let selector = records::selector(records::last(DAYS).into_iter());
    let within = scopes.iter().map(|scope| records::read(cluster, *scope, &selector));
    let told = join_all(within).await.into_iter().collect::<Result<Vec<_>, _>>();
    let told = match told {
        Err(failure) if failure.is_forbidden() => {
            vec![records::read(cluster, Some(&cluster.namespace), &selector).await?]
        }
        told => told?,
    };
    Ok(told.into_iter().flatten().flatten().collect())
}

/// The runs of these days that have ended and were not broken off by an eviction. Pure.
fn runs(mut days: Vec<Day>) -> Past {
    days.sort_by_key(|day| day.date);
    let mut runs: BTreeMap<String, Vec<WorkloadRecord>> = BTreeMap::new();
    for day in days {
        for (uid, record) in day.workloads.into_iter().filter(|(uid, _)| uid != OTHERS) {
            runs.entry(uid).or_default().push(record);
        }
    }
    let mut past = Past::default();
    let mut runs: Vec<Vec<WorkloadRecord>> = runs.into_values().collect();
    runs.sort_by_key(|run| run.last().and_then(|last| last.ended.as_ref()).map(|at| at.0));
    for run in &runs {
        let [.., last] = run.as_slice() else { continue };
        let has_ended = matches!(
            last.outcome,
            Outcome::Succeeded | Outcome::Failed | Outcome::Deleted | Outcome::Stopped
        );
        let seconds = run.iter().map(|record| record.run_seconds).sum::<u64>();
        let is_whole = run.iter().all(|record| record.evictions.is_empty()) && seconds > 0;
        if has_ended && is_whole {
            let peak = run.iter().map(|record| record.peak_micro_gpus).max().unwrap_or(0);
            let (queue, name) = (&*last.queue, &*last.name);
            let work = Work { queue, name, gpu_milli: peak.div_ceil(1000) };
            past.add(work, i64::try_from(seconds).unwrap_or(i64::MAX / 1000).saturating_mul(1000));
        }
    }
    past
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn day(day: u8, records: &[(&str, &str, u64)]) -> Day {
        let record = |(uid, outcome, seconds): &(&str, &str, u64)| {
            let record = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "train-1",
                "queue": "q", "outcome": outcome, "peakMicroGpus": 8_000_000,
                "runSeconds": seconds, "through": "2026-11-24T10:00:00Z"});
            ((*uid).to_owned(), record)
        };
        let workloads: serde_json::Map<String, Value> = records.iter().map(record).collect();
        let object = json!({"metadata": {"namespace": "n"},
            "spec": {"day": format!("2026-11-{day:02}"), "workloads": workloads}});
        records::parse(&object).expect("it is a record")
    }

    #[test]
    fn a_run_is_the_sum_of_its_days_once_it_has_ended() {
        let past = runs(vec![
            day(24, &[("a", "Succeeded", 50), ("b", "Running", 9), ("c", "Evicted", 9)]),
            day(23, &[("a", "Running", 100), ("d", "Failed", 7), ("e", "Deleted", 30)]),
        ]);
        let work = Work { queue: "q", name: "train-2", gpu_milli: 1000 };
        assert_eq!(past.like(work).expect("it ran").sorted, [7_000, 30_000, 150_000]);
    }

    #[test]
    fn work_says_for_how_long_it_may_run() {
        for (object, expect) in [
            (json!({"spec": {"activeDeadlineSeconds": 60}}), Some(60)),
            (json!({"spec": {"runPolicy": {"activeDeadlineSeconds": 90}}}), Some(90)),
            (json!({"spec": {}}), None),
        ] {
            assert_eq!(longest(&object), expect);
        }
    }
}
