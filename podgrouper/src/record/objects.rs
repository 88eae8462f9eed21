//! The objects of records, each read for itself: whoever may write records in a namespace writes any, and none of them is an
//! error of others.

use kai_api::daily_record::DailyRecord;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, ObjectList, Request};
use kube::{Client, Resource as _};
use serde::Deserialize as _;
use serde_json::Value;

use super::book::{RECORD_ROWS_MAX, row_bytes};
use super::books::Place;
use super::day::Day;
use super::who::UID_BYTES_MAX;
use crate::object::{Gvk, Object};
use crate::slim::{RecordShape, Slim};

/// Objects asked for at once, and of their metadata; fewer where they are large.
const PAGE: u32 = 50;
const METADATA_PAGE: u32 = 500;
/// A row of a workload, and that of all others, has so many bytes at most, with each letter of its names written as six.
const ROW_BYTES_MAX: usize = 48 << 10;

/// A list of records, page by page.
pub(super) struct Pages {
    client: Client,
    requests: Request,
    /// Absent behind the last page.
    next: Option<ListParams>,
    is_metadata: bool,
}

impl Pages {
    /// Lists records that have some labels, of a namespace or of all, with a client that bounds the bytes of a page.
    pub(super) fn of(client: &Client, namespace: Option<&str>, labels: &str) -> Self {
        Self {
            client: client.clone(),
            requests: Request::new(DailyRecord::url_path(&(), namespace)),
            next: Some(ListParams::default().labels(labels).limit(PAGE)),
            is_metadata: false,
        }
    }

    /// Lists the metadata of all records.
    pub(super) fn of_metadata(client: &Client) -> Self {
        Self {
            client: client.clone(),
            requests: Request::new(DailyRecord::url_path(&(), None)),
            next: Some(ListParams::default().limit(METADATA_PAGE)),
            is_metadata: true,
        }
    }

    /// Asks for the next page; none behind the last.
    pub(super) async fn next_page(&mut self) -> Result<Option<Vec<Object>>, kube::Error> {
        let Some(params) = self.next.take() else { return Ok(None) };
        let request = if self.is_metadata {
            self.requests.list_metadata(&params)
        } else {
            self.requests.list(&params)
        };
        let request = request.map_err(kube::Error::BuildRequest)?;
        let list = self.client.request::<ObjectList<Slim<RecordShape>>>(request).await?;
        let next = list.metadata.continue_.filter(|next| !next.is_empty());
        self.next = next.map(|next| params.continue_token(&next));
        Ok(Some(list.items.into_iter().map(object_of).collect()))
    }
}

/// The records of a namespace for one day, one by one.
pub(super) struct Objects {
    found: Api<Slim<RecordShape>>,
    made: Api<DailyRecord>,
    day: Day,
}

impl Objects {
    pub(super) fn of(client: &Client, place: &Place) -> Self {
        let resource = ApiResource::erase::<DailyRecord>(&());
        Self {
            found: Api::namespaced_with(client.clone(), &place.namespace, &resource),
            made: Api::namespaced(client.clone(), &place.namespace),
            day: place.day,
        }
    }

    pub(super) fn day(&self) -> Day {
        self.day
    }

    /// Reads one; none where there is none of the podgrouper's.
    pub(super) async fn get(&self, name: &str) -> Result<Option<DailyRecord>, kube::Error> {
        let found = self.found.get_opt(name).await?;
        Ok(found.and_then(|found| read(&object_of(found), self.day)))
    }

    /// Changes one that was read, and gives what became of it; none where that cannot be read.
    pub(super) async fn patch(
        &self,
        name: &str,
        body: &Value,
    ) -> Result<Option<DailyRecord>, kube::Error> {
        let written = self.found.patch(name, &PatchParams::default(), &Patch::Merge(body)).await?;
        Ok(DailyRecord::deserialize(object_of(written).value()).ok())
    }

    /// Makes one.
    pub(super) async fn create(&self, object: &DailyRecord) -> Result<DailyRecord, kube::Error> {
        self.made.create(&PostParams::default(), object).await
    }
}

fn object_of(found: Slim<RecordShape>) -> Object {
    found.into_object(&Gvk::new(&DailyRecord::api_version(&()), &DailyRecord::kind(&())))
}

/// Reads a record of a day; none where the podgrouper cannot have written it.
pub(super) fn read(object: &Object, day: Day) -> Option<DailyRecord> {
    let record = DailyRecord::deserialize(object.value()).ok()?;
    is_own(&record, day).then_some(record)
}

/// Tells whether a record is of the day, and has no more than the podgrouper writes.
fn is_own(record: &DailyRecord, day: Day) -> bool {
    let rows = &record.spec.workloads;
    let fits = |uid: &str, bytes| uid.len() <= UID_BYTES_MAX && bytes <= ROW_BYTES_MAX;
    record.spec.day == day.to_string()
        && rows.len() <= RECORD_ROWS_MAX
        && rows.iter().all(|(uid, row)| fits(uid, row_bytes(row)))
}

#[cfg(test)]
mod tests {
    use kai_api::daily_record::{
        DailyRecord, DailyRecordSpec, EvictionRow, OTHERS, UsageRow, WorkloadRecord,
    };
    use serde_json::json;

    use super::super::settle::time;
    use super::{Day, Object, read};

    /// Names of groups, queues and users may be of letters that take six in JSON.
    #[test]
    fn the_longest_rows_are_the_podgroupers() {
        let long = |bytes| "\u{1}".repeat(bytes);
        let most = i64::MAX.unsigned_abs();
        let usage = |rows: usize, bytes: usize| {
            let row = UsageRow {
                queue: long(bytes),
                gpu_type: String::new(),
                micro_gpu_seconds: most,
                held_micro_gpus: most,
            };
            vec![row; rows]
        };
        let eviction = EvictionRow {
            at: Some(time(0)),
            pods: u32::MAX,
            action: long(128),
            lost_micro_gpu_seconds: most,
            ..EvictionRow::default()
        };
        let one = WorkloadRecord {
            api_version: long(507),
            kind: long(253),
            name: long(253),
            queue: long(253),
            user: Some(long(253)),
            created: Some(time(0)),
            started: Some(time(0)),
            ended: Some(time(0)),
            through: Some(time(0)),
            peak_micro_gpus: most,
            run_seconds: most,
            wait_seconds: most,
            waits: u32::MAX,
            usage: usage(17, 64),
            evictions: vec![eviction; 16],
            evictions_left_out: u32::MAX,
            ..WorkloadRecord::default()
        };
        let others = WorkloadRecord {
            usage: usage(65, 64),
            workloads: u32::MAX,
            evictions: Vec::new(),
            ..one.clone()
        };
        let workloads = [("u".repeat(64), one), (OTHERS.to_owned(), others)].into();
        let day = Day::of(0);
        let record = DailyRecord::new("r", DailyRecordSpec { day: day.to_string(), workloads });
        assert!(read(&Object::new(json!(record)), day).is_some());
    }
}
