//! The outcome of a simulation for people.

use crate::context::Context;
use crate::plan::words::{asks, loss};
use crate::plan::{Fate, Outcome, Start};
use crate::print::error::Error;
use crate::print::flags::ListFlags;
use crate::print::output::{Output, Style, clean};
use crate::print::report::{Body, Report};
use crate::print::table::{Cell, Column, render};

/// Rows of a part, without `-o wide`.
const ROWS_MAX: usize = 20;

/// Prints an outcome with its rows.
pub(super) fn draw(
    outcome: &Outcome,
    report: &Report,
    is_wide: bool,
    flags: &ListFlags,
    context: &mut Context,
) -> Result<(), Error> {
    let mut page = what_if(outcome);
    page += &works(outcome, report, is_wide, flags, &context.out);
    page += &evicted(outcome, is_wide);
    page += &shares(outcome, &context.out, !flags.sheet.no_headers);
    page += &assumptions(outcome);
    context.out.raw(&page)
}

fn what_if(outcome: &Outcome) -> String {
    let mut parts: Vec<String> =
        outcome.changes.iter().map(|said| clean(said).into_owned()).collect();
    parts.extend(outcome.workloads.iter().map(|fate| format!("new {}", asks(fate))));
    if parts.is_empty() {
        parts.push("nothing changes".to_owned());
    }
    format!("{}   {}\n", Style::Bold.paint("What if"), parts.join(" · "))
}

/// The rows, and why work waits.
fn works(
    outcome: &Outcome,
    report: &Report,
    is_wide: bool,
    flags: &ListFlags,
    out: &Output,
) -> String {
    let Body::Table(table) = &report.body else { return String::new() };
    let mut table = table.clone();
    let all = table.rows.len();
    if !is_wide && flags.sheet.limit.is_none() {
        table.rows.truncate(ROWS_MAX);
    }
    let mut page = String::new();
    if all > 0 {
        page += &format!("\n{}", table.text(is_wide, flags, out.columns()));
    }
    if table.rows.len() < all {
        page += &format!("and {} more: -o wide\n", all - table.rows.len());
    }
    for fate in &outcome.workloads {
        page += &why(fate);
    }
    page
}

/// Says why work waits, and when it starts.
fn why(fate: &Fate) -> String {
    let mut page = String::new();
    if let (Some(reason), false) = (&fate.reason, is_on_its_way(&fate.start)) {
        let code = fate.code.map_or_else(String::new, |code| format!("  [KAI{code}]"));
        let verb = if matches!(fate.start, Start::Never) { "can never start" } else { "waits" };
        page += &format!("\n{} {verb}: {}{code}\n", clean(&fate.name), clean(reason));
    }
    if let Some(basis) = &fate.basis {
        page += &format!("When: by {basis}\n");
    }
    page
}

fn is_on_its_way(start: &Start) -> bool {
    matches!(start, Start::Running | Start::Now | Start::AfterEvictions)
}

fn evicted(outcome: &Outcome, is_wide: bool) -> String {
    let mut page = format!("\n{}", Style::Bold.paint("Evicted"));
    if outcome.evicted.is_empty() {
        return page + "   nobody\n";
    }
    page += "\n";
    let shown = if is_wide { outcome.evicted.len() } else { outcome.evicted.len().min(ROWS_MAX) };
    for victim in &outcome.evicted[..shown] {
        page += &format!("  {}\n", clean(&loss(victim)));
    }
    if shown < outcome.evicted.len() {
        page += &format!("  and {} more: -o wide\n", outcome.evicted.len() - shown);
    }
    page
}

const SHARES: &[Column] = &[
    Column::new("QUEUE"),
    Column::new("QUOTA").drop(1).right(),
    Column::new("FAIR SHARE").right(),
    Column::new("ALLOCATED").right(),
];

/// Queues of which something changes.
fn shares(outcome: &Outcome, out: &Output, has_header: bool) -> String {
    let arrow = if out.is_ascii() { "->" } else { "→" };
    let change = |[was, is]: &[String; 2]| {
        let shown = |text: &str| if text == "-1" { "-".to_owned() } else { text.to_owned() };
        if was == is { shown(is) } else { format!("{} {arrow} {}", shown(was), shown(is)) }
    };
    let changes = |[was, is]: &[String; 2]| was != is;
    let rows: Vec<Vec<Cell>> = outcome
        .queues
        .iter()
        .filter(|share| {
            [&share.quota, &share.fair_share, &share.allocated].into_iter().any(changes)
        })
        .map(|share| {
            vec![
                clean(&share.queue).into_owned().into(),
                change(&share.quota).into(),
                change(&share.fair_share).into(),
                change(&share.allocated).into(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "\n{}\n{}",
        Style::Bold.paint("GPUs of queues that change"),
        render(SHARES, &rows, out.columns(), has_header)
    )
}

fn assumptions(outcome: &Outcome) -> String {
    let mut page = String::new();
    for (place, assumption) in outcome.assumptions.iter().enumerate() {
        page += if place == 0 { "\nAssumes   " } else { "          " };
        page += &format!("{}\n", clean(assumption));
    }
    page
}
