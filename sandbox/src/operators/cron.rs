//! `CronJob`, as kube-controller-manager's controller runs it, by the clock and not by simulated time.
//!
//! Left out: time zones other than UTC (such a `CronJob` makes no Jobs), and `Replace` waits for no Job to be gone.

use std::str::FromStr as _;

use croner::Cron;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::JOB;
use super::action::{Action, View, is_true, leaving};
use super::template::integer;
use crate::nodes::object::seconds;

/// Finished Jobs that are kept when the `CronJob` does not say.
const SUCCEEDED_KEPT: i64 = 3;
const FAILED_KEPT: i64 = 1;
/// Runs that were missed and are looked back on; kube-controller-manager gives up above 100.
const MISSED_MAX: usize = 100;

/// Reconciles a `CronJob`: the newest run that is due, and the finished ones beyond those that are kept.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    let spec = view.spec();
    let mut actions = outdated(view);
    let jobs: Vec<&DynamicObject> = view.of(JOB).filter(|job| !leaving(job)).collect();
    let active: Vec<&&DynamicObject> = jobs.iter().filter(|job| !is_over(job)).collect();
    let mut status = view.status().clone();
    if !status.is_object() {
        status = json!({});
    }
    let mut references: Vec<Value> = active.iter().map(|job| reference(job)).collect();
    let is_utc = matches!(spec["timeZone"].as_str(), None | Some("UTC" | "Etc/UTC"));
    let schedule = spec["schedule"].as_str().and_then(|text| Cron::from_str(text).ok());
    if let Some(schedule) = schedule.filter(|_| is_utc && spec["suspend"] != true) {
        let (due, next) = due(&schedule, last(view), view.now);
        let starts = due
            .filter(|at| in_time(view, *at))
            .filter(|_| active.is_empty() || spec["concurrencyPolicy"] != "Forbid");
        if let Some(at) = starts {
            if spec["concurrencyPolicy"] == "Replace" {
                actions.extend(active.iter().map(|job| View::delete(JOB, job)));
                references.clear();
            }
            actions.push(Action::Create(JOB, job(view, at)));
            status["lastScheduleTime"] = json!(seconds(at));
        }
        actions.extend(next.map(Action::Again));
    }
    let ended = jobs.iter().filter_map(|job| job.data["status"]["completionTime"].as_str()).max();
    if let Some(ended) = ended {
        status["lastSuccessfulTime"] = json!(ended);
    }
    let fields = status.as_object_mut().expect("made an object above");
    if references.is_empty() {
        fields.remove("active");
    } else {
        fields.insert("active".to_owned(), json!(references));
    }
    actions.push(Action::Status(status));
    actions
}

/// The last run that was started, or the moment from which runs count.
fn last(view: &View<'_>) -> Timestamp {
    let started = view.status()["lastScheduleTime"].as_str().and_then(|text| text.parse().ok());
    let created = view.object.metadata.creation_timestamp.as_ref().map(|time| time.0);
    started.or(created).unwrap_or(view.now)
}

/// The newest run after `last` that is due, and the next one that will be.
fn due(schedule: &Cron, last: Timestamp, now: Timestamp) -> (Option<Timestamp>, Option<Timestamp>) {
    let from = last.to_zoned(TimeZone::UTC);
    let mut newest = None;
    for run in schedule.iter_after(from).take(MISSED_MAX) {
        let run = run.timestamp();
        if run > now {
            return (newest, Some(run));
        }
        newest = Some(run);
    }
    let after = schedule.iter_after(now.to_zoned(TimeZone::UTC)).next();
    (newest, after.map(|run| run.timestamp()))
}

/// Tells whether the run may still start.
fn in_time(view: &View<'_>, at: Timestamp) -> bool {
    let Some(deadline) = view.spec()["startingDeadlineSeconds"].as_i64() else { return true };
    at.saturating_add(SignedDuration::from_secs(deadline)).is_ok_and(|until| until >= view.now)
}

/// The Job of one run; its name follows from the run's minute, so that a run starts once.
fn job(view: &View<'_>, at: Timestamp) -> Value {
    let template = &view.spec()["jobTemplate"];
    let mut job = template.clone();
    job["apiVersion"] = json!("batch/v1");
    job["kind"] = json!("Job");
    job["metadata"]["name"] = json!(format!("{}-{}", view.name(), at.as_second() / 60));
    job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] =
        json!(seconds(at));
    job
}

fn reference(job: &DynamicObject) -> Value {
    let meta = &job.metadata;
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "name": meta.name, "namespace": meta.namespace,
        "uid": meta.uid, "resourceVersion": meta.resource_version,
    })
}

fn is_over(job: &DynamicObject) -> bool {
    is_true(job, "Complete") || is_true(job, "Failed")
}

/// Deletes finished Jobs beyond those that are kept, the oldest first.
fn outdated(view: &View<'_>) -> Vec<Action> {
    let spec = view.spec();
    let kept = [
        ("Complete", integer(&spec["successfulJobsHistoryLimit"], SUCCEEDED_KEPT)),
        ("Failed", integer(&spec["failedJobsHistoryLimit"], FAILED_KEPT)),
    ];
    let mut actions = Vec::new();
    for (end, limit) in kept {
        let mut jobs: Vec<&DynamicObject> =
            view.of(JOB).filter(|job| is_true(job, end) && !leaving(job)).collect();
        jobs.sort_by(|a, b| {
            b.data["status"]["startTime"].as_str().cmp(&a.data["status"]["startTime"].as_str())
        });
        let extra = jobs.into_iter().skip(usize::try_from(limit).unwrap_or(0));
        actions.extend(extra.map(|job| View::delete(JOB, job)));
    }
    actions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schedule: &str, last: &str, now: &str, due_at: Option<&str>, next: &str) {
        let time = |text: &str| text.parse::<Timestamp>().expect("a time in the test");
        let cron = Cron::from_str(schedule).expect("a schedule in the test");
        assert_eq!(due(&cron, time(last), time(now)), (due_at.map(time), Some(time(next))));
    }

    #[test]
    fn the_newest_run_that_is_due() {
        let last = "2026-01-01T00:00:30Z";
        check("* * * * *", last, "2026-01-01T00:00:59Z", None, "2026-01-01T00:01:00Z");
        let minute = Some("2026-01-01T00:03:00Z");
        check("* * * * *", last, "2026-01-01T00:03:10Z", minute, "2026-01-01T00:04:00Z");
        check("0 6 * * 1", last, "2026-01-02T00:00:00Z", None, "2026-01-05T06:00:00Z");
        check("@hourly", last, "2026-01-01T00:30:00Z", None, "2026-01-01T01:00:00Z");
    }
}
