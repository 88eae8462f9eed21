//! Environment of the containers of a pod, from the pod, what it refers to, and the devices it was given.
//!
//! Pure: the caller reads config maps and secrets, and says which devices the device plugin handed out.
//!
//! # Source
//!
//! The kubelet's `makeEnvironmentVariables` for order and messages; NVIDIA's container runtime for
//! `NVIDIA_VISIBLE_DEVICES`; docs/contract.md 2.4, 4.7.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::pod::{Container, Pod, PodSpec, Reference};

/// The variable by which a container is shown its devices.
pub const VISIBLE_DEVICES: &str = "NVIDIA_VISIBLE_DEVICES";
/// Prefix of a UUID where the runtime is told of devices by CDI.
const CDI: &str = "k8s.device-plugin.nvidia.com/gpu=";

/// An object of the pod's namespace that containers refer to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    ConfigMap(String),
    Secret(String),
    /// A claim, which is found once it has its volume.
    Claim(String),
    /// A claim of devices, which is found once it has them and is reserved for the pod; one without a name is not made yet.
    Devices {
        entry: String,
        claim: Option<String>,
    },
}

/// Findings: the entries, or `None` where there is no such object. Values of secrets are not kept, and claims have none.
pub(super) type Found = BTreeMap<Source, Option<BTreeMap<String, String>>>;

/// The variables of a container, in order; the last of a name counts.
pub type Environment = Vec<(String, String)>;

/// The reason why a container does not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiting {
    /// The container; empty for all of the pod.
    pub(super) container: String,
    /// As the kubelet names it.
    pub(super) reason: &'static str,
    /// In the kubelet's words.
    pub(super) message: String,
}

/// The objects without which the kubelet does not start the pod's containers.
pub(super) fn sources(pod: &Pod) -> BTreeSet<Source> {
    let spec = &pod.spec;
    let mut sources: BTreeSet<Source> = mounted(pod).map(|(source, _)| source).collect();
    sources.extend(devices(pod));
    for container in spec.init_containers.iter().chain(&spec.containers) {
        for from in &container.env_from {
            sources.extend(from.config_map_ref.iter().map(Source::config_map));
            sources.extend(from.secret_ref.iter().map(Source::secret));
        }
        for from in container.env.iter().filter_map(|variable| variable.value_from.as_ref()) {
            sources.extend(from.config_map_key_ref.iter().map(|key| Source::config_map(&key.of)));
            sources.extend(from.secret_key_ref.iter().map(|key| Source::secret(&key.of)));
        }
    }
    sources
}

/// Volumes that some container mounts, and whether they may be missing; the kubelet ignores others.
fn mounted(pod: &Pod) -> impl Iterator<Item = (Source, bool)> {
    let spec = &pod.spec;
    let is_mounted = |name: &str| {
        let mut all = spec.init_containers.iter().chain(&spec.containers);
        all.any(|container| container.volume_mounts.iter().any(|mount| mount.name == name))
    };
    let own = pod.metadata.name.as_deref().unwrap_or_default();
    spec.volumes.iter().filter(move |volume| is_mounted(&volume.name)).filter_map(move |volume| {
        if let Some(map) = &volume.config_map {
            return Some((Source::config_map(map), map.optional));
        }
        if let Some(secret) = &volume.secret {
            return Some((Source::Secret(secret.secret_name.clone()), secret.optional));
        }
        if let Some(claim) = &volume.persistent_volume_claim {
            return Some((Source::Claim(claim.claim_name.clone()), false));
        }
        let name = || format!("{own}-{}", volume.name);
        volume.ephemeral.as_ref().map(|_| (Source::Claim(name()), false))
    })
}

/// Claims of devices, all of which the pod has to have whether a container uses them or not.
fn devices(pod: &Pod) -> impl Iterator<Item = Source> {
    let status = pod.status.as_ref();
    let made = move |entry: &str| {
        let mut all = status.into_iter().flat_map(|status| &status.resource_claim_statuses);
        all.find(|one| one.name == entry)
    };
    let own = pod.spec.resource_claims.iter().filter_map(move |entry| {
        let claim = match (&entry.resource_claim_name, made(&entry.name)) {
            (Some(claim), _) => Some(claim.clone()),
            // Its status may say that no claim is needed.
            (None, Some(made)) => Some(made.resource_claim_name.clone()?),
            (None, None) => None,
        };
        Some(Source::Devices { entry: entry.name.clone(), claim })
    });
    let extended = status.and_then(|status| status.extended_resource_claim_status.as_ref());
    let extended = extended.map(|made| Source::Devices {
        entry: String::new(),
        claim: made.resource_claim_name.clone(),
    });
    own.chain(extended)
}

impl Source {
    fn config_map(reference: &Reference) -> Self {
        Self::ConfigMap(reference.name.clone())
    }

    fn secret(reference: &Reference) -> Self {
        Self::Secret(reference.name.clone())
    }

    fn missing(&self) -> String {
        match self {
            Self::ConfigMap(name) => format!("configmap {name:?} not found"),
            Self::Secret(name) => format!("secret {name:?} not found"),
            Self::Claim(name) => format!("persistentvolumeclaim {name:?} has no volume"),
            Self::Devices { claim: Some(name), .. } => {
                format!("resourceclaim {name:?} has no devices, or is not reserved for the pod")
            }
            Self::Devices { entry, claim: None } => {
                format!("the resource claim {entry:?} of the pod is not made yet")
            }
        }
    }

    fn lacks(&self, key: &str, namespace: &str) -> String {
        match self {
            Self::ConfigMap(name) => {
                format!("couldn't find key {key} in ConfigMap {namespace}/{name}")
            }
            Self::Secret(name) => format!("couldn't find key {key} in Secret {namespace}/{name}"),
            Self::Claim(name) | Self::Devices { entry: name, .. } => {
                format!("couldn't find {key} in claim {namespace}/{name}")
            }
        }
    }
}

/// The volume without which the pod's containers are not even created.
pub(super) fn missing_volume(pod: &Pod, found: &Found) -> Option<Waiting> {
    let is_missing = |(source, optional): &(Source, bool)| {
        !optional && !matches!(found.get(source), Some(Some(_)))
    };
    let (source, _) = mounted(pod).find(is_missing)?;
    let message = format!("MountVolume.SetUp failed: {}", source.missing());
    Some(Waiting { container: String::new(), reason: "ContainerCreating", message })
}

/// The claim without whose devices the pod's containers are not even created.
pub(super) fn missing_devices(pod: &Pod, found: &Found) -> Option<Waiting> {
    let source = devices(pod).find(|source| !matches!(found.get(source), Some(Some(_))))?;
    let message = format!("failed to prepare dynamic resources: {}", source.missing());
    Some(Waiting { container: String::new(), reason: "ContainerCreating", message })
}

/// The files of the config maps and secrets that a container mounts, by their paths.
pub(super) fn files(
    spec: &PodSpec,
    container: &Container,
    found: &Found,
) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for mount in &container.volume_mounts {
        let volume = spec.volumes.iter().find(|volume| volume.name == mount.name);
        let source = volume.and_then(|volume| {
            let secret = || Some(Source::Secret(volume.secret.as_ref()?.secret_name.clone()));
            volume.config_map.as_ref().map(Source::config_map).or_else(secret)
        });
        let entries = source.and_then(|source| found.get(&source)?.as_ref());
        let items = volume.and_then(|volume| volume.config_map.as_ref()).map(|map| &map.items);
        let items = items.filter(|items| !items.is_empty());
        for (key, text) in entries.into_iter().flatten() {
            let item = items.map(|items| items.iter().find(|item| item.key == *key));
            let name = match item {
                None => key,
                Some(Some(item)) => &item.path,
                Some(None) => continue,
            };
            let folder = mount.mount_path.trim_end_matches('/');
            if mount.sub_path.is_empty() {
                files.insert(format!("{folder}/{name}"), text.clone());
            } else if mount.sub_path == *name {
                files.insert(folder.to_owned(), text.clone());
            }
        }
    }
    files
}

/// The variables of one container; `devices` were given to it by the device plugin.
///
/// # Errors
/// What is missing, in the kubelet's words.
pub(super) fn resolve(
    pod: &Pod,
    container: &Container,
    found: &Found,
    devices: &[String],
) -> Result<Environment, Waiting> {
    let mut variables = Environment::new();
    if !devices.is_empty() {
        // The device plugin's come first, so that the pod's own win, as with a real kubelet.
        variables.push((VISIBLE_DEVICES.to_owned(), devices.join(",")));
    }
    let failed = |message: String| Waiting {
        container: container.name.clone(),
        reason: "CreateContainerConfigError",
        message,
    };
    for from in &container.env_from {
        let map = from.config_map_ref.as_ref().map(|map| (Source::config_map(map), map.optional));
        let secret = from.secret_ref.as_ref().map(|one| (Source::secret(one), one.optional));
        for (source, optional) in map.into_iter().chain(secret) {
            match found.get(&source).and_then(Option::as_ref) {
                Some(entries) => variables.extend(
                    entries
                        .iter()
                        .map(|(key, text)| (format!("{}{key}", from.prefix), text.clone())),
                ),
                None if optional => {}
                None => return Err(failed(source.missing())),
            }
        }
    }
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    for variable in &container.env {
        let Some(from) = &variable.value_from else {
            variables.push((variable.name.clone(), variable.value.clone()));
            continue;
        };
        let map = from.config_map_key_ref.as_ref().map(|key| (Source::config_map(&key.of), key));
        let secret = from.secret_key_ref.as_ref().map(|key| (Source::secret(&key.of), key));
        let Some((source, key)) = map.or(secret) else {
            let text = from.field_ref.as_ref().map(|field| self::field(pod, &field.field_path));
            variables.push((variable.name.clone(), text.unwrap_or_default()));
            continue;
        };
        let entries = found.get(&source).and_then(Option::as_ref);
        match entries.and_then(|entries| entries.get(&key.key)) {
            Some(text) => variables.push((variable.name.clone(), text.clone())),
            None if key.of.optional => {}
            None if entries.is_none() => return Err(failed(source.missing())),
            None => return Err(failed(source.lacks(&key.key, namespace))),
        }
    }
    Ok(variables)
}

/// A field of the pod, as the downward API gives it; empty for one that is not known here.
fn field(pod: &Pod, path: &str) -> String {
    let metadata = &pod.metadata;
    let entry = |map: &Option<BTreeMap<String, String>>, key: &str| {
        map.as_ref().and_then(|map| map.get(key).cloned())
    };
    let keyed = |prefix: &str| {
        path.strip_prefix(prefix)?.strip_prefix("['")?.strip_suffix("']").map(str::to_owned)
    };
    let text = match path {
        "metadata.name" => metadata.name.clone(),
        "metadata.namespace" => metadata.namespace.clone(),
        "metadata.uid" => metadata.uid.clone(),
        "spec.nodeName" => Some(pod.spec.node_name.clone()),
        "spec.serviceAccountName" => Some(pod.spec.service_account_name.clone()),
        "status.hostIP" => Some("127.0.0.1".to_owned()),
        "status.podIP" => pod.status.as_ref().map(|status| status.pod_ip.clone()),
        _ => match (keyed("metadata.labels"), keyed("metadata.annotations")) {
            (Some(key), _) => entry(&metadata.labels, &key),
            (_, Some(key)) => entry(&metadata.annotations, &key),
            (None, None) => None,
        },
    };
    text.unwrap_or_default()
}

/// The value of a variable.
pub(super) fn value<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.iter().rev().find(|(own, _)| own == name).map(|(_, text)| text.as_str())
}

/// The devices that a container sees; `all` are those of its node, in the order of their indexes.
///
/// # Errors
/// The first entry that names no device of the node.
pub(super) fn visible(environment: &Environment, all: &[String]) -> Result<Vec<String>, String> {
    let text = value(environment, VISIBLE_DEVICES).unwrap_or("void");
    match text {
        "" | "void" | "none" => return Ok(Vec::new()),
        "all" => return Ok(all.to_vec()),
        _ => {}
    }
    text.split(',')
        .map(|entry| {
            let entry = entry.trim();
            let name = entry.strip_prefix(CDI).unwrap_or(entry);
            let by_index = name.parse::<usize>().ok().and_then(|index| all.get(index));
            let device = all.iter().find(|device| *device == name).or(by_index);
            device.cloned().ok_or_else(|| entry.to_owned())
        })
        .collect()
}

/// The entries of a config map, or the keys of a secret with a note instead of what is secret.
pub(super) fn entries(source: &Source, object: &Value) -> BTreeMap<String, String> {
    let data = object.get("data").and_then(Value::as_object).into_iter().flatten();
    data.map(|(key, text)| match source {
        Source::ConfigMap(_) => (key.clone(), text.as_str().unwrap_or_default().to_owned()),
        Source::Secret(name) => (key.clone(), format!("(from secret {name})")),
        Source::Claim(_) | Source::Devices { .. } => (key.clone(), String::new()),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A pod with one container, the maps that there are, and the devices of the device plugin.
    fn check(container: &Value, maps: &Value, devices: &[&str], expect: &str) {
        let mut container = container.clone();
        container["name"] = json!("main");
        let volumes = json!([{"name": "v", "configMap": {"name": "m"}}]);
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"name": "p", "namespace": "ns", "labels": {"a.b/c": "d"}},
            "spec": {"nodeName": "n", "containers": [container], "volumes": volumes},
        }))
        .expect("a pod in the test");
        let mut found: Found = sources(&pod).into_iter().map(|source| (source, None)).collect();
        for (name, data) in maps.as_object().into_iter().flatten() {
            let source = Source::ConfigMap(name.clone());
            let entries = entries(&source, &json!({ "data": data }));
            found.insert(source, Some(entries));
        }
        let devices: Vec<String> = devices.iter().map(|device| (*device).to_owned()).collect();
        let outcome = match missing_volume(&pod, &found) {
            Some(waiting) => Err(waiting),
            None => resolve(&pod, &pod.spec.containers[0], &found, &devices),
        };
        let text = match outcome {
            Ok(environment) => {
                let pairs = environment.iter().map(|(name, text)| format!("{name}={text}"));
                pairs.collect::<Vec<_>>().join(" ")
            }
            Err(waiting) => format!("{}: {}", waiting.reason, waiting.message),
        };
        assert_eq!(text, expect);
    }

    #[test]
    fn variables_come_from_where_they_say() {
        let key = |optional: bool| json!({"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k", "optional": optional}}}]});
        check(&key(false), &json!({"m": {"k": "v"}}), &[], "A=v");
        check(
            &key(false),
            &json!({}),
            &[],
            "CreateContainerConfigError: configmap \"m\" not found",
        );
        check(
            &key(false),
            &json!({"m": {}}),
            &[],
            "CreateContainerConfigError: couldn't find key k in ConfigMap ns/m",
        );
        check(&key(true), &json!({}), &[], "");
        let all = |optional: bool| json!({"envFrom": [{"prefix": "X_", "configMapRef": {"name": "e", "optional": optional}}], "env": [{"name": "B", "value": "b"}]});
        check(&all(false), &json!({"e": {"k": "v"}}), &[], "X_k=v B=b");
        check(
            &all(false),
            &json!({}),
            &[],
            "CreateContainerConfigError: configmap \"e\" not found",
        );
        check(&all(true), &json!({}), &[], "B=b");
        let field = json!({"env": [
            {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "L", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a.b/c']"}}},
        ]});
        check(&field, &json!({}), &[], "N=p L=d");
        check(&json!({}), &json!({}), &["GPU-1", "GPU-2"], "NVIDIA_VISIBLE_DEVICES=GPU-1,GPU-2");
    }

    #[test]
    fn a_claim_is_waited_for() {
        let check = |volume: &Value, is_bound: bool, expect: Option<&str>| {
            let mount = json!({"name": "v", "mountPath": "/data"});
            let containers = json!([{"name": "main", "volumeMounts": [mount]}]);
            let pod: Pod = serde_json::from_value(json!({
                "metadata": {"name": "p", "namespace": "ns"},
                "spec": {"nodeName": "n", "containers": containers, "volumes": [volume]},
            }))
            .expect("a pod in the test");
            let entries = is_bound.then(BTreeMap::new);
            let found = sources(&pod).into_iter().map(|source| (source, entries.clone()));
            let waiting = missing_volume(&pod, &found.collect());
            assert_eq!(waiting.map(|waiting| waiting.message).as_deref(), expect);
        };
        let claim = json!({"name": "v", "persistentVolumeClaim": {"claimName": "data"}});
        let failed = "MountVolume.SetUp failed: persistentvolumeclaim";
        check(&claim, true, None);
        check(&claim, false, Some(&format!("{failed} \"data\" has no volume")));
        let own = json!({"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}});
        check(&own, false, Some(&format!("{failed} \"p-v\" has no volume")));
    }

    #[test]
    fn claims_of_devices_are_waited_for() {
        let check = |claim: Value, status: Value, has_devices: bool, expect: Option<&str>| {
            let pod: Pod = serde_json::from_value(json!({
                "metadata": {"name": "p", "namespace": "ns"},
                "spec": {"nodeName": "n", "containers": [{"name": "main"}], "resourceClaims": [claim]},
                "status": status,
            }))
            .expect("a pod in the test");
            let entries = has_devices.then(BTreeMap::new);
            let found = sources(&pod).into_iter().map(|source| (source, entries.clone()));
            let waiting = missing_devices(&pod, &found.collect());
            let prefix = "failed to prepare dynamic resources: ";
            let message = waiting.map(|waiting| waiting.message.replace(prefix, ""));
            assert_eq!(message.as_deref(), expect);
        };
        let none = || json!({});
        let named = || json!({"name": "d", "resourceClaimName": "c"});
        let template = || json!({"name": "d", "resourceClaimTemplateName": "t"});
        let made = |claim: Value| json!({"resourceClaimStatuses": [{"name": "d", "resourceClaimName": claim}]});
        let without = |name: &str| {
            format!("resourceclaim {name:?} has no devices, or is not reserved for the pod")
        };
        check(named(), none(), true, None);
        check(named(), none(), false, Some(&without("c")));
        check(
            template(),
            none(),
            false,
            Some("the resource claim \"d\" of the pod is not made yet"),
        );
        check(template(), made(json!("p-d-x")), true, None);
        check(template(), made(json!("p-d-x")), false, Some(&without("p-d-x")));
        check(template(), made(Value::Null), false, None);
        let extended = json!({"extendedResourceClaimStatus": {"resourceClaimName": "e"}});
        check(template(), extended, true, None);
    }

    #[test]
    fn a_volume_counts_only_where_it_is_mounted() {
        let mounts = json!({"volumeMounts": [{"name": "v"}]});
        let expect = "ContainerCreating: MountVolume.SetUp failed: configmap \"m\" not found";
        check(&mounts, &json!({}), &[], expect);
        check(&mounts, &json!({"m": {}}), &[], "");
        check(&json!({}), &json!({}), &[], "");
    }

    #[test]
    fn devices_are_named_by_uuid_index_or_cdi() {
        let all = ["GPU-a".to_owned(), "GPU-b".to_owned()];
        let see = |text: &str| {
            let environment = vec![(VISIBLE_DEVICES.to_owned(), text.to_owned())];
            visible(&environment, &all).map(|devices| devices.join(","))
        };
        assert_eq!(see("GPU-b"), Ok("GPU-b".to_owned()));
        assert_eq!(see("1,GPU-a"), Ok("GPU-b,GPU-a".to_owned()));
        assert_eq!(see("k8s.device-plugin.nvidia.com/gpu=GPU-a"), Ok("GPU-a".to_owned()));
        assert_eq!(see("all"), Ok("GPU-a,GPU-b".to_owned()));
        assert_eq!(see("void"), Ok(String::new()));
        assert_eq!(see("GPU-a,GPU-c"), Err("GPU-c".to_owned()));
        assert_eq!(visible(&Vec::new(), &all), Ok(Vec::new()));
    }
}
