//! The part of a Pod that a kubelet acts on, and what follows from it: requests and run time.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kai_api::quantity::Quantity;
use kube::core::object::Object;
use serde::Deserialize;
use serde_json::Value;

/// The annotation that says for how many simulated seconds a pod's containers run.
pub const RUN_SECONDS: &str = "sandbox.kai.scheduler/run-seconds";
/// The annotation that says which code a pod's containers exit with.
pub const EXIT_CODE: &str = "sandbox.kai.scheduler/exit-code";
/// The annotation that says for how many simulated seconds a pod's containers go on after they were asked to stop; they
/// are killed at the end of its grace period all the same.
pub const STOP_SECONDS: &str = "sandbox.kai.scheduler/stop-seconds";
/// Simulated seconds that work runs when nothing says how long.
pub const RUN_SECONDS_DEFAULT: u64 = 60;

/// A Pod as far as the simulated kubelet reads it.
pub type Pod = Object<PodSpec, PodStatus>;

/// The spec fields that matter.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node that the pod is bound to.
    pub node_name: String,
    /// Its containers.
    pub containers: Vec<Container>,
    /// Its init containers; those with restartPolicy Always are sidecars.
    pub init_containers: Vec<Container>,
    /// `Always`, `OnFailure` or `Never`; the server fills it in.
    pub restart_policy: String,
    /// Amounts that the runtime class adds.
    pub overhead: BTreeMap<String, String>,
    /// Its volumes, as far as they need an object.
    pub volumes: Vec<Volume>,
    /// The account that it runs as.
    pub service_account_name: String,
    /// Its claims of devices.
    pub resource_claims: Vec<ResourceClaim>,
}

/// A claim of devices: its entry in the pod, with the name of the claim where no template says what it is.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceClaim {
    /// The entry; empty for the claim that stands in for extended resources.
    pub name: String,
    /// The claim.
    pub resource_claim_name: Option<String>,
}

/// A reference to a config map or secret of the pod's namespace.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(default)]
pub struct Reference {
    /// The object's name.
    pub name: String,
    /// True if it, or the key, may be missing.
    pub optional: bool,
    /// As a volume: the entries that are files, where not all are.
    pub items: Vec<Item>,
}

/// An entry of a config map as a file.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(default)]
pub struct Item {
    /// The entry.
    pub key: String,
    /// The file, below where the volume is mounted.
    pub path: String,
}

/// One entry of a config map or secret.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(default)]
pub struct KeyReference {
    /// The object.
    #[serde(flatten)]
    pub of: Reference,
    /// The entry.
    pub key: String,
}

/// A field of the pod.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FieldReference {
    /// Its path, for example `metadata.name`.
    pub field_path: String,
}

/// Source of the value of a variable.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VariableSource {
    /// A config map.
    pub config_map_key_ref: Option<KeyReference>,
    /// A secret.
    pub secret_key_ref: Option<KeyReference>,
    /// The pod itself.
    pub field_ref: Option<FieldReference>,
}

/// An environment variable.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value, where it is written down.
    pub value: String,
    /// Its source otherwise.
    pub value_from: Option<VariableSource>,
}

/// All entries of a config map or secret as variables.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VariablesFrom {
    /// Prefix of each name.
    pub prefix: String,
    /// The config map.
    pub config_map_ref: Option<Reference>,
    /// The secret.
    pub secret_ref: Option<Reference>,
}

/// A volume.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Volume {
    /// Its name in the pod.
    pub name: String,
    /// The config map that it shows.
    pub config_map: Option<Reference>,
    /// The secret that it shows.
    pub secret: Option<SecretVolume>,
    /// The claim whose volume it is.
    pub persistent_volume_claim: Option<ClaimVolume>,
    /// The template of the claim that the pod brings along, which is not read.
    pub ephemeral: Option<Value>,
}

/// A claim as a volume.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimVolume {
    /// The claim's name.
    pub claim_name: String,
}

/// A secret as a volume.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SecretVolume {
    /// The secret's name.
    pub secret_name: String,
    /// True if it may be missing.
    pub optional: bool,
}

/// A volume in a container.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Mount {
    /// The volume's name.
    pub name: String,
    /// The folder, or the file with `sub_path`, that shows it.
    pub mount_path: String,
    /// The one file of it that is shown.
    pub sub_path: String,
}

/// A port that a container listens on.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Port {
    /// Its number.
    pub container_port: u16,
}

/// The container fields that matter.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    /// The container's name.
    pub name: String,
    /// Its image.
    pub image: String,
    /// Its entry point.
    pub command: Vec<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// True if it reads what is typed to it.
    pub stdin: bool,
    /// Resources that it asks for.
    pub resources: Resources,
    /// `Always` marks an init container as a sidecar.
    pub restart_policy: String,
    /// Its variables.
    pub env: Vec<Variable>,
    /// Sources of more variables.
    pub env_from: Vec<VariablesFrom>,
    /// The volumes that it mounts.
    pub volume_mounts: Vec<Mount>,
    /// The ports that it says it listens on.
    pub ports: Vec<Port>,
}

/// Requests of a container; the server copies limits into requests that are absent.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(default)]
pub struct Resources {
    /// Amounts by resource name.
    pub requests: BTreeMap<String, String>,
}

/// The status fields that matter.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed`.
    pub phase: String,
    /// Time when the kubelet took the pod.
    pub start_time: Option<Timestamp>,
    /// The address given.
    #[serde(rename = "podIP")]
    pub pod_ip: String,
    /// Kept as they are: a restarted kubelet reads its own restart counts and start times there.
    pub container_statuses: Vec<Value>,
    /// Claims that were made from templates; an entry without a claim needs none.
    pub resource_claim_statuses: Vec<ResourceClaim>,
    /// The claim that was made for its extended resources.
    pub extended_resource_claim_status: Option<ResourceClaim>,
}

/// Amounts by resource: `cpu` in thousandths, everything else in whole units.
pub type Amounts = BTreeMap<String, i64>;

/// One resource amount in the unit of [`Amounts`], rounded up; `None` when it is no quantity.
pub fn amount(resource: &str, text: &str) -> Option<i64> {
    let quantity: Quantity = text.parse().ok()?;
    if resource == "cpu" { quantity.milli().ok() } else { quantity.value().ok() }
}

/// Sums what a pod takes from its node: the larger of all containers together and each init container alone, sidecars
/// counted in both, plus overhead and one of `pods`.
///
/// # Source
/// KEP-753, sidecar containers: "Resources calculation for scheduling and pod admission".
pub fn requests(spec: &PodSpec) -> Amounts {
    let mut running = Amounts::new();
    let mut sidecars = Amounts::new();
    let mut starting = Amounts::new();
    for container in &spec.init_containers {
        let own = of(&container.resources.requests);
        if container.restart_policy == "Always" {
            add(&mut sidecars, &own);
        }
        let mut now = sidecars.clone();
        if container.restart_policy != "Always" {
            add(&mut now, &own);
        }
        raise(&mut starting, &now);
    }
    add(&mut running, &sidecars);
    for container in &spec.containers {
        add(&mut running, &of(&container.resources.requests));
    }
    raise(&mut running, &starting);
    add(&mut running, &of(&spec.overhead));
    add(&mut running, &Amounts::from([("pods".to_owned(), 1)]));
    running
}

fn of(requests: &BTreeMap<String, String>) -> Amounts {
    requests
        .iter()
        .filter_map(|(resource, text)| Some((resource.clone(), amount(resource, text)?)))
        .collect()
}

fn add(to: &mut Amounts, more: &Amounts) {
    for (resource, amount) in more {
        let sum = to.entry(resource.clone()).or_default();
        *sum = sum.saturating_add(*amount);
    }
}

fn raise(to: &mut Amounts, other: &Amounts) {
    for (resource, amount) in other {
        let most = to.entry(resource.clone()).or_default();
        *most = (*most).max(*amount);
    }
}

/// The pod's containers, each with the devices that it was given of those of the pod: init containers first, which use them
/// before the others do.
pub fn given<'a>(
    spec: &'a PodSpec,
    devices: &'a [String],
) -> impl Iterator<Item = (&'a Container, &'a [String])> {
    let wanted = |container: &Container| {
        let text = container.resources.requests.get("nvidia.com/gpu");
        let amount = text.and_then(|text| amount("nvidia.com/gpu", text)).unwrap_or(0);
        usize::try_from(amount).unwrap_or(0)
    };
    let init = spec
        .init_containers
        .iter()
        .map(move |container| (container, &devices[..wanted(container).min(devices.len())]));
    let mut rest = devices;
    let regular = spec.containers.iter().map(move |container| {
        let (own, others) = rest.split_at(wanted(container).min(rest.len()));
        rest = others;
        (container, own)
    });
    init.chain(regular)
}

/// For how many simulated milliseconds the pod's containers run; `None` when they run until stopped.
///
/// In this order: the annotation [`RUN_SECONDS`]; a shell that reads what is typed runs until that ends it; `sleep N` as the command; services (restartPolicy
/// Always, and roles that only serve others) run on; other work takes `default_seconds`.
pub fn run_millis(pod: &Pod, default_seconds: u64) -> Option<u64> {
    let annotation = pod.metadata.annotations.as_ref().and_then(|all| all.get(RUN_SECONDS));
    if let Some(text) = annotation {
        return millis(text);
    }
    if waits_for_input(&pod.spec) {
        return None;
    }
    match slept(&pod.spec).as_deref() {
        Some("infinity") => return None,
        Some(text) if millis(text).is_some() => return millis(text),
        Some(_) | None => {}
    }
    if pod.spec.restart_policy == "Always" || serves(pod) {
        return None;
    }
    Some(default_seconds.saturating_mul(1000))
}

/// For how many simulated milliseconds a pod goes on after it was asked to stop.
pub fn stop_millis(pod: &Pod) -> u64 {
    /// Most programs end at once.
    const DEFAULT: u64 = 1000;
    let annotation = pod.metadata.annotations.as_ref().and_then(|all| all.get(STOP_SECONDS));
    annotation.and_then(|text| millis(text)).unwrap_or(DEFAULT)
}

/// Tells whether the first container runs what goes on reading, a shell or `cat`, and reads what is typed to it.
pub fn waits_for_input(spec: &PodSpec) -> bool {
    let Some(container) = spec.containers.first().filter(|container| container.stdin) else {
        return false;
    };
    let words: Vec<&str> =
        container.command.iter().chain(&container.args).map(String::as_str).collect();
    matches!(words[..], ["sh" | "bash" | "cat" | "/bin/sh" | "/bin/bash" | "/bin/cat"])
}

/// Milliseconds in a decimal number of seconds with at most three digits that count.
fn millis(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = format!("{fraction}000").chars().take(3).collect();
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(digits.parse().ok()?)
}

/// The argument of `sleep`, where that is what the first container runs, or begins its script with.
fn slept(spec: &PodSpec) -> Option<String> {
    let first = statements(spec).into_iter().next()?;
    match first.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["sleep" | "/bin/sleep", time, ..] => Some(time.to_owned()),
        _ => None,
    }
}

/// Roles that have no end of their own: their job's other pods end the work.
fn serves(pod: &Pod) -> bool {
    let kind = controller(pod).map_or("", |owner| owner.kind.as_str());
    let labels = pod.metadata.labels.as_ref();
    let role = labels.and_then(|all| all.get("training.kubeflow.org/replica-type"));
    matches!(
        (kind, role.map(String::as_str)),
        ("MPIJob", Some("worker")) | ("TFJob", Some("ps")) | ("RayCluster", _)
    )
}

/// The owner that controls the pod.
pub fn controller(pod: &Pod) -> Option<&OwnerReference> {
    pod.metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

/// The code that the pod's containers exit with.
///
/// In this order: the annotation [`EXIT_CODE`]; the first container's own, where it is `false`, `exit N`, or a shell's
/// script that ends with one of them; 0.
pub fn exit_code(pod: &Pod) -> i32 {
    let annotation = pod.metadata.annotations.as_ref().and_then(|all| all.get(EXIT_CODE));
    let of_command = || {
        let statements = statements(&pod.spec);
        let code = |words: &Vec<String>| match words.as_slice() {
            [exit, code] if exit == "exit" => code.parse().ok(),
            _ => None,
        };
        let fails =
            |words: &Vec<String>| matches!(words.as_slice(), [one] if one.ends_with("false"));
        let last = || statements.last().filter(|words| fails(words)).map(|_| 1);
        statements.iter().find_map(code).or_else(last)
    };
    annotation.and_then(|text| text.parse().ok()).or_else(of_command).unwrap_or(0)
}

/// The words of the command that the pod is there for, or of each statement of the script that it gives a shell: its first
/// container's, without what launches it.
fn statements(spec: &PodSpec) -> Vec<Vec<String>> {
    let words = |container: &Container| -> Vec<String> {
        container.command.iter().chain(&container.args).cloned().collect()
    };
    let emissary = |container: &Container| Some(after_emissary(&words(container))?.to_vec());
    let launched = spec.containers.iter().find_map(emissary);
    let words = launched.or_else(|| spec.containers.first().map(words)).unwrap_or_default();
    let Some(script) = script(&words) else { return vec![words] };
    script
        .split([';', '\n'])
        .flat_map(|part| part.split("&&"))
        .map(|part| part.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(without_ray)
        .filter(|words| !words.is_empty())
        .collect()
}

/// The script among words that start a shell.
fn script(words: &[String]) -> Option<&str> {
    let (shell, more) = words.split_first()?;
    let is_shell = matches!(shell.as_str(), "sh" | "bash" | "/bin/sh" | "/bin/bash");
    match more {
        [flag, script] if is_shell && flag == "-c" => Some(script),
        [flags, end, script] if is_shell && flags == "-ce" && end == "--" => Some(script),
        _ => None,
    }
}

/// The user's command among the words by which Argo's executor starts it.
fn after_emissary(words: &[String]) -> Option<&[String]> {
    match words {
        [program, emissary, end, more @ ..]
            if program.ends_with("/argoexec") && emissary == "emissary" && end == "--" =>
        {
            Some(more)
        }
        _ => None,
    }
}

/// The entry point that a statement of `KubeRay`'s submitter hands to Ray; other statements as they are.
fn without_ray(statement: Vec<String>) -> Option<Vec<String>> {
    let Some(["ray", "job", verb]) =
        statement.get(..3).map(|words| [&*words[0], &*words[1], &*words[2]])
    else {
        return Some(statement);
    };
    let end = statement.iter().position(|word| word == "--");
    (verb == "submit").then(|| end.map_or_else(Vec::new, |end| statement[end + 1..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(value: Value) -> Pod {
        serde_json::from_value(value).expect("a pod in the test")
    }

    #[test]
    fn requests_follow_the_sidecar_rule() {
        let request = |cpu: &str| json!({"requests": {"cpu": cpu}});
        let pod = pod(json!({"metadata": {}, "spec": {
            "initContainers": [
                {"name": "sidecar", "restartPolicy": "Always", "resources": request("100m")},
                {"name": "init", "resources": request("2")},
            ],
            "containers": [
                {"name": "a", "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "2", "memory": "1Gi"}}},
                {"name": "b", "resources": request("500m")},
            ],
            "overhead": {"cpu": "10m"},
        }}));
        let expect = [("cpu", 2110), ("memory", 1 << 30), ("nvidia.com/gpu", 2), ("pods", 1)];
        let expect: Amounts = expect.map(|(name, amount)| (name.to_owned(), amount)).into();
        assert_eq!(requests(&pod.spec), expect);
    }

    #[test]
    fn run_time() {
        let run = |metadata: Value, restart: &str, command: Value| {
            let pod = pod(json!({"metadata": metadata, "spec": {"restartPolicy": restart,
                "containers": [{"name": "main", "command": command}]}}));
            run_millis(&pod, RUN_SECONDS_DEFAULT)
        };
        let typed = json!({"metadata": {}, "spec": {"restartPolicy": "Never",
            "containers": [{"name": "main", "stdin": true, "command": ["bash"]}]}});
        assert_eq!(run_millis(&pod(typed), RUN_SECONDS_DEFAULT), None);
        let annotated = json!({"annotations": {RUN_SECONDS: "2.5"}});
        let owned = |kind: &str, role: &str| {
            json!({
                "ownerReferences": [{"apiVersion": "kubeflow.org/v1", "kind": kind, "name": "x", "uid": "u", "controller": true}],
                "labels": {"training.kubeflow.org/replica-type": role},
            })
        };
        assert_eq!(run(annotated, "Always", json!([])), Some(2500));
        assert_eq!(run(json!({}), "Always", json!(["python"])), None);
        assert_eq!(run(json!({}), "Never", json!(["python"])), Some(60_000));
        assert_eq!(run(json!({}), "Never", json!(["sleep", "5"])), Some(5000));
        assert_eq!(run(json!({}), "Never", json!(["sleep", "infinity"])), None);
        assert_eq!(run(json!({}), "Never", json!(["sh", "-c", "sleep 5; exit 3"])), Some(5000));
        let ray = "ray job submit --address http://a:8265 --no-wait --submission-id x -- sleep 7 ; ray job logs x";
        assert_eq!(run(json!({}), "Never", json!(["/bin/bash", "-ce", "--", ray])), Some(7000));
        assert_eq!(run(owned("MPIJob", "worker"), "Never", json!([])), None);
        assert_eq!(run(owned("PyTorchJob", "worker"), "Never", json!([])), Some(60_000));
    }

    #[test]
    fn argo_starts_the_command_of_its_main_container() {
        let main =
            json!(["/var/run/argo/argoexec", "emissary", "--", "sh", "-c", "sleep 9; exit 2"]);
        let pod = pod(json!({"metadata": {}, "spec": {"restartPolicy": "Never", "containers": [
            {"name": "wait", "command": ["argoexec", "wait"]}, {"name": "main", "command": main},
        ]}}));
        assert_eq!((run_millis(&pod, RUN_SECONDS_DEFAULT), exit_code(&pod)), (Some(9000), 2));
    }

    #[test]
    fn a_command_ends_as_it_says() {
        let code = |metadata: Value, command: Value| {
            exit_code(&pod(json!({"metadata": metadata,
                "spec": {"containers": [{"name": "main", "command": command}]}})))
        };
        assert_eq!(code(json!({}), json!(["sleep", "5"])), 0);
        assert_eq!(code(json!({}), json!(["false"])), 1);
        assert_eq!(code(json!({}), json!(["sh", "-c", "exit 3"])), 3);
        assert_eq!(code(json!({}), json!(["/bin/bash", "-c", "sleep 1 && exit 4"])), 4);
        assert_eq!(code(json!({}), json!(["sh", "-c", "exit 3; true"])), 3);
        let ray = "ray job submit --no-wait -- false ; ray job logs --follow x";
        assert_eq!(code(json!({}), json!(["/bin/bash", "-ce", "--", ray])), 1);
        let annotated = json!({"annotations": {EXIT_CODE: "7"}});
        assert_eq!(code(annotated, json!(["sh", "-c", "exit 3"])), 7);
    }
}
