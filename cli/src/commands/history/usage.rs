//! `kubectl kai history usage`: GPU time, added up by what is asked for.

use std::collections::BTreeMap;

use clap::ValueEnum;
use kai_api::daily_record::{OTHERS, UsageRow};
use serde_json::json;

use super::Sheet;
use super::entries::{Entry, Filter, hours};
use super::past::micro;
use super::price::{Cost, Prices};
use super::row;
use crate::commands::filter::check_namespace;
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::flags::SheetFlags;
use crate::print::format::Format;
use crate::print::table::{Cell, Column};
use crate::settings;

/// Flags of `history usage`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Days are those of UTC, since records count by these. A workload that holds GPUs now is counted up to now.

Examples:
  kubectl kai history usage --by user --since 30d
  kubectl kai history usage -A --by queue,gpu-type --since 2026-11 --until 2026-12 --price gpu=2.5
  kubectl kai history usage --by day 'llama-*' -o json")]
pub struct Args {
    /// Names of workloads, or patterns with *; all without any
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// A line for each of these together: user, queue, kind, gpu-type, day, namespace, workload
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "queue",
        hide_possible_values = true,
        value_name = "WHAT"
    )]
    by: Vec<By>,
    /// Price of a GPU-hour, for all or by type of GPU: gpu=2.5,NVIDIA-H100*=4
    #[arg(long, value_delimiter = ',', value_name = "TYPE=PRICE")]
    price: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    sheet: SheetFlags,
}

/// Says what gets a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum By {
    User,
    Queue,
    Kind,
    #[value(alias = "gpu", alias = "type")]
    GpuType,
    Day,
    #[value(alias = "ns")]
    Namespace,
    #[value(alias = "name")]
    Workload,
}

impl By {
    fn title(self) -> &'static str {
        match self {
            Self::User => "USER",
            Self::Queue => "QUEUE",
            Self::Kind => "KIND",
            Self::GpuType => "GPU TYPE",
            Self::Day => "DAY",
            Self::Namespace => "NAMESPACE",
            Self::Workload => "NAME",
        }
    }

    /// Puts a key into its field for programs.
    fn put(self, key: &str, item: &mut row::Usage) {
        let field = match self {
            Self::User => &mut item.user,
            Self::Queue => &mut item.queue,
            Self::Kind => &mut item.kind,
            Self::GpuType => &mut item.gpu_type,
            Self::Day => &mut item.day,
            Self::Namespace => &mut item.namespace,
            Self::Workload => &mut item.name,
        };
        *field = Some((!key.is_empty()).then(|| key.to_owned()));
    }

    fn of(self, entry: &Entry, row: Option<&UsageRow>) -> String {
        let record = &entry.record;
        match self {
            Self::User => record.user.clone().unwrap_or_default(),
            Self::Queue => row.map_or(&record.queue, |row| &row.queue).clone(),
            Self::Kind => record.kind.to_lowercase(),
            Self::GpuType => row.map(|row| row.gpu_type.clone()).unwrap_or_default(),
            Self::Day => entry.day.to_string(),
            Self::Namespace => entry.namespace.clone(),
            Self::Workload => record.name.clone(),
        }
    }
}

/// Holds what one line adds up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    /// Number of workloads of each entry, by namespace and UID.
    workloads: BTreeMap<(String, String), u64>,
    micro_gpu_seconds: u128,
    cost: Cost,
    /// GPU time of types without a price.
    unpriced_micro_gpu_seconds: u128,
}

impl Sum {
    fn add(&mut self, entry: &Entry, row: Option<&UsageRow>, prices: &Prices) {
        let record = &entry.record;
        let mut uid = entry.uid.clone();
        if uid == OTHERS {
            // Each object of a day sums up others.
            let created = record.created.as_ref().map(|at| at.0);
            uid = format!("{uid} {} {}", entry.day, created.unwrap_or_default());
        }
        let count = u64::from(record.workloads).max(1);
        self.workloads.insert((entry.namespace.clone(), uid), count);
        let Some(row) = row else { return };
        let amount = u128::from(row.micro_gpu_seconds);
        self.micro_gpu_seconds += amount;
        match prices.cost(&row.gpu_type, amount) {
            Some(cost) => self.cost.add(cost),
            None => self.unpriced_micro_gpu_seconds += amount,
        }
    }
}

impl Sum {
    fn workloads(&self) -> u64 {
        self.workloads.values().sum()
    }
}

/// Adds entries up by keys; the whole is the sum of all lines, whatever the keys are.
fn sums(entries: &[Entry], by: &[By], prices: &Prices) -> (BTreeMap<Vec<String>, Sum>, Sum) {
    let mut lines: BTreeMap<Vec<String>, Sum> = BTreeMap::new();
    let mut whole = Sum::default();
    for entry in entries {
        let mut add = |row: Option<&UsageRow>| {
            let key = by.iter().map(|by| by.of(entry, row)).collect();
            lines.entry(key).or_default().add(entry, row, prices);
            whole.add(entry, row, prices);
        };
        for row in &entry.record.usage {
            add(Some(row));
        }
        if entry.record.usage.is_empty() {
            add(None);
        }
    }
    (lines, whole)
}

/// Runs `history usage`.
pub(super) async fn run(args: &Args, context: &mut Context) -> Result<Exit, Error> {
    let format = Format::asked(context.globals.output.as_deref(), args.sheet.jq.as_deref())?;
    let prices = Prices::read(&args.price)?;
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let mut entries = args.filter.read(scope.as_deref(), &cluster).await?;
    if entries.rows.is_empty() {
        check_namespace(scope.as_deref(), &cluster).await?;
    }
    entries.rows.retain(|entry| {
        let name = &entry.record.name;
        args.names.is_empty() || args.names.iter().any(|glob| settings::matches(glob, name))
    });
    let mut by = Vec::new();
    for one in &args.by {
        if !by.contains(one) {
            by.push(*one);
        }
    }
    let (lines, whole) = sums(&entries.rows, &by, &prices);
    sheet(&lines, &whole, &by, &prices).print(&format, &args.sheet, context)?;
    if format.is_table() {
        let period = entries.period.show();
        context.out.talk(&if lines.is_empty() {
            format!("no workloads, {period}")
        } else {
            let cost = if prices.is_empty() { String::new() } else { format!(", {}", whole.cost) };
            format!("total, {period}: {} GPU-hours{cost}", hours(whole.micro_gpu_seconds))
        });
    }
    if !prices.is_empty() && whole.unpriced_micro_gpu_seconds > 0 {
        context.out.warn(&format!(
            "{} GPU-hours have no price: add --price gpu=PRICE for all other types",
            hours(whole.unpriced_micro_gpu_seconds)
        ));
    }
    Ok(Exit::Ok)
}

fn sheet(lines: &BTreeMap<Vec<String>, Sum>, whole: &Sum, by: &[By], prices: &Prices) -> Sheet {
    let mut columns: Vec<Column> = by.iter().map(|by| Column::new(by.title())).collect();
    columns.push(Column::new("WORKLOADS").drop(2));
    columns.push(Column::new("GPU-HOURS"));
    columns.push(Column::new("PART").drop(1));
    if !prices.is_empty() {
        columns.push(Column::new("COST"));
    }
    for column in &mut columns[by.len()..] {
        column.right = true;
    }
    let mut order: Vec<(&Vec<String>, &Sum)> = lines.iter().collect();
    // Days go by time, all else by what it held.
    if by.first() != Some(&By::Day) {
        order.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.micro_gpu_seconds));
    }
    let or_none = |key: &String| if key.is_empty() { "-".to_owned() } else { key.clone() };
    let row = |(keys, sum): &(&Vec<String>, &Sum)| {
        let mut cells: Vec<Cell> = keys.iter().map(|key| or_none(key).into()).collect();
        cells.push(sum.workloads().to_string().into());
        cells.push(hours(sum.micro_gpu_seconds).into());
        cells.push(part(sum.micro_gpu_seconds, whole.micro_gpu_seconds).into());
        if !prices.is_empty() {
            cells.push(sum.cost.to_string().into());
        }
        cells
    };
    let item = |(keys, sum): &(&Vec<String>, &Sum)| {
        let mut item = item(sum, prices);
        by.iter().zip(*keys).for_each(|(by, key)| by.put(key, &mut item));
        item
    };
    let total = self::item(whole, prices);
    Sheet {
        kind: "GpuUsage",
        columns,
        rows: order.iter().map(row).collect(),
        names: order.iter().map(|(keys, _)| keys.join("/")).collect(),
        data: json!(row::UsageReport { items: order.iter().map(item).collect(), total }),
    }
}

/// A part of the whole in percent, rounded.
fn part(of: u128, whole: u128) -> String {
    let percent = (of * 100 + whole / 2).checked_div(whole);
    percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent}%"))
}

/// A sum for programs.
fn item(sum: &Sum, prices: &Prices) -> row::Usage {
    row::Usage {
        workloads: sum.workloads(),
        micro_gpu_seconds: micro(sum.micro_gpu_seconds),
        gpu_hours: hours(sum.micro_gpu_seconds),
        cost: (!prices.is_empty()).then(|| sum.cost.to_string()),
        ..row::Usage::default()
    }
}

#[cfg(test)]
mod tests;
