//! Why no node takes a pod: counts of nodes by reason.

use kai_engine::{Blocked, ClaimProblem, Lane, Misfit, NoRoom};

use crate::names::{Names, Number};

/// What is said of one pod: `no nodes with enough resources were found: <count> <reason>. …`.
pub(super) fn task(no_room: &NoRoom, names: &Names) -> String {
    const BASE: &str = "no nodes with enough resources were found";
    if let [(Misfit::Claim(claim, problem), _)] = no_room.misfits[..] {
        return unmet(no_room, &claim_problem(problem, names.of_claim(claim)), names);
    }
    let mut reasons: Vec<String> = no_room
        .misfits
        .iter()
        .map(|(misfit, count)| format!("{count} {}", reason(*misfit, names)))
        .collect();
    if reasons.is_empty() {
        return String::from(BASE);
    }
    reasons.sort_unstable();
    format!("{BASE}: {}.", reasons.join(". \n"))
}

/// What is said where a claim keeps the pod out before any node is looked at.
///
/// # Source
/// spec/scheduling.md 10.1.
fn unmet(no_room: &NoRoom, error: &str, names: &Names) -> String {
    let pod = names.pods.row(no_room.pod.number());
    let (namespace, name) = pod.map_or(("", ""), |pod| (&*pod.namespace, &*pod.name));
    format!(
        "Scheduling conditions were not met for pod {namespace}/{name}:\nDynamicResources: {error}."
    )
}

fn reason(misfit: Misfit, names: &Names) -> String {
    let words = match misfit {
        Misfit::Short(lane) => return short(lane, names),
        Misfit::Taint(taint) => {
            let (key, value) = (names.text(taint.key), names.text(taint.value));
            return format!("node(s) had untolerated taint {{{key}: {value}}}");
        }
        Misfit::Blocked(blocked) => match blocked {
            Blocked::Unschedulable => "node(s) were unschedulable",
            Blocked::NotReady => "node(s) were not ready",
            Blocked::MemoryPressure => "node(s) had memory pressure",
            Blocked::DiskPressure => "node(s) had disk pressure",
            Blocked::PidPressure => "node(s) had pid pressure",
            Blocked::NetworkUnavailable => "node(s) had network unavailable",
        },
        Misfit::Selector => "node(s) didn't match Pod's node affinity/selector",
        Misfit::Worker => "node(s) didn't have the worker label for this kind of work",
        Misfit::LegacyMig => "Legacy MIG jobs cannot be scheduled on the node(s)",
        Misfit::NotMig => "MIG job cannot be scheduled on non-MIG node",
        Misfit::MigSingle => "only whole gpu jobs can run on a node with MigStrategy='single'",
        Misfit::MigMixed => "non MIG jobs cant run on a node with MigStrategy='mixed'",
        Misfit::GpuMemoryUnknown => {
            "node is not a gpu node or the gpu memory count on the node was not synced yet"
        }
        Misfit::GpuTooSmall => "node(s) didn't have enough resources: GPU memory",
        Misfit::Device => "node(s) didn't have enough resources: GPUs",
        Misfit::PodSlots => "node(s) pod number exceeded",
        Misfit::Port => "node(s) didn't have free ports for the requested pod ports",
        Misfit::Affinity => "node(s) didn't match pod affinity rules",
        Misfit::AntiAffinity => "node(s) didn't match pod anti-affinity rules",
        Misfit::Barred => "node(s) didn't satisfy existing pods anti-affinity rules",
        Misfit::Domain => "node(s) were outside the topology domain of the workload",
        Misfit::Missing => "node(s) can't provide what the pod refers to and does not exist",
        Misfit::Devices => "cannot allocate all claims",
        Misfit::OnlyClaims => "fractional/shared GPU pods are not yet supported on DRA-only nodes",
        Misfit::Claim(claim, problem) => return claim_problem(problem, names.of_claim(claim)),
        Misfit::Zones => "node(s) cannot align the pod with the NUMA zones that its policy allows",
        Misfit::Queue => "node does not have enough capacity",
    };
    String::from(words)
}

/// What is wrong with a resource claim, in the peer's words.
///
/// # Source
/// spec/scheduling.md 13.1, pre-filter; spec/contract.md 2.1 for the queue label.
fn claim_problem(problem: ClaimProblem, claim: &str) -> String {
    match problem {
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
        ClaimProblem::Unsupported => {
            format!("resource claim {claim} asks for what is not supported")
        }
        ClaimProblem::Apart => {
            format!("resource claim {claim} is bound to another node than another claim")
        }
    }
}

fn short(lane: Lane, names: &Names) -> String {
    let resource = match lane {
        Lane::GPU => "GPUs",
        Lane::CPU => "CPU cores",
        Lane::MEMORY => "memory",
        Lane::PODS => return String::from("node(s) pod number exceeded"),
        _ => names.lane_name(lane),
    };
    match resource.strip_prefix(kai_api::names::resource::MIG_PREFIX) {
        Some(_) => format!("node(s) didn't have enough of mig profile: {resource}"),
        None => format!("node(s) didn't have enough resources: {resource}"),
    }
}
