//! Where waiting workloads stand in their queues, from `PodGroups` and priority classes alone.
//!
//! # Source
//! docs/behaviour.md 1.9, job order: priority, then age. It is the order in which the scheduler tries the work of one
//! queue in its next cycle, not a promise, and says nothing about the queues beside it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::Loaded;
use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Resource, Select, names};

/// A place in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// 1 is tried first.
    pub(crate) place: usize,
    /// How many wait there.
    pub(crate) of: usize,
}

/// (namespace, `PodGroup`) to its place.
type Places = BTreeMap<(String, String), Position>;

impl Loaded {
    /// Finds the places of what waits: two requests for the whole cluster, none when nothing waits.
    ///
    /// Without the right to read all `PodGroups` or the priority classes, places stay unknown.
    pub(crate) async fn find_positions(&mut self, cluster: &Cluster) {
        if !self.workloads.iter().any(|workload| workload.state().phase.is_queued()) {
            return;
        }
        let (groups, classes) = (
            names::pod_groups(),
            Resource::new("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses")
                .cluster_wide(),
        );
        let (group_call, class_call) = (Call::new("list", &groups), Call::new("list", &classes));
        let everything = Select::default();
        let (groups, classes) = futures::join!(
            cluster.list(&group_call, &everything),
            cluster.list(&class_call, &everything)
        );
        let (Ok(Some(groups)), Ok(Some(classes))) = (groups, classes) else { return };
        let places = places(&groups, &classes);
        for workload in &mut self.workloads {
            if !workload.state().phase.is_queued() {
                continue;
            }
            let own = workload.groups.iter().filter_map(|group| places.get(&key(group)));
            workload.position = own.min().copied();
        }
    }
}

fn key(group: &Value) -> (String, String) {
    let meta = &group["metadata"];
    (text(&meta["namespace"]).to_owned(), text(&meta["name"]).to_owned())
}

/// The places of all groups that wait. Pure.
fn places(groups: &[Value], classes: &[Value]) -> Places {
    let values: HashMap<&str, i64> = classes
        .iter()
        .filter_map(|class| Some((text(&class["metadata"]["name"]), class["value"].as_i64()?)))
        .collect();
    let default = classes
        .iter()
        .find(|class| class["globalDefault"] == true)
        .and_then(|class| class["value"].as_i64())
        .unwrap_or(i64::from(kai_api::names::priority_class::FALLBACK));
    let mut queues: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for group in groups.iter().filter(|group| waits(group)) {
        queues.entry(text(&group["spec"]["queue"])).or_default().push(group);
    }
    let mut places = Places::new();
    for mut waiting in queues.into_values() {
        waiting.sort_by_key(|group| {
            let class = text(&group["spec"]["priorityClassName"]);
            let (meta, priority) = (&group["metadata"], values.get(class).unwrap_or(&default));
            (Reverse(*priority), text(&meta["creationTimestamp"]), text(&meta["uid"]))
        });
        let of = waiting.len();
        let numbered = waiting.into_iter().zip(1..);
        places.extend(numbered.map(|(group, place)| (key(group), Position { place, of })));
    }
    places
}

/// Whether the group has pods without a node: it asks for more than it has, or the scheduler says so.
fn waits(group: &Value) -> bool {
    let status = &group["status"];
    let amounts = &status["resourcesStatus"];
    let requested = amounts["requested"].as_object();
    let asks_more = requested
        .is_some_and(|all| all.iter().any(|(name, amount)| amounts["allocated"][name] != *amount));
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
        let groups = [
            group("young", "a", "train", 3, "0"),
            group("old", "a", "train", 1, "1"),
            group("urgent", "a", "build", 4, "0"),
            group("unknown", "a", "nobody", 0, "0"),
            group("runs", "a", "build", 0, "2"),
            group("elsewhere", "b", "train", 0, "0"),
        ];
        let class = |name: &str, value: i64| json!({"metadata": {"name": name}, "value": value});
        let places = places(&groups, &[class("train", 50), class("build", 100)]);
        let told: Vec<String> = places
            .iter()
            .map(|((_, name), at)| format!("{name} {} of {}", at.place, at.of))
            .collect();
        let expect =
            ["elsewhere 1 of 1", "old 3 of 4", "unknown 2 of 4", "urgent 1 of 4", "young 4 of 4"];
        assert_eq!(told, expect);
    }
}
