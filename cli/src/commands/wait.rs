//! Waiting for workloads: `submit --wait`, and `kubectl kai wait`. Says what changes, and nothing in between.

mod after;
mod goal;
mod watch;

use std::time::Duration;

use crate::cluster::Cluster;
use crate::cluster::queue::count;
use crate::commands::chosen::{self, Wanted};
use crate::commands::filter::{self, Filter};
use crate::context::Context;
use crate::print::duration;
use crate::print::error::{Error, Exit, Problem, number};
use crate::workload::Workload;
pub(crate) use goal::Goal;
use goal::GoalParser;
pub(crate) use watch::Target;
use watch::{Reached, Watch};

/// Flags of `wait`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubectl kai wait llama-ft                              until it has ended; exit code 7 when it failed
  kubectl kai wait llama-ft --exit-code-from first       ends with the code of the rank that failed first
  kubectl kai wait -l sweep=7 --any --for running        until one of them runs
  kubectl kai wait llama-ft --for position=1             until nothing of its queue is tried before it
  kubectl kai wait llama-ft --exec 'notify \"$KAI_NAME $KAI_STATE\"'
The first that fails ends the waiting, unless --any; --exec has KAI_NAME, KAI_NAMESPACE, KAI_KIND,
KAI_STATE, KAI_REASON and KAI_EXIT of the workload.")]
pub struct Args {
    /// Names of workloads, kind/name, or patterns with *
    #[arg(value_name = "NAME", required_unless_present_any = filter::FLAGS)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    /// State to wait for: scheduled, running, complete, failed, deleted or position=N
    #[arg(
        long = "for",
        value_parser = GoalParser,
        hide_possible_values = true,
        default_value = "complete",
        value_name = "STATE"
    )]
    goal: Goal,
    /// Longest wait, such as 30m
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
    /// Until one of them is there, instead of all
    #[arg(long)]
    any: bool,
    /// A command for sh, run for each workload once it is waited for no more
    #[arg(long, value_name = "COMMAND")]
    exec: Option<String>,
    /// Ends with the exit code of a rank, such as worker-0, or of the one that failed first: first
    #[arg(long, value_name = "RANK")]
    exit_code_from: Option<String>,
}

/// Runs `wait`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let timeout = match &args.timeout {
        Some(text) => duration::parse("--timeout", text)?,
        None => None,
    };
    let cluster = context.cluster().await?;
    let wanted = Wanted {
        names: &args.names,
        filter: &args.filter,
        // Gone already is what was asked for.
        may_miss: args.goal == Goal::Deleted,
        refuses: chosen::anything,
    };
    let chosen = wanted.read(&cluster, context.scope(&cluster)).await?;
    // What is there is waited for all the same.
    let unread = chosen.tell_unread(context);
    // Nothing tells that workloads are gone of kinds that were not looked at.
    let done = if args.goal == Goal::Deleted { unread } else { Exit::Ok };
    if chosen.workloads.is_empty() {
        let what = format!("nothing to wait for in {}", chosen.place);
        if args.goal != Goal::Deleted {
            // Whoever goes on after this would take nothing for what runs, or has ended.
            return Err(Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what)
                .fix("kubectl kai list   with the same names and flags")
                .into());
        }
        if chosen.missing.is_empty() {
            context.out.talk(&what);
        }
        return Ok(done);
    }
    let target = |workload: &Workload| Target {
        namespace: workload.namespace.clone(),
        kind: workload.resource.kind.clone(),
        name: workload.name.clone(),
    };
    let targets = chosen.workloads.iter().map(target).collect();
    let watch = Watch::new(targets, args.goal, timeout, &cluster).seen(chosen.workloads);
    let exit = watched(watch, args, context).await?;
    if exit == Exit::Ok {
        return Ok(done);
    }
    Ok(if exit == Exit::Pending { Exit::Timeout } else { exit })
}

/// Waits, and does for each what is to be done then.
async fn watched(mut watch: Watch<'_>, args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    while watch.open() > 0 {
        let reached = attended(&mut watch, args.goal, context).await?;
        if reached.is_empty() {
            return Ok(Exit::Pending);
        }
        // Each of them is waited for no more, whatever came of those before it.
        let mut ends = Vec::new();
        for one in &reached {
            ends.push(done(one, args, &cluster, context).await);
        }
        if let Some(end) = first(ends, args.any)? {
            return Ok(end);
        }
    }
    Ok(Exit::Ok)
}

/// Ends the command, where it ends: with all errors, else as the first that failed, or with any.
fn first(ends: Vec<Result<Exit, Error>>, any: bool) -> Result<Option<Exit>, Error> {
    let (mut exits, mut problems) = (Vec::new(), Vec::new());
    for end in ends {
        match end {
            Ok(exit) => exits.push(exit),
            Err(Error::Problems(found)) => problems.extend(found),
            Err(quiet) => return Err(quiet),
        }
    }
    Error::all(problems)?;
    Ok(exits.into_iter().find(|exit| any || exit.code() != 0))
}

/// Says what follows on a workload that is waited for no more.
async fn done(
    reached: &Reached,
    args: &Args,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<Exit, Error> {
    let has_failed = match &args.exec {
        Some(line) => !after::run(line, reached, context).await?,
        None => false,
    };
    let code = match &args.exit_code_from {
        Some(from) => Some(after::code(from, reached, cluster).await?),
        None => None,
    };
    Ok(after::end(reached.exit, code, has_failed))
}

/// Waits for the next that are there. Ctrl-C stops the waiting, not the workload.
async fn attended(
    watch: &mut Watch<'_>,
    goal: Goal,
    context: &mut Context,
) -> Result<Vec<Reached>, Error> {
    let whom = watch.whom();
    context.out.wait_for(&format!("waiting until {whom} {}", goal.verb()));
    let look_again = match watch.open() {
        1 => format!("kubectl kai describe {whom}"),
        _ => "kubectl kai list".to_owned(),
    };
    let ended = tokio::select! {
        biased;
        _ = tokio::signal::ctrl_c() => {
            let goes_on = if watch.open() == 1 { "goes on" } else { "go on" };
            context.out.talk(&format!("stopped waiting; {whom} {goes_on}. Look again: {look_again}"));
            Err(Error::Quiet(Exit::Interrupted))
        }
        reached = watch.next(&mut context.out) => reached,
    };
    context.out.waited();
    ended
}

impl Watch<'_> {
    /// Whom it waits for, in words.
    fn whom(&self) -> String {
        match self.names().as_slice() {
            [one] => (*one).to_owned(),
            many => format!("each of {}", count(many.len(), "workload")),
        }
    }
}

/// Waits for one, and says each change of state.
///
/// # Errors
/// The server stays unreachable, or the workload disappears.
pub(crate) async fn until(
    target: &Target,
    goal: Goal,
    timeout: Option<Duration>,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<Exit, Error> {
    let mut watch = Watch::new(vec![target.clone()], goal, timeout, cluster);
    let reached = attended(&mut watch, goal, context).await?;
    Ok(reached.first().map_or(Exit::Pending, |reached| reached.exit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_failed_ends_the_waiting() {
        let problem = |what: &str| Problem::new(number::OTHER, Exit::Failure, what);
        let bad = |what: &str| Err(Error::one(problem(what)));
        let (ok, failed) = (|| Ok(Exit::Ok), || Ok(Exit::WorkloadFailed));
        for (ends, any, expect) in [
            (vec![ok(), ok()], false, "None"),
            (vec![ok(), Ok(Exit::Command(0))], false, "None"),
            (vec![ok(), failed(), Ok(Exit::Command(3))], false, "Some(WorkloadFailed)"),
            (vec![ok(), failed()], true, "Some(Ok)"),
            (vec![bad("a"), failed(), bad("b")], false, "error[KAI1000]: a\nerror[KAI1000]: b"),
        ] {
            let said = match first(ends, any) {
                Ok(exit) => format!("{exit:?}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(said, expect);
        }
    }
}
