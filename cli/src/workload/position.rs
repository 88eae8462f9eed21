//! Describes where waiting workloads stand in their queues, from `PodGroups` and priority classes alone.
//!
//! # Source
//! docs/behaviour.md 1.9, job order: priority, then age. It is the order in which the scheduler tries the work of one
//! queue in its next cycle, not a promise, and says nothing about the queues beside it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use kai_api::names::resource::SHARED_GPU_MEMORY;
use serde_json::Value;

use super::rest::{Rest, all, priority_classes};
use super::{Loaded, Workload};
use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Failure, Select, names};

/// A place in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// 1 is tried first.
    pub(crate) place: usize,
    /// Says how many wait there.
    pub(crate) of: usize,
}

/// (namespace, `PodGroup`) to its place.
type Places = BTreeMap<(String, String), Position>;

impl Loaded {
    /// Finds the places of what waits: two requests for the whole cluster, none when nothing waits.
    ///
    /// Without the right to read all `PodGroups` or the priority classes, places stay unknown.
    pub(crate) async fn find_positions(&mut self, cluster: &Cluster) {
        if !self.waits() {
            return;
        }
        let (groups, classes) = all(cluster, Some("")).await;
        if let Some((groups, classes)) = groups.zip(classes) {
            self.take(&places(groups.iter(), &classes));
        }
    }

    /// Does the same where these are all the workloads of a namespace, or of all: their `PodGroups` are not read again.
    /// Nor is the rest, where it was.
    pub(crate) async fn find_positions_of_all(
        &mut self,
        cluster: &Cluster,
        namespace: Option<&str>,
        rest: Option<Rest>,
    ) {
        if !self.waits() {
            return;
        }
        let Rest { groups, classes } = match rest {
            Some(rest) => rest,
            None => Rest::read(cluster, namespace).await,
        };
        if let Some((others, classes)) = groups.zip(classes) {
            let own = self.workloads.iter().flat_map(|workload| &workload.groups);
            let places = places(own.chain(&others), &classes);
            self.take(&places);
        }
    }

    fn waits(&self) -> bool {
        self.workloads.iter().any(|workload| workload.phase().is_queued())
    }

    fn take(&mut self, places: &Places) {
        for workload in &mut self.workloads {
            let own = workload.groups.iter().filter_map(|group| places.get(&key(group)));
            let first = own.min().copied();
            workload.position = first.filter(|_| workload.phase().is_queued());
        }
    }
}

/// Says who waits in the queue of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// 1 is tried first.
    pub(crate) place: usize,
    /// Says how many wait there.
    pub(crate) of: usize,
    /// Those that are tried before it, the next one first: `namespace/name (priority 50)`.
    pub(crate) ahead: Vec<String>,
    /// Tells whether all namespaces were looked at.
    pub(crate) is_whole: bool,
}

/// Finds out who waits in the queue of a workload; none where it does not wait, or where very many do.
///
/// Of the `PodGroups` of the cluster those of the queue alone are read, by the label that the podgrouper gives them.
///
/// # Errors
/// `PodGroups` may not be read, not even in its namespace.
pub(crate) async fn line(cluster: &Cluster, workload: &Workload) -> Result<Option<Line>, Failure> {
    let own: Vec<(String, String)> = workload.groups.iter().map(key).collect();
    let (resource, classes) = (names::pod_groups(), priority_classes());
    let labels = format!("{}={}", names::QUEUE, workload.queue);
    let of_queue = Select { labels: &labels, fields: "" };
    let (all, here) = (
        Call::new("list", &resource),
        Call::new("list", &resource).namespace(Some(&workload.namespace)),
    );
    let class_call = Call::new("list", &classes);
    let everything = Select::default();
    let (everywhere, classes) = futures::join!(
        first_pages(cluster, &all, &of_queue),
        cluster.list(&class_call, &everything)
    );
    let (groups, is_whole) = match everywhere {
        Ok(groups) => (groups, true),
        Err(_) => (first_pages(cluster, &here, &of_queue).await?, false),
    };
    let Some(groups) = groups else { return Ok(None) };
    let classes = classes.ok().flatten().unwrap_or_default();
    let waiting = Waiting { groups: &groups, classes: &classes };
    Ok(line_of(&workload.queue, &own, &waiting, is_whole))
}

/// Says whose turn is when.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    /// By queue, the queue that is next first where that is known; in a queue by turn.
    pub(crate) turns: Vec<Turn>,
    /// Tells whether all namespaces were looked at.
    pub(crate) is_whole: bool,
}

/// One who waits.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) queue: String,
    /// 1 is next in its queue.
    pub(crate) place: usize,
    pub(crate) namespace: String,
    pub(crate) workload: String,
    pub(crate) priority: i64,
    pub(crate) created: String,
}

/// Finds out whose turn is when in a queue, or in all; in one namespace where all may not be read.
///
/// # Errors
/// `PodGroups` may not be read at all.
pub(crate) async fn turns(
    cluster: &Cluster,
    queue: Option<&str>,
    namespace: Option<&str>,
) -> Result<Turns, Failure> {
    let (resource, classes) = (names::pod_groups(), priority_classes());
    let labels = queue.map_or_else(String::new, |queue| format!("{}={queue}", names::QUEUE));
    let of_queue = Select { labels: &labels, fields: "" };
    let (call, class_call) = (Call::new("list", &resource), Call::new("list", &classes));
    let everything = Select::default();
    let (groups, classes) =
        futures::join!(cluster.list(&call, &of_queue), cluster.list(&class_call, &everything));
    let (groups, is_whole) = match groups {
        Ok(groups) => (groups, true),
        Err(failure) if failure.is_forbidden() && namespace.is_some() => {
            (cluster.list(&call.namespace(namespace), &of_queue).await?, false)
        }
        Err(failure) => return Err(failure),
    };
    let groups = groups.unwrap_or_default();
    let classes = classes.ok().flatten().unwrap_or_default();
    let priorities = Priorities::of(&classes);
    let mut queues: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for group in groups.iter().filter(|group| waits(group)) {
        let name = text(&group["spec"]["queue"]);
        if queue.is_none_or(|queue| queue == name) {
            queues.entry(name).or_default().push(group);
        }
    }
    let each = queues.into_iter().flat_map(|(queue, waiting)| {
        let sorted = priorities.sorted(waiting).into_iter().zip(1..);
        let turn = |(group, place): (&Value, usize)| {
            let (namespace, name) = key(group);
            Turn {
                queue: queue.to_owned(),
                place,
                namespace,
                workload: super::history::named(&name).to_owned(),
                priority: priorities.of_group(group),
                created: text(&group["metadata"]["creationTimestamp"]).to_owned(),
            }
        };
        sorted.map(turn).collect::<Vec<_>>()
    });
    Ok(Turns { turns: each.collect(), is_whole })
}

/// Pages that are read to find one place: of longer lines `--order` tells.
const PAGES_MAX: usize = 2;

/// All objects of a list, where they are not more than a few pages.
async fn first_pages(
    cluster: &Cluster,
    call: &Call<'_>,
    select: &Select<'_>,
) -> Result<Option<Vec<Value>>, Failure> {
    let (mut items, mut next) = (Vec::new(), String::new());
    for _ in 0..PAGES_MAX {
        let mut page = cluster.page(call, select, &next, false).await?;
        if let Some(Value::Array(some)) = page.get_mut("items").map(Value::take) {
            items.extend(some);
        }
        text(&page["metadata"]["continue"]).clone_into(&mut next);
        if next.is_empty() {
            return Ok(Some(items));
        }
    }
    Ok(None)
}

/// Holds what a line is made of.
struct Waiting<'w> {
    groups: &'w [Value],
    classes: &'w [Value],
}

/// The line of a queue before the first of these groups. Pure.
fn line_of(
    queue: &str,
    own: &[(String, String)],
    waiting: &Waiting<'_>,
    is_whole: bool,
) -> Option<Line> {
    let priorities = Priorities::of(waiting.classes);
    let here: Vec<&Value> = waiting
        .groups
        .iter()
        .filter(|group| text(&group["spec"]["queue"]) == queue && waits(group))
        .collect();
    let sorted = priorities.sorted(here);
    let at = sorted.iter().position(|group| own.contains(&key(group)))?;
    let ahead = sorted[..at].iter().rev().map(|group| {
        let (namespace, name) = key(group);
        let priority = priorities.of_group(group);
        format!("{namespace}/{} (priority {priority})", super::history::named(&name))
    });
    Some(Line { place: at + 1, of: sorted.len(), ahead: ahead.collect(), is_whole })
}

/// The values of priority classes.
struct Priorities<'c> {
    values: HashMap<&'c str, i64>,
    default: i64,
}

impl<'c> Priorities<'c> {
    fn of(classes: &'c [Value]) -> Self {
        // Those that KAI brings along are known without the right to read any.
        let shipped = kai_api::names::priority_class::ALL;
        let shipped = shipped.iter().map(|(name, value)| (*name, i64::from(*value)));
        let there = classes
            .iter()
            .filter_map(|class| Some((text(&class["metadata"]["name"]), class["value"].as_i64()?)));
        let values = shipped.chain(there).collect();
        let default = classes
            .iter()
            .find(|class| class["globalDefault"] == true)
            .and_then(|class| class["value"].as_i64())
            .unwrap_or(i64::from(kai_api::names::priority_class::FALLBACK));
        Self { values, default }
    }

    fn of_group(&self, group: &Value) -> i64 {
        let class = text(&group["spec"]["priorityClassName"]);
        self.values.get(class).copied().unwrap_or(self.default)
    }

    /// Groups in the order of their turns.
    fn sorted<'g>(&self, mut groups: Vec<&'g Value>) -> Vec<&'g Value> {
        groups.sort_by_cached_key(|group| {
            let meta = &group["metadata"];
            let priority = self.of_group(group);
            (Reverse(priority), text(&meta["creationTimestamp"]), text(&meta["uid"]))
        });
        groups
    }
}

fn key(group: &Value) -> (String, String) {
    let meta = &group["metadata"];
    (text(&meta["namespace"]).to_owned(), text(&meta["name"]).to_owned())
}

/// The places of all groups that wait. Pure.
fn places<'g>(groups: impl Iterator<Item = &'g Value>, classes: &[Value]) -> Places {
    let priorities = Priorities::of(classes);
    let mut queues: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for group in groups.filter(|group| waits(group)) {
        queues.entry(text(&group["spec"]["queue"])).or_default().push(group);
    }
    let mut places = Places::new();
    for waiting in queues.into_values() {
        let waiting = priorities.sorted(waiting);
        let of = waiting.len();
        let numbered = waiting.into_iter().zip(1..);
        places.extend(numbered.map(|(group, place)| (key(group), Position { place, of })));
    }
    places
}

/// Tells whether the group has pods without a node: it asks for more than it has, or the scheduler says so.
fn waits(group: &Value) -> bool {
    let status = &group["status"];
    let amounts = &status["resourcesStatus"];
    let requested = amounts["requested"].as_object();
    let lacks = |(name, amount): (&String, &Value)| match name.as_str() {
        // What is given for memory of devices is told as devices.
        SHARED_GPU_MEMORY => amounts["allocated"][names::GPU] == amounts["requested"][names::GPU],
        name => amounts["allocated"][name] != *amount,
    };
    let asks_more = requested.is_some_and(|all| all.iter().any(lacks));
    let said = status["schedulingConditions"].as_array().into_iter().flatten();
    asks_more
        || said
            .filter(|c| text(&c["type"]) == "UnschedulableOnNodePool")
            .any(|c| text(&c["status"]) != "False")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn higher_priority_then_age_and_only_what_waits() {
        let group = |name: &str, queue: &str, class: &str, minute: u32, allocated: &str| {
            json!({
                "metadata": {"namespace": "n", "name": name, "uid": name,
                    "creationTimestamp": format!("2026-01-01T00:{minute:02}:00Z")},
                "spec": {"queue": queue, "priorityClassName": class},
                "status": {"resourcesStatus": {"requested": {"nvidia.com/gpu": "2"},
                    "allocated": {"nvidia.com/gpu": allocated}}},
            })
        };
        let memory = |name: &str, allocated: Value| {
            json!({"metadata": {"namespace": "n", "name": name, "uid": name}, "spec": {"queue": "c"},
                "status": {"resourcesStatus": {"requested": {"run.ai/gpu.memory": "10240"}, "allocated": allocated}}})
        };
        let groups = [
            group("young", "a", "train", 3, "0"),
            group("old", "a", "train", 1, "1"),
            group("urgent", "a", "build", 4, "0"),
            group("unknown", "a", "nobody", 0, "0"),
            group("runs", "a", "build", 0, "2"),
            group("elsewhere", "b", "train", 0, "0"),
            memory("waits for memory", json!({})),
            memory("has memory", json!({"nvidia.com/gpu": "125m"})),
        ];
        let class = |name: &str, value: i64| json!({"metadata": {"name": name}, "value": value});
        let places = places(groups.iter(), &[class("train", 50), class("build", 100)]);
        let told: Vec<String> = places
            .iter()
            .map(|((_, name), at)| format!("{name} {} of {}", at.place, at.of))
            .collect();
        let expect = [
            "elsewhere 1 of 1",
            "old 3 of 4",
            "unknown 2 of 4",
            "urgent 1 of 4",
            "waits for memory 1 of 1",
            "young 4 of 4",
        ];
        assert_eq!(told, expect);
    }

    #[test]
    fn a_workload_of_several_groups_stands_where_the_first_of_them_does() {
        let group = |name: &str| json!({"metadata": {"namespace": "n", "name": name}});
        let workload =
            Workload { groups: vec![group("b"), group("a"), group("c")], ..Workload::default() };
        let mut loaded = Loaded { workloads: vec![workload], ..Loaded::default() };
        let at = |place| Position { place, of: 3 };
        let places = [("a", 1), ("b", 2), ("c", 3)];
        let places: Places =
            places.map(|(name, place)| (("n".to_owned(), name.to_owned()), at(place))).into();
        loaded.take(&places);
        assert_eq!(loaded.workloads[0].position, Some(at(1)));
    }
}
