//! `DailyRecords`: what workloads did, a day each, as the podgrouper writes it.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use kai_api::daily_record::{DailyRecordSpec, WorkloadRecord};
use kai_api::names::label;
use serde::Deserialize as _;
use serde_json::Value;

use super::json::text;
use super::{Call, Cluster, Failure, Resource, Select};

/// The workloads of a namespace on one day, or some of them.
#[derive(Clone, Debug)]
pub(crate) struct Day {
    pub(crate) namespace: String,
    pub(crate) date: Date,
    /// By their UIDs.
    pub(crate) workloads: BTreeMap<String, WorkloadRecord>,
}

/// The kind.
pub(crate) fn resource() -> Resource {
    Resource::new("kai.scheduler/v1alpha1", "DailyRecord", "dailyrecords")
}

/// The label selector of these days.
pub(crate) fn selector(days: impl Iterator<Item = Date>) -> String {
    let days: Vec<String> = days.map(|day| day.to_string()).collect();
    format!("{} in ({})", label::DAY, days.join(","))
}

/// Today and the days before it, of UTC, so many in all.
pub(crate) fn last(days: i64) -> Vec<Date> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    (0..days).filter_map(|back| today.checked_sub(back.days()).ok()).collect()
}

/// Reads the records that a selector means, of a namespace or of all; none where the cluster keeps no history.
///
/// # Errors
/// They may not be listed, or the server cannot be asked.
pub(crate) async fn read(
    cluster: &Cluster,
    namespace: Option<&str>,
    selector: &str,
) -> Result<Option<Vec<Day>>, Failure> {
    let resource = resource();
    let call = Call::new("list", &resource).namespace(namespace);
    let objects = cluster.list(&call, &Select { labels: selector, fields: "" }).await?;
    Ok(objects.map(|objects| objects.iter().filter_map(parse).collect()))
}

/// One object. What a newer version writes and this one cannot read is left out.
pub(crate) fn parse(object: &Value) -> Option<Day> {
    let spec = DailyRecordSpec::deserialize(&object["spec"]).ok()?;
    let date = spec.day.parse().ok()?;
    let namespace = text(&object["metadata"]["namespace"]).to_owned();
    Some(Day { namespace, date, workloads: spec.workloads })
}
