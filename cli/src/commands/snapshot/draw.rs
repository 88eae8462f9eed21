//! The report of a snapshot for people.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cluster::json::text;
use crate::context::Context;
use crate::print::error::Error;
use crate::print::output::{Output, Style, clean};
use crate::print::table::{Cell, Column, render};

/// Lines of a part, without `-o wide`.
const LINES_MAX: usize = 20;

/// Prints a report.
pub(super) fn draw(report: &Value, is_wide: bool, context: &mut Context) -> Result<(), Error> {
    let mut page = head(report);
    page += &queues(report, &context.out, true);
    let plan = &report["plan"];
    for (verb, key) in [("bind", "bind"), ("promise", "nominate"), ("evict", "evict")] {
        page += &part(verb, &changes(verb, &plan[key]), is_wide);
    }
    page += &part("wait", &waits(&plan["wait"]), is_wide);
    if ["bind", "nominate", "evict"].iter().all(|key| items(&plan[*key]).is_empty()) {
        page += "\nnothing would be bound or evicted\n";
    }
    context.out.raw(&page)
}

fn head(report: &Value) -> String {
    let count = |key: &str| report["counts"][key].as_u64().unwrap_or(0);
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
        many(count("nodes"), "node"),
        many(count("queues"), "queue"),
        many(count("podGroups"), "PodGroup"),
        many(count("pods"), "pod"),
        of("placed"),
        of("pending") + of("nominated"),
        of("gated"),
        of("leaving"),
        of("ended"),
    )
}

/// So many of something.
pub(super) fn many(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
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

/// Changes by `PodGroup`: a line each, with the nodes and how many pods.
fn changes(verb: &str, changes: &Value) -> Vec<String> {
    let mut groups: BTreeMap<(String, String), Vec<&Value>> = BTreeMap::new();
    for change in items(changes) {
        let group = change["podGroup"].as_str().unwrap_or_else(|| text(&change["pod"]));
        let key = (text(&change["namespace"]).to_owned(), group.to_owned());
        groups.entry(key).or_default().push(change);
    }
    groups
        .into_iter()
        .map(|((namespace, group), pods)| {
            let mut nodes: BTreeMap<&str, usize> = BTreeMap::new();
            for pod in &pods {
                *nodes.entry(text(&pod["node"])).or_default() += 1;
            }
            let nodes: Vec<String> = nodes
                .into_iter()
                .map(|(node, count)| {
                    if count == 1 {
                        clean(node).into_owned()
                    } else {
                        format!("{}×{count}", clean(node))
                    }
                })
                .collect();
            let preposition = if verb == "evict" { "from" } else { "on" };
            let message = pods[0]["message"].as_str().and_then(|text| text.lines().next());
            let why = message.map_or_else(String::new, |text| format!("  {}", clean(text)));
            format!(
                "{}/{} {preposition} {}{why}",
                clean(&namespace),
                clean(&group),
                nodes.join(" ")
            )
        })
        .collect()
}

/// Who waits, by what is said: a line for each reason.
fn waits(waits: &Value) -> Vec<String> {
    items(waits)
        .iter()
        .map(|wait| {
            let message: Vec<&str> = text(&wait["message"]).lines().map(str::trim).collect();
            format!(
                "{}/{} in {}: {}",
                clean(text(&wait["namespace"])),
                clean(text(&wait["podGroup"])),
                clean(text(&wait["queue"])),
                clean(&message.join(" ")),
            )
        })
        .collect()
}

fn part(verb: &str, lines: &[String], is_wide: bool) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let shown = if is_wide { lines.len() } else { lines.len().min(LINES_MAX) };
    let mut page = format!(
        "\n{}\n",
        Style::Bold.paint(&format!("{verb}: {}", many(lines.len() as u64, "PodGroup")))
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
