//! Checks of gangs and pods.

use std::collections::{BTreeMap, BTreeSet};

use kai_api::names::annotation;
use serde_json::Value;

use super::facts::{Facts, Source, annotation as annotation_of, condition, each, place};
use super::finding::{Level, Unread, Verdict};
use crate::cluster::json::text;
use crate::workload::is_over;

/// The podgrouper and the scheduler look at a new pod within seconds.
const UNSEEN_SECONDS: i64 = 60;
/// A controller that makes its pods later than that has a fault.
const EMPTY_SECONDS: i64 = 600;
/// A pod may take its grace period to end, and not much longer.
const ENDING_SECONDS: i64 = 300;

fn is_ours(pod: &Value) -> bool {
    text(&pod["spec"]["schedulerName"]) == kai_api::names::SCHEDULER_NAME
}

fn waits(pod: &Value) -> bool {
    is_ours(pod)
        && text(&pod["spec"]["nodeName"]).is_empty()
        && !is_over(pod)
        && pod["metadata"]["deletionTimestamp"].is_null()
}

fn is_gated(pod: &Value) -> bool {
    each(pod, "/spec/schedulingGates").next().is_some()
}

/// Pods that the podgrouper left without a group.
pub(super) fn ungrouped(facts: &Facts) -> Result<Verdict, Unread> {
    let pods = facts.list(Source::Pods)?.iter().filter(|pod| {
        waits(pod)
            && facts.age(pod) > UNSEEN_SECONDS
            && annotation_of(pod, annotation::POD_GROUP).is_empty()
            && annotation_of(pod, annotation::SKIP_PODGROUPER) != "true"
    });
    let wrong: Vec<String> =
        pods.map(|pod| format!("{}, {}s old", place(pod), facts.age(pod))).collect();
    let bad = |count: usize| {
        format!(
            "pods that wait without a PodGroup (the podgrouper does not work, or may not read their owners): {count}"
        )
    };
    Ok(Verdict::of(wrong, Level::Error, bad, "every waiting pod has its PodGroup")
        .fix(format!("kubectl get events --field-selector reason=PodGrouperWarning -A; kubectl logs -n {} deploy/kai-podgrouper", facts.system)))
}

/// Pods that the scheduler has said nothing of.
pub(super) fn unseen(facts: &Facts) -> Result<Verdict, Unread> {
    let pods = facts.list(Source::Pods)?.iter().filter(|pod| {
        waits(pod)
            && !is_gated(pod)
            && facts.age(pod) > UNSEEN_SECONDS
            && condition(pod, "PodScheduled").is_empty()
    });
    let wrong: Vec<String> =
        pods.map(|pod| format!("{}, {}s old", place(pod), facts.age(pod))).collect();
    let bad = |count: usize| {
        format!(
            "pods of which the scheduler has said nothing for over {UNSEEN_SECONDS}s (it does not run, or its cycle is stuck): {count}"
        )
    };
    Ok(Verdict::of(wrong, Level::Error, bad, "the scheduler has answered every waiting pod").fix(
        format!(
            "{}; kubectl logs -n {} -l app=kai-scheduler-default",
            facts.install(" status"),
            facts.system
        ),
    ))
}

/// Gangs that wait for somebody to lift a gate.
pub(super) fn gates(facts: &Facts) -> Result<Verdict, Unread> {
    let pods = facts
        .list(Source::Pods)?
        .iter()
        .filter(|pod| waits(pod) && is_gated(pod) && facts.age(pod) > EMPTY_SECONDS);
    let wrong: Vec<String> = pods
        .map(|pod| {
            let gates: Vec<&str> =
                each(pod, "/spec/schedulingGates").map(|gate| text(&gate["name"])).collect();
            format!("{} waits for {}", place(pod), gates.join(", "))
        })
        .collect();
    let bad = |count: usize| {
        format!("pods held by scheduling gates for over {}m: {count}", EMPTY_SECONDS / 60)
    };
    Ok(Verdict::of(wrong, Level::Warning, bad, "no pod is held by a gate for long")
        .fix("ask who sets that gate (its name says the controller); no scheduler may lift it"))
}

/// `PodGroup`s that have no pods.
pub(super) fn empty_groups(facts: &Facts) -> Result<Verdict, Unread> {
    let used: BTreeSet<(&str, &str)> = facts
        .list(Source::Pods)?
        .iter()
        .map(|pod| (text(&pod["metadata"]["namespace"]), annotation_of(pod, annotation::POD_GROUP)))
        .collect();
    let groups = facts.list(Source::PodGroups)?.iter().filter(|group| {
        let key = (text(&group["metadata"]["namespace"]), text(&group["metadata"]["name"]));
        !used.contains(&key)
            && facts.age(group) > EMPTY_SECONDS
            && each(group, "/metadata/ownerReferences").next().is_none()
    });
    let wrong: Vec<String> = groups.map(place).collect();
    let bad = |count: usize| {
        format!("PodGroups with neither pods nor an owner that would delete them: {count}")
    };
    let fix = wrong.first().map_or_else(String::new, |first| {
        let (namespace, name) = first.split_once('/').unwrap_or_default();
        format!("kubectl delete podgroup -n {namespace} {name}")
    });
    Ok(Verdict::of(wrong, Level::Warning, bad, "no PodGroup is left over").fix(fix))
}

/// Pods that don't end, and keep what they hold.
pub(super) fn ending(facts: &Facts) -> Result<Verdict, Unread> {
    let pods = facts.list(Source::Pods)?.iter().filter_map(|pod| {
        let seconds = facts.seconds_since(&pod["metadata"]["deletionTimestamp"])?;
        let is_stuck =
            is_ours(pod) && !text(&pod["spec"]["nodeName"]).is_empty() && seconds > ENDING_SECONDS;
        is_stuck.then(|| {
            format!(
                "{} on {} should have ended {}m ago",
                place(pod),
                text(&pod["spec"]["nodeName"]),
                seconds / 60
            )
        })
    });
    let bad = |count: usize| format!("pods that don't end and keep their devices: {count}");
    Ok(Verdict::of(pods.collect(), Level::Warning, bad, "every pod ends in time")
        .fix("look at the node and at finalizers; where the node is lost: kubectl delete pod NAME --grace-period=0 --force"))
}

/// Gangs of which a part runs.
pub(super) fn broken_gangs(facts: &Facts) -> Result<Verdict, Unread> {
    let mut running: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for pod in facts
        .list(Source::Pods)?
        .iter()
        .filter(|pod| is_ours(pod) && !is_over(pod) && !text(&pod["spec"]["nodeName"]).is_empty())
    {
        let key = (text(&pod["metadata"]["namespace"]), annotation_of(pod, annotation::POD_GROUP));
        *running.entry(key).or_default() += 1;
    }
    let wrong = facts.list(Source::PodGroups)?.iter().filter_map(|group| {
        let key = (text(&group["metadata"]["namespace"]), text(&group["metadata"]["name"]));
        let count = *running.get(&key)?;
        let min = group["spec"]["minMember"].as_u64().unwrap_or(1);
        let stale = annotation_of(group, annotation::STALE_SINCE);
        (count < min && !stale.is_empty())
            .then(|| format!("{}: {count} of at least {min} pods, since {stale}", place(group)))
    });
    let bad = |count: usize| format!("gangs that run with fewer pods than they need: {count}");
    Ok(Verdict::of(wrong.collect(), Level::Warning, bad, "every gang that runs is whole")
        .fix("kubectl kai describe NAME; the scheduler evicts such a gang after its grace period"))
}

/// Binds that failed, and stay so.
pub(super) fn binds(facts: &Facts) -> Result<Verdict, Unread> {
    let requests = facts.list(Source::BindRequests)?;
    let wrong = requests.iter().filter(|request| request["status"]["phase"] == "Failed");
    let wrong =
        wrong.map(|request| format!("{}: {}", place(request), text(&request["status"]["reason"])));
    let bad = |count: usize| format!("BindRequests that failed: {count}");
    Ok(Verdict::of(
        wrong.collect(),
        Level::Warning,
        bad,
        format!("{} BindRequests, none failed", requests.len()),
    )
    .fix("kubectl describe bindrequest NAME; the scheduler tries again by itself"))
}
