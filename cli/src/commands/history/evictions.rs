//! `kubectl kai history evictions`: who evicted whom, when, and what it cost.

use kai_api::daily_record::EvictionRow;
use serde_json::json;

use super::Sheet;
use super::entries::{Entry, Filter, hours, moment};
use super::past::evictor;
use super::row;
use crate::cluster::Resource;
use crate::cluster::queue::count;
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::flags::SheetFlags;
use crate::print::format::Format;
use crate::print::table::{Cell, Column};
use crate::settings;

/// Flags of `history evictions`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Names of workloads that were evicted, or patterns with *
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    sheet: SheetFlags,
}

const COLUMNS: &[Column] = &[
    Column::new("WHEN"),
    Column::new("NAMESPACE"),
    Column::new("NAME"),
    Column::new("KIND").drop(5),
    Column::new("QUEUE").drop(3),
    Column::new("PODS").drop(4),
    Column::new("BY"),
    Column::new("BY QUEUE").drop(2),
    Column::new("ACTION"),
    Column::new("LOST GPU-HOURS").drop(1),
];

/// Runs `history evictions`.
pub(super) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::asked(context.globals.output.as_deref(), args.sheet.jq.as_deref())?;
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let entries = args.filter.read(scope.as_deref(), &cluster).await?;
    let is_named = |entry: &&Entry| {
        let name = &entry.record.name;
        args.names.is_empty() || args.names.iter().any(|glob| settings::matches(glob, name))
    };
    let mut rows: Vec<(&Entry, &EvictionRow)> = entries
        .rows
        .iter()
        .filter(is_named)
        .flat_map(|entry| entry.record.evictions.iter().map(move |row| (entry, row)))
        .collect();
    rows.sort_by_key(|(_, row)| row.at.as_ref().map(|at| at.0));
    let has_namespaces = context.globals.all_namespaces;
    let keep: Vec<usize> = (0..COLUMNS.len()).filter(|at| *at != 1 || has_namespaces).collect();
    let sheet = Sheet {
        kind: "EvictionHistory",
        columns: keep.iter().map(|at| COLUMNS[*at].clone()).collect(),
        rows: rows
            .iter()
            .map(|(entry, row)| {
                let cells = cells(entry, row);
                keep.iter().map(|at| cells[*at].clone()).collect()
            })
            .collect(),
        names: rows.iter().map(|(entry, _)| label(entry)).collect(),
        data: json!({
            "items": rows.iter().map(|(entry, row)| item(entry, row)).collect::<Vec<_>>()
        }),
    };
    sheet.print(&format, &args.sheet, context)?;
    if format.is_table() {
        let left_out = entries.rows.iter().filter(is_named);
        let left_out: u32 = left_out.map(|entry| entry.record.evictions_left_out).sum();
        let lost: u128 = rows.iter().map(|(_, row)| u128::from(row.lost_micro_gpu_seconds)).sum();
        let period = entries.period.show();
        context.out.talk(&match rows.len() {
            0 => format!("nothing was evicted, {period}"),
            some => format!(
                "{}, {period}: {} GPU-hours of work, lost unless it was saved",
                count(some, "eviction"),
                hours(lost)
            ),
        });
        if left_out > 0 {
            context.out.warn(&format!(
                "{left_out} earlier evictions are left out: a record keeps the last of a day"
            ));
        }
    }
    Ok(Exit::Ok)
}

fn label(entry: &Entry) -> String {
    let resource = Resource::new(&entry.record.api_version, &entry.record.kind, "");
    format!("{}/{}", resource.label(), entry.record.name)
}

fn cells(entry: &Entry, row: &EvictionRow) -> Vec<Cell> {
    let or_none = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    vec![
        row.at.as_ref().map_or_else(|| "-".to_owned(), |at| moment(at.0)).into(),
        entry.namespace.as_str().into(),
        entry.record.name.as_str().into(),
        entry.record.kind.to_lowercase().into(),
        entry.record.queue.as_str().into(),
        row.pods.to_string().into(),
        evictor(row).into(),
        or_none(&row.by_queue).into(),
        row.action.as_str().into(),
        match row.lost_micro_gpu_seconds {
            0 => "-".into(),
            lost => hours(u128::from(lost)).into(),
        },
    ]
}

/// It for programs.
fn item(entry: &Entry, eviction: &EvictionRow) -> row::Eviction {
    row::Eviction {
        namespace: entry.namespace.clone(),
        name: entry.record.name.clone(),
        kind: entry.record.kind.clone(),
        queue: entry.record.queue.clone(),
        user: entry.record.user.clone(),
        eviction: eviction.clone(),
    }
}
