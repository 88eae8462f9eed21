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

/// Width of a bar in characters, where there is room.
const BAR: usize = 20;
/// A narrower one says nothing.
const BAR_MIN: usize = 6;
/// Blanks between two columns.
const GAP: usize = 2;

/// The trees below some queues, or all trees.
pub(super) fn tree(queues: &Queues, names: &[String], told: &Told, out: &Output) -> Report {
    let ascii = out.is_ascii();
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
    let lay = |bar: usize| {
        let walk = Walk { queues, told, ascii, bar, rows: Vec::new(), seen: BTreeSet::new() };
        known(&columns, walk.all(names), told, bar)
    };
    let (columns, rows) = lay(0);
    let bar = bar_width(&columns, &rows, out.columns());
    let (columns, rows) = if bar > 0 { lay(bar) } else { (columns, rows) };
    let seen: Vec<&str> = rows.iter().map(|row| row.key.as_str()).collect();
    let data = row::list(queues, &seen, told);
    let mut report = Report::new("QueueList", data, Body::Table(Table { columns, rows }));
    let legend = if ascii {
        "# in quota  + borrowed  . unused quota"
    } else {
        "█ in quota  ▓ borrowed  · unused quota"
    };
    let legend =
        if bar > 0 { format!("{legend}     bar = max(quota, used)     ") } else { String::new() };
    report.footer.push(Style::Dim.paint(&format!("{legend}GPUs; all amounts: --flat")));
    if told.is_brief {
        let more = "Fair share, and how many workloads run: kubectl kai top queues";
        report.footer.push(Style::Dim.paint(more));
    }
    report
}

/// Returns how wide bars can be beside what else is shown, 0 where they would say nothing.
fn bar_width(columns: &[Column], rows: &[Row], width: usize) -> usize {
    let of = |at: usize| {
        let cells = rows.iter().map(|row| row.cells[at].text.width());
        cells.chain([columns[at].title.width()]).max().unwrap_or(0)
    };
    let others: usize = (0..columns.len()).map(|at| of(at) + GAP).sum();
    let room = width.saturating_sub(others).min(BAR);
    if room < BAR_MIN { 0 } else { room }
}

/// The table without bars that have no room, and without shares and counts where they are not known.
fn known(columns: &[Column], rows: Vec<Row>, told: &Told, bar: usize) -> (Vec<Column>, Vec<Row>) {
    let is_known = |column: &Column| match &*column.title {
        "" => bar > 0,
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
    /// The width of bars.
    bar: usize,
    rows: Vec<Row>,
    seen: BTreeSet<String>,
}

impl Walk<'_> {
    /// Returns the rows of the trees below some queues, or of all trees.
    fn all(mut self, names: &[String]) -> Vec<Row> {
        let queues = self.queues;
        let is_root = |q: &&Queue| q.parent.as_ref().is_none_or(|p| !queues.0.contains_key(p));
        let roots: Vec<&Queue> = if names.is_empty() {
            queues.0.values().filter(is_root).collect()
        } else {
            names.iter().filter_map(|name| queues.0.get(name)).collect()
        };
        for queue in roots {
            self.branch(queue, "", "");
        }
        // A ring of parents has no root; it must not vanish from the table.
        if names.is_empty() {
            for queue in queues.0.values() {
                self.branch(queue, "", "");
            }
        }
        self.rows
    }

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
        let quota_text = quota.show(self.ascii);
        let milli = used.as_ref().map_or(0, |u| u.used.milli);
        vec![
            format!("{stem}{}", queue.name).into(),
            bar(milli, quota.milli(), self.bar, self.ascii).into(),
            format!("{used_text} / {quota_text}").into(),
            share.map_or_else(|| "-".to_owned(), |milli| share::show(*milli)).into(),
            queue.gpu.limit.show(self.ascii).into(),
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
    if whole == 0 || width == 0 {
        return free.repeat(width);
    }
    let all = u64::try_from(width).unwrap_or(0);
    // Rounded to the nearest character, but what is there is seen.
    let cells = |milli: u64| {
        let [part, width, sum] = [milli, all, whole].map(u128::from);
        let rounded = u64::try_from((part * width * 2 + sum) / (sum * 2)).unwrap_or(all);
        rounded.max(u64::from(milli > 0)).min(all)
    };
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
    let ascii = out.is_ascii();
    let row = |name: &&str| {
        let queue = &queues.0[*name];
        row_of(queue, amounts(queue, told, ascii))
    };
    let table = Table { columns: columns.into(), rows: names.iter().map(row).collect() };
    let data = row::list(queues, names, told);
    let mut report = Report::new("QueueList", data, Body::Table(table));
    report.footer.push(format!(
        "{} is no bound.  CPU in thousandths of a core, memory in MB, as the Queue object has them.",
        Amount::Unlimited.show(ascii)
    ));
    report
}

fn amounts(queue: &Queue, told: &Told, ascii: bool) -> Vec<Cell> {
    let cell = |amount: Amount| {
        let rank = amount.milli().map_or(Some(i64::MAX), |milli| i64::try_from(milli).ok());
        Cell::ranked(amount.show(ascii), rank)
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
    use serde_json::json;

    use super::*;
    use crate::print::flags::ListFlags;

    #[test]
    fn bars_take_the_room_that_is_left() {
        let queue = |name: &str, parent: &str| {
            json!({"metadata": {"name": name}, "spec": {"parentQueue": parent, "resources":
                {"gpu": {"quota": 8, "limit": -1}, "cpu": {}, "memory": {}}}})
        };
        let queues = Queues::read(vec![queue("research", ""), queue("team-a", "research")]);
        for (columns, bar) in [(120, 20), (72, 16), (62, 6), (61, 0), (usize::MAX, 20)] {
            let mut out = Output::given(Box::new(Vec::new()), Box::new(Vec::new()));
            out.set_columns(columns);
            let report = tree(&queues, &[], &Told::default(), &out);
            let Body::Table(table) = &report.body else { panic!("queues are a table") };
            let text = table.text(false, &ListFlags::default(), columns);
            let drawn = |line: &str| line.chars().filter(|c| *c == '·').count();
            assert!(text.lines().skip(1).all(|line| drawn(line) == bar), "{columns}:\n{text}");
            assert!(text.lines().skip(1).all(|line| line.width() <= columns), "{columns}:\n{text}");
            assert_eq!(report.footer[0].contains("unused quota"), bar > 0, "{columns}");
        }
    }

    #[test]
    fn each_amount_of_a_queue_stands_where_it_is_looked_for() {
        let amounts =
            |first: u32| json!({"quota": first, "limit": first + 1, "overQuotaWeight": first + 2});
        let spec = json!({"priority": 7, "displayName": "A", "preemptMinRuntime": "1m",
            "reclaimMinRuntime": "2m",
            "resources": {"gpu": amounts(10), "cpu": amounts(20), "memory": amounts(30)}});
        let queues = Queues::read(vec![json!({"metadata": {"name": "a"}, "spec": spec})]);
        let out = Output::given(Box::new(Vec::new()), Box::new(Vec::new()));
        let report = flat(&queues, &["a"], &Told::default(), &out);
        let Body::Table(table) = &report.body else { panic!("queues are a table") };
        let cells: Vec<&str> = table.rows[0].cells.iter().map(|cell| cell.text.as_str()).collect();
        let times = "preempt 1m, reclaim 2m";
        assert_eq!(
            cells,
            ["a", "-", "7", "?", "10", "11", "12", "20", "21", "30", "31", times, "A"]
        );
        let row = &report.data["items"][0];
        for (lane, expect) in
            [("gpu", [10, 11, 12]), ("cpu", [20, 21, 22]), ("memory", [30, 31, 32])]
        {
            let told = ["quota", "limit", "overQuotaWeight"].map(|field| row[lane][field].clone());
            assert_eq!(told, expect.map(|amount: u32| json!(amount.to_string())), "{lane}");
        }
    }

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
            (u64::MAX, Some(8000), "++++++++++++++++++++"),
        ] {
            assert_eq!(bar(used, quota, BAR, true), expect, "{used} of {quota:?}");
        }
    }
}
