//! `kubectl kai explain --order`: whose turn is next, queue by queue.
//!
//! # Source
//! docs/behaviour.md 1.9, job order.

use serde_json::json;

use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::{self, Format};
use crate::print::output::clean;
use crate::print::table::{Cell, Column, render};
use crate::workload::find;
use crate::workload::position::{Turn, turns};

/// Turns that are shown of a queue, without `-o wide`.
const TURNS_SHOWN: usize = 10;

/// Shows the turns of all queues, or of the queue of a workload.
pub(super) async fn show(
    name: &str,
    format: &Format,
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
    let data = json!({"items": all.turns.iter().map(|turn| json!({
        "queue": turn.queue, "place": turn.place, "namespace": turn.namespace, "workload": turn.workload,
        "priority": turn.priority, "created": turn.created,
    })).collect::<Vec<_>>()});
    if format::report(&data, format, &mut context.out)? {
        return Ok(Exit::Ok);
    }
    if *format == Format::Name {
        let lines = all.turns.iter().map(|turn| format!("{}/{}", turn.namespace, turn.workload));
        lines.into_iter().try_for_each(|line| context.out.data(&clean(&line)))?;
        return Ok(Exit::Ok);
    }
    if all.turns.is_empty() {
        context.out.talk("nothing waits");
        return Ok(Exit::Ok);
    }
    let is_wide = *format == Format::Wide;
    let shown = all.turns.iter().filter(|turn| is_wide || turn.place <= TURNS_SHOWN);
    let rows: Vec<Vec<Cell>> = shown.map(row).collect();
    let columns = [
        Column::new("QUEUE"),
        Column::new("TURN").right(),
        Column::new("WORKLOAD"),
        Column::new("PRIORITY").right(),
        Column::new("SINCE").drop(1),
    ];
    let width = context.out.columns();
    context.out.raw(&render(&columns, &rows, width, true))?;
    if context.out.is_terminal() {
        context.out.talk(
            "Queues take turns: of those that wait, the one that has the least of its fair share is next. \
             In a queue the higher priority goes first, then the older.",
        );
    }
    if !all.is_whole {
        context.out.warn("only this namespace was read: you may not list PodGroups of others");
    }
    Ok(Exit::Ok)
}

fn row(turn: &Turn) -> Vec<Cell> {
    vec![
        turn.queue.as_str().into(),
        turn.place.to_string().into(),
        format!("{}/{}", turn.namespace, turn.workload).as_str().into(),
        turn.priority.to_string().into(),
        turn.created.as_str().into(),
    ]
}
