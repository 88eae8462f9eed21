//! `kubectl kai describe`: one workload on one screen.

mod devices;
mod events;
mod head;
mod pods;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::cluster::capacity::Capacity;
use crate::cluster::json::text;
use crate::commands::queues::row;
use crate::commands::show::{Find, show};
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::flags::{ReportFlags, SheetFlags, WatchFlags};
use crate::print::format::Format;
use crate::print::page::Page;
use crate::print::report::{Body, Report};
use crate::workload::devices::{self as on_devices, Depth};
use crate::workload::history::{self, Eviction};
use crate::workload::pod::{self, Pod};
use crate::workload::position::line;
use crate::workload::row::Row;
use crate::workload::{self as workloads, Phase, Position, Workload};

/// Flags of `describe`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the workload, kind/name, or the name of its pod group or of one of its pods
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// How many events to show
    #[arg(long, default_value_t = 8, value_name = "N")]
    events: usize,
    #[command(flatten)]
    report: ReportFlags,
    #[command(flatten)]
    watch: WatchFlags,
}

/// Runs `describe`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let sheet = SheetFlags { jq: args.report.jq.clone(), ..SheetFlags::default() };
    let list = sheet.list();
    show(args, &list, args.watch, context).await
}

impl Find for Args {
    async fn find(&self, context: &mut Context, format: &Format) -> Result<Report, Error> {
        find(self, context, format).await
    }
}

/// Reads all about a workload, and lays it out.
async fn find(args: &Args, context: &mut Context, format: &Format) -> Result<Report, Error> {
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let loaded = workloads::find(&cluster, scope.as_deref(), &args.name).await?;
    let mut workload = match loaded.one(&args.name, &place) {
        Ok(workload) => workload.clone(),
        Err(error) => {
            let evictions = history::evictions(&cluster, scope.as_deref()).await;
            return Err(history::of_name(error, &args.name, evictions.ok().as_deref()));
        }
    };
    let depth = Depth::Beside;
    let one = workload.clone();
    let (events, line, ()) = futures::join!(
        history::of_one(&cluster, &one),
        async {
            if one.phase().is_queued() { line(&cluster, &one).await.ok().flatten() } else { None }
        },
        on_devices::find(std::slice::from_mut(&mut workload), &cluster, depth),
    );
    workload.position = line.map(|line| Position { place: line.place, of: line.of });
    let events = events.map_err(|failure| failure.to_string());
    let mine = events.as_ref().map(|all| history::about(&workload, &[], all));
    let eviction = mine.as_ref().ok().and_then(|mine| Eviction::last(mine.iter().copied()));
    // What is not known is left out; the workload itself is what was asked for.
    let (queues, capacity) = futures::join!(crate::cluster::queue::readable(&cluster), async {
        // Only what waits may wait for ever, and our scheduler says so itself.
        let is_told = workload.explanation.is_some();
        let waits = workload.phase() == Phase::Pending;
        if waits && !is_told { Capacity::read(&cluster).await } else { None }
    });
    let queues = queues.ok().flatten();
    let description = Description {
        workload: workload.to_row(),
        pods: workload.pods.iter().map(pod::data).collect(),
        queue: queues.as_ref().and_then(|queues| row::alone(queues, &workload.queue)),
        eviction: eviction.as_ref().map(Eviction::sentence),
        events: mine.iter().flatten().map(|event| events::data(event)).collect(),
    };
    let never = capacity.and_then(|all| all.too_little(&workload.pods, workload.together()));
    let mut page = Page::new(context.out.columns());
    head::add(&mut page, &workload, queues.as_ref(), never.as_deref(), eviction.as_ref());
    pods::add(&mut page, &workload);
    devices::add(&mut page, &workload);
    objects(&mut page, &workload);
    match mine {
        Ok(mine) => {
            let wide = *format == Format::Wide;
            let most = if wide { usize::MAX } else { args.events };
            events::add(&mut page, &workload, &mine, most, wide);
        }
        Err(reason) => page.row("Events", &format!("not known: {reason}")),
    }
    next(&mut page, &workload);
    let body = Body::Page { text: page.text, names: vec![workload.label()] };
    Ok(Report::new("WorkloadDescription", json!(description), body))
}

/// All about a workload as data.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Description {
    /// The workload as `list` has it.
    workload: Row,
    /// Its pods.
    pods: Vec<Pod>,
    /// Its queue; absent where queues may not be read, or it does not exist.
    queue: Option<row::Row>,
    /// Holds what its last eviction was, as a sentence.
    eviction: Option<String>,
    /// Events of its objects, the newest last.
    events: Vec<events::Event>,
}

fn objects(page: &mut Page, workload: &Workload) {
    let groups: Vec<String> = workload
        .groups
        .iter()
        .take(4)
        .map(|group| format!("podgroup/{}", text(&group["metadata"]["name"])))
        .collect();
    let groups = if groups.is_empty() { "no PodGroup yet".to_owned() } else { groups.join(", ") };
    let pods = crate::cluster::queue::count(workload.pods.len(), "pod");
    page.row("Objects", &format!("{} - {groups} - {pods}", workload.label()));
}

fn next(page: &mut Page, workload: &Workload) {
    let (name, namespace) = (&workload.name, &workload.namespace);
    let phase = workload.phase();
    let first = match phase {
        Phase::Suspended => format!("kubectl kai resume -n {namespace} {name}"),
        _ if phase.is_queued() => format!("kubectl kai explain -n {namespace} {name}"),
        _ => format!("kubectl kai logs -n {namespace} {name}"),
    };
    page.row("Next", &format!("{first} · kubectl kai delete -n {namespace} {name}"));
}
