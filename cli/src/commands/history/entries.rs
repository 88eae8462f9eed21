//! The records of a period: read by their days, filtered, counted up to now.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use kai_api::daily_record::{Outcome, WorkloadRecord};

use super::period::Period;
use crate::cluster::records::{self, Day};
use crate::cluster::{Call, Cluster, kinds, queue};
use crate::print::error::{Error, Exit, Problem, number};
use crate::settings;

/// Flags that choose records.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Filter {
    /// From this day on: a date such as 2026-11-01, or how long ago; none for all
    #[arg(long, value_name = "DAY", default_value = "7d")]
    since: String,
    /// Before this day, or up to so long ago; now unless given
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
    /// Only work of this queue, and of those below it
    #[arg(short, long, value_name = "QUEUE")]
    queue: Option<String>,
    /// Only work of this user, or of a pattern with *
    #[arg(long, value_name = "USER")]
    owner: Option<String>,
    /// Only workloads of one kind, such as pytorch or rayjob
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
}

/// One workload on one day.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) namespace: String,
    pub(super) day: Date,
    pub(super) uid: String,
    pub(super) record: WorkloadRecord,
}

/// The entries of a period.
pub(super) struct Entries {
    pub(super) rows: Vec<Entry>,
    pub(super) period: Period,
}

impl Filter {
    /// Reads the records of a namespace, or of all, that the flags choose.
    pub(super) async fn read(
        &self,
        scope: Option<&str>,
        cluster: &Cluster,
    ) -> Result<Entries, Error> {
        let now = Timestamp::now();
        let period = Period::read(&self.since, self.until.as_deref(), now)?;
        let queues = self.queues(cluster).await?;
        let mut rows = load(&period, scope, cluster).await?;
        for entry in &mut rows {
            count_up(entry, now);
        }
        rows.retain(|entry| {
            let record = &entry.record;
            let user = record.user.as_deref().unwrap_or_default();
            queues.as_ref().is_none_or(|queues| is_in(record, queues))
                && self.owner.as_ref().is_none_or(|glob| settings::matches(glob, user))
                && self.kind.as_ref().is_none_or(|kind| is_kind(record, kind))
        });
        if let Some(queues) = &queues {
            // What it held in another queue is that one's.
            for entry in &mut rows {
                entry.record.usage.retain(|row| queues.contains(&row.queue));
            }
        }
        Ok(Entries { rows, period })
    }

    /// The queue that is asked for and those below it; a queue that is gone has records, too.
    async fn queues(&self, cluster: &Cluster) -> Result<Option<BTreeSet<String>>, Error> {
        let Some(name) = &self.queue else { return Ok(None) };
        let mut wanted = BTreeSet::from([name.clone()]);
        if let Some(queues) = queue::readable(cluster).await? {
            wanted.extend(queues.0.keys().filter(|queue| queues.is_below(queue, name)).cloned());
        }
        Ok(Some(wanted))
    }
}

fn is_in(record: &WorkloadRecord, queues: &BTreeSet<String>) -> bool {
    queues.contains(&record.queue) || record.usage.iter().any(|row| queues.contains(&row.queue))
}

fn is_kind(record: &WorkloadRecord, word: &str) -> bool {
    kinds::named(word).is_some_and(|known| known.name == record.kind)
        || word.eq_ignore_ascii_case(&record.kind)
}

/// Reads the records, a page after the other.
async fn load(
    period: &Period,
    scope: Option<&str>,
    cluster: &Cluster,
) -> Result<Vec<Entry>, Error> {
    let days = match records::read(cluster, scope, &period.selector()).await {
        Ok(Some(days)) => days,
        Ok(None) => return Err(no_records()),
        Err(failure) => {
            let resource = records::resource();
            let call = Call::new("list", &resource).namespace(scope);
            return Err(cluster.explain(&call, &failure));
        }
    };
    let days = days.into_iter().filter(|day| period.has(day.date));
    let mut rows: Vec<Entry> = days.flat_map(entries).collect();
    rows.sort_by(|one, other| {
        (one.day, &one.namespace, &one.record.created.as_ref().map(|at| at.0), &one.record.name)
            .cmp(&(
                other.day,
                &other.namespace,
                &other.record.created.as_ref().map(|at| at.0),
                &other.record.name,
            ))
    });
    Ok(rows)
}

/// The cluster keeps no records.
fn no_records() -> Error {
    let what = "this cluster keeps no history: it serves no dailyrecords.kai.scheduler";
    Problem::new(number::NOT_INSTALLED, Exit::NoScheduler, what)
        .line("KAI itself keeps none; the podgrouper that `kubectl kai install` installs does")
        .fix("(admin) kubectl kai install")
        .into()
}

/// The workloads of one object.
fn entries(of: Day) -> impl Iterator<Item = Entry> {
    let Day { namespace, date: day, workloads } = of;
    workloads.into_iter().map(move |(uid, record)| Entry {
        namespace: namespace.clone(),
        day,
        uid,
        record,
    })
}

/// Counts up to now what is held and waited for since the record was written; never beyond its day.
fn count_up(entry: &mut Entry, now: Timestamp) {
    let record = &mut entry.record;
    let end = entry.day.tomorrow().ok().and_then(|next| next.to_zoned(TimeZone::UTC).ok());
    let end = end.map_or(now, |next| next.timestamp().min(now));
    let Some(through) = record.through.as_ref().map(|time| time.0) else { return };
    let seconds = u64::try_from(end.as_second() - through.as_second()).unwrap_or(0);
    for row in &mut record.usage {
        let held = row.held_micro_gpus.saturating_mul(seconds);
        row.micro_gpu_seconds = row.micro_gpu_seconds.saturating_add(held);
    }
    match record.outcome {
        Outcome::Running => record.run_seconds += seconds,
        Outcome::Pending => record.wait_seconds += seconds,
        Outcome::Succeeded
        | Outcome::Failed
        | Outcome::Evicted
        | Outcome::Deleted
        | Outcome::Stopped => {}
    }
}

/// Thousandths of a GPU-hour in a second of a millionth of a GPU.
const MICRO_GPU_SECONDS_OF_MILLI_HOUR: u128 = 3_600 * 1_000;

/// GPU time in hours, rounded to three digits after the point, and to two of ten hours and more.
pub(super) fn hours(micro_gpu_seconds: u128) -> String {
    // What is rounded twice may be rounded up from below the half.
    let rounded = |unit: u128| (micro_gpu_seconds + unit / 2) / unit;
    let milli = rounded(MICRO_GPU_SECONDS_OF_MILLI_HOUR);
    if milli == 0 && micro_gpu_seconds > 0 {
        return "<0.001".to_owned();
    }
    // Thousandths matter to little work only.
    if milli >= 10_000 {
        let centi = rounded(10 * MICRO_GPU_SECONDS_OF_MILLI_HOUR);
        return format!("{}.{:02}", centi / 100, centi % 100);
    }
    format!("{}.{:03}", milli / 1000, milli % 1000)
}

/// A moment in a table: `2026-11-24T10:00:00Z`, as everywhere in the API.
pub(super) fn moment(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hours_have_as_many_digits_as_matter() {
        for (micro, shown) in [
            (0, "0.000"),
            (1, "<0.001"),
            (3_600_000_000, "1.000"),
            (1_800_000_000, "0.500"),
            (1_799, "<0.001"),
            (12_345_678 * 3_600_000, "12345.68"),
            // 10.0045 and 9.9996 hours.
            (36_016_200_000, "10.00"),
            (35_998_560_000, "10.00"),
        ] {
            assert_eq!(hours(micro), shown);
        }
    }

    /// GPU-seconds of a record of the 24th that held two GPUs at ten o'clock, looked at then.
    fn check(now: &str, outcome: &str, expect: [u64; 3]) {
        let record = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "j", "queue": "q",
            "outcome": outcome, "through": "2026-11-24T10:00:00Z", "runSeconds": 5, "usage": [
                {"queue": "q", "gpuType": "H100", "microGpuSeconds": 7_000_000,
                    "heldMicroGpus": 2_000_000}]});
        let object = json!({"metadata": {"namespace": "n"},
            "spec": {"day": "2026-11-24", "workloads": {"u": record}}});
        let day = records::parse(&object).expect("it is a record");
        let mut entry = entries(day).next().expect("it has a workload");
        count_up(&mut entry, now.parse().expect("a time"));
        let usage = entry.record.usage[0].micro_gpu_seconds / 1_000_000;
        assert_eq!([usage, entry.record.run_seconds, entry.record.wait_seconds], expect);
    }

    #[test]
    fn what_is_held_counts_up_to_now_and_to_the_end_of_the_day() {
        check("2026-11-24T10:00:10Z", "Running", [27, 15, 0]);
        check("2026-11-24T09:59:00Z", "Running", [7, 5, 0]);
        check("2026-11-26T00:00:00Z", "Running", [7 + 2 * 14 * 3600, 5 + 14 * 3600, 0]);
        check("2026-11-24T10:00:10Z", "Pending", [27, 5, 10]);
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        assert!(records::parse(&json!({"spec": {"day": 5}})).is_none());
        assert!(records::parse(&json!({})).is_none());
    }

    /// The GPU time of work that was moved is that of each queue for as long as it was there.
    #[tokio::test]
    async fn of_work_that_was_moved_the_use_in_the_queue_alone_counts() {
        use http::{Request, Response};
        use kube::client::Body;

        let service = tower::service_fn(|request: Request<Body>| async move {
            let record = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "j", "queue": "new",
                "outcome": "Succeeded", "usage": [
                    {"queue": "old", "gpuType": "H100", "microGpuSeconds": 5},
                    {"queue": "new", "gpuType": "H100", "microGpuSeconds": 2}]});
            let day = json!({"metadata": {"namespace": "n", "name": "d"},
                "spec": {"day": "2020-01-01", "workloads": {"u": record}}});
            let is_of_records = request.uri().path().ends_with("/dailyrecords");
            let items = if is_of_records { vec![day] } else { Vec::new() };
            let body = json!({"metadata": {"resourceVersion": "1"}, "items": items}).to_string();
            Ok::<_, kube::Error>(Response::new(Body::from(body.into_bytes())))
        });
        let cluster = Cluster::given(kube::Client::new(service, "n"), "n");
        for (queue, expect) in [("new", vec![2_u64]), ("old", vec![5]), ("other", vec![])] {
            let filter = Filter {
                since: "none".into(),
                until: None,
                queue: Some(queue.into()),
                owner: None,
                kind: None,
            };
            let found = filter.read(Some("n"), &cluster).await.expect("the server answers");
            let rows = found.rows.iter().flat_map(|entry| &entry.record.usage);
            let used: Vec<u64> = rows.map(|row| row.micro_gpu_seconds).collect();
            assert_eq!(used, expect, "{queue}");
        }
    }
}
