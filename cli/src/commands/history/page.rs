//! One workload on one page: when it waited and ran, what it held, who evicted it. Pure.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kai_api::daily_record::EvictionRow;

use super::entries::{hours, moment};
use super::past::{Past, evictor, gpus, span, style};
use crate::cluster::queue::count;
use crate::print::duration;
use crate::print::output::{Style, clean};

/// Width of the words in front.
const LABEL_WIDTH: usize = 11;

/// The page.
pub(super) fn page(past: &Past, now: Timestamp) -> String {
    let last = &past.last;
    let user = last.user.as_ref().map_or_else(String::new, |user| format!(" · user {user}"));
    let head = format!(
        "{} ({}) · {} · queue {}{user}",
        last.kind, last.api_version, past.namespace, last.queue
    );
    let mut out = format!("{}  {}\n", Style::Bold.paint(&clean(&last.name)), clean(&head));
    let mut line = |label: &str, text: &str| {
        out += &format!("{}{text}\n", Style::Dim.paint(&format!("{label:<LABEL_WIDTH$}")));
    };
    let word = style(last.outcome).paint(last.outcome.as_str());
    let ago = last.ended.as_ref().map_or_else(String::new, |at| {
        format!(" {} ago", duration::short(now.as_second() - at.0.as_second()))
    });
    line("Status", &format!("{word}{ago}"));
    let times = [
        ("created", past.created()),
        ("started", past.started()),
        ("ended", last.ended.as_ref().map(|at| at.0)),
    ];
    let times = times.iter().filter_map(|(word, at)| Some(format!("{word} {}", moment((*at)?))));
    line("Times", &times.collect::<Vec<_>>().join(" · "));
    let waits = past.sum(|record| u64::from(record.waits));
    let waits = count(usize::try_from(waits).unwrap_or(usize::MAX), "time");
    let waited = span(past.sum(|record| record.wait_seconds));
    line("Waited", &format!("{waited} ({waits})"));
    line("Ran", &span(past.sum(|record| record.run_seconds)));
    line("Held", &held(past));
    for (at, row) in past.evictions().enumerate() {
        line(if at == 0 { "Evictions" } else { "" }, &eviction(row));
    }
    if past.days.len() > 1 {
        for (at, entry) in past.days.iter().enumerate() {
            let rows = entry.record.usage.iter().map(|row| u128::from(row.micro_gpu_seconds));
            let text = format!("{}  {} GPU-hours", entry.day, hours(rows.sum()));
            line(if at == 0 { "Days" } else { "" }, &text);
        }
    }
    out
}

fn held(past: &Past) -> String {
    let mut by_type: BTreeMap<&str, u128> = BTreeMap::new();
    for row in past.records().flat_map(|record| &record.usage) {
        *by_type.entry(&row.gpu_type).or_default() += u128::from(row.micro_gpu_seconds);
    }
    if by_type.is_empty() {
        return "no GPU".to_owned();
    }
    let types = by_type
        .iter()
        .map(|(gpu_type, sum)| format!("{} on {}", hours(*sum), clean(gpu_type)))
        .collect::<Vec<_>>()
        .join(", ");
    format!("at most {} GPU · GPU-hours: {types}", gpus(past.peak_micro_gpus()))
}

/// An eviction: when, how much, for whom, at which price.
fn eviction(row: &EvictionRow) -> String {
    let at = row.at.as_ref().map_or_else(String::new, |at| moment(at.0));
    let pods = count(usize::try_from(row.pods).unwrap_or(usize::MAX), "pod");
    let queue =
        if row.by_queue.is_empty() { String::new() } else { format!(" (queue {})", row.by_queue) };
    let by = match evictor(row).as_str() {
        "-" => String::new(),
        by => format!(" for {by}{queue}"),
    };
    let lost = match row.lost_micro_gpu_seconds {
        0 => String::new(),
        lost => format!(" · {} GPU-hours since its start", hours(u128::from(lost))),
    };
    clean(&format!("{at}  {pods}{by} · {}{lost}", row.action)).into_owned()
}
