//! Checks of shared GPUs.

use std::collections::BTreeSet;

use kai_api::names::{annotation, label, namespace};
use serde_json::Value;

use super::facts::{Facts, Source, annotation as annotation_of, label as label_of, place};
use super::finding::{Level, Unread, Verdict};
use crate::cluster::json::text;
use crate::workload::devices::{groups, is_memory_unlimited, is_reservation};
use crate::workload::is_over;

/// A reservation pod says its device within this time, or something is wrong.
const SILENT_SECONDS: i64 = 60;

fn users(facts: &Facts) -> Result<BTreeSet<(&str, &str)>, Unread> {
    let pods = facts.list(Source::Pods)?.iter().filter(|pod| !is_reservation(pod) && !is_over(pod));
    Ok(pods
        .flat_map(|pod| {
            groups(pod).into_iter().map(|group| (text(&pod["spec"]["nodeName"]), group))
        })
        .collect())
}

fn reservations(facts: &Facts) -> Result<impl Iterator<Item = &Value>, Unread> {
    Ok(facts.list(Source::Pods)?.iter().filter(|pod| is_reservation(pod)))
}

fn key(pod: &Value) -> (&str, &str) {
    (text(&pod["spec"]["nodeName"]), label_of(pod, label::GPU_GROUP))
}

/// Reservations whose device nobody shares any more.
pub(super) fn orphans(facts: &Facts) -> Result<Verdict, Unread> {
    let users = users(facts)?;
    let mut all = 0;
    let mut wrong = Vec::new();
    for pod in reservations(facts)? {
        all += 1;
        if !users.contains(&key(pod)) && facts.age(pod) > SILENT_SECONDS {
            wrong.push(format!("{} on {}", place(pod), text(&pod["spec"]["nodeName"])));
        }
    }
    let bad = |count: usize| format!("GPUs reserved for shares that nobody uses: {count}");
    let fix = wrong.first().map_or_else(String::new, |first| {
        let name = first.split([' ', '/']).nth(1).unwrap_or_default();
        format!(
            "kubectl delete pod -n {} {name}   (the scheduler does so by itself while it runs)",
            namespace::RESERVATION
        )
    });
    Ok(Verdict::of(wrong, Level::Warning, bad, format!("{all} reserved GPUs, all are used"))
        .fix(fix))
}

/// Reservations that never said which device they were given.
pub(super) fn silent(facts: &Facts) -> Result<Verdict, Unread> {
    let wrong = reservations(facts)?.filter(|pod| {
        annotation_of(pod, annotation::RESERVED_GPU).is_empty() && facts.age(pod) > SILENT_SECONDS
    });
    let wrong: Vec<String> = wrong
        .map(|pod| {
            format!(
                "{} on {}: {}",
                place(pod),
                text(&pod["spec"]["nodeName"]),
                text(&pod["status"]["phase"])
            )
        })
        .collect();
    let bad = |count: usize| {
        format!("reservations that say no device (whoever shares it waits): {count}")
    };
    Ok(Verdict::of(wrong, Level::Error, bad, "every reservation says its device").fix(format!(
        "kubectl describe pods -n {}   (image, runtime class nvidia, device plugin)",
        namespace::RESERVATION
    )))
}

/// Pods that share a device which nothing reserves.
pub(super) fn unreserved(facts: &Facts) -> Result<Verdict, Unread> {
    let reserved: BTreeSet<(&str, &str)> =
        reservations(facts)?.filter(|pod| !is_over(pod)).map(key).collect();
    let wrong = users(facts)?
        .into_iter()
        .filter(|(node, group)| !node.is_empty() && !reserved.contains(&(*node, *group)));
    let wrong: Vec<String> =
        wrong.map(|(node, group)| format!("group {group} on {node}")).collect();
    let bad = |count: usize| {
        format!(
            "shared GPUs that nobody holds (the device plugin may give them to others): {count}"
        )
    };
    Ok(Verdict::of(wrong, Level::Error, bad, "every shared GPU is reserved").fix(format!(
        "the scheduler ends such pods by itself while it runs: {}",
        facts.install(" status")
    )))
}

/// Shares whose memory nobody limits.
pub(super) fn isolation(facts: &Facts) -> Result<Verdict, Unread> {
    let pods = facts.list(Source::Pods)?.iter().filter(|pod| {
        !is_reservation(pod) && !is_over(pod) && !groups(pod).is_empty() && is_memory_unlimited(pod)
    });
    let count = pods.count();
    if count > 0 {
        return Ok(Verdict::ok(format!(
            "pods that share a GPU without a limit that the driver knows: {count}; a share is what the scheduler counts, each must keep to it itself"
        )));
    }
    Ok(Verdict::ok("no pod shares a GPU without a limit of its memory"))
}
