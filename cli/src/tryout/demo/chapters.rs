//! The chapters of the story. Each runs commands and waits until what it tells is true.

use std::time::{Duration, Instant};

use kai_sandbox::nodes::VISIBLE_DEVICES;

use super::stage::{Stage, Stop};
use super::witness::{Seen, Witness};
use crate::print::error::Exit;
use crate::print::output::clean;
use crate::workload::one_full_stop;

/// Workloads that the story submits and that exist at its end.
pub(super) const WORKLOADS: usize = 7;

/// Tells all chapters.
pub(super) async fn all(stage: &mut Stage<'_>) -> Result<(), Stop> {
    gang(stage).await?;
    frameworks(stage).await?;
    notebooks(stage).await?;
    waiting(stage).await?;
    never(stage).await?;
    mistake(stage).await?;
    list(stage).await
}

async fn gang(stage: &mut Stage<'_>) -> Result<(), Stop> {
    stage.chapter(1, "A gang starts as one").await?;
    let words = "submit pytorch llama-ft -q team-a --workers 2 --gpu 4 --image pytorch -- torchrun train.py";
    stage.done(&words.split(' ').collect::<Vec<_>>()).await?;
    let start = stage.until("both pods to be bound", |seen| placed(seen, "llama-ft", 2)).await?;
    stage.tell(&format!(
        "2 of 2 pods bound together, {} after they existed: {}.",
        time(start.wait),
        start.places
    ))?;
    Ok(())
}

async fn frameworks(stage: &mut Stage<'_>) -> Result<(), Stop> {
    stage.chapter(2, "Any framework, one verb").await?;
    let words = "submit ray tune -q team-b --workers 3 --gpu 1 -- python tune.py";
    stage.done(&words.split(' ').collect::<Vec<_>>()).await?;
    let start =
        stage.until("the head and 3 workers to be bound", |seen| placed(seen, "tune", 4)).await?;
    stage.tell(&format!(
        "Head and 3 workers bound together, {}. The operator made the pods; the PodGroup came by itself.",
        time(start.wait)
    ))?;
    stage.done(&["submit", "-f", "etl.yaml", "-q", "prod"]).await?;
    stage
        .until("the first step to run", |seen| {
            seen.of("etl").any(|pod| pod.phase == "Running").then_some(())
        })
        .await?;
    stage.tell("An Argo Workflow, as it was written: step 1 of 3 runs; later steps queue when their turn comes.")?;
    Ok(())
}

async fn notebooks(stage: &mut Stage<'_>) -> Result<(), Stop> {
    stage.chapter(3, "Two notebooks on one GPU").await?;
    for name in ["ana", "ben"] {
        stage.done(&["submit", "notebook", name, "-q", "team-b", "--gpu", "0.5"]).await?;
    }
    let both = |seen: &Witness| {
        let of = |name| seen.of(name).find(|pod| pod.node.is_some()).cloned();
        of("ana").zip(of("ben"))
    };
    let (ana, ben) = stage.until("both notebooks to be bound", both).await?;
    if ana.node != ben.node || ana.devices != ben.devices {
        return Err(stage.missed(format!("they are on {} and {}", place(&ana), place(&ben))));
    }
    stage.tell(&format!("{}: ana 0.5, ben 0.5. Half a GPU each, of one device.", place(&ana)))?;
    let mut seen = Vec::new();
    for pod in [&ana, &ben] {
        let devices = stage.visible_devices(&pod.name).await?;
        stage.line(&format!("   {} sees {VISIBLE_DEVICES}={devices}", pod.workload))?;
        seen.push(devices);
    }
    if seen[0].is_empty() || seen[0] != seen[1] {
        return Err(stage.missed("they do not see the same device"));
    }
    Ok(())
}

async fn waiting(stage: &mut Stage<'_>) -> Result<(), Stop> {
    stage.chapter(4, "A gang that has to wait, and why").await?;
    let words = "submit pytorch big -q prod --workers 3 --gpu 8 --image pytorch";
    stage.done(&words.split(' ').collect::<Vec<_>>()).await?;
    let ((explanation, message), free) = stage
        .until("the scheduler to say why it waits", |seen| {
            Some((seen.said("big")?, seen.free_nodes()))
        })
        .await?;
    if stage.watcher.now().of("big").any(|pod| pod.node.is_some()) {
        return Err(stage.missed("a pod of the waiting gang holds GPUs"));
    }
    let sentence = &explanation.sentence;
    // The witness counts too.
    if !sentence.contains(&format!("it needs 3 whole nodes at once, {free} are free")) {
        return Err(
            stage.missed(format!("{free} nodes are free, and the scheduler says: {sentence}"))
        );
    }
    stage.tell(&format!("Pending: {}. It holds no GPU while it waits.", clean(sentence)))?;
    quote(stage, &message)?;
    stage.finish("llama-ft").await?;
    let start = stage.until("all 3 pods of big to be bound", |seen| placed(seen, "big", 3)).await?;
    let freed = stage.watcher.now().of("llama-ft").filter_map(|pod| pod.ended).max();
    let wait = freed.map_or(start.wait, |freed| start.last.saturating_duration_since(freed));
    stage.tell(&format!(
        "llama-ft finished; big started as one, {} after the GPUs were free: {}.",
        time(wait),
        start.places
    ))?;
    Ok(())
}

async fn never(stage: &mut Stage<'_>) -> Result<(), Stop> {
    stage.chapter(5, "One that can never run").await?;
    let words = "submit job huge -q prod --gpu 9 --image train --force";
    stage.done(&words.split(' ').collect::<Vec<_>>()).await?;
    let (explanation, message) =
        stage.until("the scheduler to say why it waits", |seen| seen.said("huge")).await?;
    if !explanation.never {
        return Err(stage.missed("the scheduler does not say that it can never run"));
    }
    stage.tell(&format!("Pending, and never runs as it is: {}.", clean(&explanation.sentence)))?;
    quote(stage, &message)
}

async fn mistake(stage: &mut Stage<'_>) -> Result<(), Stop> {
    stage.chapter(6, "A mistake").await?;
    let words = "submit job oops -q team-z --gpu 1.5 --image train";
    let said = stage.run(&words.split(' ').collect::<Vec<_>>()).await?;
    for line in said.stderr.lines() {
        stage.line(&format!("   {}", clean(line)))?;
    }
    if said.exit != Exit::Usage {
        return Err(
            stage.missed(format!("the command ended with code {}, not 2", said.exit.code()))
        );
    }
    Ok(())
}

async fn list(stage: &mut Stage<'_>) -> Result<(), Stop> {
    stage.chapter(7, "What there is now").await?;
    stage
        .until("the Workflow's three steps to have run", |seen| {
            let done = seen.of("etl").filter(|pod| pod.phase == "Succeeded").count();
            (done == 3).then_some(())
        })
        .await?;
    stage.done(&["list"]).await
}

/// A gang that is bound.
struct Start {
    /// From the moment at which the last pod existed to the last bind.
    wait: Duration,
    last: Instant,
    places: String,
}

fn placed(seen: &Witness, workload: &str, pods: usize) -> Option<Start> {
    let mut bound: Vec<&Seen> = seen.of(workload).filter(|pod| pod.bound.is_some()).collect();
    // A submitter belongs to the workload and not to the gang.
    bound.retain(|pod| pod.group.is_some());
    if bound.len() < pods {
        return None;
    }
    let appeared = bound.iter().map(|pod| pod.appeared).max()?;
    let last = bound.iter().filter_map(|pod| pod.bound).max()?;
    bound.sort_by(|a, b| (&a.node, &a.name).cmp(&(&b.node, &b.name)));
    let places: Vec<String> = bound
        .iter()
        .map(|pod| format!("{} {} GPUs", pod.node.as_deref().unwrap_or_default(), pod.gpus))
        .collect();
    Some(Start { wait: last.saturating_duration_since(appeared), last, places: places.join(", ") })
}

fn place(pod: &Seen) -> String {
    let device = pod.devices.first().map_or_else(|| "?".to_owned(), ToString::to_string);
    format!("{} GPU {device}", pod.node.as_deref().unwrap_or_default())
}

fn time(duration: Duration) -> String {
    if duration < Duration::from_secs(2) {
        format!("{} ms", duration.as_millis().max(1))
    } else {
        format!("{}.{} s", duration.as_secs(), duration.subsec_millis() / 100)
    }
}

/// The scheduler's own words.
fn quote(stage: &mut Stage<'_>, message: &str) -> Result<(), Stop> {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    stage.tell(&format!("The scheduler says: \"{}\"", clean(one_full_stop(&message))))?;
    Ok(())
}
