//! `kubectl kai explain node/NAME`: what is free on a node, who has the rest, and what keeps pods away.

use serde_json::{Value, json};

use super::answer::{Answer, Way};
use super::page;
use crate::cluster::gpu::{self, Total};
use crate::cluster::json::text;
use crate::cluster::queue::count;
use crate::cluster::{Call, Resource, Select, names};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::{self, Format};
use crate::print::output::{Style, clean};
use crate::workload::devices::is_reservation;
use crate::workload::is_over;

/// Pods that are named.
const PODS_SHOWN: usize = 8;

/// Explains a node.
pub(super) async fn show(
    name: &str,
    format: &Format,
    context: &mut Context,
) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    let resource = Resource::new("v1", "Node", "nodes").cluster_wide();
    let call = Call::new("get", &resource).name(name);
    let node = cluster.get(&call).await.map_err(|failure| cluster.explain(&call, &failure))?;
    let Some(node) = node else {
        let what = format!("there is no node \"{name}\"");
        let problem = Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what);
        return Err(problem.fix("kubectl kai top nodes").into());
    };
    let pods = names::pods();
    let fields = format!("spec.nodeName={name}");
    let pods = cluster
        .list(&Call::new("list", &pods), &Select { labels: "", fields: &fields })
        .await
        .ok()
        .flatten();
    let answer = answer(name, &node, pods.as_deref());
    let data = json!({"node": name, "answer": answer.headline, "more": answer.more,
        "evidence": answer.evidence, "notKnown": answer.note});
    if format::report(&data, format, &mut context.out)? {
        return Ok(Exit::Ok);
    }
    if *format == Format::Name {
        return context.out.data(&format!("node/{}", clean(name))).map(|()| Exit::Ok);
    }
    context.out.raw(&page(&answer, context.out.columns()))?;
    Ok(Exit::Ok)
}

/// Returns what is known of a node. Pure.
fn answer(name: &str, node: &Value, pods: Option<&[Value]>) -> Answer {
    let gpus_milli = gpus_milli(node);
    let mut held = Total::default();
    // A reservation holds a device for those who share it, who are counted.
    let holds = |pod: &&Value| !is_over(pod) && !is_reservation(pod);
    let live: Vec<&Value> = pods.into_iter().flatten().filter(holds).collect();
    for pod in &live {
        held.add(&Total::of_pod(pod), 1);
    }
    let closed = closed(node);
    let taints = taints(node);
    let free_milli = gpus_milli.saturating_sub(held.milli);
    let free = match pods {
        None => "who has them is not known".to_owned(),
        Some(_) if held.memory_mib > 0 => format!("{held} are held"),
        Some(_) => format!("{} of {} are free", gpu::devices(free_milli), gpu::devices(gpus_milli)),
    };
    let headline = match closed.as_deref() {
        Some(why) => format!("{name} takes no new pods: {why}"),
        None if gpus_milli == 0 => format!("{name} has no GPU"),
        None => format!("{name} has {}: {free}", count(gpu::devices(gpus_milli), "GPU")),
    };
    let mut more = Vec::new();
    if closed.is_some() && gpus_milli > 0 {
        more.push(format!("It has {}: {free}.", count(gpu::devices(gpus_milli), "GPU")));
    }
    if !taints.is_empty() {
        more.push(format!("Only pods that tolerate {} go there.", taints.join(", ")));
    }
    let mut evidence = holders(&live);
    let product = text(&node["metadata"]["labels"][names::GPU_PRODUCT]);
    if !product.is_empty() {
        evidence.insert(0, ("GPUs", product.to_owned()));
    }
    let ways = if node["spec"]["unschedulable"] == true {
        let command = Some(format!("kubectl uncordon {name}"));
        vec![Way { admin: true, ..Way::new("open it", "what it was closed for", command) }]
    } else {
        Vec::new()
    };
    let note = pods.is_none().then(|| "Not read, for want of rights: the pods on it.".to_owned());
    let style = if closed.is_some() { Style::Warn } else { Style::Bold };
    Answer { headline, style, more, evidence, ways, note, ..Answer::default() }
}

fn gpus_milli(node: &Value) -> u64 {
    let there = &node["status"]["allocatable"];
    let of = |name: &str| text(&there[name]).parse::<u64>().unwrap_or(0).saturating_mul(1000);
    of(names::GPU).saturating_add(of(names::AMD_GPU))
}

/// Says why it takes no new pods; none where it does.
fn closed(node: &Value) -> Option<String> {
    if node["spec"]["unschedulable"] == true {
        return Some("it is cordoned".to_owned());
    }
    let conditions = node["status"]["conditions"].as_array()?;
    let status = |kind: &str| {
        let condition = conditions.iter().find(|one| text(&one["type"]) == kind)?;
        Some((text(&condition["status"]), text(&condition["message"])))
    };
    match status("Ready") {
        Some(("True", _)) => {}
        Some((_, message)) => return Some(format!("it is not ready ({message})")),
        None => return Some("it has not said that it is ready".to_owned()),
    }
    let pressures = ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"];
    let pressure = pressures.iter().find(|kind| status(kind).is_some_and(|(is, _)| is != "False"));
    pressure.map(|kind| format!("it has {kind}"))
}

/// Taints that keep pods away.
fn taints(node: &Value) -> Vec<String> {
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let each = taints.filter(|taint| text(&taint["effect"]) != "PreferNoSchedule").map(|taint| {
        let (key, value) = (text(&taint["key"]), text(&taint["value"]));
        let value = if value.is_empty() { String::new() } else { format!("={value}") };
        format!("{key}{value}:{}", text(&taint["effect"]))
    });
    each.collect()
}

/// Says who holds GPUs there, the most first.
fn holders(pods: &[&Value]) -> Vec<(&'static str, String)> {
    let mut holders: Vec<(Total, &Value)> = pods
        .iter()
        .map(|pod| (Total::of_pod(pod), *pod))
        .filter(|(total, _)| !total.is_zero())
        .collect();
    holders.sort_by_key(|(total, pod)| {
        (std::cmp::Reverse(total.milli), text(&pod["metadata"]["name"]).to_owned())
    });
    let named = holders.iter().take(PODS_SHOWN).enumerate().map(|(at, (total, pod))| {
        let meta = &pod["metadata"];
        let other = text(&pod["spec"]["schedulerName"]);
        let other = if other == names::SCHEDULER {
            String::new()
        } else {
            format!(" (scheduled by {other})")
        };
        let text =
            format!("{}/{}: {total} GPU{other}", text(&meta["namespace"]), text(&meta["name"]));
        (if at == 0 { "Held by" } else { "" }, text)
    });
    let mut rows: Vec<(&'static str, String)> = named.collect();
    if holders.len() > PODS_SHOWN {
        rows.push(("", format!("and {}", count(holders.len() - PODS_SHOWN, "other pod"))));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(node: &Value, pods: Option<&[Value]>, expect: &[&str]) {
        let answer = answer("n", node, pods);
        let mut said = vec![answer.headline];
        said.extend(answer.more);
        said.extend(answer.evidence.into_iter().map(|(_, text)| text));
        assert_eq!(said, expect);
    }

    #[test]
    fn a_node_says_what_is_free_and_what_keeps_pods_away() {
        let ready = json!([{"type": "Ready", "status": "True"}]);
        let open = json!({"status": {"allocatable": {"nvidia.com/gpu": "8"}, "conditions": ready}});
        let pod = json!({"metadata": {"namespace": "a", "name": "p"}, "spec": {"schedulerName": "kai-scheduler",
            "containers": [{"resources": {"limits": {"nvidia.com/gpu": "3"}}}]}});
        check(&open, Some(&[pod]), &["n has 8 GPUs: 5 of 8 are free", "a/p: 3 GPU"]);
        let share = |name: &str| {
            json!({"metadata": {"namespace": "a", "name": name, "annotations": {"gpu-fraction": "0.5"},
                "labels": {"runai-gpu-group": "g"}}, "spec": {"schedulerName": "kai-scheduler"}})
        };
        let reservation = json!({
            "metadata": {"namespace": "kai-resource-reservation", "name": "r",
                "labels": {"app": "kai-resource-reservation", "runai-gpu-group": "g"}},
            "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]}});
        check(
            &open,
            Some(&[reservation, share("p"), share("q")]),
            &["n has 8 GPUs: 7 of 8 are free", "a/p: 0.5 GPU", "a/q: 0.5 GPU"],
        );
        check(&open, None, &["n has 8 GPUs: who has them is not known"]);
        let mut closed = open.clone();
        closed["spec"] = json!({"unschedulable": true,
            "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]});
        check(
            &closed,
            Some(&[]),
            &[
                "n takes no new pods: it is cordoned",
                "It has 8 GPUs: 8 of 8 are free.",
                "Only pods that tolerate gpu=yes:NoSchedule go there.",
            ],
        );
    }
}
