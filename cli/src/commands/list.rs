//! `kubectl kai list`.

use std::collections::BTreeMap;

use serde_json::json;

use crate::cluster::gpu::Total;
use crate::cluster::queue::count;
use crate::commands::filter::{Filter, check_namespace};
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::format::Format;
use crate::print::table::{Cell, Column, render, shorten};
use crate::print::{duration, yaml};
use crate::workload::devices::{self, Depth};
use crate::workload::history::find_evictions;
use crate::workload::{Loaded, Phase, State, Workload, load};

/// Flags of `list`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Names, or patterns with *; all workloads without any
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    filter: Filter,
}

/// Runs `list`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::read(context.globals.output.as_deref())?;
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let mut loaded = load(&cluster, scope.as_deref()).await?;
    find_evictions(&mut loaded.workloads, &cluster, scope.as_deref()).await;
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    for name in args.names.iter().filter(|name| !name.contains('*')) {
        if !loaded.workloads.iter().any(|workload| workload.is_called(name)) {
            return Err(loaded.nobody(name, &place));
        }
    }
    if loaded.workloads.is_empty() {
        check_namespace(scope.as_deref(), &cluster).await?;
    }
    let all = loaded.workloads.len();
    args.filter.apply(&mut loaded, &cluster).await?;
    let is_named = |workload: &Workload| args.names.iter().any(|name| workload.is_called(name));
    loaded.workloads.retain(|workload| args.names.is_empty() || is_named(workload));
    loaded.find_positions(&cluster).await;
    if format != Format::Table && format != Format::Name {
        devices::find(&mut loaded.workloads, &cluster, Depth::Named).await;
    }
    show(&loaded, &format, context)?;
    if loaded.workloads.is_empty() && format.is_table() {
        let of = if all == 0 { String::new() } else { format!("; there are {all} others") };
        context.out.talk(&format!("no workloads in {place}{of}"));
    }
    Ok(Exit::Ok)
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
    // Work that has ended asks for nothing; what it still holds is worth a look.
    let gpus = if state.phase.is_over() { workload.gpus_held() } else { workload.gpus() };
    let message = state.message.as_deref().map_or_else(|| "-".to_owned(), |m| m.replace('\n', " "));
    vec![
        workload.namespace.as_str().into(),
        workload.name.as_str().into(),
        workload.resource.kind.to_lowercase().into(),
        workload.queue.as_str().into(),
        Cell::styled(status(workload, &state), state.phase.style()),
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

/// The state, and who evicted it where it was evicted and has not started again.
fn status(workload: &Workload, state: &State) -> String {
    match &workload.eviction {
        Some(eviction) if state.reason.as_deref() == Some("Evicted") => {
            eviction.status().replacen('e', "E", 1)
        }
        Some(eviction) => format!("{}, {}", state.show(), eviction.status()),
        None => state.show(),
    }
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
    context.out.talk("");
    context.out.talk(&totals(&loaded.workloads));
    if loaded.workloads.iter().any(|workload| workload.position.is_some()) {
        context.out.talk("POS is the order in which a queue's work is tried. Why it waits: kubectl kai describe NAME");
    }
}

/// How many wait, run and have ended, with the GPUs that wait for a node and those that are held.
fn totals(workloads: &[Workload]) -> String {
    let (mut waits, mut holds, mut left) = (Total::default(), Total::default(), Total::default());
    let (mut pending, mut running) = (0, 0);
    for workload in workloads {
        let phase = workload.state().phase;
        let held = workload.gpus_held();
        if phase.is_over() {
            left.add(&held, 1);
            continue;
        }
        pending += usize::from(phase.is_queued());
        running += usize::from(matches!(phase, Phase::Running | Phase::Starting | Phase::Degraded));
        if phase != Phase::Suspended {
            waits.add(&workload.gpus().less(&held), 1);
        }
        holds.add(&held, 1);
    }
    let left = if left.is_zero() {
        String::new()
    } else {
        format!("; work that has ended still holds {left} GPU")
    };
    format!(
        "{pending} pending, {running} running of {}. GPUs: {waits} waited for, {holds} held{left}.",
        count(workloads.len(), "workload")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workload of a kind with these pods: phase and node.
    fn workload(name: &str, pods: &[(&str, &str)]) -> Workload {
        let pod = |(phase, node): &(&str, &str)| {
            let limits = json!({"limits": {"nvidia.com/gpu": "8"}});
            json!({"metadata": {"name": name}, "status": {"phase": phase},
                "spec": {"nodeName": node, "containers": [{"resources": limits}]}})
        };
        let pods: Vec<_> = pods.iter().map(pod).collect();
        let mut workload = Workload::of_pod(&pods[0]);
        workload.object = Some(pods[0].clone());
        workload.pods = pods;
        workload
    }

    #[test]
    fn what_is_held_and_what_is_waited_for_add_up_to_what_is_asked_for() {
        let ended = workload("ended", &[("Succeeded", "n")]);
        let half = workload("half", &[("Running", "n"), ("Pending", "")]);
        let waits = workload("waits", &[("Pending", "")]);
        let mut clings = workload("clings", &[("Failed", "n"), ("Running", "n")]);
        clings.object = Some(json!({"status": {"phase": "Failed"}}));
        assert_eq!(
            totals(&[ended, half, waits, clings]),
            "1 pending, 1 running of 4 workloads. GPUs: 16 waited for, 8 held; work that has ended still holds 8 GPU."
        );
    }
}
