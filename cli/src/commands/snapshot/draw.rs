//! The report of a snapshot for people.

use serde_json::Value;

use crate::cluster::json::text;
use crate::cluster::queue::count;
use crate::context::Context;
use crate::print::error::Error;
use crate::print::flags::SheetFlags;
use crate::print::output::{Output, Style, clean};
use crate::print::table::{Cell, Column, render};

/// Lines of a part, without `-o wide`.
const LINES_MAX: usize = 20;

/// Prints a report: of its rows those that were left by the flags.
pub(super) fn draw(
    report: &Value,
    is_wide: bool,
    flags: &SheetFlags,
    context: &mut Context,
) -> Result<(), Error> {
    let mut page = head(report);
    page += &queues(report, &context.out, !flags.no_headers);
    let rows = items(&report["items"]);
    for (verb, decision) in
        [("bind", "bind"), ("promise", "nominate"), ("evict", "evict"), ("wait", "wait")]
    {
        let of = rows.iter().filter(|row| row["decision"] == decision);
        let lines: Vec<String> = of.map(|row| line(decision, row)).collect();
        page += &part(verb, &lines, is_wide || flags.limit.is_some());
    }
    if ["bind", "nominate", "evict"].iter().all(|key| items(&report["plan"][*key]).is_empty()) {
        page += "\nnothing would be bound or evicted\n";
    }
    context.out.raw(&page)
}

fn head(report: &Value) -> String {
    let number = |key: &str| report["counts"][key].as_u64().unwrap_or(0);
    let pods = &report["pods"];
    let of = |stage: &str| pods[stage].as_u64().unwrap_or(0);
    let version = report["serverVersion"].as_str();
    let version =
        version.map_or_else(String::new, |version| format!(" · Kubernetes {}", clean(version)));
    // KAI does not say when, and no object is younger than its file.
    let end = if report["isDated"] == true { "" } else { " or later" };
    format!(
        "taken {}{end}{version} · scheduler {} · node pool {}\n\
         {} · {} · {} · {} ({} placed, {} pending, {} gated, {} leaving, {} ended)\n",
        text(&report["taken"]),
        clean(text(&report["schedulerName"])),
        clean(text(&report["nodePool"])),
        count(number("nodes"), "node"),
        count(number("queues"), "queue"),
        count(number("podGroups"), "PodGroup"),
        count(number("pods"), "pod"),
        of("placed"),
        of("pending") + of("nominated"),
        of("gated"),
        of("leaving"),
        of("ended"),
    )
}

const QUEUES: &[Column] = &[
    Column::new("QUEUE"),
    Column::new("PARENT").drop(2),
    Column::new("QUOTA").right(),
    Column::new("LIMIT").drop(1).right(),
    Column::new("FAIR SHARE").right(),
    Column::new("ALLOCATED").right(),
    Column::new("REQUESTED").right(),
];

/// GPUs of queues, as they would be after the plan.
fn queues(report: &Value, out: &Output, headers: bool) -> String {
    let rows: Vec<Vec<Cell>> = items(&report["queues"])
        .iter()
        .map(|queue| {
            let amount = |key: &str| match text(&queue["gpu"][key]) {
                "-1" => Cell::from("-"),
                amount => Cell::from(amount),
            };
            vec![
                Cell::from(text(&queue["name"])),
                Cell::from(text(&queue["parent"])),
                amount("quota"),
                amount("limit"),
                amount("fairShare"),
                amount("allocated"),
                amount("requested"),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "\nGPUs of queues after the next decision\n{}",
        render(QUEUES, &rows, out.columns(), headers)
    )
}

/// Says what is decided of a `PodGroup`: the nodes with how many pods, or why it waits.
fn line(decision: &str, row: &Value) -> String {
    let group = format!("{}/{}", clean(text(&row["namespace"])), clean(text(&row["podGroup"])));
    let mut message = text(&row["message"]).lines().map(str::trim);
    if decision == "wait" {
        let message: Vec<&str> = message.collect();
        let queue = clean(text(&row["queue"])).into_owned();
        return format!("{group} in {queue}: {}", clean(&message.join(" ")));
    }
    let nodes: Vec<&str> = items(&row["nodes"]).iter().map(text).collect();
    let preposition = if decision == "evict" { "from" } else { "on" };
    let why = message.next().map_or_else(String::new, |text| format!("  {}", clean(text)));
    format!("{group} {preposition} {}{why}", clean(&nodes.join(" ")))
}

fn part(verb: &str, lines: &[String], is_wide: bool) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let shown = if is_wide { lines.len() } else { lines.len().min(LINES_MAX) };
    let mut page = format!(
        "\n{}\n",
        Style::Bold.paint(&format!("{verb}: {}", count(lines.len(), "PodGroup")))
    );
    for line in &lines[..shown] {
        page += &format!("  {line}\n");
    }
    if shown < lines.len() {
        page += &format!("  and {} more: -o wide\n", lines.len() - shown);
    }
    page
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
