//! Describes what events tell of a workload, also of pods and `PodGroups` of it that are no more.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use kai_api::names::{annotation, event};
use serde_json::{Value, json};

use super::phase::is_ready;
use super::{Phase, Workload};
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

/// The events of one workload: of its object, its `PodGroups` and a pod or two, and the evictions that its namespace
/// tells of. As few requests as that takes: for each of them an API server looks through all events of the namespace.
pub(crate) async fn of_one(cluster: &Cluster, workload: &Workload) -> Result<Vec<Value>, Failure> {
    let resource = Resource::new("v1", "Event", "events");
    let namespace = Some(workload.namespace.as_str());
    let named = |object: &Value| text(&object["metadata"]["name"]).to_owned();
    let groups = workload.groups.iter().take(GROUPS_SHOWN).map(named);
    let pods = telling(&workload.pods).map(named);
    let names: BTreeSet<String> =
        std::iter::once(workload.name.clone()).chain(groups).chain(pods).collect();
    let mut fields: Vec<String> =
        names.iter().map(|name| format!("involvedObject.name={name}")).collect();
    if workload.may_be_evicted() {
        fields.push(format!("reason={}", event::EVICT));
    }
    let call = Call::new("list", &resource).namespace(namespace);
    let lists = fields
        .iter()
        .map(|fields| async { cluster.list(&call, &Select { fields, labels: "" }).await });
    let mut events: Vec<Value> = Vec::new();
    let mut seen = BTreeSet::new();
    for list in futures::future::join_all(lists).await {
        for event in list?.unwrap_or_default() {
            let is_other =
                text(&event["reason"]) == event::EVICT && !is_eviction_of(&event, workload);
            if !is_other && seen.insert(text(&event["metadata"]["uid"]).to_owned()) {
                events.push(event);
            }
        }
    }
    Ok(events)
}

/// `PodGroups` whose events are read, one by one.
const GROUPS_SHOWN: usize = 3;
/// Pods in trouble whose events are read, one by one.
const PODS_SHOWN: usize = 2;

/// The pods whose events are read: those in trouble say why, and of pods that are well one says what all do.
fn telling(pods: &[Value]) -> impl Iterator<Item = &Value> {
    let (well, ill): (Vec<&Value>, Vec<&Value>) = pods.iter().partition(|pod| is_ready(pod));
    let shown = if ill.is_empty() { 1 } else { PODS_SHOWN };
    ill.into_iter().chain(well).take(shown)
}

/// The evictions that a namespace, or all, tell of: one request.
pub(crate) async fn evictions(
    cluster: &Cluster,
    namespace: Option<&str>,
) -> Result<Vec<Value>, Failure> {
    let resource = Resource::new("v1", "Event", "events");
    let call = Call::new("list", &resource).namespace(namespace);
    let fields = format!("reason={}", event::EVICT);
    Ok(cluster.list(&call, &Select { fields: &fields, labels: "" }).await?.unwrap_or_default())
}

/// Adds evictions to the workloads that they are of. Pure.
pub(super) fn mark_evicted(workloads: &mut Vec<Workload>, events: &[Value]) {
    let mut events: Vec<&Value> = events.iter().collect();
    events.sort_by_cached_key(|event| when(event));
    let places = Places::of_events(&events);
    for workload in workloads.iter_mut() {
        let mine: Vec<&Value> = places
            .of(workload)
            .into_iter()
            .map(|at| events[at])
            .filter(|event| is_eviction_of(event, workload))
            .collect();
        if mine.is_empty() {
            continue;
        }
        let phase = workload.phase();
        if phase.is_queued() || phase == Phase::Failed {
            workload.set_eviction(Eviction::last(mine));
        }
    }
    let full_name = |one: &Workload| (one.namespace.clone(), one.name.clone());
    let mut known: BTreeSet<(String, String)> = workloads.iter().map(full_name).collect();
    let mut gone: Vec<Workload> = Vec::new();
    for event in events.iter().rev().filter(|event| is_of_bare_pod(event)) {
        let object = &event["involvedObject"];
        let (namespace, name) = (text(&object["namespace"]), named(text(&object["name"])));
        if !known.insert((namespace.to_owned(), name.to_owned())) {
            continue;
        }
        let pod = json!({"metadata": {"namespace": namespace, "name": name}});
        let mut workload = Workload::of_pod(&pod);
        workload.set_eviction(Eviction::last([*event]));
        gone.push(workload);
    }
    workloads.extend(gone);
    workloads.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
}

/// Finds events by what they are of, so that not every workload is compared with every event.
struct Places<'e> {
    /// By the namespace, and the UID of the object.
    by_uid: HashMap<(&'e str, &'e str), Vec<usize>>,
    /// By the namespace, and the name of the workload after that of the object.
    by_name: HashMap<(&'e str, &'e str), Vec<usize>>,
}

impl<'e> Places<'e> {
    fn of_events(events: &[&'e Value]) -> Self {
        let mut places = Self { by_uid: HashMap::new(), by_name: HashMap::new() };
        for (at, event) in events.iter().enumerate() {
            let object = &event["involvedObject"];
            let namespace = text(&object["namespace"]);
            let name = (namespace, named(text(&object["name"])));
            places.by_uid.entry((namespace, text(&object["uid"]))).or_default().push(at);
            places.by_name.entry(name).or_default().push(at);
        }
        places
    }

    /// The events that may be of a workload, in their order.
    fn of(&self, workload: &Workload) -> BTreeSet<usize> {
        let namespace = workload.namespace.as_str();
        let groups = workload.groups.iter().map(|group| text(&group["metadata"]["uid"]));
        let uids = groups.filter_map(|uid| self.by_uid.get(&(namespace, uid)));
        let name = (namespace, workload.name.as_str());
        uids.chain(self.by_name.get(&name)).flatten().copied().collect()
    }
}

/// Tells whether a pod was evicted that was a workload by itself: its `PodGroup` has its name.
fn is_of_bare_pod(event: &Value) -> bool {
    let object = &event["involvedObject"];
    let name = named(text(&object["name"]));
    let pod = format!("Pod {}/{name} was ", text(&object["namespace"]));
    text(&event["message"]).starts_with(&pod)
}

/// Tells whether an eviction is of a workload: of a `PodGroup` that it has, or had.
pub(crate) fn is_eviction_of(event: &Value, workload: &Workload) -> bool {
    let object = &event["involvedObject"];
    let uid = text(&object["uid"]);
    let is_own = workload.groups.iter().any(|group| text(&group["metadata"]["uid"]) == uid);
    let is_of_it = |created: Timestamp| when(event).is_none_or(|when| when >= created);
    // Whoever writes an event chooses the UID that it names, in its own namespace.
    text(&object["namespace"]) == workload.namespace
        && (is_own
            || (named(text(&object["name"])) == workload.name
                && workload.created.is_none_or(is_of_it)))
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

/// Tells whether the name of a pod or of a `PodGroup` is made of a workload's.
fn belongs(name: &str, workload: &str) -> bool {
    let name = name.strip_prefix("pg-").unwrap_or(name);
    name.strip_prefix(workload).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// That pods were evicted, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Eviction {
    pub(crate) when: Option<Timestamp>,
    /// The workload, after its `PodGroup`.
    pub(crate) whose: String,
    pub(crate) pods: usize,
    /// `namespace/name` of the workload that took the room.
    pub(crate) by: Option<String>,
    pub(super) action: String,
    /// The queues that the event quotes: the one that lost, then the one that gained.
    pub(crate) queues: Vec<QueueThen>,
}

/// GPUs of a queue just before an eviction, as the event has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueueThen {
    pub(crate) name: String,
    pub(crate) used: String,
    pub(crate) quota: String,
    pub(crate) share: String,
}

impl QueueThen {
    /// Reads a line: `team-a uses (GPU: 12, ...) with a quota of (GPU: 8, ...), fair-share of (GPU: 12, ...) and ...`.
    fn read(line: &str) -> Option<Self> {
        let gpus = |after: &str| {
            let (_, rest) = line.split_once(&format!("{after} (GPU: "))?;
            Some(rest.split([',', ')']).next()?.to_owned())
        };
        Some(Self {
            name: line.split_once(" uses (GPU: ")?.0.to_owned(),
            used: gpus(" uses")?,
            quota: gpus(" with a quota of")?,
            share: gpus("fair-share of")?,
        })
    }
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
            queues: text(&last["message"]).lines().filter_map(QueueThen::read).collect(),
        })
    }

    /// The stable number of the way in which it was evicted.
    pub(crate) fn code(&self) -> &'static str {
        match self.action.as_str() {
            "preempt" => "KAI1302",
            "consolidation" => "KAI1303",
            "stalegangeviction" => "KAI1304",
            _ => "KAI1301",
        }
    }

    /// Says what would have kept it, or will the next time.
    pub(crate) fn avoidance(&self) -> &'static str {
        match self.action.as_str() {
            "preempt" => {
                "give it a higher priority, ask for a preemptMinRuntime of its queue, or write checkpoints"
            }
            "consolidation" => {
                "submit it as a job, whose controller makes its pods anew, and write checkpoints"
            }
            "stalegangeviction" => {
                "find out why pods of it ended (kubectl kai logs), or start it with a smaller minimum (--min)"
            }
            _ => {
                "stay within the quota of its queue, ask for a reclaimMinRuntime of it, or write checkpoints"
            }
        }
    }

    /// As data.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "by": self.by,
            "code": self.code(),
            "action": self.action,
            "time": self.when.map(|when| when.to_string()),
            "pods": self.pods,
            "sentence": self.sentence(),
        })
    }

    /// As a status: `evicted by default/urgent`.
    pub(crate) fn status(&self) -> String {
        match &self.by {
            Some(by) => format!("evicted by {by}"),
            None => "evicted".to_owned(),
        }
    }

    /// As a sentence: `fill was evicted 14m ago (3 pods): default/urgent took the room that its queue is entitled to`.
    pub(crate) fn sentence(&self) -> String {
        self.sentence_about(&self.whose)
    }

    /// The same with another word for the workload.
    pub(crate) fn sentence_about(&self, whose: &str) -> String {
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
        format!("{whose} was evicted{ago} ({}): {why}", count(self.pods, "pod"))
    }
}

/// The name of the workload that a `PodGroup` was made for: `pg-NAME-UID`.
pub(super) fn named(group: &str) -> &str {
    const UID_LENGTH: usize = 36;
    let name = group.strip_prefix("pg-").unwrap_or(group);
    match name.len().checked_sub(UID_LENGTH + 1).and_then(|at| name.split_at_checked(at)) {
        Some((name, uid)) if uid.starts_with('-') && uid.matches('-').count() == 5 => name,
        Some(_) | None => name,
    }
}

/// Returns who evicted a workload that is no more; `None` where no event tells.
pub(crate) async fn eviction_of(workload: &Workload, cluster: &Cluster) -> Option<Eviction> {
    let events = evictions(cluster, Some(&workload.namespace)).await.ok()?;
    last_of(workload, &events)
}

/// The last eviction of a workload that events tell of.
pub(crate) fn last_of(workload: &Workload, events: &[Value]) -> Option<Eviction> {
    let mut mine: Vec<&Value> =
        events.iter().filter(|event| is_eviction_of(event, workload)).collect();
    mine.sort_by_key(|event| when(event));
    Eviction::last(mine)
}

/// The last eviction of what had a name: a workload, a `PodGroup` or a pod.
pub(crate) fn last_of_name(name: &str, events: &[Value]) -> Option<Eviction> {
    let was = format!("/{name} was ");
    let is_it = |event: &&Value| {
        let object = &event["involvedObject"];
        matches!(text(&object["kind"]), "Pod" | "PodGroup")
            && (named(text(&object["name"])) == name || text(&event["message"]).contains(&was))
    };
    let mut mine: Vec<&Value> = events.iter().filter(is_it).collect();
    mine.sort_by_key(|event| when(event));
    Eviction::last(mine)
}

/// Adds to the error that nothing has a name who evicted what had it, where an event tells.
pub(crate) fn of_name(error: Error, name: &str, events: Option<&[Value]>) -> Error {
    let Error::Problems(mut problems) = error else { return error };
    let eviction = events.and_then(|events| last_of_name(name, events));
    if let (Some(eviction), [problem]) = (eviction, problems.as_mut_slice())
        && problem.exit == Exit::NotFound
    {
        problem.number = number::EVICTED;
        problem.exit = Exit::Evicted;
        problem.lines = vec![clean(&eviction.sentence()).into_owned()];
        problem.lines.push(
            "nothing creates it again by itself: submit it as a job, whose pods are created again"
                .into(),
        );
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

    /// Checks what is said of one eviction by an action, by a group of that name.
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

    #[test]
    fn a_bare_pod_that_was_evicted_is_listed_though_it_is_gone() {
        let evicted = |group: &str, pod: &str| {
            let mut event = event("PodGroup", &format!("pg-{group}-{UID}"), event::EVICT, 1);
            event["message"] = json!(format!(
                "Pod n/{pod} was preempted by higher priority workload n/pg-urgent-{UID}"
            ));
            event["metadata"] = json!({"annotations": {"evictor-action-type": "preempt",
                "evictor-pod-group-name": format!("pg-urgent-{UID}"), "evictor-pod-group-namespace": "n"}});
            event
        };
        let mut waits = workload("fill");
        waits.created = "2026-01-01T00:00:00Z".parse().ok();
        waits.groups.push(json!({"metadata": {"uid": "another"}}));
        let mut workloads = vec![waits];
        mark_evicted(
            &mut workloads,
            &[
                evicted("fill", "fill-0-abcde"),
                evicted("solo", "solo"),
                evicted("job", "job-0-abcde"),
            ],
        );
        let told: Vec<String> = workloads
            .iter()
            .map(|one| {
                let eviction = one.eviction.as_ref().map_or_else(String::new, Eviction::status);
                format!("{} {} {eviction}", one.name, one.state().show())
            })
            .collect();
        assert_eq!(
            told,
            [
                "fill Waiting (NoPods) evicted by n/urgent",
                "solo Failed (Evicted) evicted by n/urgent"
            ]
        );
    }

    #[test]
    fn the_queues_of_a_reclaim_are_read_from_its_event() {
        let line = "team-a uses (GPU: 12, CPU: 0 (cores), memory: 0 (GB)) with a quota of (GPU: 8, CPU: Unlimited (cores), \
            memory: Unlimited (GB)), fair-share of (GPU: 12.5, CPU: 0 (cores), memory: 0 (GB)) and queue priority of 100.";
        let expect = QueueThen {
            name: "team-a".into(),
            used: "12".into(),
            quota: "8".into(),
            share: "12.5".into(),
        };
        assert_eq!(QueueThen::read(line), Some(expect));
        assert_eq!(QueueThen::read("Pod n/x was preempted by workload n/y."), None);
    }
}
