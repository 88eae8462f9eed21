//! `kubectl kai delete`.

use serde_json::json;

use crate::cluster::queue::count;
use crate::cluster::{Call, Resource, kinds};
use crate::commands::chosen::Wanted;
use crate::commands::filter::{self, Filter};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::{self, API_VERSION, Format};
use crate::print::output::clean;
use crate::workload::Workload;

/// Flags of `delete`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names of workloads, kind/name, or patterns with *
    #[arg(value_name = "NAME", required_unless_present_any = filter::FLAGS)]
    pub(crate) names: Vec<String>,
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
    let format = Format::read(context.globals.output.as_deref())?;
    let cluster = context.cluster().await?;
    let wanted =
        Wanted { names: &args.names, filter: &args.filter, may_miss: false, refuses: part };
    let chosen = wanted.read(&cluster, context.scope(&cluster)).await?;
    let workloads = &chosen.workloads;
    let unread = chosen.tell_unread(context);
    if workloads.is_empty() {
        context.out.talk(&format!("nothing to delete in {}", chosen.place));
    }
    let resources = workloads.iter().map(resource).collect::<Result<Vec<_>, _>>()?;
    if workloads.len() >= ASK_FROM && !args.dry_run {
        plan(workloads, context);
        context.confirm(&format!("Delete {}?", count(workloads.len(), "workload")), args.yes)?;
    }
    let mut deleted = Vec::new();
    let each = workloads.iter().zip(&resources);
    let ended = all(each, args.dry_run, &format, &mut deleted, context).await;
    // What was deleted before a failure is gone all the same.
    let items: Vec<_> = deleted.iter().map(|workload| workload.to_row()).collect();
    let list = json!({"apiVersion": API_VERSION, "kind": "WorkloadList", "items": items,
        "notRead": chosen.unread.kinds()});
    format::report(&list, &format, &mut context.out)?;
    ended.map(|()| unread)
}

/// Deletes each in turn, tells people of it, and notes which are gone.
async fn all<'w>(
    each: impl Iterator<Item = (&'w Workload, &Resource)>,
    dry_run: bool,
    format: &Format,
    deleted: &mut Vec<&'w Workload>,
    context: &mut Context,
) -> Result<(), Error> {
    let cluster = context.cluster().await?;
    let done = if dry_run { "deleted (server dry run)" } else { "deleted" };
    for (workload, resource) in each {
        // The same name may be in several namespaces.
        let place = if context.globals.all_namespaces {
            format!(" in {}", clean(&workload.namespace))
        } else {
            String::new()
        };
        let call =
            Call::new("delete", resource).namespace(Some(&workload.namespace)).name(&workload.name);
        match cluster.delete(&call, &workload.uid, dry_run).await {
            Ok(true) => {
                deleted.push(workload);
                if *format == Format::Name {
                    context.out.data(&clean(&workload.label()))?;
                } else if format.is_table() {
                    context.out.data(&format!("{} {done}{place}", clean(&workload.label())))?;
                }
            }
            Ok(false) => {
                let label = workload.label();
                context.out.talk(&format!("{} was gone already{place}", clean(&label)));
            }
            Err(failure) => return Err(cluster.explain(&call, &failure)),
        }
    }
    Ok(())
}

/// Says what is about to go: how it stands, and the GPUs that come free.
fn plan(workloads: &[Workload], context: &mut Context) {
    for workload in workloads {
        let held = workload.gpus_held();
        let frees =
            if held.is_zero() { String::new() } else { format!("  frees {}", held.words()) };
        let line = format!(
            "  {}  {}  {}{frees}",
            workload.namespace,
            workload.label(),
            workload.state().show()
        );
        context.out.talk(&clean(&line));
    }
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

/// Says where the API serves the workload.
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
