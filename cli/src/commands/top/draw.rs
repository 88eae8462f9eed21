//! Draws devices for a person: a line each, or a character each.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr as _;

use super::nodes::{Device, Holder, Node, Slices, State};
use crate::cluster::gpu;
use crate::print::output::{Output, Style, clean};
use crate::print::report::{Row, Table};
use crate::print::table::{Cell, Column, shorten};

/// Width of a bar in characters.
const BAR: u64 = 10;
/// On a narrower terminal there are no bars.
const WIDTH_OF_BARS: usize = 60;
/// On a terminal as wide as this, and on pipes, UUIDs stand in full.
const WIDTH_OF_UUIDS: usize = 120;
/// The shortest beginning of a UUID that is shown: `GPU-` and eight digits.
const UUID_MIN: usize = 12;

/// Says how things look on this output.
struct Look<'a> {
    out: &'a Output,
    /// Characters of a UUID that are shown.
    uuid_width: usize,
    /// Width of the first column.
    name_width: usize,
}

/// Every device of every node, a line each.
pub(super) fn devices(nodes: &[Node], out: &Output) -> String {
    let all = || nodes.iter().flat_map(|node| &node.devices);
    let uuids: BTreeSet<&str> = all().filter_map(|device| device.uuid.as_deref()).collect();
    let uuid_width = if out.columns() >= WIDTH_OF_UUIDS { usize::MAX } else { told_apart(&uuids) };
    let mut look = Look { out, uuid_width, name_width: 0 };
    let names = all().map(|device| look.name(device).width());
    let profiles = nodes.iter().flat_map(|node| &node.slices);
    let profiles = profiles.map(|slices| slice_name(slices).width());
    look.name_width = names.chain(profiles).max().unwrap_or(0);
    let mut page = String::new();
    for (at, node) in nodes.iter().enumerate() {
        if at > 0 {
            page.push('\n');
        }
        page += &look.head(node);
        node.devices.iter().for_each(|device| page += &look.device(device));
        node.slices.iter().for_each(|slices| page += &look.slices(slices));
    }
    page
}

/// The least length at which the beginnings of all UUIDs differ.
fn told_apart(uuids: &BTreeSet<&str>) -> usize {
    let longest = uuids.iter().map(|uuid| uuid.chars().count()).max().unwrap_or(0);
    let differ = |length: usize| {
        let short: BTreeSet<String> =
            uuids.iter().map(|uuid| uuid.chars().take(length).collect()).collect();
        short.len() == uuids.len()
    };
    (UUID_MIN..longest).find(|length| differ(*length)).unwrap_or(longest)
}

fn slice_name(slices: &Slices) -> String {
    format!("mig {}", clean(&slices.profile))
}

/// Says what is held of a node's devices: `3.5 of 8 held, 4 free`.
fn summary(node: &Node) -> String {
    let Some(usable) = node.usable else { return String::from("node not readable") };
    format!("{} of {usable} held, {} free", held(node), free(node))
}

/// Says how many devices nobody is on.
fn free(node: &Node) -> String {
    node.free.map_or_else(|| String::from("?"), |free| free.to_string())
}

/// Says how much of the devices is held.
fn held(node: &Node) -> String {
    node.held_milli.map_or_else(|| String::from("?"), gpu::devices)
}

fn marks(node: &Node) -> String {
    let mut marks = node.marks.clone();
    if node.lost > 0 {
        marks.push(format!(
            "{} lost",
            crate::cluster::queue::count(node.lost.try_into().unwrap_or(0), "GPU")
        ));
    }
    clean(&marks.join(", ")).into_owned()
}

fn holder(holder: &Holder, is_share_told: bool) -> String {
    let share = if is_share_told { format!(" {}", holder.share) } else { String::new() };
    clean(&format!("{}/{}{share}", holder.namespace, holder.pod)).into_owned()
}

impl Look<'_> {
    fn separator(&self) -> &'static str {
        if self.out.is_ascii() { " - " } else { " · " }
    }

    /// The beginning of the device's UUID; `-` for a device that one pod has for itself, whose UUID only the node
    /// knows.
    fn name(&self, device: &Device) -> String {
        match &device.uuid {
            Some(uuid) => clean(&uuid.chars().take(self.uuid_width).collect::<String>()).into(),
            None if device.state == State::Shared => "?".into(),
            None => "-".into(),
        }
    }

    fn head(&self, node: &Node) -> String {
        let product = node.product.as_deref().unwrap_or("GPU");
        let count = node.usable.filter(|usable| *usable > 0);
        let count = count.map_or_else(String::new, |n| format!("{n} x {}", clean(product)));
        let mut parts = vec![count];
        if node.usable != Some(0) || node.held_milli != Some(0) {
            parts.push(summary(node));
        } else if !node.slices.is_empty() {
            parts.push(format!("every {} divided by MIG", clean(product)));
        }
        parts.retain(|part| !part.is_empty());
        let mut line =
            format!("{}  {}", Style::Bold.paint(&clean(&node.name)), parts.join(self.separator()));
        let marks = marks(node);
        if !marks.is_empty() {
            line += &format!("{}{}", self.separator(), Style::Warn.paint(&marks));
        }
        line + "\n"
    }

    /// One line: first column, bar, amount, and as much of the rest as fits.
    fn line(&self, name: &str, bar: &str, amount: &str, rest: &str) -> String {
        let blank = " ".repeat(self.name_width.saturating_sub(name.width()));
        let bar = if self.out.columns() < WIDTH_OF_BARS || bar.is_empty() {
            String::new()
        } else {
            format!("{bar} ")
        };
        let head = format!("  {name}{blank}  {bar}{amount:<5} ");
        let bar_width = if bar.is_empty() { 0 } else { usize::try_from(BAR).unwrap_or(0) + 1 };
        let width = 2 + self.name_width + 2 + bar_width + amount.width().max(5) + 1;
        let rest = shorten(rest, self.out.columns().saturating_sub(width).max(10), self.out);
        let line = format!("{head}{rest}");
        format!("{}\n", line.trim_end_matches(' '))
    }

    fn device(&self, device: &Device) -> String {
        let held = device.held_milli();
        let seen = gpu::sum(device.holders.iter().filter_map(|holder| holder.milli));
        let amount = held.map_or_else(|| String::from("?"), gpu::devices);
        let is_shared = device.state == State::Shared;
        let holders: Vec<String> =
            device.holders.iter().map(|one| holder(one, is_shared)).collect();
        let mut parts = vec![holders.join(", ")];
        match (device.state, held) {
            (State::Free, _) => parts.push("free".into()),
            (State::Unknown, _) => parts.push("free, or held by pods that you may not list".into()),
            (State::Shared, Some(0)) => parts.push("reserved, nobody is on it".into()),
            (State::Shared, Some(held)) if held > 1000 => {
                parts.push(format!("{} too much", gpu::devices(held - 1000)));
            }
            (State::Shared, Some(held)) if held < 1000 => {
                parts.push(format!("{} left", gpu::devices(1000 - held)));
            }
            (State::Shared, None) if !device.is_complete => {
                parts.push("others not readable".into());
            }
            (State::Shared | State::Whole, _) => {}
        }
        parts.extend(device.problem.iter().map(|problem| clean(problem).into_owned()));
        parts.retain(|part| !part.is_empty());
        let bar = self.bar(device, held.unwrap_or(seen));
        self.line(&self.name(device), &bar, &amount, &parts.join(self.separator()))
    }

    fn bar(&self, device: &Device, held_milli: u64) -> String {
        let (full, none) = if self.out.is_ascii() { ("#", ".") } else { ("█", "·") };
        let cells = |count: u64, with: &str| with.repeat(usize::try_from(count).unwrap_or(0));
        if device.state == State::Unknown {
            return Style::Dim.paint(&cells(BAR, "?"));
        }
        // Rounded to the nearest character; what is there is seen, and so is what is left.
        let held = held_milli.min(1000);
        let mut filled = (held * BAR * 2 + 1000) / 2000;
        filled = filled.max(u64::from(held > 0)).min(if held < 1000 { BAR - 1 } else { BAR });
        let rest = if device.is_complete { none } else { "?" };
        let style = match device.state {
            State::Whole => Style::Good,
            _ if device.problem.is_some() || held_milli > 1000 => Style::Bad,
            _ => Style::Warn,
        };
        style.paint(&cells(filled, full)) + &Style::Dim.paint(&cells(BAR - filled, rest))
    }

    fn slices(&self, slices: &Slices) -> String {
        let holders: Vec<String> = slices.holders.iter().map(|one| holder(one, true)).collect();
        let amount = format!("{} held", slices.summary());
        let rest = holders.join(", ");
        self.line(&slice_name(slices), "", &amount, &format!(" {rest}"))
    }
}

/// Every node, a line each, with a character for each device.
pub(super) fn nodes(nodes: &[Node], out: &Output) -> Table {
    let columns = vec![
        Column::new("NODE"),
        Column::new("GPU").drop(4),
        Column::new("DEVICES").drop(1),
        Column::new("HELD"),
        Column::new("FREE"),
        Column::new("MIG").drop(3),
        Column::new("STATUS"),
    ];
    let row = |node: &Node| {
        Row::new(format!("node/{}", node.name), cells(node, out)).labelled(Some(&node.labels))
    };
    Table { columns, rows: nodes.iter().map(row).collect() }
}

fn cells(node: &Node, out: &Output) -> Vec<Cell> {
    let usable = node.usable.map_or_else(|| String::from("?"), |usable| usable.to_string());
    let slices = node.slices.iter();
    let slices = slices.map(|slices| format!("{} of {}", slices.summary(), slices.profile));
    let slices = slices.collect::<Vec<_>>().join(", ");
    let or_dash = |text: String| if text.is_empty() { String::from("-") } else { text };
    let marks = marks(node);
    let style = if marks.is_empty() { Style::Good } else { Style::Warn };
    let status = if marks.is_empty() && node.usable.is_some() { "ready".into() } else { marks };
    vec![
        node.name.as_str().into(),
        or_dash(node.product.clone().unwrap_or_default()).into(),
        or_dash(node.devices.iter().map(|device| mark(device, out)).collect()).into(),
        Cell::ranked(
            format!("{}/{usable}", held(node)),
            node.held_milli.and_then(|held| i64::try_from(held).ok()),
        ),
        free(node).into(),
        or_dash(slices).into(),
        Cell::styled(or_dash(status), style),
    ]
}

/// A device as one character.
fn mark(device: &Device, out: &Output) -> char {
    let ascii = out.is_ascii();
    match device.state {
        _ if device.problem.is_some() => '!',
        State::Whole if ascii => '#',
        State::Whole => '█',
        State::Shared if ascii => '+',
        State::Shared => '▄',
        State::Free if ascii => '.',
        State::Free => '·',
        State::Unknown => '?',
    }
}

/// Says what the characters mean.
pub(super) fn legend(is_nodes: bool, out: &Output) -> &'static str {
    match (is_nodes, out.is_ascii()) {
        (true, true) => "# one pod's  + shared  . free  ! see top gpus",
        (true, false) => "█ one pod's  ▄ shared  · free  ! see top gpus",
        (false, _) => "-: which device it is only the node knows",
    }
}
