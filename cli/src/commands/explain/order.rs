//! `kubectl kai explain --order`: whose turn is next, queue by queue.
//!
//! # Source
//! docs/behaviour.md 1.9, job order.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::flags::SheetFlags;
use crate::print::format::Format;
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column};
use crate::workload::find;
use crate::workload::position::{Turn, turns};

/// Turns that are shown of a queue, without `-o wide`.
const TURNS_SHOWN: usize = 10;

/// Shows the turns of all queues, or of the queue of a workload.
pub(super) async fn show(
    name: &str,
    format: &Format,
    flags: &SheetFlags,
    context: &mut Context,
) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let queue = match name.split_once('/') {
        _ if name.is_empty() => None,
        Some(("queue" | "queues" | "q", queue)) => Some(queue.to_owned()),
        _ => {
            let place = scope.as_deref().unwrap_or("any namespace");
            Some(find(&cluster, scope.as_deref(), name).await?.one(name, place)?.queue.clone())
        }
    };
    let all = turns(&cluster, queue.as_deref(), scope.as_deref()).await.map_err(|failure| {
        let what = format!("who waits is not known: {failure}");
        Error::from(Problem::new(number::FORBIDDEN, Exit::Forbidden, what))
    })?;
    let is_cut = *format == Format::Table && flags.of_rows().is_none();
    let shown: Vec<&Turn> =
        all.turns.iter().filter(|turn| !is_cut || turn.place <= TURNS_SHOWN).collect();
    let mut report = report(&shown);
    if shown.len() < all.turns.len() {
        let more = all.turns.len() - shown.len();
        report.footer.insert(0, format!("and {more} more: -o wide"));
    }
    if all.turns.is_empty() && format.is_table() {
        context.out.talk("nothing waits");
    }
    let flags = flags.list();
    report.arrange(&flags)?;
    report.print(format, &flags, &mut context.out)?;
    if !all.is_whole {
        context.out.warn("only this namespace was read: you may not list PodGroups of others");
    }
    Ok(Exit::Ok)
}

/// A turn for programs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item {
    /// The queue.
    queue: String,
    /// The turn in the queue, from 1.
    place: usize,
    /// Namespace of the workload.
    namespace: String,
    /// Name of the workload.
    workload: String,
    /// Priority of the workload.
    priority: i64,
    /// Time when it began to wait.
    created: String,
}

fn report(turns: &[&Turn]) -> Report {
    let items = turns.iter().map(|turn| Item {
        queue: turn.queue.clone(),
        place: turn.place,
        namespace: turn.namespace.clone(),
        workload: turn.workload.clone(),
        priority: turn.priority,
        created: turn.created.clone(),
    });
    let data = json!({ "items": items.collect::<Vec<_>>() });
    let columns = vec![
        Column::new("QUEUE"),
        Column::new("TURN").right(),
        Column::new("WORKLOAD"),
        Column::new("PRIORITY").right(),
        Column::new("SINCE").drop(1),
    ];
    let rows = turns.iter().map(|turn| row(turn)).collect();
    let mut report = Report::new("TurnList", data, Body::Table(Table { columns, rows }));
    report.footer.push(
        "Queues take turns: of those that wait, the one that has the least of its fair share is next. \
         In a queue the higher priority goes first, then the older."
            .to_owned(),
    );
    report
}

fn row(turn: &Turn) -> Row {
    let workload = format!("{}/{}", turn.namespace, turn.workload);
    let place = i64::try_from(turn.place).ok();
    let cells = vec![
        turn.queue.as_str().into(),
        Cell::ranked(turn.place.to_string(), place),
        workload.as_str().into(),
        Cell::ranked(turn.priority.to_string(), Some(turn.priority)),
        turn.created.as_str().into(),
    ];
    Row::new(workload, cells)
}
