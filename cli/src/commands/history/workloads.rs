//! `kubectl kai history` itself: a line for each workload, or one of them on a page.

use jiff::Timestamp;
use serde_json::json;

use super::entries::{hours, moment};
use super::page::page;
use super::past::{Past, evictor, gpus, span, style};
use super::{Args, Sheet};
use crate::cluster::queue::count;
use crate::commands::filter::check_namespace;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::Format;
use crate::print::table::{Cell, Column};
use crate::settings;

const COLUMNS: &[Column] = &[
    Column::new("NAMESPACE"),
    Column::new("NAME"),
    Column::new("KIND").drop(8),
    Column::new("QUEUE").drop(4),
    Column::new("USER").drop(6),
    Column::new("STATUS"),
    Column::new("CREATED").drop(5),
    Column::new("WAITED").drop(3),
    Column::new("RAN").drop(2),
    Column::new("GPU").drop(7),
    Column::new("GPU-HOURS"),
    Column::new("EVICTED BY").drop(1),
];

/// Runs `history` for workloads.
pub(super) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let Args { names, filter, sheet: flags, .. } = args;
    let names = names.as_slice();
    let format = Format::asked(context.globals.output.as_deref(), flags.jq.as_deref())?;
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let entries = filter.read(scope.as_deref(), &cluster).await?;
    let place =
        scope.as_deref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let period = entries.period.show();
    let mut all = Past::all(entries.rows);
    if all.is_empty() {
        check_namespace(scope.as_deref(), &cluster).await?;
    }
    for name in names.iter().filter(|name| !name.contains('*')) {
        if !all.iter().any(|past| is_called(past, name)) {
            return Err(nobody(name, &place, &period));
        }
    }
    all.retain(|past| names.is_empty() || names.iter().any(|name| is_called(past, name)));
    if let ([one], [name]) = (all.as_slice(), names)
        && format.is_table()
        && flags.of_rows().is_none()
        && !name.contains('*')
    {
        context.out.raw(&page(one, Timestamp::now()))?;
        return Ok(Exit::Ok);
    }
    sheet(&all, context.globals.all_namespaces).print(&format, flags, context)?;
    if format.is_table() {
        let total: u128 = all.iter().map(Past::micro_gpu_seconds).sum();
        let workloads: u64 = all.iter().map(Past::count).sum();
        context.out.talk(&match usize::try_from(workloads).unwrap_or(usize::MAX) {
            0 => format!("no workloads in {place}, {period}"),
            some => {
                format!("{}, {period}: {} GPU-hours", count(some, "workload"), hours(total))
            }
        });
    }
    Ok(Exit::Ok)
}

/// Tells whether a word means a workload: its name, or `kind/name`; patterns are matched.
fn is_called(past: &Past, word: &str) -> bool {
    if let Some((kind, name)) = word.split_once('/') {
        let is_kind = crate::cluster::kinds::named(kind).is_some_and(|k| k.name == past.last.kind)
            || kind.eq_ignore_ascii_case(&past.last.kind)
            || past.label().starts_with(&format!("{kind}/"));
        return is_kind && settings::matches(name, &past.last.name);
    }
    settings::matches(word, &past.last.name)
}

fn nobody(name: &str, place: &str, period: &str) -> Error {
    let what = format!("no record of \"{name}\" in {place}, {period}");
    Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what)
        .line("records are written some seconds after a change, and kept for some weeks")
        .fix("kubectl kai history --since none   or, in all namespaces: kubectl kai history -A")
        .into()
}

fn sheet(all: &[Past], has_namespaces: bool) -> Sheet {
    let first = usize::from(!has_namespaces);
    let has_users = all.iter().any(|past| past.last.user.is_some());
    let keep: Vec<usize> =
        (first..COLUMNS.len()).filter(|at| COLUMNS[*at].title != "USER" || has_users).collect();
    let rows = all.iter().map(|past| {
        let cells = row(past);
        keep.iter().map(|at| cells[*at].clone()).collect()
    });
    Sheet {
        kind: "WorkloadHistory",
        columns: keep.iter().map(|at| COLUMNS[*at].clone()).collect(),
        rows: rows.collect(),
        names: all.iter().map(Past::label).collect(),
        data: json!({ "items": all.iter().map(Past::row).collect::<Vec<_>>() }),
    }
}

fn row(past: &Past) -> Vec<Cell> {
    let last = past.evictions().last();
    let by = last.map_or_else(
        || "-".to_owned(),
        |row| {
            let by = evictor(row);
            let by = if by == "-" { row.action.clone() } else { format!("{by} ({})", row.action) };
            match past.evictions_count() {
                1 => by,
                more => format!("{by}, {more} times"),
            }
        },
    );
    vec![
        past.namespace.as_str().into(),
        past.last.name.as_str().into(),
        past.last.kind.to_lowercase().into(),
        past.last.queue.as_str().into(),
        past.last.user.as_deref().unwrap_or("-").into(),
        Cell::styled(past.last.outcome.as_str(), style(past.last.outcome)),
        past.created().map_or_else(|| "-".to_owned(), moment).into(),
        span(past.sum(|record| record.wait_seconds)).into(),
        span(past.sum(|record| record.run_seconds)).into(),
        gpus(past.peak_micro_gpus()).into(),
        match past.micro_gpu_seconds() {
            0 => "-".into(),
            some => hours(some).into(),
        },
        by.into(),
    ]
}
