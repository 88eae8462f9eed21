//! `kubectl kai simulate`: what the scheduler would do if.
//!
//! ```text
//!  flags ── changes ─┐
//!  submit's flags ───┼─► plan::Situation (the cluster, a snapshot, a scenario) ─► Outcome ─► draw, -o json
//!  -f FILE ──────────┘
//! ```

mod draw;
pub(crate) mod works;

use serde_json::Value;

use crate::cluster::queue::count;
use crate::commands::submit::{self, plan::Rendered};
use crate::context::Context;
use crate::plan::words::{exit, of};
use crate::plan::{Change, Field, Outcome, Reading, Situation, Wish, in_namespace};
use crate::print::duration;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::flags::SheetFlags;
use crate::print::format::Format;
use kai_engine::QueueLane;

pub(crate) const EXAMPLES: &str = "\
Examples:
  kubectl kai simulate pytorch big --workers 4 --gpu 8 -q team-a --image IMAGE
  kubectl kai simulate pytorch big --workers 4 --gpu 8 -q team-a --image IMAGE --add-node 2xH100:8
  kubectl kai simulate -f job.yaml -q team-a
  kubectl kai simulate --queue team-a --gpu-quota 16      whom would that hit?
  kubectl kai simulate --set team-a.gpu.quota=16 --set team-b.gpu.limit=8
  kubectl kai simulate --drain node-3
  kubectl kai simulate --snapshot cluster.zip --delete llama-ft

It runs the scheduler's own code on a copy of the cluster, read with your own rights. Nothing is changed.";

/// Flags of `simulate`.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(override_usage = "kubectl kai simulate [changes] [-f FILE | [KIND] NAME submit's flags]")]
pub struct Args {
    #[command(flatten)]
    changes: Changes,
    /// A snapshot instead of the cluster
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["scenario", "save", "shard"], help_heading = "Of what")]
    snapshot: Option<String>,
    /// A scenario file instead of the cluster
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["save", "shard"], help_heading = "Of what")]
    scenario: Option<String>,
    /// Keep what was read of the cluster in a snapshot
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Of what")]
    save: Option<std::path::PathBuf>,
    /// The shard whose scheduler is meant
    #[arg(long, value_name = "NAME", default_value = kai_api::names::DEFAULT_SHARD, help_heading = "Of what")]
    shard: String,
    /// How far to look for starts, such as 24h; 0 does not look
    #[arg(long, value_name = "DURATION", default_value = "30d", help_heading = "Of what")]
    horizon: String,
    /// End with 6 when the work cannot start at once
    #[arg(long, help_heading = "Output")]
    exit_code: bool,
    #[command(flatten)]
    sheet: SheetFlags,
    #[command(flatten)]
    work: submit::Args,
}

/// The changes to try.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Changes {
    /// Nodes that come, as sandbox --nodes has them: 2xH100:8; repeatable
    #[arg(long, value_name = "NODES", help_heading = "What changes")]
    add_node: Vec<String>,
    /// A node that is drained, repeatable
    #[arg(long, value_name = "NODE", help_heading = "What changes")]
    drain: Vec<String>,
    /// QUEUE.gpu.quota=12, QUEUE.gpu.limit=-1, QUEUE.priority=200, workload/NAME.priority=build; repeatable
    #[arg(long, value_name = "KEY=VALUE", help_heading = "What changes")]
    set: Vec<String>,
    /// A workload that is deleted, repeatable
    #[arg(long, value_name = "NAME", help_heading = "What changes")]
    delete: Vec<String>,
    /// GPU quota of the queue that --queue names
    #[arg(
        long,
        value_name = "GPUS",
        allow_hyphen_values = true,
        requires = "queue",
        help_heading = "What changes"
    )]
    gpu_quota: Option<String>,
    /// GPU limit of the queue that --queue names; -1 is none
    #[arg(
        long,
        value_name = "GPUS",
        allow_hyphen_values = true,
        requires = "queue",
        help_heading = "What changes"
    )]
    gpu_limit: Option<String>,
    /// Weight for GPUs over quota of the queue that --queue names
    #[arg(long, value_name = "WEIGHT", requires = "queue", help_heading = "What changes")]
    gpu_weight: Option<String>,
}

impl Args {
    /// The names of workloads.
    pub(crate) fn words(&mut self) -> Vec<&mut String> {
        self.changes.delete.iter_mut().chain(&mut self.work.from).collect()
    }
}

impl Changes {
    /// Reads them.
    ///
    /// # Errors
    /// Everything that is wrong.
    fn read(&self, queue: Option<&str>) -> Result<Vec<Change>, Error> {
        let (mut changes, mut problems) = (Vec::new(), Vec::new());
        let mut keep = |change: Result<Change, Problem>| match change {
            Ok(change) => changes.push(change),
            Err(problem) => problems.push(problem),
        };
        self.set.iter().for_each(|text| keep(Change::set(text)));
        let gpu = QueueLane::Gpu;
        for (flag, value, field) in [
            ("--gpu-quota", &self.gpu_quota, Field::Quota(gpu)),
            ("--gpu-limit", &self.gpu_limit, Field::Limit(gpu)),
            ("--gpu-weight", &self.gpu_weight, Field::Weight(gpu)),
        ] {
            if let (Some(value), Some(queue)) = (value, queue) {
                keep(Change::bound(&format!("{flag} {value}"), queue, field, value));
            }
        }
        self.add_node.iter().for_each(|text| keep(Change::add_nodes(text)));
        self.drain.iter().for_each(|node| keep(Ok(Change::Drain(node.clone()))));
        self.delete.iter().for_each(|name| keep(Ok(Change::Delete(name.clone()))));
        Error::all(problems).map(|()| changes)
    }
}

/// Runs `simulate`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::asked(context.globals.output.as_deref(), args.sheet.jq.as_deref())?;
    let horizon_seconds = horizon(&args.horizon)?;
    let mut work = args.work.clone();
    submit::sbatch::expand(&mut work, context).await?;
    let changes = args.changes.read(work.queue.as_deref())?;
    let has_work = !work.names.is_empty() || work.is_of_object();
    let is_live = args.snapshot.is_none() && args.scenario.is_none();
    if !has_work && changes.is_empty() && is_live && args.save.is_none() {
        let what = "simulate needs something to try: a workload, or a change";
        return Err(Problem::new(number::MISSING, Exit::Usage, what)
            .fix("kubectl kai simulate job NAME --gpu 4 -q QUEUE --image IMAGE   or   --drain NODE   or   --set QUEUE.gpu.quota=12")
            .into());
    }
    let cluster = if is_live { Some(context.cluster().await?) } else { None };
    let rendered = if has_work {
        Box::pin(submit::plan::render(&work, cluster.as_ref(), context)).await?
    } else {
        Rendered::default()
    };
    let begin = std::time::Instant::now();
    let mut situation = match (&cluster, &args.snapshot, &args.scenario) {
        (Some(cluster), ..) => {
            let save = args.save.as_ref().map(|path| context.dir.join(path));
            let reading = Reading { cluster, shard: &args.shard, save: save.as_deref() };
            Situation::live(reading, &mut context.out).await?
        }
        (None, Some(file), _) => Situation::of_snapshot(file, &context.dir)?,
        (None, None, file) => {
            Situation::of_scenario(file.as_deref().unwrap_or_default(), &context.dir)?
        }
    };
    let namespace = cluster.as_ref().map_or_else(
        || context.globals.namespace.clone().unwrap_or_else(|| "default".to_owned()),
        |cluster| cluster.namespace.clone(),
    );
    let objects: Vec<Value> =
        rendered.planned().map(|object| in_namespace(object.clone(), &namespace)).collect();
    let wish = Wish { changes: &changes, objects: &objects, horizon_seconds };
    let outcome = match &cluster {
        Some(cluster) => situation.plan_on(cluster, &wish).await?,
        None => situation.plan(&wish)?,
    };
    show(&outcome, &situation, &format, &args.sheet, context)?;
    if format.is_table() {
        let counts = &situation.snapshot.counts;
        let number = |key: &str| counts.get(key).copied().unwrap_or(0);
        context.out.talk(&format!(
            "The scheduler's own code ran on {} ({}, {}) for {} ms. Nothing was changed.",
            of(&situation.origin),
            count(number("nodes"), "node"),
            count(number("pods"), "pod"),
            begin.elapsed().as_millis(),
        ));
    }
    let exit = exit(&outcome, args.exit_code);
    // A large cluster takes a while to give back: the process does so as a whole.
    Box::leak(Box::new((situation, outcome)));
    Ok(exit)
}

/// Reads `--horizon`.
fn horizon(text: &str) -> Result<i64, Error> {
    let span = duration::parse("--horizon", text)?;
    Ok(span.map_or(0, |span| i64::try_from(span.as_secs()).unwrap_or(i64::MAX / 1000)))
}

/// Prints an outcome: rows for programs that want such, and a page with the same rows for people.
fn show(
    outcome: &Outcome,
    situation: &Situation,
    format: &Format,
    flags: &SheetFlags,
    context: &mut Context,
) -> Result<(), Error> {
    if *format == Format::Name {
        return outcome.workloads.iter().flat_map(|fate| &fate.pods).try_for_each(|placed| {
            context.out.data(&format!("pod/{}", crate::print::output::clean(&placed.pod)))
        });
    }
    let mut report = works::report(outcome, situation);
    let flags = flags.list();
    report.arrange(&flags)?;
    if format.is_table() {
        let is_wide = *format == Format::Wide;
        return draw::draw(outcome, &report, is_wide, &flags, context);
    }
    report.print(format, &flags, &mut context.out)
}
