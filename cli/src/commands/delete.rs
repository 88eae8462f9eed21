//! `kubectl kai delete`.

use crate::cluster::queue::count;
use crate::cluster::{Call, Resource, kinds};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
use crate::workload::{Workload, load};

/// Flags of `delete`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names of workloads, kind/name, or patterns with *
    #[arg(value_name = "NAME", required_unless_present = "queue")]
    names: Vec<String>,
    /// All workloads of a queue
    #[arg(short, long, value_name = "QUEUE")]
    queue: Option<String>,
    /// Ask nothing
    #[arg(short, long)]
    yes: bool,
    /// Only say what would be deleted
    #[arg(long)]
    dry_run: bool,
}

/// Several workloads at once are a mistake more often than one.
const ASK_FROM: usize = 2;

/// Runs `delete`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let loaded = load(&cluster, scope.as_deref()).await?;
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let mut chosen: Vec<&Workload> = Vec::new();
    let mut problems = Vec::new();
    for name in &args.names {
        let found = if name.contains('*') {
            loaded.workloads.iter().filter(|w| w.is_called(name)).collect()
        } else {
            match loaded.one(name, &place) {
                Ok(one) => vec![one],
                Err(Error::Problems(more)) => {
                    problems.extend(more);
                    Vec::new()
                }
                Err(quiet) => return Err(quiet),
            }
        };
        chosen.extend(found);
    }
    Error::all(problems)?;
    if args.names.is_empty() {
        chosen = loaded.workloads.iter().collect();
    }
    chosen.retain(|w| args.queue.as_ref().is_none_or(|queue| *queue == w.queue));
    let mut seen = std::collections::BTreeSet::new();
    chosen.retain(|w| seen.insert(w.uid.clone()));
    if chosen.is_empty() {
        context.out.talk(&format!("nothing to delete in {place}"));
        return Ok(Exit::Ok);
    }
    let resources = chosen.iter().map(|w| resource(w)).collect::<Result<Vec<_>, _>>()?;
    if chosen.len() >= ASK_FROM && !args.dry_run {
        for workload in &chosen {
            let line = format!(
                "  {}  {}  {}",
                workload.namespace,
                workload.label(),
                workload.state().show()
            );
            context.out.talk(&clean(&line));
        }
        context.confirm(&format!("Delete {}?", count(chosen.len(), "workload")), args.yes)?;
    }
    let done = if args.dry_run { "deleted (server dry run)" } else { "deleted" };
    for (workload, resource) in chosen.iter().zip(&resources) {
        let call =
            Call::new("delete", resource).namespace(Some(&workload.namespace)).name(&workload.name);
        match cluster.delete(&call, &workload.uid, args.dry_run).await {
            Ok(true) => context.out.data(&format!("{} {done}", clean(&workload.label())))?,
            Ok(false) => {
                context.out.talk(&format!("{} was gone already", clean(&workload.label())));
            }
            Err(failure) => return Err(cluster.explain(&call, &failure)),
        }
    }
    Ok(Exit::Ok)
}

/// Where the API serves the workload.
fn resource(workload: &Workload) -> Result<Resource, Problem> {
    if !workload.resource.plural.is_empty() {
        return Ok(workload.resource.clone());
    }
    let known = kinds::find(&workload.resource.api_version(), &workload.resource.kind);
    known.map(|known| known.resource(&workload.resource.version)).ok_or_else(|| {
        let what = format!("{} is of a kind that is deleted by its own tools", workload.label());
        Problem::new(number::UNSUPPORTED, Exit::Failure, what).fix(format!(
            "kubectl delete {} {} -n {}",
            workload.resource.label(),
            workload.name,
            workload.namespace
        ))
    })
}
