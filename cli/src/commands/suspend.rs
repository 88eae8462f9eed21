//! `kubectl kai suspend` and `resume`: the GPUs go back, the object stays.

mod patch;

use serde_json::Value;

use crate::cluster::queue::count;
use crate::cluster::{Call, Cluster};
use crate::commands::chosen::{self, Wanted};
use crate::commands::filter::{self, Filter};
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::format::Format;
use crate::print::output::clean;
use crate::workload::Workload;
use patch::patch;

/// Several workloads at once, by a flag, are a mistake more often than one.
const ASK_FROM: usize = 2;

/// Flags of `suspend` and `resume`.
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
    /// Only let the server check it
    #[arg(long)]
    dry_run: bool,
}

/// Holds what is to be done with one workload.
struct Step<'w> {
    workload: &'w Workload,
    /// None where it is that way already.
    patch: Option<Value>,
}

/// Runs `suspend`, or `resume`.
pub(crate) async fn run(args: &Args, suspend: bool, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::read(context.globals.output.as_deref())?;
    let cluster = context.cluster().await?;
    let wanted = Wanted {
        names: &args.names,
        filter: &args.filter,
        may_miss: false,
        refuses: chosen::anything,
    };
    let chosen = wanted.read(&cluster, context.scope(&cluster)).await?;
    let unread = chosen.tell_unread(context);
    let verb = if suspend { "suspend" } else { "resume" };
    if chosen.workloads.is_empty() {
        context.out.talk(&format!("nothing to {verb} in {}", chosen.place));
        return Ok(unread);
    }
    let is_named = |workload: &Workload| {
        args.names.iter().any(|name| !name.contains('*') && workload.is_called(name))
    };
    let mut steps = Vec::new();
    let mut problems = Vec::new();
    for workload in &chosen.workloads {
        match patch(workload, suspend) {
            Ok(patch) => steps.push(Step { workload, patch }),
            Err(problem) if is_named(workload) => problems.push(problem),
            // What has ended was not meant by a queue or a label.
            Err(_) if workload.phase().is_over() => {}
            Err(problem) => context.out.warn(&format!("left as it is: {}", problem.what)),
        }
    }
    Error::all(problems)?;
    let changes = steps.iter().filter(|step| step.patch.is_some()).count();
    if changes >= ASK_FROM && !args.dry_run && args.filter.is_given() {
        plan(&steps, suspend, context);
        let question = if suspend { "Suspend" } else { "Resume" };
        context.confirm(&format!("{question} {}?", count(changes, "workload")), args.yes)?;
    }
    let end = match (suspend, args.dry_run) {
        (true, false) => "suspended",
        (false, false) => "resumed",
        (true, true) => "suspended (server dry run)",
        (false, true) => "resumed (server dry run)",
    };
    for step in &steps {
        let label = clean(&step.workload.label()).into_owned();
        let place = place(step.workload, context);
        let Some(patch) = &step.patch else {
            let already = if suspend { "is suspended already" } else { "is not suspended" };
            context.out.talk(&format!("{label} {already}{place}"));
            continue;
        };
        change(step.workload, patch, args.dry_run, &cluster).await?;
        let end = if format == Format::Name { String::new() } else { format!(" {end}{place}") };
        context.out.data(&format!("{label}{end}"))?;
        if suspend {
            warn_of_what_goes_on(step.workload, context);
        }
    }
    Ok(unread)
}

/// Says in which namespace a workload is, where several are looked at: the same name may be in more than one.
fn place(workload: &Workload, context: &Context) -> String {
    let is_said = context.globals.all_namespaces;
    if is_said { format!(" in {}", clean(&workload.namespace)) } else { String::new() }
}

async fn change(
    workload: &Workload,
    patch: &Value,
    dry_run: bool,
    cluster: &Cluster,
) -> Result<(), Error> {
    let call = Call::new("patch", &workload.resource)
        .namespace(Some(&workload.namespace))
        .name(&workload.name);
    let done = cluster.patch(&call, patch, dry_run).await;
    done.map(drop).map_err(|failure| cluster.explain(&call, &failure))
}

/// Says what is about to change, and the GPUs that come free.
fn plan(steps: &[Step<'_>], suspend: bool, context: &mut Context) {
    for Step { workload, patch } in steps {
        let held = workload.gpus_held();
        let frees = match (suspend, patch) {
            (_, None) => "  stays so".to_owned(),
            (true, Some(_)) if !held.is_zero() => format!("  frees {}", held.words()),
            (_, Some(_)) => String::new(),
        };
        let (label, state) = (workload.label(), workload.state().show());
        context.out.talk(&clean(&format!("  {}  {label}  {state}{frees}", workload.namespace)));
    }
}

/// Argo begins no further step; what has begun goes on.
fn warn_of_what_goes_on(workload: &Workload, context: &mut Context) {
    if workload.resource.kind == "Workflow" && !workload.nodes().is_empty() {
        context.out.warn(&format!(
            "steps of {} that run go on and keep {}: only the next ones wait",
            clean(&workload.name),
            workload.gpus_held().words()
        ));
    }
}
