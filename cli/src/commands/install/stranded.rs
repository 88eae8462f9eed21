//! Says of a switch from KAI that failed what schedules now, and how to go on or back.

use super::apply::Replicas;
use super::manifest::{Item, Options};
use super::plan::Plan;
use super::{adopted, kai_v017, plan, preflight};
use crate::cluster::Cluster;
use crate::print::error::{Error, Exit};

/// Adds to what ended an installation that nobody schedules, where it has taken KAI out and ours does not run.
pub(super) async fn told(
    cluster: &Cluster,
    kai: &kai_v017::Installation,
    plan: &Plan,
    options: &Options,
    error: Error,
) -> Error {
    let Error::Problems(mut problems) = error else { return error };
    let was_switched =
        !kai.is_empty() || matches!(adopted::read(cluster, &options.namespace).await, Ok(Some(_)));
    if !was_switched || do_ours_run(cluster, plan).await {
        return Error::Problems(problems);
    }
    let line = state(left(cluster, kai).await, kai.deployments().len());
    let flag = preflight::namespace_flag(&options.namespace);
    for problem in &mut problems {
        problem.exit = Exit::NoScheduler;
    }
    if let Some(last) = problems.last_mut() {
        last.lines.push(line);
        last.lines.push("to go on: the same command again".to_owned());
        last.lines.push(format!("the way back: kubectl kai install release{flag}"));
    }
    Error::Problems(problems)
}

/// Says who schedules, as so many of KAI's Deployments are left.
fn state(left: Option<usize>, all: usize) -> String {
    match left {
        Some(0) => {
            "KAI's daemons are gone and ours do not run yet: nobody schedules now".to_owned()
        }
        Some(left) if left == all => {
            "KAI's daemons are still there; its webhooks may be gone".to_owned()
        }
        Some(left) => format!(
            "{left} of {all} Deployments of KAI are left and ours do not run yet: nobody may schedule now"
        ),
        None => {
            "KAI's daemons may be gone, and ours do not run yet: nobody may schedule now".to_owned()
        }
    }
}

/// Counts the Deployments of KAI that are still there; `None` where that cannot be read.
async fn left(cluster: &Cluster, kai: &kai_v017::Installation) -> Option<usize> {
    let mut left = 0;
    for found in kai.deployments() {
        let live = cluster.get(&found.call("get")).await.ok()?;
        left += usize::from(live.is_some_and(|live| found.is_same(&live)));
    }
    Some(left)
}

/// Tells whether all daemons of a plan are ready.
async fn do_ours_run(cluster: &Cluster, plan: &Plan) -> bool {
    let is_deployment = |item: &&Item| item.resource.kind == "Deployment";
    let mut count = 0;
    for item in plan.entries.iter().map(|entry| &entry.item).filter(is_deployment) {
        let live = cluster.get(&plan::call(item, "get")).await.ok().flatten();
        if !live.is_some_and(|live| plan::is_ours(&live) && Replicas::of(&live).is_ready) {
            return false;
        }
        count += 1;
    }
    count > 0
}
