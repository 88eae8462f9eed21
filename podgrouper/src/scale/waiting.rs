//! A pod that waits for shared GPUs, reduced to what its scaling pod is made of.

use std::fmt::Write as _;

use kai_api::names::{annotation, condition, reason, resource};
use kai_api::quantity::Quantity;
use kai_api::shared_gpu::{Share, SharedGpu, is_whole_limit, read};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::object::Object;
use crate::slim::{Kept, Shape};
use crate::status::{Totals, effective_request};
use crate::store::Key;

/// The part that is read of pods that wait, and of scaling pods.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingShape;

const RESOURCES: Kept =
    Kept::Fields(&[("limits", Kept::Whole), ("requests", Kept::Whole)], &Kept::Nothing);
const CONTAINERS: Kept =
    Kept::Fields(&[("resources", RESOURCES), ("restartPolicy", Kept::Whole)], &Kept::Nothing);
const METADATA: Kept = Kept::Fields(
    &[
        ("annotations", Kept::Whole),
        ("creationTimestamp", Kept::Whole),
        ("deletionTimestamp", Kept::Whole),
        ("labels", Kept::Whole),
        ("name", Kept::Whole),
        ("namespace", Kept::Whole),
        ("resourceVersion", Kept::Whole),
        ("uid", Kept::Whole),
    ],
    &Kept::Nothing,
);
const SPEC: Kept = Kept::Fields(
    &[
        ("affinity", Kept::Whole),
        ("containers", CONTAINERS),
        ("initContainers", CONTAINERS),
        ("nodeName", Kept::Whole),
        ("nodeSelector", Kept::Whole),
        ("overhead", Kept::Whole),
        ("resources", RESOURCES),
        ("tolerations", Kept::Whole),
        ("topologySpreadConstraints", Kept::Whole),
    ],
    &Kept::Nothing,
);
const CONDITIONS: Kept = Kept::Fields(&[("message", Kept::Nothing)], &Kept::Whole);
const STATUS: Kept =
    Kept::Fields(&[("conditions", CONDITIONS), ("phase", Kept::Whole)], &Kept::Nothing);

impl Shape for WaitingShape {
    const KEPT: &'static Kept = &Kept::Fields(
        &[("metadata", METADATA), ("spec", SPEC), ("status", STATUS)],
        &Kept::Nothing,
    );
}

/// So many bytes of these fields are read of a pod, as text. The scheduler refuses a pod that says very much.
const PLACEMENT_BYTES_MAX: usize = 16 << 10;
/// Fields of a pod's spec that say which nodes it may go to.
const PLACEMENT: [&str; 4] =
    ["affinity", "nodeSelector", "tolerations", "topologySpreadConstraints"];

/// The scheduler's verdict on a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing so far.
    Unknown,
    /// It finds no room.
    Unschedulable,
    /// Something else: it has a node, or may not be scheduled yet.
    Other,
}

/// A pod that asks for shared GPUs and has no node. Of what says where it may go, and of what it takes, digits are kept: there may
/// be thousands of pods, and few have a scaling pod made for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) verdict: Verdict,
    /// Its `PodGroup`.
    pub(super) group: Option<Key>,
    /// `metadata.creationTimestamp`, whose text sorts as the times do.
    pub(super) created: String,
    pub(super) share: Share,
    pub(super) devices: u32,
    /// Sixteen hexadecimal digits of the amounts that the pod takes of a node beside GPUs.
    pub(super) needs: String,
    /// Its class, see [`Template::class`].
    pub(super) class: String,
}

/// The parts of a pod that the scaling pod for it has.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) devices: u32,
    /// Amounts that the pod takes of a node beside GPUs: its containers and sidecars, init containers, overhead.
    pub(super) needs: Totals,
    /// Sixteen hexadecimal digits of `fields`, and of the namespace where affinity looks there. Pods of the same class are
    /// served by the same nodes.
    pub(super) class: String,
    /// The fields of the pod's spec that say which nodes it may go to, where they are set.
    pub(super) fields: Map<String, Value>,
}

impl Waiting {
    /// Reads a pod; none if it asks for no share, if its annotations make no sense, or if it is being deleted.
    pub(super) fn of(pod: &Object) -> Option<Self> {
        let SharedGpu { share, devices } = shared_gpu(pod)?;
        if pod.is_terminating() {
            return None;
        }
        let spec = &pod.value()["spec"];
        let needs = needs(spec).iter().fold(String::new(), |mut text, (name, amount)| {
            // Writing to a text does not fail.
            let _ = writeln!(text, "{name}={}", amount.nano());
            text
        });
        let created = pod.value()["metadata"]["creationTimestamp"].as_str().unwrap_or_default();
        Some(Self {
            verdict: verdict(pod.value()),
            group: pod
                .annotation(annotation::POD_GROUP)
                .map(|name| Key::new(pod.namespace(), name)),
            created: created.to_owned(),
            share,
            devices,
            needs: digits(&needs),
            class: class(&fields(spec), pod.namespace())?,
        })
    }

    /// Gives what the pod asks for, in billionths of a device.
    pub(super) fn nano_devices(&self, memory_share: Quantity) -> i128 {
        let each = match self.share {
            Share::Fraction(part) => part.nano(),
            Share::MemoryMib(_) => memory_share.nano(),
        };
        each.saturating_mul(i128::from(self.devices))
    }
}

impl Template {
    /// Reads a pod, as [`Waiting::of`] does.
    pub(super) fn of(pod: &Object) -> Option<Self> {
        let SharedGpu { devices, .. } = shared_gpu(pod).filter(|_| !pod.is_terminating())?;
        let spec = &pod.value()["spec"];
        let fields = fields(spec);
        let class = class(&fields, pod.namespace())?;
        Some(Self { devices, needs: needs(spec), class, fields })
    }
}

/// The shares that a pod asks for.
fn shared_gpu(pod: &Object) -> Option<SharedGpu> {
    let has_whole_limit = has_whole_limit(&pod.value()["spec"]);
    read(|key| pod.annotation(key), has_whole_limit).ok().flatten()
}

/// Amounts that a pod takes of a node beside GPUs.
fn needs(spec: &Value) -> Totals {
    let mut needs = effective_request(spec);
    needs.remove(resource::NVIDIA_GPU);
    needs
}

/// The row of a pod's condition `PodScheduled`.
pub(super) fn scheduled_condition(pod: &Value) -> Option<&Value> {
    let rows = pod["status"]["conditions"].as_array()?;
    rows.iter().find(|row| row["type"] == condition::POD_SCHEDULED)
}

fn verdict(pod: &Value) -> Verdict {
    match scheduled_condition(pod) {
        None => Verdict::Unknown,
        Some(row) if row["status"] == "False" && row["reason"] == reason::UNSCHEDULABLE => {
            Verdict::Unschedulable
        }
        Some(_) => Verdict::Other,
    }
}

fn has_whole_limit(spec: &Value) -> bool {
    let containers = ["containers", "initContainers"].map(|key| spec[key].as_array());
    let mut limits = containers
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|container| container["resources"]["limits"].as_object());
    limits.any(|limits| {
        limits.iter().any(|(name, amount)| {
            let amount = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
            is_whole_limit(name, Quantity::parse(&amount).ok())
        })
    })
}

/// The fields of a pod's spec that say where it may go, where they are set.
fn fields(spec: &Value) -> Map<String, Value> {
    let mut fields = Map::new();
    for key in PLACEMENT {
        let value = &spec[key];
        let is_empty = value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty);
        if !value.is_null() && !is_empty {
            fields.insert(key.to_owned(), value.clone());
        }
    }
    fields
}

/// The class of a pod that may go where these say; none where it says more of it than anybody needs.
fn class(fields: &Map<String, Value>, namespace: &str) -> Option<String> {
    let looks_at_pods = ["podAffinity", "podAntiAffinity"]
        .iter()
        .any(|key| fields.get("affinity").is_some_and(|affinity| affinity[*key].is_object()));
    let namespace = if looks_at_pods { namespace } else { "" };
    let text = format!("{namespace}\n{}", json!(fields));
    (text.len() <= PLACEMENT_BYTES_MAX).then(|| digits(&text))
}

/// Sixteen hexadecimal digits that follow from a text, in every version of this program.
pub(super) fn digits(text: &str) -> String {
    let mut digits = Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).simple().to_string();
    digits.truncate(16);
    digits
}

#[cfg(test)]
mod tests {
    use kai_api::quantity::Quantity;
    use serde_json::{Value, json};

    use super::{Verdict, Waiting};
    use crate::object::Object;

    fn pod(annotations: &Value, spec: &Value, condition: &Value) -> Object {
        let rows: Vec<&Value> = std::iter::once(condition).filter(|row| !row.is_null()).collect();
        Object::new(json!({"metadata": {"name": "p", "namespace": "n", "annotations": annotations},
            "spec": spec, "status": {"phase": "Pending", "conditions": rows}}))
    }

    #[test]
    fn only_pods_that_ask_for_shares_wait() {
        let check = |annotations: Value, limits: Value, expect: Option<i128>| {
            let spec = json!({"containers": [{"resources": {"limits": limits}}]});
            let found = Waiting::of(&pod(&annotations, &spec, &Value::Null));
            let found = found.map(|pod| pod.nano_devices(Quantity::from_milli(100)));
            assert_eq!(found, expect, "{annotations}");
        };
        check(json!({"gpu-fraction": "0.5"}), json!({}), Some(500_000_000));
        check(
            json!({"gpu-fraction": "0.001", "gpu-fraction-num-devices": "3"}),
            json!({}),
            Some(3_000_000),
        );
        check(
            json!({"gpu-memory": "4096", "gpu-fraction-num-devices": "2"}),
            json!({}),
            Some(200_000_000),
        );
        check(json!({}), json!({"nvidia.com/gpu": "1"}), None);
        check(json!({"gpu-fraction": "NaN"}), json!({}), None);
        check(json!({"gpu-fraction": "0.5"}), json!({"nvidia.com/gpu": "1"}), None);
        // One that is being deleted waits for nothing any more.
        let waits = pod(&json!({"gpu-fraction": "0.5"}), &json!({}), &Value::Null);
        let mut leaves = waits.value().clone();
        leaves["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert!(Waiting::of(&waits).is_some() && Waiting::of(&Object::new(leaves)).is_none());
    }

    #[test]
    fn the_scheduler_s_word_counts() {
        let check = |condition: Value, expect: Verdict| {
            let found = Waiting::of(&pod(&json!({"gpu-fraction": "0.5"}), &json!({}), &condition));
            assert_eq!(found.map(|pod| pod.verdict), Some(expect), "{condition}");
        };
        check(Value::Null, Verdict::Unknown);
        let row = |status: &str, reason: &str| json!({"type": "PodScheduled", "status": status, "reason": reason});
        check(row("False", "Unschedulable"), Verdict::Unschedulable);
        check(row("False", "SchedulingGated"), Verdict::Other);
        check(row("True", ""), Verdict::Other);
    }

    #[test]
    fn pods_of_a_class_may_go_to_the_same_nodes() {
        let class = |spec: &Value| {
            let found = Waiting::of(&pod(&json!({"gpu-fraction": "0.5"}), spec, &Value::Null));
            found.map(|pod| pod.class)
        };
        let plain = class(&json!({"containers": [{"resources": {"requests": {"cpu": "1"}}}]}));
        assert_eq!(plain, class(&json!({"nodeSelector": {}, "tolerations": []})));
        assert_ne!(plain, class(&json!({"nodeSelector": {"pool": "a"}})));
        let tolerations = |count: usize| json!({"tolerations": vec![json!({"key": "a"}); count]});
        assert!(class(&tolerations(200)).is_some());
        assert_eq!(class(&tolerations(5_000)), None, "it is refused whatever nodes there are");
    }
}
