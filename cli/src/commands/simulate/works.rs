//! The work of a simulation, a row each: what is asked about, and what fares otherwise.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::plan::words::{Told, nodes, state, told};
use crate::plan::{Fate, Outcome, Shift, Situation, Start};
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column};

/// A simulation for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Simulation<'o> {
    #[serde(flatten)]
    told: Told<'o>,
    /// The work in one list: first what is asked about, then what fares otherwise.
    items: Vec<Work>,
}

/// Work that is asked about, or fares otherwise.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Work {
    namespace: String,
    name: String,
    queue: String,
    /// Holds what it does now; absent where it is not there yet.
    before: Option<Start>,
    /// Holds what it does then.
    after: Start,
    /// The nodes where it runs then.
    nodes: Vec<String>,
    /// Tells whether pods of it have to leave.
    is_evicted: bool,
}

/// The report of an outcome.
pub(super) fn report(outcome: &Outcome, situation: &Situation) -> Report {
    let mut items: Vec<Work> = outcome.workloads.iter().map(of_fate).collect();
    items.extend(outcome.others.iter().map(|shift| of_shift(shift, outcome)));
    let counted = outcome.workloads.iter().map(nodes).chain(std::iter::repeat(Vec::new()));
    let rows = items.iter().zip(counted).map(|(work, counted)| row(work, &counted)).collect();
    let columns = vec![
        Column::new("WORKLOAD"),
        Column::new("QUEUE").drop(1),
        Column::new("NOW"),
        Column::new("THEN"),
    ];
    let data = json!(Simulation { told: told(outcome, situation), items });
    Report::new("Simulation", data, Body::Table(Table { columns, rows }))
}

fn of_fate(fate: &Fate) -> Work {
    let mut nodes: Vec<String> = fate.pods.iter().filter_map(|pod| pod.node.clone()).collect();
    nodes.sort();
    nodes.dedup();
    Work {
        namespace: fate.namespace.clone(),
        name: fate.name.clone(),
        queue: fate.queue.clone(),
        before: None,
        after: fate.start.clone(),
        nodes,
        is_evicted: false,
    }
}

fn of_shift(shift: &Shift, outcome: &Outcome) -> Work {
    let is_it = |namespace: &str, name: &str| name == shift.name && namespace == shift.namespace;
    Work {
        namespace: shift.namespace.clone(),
        name: shift.name.clone(),
        queue: shift.queue.clone(),
        before: Some(shift.before.clone()),
        after: shift.after.clone(),
        nodes: shift.nodes.clone(),
        is_evicted: outcome.evicted.iter().any(|one| is_it(&one.namespace, &one.name)),
    }
}

/// The cells of work; `counted` are its nodes with how many of its pods go there, where that is known.
fn row(work: &Work, counted: &[String]) -> Row {
    let nodes = if counted.is_empty() { &work.nodes } else { counted };
    let then = match (&work.after, work.is_evicted) {
        (Start::Running | Start::Now | Start::AfterEvictions, true) => {
            format!("restarts on {}", nodes.join(" "))
        }
        (other, true) => format!("evicted, {}", state(other)),
        (other, false) => then(other, nodes),
    };
    let name = format!("{}/{}", work.namespace, work.name);
    let now = work.before.as_ref().map_or_else(|| "-".to_owned(), state);
    let cells: Vec<Cell> =
        vec![name.as_str().into(), work.queue.as_str().into(), now.into(), then.into()];
    Row::new(name, cells)
}

fn then(start: &Start, nodes: &[String]) -> String {
    let on = if nodes.is_empty() { String::new() } else { format!(" on {}", nodes.join(" ")) };
    match start {
        Start::Now => format!("starts now{on}"),
        Start::AfterEvictions => format!("starts once others have left{on}"),
        Start::Running => format!("runs{on}"),
        other => state(other),
    }
}
