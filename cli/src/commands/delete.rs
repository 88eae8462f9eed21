//! `kubectl kai delete`.

use std::collections::BTreeSet;

use crate::cluster::queue::count;
use crate::cluster::{Call, Resource, kinds};
use crate::commands::filter::{Filter, check_namespace};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::Format;
use crate::print::output::clean;
use crate::workload::{Loaded, Workload, load};

/// Flags of `delete`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names of workloads, kind/name, or patterns with *
    #[arg(value_name = "NAME", required_unless_present_any = ["queue", "status", "kind", "selector", "field_selector", "since", "older", "owner", "mine"])]
    names: Vec<String>,
    #[command(flatten)]
    filter: Filter,
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
    let mut loaded = load(&cluster, scope.as_deref()).await?;
    if loaded.workloads.is_empty() {
        check_namespace(scope.as_deref(), &cluster).await?;
    }
    // Those that are left out by a flag are there all the same: their names are known.
    let all = loaded.clone();
    if args.filter.is_given() {
        args.filter.apply(&mut loaded, &cluster).await?;
    }
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let chosen = chosen(&args.names, &all, &loaded, &place)?;
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
    let is_name = Format::read(context.globals.output.as_deref())? == Format::Name;
    for (workload, resource) in chosen.iter().zip(&resources) {
        // The same name may be in several namespaces.
        let place = match &scope {
            Some(_) => String::new(),
            None => format!(" in {}", clean(&workload.namespace)),
        };
        let call =
            Call::new("delete", resource).namespace(Some(&workload.namespace)).name(&workload.name);
        match cluster.delete(&call, &workload.uid, args.dry_run).await {
            Ok(true) if is_name => context.out.data(&clean(&workload.label()))?,
            Ok(true) => {
                context.out.data(&format!("{} {done}{place}", clean(&workload.label())))?;
            }
            Ok(false) => {
                context.out.talk(&format!("{} was gone already", clean(&workload.label())));
            }
            Err(failure) => return Err(cluster.explain(&call, &failure)),
        }
    }
    Ok(Exit::Ok)
}

/// The workloads that are named, each once, of those that the flags left.
fn chosen<'l>(
    names: &[String],
    all: &'l Loaded,
    left: &Loaded,
    place: &str,
) -> Result<Vec<&'l Workload>, Error> {
    let mut chosen: Vec<&Workload> = Vec::new();
    let mut problems = Vec::new();
    for name in names {
        if name.contains('*') {
            chosen.extend(all.workloads.iter().filter(|w| w.is_called(name)));
        } else {
            match all.one(name, place) {
                Ok(one) => chosen.push(one),
                Err(Error::Problems(more)) => problems.extend(more),
                Err(quiet) => return Err(quiet),
            }
        }
        problems.extend(chosen.iter().find_map(|workload| part(name, workload)));
    }
    Error::all(problems)?;
    if names.is_empty() {
        chosen = all.workloads.iter().collect();
    }
    let mut seen = BTreeSet::new();
    chosen.retain(|one| {
        left.workloads.iter().any(|left| left.uid == one.uid) && seen.insert(one.uid.as_str())
    });
    Ok(chosen)
}

/// That a name means a part of a workload, which is not deleted alone here.
fn part(name: &str, workload: &Workload) -> Option<Problem> {
    let (kind, rest) = name.split_once('/')?;
    let is_part = workload.is_called(name)
        && matches!(kind.to_lowercase().as_str(), "pod" | "pods" | "podgroup" | "podgroups");
    if !is_part || workload.resource.kind == "Pod" {
        return None;
    }
    let what = format!("{} is a part of {}", clean(name), clean(&workload.label()));
    let fix = format!(
        "all of it: kubectl kai delete {}   or the part alone: kubectl delete {kind} {rest} -n {}",
        workload.name, workload.namespace
    );
    Some(Problem::new(number::UNSUPPORTED, Exit::Refused, what).fix(fix))
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
