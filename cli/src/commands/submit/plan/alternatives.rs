//! Describes what else could be asked for: each is tried by the scheduler's own code, and told with its cost.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cluster::queue::count;
use crate::commands::submit::args::{Args, DryRun};
use crate::commands::submit::request::Request;
use crate::commands::submit::{documents, prepare};
use crate::context::Context;
use crate::plan::{Outcome, Situation, Start, Wish, in_namespace};

/// Queues that are tried at most.
const QUEUES_MAX: usize = 8;
/// A class that may preempt work of the usual one, and may be preempted itself.
const PRIORITY: &str = "build-preemptible";

/// Another way to ask.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Alternative {
    /// The flags that differ.
    pub(super) flags: String,
    pub(super) start: Start,
    /// Holds what is given up for it.
    pub(super) cost: String,
}

/// Tries them; those that start sooner are kept.
pub(super) async fn try_all(
    args: &Args,
    outcome: &Outcome,
    situation: &mut Situation,
    namespace: &str,
    context: &mut Context,
) -> Vec<Alternative> {
    let mut found = Vec::new();
    for (flags, cost, other) in candidates(args, outcome) {
        let Some(tried) = outcome_of(&other, situation, namespace, context).await else {
            continue;
        };
        let (Some(was), Some(is)) = (outcome.workloads.first(), tried.workloads.first()) else {
            continue;
        };
        if rank(&is.start) >= rank(&was.start) {
            continue;
        }
        let lost: Vec<String> = tried
            .evicted
            .iter()
            .map(|victim| format!("evicts {} ({})", victim.name, count(&victim.gpus, "GPU")))
            .collect();
        let cost = [vec![cost], lost].concat().into_iter().filter(|part| !part.is_empty());
        let cost = cost.collect::<Vec<_>>().join(", ");
        found.push(Alternative { flags, start: is.start.clone(), cost });
    }
    // Of sizes that start alike the largest is enough.
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|one| {
        let flag = one.flags.split(' ').next().unwrap_or_default().to_owned();
        flag == "-q" || seen.insert((flag, rank(&one.start)))
    });
    found
}

/// Sooner is smaller.
fn rank(start: &Start) -> (u8, i64) {
    match start {
        Start::Running | Start::Now => (0, 0),
        Start::AfterEvictions => (1, 0),
        Start::Later { latest_seconds: Some(latest), .. } => (2, *latest),
        Start::Later { latest_seconds: None, earliest_seconds } => (3, *earliest_seconds),
        Start::Unknown => (4, 0),
        Start::Never => (5, 0),
    }
}

/// The flags that differ, what is given up, and all flags.
fn candidates(args: &Args, outcome: &Outcome) -> Vec<(String, String, Args)> {
    let mut all = Vec::new();
    let workers: u32 = args.workers.as_deref().and_then(|text| text.parse().ok()).unwrap_or(1);
    let gpus: Option<u32> = args.gpu.as_deref().and_then(|text| text.parse().ok());
    if args.filename.is_empty() {
        let mut fewer = workers;
        while fewer > 1 {
            fewer = fewer.div_ceil(2).min(fewer - 1);
            let other = Args { workers: Some(fewer.to_string()), min: None, ..args.clone() };
            all.push((
                format!("--workers {fewer}"),
                format!("{fewer}/{workers} of the pods"),
                other,
            ));
        }
        let mut less = gpus.unwrap_or(0);
        while less > 1 {
            less /= 2;
            let of = gpus.unwrap_or(0);
            let other = Args { gpu: Some(less.to_string()), ..args.clone() };
            all.push((
                format!("--gpu {less}"),
                format!("{less}/{of} of the GPUs of each pod"),
                other,
            ));
        }
        let is_split = gpus.is_some_and(|gpus| gpus > 1 && gpus.is_multiple_of(2));
        if let (true, Some(gpus)) = (is_split, gpus) {
            let (twice, half) = (workers * 2, gpus / 2);
            let (workers, gpu) = (Some(twice.to_string()), Some(half.to_string()));
            let other = Args { workers, gpu, min: None, ..args.clone() };
            let flags = format!("--workers {twice} --gpu {half}");
            all.push((flags, "the same GPUs in smaller pods".to_owned(), other));
        }
    }
    let is_of_topology = |text: &String| text.starts_with("kai.scheduler/topology");
    if args.annotation.iter().any(is_of_topology) || args.placement.topology.is_some() {
        let mut other = args.clone();
        other.annotation.retain(|text| !is_of_topology(text));
        other.placement.topology = None;
        let flags = "without the topology constraint".to_owned();
        all.push((flags, "pods may be far apart".to_owned(), other));
    }
    let own = outcome.workloads.first().map_or("", |fate| &*fate.queue);
    let queues = outcome.queues.iter().filter(|share| share.is_leaf && share.queue != own);
    for share in queues.take(QUEUES_MAX) {
        let other = Args { queue: Some(share.queue.clone()), ..args.clone() };
        all.push((format!("-q {}", share.queue), "another queue's share".to_owned(), other));
    }
    if args.priority.is_none() {
        let other = Args { priority: Some(PRIORITY.to_owned()), ..args.clone() };
        all.push((format!("--priority {PRIORITY}"), String::new(), other));
    }
    all
}

/// Returns what would be; none where such flags are refused.
async fn outcome_of(
    args: &Args,
    situation: &mut Situation,
    namespace: &str,
    context: &mut Context,
) -> Option<Outcome> {
    let mut request = Request::read(args, &context.settings, &context.env).ok()?;
    // Which topology has a level only the cluster tells.
    let asks = args.placement.topology.is_some();
    let dry_run = if asks { DryRun::Plan } else { DryRun::Client };
    let documents = documents(args, dry_run, &mut request, context).await;
    let (mut documents, _) = documents.ok()?;
    prepare(&mut documents, &request, context).ok()?;
    let planned = documents.into_iter().filter(super::is_planned);
    let objects: Vec<_> = planned.map(|one| in_namespace(one.object, namespace)).collect();
    let horizon_seconds = crate::plan::words::HORIZON_SECONDS;
    situation.plan(&Wish { objects: &objects, horizon_seconds, ..Wish::default() }).ok()
}
