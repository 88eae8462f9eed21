//! Describes what a report of a fault needs, in one file.

mod kept;

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;

use flate2::{Compression, write::GzEncoder};
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use super::facts::{Facts, Source};
use crate::print::error::{Error, Exit, Problem, number};
use kept::Ours;

/// Fields that may hold secrets, or data that no fault needs: left out at any depth.
const DROPPED: [&str; 14] = [
    "env",
    "envFrom",
    "managedFields",
    "command",
    "args",
    "kubectl.kubernetes.io/last-applied-configuration",
    // Requests of probes carry headers, volumes the options of their drivers.
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
    "volumes",
    "volumeMounts",
    "images",
    "imagePullSecrets",
];
/// Fields that name somebody or something of the user's.
const NAMES: [&str; 34] = [
    "name",
    "namespace",
    "namespaces",
    "generateName",
    "queue",
    "parentQueue",
    "childQueues",
    "displayName",
    "nodeName",
    "nominatedNodeName",
    "nodePool",
    "partitionLabelValue",
    "hostname",
    "subdomain",
    "holderIdentity",
    "image",
    "imageID",
    "serviceAccount",
    "serviceAccountName",
    "providerID",
    "url",
    "user",
    "kai.scheduler/queue",
    "uid",
    "zone",
    "pool",
    "parent",
    "topology",
    "podName",
    "selectedNode",
    "claimName",
    "resourceClaimName",
    "resourceClaimTemplateName",
    "priorityClassName",
];
/// Fields that hold anything, names among it: empty where names are not told.
const FREE: [&str; 22] = [
    "annotations",
    "message",
    "expression",
    "messageExpression",
    "description",
    "hostAliases",
    "addresses",
    "hostIP",
    "hostIPs",
    "podIP",
    "podIPs",
    "podCIDR",
    "podCIDRs",
    "clusterIP",
    "clusterIPs",
    "externalIPs",
    "loadBalancerIP",
    "systemUUID",
    "machineID",
    "bootID",
    "containerID",
    "externalName",
];
/// Fields that hold labels, and those that hold the key of one.
const LABELS: [&str; 4] = ["labels", "matchLabels", "nodeSelector", "selector"];
const KEYS: [&str; 5] =
    ["key", "topologyKey", "nodeLabel", "requiredTopologyLevel", "preferredTopologyLevel"];
/// Fields that hold amounts by the names of resources.
const AMOUNTS: [&str; 7] = [
    "capacity",
    "allocatable",
    "requests",
    "limits",
    "requested",
    "allocated",
    "allocatedNonPreemptible",
];
/// Domains of labels, or whole keys, that are nobody's own.
const KNOWN: [&str; 8] = [
    "kubernetes.io",
    "k8s.io",
    "nvidia.com",
    "amd.com",
    "habana.ai",
    "kai.scheduler",
    "run.ai",
    "runai-gpu-group",
];
/// Those whose values say what a thing is, and not whose.
const TOLD: [&str; 9] = [
    "nvidia.com",
    "amd.com",
    "habana.ai",
    "node.kubernetes.io",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/part-of",
    "app.kubernetes.io/version",
];

/// Groups of kinds that are nobody's own, beside those without a dot and those of known domains.
const GROUPS: [&str; 7] = [
    "argoproj.io",
    "grove.io",
    "kubeflow.org",
    "ray.io",
    "sparkoperator.k8s.io",
    "volcano.sh",
    "x-k8s.io",
];
/// Types of conditions that Kubernetes, its device plugins and schedulers write; other tools call theirs as they like.
const CONDITIONS: [&str; 28] = [
    "Available",
    "ContainersReady",
    "Dangling",
    "DependenciesFulfilled",
    "Deployed",
    "DiskPressure",
    "DisruptionTarget",
    "Established",
    "Initialized",
    "MemoryPressure",
    "NamesAccepted",
    "NetworkUnavailable",
    "Orphan",
    "PIDPressure",
    "PodBound",
    "PodReadyToStartContainers",
    "PodResizeInProgress",
    "PodResizePending",
    "PodScheduled",
    "Progressing",
    "Ready",
    "Reconciling",
    "ReplicaFailure",
    "Scheduled",
    "Terminating",
    "Unschedulable",
    "UnschedulableOnNodePool",
    "UsageDatabaseReachable",
];

/// Writes lists and verdicts as one gzipped JSON document, and says what it holds.
///
/// # Errors
/// The file cannot be written, or is there already.
pub(super) fn write(
    path: &Path,
    facts: &Facts,
    verdicts: &Value,
    redact: bool,
) -> Result<Vec<String>, Error> {
    let mut told = Vec::new();
    let mut lists = Map::new();
    let mut names = Names::default();
    let ours = Ours::new(&facts.system);
    for source in Source::ALL {
        match facts.list(source) {
            Ok(objects) => {
                told.push(format!("{} {}", objects.len(), source.title()));
                let objects = objects.iter().map(|object| ours.kept(source, object));
                let objects = objects.map(|object| cleaned(&object, redact.then_some(&mut names)));
                lists.insert(source.title(), objects.collect());
            }
            Err(unread) => {
                lists.insert(source.title(), json!({ "notRead": unread.sentence }));
            }
        }
    }
    let document = json!({
        "kind": "DoctorBundle",
        "apiVersion": crate::print::format::API_VERSION,
        "time": facts.now.to_string(),
        "client": env!("CARGO_PKG_VERSION"),
        "redacted": redact,
        "findings": if redact { Value::Null } else { verdicts.clone() },
        "lists": lists,
    });
    store(path, document.to_string().as_bytes()).map_err(|e| {
        let what = format!("failed to write {}: {e}", path.display());
        Problem::new(number::USAGE, Exit::Usage, what)
            .fix("name a file that does not exist, in a folder that you may write to")
    })?;
    Ok(told)
}

/// Packs a text into a file that is not there yet. It is written beside that, so that a full disk leaves nothing, and only
/// its owner may read it: names and states of everybody's work are the administrator's alone.
fn store(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let beside = NamedTempFile::with_prefix_in(".kai-bundle-", folder)?;
    let mut gzip = GzEncoder::new(beside, Compression::default());
    gzip.write_all(text)?;
    let beside = gzip.finish()?;
    beside.as_file().sync_all()?;
    beside.persist_noclobber(path)?;
    Ok(())
}

/// Stand-ins for names: the same one for the same name in the whole bundle.
#[derive(Debug, Default)]
struct Names(BTreeMap<String, String>);

impl Names {
    fn stand_in(&mut self, name: &str) -> String {
        let next = self.0.len() + 1;
        self.0.entry(name.to_owned()).or_insert_with(|| format!("name-{next}")).clone()
    }

    /// A text, or each of a list.
    fn each(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.stand_in(text).into(),
            Value::Array(list) => list.iter().map(|one| self.each(one)).collect(),
            other => cleaned(other, Some(self)),
        }
    }

    /// The key of a label.
    fn key(&mut self, key: &str) -> String {
        if is_among(&KNOWN, key) { key.to_owned() } else { self.stand_in(key) }
    }

    /// The value of a label, by its key.
    fn label(&mut self, key: &str, value: &Value) -> Value {
        if is_among(&TOLD, key) { value.clone() } else { self.each(value) }
    }

    /// A map of labels; what only has the name of one is as any other object.
    fn labels(&mut self, map: &Map<String, Value>) -> Value {
        let mut is_text = map.values().map(Value::is_string);
        if !is_text.all(|is_text| is_text) {
            return self.fields(map);
        }
        map.iter().map(|(key, value)| (self.key(key), self.label(key, value))).collect()
    }

    /// A map of amounts by the names of resources.
    fn amounts(&mut self, map: &Map<String, Value>) -> Value {
        let of_resource = |(key, value): (&String, &Value)| {
            let key = if key.contains('/') { self.key(key) } else { key.clone() };
            (key, cleaned(value, Some(&mut *self)))
        };
        map.iter().map(of_resource).collect()
    }

    /// An owner; its kind is a name where it is of somebody's own API.
    fn owner(&mut self, owner: &Value) -> Value {
        let mut shown = cleaned(owner, Some(&mut *self));
        let version = owner["apiVersion"].as_str().unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        if group.contains('.') && !is_among(&KNOWN, group) && !is_among(&GROUPS, group) {
            for field in ["apiVersion", "kind"] {
                shown[field] = self.each(&owner[field]);
            }
        }
        shown
    }

    /// A condition; its type and reason are names where nobody known writes such.
    fn condition(&mut self, condition: &Value) -> Value {
        let mut shown = cleaned(condition, Some(&mut *self));
        let kind = condition["type"].as_str();
        if kind.is_some_and(|kind| !CONDITIONS.contains(&kind)) {
            for field in ["type", "reason"] {
                if condition[field].is_string() {
                    shown[field] = self.each(&condition[field]);
                }
            }
        }
        shown
    }

    /// The fields of an object; `value` and `values` beside a `key` are those of a label.
    fn fields(&mut self, map: &Map<String, Value>) -> Value {
        let label = map.get("key").and_then(Value::as_str);
        let of_field = |(key, value): (&String, &Value)| {
            let shown = match (key.as_str(), value, label) {
                (key, _, _) if FREE.contains(&key) => Value::Null,
                (key, Value::Object(labels), _) if LABELS.contains(&key) => self.labels(labels),
                (key, Value::Object(amounts), _) if AMOUNTS.contains(&key) => self.amounts(amounts),
                ("ownerReferences", Value::Array(all), _) => {
                    all.iter().map(|one| self.owner(one)).collect()
                }
                ("conditions", Value::Array(all), _) => {
                    all.iter().map(|one| self.condition(one)).collect()
                }
                ("finalizers", Value::Array(all), _) => {
                    let all = all.iter().filter_map(Value::as_str);
                    all.map(|one| Value::from(self.key(one))).collect()
                }
                (key, Value::String(text), _) if KEYS.contains(&key) => self.key(text).into(),
                ("value" | "values", value, Some(label)) => self.label(label, value),
                (key, value, _) if NAMES.contains(&key) => self.each(value),
                (_, value, _) => cleaned(value, Some(&mut *self)),
            };
            (key.clone(), shown)
        };
        map.iter().filter(|(key, _)| !DROPPED.contains(&key.as_str())).map(of_field).collect()
    }
}

/// Tells whether a key of a label, or its domain, is among some, or below one of them.
fn is_among(some: &[&str], key: &str) -> bool {
    let domain = key.split_once('/').map_or(key, |(domain, _)| domain);
    let is_below = |one: &&str| domain.strip_suffix(one).is_some_and(|rest| rest.ends_with('.'));
    some.iter().any(|one| *one == key || *one == domain || is_below(one))
}

/// An object without what may be secret; with stand-ins for names where they are asked for.
fn cleaned(value: &Value, names: Option<&mut Names>) -> Value {
    match (value, names) {
        (Value::Object(map), Some(names)) => names.fields(map),
        (Value::Object(map), None) => map
            .iter()
            .filter(|(key, _)| !DROPPED.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), cleaned(value, None)))
            .collect(),
        (Value::Array(list), Some(names)) => {
            list.iter().map(|value| cleaned(value, Some(&mut *names))).collect()
        }
        (Value::Array(list), None) => list.iter().map(|value| cleaned(value, None)).collect(),
        (other, _) => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A pod whose secrets are `s3cret`, and whose names are of Acme.
    fn pod() -> Value {
        json!({"metadata": {"name": "acme-train", "managedFields": [],
                "labels": {"batch.kubernetes.io/job-name": "acme-train", "acme.com/team": "acme", "user": "acme-ana",
                    "nvidia.com/gpu.product": "H100"},
                "annotations": {"note": "acme", "kubectl.kubernetes.io/last-applied-configuration": "s3cret"}},
            "spec": {"serviceAccountName": "acme", "schedulerName": "kai-scheduler",
                "nodeSelector": {"acme-pool": "acme", "kubernetes.io/hostname": "acme-1"},
                "tolerations": [{"key": "acme", "value": "acme"}, {"key": "nvidia.com/gpu", "value": "present"}],
                "affinity": {"nodeAffinity": {"matchExpressions": [
                    {"key": "kubernetes.io/hostname", "operator": "In", "values": ["acme-1"]}]},
                    "podAntiAffinity": {"namespaces": ["acme"]}},
                "hostAliases": [{"hostnames": ["acme.internal"]}],
                "volumes": [{"name": "v", "csi": {"driver": "d", "volumeAttributes": {"key": "s3cret"}}}],
                "priorityClassName": "acme", "resourceClaims": [{"resourceClaimName": "acme-claim"}],
                "containers": [{"name": "main", "resources": {"requests": {"cpu": "1", "acme.com/fpga": "2"}}, "image": "acme/train", "args": ["--password=s3cret"],
                    "env": [{"name": "TOKEN", "value": "s3cret"}],
                    "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "s3cret"}]}},
                    "lifecycle": {"preStop": {"httpGet": {"path": "/?token=s3cret"}}}}]},
            "status": {"childQueues": ["acme"], "message": "acme", "hostIP": "10.0.0.1", "zone": "acme-1a",
                "capacity": {"acme.com/fpga": "8"}}})
    }

    #[test]
    fn what_may_be_secret_stays_out() {
        let plain = cleaned(&pod(), None).to_string();
        assert!(!plain.contains("s3cret") && plain.contains("acme-train"), "{plain}");
        let mut names = Names::default();
        let redacted = cleaned(&pod(), Some(&mut names));
        let text = redacted.to_string();
        assert!(!text.contains("s3cret") && !text.contains("acme"), "{text}");
        let metadata = &redacted["metadata"];
        assert_eq!(metadata["name"], metadata["labels"]["batch.kubernetes.io/job-name"]);
        assert_eq!(metadata["labels"]["nvidia.com/gpu.product"], "H100");
        assert_eq!(redacted["spec"]["schedulerName"], "kai-scheduler");
        assert_eq!(redacted["spec"]["containers"][0]["resources"]["requests"]["cpu"], "1");
        assert_eq!(redacted["spec"]["tolerations"][1], pod()["spec"]["tolerations"][1]);
    }

    #[test]
    fn what_others_call_their_things_is_a_name() {
        let object = json!({
            "metadata": {"finalizers": ["acme.com/keep", "kai.scheduler/keep"], "ownerReferences": [
                {"apiVersion": "acme.com/v1", "kind": "AcmeProject", "name": "acme"},
                {"apiVersion": "batch/v1", "kind": "Job", "name": "acme"},
                {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "acme"}]},
            "spec": {"podCIDR": "10.acme", "podCIDRs": ["10.acme"], "clusterIP": "10.acme", "clusterIPs": ["10.acme"]},
            "status": {"nodeInfo": {"systemUUID": "acme", "machineID": "acme", "bootID": "acme", "osImage": "Linux"},
                "containerStatuses": [{"containerID": "containerd://acme"}],
                "conditions": [{"type": "AcmeFault", "reason": "AcmeBroke", "status": "True"},
                    {"type": "PodScheduled", "reason": "Unschedulable", "status": "False"}]}});
        let shown = cleaned(&object, Some(&mut Names::default()));
        let text = shown.to_string();
        assert!(!text.to_lowercase().contains("acme"), "{text}");
        let owners = &shown["metadata"]["ownerReferences"];
        assert_eq!([&owners[1]["kind"], &owners[2]["kind"]], ["Job", "JobSet"]);
        assert_eq!(shown["metadata"]["finalizers"][1], "kai.scheduler/keep");
        assert_eq!(shown["status"]["conditions"][1], object["status"]["conditions"][1]);
        assert_eq!(shown["status"]["nodeInfo"]["osImage"], "Linux");
    }

    #[test]
    fn a_bundle_is_for_the_eyes_of_who_made_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("bundle.json.gz");
        let facts = Facts::given(jiff::Timestamp::UNIX_EPOCH, BTreeMap::new());
        write(&path, &facts, &Value::Null, false).expect("the folder is ours");
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_bundle_that_cannot_be_kept_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("bundle.json.gz");
        std::fs::write(&path, "mine").expect("the folder is ours");
        let error = store(&path, b"text").expect_err("it is there already");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "mine");
        assert_eq!(folder.path().read_dir().expect("it is there").count(), 1);
    }
}
