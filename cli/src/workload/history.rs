//! What events tell of a workload, also of pods and `PodGroups` of it that are no more.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kai_api::names::{annotation, event};
use serde_json::Value;

use super::Workload;
use crate::cluster::json::text;
use crate::cluster::queue::count;
use crate::cluster::{Call, Cluster, Failure, Resource, Select};
use crate::print::error::{Error, Exit, number};
use crate::print::output::clean;
use crate::print::{duration, time};

/// All events of a namespace, or of all.
pub(crate) async fn events(
    cluster: &Cluster,
    namespace: Option<&str>,
) -> Result<Vec<Value>, Failure> {
    let resource = Resource::new("v1", "Event", "events");
    let call = Call::new("list", &resource).namespace(namespace);
    Ok(cluster.list(&call, &Select::default()).await?.unwrap_or_default())
}

/// The last time that an event was seen.
pub(crate) fn when(event: &Value) -> Option<Timestamp> {
    ["lastTimestamp", "eventTime", "firstTimestamp"]
        .iter()
        .find_map(|key| time::of(&event[*key]))
        .or_else(|| time::of(&event["series"]["lastObservedTime"]))
        .or_else(|| time::of(&event["metadata"]["creationTimestamp"]))
}

/// The events of a workload, the newest last: of the objects that it has, and of pods and `PodGroups` that it had, which
/// their names tell. `others` are the workloads beside it, since one name may begin with another's.
pub(crate) fn about<'e>(
    workload: &Workload,
    others: &[Workload],
    events: &'e [Value],
) -> Vec<&'e Value> {
    let uids = |workload: &Workload| {
        let objects = workload.groups.iter().chain(&workload.pods);
        let uids = objects.map(|object| text(&object["metadata"]["uid"]).to_owned());
        std::iter::once(workload.uid.clone()).chain(uids).collect::<BTreeSet<String>>()
    };
    let own = uids(workload);
    let beside = others.iter().filter(|other| other.uid != workload.uid);
    let foreign: BTreeSet<String> = beside.clone().flat_map(uids).collect();
    let longer: Vec<&str> = beside
        .filter(|other| other.namespace == workload.namespace)
        .map(|other| other.name.as_str())
        .filter(|name| name.len() > workload.name.len())
        .collect();
    let had = |event: &Value| {
        let object = &event["involvedObject"];
        let name = text(&object["name"]);
        matches!(text(&object["kind"]), "Pod" | "PodGroup")
            && text(&object["namespace"]) == workload.namespace
            && belongs(name, &workload.name)
            && !longer.iter().any(|other| belongs(name, other))
            && workload.created.is_none_or(|created| when(event).is_none_or(|when| when >= created))
    };
    let mut mine: Vec<&Value> = events
        .iter()
        .filter(|event| {
            let uid = text(&event["involvedObject"]["uid"]);
            own.contains(uid) || (!foreign.contains(uid) && had(event))
        })
        .collect();
    // Events of one moment come in the same order each time.
    mine.sort_by_key(|event| (when(event), text(&event["reason"])));
    mine
}

/// Whether the name of a pod or of a `PodGroup` is made of a workload's.
fn belongs(name: &str, workload: &str) -> bool {
    let name = name.strip_prefix("pg-").unwrap_or(name);
    name.strip_prefix(workload).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// That pods were evicted, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Eviction {
    pub(crate) when: Option<Timestamp>,
    /// The workload, after its `PodGroup`.
    whose: String,
    pods: usize,
    /// `namespace/name` of the workload that took the room.
    by: Option<String>,
    action: String,
}

/// Evictions this close to each other are one.
const TOGETHER_SECONDS: i64 = 60;

impl Eviction {
    /// The last one that these events, in the order of time, tell of.
    pub(crate) fn last<'e>(events: impl IntoIterator<Item = &'e Value>) -> Option<Self> {
        let is_eviction = |event: &&Value| text(&event["reason"]) == event::EVICT;
        let evictions: Vec<&Value> = events.into_iter().filter(is_eviction).collect();
        let last = evictions.last()?;
        let about =
            |event: &Value, key: &str| text(&event["metadata"]["annotations"][key]).to_owned();
        let by = |event: &Value| about(event, annotation::EVICTOR_NAME);
        let seconds = |event: &Value| when(event).map(Timestamp::as_second);
        let with_it = evictions.iter().filter(|event| {
            by(event) == by(last)
                && seconds(event)
                    .zip(seconds(last))
                    .is_none_or(|(one, other)| other - one <= TOGETHER_SECONDS)
        });
        let group = by(last);
        let namespace = about(last, annotation::EVICTOR_NAMESPACE);
        Some(Self {
            when: when(last),
            whose: named(text(&last["involvedObject"]["name"])).to_owned(),
            pods: with_it.count(),
            by: (!group.is_empty()).then(|| format!("{namespace}/{}", named(&group))),
            action: about(last, annotation::EVICTOR_ACTION),
        })
    }

    /// As a sentence: `evicted 14m ago (3 pods): default/urgent took the room that its queue is entitled to`.
    pub(crate) fn sentence(&self) -> String {
        let ago = self.when.map_or_else(String::new, |when| {
            let seconds = Timestamp::now().as_second() - when.as_second();
            format!(" {} ago", duration::short(seconds))
        });
        let by = self.by.as_deref().unwrap_or("another workload");
        let why = match self.action.as_str() {
            "reclaim" => format!("{by} took the room that its queue is entitled to (reclaim)"),
            "preempt" => format!("{by} of a higher priority took its place (preempt)"),
            "consolidation" => {
                format!("it was to move so that {by} finds room in one piece (consolidation)")
            }
            "stalegangeviction" => "fewer pods ran than its gang needs".to_owned(),
            _ => format!("{by} took its place"),
        };
        format!("{} was evicted{ago} ({}): {why}", self.whose, count(self.pods, "pod"))
    }
}

/// The name of the workload that a `PodGroup` was made for: `pg-NAME-UID`.
fn named(group: &str) -> &str {
    const UID_LENGTH: usize = 36;
    let name = group.strip_prefix("pg-").unwrap_or(group);
    match name.len().checked_sub(UID_LENGTH + 1).and_then(|at| name.split_at_checked(at)) {
        Some((name, uid)) if uid.starts_with('-') && uid.matches('-').count() == 5 => name,
        Some(_) | None => name,
    }
}

/// Who evicted a workload that is no more; `None` where no event tells.
pub(crate) async fn eviction_of(workload: &Workload, cluster: &Cluster) -> Option<Eviction> {
    let events = events(cluster, Some(&workload.namespace)).await.ok()?;
    Eviction::last(about(workload, &[], &events))
}

/// Adds to the error that nothing has a name who evicted what had it, where an event tells.
pub(crate) fn of_name(error: Error, name: &str, events: Option<&[Value]>) -> Error {
    let Error::Problems(mut problems) = error else { return error };
    let was = format!("/{name} was ");
    let is_it = |event: &&Value| {
        let object = &event["involvedObject"];
        matches!(text(&object["kind"]), "Pod" | "PodGroup")
            && (named(text(&object["name"])) == name || text(&event["message"]).contains(&was))
    };
    let mut mine: Vec<&Value> = events.into_iter().flatten().filter(is_it).collect();
    mine.sort_by_key(|event| when(event));
    if let (Some(eviction), [problem]) = (Eviction::last(mine), problems.as_mut_slice())
        && problem.exit == Exit::NotFound
    {
        problem.number = number::EVICTED;
        problem.exit = Exit::Evicted;
        problem.lines = vec![clean(&eviction.sentence()).into_owned()];
        problem
            .lines
            .push("nothing makes it anew: submit it again, as a job to be made anew".into());
    }
    Error::Problems(problems)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const UID: &str = "2f2e6e45-8bd6-4ab8-87ad-d086795cdf24";

    fn workload(name: &str) -> Workload {
        let mut workload = Workload::of_pod(&json!({"metadata": {"namespace": "n", "name": name}}));
        workload.uid = format!("uid-of-{name}");
        workload
    }

    fn event(kind: &str, name: &str, reason: &str, second: u32) -> Value {
        json!({"reason": reason, "lastTimestamp": format!("2026-01-01T00:00:{second:02}Z"),
            "message": format!("{reason} of {name}"),
            "involvedObject": {"kind": kind, "namespace": "n", "name": name, "uid": name}})
    }

    #[test]
    fn events_of_what_is_no_more_are_told_by_their_names() {
        let workloads = [workload("etl"), workload("etl-2")];
        let events = [
            event("Pod", "etl-2-x", "Late", 3),
            event("Pod", "etl-x", "Second", 2),
            event("PodGroup", &format!("pg-etl-{UID}"), "First", 1),
            event("Pod", "etlx", "Another", 1),
            event("Node", "etl-x", "Node", 1),
        ];
        let reasons = |at: usize| {
            let about = about(&workloads[at], &workloads, &events);
            about.iter().map(|event| text(&event["reason"]).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(reasons(0), ["First", "Second"]);
        assert_eq!(reasons(1), ["Late"]);
    }

    /// What is said of one eviction by an action, by a group of that name.
    fn check(action: &str, by: &str, expect: &str) {
        let mut events = [
            event("PodGroup", &format!("pg-fill-{UID}"), "Evict", 1),
            event("PodGroup", &format!("pg-fill-{UID}"), "Evict", 2),
        ];
        for event in &mut events {
            event["metadata"] = json!({"annotations": {"evictor-action-type": action,
                "evictor-pod-group-name": by, "evictor-pod-group-namespace": "n"}});
        }
        let eviction = Eviction { when: None, ..Eviction::last(&events).expect("one") };
        assert_eq!(eviction.sentence(), expect);
    }

    #[test]
    fn an_eviction_names_whom_it_was_for() {
        check(
            "reclaim",
            &format!("pg-urgent-{UID}"),
            "fill was evicted (2 pods): n/urgent took the room that its queue is entitled to (reclaim)",
        );
        check(
            "preempt",
            "my-group",
            "fill was evicted (2 pods): n/my-group of a higher priority took its place (preempt)",
        );
        check(
            "stalegangeviction",
            "",
            "fill was evicted (2 pods): fewer pods ran than its gang needs",
        );
        assert_eq!(Eviction::last(&[event("Pod", "x", "Bound", 1)]), None);
    }
}
