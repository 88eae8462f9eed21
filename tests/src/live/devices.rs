//! Devices that pods which share GPUs are told, followed from the pod to its config map and to the reservation pods,
//! as the kubelet and the container would see it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use kai_api::names::{annotation, env, label, namespace};
use kube::{Client, ResourceExt, api::DynamicObject};
use serde_json::Value;

use super::{judge::Expect, object};

/// Lists what is not as it is expected.
pub(super) async fn misses(expect: &Expect, client: &Client) -> Result<Vec<String>> {
    let wants_any = !expect.devices.is_empty()
        || !expect.shares.is_empty()
        || !expect.together.is_empty()
        || expect.reservations.is_some();
    if !wants_any {
        return Ok(Vec::new());
    }
    let reservations = object::list_in(client, "Pod", namespace::RESERVATION).await?;
    let view = View::read(client, &reservations).await?;
    let mut misses = Vec::new();
    if let Some(count) = expect.reservations.filter(|count| *count != reservations.len()) {
        let names: Vec<String> = reservations.iter().map(ResourceExt::name_any).collect();
        misses.push(format!("{} reservation pods, not {count}: {names:?}", reservations.len()));
    }
    for (name, count) in &expect.devices {
        misses.extend(view.judge_devices(name, *count));
    }
    for (name, share) in &expect.shares {
        let seen = view.told(name, env::GPU_PORTION);
        if seen.as_deref() != Some(share) || view.told(name, env::NUM_OF_GPUS) != seen {
            misses.push(format!("pod {name} is told the share {seen:?}, not {share:?}"));
        }
    }
    let mut others: BTreeSet<String> = BTreeSet::new();
    for pods in &expect.together {
        let told: Vec<BTreeSet<String>> = pods.iter().map(|name| view.devices(name)).collect();
        if told.windows(2).any(|pair| pair[0] != pair[1]) || told.iter().any(BTreeSet::is_empty) {
            misses.push(format!("pods {pods:?} are told {told:?}, not the same devices"));
        }
        for device in told.into_iter().next().unwrap_or_default() {
            if !others.insert(device.clone()) {
                misses.push(format!("{device} is told to pods that share nothing"));
            }
        }
    }
    Ok(misses)
}

/// Values that are told to a pod that shares GPUs.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    /// Its devices, which the reservation pods of its groups hold.
    pub devices: BTreeSet<String>,
    /// Its share of each.
    pub share: String,
}

/// Reads what pods of the namespace `default` are told, by name; an error where one is told other devices than its
/// groups hold.
///
/// # Errors
/// When the API server cannot be asked, or a pod is told something else.
pub async fn told(client: &Client) -> Result<BTreeMap<String, Told>> {
    let reservations = object::list_in(client, "Pod", namespace::RESERVATION).await?;
    let view = View::read(client, &reservations).await?;
    let mut all = BTreeMap::new();
    for pod in &view.pods {
        let name = pod.name_any();
        let devices = view.devices(&name);
        if devices.is_empty() {
            continue;
        }
        let misses = view.judge_devices(&name, devices.len());
        ensure!(misses.is_empty(), "{}", misses.join("; "));
        let share = view.told(&name, env::GPU_PORTION).unwrap_or_default();
        all.insert(name, Told { devices, share });
    }
    Ok(all)
}

/// The group of a reservation pod, and the device that it says.
fn held(pod: &DynamicObject) -> (String, String) {
    let text = |value: Option<&String>| value.cloned().unwrap_or_default();
    let group = text(pod.labels().get(label::GPU_GROUP));
    (group, text(pod.annotations().get(annotation::RESERVED_GPU)))
}

struct View {
    pods: Vec<DynamicObject>,
    maps: Vec<DynamicObject>,
    /// Devices by group.
    held: BTreeMap<String, String>,
}

impl View {
    async fn read(client: &Client, reservations: &[DynamicObject]) -> Result<Self> {
        Ok(Self {
            pods: object::list(client, "Pod").await?,
            maps: object::list(client, "ConfigMap").await?,
            held: reservations.iter().map(held).collect(),
        })
    }

    fn pod(&self, name: &str) -> Option<&DynamicObject> {
        self.pods.iter().find(|pod| pod.name_any() == name)
    }

    /// The value of a variable that some container of a pod takes from a config map.
    fn told(&self, name: &str, variable: &str) -> Option<String> {
        let spec = &self.pod(name)?.data["spec"];
        let containers = [&spec["initContainers"], &spec["containers"]];
        let mut variables = containers
            .into_iter()
            .filter_map(Value::as_array)
            .flatten()
            .filter_map(|container| container["env"].as_array())
            .flatten();
        let found = variables.find(|one| one["name"] == variable)?;
        let source = &found["valueFrom"]["configMapKeyRef"];
        let map = self.maps.iter().find(|map| source["name"] == map.name_any())?;
        map.data["data"][source["key"].as_str()?].as_str().map(String::from)
    }

    fn devices(&self, name: &str) -> BTreeSet<String> {
        let told = self.told(name, env::VISIBLE_DEVICES).unwrap_or_default();
        told.split(',').filter(|device| !device.is_empty()).map(String::from).collect()
    }

    fn judge_devices(&self, name: &str, count: usize) -> Vec<String> {
        let Some(pod) = self.pod(name) else { return vec![format!("no pod {name}")] };
        let labels = pod.labels().iter();
        let groups = labels.filter(|(key, _)| {
            *key == label::GPU_GROUP || key.starts_with(label::GPU_GROUP_PREFIX)
        });
        let held: BTreeSet<String> =
            groups.filter_map(|(_, group)| self.held.get(group)).cloned().collect();
        let told = self.devices(name);
        if told == held && told.len() == count && !told.contains("") {
            return Vec::new();
        }
        vec![format!("pod {name} is told {told:?}, its groups hold {held:?}; {count} wanted")]
    }
}
