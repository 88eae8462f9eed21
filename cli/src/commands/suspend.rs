//! `kubectl kai suspend` and `resume`: the GPUs go back, the object stays.

mod patch;

use crate::cluster::Call;
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::format::Format;
use crate::print::output::clean;
use crate::workload::load;
use patch::patch;

/// Flags of `suspend` and `resume`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names of workloads, or kind/name
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Only let the server check it
    #[arg(long)]
    dry_run: bool,
}

/// Runs `suspend`, or `resume`.
pub(crate) async fn run(args: &Args, suspend: bool, context: &mut Context) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let loaded = load(&cluster, scope.as_deref()).await?;
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let mut changes = Vec::new();
    let mut problems = Vec::new();
    for name in &args.names {
        let workload = match loaded.one(name, &place) {
            Ok(workload) => workload,
            Err(Error::Problems(more)) => {
                problems.extend(more);
                continue;
            }
            Err(quiet) => return Err(quiet),
        };
        match patch(workload, suspend) {
            Ok(patch) => changes.push((workload, patch)),
            Err(problem) => problems.push(problem),
        }
    }
    Error::all(problems)?;
    let done = if suspend { "suspended" } else { "resumed" };
    let end = if args.dry_run { " (server dry run)" } else { "" };
    for (workload, patch) in changes {
        let Some(patch) = patch else {
            let already = if suspend { "is suspended already" } else { "is not suspended" };
            context.out.talk(&format!("{} {already}", clean(&workload.label())));
            continue;
        };
        let call = Call::new("patch", &workload.resource)
            .namespace(Some(&workload.namespace))
            .name(&workload.name);
        cluster
            .patch(&call, &patch, args.dry_run)
            .await
            .map_err(|failure| cluster.explain(&call, &failure))?;
        let is_name = Format::read(context.globals.output.as_deref())? == Format::Name;
        let end = if is_name { String::new() } else { format!(" {done}{end}") };
        context.out.data(&format!("{}{end}", clean(&workload.label())))?;
        let held = workload.gpus_held();
        // Argo begins no further step; what has begun goes on.
        if suspend && workload.resource.kind == "Workflow" && !workload.nodes().is_empty() {
            context.out.warn(&format!(
                "steps of {} that run go on and keep {held} GPU: only the next ones wait",
                clean(&workload.name)
            ));
        }
    }
    Ok(Exit::Ok)
}
