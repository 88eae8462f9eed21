//! Promises about GPUs that pods share: each has its reservation, and its users are told the device that it says (S3).

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kai_api::names::{annotation, env, label};
use kai_sandbox::server::Change;
use kube::ResourceExt;
use tokio::time::Instant;

use super::{
    mixed,
    recent::Moment,
    shown::{Life, Shown},
};

/// All reservation pods, those who share their GPUs, and what those are told.
#[derive(Debug, Default)]
pub(super) struct Devices {
    /// Reservation pods by the GPU group that they hold, and their UID.
    reservations: BTreeMap<String, BTreeMap<String, Reservation>>,
    /// UIDs of pods that have their places, by GPU group.
    users: BTreeMap<String, BTreeSet<String>>,
    /// Groups of each of those by its UID, also where its labels change later.
    groups: BTreeMap<String, Vec<String>>,
    /// Config maps that name devices, by `namespace/name`.
    told: BTreeMap<String, Map>,
    /// Names of all pods by UID, of those that wait with the label of a GPU that they share.
    pods: BTreeMap<String, Option<String>>,
}

/// A config map.
#[derive(Debug)]
struct Map {
    devices: String,
    /// UIDs of what it belongs to.
    owners: Vec<String>,
}

/// A reservation pod.
#[derive(Debug)]
struct Reservation {
    node: String,
    /// The device that it says; empty where it says none.
    uuid: String,
    /// Until when it was there; none: it is.
    until: Option<Instant>,
}

impl Devices {
    /// Takes a config map in.
    pub(super) fn config_map(&mut self, map: &ConfigMap) {
        let devices = map.data.as_ref().and_then(|data| data.get(env::VISIBLE_DEVICES));
        if let Some(devices) = devices {
            let name = format!("{}/{}", map.namespace().unwrap_or_default(), map.name_any());
            let owners = map.owner_references().iter().map(|owner| owner.uid.clone()).collect();
            self.told.insert(name, Map { devices: devices.clone(), owners });
        }
    }

    /// Takes the deletion of a config map in.
    pub(super) fn config_map_gone(&mut self, map: &ConfigMap) {
        let name = format!("{}/{}", map.namespace().unwrap_or_default(), map.name_any());
        self.told.remove(&name);
    }

    /// Takes a pod in; says what is wrong with the GPUs that it shares, or holds for others.
    pub(super) fn pod(&mut self, shown: &Shown<'_>, change: Change, at: Moment) -> Vec<String> {
        if shown.is_reservation {
            return self.reservation(shown, at);
        }
        if change == Change::Deleted {
            self.pods.remove(&shown.uid);
        } else {
            let is_left = shown.life == Life::Waits && !groups(shown.pod).is_empty();
            self.pods.insert(shown.uid.clone(), is_left.then(|| shown.name.clone()));
        }
        if shown.life != Life::Holds {
            for group in self.groups.remove(&shown.uid).into_iter().flatten() {
                if let Some(users) = self.users.get_mut(&group) {
                    users.remove(&shown.uid);
                }
            }
            return Vec::new();
        }
        if self.groups.contains_key(&shown.uid) {
            return Vec::new();
        }
        let groups = groups(shown.pod);
        if mixed::hundredths_of(shown.pod.annotations()).is_none() {
            return Vec::new();
        }
        let wrong = self.begun(shown, &groups, at);
        for group in &groups {
            self.users.entry(group.clone()).or_default().insert(shown.uid.clone());
        }
        self.groups.insert(shown.uid.clone(), groups);
        wrong
    }

    /// Says what is left of binds that came to nothing, and of pods that are gone (L6).
    pub(super) fn at_rest(&self) -> Vec<String> {
        let labelled = self.pods.values().flatten();
        let labelled = labelled.map(|pod| format!("{pod} waits, and its labels name a GPU"));
        let is_left = |map: &Map| !map.owners.iter().any(|owner| self.pods.contains_key(owner));
        let maps = self.told.iter().filter(|(_, map)| is_left(map));
        let maps = maps.map(|(name, _)| format!("config map {name} is left behind"));
        labelled.chain(maps).collect()
    }

    /// A pod that shares GPUs from now on: each is held for it on its node, and it is told which.
    fn begun(&self, shown: &Shown<'_>, groups: &[String], at: Moment) -> Vec<String> {
        let (name, node) = (&shown.name, shown.node.unwrap_or_default());
        if groups.is_empty() {
            return vec![format!("{name} shares a GPU of {node}, and no label says which")];
        }
        let mut wrong = Vec::new();
        let mut devices = BTreeSet::new();
        for group in groups {
            let is_there = |one: &&Reservation| {
                one.node == node && one.until.is_none_or(|until| until >= at.since)
            };
            let holders = self.reservations.get(group).into_iter().flat_map(BTreeMap::values);
            let said: BTreeSet<&str> =
                holders.filter(is_there).map(|one| one.uuid.as_str()).collect();
            if said.is_empty() {
                wrong.push(format!("{name} shares {group} of {node}, which nobody holds for it"));
            } else if said.iter().all(|uuid| uuid.is_empty()) {
                wrong.push(format!("{name} shares {group} of {node}, of which no device is known"));
            }
            devices.extend(said);
        }
        let namespace = shown.pod.namespace().unwrap_or_default();
        let Some(map) = shown.pod.annotations().get(annotation::SHARED_GPU_CONFIG_MAP) else {
            return wrong;
        };
        let maps = [format!("{namespace}/{map}-0"), format!("{namespace}/{map}-0-evar")];
        let told = maps.iter().find_map(|map| self.told.get(map));
        let told = told.map(|map| map.devices.as_str());
        let is_said =
            |one: &str| devices.iter().any(|uuid| !uuid.is_empty() && one.ends_with(uuid));
        match told {
            Some(told) if told.split(',').all(is_said) => {}
            Some(told) => wrong.push(format!("{name} is told {told}, and {devices:?} is held")),
            None => wrong.push(format!("{name} shares a GPU, and no config map says which")),
        }
        wrong
    }

    /// A reservation pod; while nothing goes wrong nobody but its scheduler ends one, and not while somebody has its GPU.
    fn reservation(&mut self, shown: &Shown<'_>, at: Moment) -> Vec<String> {
        let mut wrong = Vec::new();
        let Some(group) = shown.pod.labels().get(label::GPU_GROUP) else { return wrong };
        let is_there = matches!(shown.life, Life::Waits | Life::Holds);
        let holders = self.reservations.entry(group.clone()).or_default();
        let uuid = shown.pod.annotations().get(annotation::RESERVED_GPU);
        let one = holders.entry(shown.uid.clone()).or_insert_with(|| Reservation {
            node: String::new(),
            uuid: String::new(),
            until: None,
        });
        shown.node.unwrap_or_default().clone_into(&mut one.node);
        one.uuid = uuid.cloned().unwrap_or_default();
        if is_there || one.until.is_some() {
            return wrong;
        }
        one.until = Some(at.now);
        let is_held = holders.values().any(|one| one.until.is_none());
        let users = self.users.get(group).filter(|users| !users.is_empty());
        if at.is_calm()
            && !is_held
            && let Some(users) = users
        {
            let (name, count) = (&shown.name, users.len());
            wrong.push(format!("{name} of {group} goes, which {count} pods share"));
        }
        // What is long gone is not asked for any more.
        holders.retain(|_, one| one.until.is_none_or(|until| until >= at.since));
        wrong
    }
}

/// The GPU groups that the labels of a pod name. Source: docs/contract.md 4.5.
fn groups(pod: &Pod) -> Vec<String> {
    let of = |(key, value): (&String, &String)| {
        if key == label::GPU_GROUP {
            return Some(value.clone());
        }
        key.strip_prefix(label::GPU_GROUP_PREFIX).map(str::to_owned)
    };
    pod.labels().iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;

    /// Takes in a step a second, each a kind, a name and what is special about it, while nothing goes wrong.
    fn check(steps: &[&str], expect: &[&str]) {
        let start = Instant::now();
        let mut devices = Devices::default();
        let mut found = Vec::new();
        for (second, step) in (0..).zip(steps) {
            let words: Vec<&str> = step.split(' ').collect();
            let (name, what) = (words[1], words.get(2).copied().unwrap_or_default());
            let (object, change) = match words[0] {
                "map" => (map(name, what), Change::Added),
                "holds" => (pod(name, "kai-resource-reservation", what), Change::Modified),
                "held" => (pod(name, "kai-resource-reservation", ""), Change::Deleted),
                "shares" => (pod(name, "d", what), Change::Modified),
                "shared" => (pod(name, "d", ""), Change::Deleted),
                "unmap" => (map(name, what), Change::Deleted),
                other => panic!("{other} is no step"),
            };
            let now = start + Duration::from_secs(second);
            let since = now.checked_sub(Duration::from_secs(5)).unwrap_or(now);
            let at = Moment { now, since, calm: Some(start) };
            if words[0].ends_with("map") {
                let map: ConfigMap = serde_json::from_value(object).expect("it is a config map");
                if change == Change::Deleted {
                    devices.config_map_gone(&map);
                } else {
                    devices.config_map(&map);
                }
            } else {
                let pod: Pod = serde_json::from_value(object).expect("it is a pod");
                found.extend(devices.pod(&Shown::of(&pod, change), change, at));
            }
        }
        found.extend(devices.at_rest());
        assert_eq!(found, expect, "{steps:?}");
    }

    fn map(pod: &str, device: &str) -> Value {
        json!({"metadata": {"name": format!("{pod}-0-evar"), "namespace": "d",
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": pod}]},
            "data": {"NVIDIA_VISIBLE_DEVICES": device}})
    }

    /// A pod on the node `n`, or another one that it names, of the GPU group `g` unless it has none.
    fn pod(name: &str, namespace: &str, what: &str) -> Value {
        let node = if what == "elsewhere" { "other" } else { "n" };
        let mut pod = json!({
            "metadata": {"name": name, "uid": name, "namespace": namespace,
                "labels": {"runai-gpu-group": "g"}},
            "spec": {"nodeName": node, "containers": []},
        });
        let annotations = if namespace == "d" {
            json!({"gpu-fraction": "0.5", "runai/shared-gpu-configmap": name})
        } else {
            json!({"run.ai/reserve_for_gpu_index": if what == "silent" { "" } else { "GPU-1" }})
        };
        pod["metadata"]["annotations"] = annotations;
        if what == "waits" {
            pod["spec"]["nodeName"] = Value::Null;
        }
        if what == "unlabelled" {
            pod["metadata"]["labels"] = json!({});
        }
        pod
    }

    #[test]
    fn a_pod_shares_what_is_held_for_it_and_is_told_which() {
        check(&["holds r", "map a GPU-1", "shares a"], &[]);
        check(&["holds r", "map a nvidia.com/gpu=GPU-1", "shares a"], &[]);
        let told = "a is told GPU-2, and {\"GPU-1\"} is held";
        check(&["holds r", "map a GPU-2", "shares a"], &[told]);
        check(&["holds r", "shares a"], &["a shares a GPU, and no config map says which"]);
        let label = "a shares a GPU of n, and no label says which";
        check(&["holds r", "map a GPU-1", "shares a unlabelled", "shares a unlabelled"], &[label]);
    }

    #[test]
    fn a_gpu_that_is_shared_is_held_on_its_node() {
        let nobody = "a shares g of n, which nobody holds for it";
        let told = "a is told GPU-1, and {} is held";
        check(&["map a GPU-1", "shares a"], &[nobody, told]);
        check(&["holds r elsewhere", "map a GPU-1", "shares a"], &[nobody, told]);
        let silent = "a shares g of n, of which no device is known";
        let told = "a is told GPU-1, and {\"\"} is held";
        check(&["holds r silent", "map a GPU-1", "shares a"], &[silent, told]);
        check(&["holds r", "map a GPU-1", "held r", "shares a"], &[]);
    }

    #[test]
    fn a_reservation_stays_while_somebody_has_its_gpu() {
        let begin = ["holds r", "map a GPU-1", "shares a"];
        let with = |more: &[&'static str]| [&begin[..], more].concat();
        check(&with(&["held r"]), &["r of g goes, which 1 pods share"]);
        check(&with(&["shared a", "held r", "unmap a"]), &[]);
        check(&with(&["holds s", "held r"]), &[]);
    }

    #[test]
    fn nothing_is_left_of_binds_that_came_to_nothing() {
        check(&["shares a waits"], &["a waits, and its labels name a GPU"]);
        check(&["map a GPU-1"], &["config map d/a-0-evar is left behind"]);
        check(&["map a GPU-1", "shares a waits", "shared a", "unmap a"], &[]);
    }
}
