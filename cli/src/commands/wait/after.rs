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
use crate::workload::casualty;

/// The word that takes the code of whoever failed first.
const FIRST: &str = "first";

/// Runs a command for a workload, with what is known of it in `KAI_NAME`, `KAI_NAMESPACE`, `KAI_KIND`, `KAI_STATE`,
/// `KAI_REASON` and `KAI_EXIT`. Its output goes where ours does.
///
/// # Errors
/// It cannot be started.
pub(super) async fn run(
    line: &str,
    reached: &Reached,
    context: &mut Context,
) -> Result<Exit, Error> {
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
    if ended.success() {
        return Ok(reached.exit);
    }
    let name = clean(&reached.target.name).into_owned();
    context.out.warn(&format!("--exec for {name} failed: {ended}"));
    Ok(if reached.exit == Exit::Ok { Exit::Failure } else { reached.exit })
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
        let failed = casualty::casualties(&workload.pods);
        match failed.first() {
            Some(first) => first.code,
            None if reached.exit == Exit::Ok => Some(0),
            None => None,
        }
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
