//! `kubectl kai list`.

pub(crate) mod groups;
pub(crate) mod pods;

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum as _;
use serde_json::json;

use crate::cluster::queue::count;
use crate::cluster::{Cluster, Detail};
use crate::commands::filter::{Filter, check_namespace};
use crate::commands::show::{Find, show};
use crate::context::Context;
use crate::plan::eta;
use crate::print::duration;
use crate::print::error::{Error, Exit};
use crate::print::flags::{ListFlags, WatchFlags};
use crate::print::format::Format;
use crate::print::output::clean;
use crate::print::parts::Parts;
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column, cut};
use crate::threads;
use crate::workload::devices::{self, Depth};
use crate::workload::eta::{Eta, When};
use crate::workload::evicted::Evictions;
use crate::workload::{Loaded, Phase, Rest, State, Workload, load_in, load_with_rest, pods_shown};
use groups::Amounts;

/// Flags of `list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubectl kai list                           what is in the namespace, and why it waits
  kubectl kai list -A --status pending -w    what waits anywhere; changes follow below
  kubectl kai list -q research --sort-by -gpu
  kubectl kai list --eta                     when what waits will start, and by what that is known
  kubectl kai list --group-by user           how much each user has and waits for
  kubectl kai list --jq '.items[] | select(.gpuMilli >= 8000) | .name'")]
pub struct Args {
    /// Names, or patterns with *; all workloads without any
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    /// A line for each queue, user or kind instead of each workload
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with = "pods")]
    group_by: Option<groups::By>,
    /// A line for each pod instead of each workload
    #[arg(long)]
    pods: bool,
    /// When what waits will start, as a range; reads the whole cluster
    #[arg(long, conflicts_with_all = ["pods", "group_by"])]
    eta: bool,
    #[command(flatten)]
    list: ListFlags,
    #[command(flatten)]
    watch: WatchFlags,
}

/// Runs `list`.
pub(crate) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    if args.pods && args.names.is_empty() && !args.filter.is_given() && !args.watch.is_on() {
        let format = context.globals.output.as_deref();
        let format = Format::asked(format, args.list.sheet.jq.as_deref())?;
        if Parts::can_print(&format, &args.list) {
            return pods::print_as_read(&format, &args.list, context).await;
        }
    }
    Box::pin(show(args, &args.list, args.watch, context)).await
}

/// Runs `top workloads`: those that have not ended, the one with the most GPUs first.
pub(crate) async fn top(
    queue: Option<String>,
    list: &ListFlags,
    watch: WatchFlags,
    context: &mut Context,
) -> Result<Exit, Error> {
    let mut list = list.clone();
    list.sheet.sort_by.get_or_insert_with(|| "-gpu".to_owned());
    let open = Phase::value_variants().iter().copied().filter(|phase| !phase.is_over());
    let filter = Filter { queue, status: open.collect(), ..Filter::default() };
    let args =
        Args { names: Vec::new(), filter, group_by: None, pods: false, eta: false, list, watch };
    Box::pin(show(&args, &args.list, watch, context)).await
}

impl Args {
    /// Says how much of each object is read: where only a table is made of them, what its rows show.
    fn detail(&self, format: &Format) -> Detail {
        match self.filter.detail() {
            Detail::Outline if matches!(format, Format::Table | Format::Name) => Detail::Row,
            detail => detail,
        }
    }

    /// Tells whether places in queues are told: lines of groups and of pods have none.
    fn has_places(&self) -> bool {
        self.group_by.is_none() && !self.pods
    }

    /// Reads workloads, and what their places are worked out from where these are told.
    async fn load(
        &self,
        cluster: &Cluster,
        scope: Option<&str>,
        format: &Format,
    ) -> Result<(Loaded, Option<Rest>), Error> {
        let detail = self.detail(format);
        if self.has_places() {
            return load_with_rest(cluster, scope, detail).await;
        }
        Ok((load_in(cluster, scope, detail).await?, None))
    }
}

impl Find for Args {
    async fn find(&self, context: &mut Context, format: &Format) -> Result<Report, Error> {
        let cluster = context.cluster().await?;
        let scope = context.scope(&cluster).map(str::to_owned);
        let (loaded, evictions) = futures::join!(
            self.load(&cluster, scope.as_deref(), format),
            Evictions::read(&cluster, scope.as_deref())
        );
        let (mut loaded, rest) = loaded?;
        evictions.mark(&mut loaded.workloads);
        let place = place(scope.as_deref());
        for name in self.names.iter().filter(|name| !name.contains('*')) {
            if !loaded.workloads.iter().any(|workload| workload.is_called(name)) {
                return Err(loaded.nobody(name, &place));
            }
        }
        if loaded.workloads.is_empty() {
            check_namespace(scope.as_deref(), &cluster).await?;
        }
        let all = loaded.workloads.len();
        if self.has_places() {
            // Before some are left out: all count.
            loaded.find_positions_of_all(&cluster, scope.as_deref(), rest).await;
        }
        self.filter.apply(&mut loaded, &cluster).await?;
        let is_named = |workload: &Workload| self.names.iter().any(|name| workload.is_called(name));
        loaded.workloads.retain(|workload| self.names.is_empty() || is_named(workload));
        // Rows can be sorted by what only the data has.
        let has_data = !format.is_rows() || self.list.sheet.sort_by.is_some();
        let mut report = match (self.group_by, self.pods) {
            (Some(by), _) => groups::report(by, &loaded.workloads),
            (None, true) => {
                let all_namespaces = context.globals.all_namespaces;
                let mut report = pods::report(&loaded.workloads, all_namespaces);
                if has_data {
                    report.data = pods::data(&loaded.workloads);
                }
                report
            }
            (None, false) => {
                if self.eta {
                    Box::pin(eta::find(&mut loaded.workloads, &cluster, &mut context.out)).await;
                }
                if !matches!(format, Format::Table | Format::Name) {
                    devices::find(&mut loaded.workloads, &cluster, Depth::Named).await;
                }
                let shown = Shown {
                    all_namespaces: context.globals.all_namespaces,
                    // Tables can be sorted by columns that they do not show.
                    wide: has_data || !matches!(format, Format::Table | Format::Name),
                    labels: self.list.show_labels,
                    ascii: context.out.is_ascii(),
                };
                let mut report = workloads(&loaded, shown);
                if has_data {
                    let items = loaded.workloads.iter().map(Workload::to_row);
                    report.data["items"] = json!(items.collect::<Vec<_>>());
                }
                report
            }
        };
        report.warnings.extend(loaded.unread.sentences("shown"));
        report.exit = loaded.unread.exit_of_failures();
        if loaded.workloads.is_empty() && format.is_table() {
            let of = if all == 0 { String::new() } else { format!("; there are {all} others") };
            context.out.talk(&format!("no workloads in {place}{of}"));
        }
        // Thousands of objects take a while to give back: the process does so as a whole where it looks once.
        if self.watch.is_on() {
            tokio::task::spawn_blocking(|| drop(loaded));
        } else {
            Box::leak(Box::new(loaded));
        }
        Ok(report)
    }
}

/// Names where a list looks.
fn place(scope: Option<&str>) -> String {
    scope.map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"))
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
    Column::new("ETA"),
    Column::new("AGE").drop(7).ages(),
    Column::new("NODES").wide(),
    Column::new("DEVICES").wide(),
    Column::new("MESSAGE").wide(),
    Column::new("ETA BASIS").wide(),
];

/// Says what of workloads is shown.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of what is shown")]
struct Shown {
    all_namespaces: bool,
    /// Also the columns of `-o wide`.
    wide: bool,
    labels: bool,
    /// Texts are cut with three full stops, not with one character.
    ascii: bool,
}

/// A line for each workload; its data are not filled in.
fn workloads(loaded: &Loaded, shown: Shown) -> Report {
    let workloads = &loaded.workloads;
    let is_placed = workloads.iter().any(|workload| workload.position.is_some());
    let is_estimated = workloads.iter().any(|workload| workload.eta.is_some());
    let is_shown = |column: &Column| match &*column.title {
        "NAMESPACE" => shown.all_namespaces,
        "POS" => is_placed,
        "ETA" => is_estimated,
        "ETA BASIS" => is_estimated && shown.wide,
        _ => shown.wide || !column.wide,
    };
    let keep: Vec<bool> = COLUMNS.iter().map(is_shown).collect();
    let made = threads::map(workloads, |workload| {
        let amounts = Amounts::of(workload);
        let mut cells = cells(workload, &amounts);
        if shown.wide {
            cells.extend(wide_cells(workload, shown.ascii));
        }
        let cells = cells.into_iter().zip(&keep).filter_map(|(cell, keep)| keep.then_some(cell));
        let key = format!("{}/{}", workload.namespace, workload.label());
        let labels = shown.labels.then(|| workload.labels()).flatten();
        let row = Row::new(workload.label(), cells.collect()).keyed(key).labelled(labels);
        (row, amounts)
    });
    let (rows, amounts): (Vec<Row>, Vec<Amounts>) = made.into_iter().unzip();
    let columns = COLUMNS.iter().zip(&keep).filter_map(|(column, keep)| keep.then_some(column));
    let table = Table { columns: columns.cloned().collect(), rows };
    let data = json!({ "items": [], "notRead": loaded.unread.kinds() });
    let mut report = Report::new("WorkloadList", data, Body::Table(table));
    if !workloads.is_empty() {
        report.footer.push(totals(&amounts));
    }
    if is_placed {
        report.footer.push("POS is the order in which a queue's work is tried. Why it waits: kubectl kai describe NAME".into());
    }
    report.footer.extend(bases(workloads));
    report
}

/// The cells of every table.
fn cells(workload: &Workload, amounts: &Amounts) -> Vec<Cell> {
    let state = workload.state();
    let (ready, wanted) = workload.ready_in(state.phase);
    let gpus = &amounts.asked;
    let number = |number: usize| i64::try_from(number).ok();
    let gpu = if gpus.is_zero() { "-".to_owned() } else { gpus.to_string() };
    let place = workload.position.map(|at| at.place);
    let place_shown = place.map_or_else(|| "-".to_owned(), |place| place.to_string());
    let age = workload.age();
    vec![
        workload.namespace.as_str().into(),
        workload.name.as_str().into(),
        workload.resource.kind.to_lowercase().into(),
        workload.queue.as_str().into(),
        Cell::styled(status(workload, state), state.phase.style()),
        Cell::ranked(format!("{ready}/{}", pods_shown(wanted)), number(ready)),
        Cell::ranked(gpu, i64::try_from(gpus.milli).ok()),
        Cell::ranked(place_shown, place.and_then(number)),
        eta_cell(workload.eta.as_ref()),
        Cell::ranked(age.map_or_else(|| "-".to_owned(), duration::short), age),
    ]
}

/// The cells that `-o wide` adds.
fn wide_cells(workload: &Workload, is_ascii: bool) -> [Cell; 4] {
    let message = workload.state().message.as_deref();
    let message = message.map_or_else(|| "-".to_owned(), |message| message.replace('\n', " "));
    [
        match workload.nodes().as_slice() {
            [] => "-".into(),
            [one] => (*one).into(),
            [first, rest @ ..] => format!("{first} +{}", rest.len()).into(),
        },
        devices_cell(workload).into(),
        cut(&message, 160, is_ascii).into(),
        workload
            .eta
            .as_ref()
            .map_or_else(|| "-".into(), |eta| cut(&eta.basis, 160, is_ascii).into()),
    ]
}

/// When it starts: what is not known comes last.
fn eta_cell(eta: Option<&Eta>) -> Cell {
    let rank = eta.and_then(|eta| eta.latest_seconds.or(eta.earliest_seconds));
    Cell::ranked(eta.map_or_else(|| "-".to_owned(), Eta::short), rank)
}

/// Says what the estimates of a list rest on, each once.
fn bases(workloads: &[Workload]) -> Option<String> {
    let etas = workloads.iter().filter_map(|workload| workload.eta.as_ref());
    let told = etas.map(|eta| match eta.when {
        When::Unknown => format!("? is not known: {}", eta.basis),
        When::Now | When::Later | When::Never => eta.basis.clone(),
    });
    let each: BTreeSet<String> = told.collect();
    let each = each.into_iter().map(|basis| clean(&basis).into_owned()).collect::<Vec<_>>();
    (!each.is_empty()).then(|| format!("ETA is an estimate. {}", each.join("; ")))
}

/// The state, and who evicted it where it was evicted and has not started again.
fn status(workload: &Workload, state: &State) -> String {
    match workload.eviction() {
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

/// Says how many wait, run and have ended, with the GPUs that wait for a node and those that are held.
fn totals(amounts: &[Amounts]) -> String {
    let mut sums = groups::Sums::default();
    for amounts in amounts {
        sums.add(amounts);
    }
    let groups::Sums { pending, running, waits, holds, left, .. } = sums;
    let left = if left.is_zero() {
        String::new()
    } else {
        format!("; work that has ended still holds {}", left.words())
    };
    format!(
        "{pending} pending, {running} running of {}. GPUs: {waits} waited for, {holds} held{left}.",
        count(amounts.len(), "workload")
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
        let all = [ended, half, waits, clings].map(|workload| Amounts::of(&workload));
        assert_eq!(
            totals(&all),
            "1 pending, 1 running of 4 workloads. GPUs: 16 waited for, 8 held; work that has ended still holds 8 GPU."
        );
    }
}
