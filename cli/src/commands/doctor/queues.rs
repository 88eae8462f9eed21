//! Checks of queues.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::queue::count;
use kai_api::names::{label, resource};
use serde_json::Value;

use super::facts::{Facts, Source, devices, label as label_of, place};
use super::finding::{Level, Unread, Verdict};
use crate::cluster::gpu;
use crate::cluster::json::text;
use crate::cluster::queue::{Amount, is_held};
use crate::workload::is_over;

const GPU: &str = "/spec/resources/gpu";

fn name(queue: &Value) -> &str {
    text(&queue["metadata"]["name"])
}

fn parent(queue: &Value) -> &str {
    text(&queue["spec"]["parentQueue"])
}

/// An amount of a queue's GPUs; absent is 0, as the scheduler reads it.
fn amount(queue: &Value, field: &str) -> Amount {
    queue.pointer(GPU).map_or(Amount::Milli(0), |gpu| Amount::read(&gpu[field]))
}

/// The quota of a queue where it is a number, in thousandths of a GPU.
fn quota_milli(queue: &Value) -> u64 {
    amount(queue, "quota").milli().unwrap_or(0)
}

/// There are queues, and every parent is there.
pub(super) fn parents(facts: &Facts) -> Result<Verdict, Unread> {
    let queues = facts.list(Source::Queues)?;
    if queues.is_empty() {
        return Ok(Verdict::error("there is no queue: nothing can be scheduled")
            .fix("kubectl kai queues create team-a --gpu-quota 8"));
    }
    let known: BTreeMap<&str, &Value> = queues.iter().map(|queue| (name(queue), queue)).collect();
    let wrong = queues.iter().filter_map(|queue| {
        let above = parent(queue);
        if above.is_empty() {
            return None;
        }
        if !known.contains_key(above) {
            return Some(format!("{} is below {above}, which does not exist", name(queue)));
        }
        let (mut at, mut steps) = (above, 0);
        while let Some(next) =
            known.get(at).map(|queue| parent(queue)).filter(|next| !next.is_empty())
        {
            (at, steps) = (next, steps + 1);
            if steps > known.len() {
                return Some(format!("{} is below itself", name(queue)));
            }
        }
        None
    });
    let wrong: Vec<String> = wrong.collect();
    let bad = |count: usize| {
        format!("queues without a place in the tree (their work is not scheduled): {count}")
    };
    Ok(Verdict::of(
        wrong,
        Level::Error,
        bad,
        format!("{}, all in one tree", count(queues.len(), "queue")),
    )
    .fix("kubectl kai queues create PARENT; or kubectl kai queues move QUEUE --parent PARENT"))
}

/// Queues that can give no GPU at all, which nobody means unless they are held.
pub(super) fn zero_limits(facts: &Facts) -> Result<Verdict, Unread> {
    let queues = facts.list(Source::Queues)?;
    let wrong: Vec<String> = queues
        .iter()
        .filter(|queue| amount(queue, "limit") == Amount::Milli(0) && !is_held(queue))
        .map(|queue| format!("{}: gpu.limit is 0 or not set, which counts as 0", name(queue)))
        .collect();
    let first =
        wrong.first().and_then(|line| line.split(':').next()).unwrap_or_default().to_owned();
    let bad = |count: usize| format!("queues that can give no GPU, whatever is free: {count}");
    Ok(Verdict::of(wrong, Level::Warning, bad, "no queue has a limit of 0")
        .fix(format!("kubectl kai queues set {first} --gpu-limit=-1   (-1: no limit)")))
}

/// Limits below quotas.
pub(super) fn limits(facts: &Facts) -> Result<Verdict, Unread> {
    let queues = facts.list(Source::Queues)?;
    let wrong = queues.iter().filter_map(|queue| {
        let (quota, limit) = (amount(queue, "quota"), amount(queue, "limit"));
        let limit_milli = limit.milli().filter(|milli| *milli > 0)?;
        let is_below = quota.milli().is_none_or(|quota| limit_milli < quota);
        is_below
            .then(|| format!("{}: limit {}, quota {}", name(queue), limit.words(), quota.words()))
    });
    let bad = |count: usize| {
        format!("queues whose limit is below their quota, which they never get: {count}")
    };
    Ok(Verdict::of(wrong.collect(), Level::Warning, bad, "every limit is at least its quota")
        .fix("kubectl kai queues set QUEUE --gpu-limit N"))
}

/// Quotas of children against the quota of their parent.
pub(super) fn children(facts: &Facts) -> Result<Verdict, Unread> {
    let queues = facts.list(Source::Queues)?;
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for queue in queues {
        *sums.entry(parent(queue)).or_default() += quota_milli(queue);
    }
    let wrong = queues.iter().filter_map(|queue| {
        let (quota, sum) = (amount(queue, "quota").milli()?, *sums.get(name(queue))?);
        let (has, have) = (gpu::devices(quota), gpu::devices(sum));
        (sum > quota).then(|| format!("{}: quota {has}, its children have {have}", name(queue)))
    });
    let bad =
        |count: usize| format!("queues that promise their children more than they have: {count}");
    Ok(Verdict::of(
        wrong.collect(),
        Level::Warning,
        bad,
        "children have no more than their parents",
    )
    .fix("kubectl kai queues set QUEUE --gpu-quota N"))
}

/// Quotas at the top against the GPUs that there are.
pub(super) fn quotas(facts: &Facts) -> Result<Verdict, Unread> {
    let nodes = facts.list(Source::Nodes)?;
    let there: u64 = nodes
        .iter()
        .map(|node| {
            devices(node, "allocatable", resource::NVIDIA_GPU)
                + devices(node, "allocatable", resource::AMD_GPU)
        })
        .sum();
    let top = facts.list(Source::Queues)?.iter().filter(|queue| parent(queue).is_empty());
    let promised_milli: u64 = top.map(quota_milli).sum();
    let promised = gpu::devices(promised_milli);
    if there > 0 && promised_milli > there * 1_000 {
        return Ok(Verdict::warning(format!("queues at the top have a quota of {} together, and {there} are there: not everybody can have what is theirs at once", count(promised, "GPU")))
            .fix("kubectl kai queues   (then lower some: kubectl kai queues set QUEUE --gpu-quota N)"));
    }
    Ok(Verdict::ok(format!(
        "{promised} of {} somebody's quota",
        if there == 1 { "1 GPU is".to_owned() } else { format!("{there} GPUs are") }
    )))
}

/// Work that names a queue that is not there, or has queues below it.
pub(super) fn named(facts: &Facts) -> Result<Verdict, Unread> {
    let queues = facts.list(Source::Queues)?;
    let known: BTreeSet<&str> = queues.iter().map(name).collect();
    let above: BTreeSet<&str> = queues.iter().map(parent).collect();
    let mut wrong = Vec::new();
    for group in facts.list(Source::PodGroups)? {
        let queue = text(&group["spec"]["queue"]);
        // Work without a queue is found by its pods.
        if queue.is_empty() {
            continue;
        }
        if !known.contains(queue) {
            wrong.push(format!("{}: queue {queue} does not exist", place(group)));
        } else if above.contains(queue) {
            wrong.push(format!(
                "{}: queue {queue} has queues below it; work goes into one of those",
                place(group)
            ));
        }
    }
    let bad =
        |count: usize| format!("workloads that wait in a queue that can't serve them: {count}");
    Ok(Verdict::of(wrong, Level::Error, bad, "every workload is in a queue that can serve it")
        .fix("kubectl kai queues; then submit again with --queue, or make the queue"))
}

/// Pods of our scheduler that nobody put into a queue.
pub(super) fn without(facts: &Facts) -> Result<Verdict, Unread> {
    let has_default = facts
        .list(Source::Queues)?
        .iter()
        .any(|queue| name(queue) == kai_api::names::queue::DEFAULT);
    let waits = facts.list(Source::Pods)?.iter().filter(|pod| {
        text(&pod["spec"]["schedulerName"]) == kai_api::names::SCHEDULER_NAME
            && text(&pod["spec"]["nodeName"]).is_empty()
            && !is_over(pod)
            && label_of(pod, label::QUEUE).is_empty()
    });
    let wrong: Vec<String> = waits.map(place).collect();
    if has_default {
        return Ok(Verdict::ok(format!(
            "waiting pods that name no queue and are in {1}: {0}",
            wrong.len(),
            kai_api::names::queue::DEFAULT
        )));
    }
    let bad = |count: usize| {
        format!(
            "pods that name the scheduler and no queue, where there is no {}: {count}",
            kai_api::names::queue::DEFAULT
        )
    };
    Ok(Verdict::of(wrong, Level::Warning, bad, "every waiting pod names a queue")
        .fix("kubectl label ns NAMESPACE kai.scheduler/queue=QUEUE; or kubectl kai queues create default-queue"))
}
