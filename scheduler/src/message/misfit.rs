//! Says why no node takes a pod: counts of nodes by reason.

use std::fmt::Write as _;

use kai_api::names::no_reservation;
use kai_engine::{
    Blocked, ClaimProblem, Lane, Misfit, NoRoom, NodeId, QueueLane, TooLarge, Unselected,
    Unsupported, Why,
};

use super::{amount_text, over_limit, over_quota, thousandths};
use crate::names::{ATTRIBUTES_MAX, Names, Number, REQUESTS_MAX, VOLUME, VOLUME_REQUESTS_MAX};

/// Says why a pod waits whose topology spread constraints are to be counted yet.
pub(super) const TURN: &str =
    "selectors of its topology spread constraints are new, and have their turn in a moment";

/// The reason of one node that is known: some name the pod, the node or what is on it.
///
/// # Source
/// docs/behaviour.md 2.9 and 10.2, checks 1, 3 and 7.
pub(super) fn on_node(misfit: Misfit, no_room: &NoRoom, node: NodeId, names: &Names) -> String {
    let (namespace, name) = pod_name(no_room, names);
    let on = names.nodes.key(node.number());
    if misfit == Misfit::Worker {
        let kind = if no_room.gpu_milli > 0 { "gpu" } else { "cpu" };
        return format!(
            "{kind} task: <{namespace}/{name}> can't run on non {kind} nodes, node: <{on}>"
        );
    }
    if misfit == Misfit::LegacyMig {
        return format!("Legacy MIG jobs cannot be scheduled on node {on}");
    }
    let reason = reason(misfit, no_room, names);
    if misfit == Misfit::BesideLegacyMig {
        let there = no_room.beside.iter().filter(|(at, _)| *at == node);
        let pods = there.filter_map(|(_, pod)| names.pods.row(pod.number()));
        let pods: Vec<String> = pods.map(|pod| format!("{}/{}", pod.namespace, pod.name)).collect();
        return format!("{reason}: <[{}]>", pods.join(" "));
    }
    if misfit == Misfit::GpuMemoryUnknown {
        return format!("{reason}, task: <{namespace}/{name}>, node: <{on}>");
    }
    if misfit == Misfit::Queue {
        return format!("{reason}{}", too_dear(no_room, names));
    }
    reason
}

/// Says what follows a reason that only the overhead of the pod brings about.
///
/// # Source
/// docs/behaviour.md 12.3.
pub(super) fn overhead(no_room: &NoRoom, names: &Names) -> String {
    let each = no_room.overhead.iter().map(|(lane, of_it)| match lane {
        Lane::CPU => format!("CPU: {} (cores)", amount(lane, of_it)),
        Lane::MEMORY => format!("memory: {} (GB)", amount(lane, of_it)),
        lane => format!("{}: {}", names.lane_name(lane), amount(lane, of_it)),
    });
    let list = each.collect::<Vec<String>>().join(", ");
    format!(
        ". Not enough resources due to pod overhead resources. The overhead resources are {list}"
    )
}

/// Says why a queue may not take what the pod costs on a node.
///
/// # Source
/// docs/behaviour.md 10.2, check 1.
pub(super) fn too_dear(no_room: &NoRoom, names: &Names) -> String {
    let error = match no_room.too_dear.as_deref() {
        Some(Why::OverLimit(bound)) => over_limit(bound, false, names),
        Some(Why::OverQuota(bound)) => over_quota(bound, names),
        Some(_) | None => return String::new(),
    };
    format!(". Reason: {}, Details: {}", error.code, error.message)
}

pub(super) fn pod_name<'n>(no_room: &NoRoom, names: &'n Names) -> (&'n str, &'n str) {
    let pod = names.pods.row(no_room.pod.number());
    pod.map_or(("", ""), |pod| (&*pod.namespace, &*pod.name))
}

/// Says what no node has so much of.
pub(super) fn too_large(large: &TooLarge, pod: &str, names: &Names) -> String {
    let asked = |lane: Lane| amount(lane, large.request.amount(lane));
    // A pod takes one pod slot; KAI counts slots as any resource.
    let mut others = String::from(", pods: 1");
    for (lane, of_it) in large.request.iter() {
        if ![Lane::GPU, Lane::CPU, Lane::MEMORY].contains(&lane) {
            let _ = write!(others, ", {}: {}", names.lane_name(lane), amount(lane, of_it));
        }
    }
    let (resource, unit) = match large.lane {
        Lane::GPU => ("GPU", ""),
        Lane::CPU => ("CPU", " cores"),
        Lane::MEMORY => ("memory", " GB"),
        lane => (names.lane_name(lane), ""),
    };
    let pool = &names.pool;
    let most = if large.most == 0 {
        format!("No node in the {pool} node-pool has {resource} resources")
    } else {
        format!(
            "Max {resource} resources available in a single node in the {pool} node-pool is topped \
             at {}{unit}",
            amount(large.lane, large.most)
        )
    };
    format!(
        "The pod {pod} requires GPU: {}, CPU: {} (cores), memory: {} (GB){others}. {most}",
        asked(Lane::GPU),
        asked(Lane::CPU),
        asked(Lane::MEMORY),
    )
}

/// An amount in cores, GB, devices, or as it is.
pub(super) fn amount(lane: Lane, amount: i64) -> String {
    match lane {
        Lane::GPU => amount_text(QueueLane::Gpu, amount),
        Lane::CPU => amount_text(QueueLane::Cpu, amount),
        Lane::MEMORY => amount_text(QueueLane::Memory, amount),
        _ => thousandths(amount.saturating_mul(1000)),
    }
}

pub(super) fn reason(misfit: Misfit, no_room: &NoRoom, names: &Names) -> String {
    let words = match misfit {
        Misfit::Short(lane) => return short(lane, names),
        Misfit::Overhead(lane) => return short(lane, names) + &overhead(no_room, names),
        Misfit::Taint(_) => "node(s) had untolerated taint(s)",
        Misfit::Blocked(blocked) => match blocked {
            Blocked::Unschedulable => "node is unschedulable",
            Blocked::NotReady => "node(s) were not ready",
            Blocked::MemoryPressure => "node(s) had memory pressure",
            Blocked::DiskPressure => "node(s) had disk pressure",
            Blocked::PidPressure => "node(s) had pid pressure",
            Blocked::NetworkUnavailable => "node(s) had unavailable network",
        },
        Misfit::Selector => "node(s) didn't match Pod's node affinity/selector",
        Misfit::Worker => "node(s) didn't have the worker label for this kind of work",
        Misfit::LegacyMig => "Legacy MIG jobs cannot be scheduled on the node(s)",
        Misfit::BesideLegacyMig => "MIG job cannot be scheduled on node with legacy MIG jobs",
        Misfit::NotMig => "MIG job cannot be scheduled on non-MIG node",
        Misfit::MigSingle => "only whole gpu jobs can run on a node with MigStrategy='single'",
        Misfit::MigMixed => "non MIG jobs cant run on a node with MigStrategy='mixed'",
        Misfit::GpuMemoryUnknown => {
            "node is not a gpu node or the gpu memory count on the node was not synced yet"
        }
        Misfit::GpuTooSmall => "node(s) didn't have enough resources: GPU memory",
        Misfit::Device => "node(s) didn't have enough resources: GPUs",
        Misfit::SetAside => no_reservation::SET_ASIDE,
        Misfit::PodSlots => "node(s) pod number exceeded",
        Misfit::Port => "node(s) didn't have free ports for the requested pod ports",
        Misfit::Affinity => "node(s) didn't match pod affinity rules",
        Misfit::AntiAffinity => "node(s) didn't match pod anti-affinity rules",
        Misfit::Barred => "node(s) didn't satisfy existing pods anti-affinity rules",
        Misfit::Spread => "node(s) didn't match pod topology spread constraints",
        Misfit::Volume => "node(s) didn't match PersistentVolume's node affinity",
        Misfit::VolumeUnbound => "node(s) didn't find available persistent volumes to bind",
        Misfit::StorageAbsent(class) => {
            let class = names.text(class);
            return format!("no allocatable storage from storageclass {class} found");
        }
        Misfit::StorageShort(class) => {
            let class = names.text(class);
            return format!("node(s) did not have enough free storage for storageclass {class}");
        }
        Misfit::Missing(_) => "node(s) can't provide what the pod refers to and does not exist",
        Misfit::Devices => "cannot allocate all claims",
        Misfit::Elsewhere => "resourceclaim not available on the node",
        Misfit::OnlyClaims => "fractional/shared GPU pods are not yet supported on DRA-only nodes",
        Misfit::Claim(claim, problem) => return claim_problem(problem, names.of_claim(claim)),
        Misfit::Zones => "node(s) cannot align the pod with the NUMA zones that its policy allows",
        Misfit::Queue => "node does not have enough capacity",
    };
    String::from(words)
}

/// Says what is wrong with a resource claim, in KAI's words.
///
/// # Source
/// docs/behaviour.md 13.1, pre-filter; docs/contract.md 2.1 for the queue label.
pub(super) fn claim_problem(problem: ClaimProblem, claim: &str) -> String {
    match problem {
        ClaimProblem::NotServed => format!(
            "the pod cannot be scheduled, it references resource claim {claim} while dynamic resource allocation is not \
             available in the cluster"
        ),
        ClaimProblem::NotFound => format!(
            "failed to get resource claim {claim}: could not find ResourceClaim \"{claim}\""
        ),
        ClaimProblem::OtherQueue => format!(
            "resource claim {claim} is shared and not labelled kai.scheduler/queue with the queue \
             of the workload"
        ),
        ClaimProblem::Full => {
            format!("resource claim {claim} has reached its maximum number of consumers (256)")
        }
        ClaimProblem::NoClass => {
            format!("resource claim {claim} names a device class that does not exist")
        }
        ClaimProblem::Unsupported(what) => unsupported(what, claim),
        ClaimProblem::Unselected(Unselected::Undecided) => {
            format!("the selectors of resource claim {claim} are still being evaluated")
        }
        ClaimProblem::Unselected(Unselected::Broken) => {
            format!("a selector of resource claim {claim} or of its device class cannot be used")
        }
        ClaimProblem::Unselected(Unselected::Costly) => format!(
            "a selector of resource claim {claim} or of its device class costs more to evaluate \
             than the API's limit of {}: write a shorter one",
            crate::cel::COST_MAX
        ),
        ClaimProblem::GivenUp => format!(
            "the search for the devices of resource claim {claim} was given up after {} looks at devices of a node, or {} \
             in all: ask for like devices in one request with a count, or constrain fewer requests",
            kai_engine::NODE_LOOKS_MAX,
            kai_engine::DEVICE_LOOKS_MAX
        ),
        ClaimProblem::TooManyDevices => format!(
            "resource claim {claim} asks for more than the {} devices that a claim may be given: ask for them in several claims",
            kai_engine::CLAIM_DEVICES_MAX
        ),
        ClaimProblem::TooManyRequests => format!(
            "the resource claims of the pod up to {claim} have more than {} requests, alternatives and constraints in all: ask \
             for like devices in one request with a count",
            kai_engine::POD_REQUESTS_MAX
        ),
        ClaimProblem::Apart => {
            format!("resource claim {claim} is bound to another node than another claim")
        }
    }
}

/// Says what of a claim is not supported.
fn unsupported(what: Unsupported, claim: &str) -> String {
    let what = match what {
        Unsupported::Mode => "an allocationMode other than ExactCount and All,",
        Unsupported::Constraint => "a constraint other than matchAttribute and distinctAttribute,",
        Unsupported::TooMany => {
            return format!(
                "resource claim {claim} brings the claims of its namespace beyond {REQUESTS_MAX} different requests (by \
                 device class, selectors, tolerations and capacity) or {ATTRIBUTES_MAX} attributes in constraints: \
                 delete claims that are not used, and it is looked at again within a minute"
            );
        }
        Unsupported::TooManyVolumes => {
            let claim = claim.strip_prefix(VOLUME).unwrap_or(claim);
            return format!(
                "volume claim {claim} brings the claims of its namespace that wait for a volume beyond \
                 {VOLUME_REQUESTS_MAX} different ones (by storage class, size, modes and selector): delete claims that are \
                 not used, or have them ask alike, and it is looked at again at once"
            );
        }
    };
    format!("resource claim {claim} asks for {what} which this scheduler does not give")
}

/// That too little of a resource is free.
pub(super) fn short(lane: Lane, names: &Names) -> String {
    let resource = resource(lane, names);
    match resource.strip_prefix(kai_api::names::resource::MIG_PREFIX) {
        Some(_) => format!("node(s) didn't have enough of mig profile: {resource}"),
        None => format!("node(s) didn't have enough resources: {resource}"),
    }
}

/// Says what a resource is called.
pub(super) fn resource(lane: Lane, names: &Names) -> &str {
    match lane {
        Lane::GPU => "GPUs",
        Lane::CPU => "CPU cores",
        Lane::MEMORY => "memory",
        _ => names.lane_name(lane),
    }
}
