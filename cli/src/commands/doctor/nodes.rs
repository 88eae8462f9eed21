//! Checks of nodes and their devices.

use crate::cluster::queue::count;
use kai_api::names::{label, node as key, resource};
use serde_json::Value;

use super::facts::{Facts, Source, condition, devices, each, label as label_of, place};
use super::finding::{Level, Unread, Verdict};
use crate::cluster::json::text;
use crate::workload::is_over;

/// Set by NVIDIA's feature discovery where a card is.
const PRESENT: &str = "nvidia.com/gpu.present";
/// Sets how many pods each device is offered as: time-slicing.
const REPLICAS: &str = "nvidia.com/gpu.replicas";

fn mig_devices(node: &Value) -> bool {
    let amounts = node["status"]["allocatable"].as_object();
    amounts
        .into_iter()
        .flatten()
        .any(|(name, amount)| name.starts_with(resource::MIG_PREFIX) && text(amount) != "0")
}

fn gpus(node: &Value) -> u64 {
    devices(node, "allocatable", resource::NVIDIA_GPU)
}

/// Nodes with GPUs are Ready, and open for work.
pub(super) fn ready(facts: &Facts) -> Result<Verdict, Unread> {
    let nodes = facts.list(Source::Nodes)?;
    let with_gpus: Vec<&Value> =
        nodes.iter().filter(|node| gpus(node) > 0 || mig_devices(node)).collect();
    let wrong = with_gpus.iter().filter_map(|node| {
        if condition(node, "Ready") != "True" {
            return Some(format!(
                "{} is not Ready, with {}",
                place(node),
                count(gpus(node), "GPU")
            ));
        }
        // As the scheduler counts it: what nobody knows keeps work away too.
        let pressed = ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"]
            .into_iter()
            .find(|kind| !["", "False"].contains(&condition(node, kind)));
        if let Some(kind) = pressed {
            return Some(format!("{} has {kind}", place(node)));
        }
        (node["spec"]["unschedulable"] == true)
            .then(|| format!("{} is cordoned, with {}", place(node), count(gpus(node), "GPU")))
    });
    let bad =
        |count: usize| format!("nodes with GPUs that take no work: {count} of {}", with_gpus.len());
    Ok(Verdict::of(
        wrong.collect(),
        Level::Warning,
        bad,
        format!("{} with GPUs, all Ready", count(with_gpus.len(), "node")),
    )
    .fix("kubectl describe node NODE; kubectl uncordon NODE"))
}

/// Cards that are there are offered by a device plugin.
pub(super) fn plugin(facts: &Facts) -> Result<Verdict, Unread> {
    let nodes = facts.list(Source::Nodes)?;
    let wrong = nodes
        .iter()
        .filter(|node| label_of(node, PRESENT) == "true" && gpus(node) == 0 && !mig_devices(node));
    let wrong = wrong.map(|node| {
        format!(
            "{} has {} cards by its labels, and offers none",
            place(node),
            label_of(node, key::GPU_COUNT)
        )
    });
    let bad = |count: usize| format!("nodes with cards that nobody offers: {count}");
    Ok(Verdict::of(wrong.collect(), Level::Error, bad, "every labelled card is offered")
        .fix("look at NVIDIA's device plugin there: kubectl get pods -A -o wide --field-selector spec.nodeName=NODE"))
}

/// Devices that a node had and lost.
pub(super) fn lost(facts: &Facts) -> Result<Verdict, Unread> {
    let nodes = facts.list(Source::Nodes)?;
    let wrong = nodes.iter().filter_map(|node| {
        let had = devices(node, "capacity", resource::NVIDIA_GPU);
        let has = gpus(node);
        (had > has).then(|| format!("{}: {has} of {had} GPUs are healthy", place(node)))
    });
    let bad = |count: usize| format!("nodes that lost devices: {count}");
    Ok(Verdict::of(wrong.collect(), Level::Warning, bad, "no device is lost")
        .fix("nvidia-smi and dmesg | grep -i xid on that node; drain it before a reset: kubectl drain NODE"))
}

/// Nodes say how large their devices are.
pub(super) fn labels(facts: &Facts) -> Result<Verdict, Unread> {
    let nodes = facts.list(Source::Nodes)?;
    let wrong = nodes.iter().filter(|node| gpus(node) > 0).filter_map(|node| {
        let missing: Vec<&str> = [key::GPU_MEMORY, key::GPU_PRODUCT]
            .into_iter()
            .filter(|key| label_of(node, key).is_empty())
            .collect();
        (!missing.is_empty())
            .then(|| format!("{} has no label {}", place(node), missing.join(", ")))
    });
    let bad = |count: usize| {
        format!(
            "nodes that don't say what their GPUs are (--gpu-memory and --gpu MODEL:N pass them by): {count}"
        )
    };
    Ok(Verdict::of(
        wrong.collect(),
        Level::Warning,
        bad,
        "nodes with GPUs say their model and memory",
    )
    .fix("run NVIDIA's gpu-feature-discovery (part of its GPU operator)"))
}

/// Time-slicing and MIG that disagree with sharing.
pub(super) fn sliced(facts: &Facts) -> Result<Verdict, Unread> {
    let nodes = facts.list(Source::Nodes)?;
    let wrong = nodes.iter().filter_map(|node| {
        let replicas: u64 = label_of(node, REPLICAS).parse().unwrap_or(1);
        if replicas > 1 {
            return Some(format!("{} offers each device {replicas} times (time-slicing): a whole GPU is not whole, and shares of it overlap", place(node)));
        }
        let strategy = label_of(node, key::MIG_STRATEGY);
        (strategy == "single" && mig_devices(node)).then(|| format!("{} has strategy single and offers MIG profiles by name", place(node)))
    });
    let bad =
        |count: usize| format!("nodes that divide their devices in two ways at once: {count}");
    Ok(Verdict::of(wrong.collect(), Level::Error, bad, "no device is divided in two ways")
        .fix("take sharing.timeSlicing out of the device plugin's configuration, and share by --gpu 0.5 instead"))
}

/// Topologies name labels that nodes have.
pub(super) fn topologies(facts: &Facts) -> Result<Verdict, Unread> {
    let nodes = facts.list(Source::Nodes)?;
    let topologies = facts.list(Source::Topologies)?;
    let mut wrong = Vec::new();
    for topology in topologies {
        for level in each(topology, "/spec/levels") {
            let wanted = text(&level["nodeLabel"]);
            let with = nodes.iter().filter(|node| !label_of(node, wanted).is_empty()).count();
            if with == 0 && !nodes.is_empty() {
                wrong.push(format!("{}: no node has label {wanted}", place(topology)));
            }
        }
    }
    let bad = |count: usize| {
        format!("levels of topologies on no node (work that requires them never starts): {count}")
    };
    Ok(Verdict::of(
        wrong,
        Level::Error,
        bad,
        format!("{} topologies, their labels are there", topologies.len()),
    )
    .fix("kubectl label node NODE LABEL=VALUE; or mend the Topology: kubectl edit topology NAME"))
}

/// Pods of other schedulers that take GPUs of nodes of ours.
pub(super) fn bypass(facts: &Facts) -> Result<Verdict, Unread> {
    let asks = |pod: &Value| {
        each(pod, "/spec/containers").any(|container| {
            let limits = container["resources"]["limits"].as_object();
            limits.into_iter().flatten().any(|(name, amount)| {
                (name == resource::NVIDIA_GPU || name.starts_with(resource::MIG_PREFIX))
                    && text(amount) != "0"
            })
        })
    };
    let pods = facts.list(Source::Pods)?.iter().filter(|pod| {
        let namespace = text(&pod["metadata"]["namespace"]);
        text(&pod["spec"]["schedulerName"]) != kai_api::names::SCHEDULER_NAME
            && namespace != kai_api::names::namespace::RESERVATION
            && label_of(pod, label::APP) != kai_api::names::value::SCALING_APP
            && !is_over(pod)
            && asks(pod)
    });
    let wrong: Vec<String> = pods
        .map(|pod| format!("{} (scheduler {})", place(pod), text(&pod["spec"]["schedulerName"])))
        .collect();
    let bad = |count: usize| format!("pods that take GPUs past the queues: {count}");
    Ok(Verdict::of(wrong, Level::Warning, bad, "every pod with GPUs goes through a queue")
        .fix("kubectl kai submit -f FILE puts a manifest into a queue"))
}
