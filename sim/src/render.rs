//! Plans and verdicts as text, in a stable order: what scenario files expect and what the CLI prints.
//!
//! ```text
//! evict    q1-half      from node0/0  for q0-waiting  reclaim from queue1
//! nominate q0-waiting   on   node0/0
//! place    train-0..3   on   node1
//! wait     huge         no room: 4 nodes short of gpu; free 6 GPUs, at most 4 on a node
//! idle
//! ```

use std::{collections::BTreeMap, fmt::Write};

use kai_engine::{Change, Eviction, GroupId, NodeId, Plan, PodId, Reserved, Why};

use crate::names::Names;

mod help;
mod proof;
mod why;

pub use help::help;
pub use proof::proof;
pub use why::{search, why};

/// `plan` as lines; `idle` when nothing is to do and nothing waits.
///
/// Changes keep the order in which they are carried out, verdicts are sorted by group. Pods of one group that
/// go the same way share a line.
pub fn plan(plan: &Plan, names: &Names) -> String {
    let verdicts = plan.verdicts.iter().map(|verdict| (verdict.group, &verdict.why));
    text(&plan.changes, verdicts, names)
}

/// The same for any changes and verdicts.
pub fn text<'a>(
    changes: &[Change],
    verdicts: impl Iterator<Item = (GroupId, &'a Why)>,
    names: &Names,
) -> String {
    let mut rows: Vec<Row> = Vec::new();
    for change in changes {
        let row = row(change, names);
        match rows.last_mut() {
            Some(last) if last.same_way(&row) => last.pods.extend(row.pods),
            Some(_) | None => rows.push(row),
        }
    }
    // What is said last of a group is what holds at the end of the cycle.
    let last: BTreeMap<GroupId, &Why> = verdicts.collect();
    let mut waits: Vec<Row> =
        last.into_iter().filter_map(|(group, why)| waiting(group, why, names)).collect();
    waits.sort_by(|a, b| a.pods.cmp(&b.pods));
    rows.extend(waits);
    if rows.is_empty() {
        return "idle\n".to_owned();
    }
    align(&rows)
}

/// One line before it is aligned.
#[derive(Debug)]
struct Row {
    verb: &'static str,
    pods: Vec<String>,
    preposition: &'static str,
    place: String,
    rest: String,
}

impl Row {
    fn same_way(&self, other: &Self) -> bool {
        self.verb == other.verb && self.place == other.place && self.rest == other.rest
    }
}

fn row(change: &Change, names: &Names) -> Row {
    let make = |verb, pod: &PodId, (preposition, place), rest| Row {
        verb,
        pods: vec![names.of_pod(*pod).to_owned()],
        preposition,
        place,
        rest,
    };
    match change {
        Change::Place { pod, node, devices, reserved, .. } => {
            let held = reserved.as_deref().map_or_else(String::new, |held| self::held(held, names));
            make("place", pod, ("on", place(*node, devices, names) + &held), String::new())
        }
        Change::Nominate { pod, node, devices, reserved } => {
            let held = reserved.as_deref().map_or_else(String::new, |held| self::held(held, names));
            make("nominate", pod, ("on", place(*node, devices, names) + &held), String::new())
        }
        Change::Evict { pod, node, reason } => {
            make("evict", pod, ("from", names.of_node(*node).to_owned()), eviction(reason, names))
        }
    }
}

/// `node0`, or `node0/0+1` where devices are shared.
fn place(node: NodeId, devices: &[kai_engine::DeviceId], names: &Names) -> String {
    let node = names.of_node(node);
    if devices.is_empty() {
        return node.to_owned();
    }
    let prefix = format!("{node}/");
    let numbers: Vec<&str> = devices
        .iter()
        .map(|device| names.of_device(*device))
        .map(|device| device.strip_prefix(&prefix).unwrap_or(device))
        .collect();
    format!("{prefix}{}", numbers.join("+"))
}

/// `[gpu-0 gpu-1]` for devices of claims, ` zone 0+1` for NUMA zones.
fn held(reserved: &Reserved, names: &Names) -> String {
    let mut text = String::new();
    if !reserved.claims.is_empty() {
        let devices = reserved.claims.iter().map(|claimed| names.of_slice_device(claimed.device));
        let devices: Vec<&str> =
            devices.map(|name| name.split_once('/').map_or(name, |(_, device)| device)).collect();
        let _ = write!(text, "[{}]", devices.join(" "));
    }
    let mut zones: Vec<String> = reserved.zones.iter().map(|held| held.zone.to_string()).collect();
    zones.sort();
    zones.dedup();
    if !zones.is_empty() {
        let _ = write!(text, " zone {}", zones.join("+"));
    }
    text
}

/// `for q0-waiting  reclaim from queue1`.
fn eviction(reason: &Eviction, names: &Names) -> String {
    match reason {
        Eviction::Reclaim { for_group, from, .. } => format!(
            "for {}  reclaim from {}",
            names.of_group(*for_group),
            names.of_queue(from.queue)
        ),
        Eviction::Preempt { for_group } => {
            format!("for {}  preempt: it has a higher priority", names.of_group(*for_group))
        }
        Eviction::Consolidate { for_group } => {
            format!("for {}  consolidation", names.of_group(*for_group))
        }
        Eviction::Stale { sub_group, min } => {
            let sub_group = names.of_symbol(*sub_group);
            let whose =
                if sub_group.is_empty() { String::new() } else { format!(" of {sub_group}") };
            format!("stale: fewer than {min} pods{whose} are left")
        }
    }
}

fn waiting(group: GroupId, verdict: &Why, names: &Names) -> Option<Row> {
    let rest = why(verdict, names)?;
    Some(Row {
        verb: "wait",
        pods: vec![names.of_group(group).to_owned()],
        preposition: "",
        place: String::new(),
        rest,
    })
}

/// Lays rows out in columns that are as wide as their widest entry.
fn align(rows: &[Row]) -> String {
    let pods: Vec<String> = rows.iter().map(|row| ranges(&row.pods)).collect();
    let verbs = rows.iter().map(|row| row.verb.len()).max().unwrap_or(0);
    let width = pods.iter().map(String::len).max().unwrap_or(0);
    let prepositions = rows.iter().map(|row| row.preposition.len()).max().unwrap_or(0);
    let evicts = rows.iter().filter(|row| !row.preposition.is_empty() && !row.rest.is_empty());
    let places = evicts.map(|row| row.place.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (row, pods) in rows.iter().zip(pods) {
        let mut line = format!("{:verbs$} {pods:width$}", row.verb);
        if !row.preposition.is_empty() {
            let _ = write!(line, "  {:prepositions$} {:places$}", row.preposition, row.place);
        }
        if !row.rest.is_empty() {
            line.push_str("  ");
            line.push_str(&row.rest);
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// `a-0 a-1 a-2 b` is `a-0..2 b`.
fn ranges(pods: &[String]) -> String {
    let split = |pod: &str| -> Option<(String, u64)> {
        let (stem, number) = pod.rsplit_once('-')?;
        let number: u64 = number.parse().ok()?;
        // A number that prints differently, such as 007, stays as it is.
        (pod == format!("{stem}-{number}")).then(|| (stem.to_owned(), number))
    };
    let mut runs: Vec<(String, Option<(u64, u64)>)> = Vec::new();
    for pod in pods {
        match (split(pod), runs.last_mut()) {
            (Some((stem, number)), Some((last, Some((_, end)))))
                if *last == stem && *end + 1 == number =>
            {
                *end = number;
            }
            (Some((stem, number)), _) => runs.push((stem, Some((number, number)))),
            (None, _) => runs.push((pod.clone(), None)),
        }
    }
    let words = runs.iter().map(|(stem, numbers)| match numbers {
        None => stem.clone(),
        Some((first, last)) if first == last => format!("{stem}-{first}"),
        Some((first, last)) => format!("{stem}-{first}..{last}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn consecutive_pods_become_ranges() {
        let pods = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (given, expect) in [
            ("a-0 a-1 a-2 b", "a-0..2 b"),
            ("a-0 a-2 a-3", "a-0 a-2..3"),
            ("a-1 b-2", "a-1 b-2"),
            ("a-007 a-008", "a-007 a-008"),
            ("a-2 a-1", "a-2 a-1"),
        ] {
            assert_eq!(ranges(&pods(given)), expect);
        }
    }
}
