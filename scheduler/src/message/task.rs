//! Shows what is said of one pod that no node takes.

use std::collections::BTreeMap;

use kai_engine::{Misfit, Missing, NoRoom};

use super::{
    detail,
    misfit::{TURN, claim_problem, on_node, pod_name, reason, too_dear, too_large},
};
use crate::names::{Names, Number};

/// Says what is said of one pod: `no nodes with enough resources were found: <count> <reason>. …`.
pub(super) fn task(no_room: &NoRoom, names: &Names) -> String {
    const BASE: &str = "no nodes with enough resources were found";
    let (namespace, name) = pod_name(no_room, names);
    let unmet = unmet(no_room, names);
    if !unmet.is_empty() {
        let unmet = unmet.concat();
        return format!("Scheduling conditions were not met for pod {namespace}/{name}:{unmet}");
    }
    if !no_room.nodes.is_empty() {
        return format!("{BASE}:{}", detail::nodes(no_room, names));
    }
    // Reasons that are told alike, as several taints are, are one line.
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for (misfit, count) in no_room.misfits.iter().chain(&no_room.also) {
        for (reason, count) in lines(*misfit, *count, no_room, names) {
            *counts.entry(reason).or_default() += count;
        }
    }
    if counts.is_empty() {
        return String::from(BASE);
    }
    let mut reasons: Vec<String> =
        counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    reasons.sort_unstable();
    format!("{BASE}: {}.", reasons.join(". \n"))
}

/// Counts how many nodes refuse for a reason; one by one where KAI names each, for those that are known by name.
fn lines(misfit: Misfit, count: u32, no_room: &NoRoom, names: &Names) -> Vec<(String, u32)> {
    if misfit == Misfit::Queue {
        let reason = reason(misfit, no_room, names);
        return vec![(format!("{reason}{}", too_dear(no_room, names)), count)];
    }
    let named = no_room.named.iter().filter(|(one, _)| *one == misfit);
    let known = named.filter(|(_, node)| names.nodes.row(node.number()).is_some());
    let mut lines: Vec<(String, u32)> =
        known.map(|(_, node)| (on_node(misfit, no_room, *node, names), 1)).collect();
    let told = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let rest = count.saturating_sub(told);
    if rest > 0 {
        lines.push((reason(misfit, no_room, names), rest));
    }
    lines
}

/// Says what keeps the pod out before any node is looked at: a line for each filter, with the line's break before it.
///
/// # Source
/// docs/behaviour.md 10.1.
fn unmet(no_room: &NoRoom, names: &Names) -> Vec<String> {
    let line = |filter: &str, error: &str| format!("\n{filter}: {error}.");
    let (namespace, name) = pod_name(no_room, names);
    let mut lines = Vec::new();
    if let Some(large) = &no_room.too_large {
        let error = too_large(large, &format!("{namespace}/{name}"), names);
        lines.push(line("MaxNodePoolResources", &error));
    }
    let mut config_maps = Vec::new();
    for (misfit, _) in &no_room.misfits {
        if let Misfit::Claim(claim, problem) = misfit {
            let error = claim_problem(*problem, names.of_claim(*claim));
            lines.push(line("DynamicResources", &error));
        } else if let Misfit::Missing(Missing::ConfigMap(name)) = misfit {
            config_maps.push(names.text(*name));
        } else if let Misfit::Missing(Missing::Request(what)) = misfit {
            lines.push(line("Request", names.text(*what)));
        } else if let Misfit::Missing(Missing::Turn) = misfit {
            lines.push(line("PodTopologySpread", TURN));
        } else if let Misfit::Missing(missing) = misfit {
            let error = volume_problem(*missing, namespace, name, names);
            lines.push(line("VolumeBinding", &error));
        }
    }
    if !config_maps.is_empty() {
        let error = format!("Missing required configmaps: [{}]", listed(&config_maps));
        lines.push(line("ConfigMap", &error));
    }
    lines
}

/// Config maps that a message names.
const LISTED_MAX: usize = 10;

/// Lists names, of very many the first.
fn listed(names: &[&str]) -> String {
    let first = names.iter().take(LISTED_MAX).copied().collect::<Vec<_>>().join(" ");
    match names.len().saturating_sub(LISTED_MAX) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Says what is wrong with a volume of a pod, in the words of the Kubernetes filter `VolumeBinding`.
fn volume_problem(missing: Missing, namespace: &str, pod: &str, names: &Names) -> String {
    let text = |symbol| names.text(symbol);
    match missing {
        Missing::Claim(claim) => format!("persistentvolumeclaim \"{}\" not found", text(claim)),
        Missing::Ephemeral(claim) => format!(
            "waiting for ephemeral volume controller to create the persistentvolumeclaim \"{}\"",
            text(claim)
        ),
        Missing::NotOwned(claim) => format!(
            "PVC {namespace}/{} was not created for pod {namespace}/{pod} (pod is not owner)",
            text(claim)
        ),
        Missing::Deleted(claim) => {
            format!("persistentvolumeclaim \"{}\" is being deleted", text(claim))
        }
        Missing::Lost(claim, volume) => format!(
            "persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"",
            text(claim),
            text(volume)
        ),
        Missing::Unbound => String::from("pod has unbound immediate PersistentVolumeClaims"),
        Missing::ConfigMap(name) => format!("config map {} is missing", text(name)),
        Missing::Request(what) => String::from(text(what)),
        Missing::Turn => String::from(TURN),
    }
}
