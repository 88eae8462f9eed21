//! The tree of queues with bars.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr as _;

use super::{Told, row, share};
use crate::cluster::json::text;
use crate::cluster::queue::{Amount, Queue, Queues};
use crate::cluster::{gpu, listing};
use crate::print::output::{Output, Style};
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column};

/// Width of a bar in characters.
const BAR: usize = 20;

/// The trees below some queues, or all trees.
pub(super) fn tree(queues: &Queues, names: &[String], told: &Told, out: &Output) -> Report {
    let ascii = out.is_ascii();
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    let roots: Vec<&Queue> = if names.is_empty() {
        let is_root = |q: &&Queue| q.parent.as_ref().is_none_or(|p| !queues.0.contains_key(p));
        queues.0.values().filter(is_root).collect()
    } else {
        names.iter().filter_map(|name| queues.0.get(name)).collect()
    };
    let mut walk = Walk { queues, told, ascii, rows: &mut rows, seen: &mut seen };
    for queue in roots {
        walk.branch(queue, "", "");
    }
    // A ring of parents has no root; it must not vanish from the table.
    if names.is_empty() {
        for queue in queues.0.values() {
            walk.branch(queue, "", "");
        }
    }
    let columns = [
        Column::new("QUEUE"),
        Column::new("").drop(6),
        Column::new("GPU USED / QUOTA").right(),
        Column::new("SHARE").drop(5),
        Column::new("LIMIT").drop(2),
        Column::new("PENDING").drop(3),
        Column::new("RUN").drop(4),
        Column::new("NOTE"),
    ];
    let (columns, rows) = known(&columns, rows, told);
    let seen: Vec<&str> = rows.iter().map(|row| row.key.as_str()).collect();
    let data = row::list(queues, &seen, told);
    let mut report = Report::new("QueueList", data, Body::Table(Table { columns, rows }));
    let legend = if ascii {
        "# in quota  + borrowed  . unused quota"
    } else {
        "█ in quota  ▓ borrowed  · unused quota"
    };
    report.footer.push(
        Style::Dim
            .paint(&format!("{legend}     bar = max(quota, used)     GPUs; all amounts: --flat")),
    );
    if told.is_brief {
        let more = "Fair share, and how many workloads run: kubectl kai top queues";
        report.footer.push(Style::Dim.paint(more));
    }
    report
}

/// The table without shares and counts where they are not known.
fn known(columns: &[Column], rows: Vec<Row>, told: &Told) -> (Vec<Column>, Vec<Row>) {
    let is_known = |column: &Column| match &*column.title {
        "SHARE" => told.shares.is_some(),
        "RUN" => !told.is_brief,
        _ => true,
    };
    let keep: Vec<usize> = (0..columns.len()).filter(|at| is_known(&columns[*at])).collect();
    let columns = keep.iter().map(|at| columns[*at].clone()).collect();
    let cells = |row: Row| {
        let cells = keep.iter().map(|at| row.cells[*at].clone()).collect();
        Row { cells, ..row }
    };
    (columns, rows.into_iter().map(cells).collect())
}

struct Walk<'a> {
    queues: &'a Queues,
    told: &'a Told,
    ascii: bool,
    rows: &'a mut Vec<Row>,
    seen: &'a mut BTreeSet<String>,
}

impl Walk<'_> {
    fn branch(&mut self, queue: &Queue, lead: &str, stem: &str) {
        if !self.seen.insert(queue.name.clone()) {
            return;
        }
        let cells = self.cells(queue, stem);
        self.rows.push(row_of(queue, cells));
        let (tee, end, bar) =
            if self.ascii { ("|-- ", "`-- ", "|   ") } else { ("├─ ", "└─ ", "│  ") };
        let gap = " ".repeat(end.width());
        let last = queue.children.len().saturating_sub(1);
        for (i, child) in queue.children.iter().enumerate() {
            let Some(child) = self.queues.0.get(child) else { continue };
            let (stem, deeper) = if i == last { (end, gap.as_str()) } else { (tee, bar) };
            self.branch(child, &format!("{lead}{deeper}"), &format!("{lead}{stem}"));
        }
    }

    fn cells(&self, queue: &Queue, stem: &str) -> Vec<Cell> {
        let uses = self.told.uses.as_ref();
        let used = uses.map(|uses| uses.get(&queue.name).cloned().unwrap_or_default());
        let share = self.told.shares.as_ref().and_then(|shares| shares.get(&queue.name));
        let quota = queue.gpu.quota;
        let used_text = used.as_ref().map_or_else(|| "?".to_owned(), |u| u.used.to_string());
        let quota_text = match quota {
            Amount::Unlimited => "∞".to_owned(),
            Amount::Milli(milli) => gpu::devices(milli),
        };
        let quota_text =
            if self.ascii && quota == Amount::Unlimited { "inf".to_owned() } else { quota_text };
        let milli = used.as_ref().map_or(0, |u| u.used.milli);
        vec![
            format!("{stem}{}", queue.name).into(),
            bar(milli, quota.milli(), BAR, self.ascii).into(),
            format!("{used_text} / {quota_text}").into(),
            share.map_or_else(|| "-".to_owned(), |milli| share::show(*milli)).into(),
            queue.gpu.limit.show().into(),
            used.as_ref().map_or_else(|| "?".to_owned(), |u| u.pending.to_string()).into(),
            used.as_ref().map_or_else(|| "?".to_owned(), |u| u.running.to_string()).into(),
            note(queue, milli, self.queues),
        ]
    }
}

fn note(queue: &Queue, used_milli: u64, queues: &Queues) -> Cell {
    if let Some(parent) = &queue.parent
        && !queues.0.contains_key(parent)
    {
        return Cell::styled(
            format!("parent {parent} does not exist: nothing runs here"),
            Style::Bad,
        );
    }
    if let Some(held) = queues.held(&queue.name) {
        let by =
            if held.name == queue.name { String::new() } else { format!(" with {}", held.name) };
        return Cell::styled(format!("held{by}: nothing new starts"), Style::Warn);
    }
    if queue.gpu.limit == Amount::Milli(0) {
        return Cell::styled("limit 0: no GPU work runs here", Style::Warn);
    }
    match queue.gpu.quota.milli() {
        Some(quota) if used_milli > quota => {
            Cell::styled(format!("borrowing {}", gpu::devices(used_milli - quota)), Style::Warn)
        }
        Some(_) | None => "".into(),
    }
}

/// A bar, so many characters wide, of what is used inside the quota, above it, and what of the quota is free.
pub(crate) fn bar(used: u64, quota: Option<u64>, width: usize, ascii: bool) -> String {
    let (full, over, free) = if ascii { ("#", "+", ".") } else { ("█", "▓", "·") };
    let quota = quota.unwrap_or(used);
    let whole = used.max(quota);
    if whole == 0 {
        return free.repeat(width);
    }
    let all = u64::try_from(width).unwrap_or(0);
    // Rounded to the nearest character, but what is there is seen.
    let cells = |milli: u64| ((milli * all * 2 + whole) / (whole * 2)).max(u64::from(milli > 0));
    let over_cells = cells(used.saturating_sub(quota));
    let full_cells = cells(used.min(quota)).min(all - over_cells);
    let n = |count: u64| usize::try_from(count).unwrap_or(0);
    full.repeat(n(full_cells))
        + &over.repeat(n(over_cells))
        + &free.repeat(n(all - full_cells - over_cells))
}

fn row_of(queue: &Queue, cells: Vec<Cell>) -> Row {
    Row::new(listing::name(&queue.object), cells)
        .keyed(queue.name.clone())
        .labelled(queue.object["metadata"]["labels"].as_object())
}

/// A list with all amounts.
pub(super) fn flat(queues: &Queues, names: &[&str], told: &Told, out: &Output) -> Report {
    let columns = [
        "QUEUE",
        "PARENT",
        "PRIORITY",
        "GPU USED",
        "GPU QUOTA",
        "LIMIT",
        "WEIGHT",
        "CPU QUOTA",
        "LIMIT",
        "MEMORY QUOTA",
        "LIMIT",
        "MIN RUNTIME",
        "DISPLAY NAME",
    ]
    .map(Column::new);
    let unlimited = if out.is_ascii() { "inf" } else { "∞" };
    let row = |name: &&str| {
        let queue = &queues.0[*name];
        row_of(queue, amounts(queue, told, unlimited))
    };
    let table = Table { columns: columns.into(), rows: names.iter().map(row).collect() };
    let data = row::list(queues, names, told);
    let mut report = Report::new("QueueList", data, Body::Table(table));
    report.footer.push(format!(
        "{unlimited} is no bound.  CPU in thousandths of a core, memory in MB, as the Queue object has them."
    ));
    report
}

fn amounts(queue: &Queue, told: &Told, unlimited: &str) -> Vec<Cell> {
    let cell = |amount: Amount| match amount {
        Amount::Unlimited => Cell::ranked(unlimited, Some(i64::MAX)),
        Amount::Milli(milli) => Cell::ranked(amount.show(), i64::try_from(milli).ok()),
    };
    let used = match &told.uses {
        None => "?".into(),
        Some(uses) => uses.get(&queue.name).map_or_else(
            || Cell::ranked("0", Some(0)),
            |used| Cell::ranked(used.used.to_string(), i64::try_from(used.used.milli).ok()),
        ),
    };
    vec![
        queue.name.as_str().into(),
        queue.parent.as_deref().unwrap_or("-").into(),
        queue.priority.map_or_else(|| "-".to_owned(), |p| p.to_string()).into(),
        used,
        cell(queue.gpu.quota),
        cell(queue.gpu.limit),
        cell(queue.gpu.weight),
        cell(queue.cpu.quota),
        cell(queue.cpu.limit),
        cell(queue.memory.quota),
        cell(queue.memory.limit),
        min_runtime(queue).into(),
        dash(text(&queue.object["spec"]["displayName"])).into(),
    ]
}

fn dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

/// Says how long work runs before others of its queue and of other queues may take its place.
fn min_runtime(queue: &Queue) -> String {
    let spec = &queue.object["spec"];
    let [own, others] = ["preemptMinRuntime", "reclaimMinRuntime"].map(|field| text(&spec[field]));
    if own.is_empty() && others.is_empty() {
        return "-".to_owned();
    }
    format!("preempt {}, reclaim {}", dash(own), dash(others))
}

#[cfg(test)]
mod tests {
    use super::{BAR, bar};

    #[test]
    fn bars_show_what_is_inside_and_above_the_quota() {
        for (used, quota, expect) in [
            (0, Some(8000), "...................."),
            (8000, Some(8000), "####################"),
            (12000, Some(8000), "#############+++++++"),
            (4000, Some(8000), "##########.........."),
            (1, Some(100_000), "#..................."),
            (0, Some(0), "...................."),
            (3000, None, "####################"),
        ] {
            assert_eq!(bar(used, quota, BAR, true), expect, "{used} of {quota:?}");
        }
    }
}
