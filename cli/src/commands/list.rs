//! `kubectl kai list`.

use std::collections::BTreeMap;

use serde_json::json;

use crate::cluster::queue::count;
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::format::Format;
use crate::print::table::{Cell, Column, render, shorten};
use crate::print::{duration, yaml};
use crate::workload::devices::{self, Depth};
use crate::workload::{Loaded, Phase, Workload, load};

/// Flags of `list`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names, or patterns with *; all workloads without any
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Workloads of one queue
    #[arg(short, long, value_name = "QUEUE")]
    queue: Option<String>,
    /// Workloads in one state, such as pending or running
    #[arg(long, value_name = "STATE")]
    status: Option<String>,
    /// Workloads of one kind, such as pytorch or rayjob
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
}

/// Runs `list`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::read(context.globals.output.as_deref())?;
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let mut loaded = load(&cluster, scope.as_deref()).await?;
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    for name in args.names.iter().filter(|name| !name.contains('*')) {
        if !loaded.workloads.iter().any(|workload| workload.is_called(name)) {
            return Err(loaded.nobody(name, &place));
        }
    }
    loaded.workloads.retain(|workload| is_wanted(workload, args));
    loaded.find_positions(&cluster).await;
    if format != Format::Table && format != Format::Name {
        devices::find(&mut loaded.workloads, &cluster, Depth::Named).await;
    }
    show(&loaded, &format, context)?;
    if loaded.workloads.is_empty() && format.is_table() {
        context.out.talk(&format!("no workloads in {place}"));
    }
    Ok(Exit::Ok)
}

fn is_wanted(workload: &Workload, args: &Args) -> bool {
    let state = workload.state();
    let kind = workload.resource.kind.to_lowercase();
    let is_kind = |word: &String| {
        crate::cluster::kinds::named(word).is_some_and(|known| known.name == workload.resource.kind)
            || word.to_lowercase() == kind
    };
    (args.names.is_empty() || args.names.iter().any(|name| workload.is_called(name)))
        && args.queue.as_ref().is_none_or(|queue| *queue == workload.queue)
        && args.status.as_ref().is_none_or(|status| status.eq_ignore_ascii_case(state.phase.word()))
        && args.kind.as_ref().is_none_or(is_kind)
}

fn show(loaded: &Loaded, format: &Format, context: &mut Context) -> Result<(), Error> {
    let items =
        || json!({ "items": loaded.workloads.iter().map(Workload::to_json).collect::<Vec<_>>() });
    match format {
        Format::Table | Format::Wide => table(loaded, *format == Format::Wide, context),
        Format::Json => context.out.data(&format!("{:#}", items())),
        Format::Yaml => context.out.raw(&yaml::print(&items())),
        Format::JsonPath(template) => context.out.raw(&template.apply(&items())),
        Format::Name => {
            loaded.workloads.iter().try_for_each(|workload| context.out.data(&workload.label()))
        }
    }
}

const COLUMNS: &[Column] = &[
    Column::new("NAMESPACE"),
    Column::new("NAME"),
    Column::new("KIND").drop(9),
    Column::new("QUEUE").drop(3),
    Column::new("STATUS"),
    Column::new("READY").drop(8),
    Column::new("GPU").drop(2),
    Column::new("POS"),
    Column::new("AGE").drop(7),
    Column::new("NODES"),
    Column::new("DEVICES"),
    Column::new("MESSAGE"),
];

fn table(loaded: &Loaded, wide: bool, context: &mut Context) -> Result<(), Error> {
    if loaded.workloads.is_empty() {
        return Ok(());
    }
    let all = context.globals.all_namespaces;
    let placed = loaded.workloads.iter().any(|workload| workload.position.is_some());
    let shown = |title: &str| match title {
        "NAMESPACE" => all,
        "POS" => placed,
        "NODES" | "DEVICES" | "MESSAGE" => wide,
        _ => true,
    };
    let keep: Vec<usize> = (0..COLUMNS.len()).filter(|i| shown(COLUMNS[*i].title)).collect();
    let columns: Vec<Column> = keep.iter().map(|i| COLUMNS[*i].clone()).collect();
    let rows: Vec<Vec<Cell>> = loaded
        .workloads
        .iter()
        .map(|workload| {
            let cells = row(workload, context);
            keep.iter().map(|i| cells[*i].clone()).collect()
        })
        .collect();
    let width = if wide { usize::MAX } else { context.out.columns() };
    let text = render(&columns, &rows, width, !context.globals.no_headers);
    context.out.raw(&text)?;
    footer(loaded, context);
    Ok(())
}

fn row(workload: &Workload, context: &Context) -> Vec<Cell> {
    let state = workload.state();
    let (ready, wanted) = workload.ready();
    let gpus = workload.gpus();
    let message = state.message.as_deref().map_or_else(|| "-".to_owned(), |m| m.replace('\n', " "));
    vec![
        workload.namespace.as_str().into(),
        workload.name.as_str().into(),
        workload.resource.kind.to_lowercase().into(),
        workload.queue.as_str().into(),
        Cell::styled(state.show(), state.phase.style()),
        format!("{ready}/{wanted}").into(),
        if gpus.is_zero() { "-".into() } else { gpus.to_string().into() },
        workload.position.map_or_else(|| "-".to_owned(), |at| at.place.to_string()).into(),
        workload.age().map_or_else(|| "-".to_owned(), duration::short).into(),
        match workload.nodes().as_slice() {
            [] => "-".into(),
            [one] => (*one).into(),
            [first, rest @ ..] => format!("{first} +{}", rest.len()).into(),
        },
        devices_cell(workload).into(),
        shorten(&message, 160, &context.out).into(),
    ]
}

/// More devices than a cell of a table takes.
const DEVICES_SHOWN: usize = 2;

/// The shared devices with what the workload has of each: `GPU-1a2b… 0.5`.
fn devices_cell(workload: &Workload) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for on in &workload.devices {
        *counts.entry(format!("{} {}", on.name(), on.share)).or_default() += 1;
    }
    let each = counts.iter().take(DEVICES_SHOWN).map(|(device, pods)| match pods {
        1 => device.clone(),
        pods => format!("{device} ({pods} pods)"),
    });
    let mut cell = each.collect::<Vec<_>>().join(", ");
    if counts.len() > DEVICES_SHOWN {
        cell += &format!(" +{}", counts.len() - DEVICES_SHOWN);
    }
    if cell.is_empty() { "-".into() } else { cell }
}

fn footer(loaded: &Loaded, context: &mut Context) {
    if !loaded.hidden.is_empty() {
        context
            .out
            .warn(&format!("not shown, you may not list them: {}", loaded.hidden.join(", ")));
    }
    if !context.out.is_terminal() {
        return;
    }
    let gpus = |wanted: &dyn Fn(Phase) -> bool| {
        let mut total = crate::cluster::gpu::Total::default();
        let mut n = 0;
        for workload in &loaded.workloads {
            let phase = workload.state().phase;
            if wanted(phase) {
                n += 1;
                total.add(&workload.gpus(), 1);
            }
        }
        (n, total)
    };
    let (pending, waits) = gpus(&Phase::is_queued);
    let (running, uses) =
        gpus(&|phase| matches!(phase, Phase::Running | Phase::Starting | Phase::Degraded));
    context.out.talk("");
    context.out.talk(&format!(
        "{pending} pending ({waits} GPU), {running} running ({uses} GPU) of {}.",
        count(loaded.workloads.len(), "workload")
    ));
    if loaded.workloads.iter().any(|workload| workload.position.is_some()) {
        context.out.talk("POS is the order in which a queue's work is tried. Why it waits: kubectl kai describe NAME");
    }
}
