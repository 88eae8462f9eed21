//! The answer about work that was evicted: by whom, by which right, at which numbers of the queues, and what was lost.

use jiff::Timestamp;
use kai_api::names::annotation;

use super::answer::{Answer, Way, devices};
use super::known::Known;
use crate::cluster::Cluster;
use crate::print::duration;
use crate::print::output::Style;
use crate::print::table::{Cell, Column, render};
use crate::print::time;
use crate::workload::Workload;
use crate::workload::history::{self, Eviction};

/// Returns who evicted work that is no more; none where no event tells.
pub(super) async fn of_name(
    cluster: &Cluster,
    namespace: Option<&str>,
    name: &str,
) -> Option<Eviction> {
    let events = history::evictions(cluster, namespace).await.ok()?;
    let name = name.rsplit('/').next().unwrap_or(name);
    history::last_of_name(name, &events)
}

/// The answer about work that is no more.
pub(super) fn gone(eviction: &Eviction) -> Answer {
    Answer {
        headline: format!("{}, and is no more", eviction.sentence()),
        code: Some(eviction.code().to_owned()),
        style: Style::Bad,
        more: vec![
            "Nothing creates it again: a pod without a controller is gone when it is evicted."
                .to_owned(),
            format!(
                "First thing to try: submit it again, as a job. To avoid it: {}.",
                eviction.avoidance()
            ),
        ],
        table: queues(Some(eviction)),
        ways: vec![
            Way::new(
                "submit it again, as a job, whose controller makes its pods anew",
                "it starts anew",
                None,
            ),
            Way::new(format!("the next time: {}", eviction.avoidance()), "", None),
        ],
        ..Answer::default()
    }
}

/// The answer about work that was evicted and has failed by that.
pub(super) fn of(known: &Known, eviction: &Eviction) -> Answer {
    Answer {
        headline: format!("{}, and has failed", eviction.sentence()),
        code: Some(eviction.code().to_owned()),
        style: Style::Bad,
        more: vec![format!("To avoid it: {}.", eviction.avoidance())],
        evidence: evidence(known, eviction),
        table: queues(Some(eviction)),
        ways: vec![Way::new("submit it again", "it starts anew", None)],
        ..Answer::default()
    }
}

/// Says what was lost, as far as it is known.
pub(super) fn evidence(known: &Known, eviction: &Eviction) -> Vec<(&'static str, String)> {
    let run = ran_seconds(&known.workload, eviction).filter(|seconds| *seconds > 0);
    let lost = run.map(|seconds| {
        let wanted = known.workload.at_once().max(known.workload.pods.len());
        let gpus = i64::try_from(known.workload.gpus().milli).unwrap_or(i64::MAX);
        let share = i64::try_from(eviction.pods.min(wanted.max(1))).unwrap_or(1);
        let all = i64::try_from(wanted.max(1)).unwrap_or(1);
        let held_milli = gpus.saturating_mul(share) / all;
        let hours_milli = held_milli.saturating_mul(seconds) / 3600;
        format!(
            "it had run for {} on {} GPU: {} GPU-hours since its start, less what checkpoints keep",
            duration::short(seconds),
            devices(held_milli),
            hours(hours_milli)
        )
    });
    lost.map(|text| ("Lost", text)).into_iter().collect()
}

/// GPU-hours with two decimals.
fn hours(milli: i64) -> String {
    let hundredths = (milli + 5) / 10;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// For how long it had run when it was evicted.
fn ran_seconds(workload: &Workload, eviction: &Eviction) -> Option<i64> {
    let of = |key: &str| {
        let groups = workload.groups.iter();
        groups.filter_map(|group| time::of(&group["metadata"]["annotations"][key])).max()
    };
    let ended = of(annotation::LAST_EVICTION).or(eviction.when)?;
    let started: Timestamp = of(annotation::LAST_START)?;
    (started <= ended).then(|| ended.as_second() - started.as_second())
}

/// Both queues as they were just before; empty where the event does not quote them.
pub(super) fn queues(eviction: Option<&Eviction>) -> String {
    let queues = eviction.map_or(&[][..], |eviction| eviction.queues.as_slice());
    if queues.is_empty() {
        return String::new();
    }
    let columns = [
        Column::new("QUEUE THEN"),
        Column::new("QUOTA").right(),
        Column::new("FAIR SHARE").right(),
        Column::new("HELD").right(),
        Column::new(""),
    ];
    let roles = ["lost", "gained"];
    let rows: Vec<Vec<Cell>> = queues
        .iter()
        .enumerate()
        .map(|(at, queue)| {
            vec![
                queue.name.as_str().into(),
                queue.quota.as_str().into(),
                queue.share.as_str().into(),
                queue.used.as_str().into(),
                roles.get(at).copied().unwrap_or_default().into(),
            ]
        })
        .collect();
    render(&columns, &rows, usize::MAX, true)
}

#[cfg(test)]
mod tests {
    use super::hours;

    #[test]
    fn gpu_hours_are_rounded_to_hundredths() {
        for (milli, expect) in [(15_200, "15.20"), (4, "0.00"), (5, "0.01"), (999, "1.00")] {
            assert_eq!(hours(milli), expect, "{milli}");
        }
    }
}
