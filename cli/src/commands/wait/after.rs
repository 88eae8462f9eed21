//! Describes what is done once a workload is waited for no more: a command is run, and its own exit code is taken.

use serde_json::Value;
use tokio::process::Command;

use super::watch::Reached;
use crate::cluster::Cluster;
use crate::cluster::json::text;
use crate::commands::logs;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
use crate::workload::{Phase, Workload, casualty};

/// The word that takes the code of whoever failed first.
const FIRST: &str = "first";

/// Runs a command for a workload, with what is known of it in `KAI_NAME`, `KAI_NAMESPACE`, `KAI_KIND`, `KAI_STATE`,
/// `KAI_REASON` and `KAI_EXIT`; tells whether it did what it was to do. Its output goes where ours does.
///
/// # Errors
/// It cannot be started.
pub(super) async fn run(
    line: &str,
    reached: &Reached,
    context: &mut Context,
) -> Result<bool, Error> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).env_clear().envs(&context.env).current_dir(&context.dir);
    let reason = reached.state.as_ref().and_then(|state| state.reason.clone());
    let word = reached.state.as_ref().map_or("Deleted", |state| state.phase.word());
    command
        .env("KAI_NAME", &reached.target.name)
        .env("KAI_NAMESPACE", &reached.target.namespace)
        .env("KAI_KIND", &reached.target.kind)
        .env("KAI_STATE", word)
        .env("KAI_REASON", reason.unwrap_or_default())
        .env("KAI_EXIT", reached.exit.code().to_string());
    let ended = command.status().await.map_err(|error| {
        let what = format!("--exec \"{}\" cannot be started: {error}", clean(line));
        Problem::new(number::OTHER, Exit::Failure, what).fix("a command line for sh")
    })?;
    if !ended.success() {
        let name = clean(&reached.target.name).into_owned();
        context.out.warn(&format!("--exec for {name} failed: {ended}"));
    }
    Ok(ended.success())
}

/// Ends the waiting for one: with the code that was asked for, or as its goal was reached; a command that failed counts
/// where all else went well.
pub(super) fn end(reached: Exit, code: Option<Exit>, has_failed: bool) -> Exit {
    let end = code.unwrap_or(reached);
    match (end.code(), reached) {
        (0, Exit::Ok) if has_failed => Exit::Failure,
        (0, _) if has_failed => reached,
        _ => end,
    }
}

/// The code of whoever failed first; of what completed all the same, none did.
fn first(workload: &Workload, reached: Exit) -> Option<i64> {
    if workload.phase() == Phase::Succeeded {
        return Some(0);
    }
    match casualty::casualties(&workload.pods).first() {
        Some(first) => first.code,
        None => (reached == Exit::Ok).then_some(0),
    }
}

/// The exit code of a rank of a workload that has ended: of one that is named as `logs --rank` names it, or of the one
/// that failed first.
///
/// # Errors
/// There is no such rank, or what it ended with is not known.
pub(super) async fn code(from: &str, reached: &Reached, cluster: &Cluster) -> Result<Exit, Error> {
    let Some(workload) = &reached.workload else { return Ok(reached.exit) };
    if !reached.state.as_ref().is_some_and(|state| state.phase.is_over()) {
        return Ok(reached.exit);
    }
    let sources = logs::sources(workload, cluster).await?;
    let is_source =
        |pod: &&Value| sources.iter().any(|source| pod["metadata"]["name"] == source.pod.as_str());
    let code = if from == FIRST {
        first(workload, reached.exit)
    } else {
        let chosen = logs::chosen(&[from.to_owned()], None, sources.clone(), false)?;
        let pods = workload.pods.iter().filter(is_source);
        let named = |source: &logs::Source| {
            let mut pods = pods.clone();
            pods.find(|pod| text(&pod["metadata"]["name"]) == source.pod)
        };
        let codes = chosen.iter().map(|source| {
            named(source).and_then(|pod| casualty::exit_code(pod, &source.container))
        });
        let codes: Vec<Option<i64>> = codes.collect();
        // Of a role whoever failed speaks for it.
        let failed = codes.iter().find(|code| code.is_some_and(|code| code != 0));
        failed.or(codes.first()).copied().flatten()
    };
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.map(Exit::Command).ok_or_else(|| {
        let what = format!(
            "what {} of {} ended with is not known: its pods do not say it",
            clean(from),
            clean(&workload.name)
        );
        let exit = if reached.exit == Exit::Ok { Exit::Failure } else { reached.exit };
        Problem::new(number::WORKLOAD_NOT_FOUND, exit, what)
            .fix(format!("kubectl kai describe {}", clean(&workload.name)))
            .into()
    })
}

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;

    use super::*;
    use crate::commands::wait::Target;

    #[test]
    fn a_command_that_failed_is_a_failure_whatever_a_rank_ended_with() {
        for (reached, code, has_failed, expect) in [
            (Exit::Ok, Some(Exit::Command(0)), true, Exit::Failure),
            (Exit::Ok, None, true, Exit::Failure),
            (Exit::Ok, Some(Exit::Command(3)), true, Exit::Command(3)),
            (Exit::WorkloadFailed, None, true, Exit::WorkloadFailed),
            (Exit::WorkloadFailed, Some(Exit::Command(0)), true, Exit::WorkloadFailed),
            (Exit::WorkloadFailed, Some(Exit::Command(0)), false, Exit::Command(0)),
            (Exit::Ok, Some(Exit::Command(0)), false, Exit::Command(0)),
            (Exit::Ok, None, false, Exit::Ok),
        ] {
            let said = format!("{reached:?}, {code:?}, {has_failed}");
            assert_eq!(end(reached, code, has_failed), expect, "{said}");
        }
    }

    #[test]
    fn an_attempt_that_failed_is_no_failure_of_what_completed() {
        let pod = |state: Value, last: Value| {
            json!({"metadata": {"name": "a"}, "status": {"containerStatuses": [
                {"name": "main", "state": state, "lastState": last}]}})
        };
        let ended = |code: u8| json!({"terminated": {"exitCode": code}});
        let job = |condition: &str, pods: &[Value]| {
            let conditions = json!([{"type": condition, "status": "True"}]);
            let mut job = Workload::default();
            job.resource = crate::cluster::Resource::new("batch/v1", "Job", "jobs");
            job.object = Some(json!({"status": {"conditions": conditions}}));
            job.pods = pods.to_vec();
            job
        };
        let attempts = [pod(ended(3), json!({})), pod(ended(0), json!({}))];
        let restarted = [pod(ended(0), ended(3))];
        for (workload, reached, expect) in [
            (job("Complete", &attempts), Exit::Ok, Some(0)),
            (job("Complete", &restarted), Exit::Ok, Some(0)),
            (job("Failed", &attempts), Exit::WorkloadFailed, Some(3)),
            // It failed, and that was waited for.
            (job("Failed", &attempts), Exit::Ok, Some(3)),
            (job("Failed", &[]), Exit::WorkloadFailed, None),
        ] {
            assert_eq!(first(&workload, reached), expect);
        }
    }

    /// A role has failed where one of its ranks has.
    #[tokio::test]
    async fn of_a_role_whoever_failed_speaks() {
        let service = tower::service_fn(|_: Request<Body>| async {
            Ok::<_, kube::Error>(Response::new(Body::empty()))
        });
        let cluster = Cluster::given(kube::Client::new(service, "ml"), "ml");
        let pod = |rank: u8, phase: &str, code: u8| {
            json!({"metadata": {"name": format!("t-worker-{rank}"), "labels": {
                    "training.kubeflow.org/replica-type": "worker",
                    "training.kubeflow.org/replica-index": rank.to_string()}},
                "spec": {"containers": [{"name": "main"}]},
                "status": {"phase": phase, "containerStatuses": [
                    {"name": "main", "state": {"terminated": {"exitCode": code}}}]}})
        };
        let mut job = Workload::default();
        job.name = "t".into();
        job.resource =
            crate::cluster::Resource::new("kubeflow.org/v1", "PyTorchJob", "pytorchjobs");
        job.object =
            Some(json!({"status": {"conditions": [{"type": "Failed", "status": "True"}]}}));
        job.pods = vec![pod(0, "Succeeded", 0), pod(1, "Failed", 3)];
        let state = Some(job.state().clone());
        let target = Target { namespace: "ml".into(), kind: "PyTorchJob".into(), name: "t".into() };
        let reached = Reached { target, workload: Some(job), state, exit: Exit::WorkloadFailed };
        for (from, expect) in [("worker", 3), ("worker-0", 0), ("1", 3), ("first", 3)] {
            let code = code(from, &reached, &cluster).await.expect("its pods say it");
            assert_eq!(code, Exit::Command(expect), "{from}");
        }
    }
}
