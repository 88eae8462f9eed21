//! The plan of a submission for people.

use super::Rendered;
use super::alternatives::Alternative;
use crate::cluster::json::text;
use crate::cluster::queue::count;
use crate::plan::words::{asks, loss, nodes, range, state};
use crate::plan::{Fate, Outcome, Share, Start};
use crate::print::output::{Output, Style, clean};
use crate::print::table::{Cell, Column, render};

/// The page.
pub(super) fn page(
    rendered: &Rendered,
    outcome: &Outcome,
    others: &[Alternative],
    out: &Output,
) -> String {
    let names: Vec<String> = rendered
        .workloads()
        .map(|object| {
            let kind = text(&object["kind"]).to_lowercase();
            format!("{kind}/{}", clean(text(&object["metadata"]["name"])))
        })
        .collect();
    let mut page =
        format!("{}  {} (nothing was created)\n", Style::Bold.paint("PLAN"), names.join(", "));
    for fate in &outcome.workloads {
        page += &of_one(fate, outcome);
    }
    for (place, assumption) in outcome.assumptions.iter().enumerate() {
        page += &row(if place == 0 { "Assumes" } else { "" }, &clean(assumption));
    }
    page + &table(outcome, others, out)
}

fn row(head: &str, text: &str) -> String {
    format!("  {head:<10}  {text}\n")
}

fn of_one(fate: &Fate, outcome: &Outcome) -> String {
    let queue = clean(&fate.queue).into_owned();
    let mut page =
        row("Asks", &format!("{} · gang of {} · queue {queue}", asks(fate), fate.min_pods));
    let on = nodes(fate).join(" ");
    let now = match &fate.start {
        Start::Running | Start::Now => format!("starts on {on}"),
        Start::AfterEvictions => format!("starts on {on} once others have left"),
        Start::Never => format!("can never start on this cluster{}", because(fate)),
        Start::Later { .. } | Start::Unknown => format!("cannot start{}", because(fate)),
    };
    page += &row("Now", &now);
    if outcome.evicted.is_empty() {
        page += &row("Evicts", "nobody");
    }
    for (place, victim) in outcome.evicted.iter().enumerate() {
        page += &row(if place == 0 { "Evicts" } else { "" }, &clean(&loss(victim)));
    }
    if let Start::Later { earliest_seconds, latest_seconds } = fate.start {
        let basis = fate.basis.as_deref().unwrap_or_default();
        page += &row("Start", &range(earliest_seconds, latest_seconds));
        page += &row("", &format!("by {basis}"));
    }
    if let Some(share) = outcome.queues.iter().find(|share| share.queue == fate.queue) {
        page += &row("Effect", &effect(share));
    }
    page
}

fn because(fate: &Fate) -> String {
    let code = fate.code.map_or_else(String::new, |code| format!(" [KAI{code}]"));
    let because = |reason: &String| format!(": {}{code}", clean(reason));
    fate.reason.as_ref().map_or_else(String::new, because)
}

fn effect(share: &Share) -> String {
    let [was, is] = &share.allocated;
    let fair = &share.fair_share[1];
    let of = format!("fair share {fair}, quota {}", share.quota[1].replace("-1", "none"));
    if was == is {
        format!("{} stays at {} ({of})", clean(&share.queue), count(is, "GPU"))
    } else {
        format!("{} goes from {was} to {} ({of})", clean(&share.queue), count(is, "GPU"))
    }
}

const ALTERNATIVES: &[Column] =
    &[Column::new("ALTERNATIVE"), Column::new("START"), Column::new("COST")];

fn table(outcome: &Outcome, others: &[Alternative], out: &Output) -> String {
    let Some(fate) = outcome.workloads.first().filter(|_| !others.is_empty()) else {
        return String::new();
    };
    let mut rows: Vec<Vec<Cell>> =
        vec![vec!["as asked".into(), state(&fate.start).into(), "-".into()]];
    rows.extend(others.iter().map(|other| {
        let cost = if other.cost.is_empty() { "-" } else { &*other.cost };
        vec![
            clean(&other.flags).into_owned().into(),
            state(&other.start).into(),
            clean(cost).into_owned().into(),
        ]
    }));
    format!("\n{}", render(ALTERNATIVES, &rows, out.columns(), true))
}
