//! `kubectl kai snapshot`: what the scheduler would know of the cluster, in a file; and what it would do with one.
//!
//! ```text
//!  settings ─┐
//!  collect ──┴─► (a thread) scheduler::snapshot::write ─► file        show: file ─► Snapshot ─► report ─► draw
//! ```
//!
//! All is read with the user's own rights, a page at a time. What may not be read is said, in the file as well.

mod draw;
mod file;
pub(crate) mod report;

use clap::Subcommand;
use kai_scheduler::snapshot::{Header, Snapshot, configuration, parameters};
use serde_json::{Value, json};

use crate::cluster::queue::count;
use crate::context::Context;
use crate::plan::collect::{self, Collector};
use crate::plan::settings;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::flags::SheetFlags;
use crate::print::format::{self, Format};
use crate::print::output::clean;
use file::Target;

pub(crate) const EXAMPLES: &str = "\
Examples:
  kubectl kai snapshot cluster.zip                everything that the scheduler looks at
  kubectl kai snapshot - | ssh host 'cat > c.zip'
  kubectl kai snapshot cluster.zip --shard gpu-a  what the scheduler of another node pool looks at
  kubectl kai snapshot show cluster.zip           what is in it, and what would be decided next

Secrets are never read. Commands, images, environment and the data of config maps are left out.";

/// Flags of `snapshot`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = EXAMPLES
)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Where to write it; - is stdout
    #[arg(value_name = "FILE", required = true)]
    file: Option<String>,
    /// The shard whose scheduler is meant
    #[arg(long, value_name = "NAME", default_value = kai_api::names::DEFAULT_SHARD)]
    shard: String,
    /// Replace the file if there is one
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// What a snapshot holds, and what the scheduler would do next
    Show(Show),
}

/// Flags of `snapshot show`.
#[derive(Debug, clap::Args)]
struct Show {
    /// A file that kubectl kai snapshot or KAI wrote
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    sheet: SheetFlags,
}

impl Args {
    /// Tells whether rows are printed.
    pub(crate) fn is_table(&self) -> bool {
        self.action.is_some()
    }
}

/// Runs `snapshot`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    if let Some(Action::Show(show)) = &args.action {
        return self::show(show, context);
    }
    take(args, context).await
}

/// Writes a snapshot.
async fn take(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::read(context.globals.output.as_deref())?;
    let file = args.file.as_deref().unwrap_or_default();
    let target = Target::new(file, args.force, context)?;
    if target.is_stdout() && !format.is_table() {
        let what = "both the snapshot and the report would go to stdout";
        return Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
            .fix("name a file instead of -, or leave -o out")
            .into());
    }
    if let Format::Name = format {
        let what = "this command prints nothing in the form -o name";
        return Err(Problem::new(number::USAGE, Exit::Usage, what).fix("leave -o out").into());
    }
    let cluster = context.cluster().await?;
    let settings = settings::read(&args.shard, &cluster).await?;
    for note in &settings.notes {
        context.out.warn(note);
    }
    let served = collect::served(&cluster).await?;
    let header = Header {
        taken: kai_engine::Timestamp(jiff::Timestamp::now().as_millisecond()),
        config: configuration(&settings.spec),
        params: parameters(&settings.args),
        discovery: Some(served.discovery.clone()),
    };
    let (temporary, writing) = target.write(header)?;
    let collector = Collector {
        namespace: context.globals.namespace.clone(),
        cluster: &cluster,
        args: &settings.args,
        served: &served,
        parts: writing.parts.clone(),
        left_out: settings.notes.clone(),
        not_served: Vec::new(),
        is_quiet: false,
    };
    context.out.wait_for("reading the cluster");
    let collected = collector.collect(&mut context.out).await;
    let counts = writing.end(&target).await;
    context.out.waited();
    // Where writing failed, nobody was there to take what was read.
    let (counts, collected) = (counts?, collected?);
    let bytes = target.keep(temporary, context)?;
    for left_out in &collected.left_out {
        if !settings.notes.contains(left_out) {
            context.out.warn(left_out);
        }
    }
    let report = json!({
        "file": file,
        "bytes": bytes,
        "shard": args.shard,
        "counts": counts,
        "leftOut": collected.left_out,
        "notServed": collected.not_served,
    });
    if !format::report(&report, &format, &mut context.out)? {
        context.out.talk(&summary(&report));
    }
    Ok(Exit::Ok)
}

/// Says what was written, in a sentence.
fn summary(report: &Value) -> String {
    let number = |key: &str| report["counts"][key].as_u64().unwrap_or(0);
    let file = report["file"].as_str().unwrap_or_default();
    let to = if file == "-" { String::new() } else { format!("{}: ", clean(file)) };
    let unserved: Vec<&str> =
        report["notServed"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let unserved = if unserved.is_empty() {
        String::new()
    } else {
        format!("\nempty, since this cluster does not serve them: {}", unserved.join(", "))
    };
    format!(
        "{to}{}, {}, {}, {}{unserved}",
        count(number("nodes"), "node"),
        count(number("queues"), "queue"),
        count(number("podGroups"), "PodGroup"),
        count(number("pods"), "pod"),
    )
}

/// Shows a snapshot and what would be decided next.
fn show(args: &Show, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::asked(context.globals.output.as_deref(), args.sheet.jq.as_deref())?;
    let mut snapshot = read(&args.file, context)?;
    let mut report = report::report(&args.file, &mut snapshot);
    let flags = args.sheet.list();
    report.arrange(&flags)?;
    if format == Format::Name {
        let bound = report.data["plan"]["bind"].as_array().into_iter().flatten();
        bound
            .filter_map(|one| one["pod"].as_str())
            .try_for_each(|pod| context.out.data(&format!("pod/{}", clean(pod))))?;
    } else if format.is_table() {
        draw::draw(&report.data, format == Format::Wide, &args.sheet, context)?;
    } else {
        report.print(&format, &flags, &mut context.out)?;
    }
    for what in snapshot.left_out.iter().chain(&snapshot.settings.problems) {
        context.out.warn(&clean(what));
    }
    Ok(Exit::Ok)
}

/// Reads a snapshot from a file that was named on the command line.
///
/// # Errors
/// It is none, or broken; the sentence says where.
pub(crate) fn read(file: &str, context: &Context) -> Result<Snapshot, Error> {
    if file == "-" {
        let what = "a snapshot is read from a file: its list of contents is at its end";
        return Err(Problem::new(number::FILE, Exit::Usage, what)
            .fix("save it first: cat > cluster.zip")
            .into());
    }
    Snapshot::read(&context.dir.join(file)).map_err(|error| {
        let missing = matches!(&error.problem, kai_scheduler::snapshot::Problem::Open(cause) if cause.kind() == std::io::ErrorKind::NotFound);
        let exit = if missing { Exit::NotFound } else { Exit::Failure };
        let what = format!("failed to read the snapshot {}", clean(file));
        let problem = Problem::new(number::FILE, exit, what);
        problem.line(clean(&error.problem.to_string()).into_owned()).into()
    })
}
