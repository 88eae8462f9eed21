//! The records that are written, as the API server has them: read once for each day, guarded by their versions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kai_api::daily_record::{DailyRecord, DailyRecordSpec, WorkloadRecord};
use kai_api::names::label;
use kai_daemon::process::causes;
use kube::api::{
    Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, Preconditions,
};
use kube::{Client, ResourceExt as _};
use serde_json::{Map, Value, json};

use super::day::Day;
use super::who::WorkId;

/// A workload that is new goes to the next object where one has more bytes of JSON than this.
pub(super) const RECORD_BYTES_MAX: usize = 256 * 1024;
/// Objects asked for at once.
const PAGE: u32 = 100;

/// A namespace and a day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) namespace: Arc<str>,
    pub(super) day: Day,
}

/// The objects of a namespace for one day.
#[derive(Debug, Default)]
struct Book {
    parts: Vec<Part>,
    /// Workloads by UID.
    rows: BTreeMap<String, Row>,
}

#[derive(Debug)]
struct Part {
    name: String,
    uid: String,
    resource_version: String,
    bytes: usize,
}

#[derive(Debug)]
struct Row {
    part: usize,
    record: WorkloadRecord,
}

/// The outcome of a write that did not happen.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Somebody else wrote: read again and count anew.
    Conflict,
    /// The namespace is gone, and its records with it.
    Gone,
    /// Another error.
    Failed(kube::Error),
}

impl From<kube::Error> for Refusal {
    fn from(error: kube::Error) -> Self {
        let kube::Error::Api(status) = &error else { return Self::Failed(error) };
        match status.code {
            409 => Self::Conflict,
            404 => Self::Gone,
            403 if status.message.contains("being terminated") => Self::Gone,
            _ => Self::Failed(error),
        }
    }
}

/// All records that are needed now.
pub(super) struct Books {
    client: Client,
    known: HashMap<Place, Book>,
    /// Days before the first look at which a namespace has records that were not read.
    unread: BTreeSet<Place>,
}

impl Books {
    pub(super) fn new(client: Client) -> Self {
        Self { client, known: HashMap::new(), unread: BTreeSet::new() }
    }

    /// Looks which records there are, and reads those of a day and those of workloads that had not ended. Deletes what is
    /// older than `oldest`.
    pub(super) async fn open(&mut self, today: Day, oldest: Day) -> Result<(), kube::Error> {
        self.known.clear();
        self.unread.clear();
        let mut days = BTreeSet::from([today]);
        for place in self.sweep(oldest).await? {
            if place.is_open {
                days.insert(place.place.day);
            }
            self.unread.insert(place.place);
        }
        let all: Api<DailyRecord> = Api::all(self.client.clone());
        for day in days {
            self.unread.retain(|place| place.day != day);
            let mut params = ListParams::default().labels(&selector(day)).limit(PAGE);
            loop {
                let list = all.list(&params).await?;
                for object in list.items {
                    self.enter(object);
                }
                match list.metadata.continue_.filter(|next| !next.is_empty()) {
                    Some(next) => params = params.continue_token(&next),
                    None => break,
                }
            }
        }
        Ok(())
    }

    /// Lists the records by their metadata, and deletes those that are older than `oldest`.
    async fn sweep(&self, oldest: Day) -> Result<Vec<Standing>, kube::Error> {
        let all: Api<DailyRecord> = Api::all(self.client.clone());
        let mut params = ListParams::default().limit(PAGE * 5);
        let mut standing = Vec::new();
        loop {
            let list = all.list_metadata(&params).await?;
            for object in list.items {
                let (Some(day), Some(namespace)) = (
                    object.labels().get(label::DAY).and_then(|day| Day::parse(day)),
                    object.namespace(),
                ) else {
                    continue;
                };
                if day < oldest {
                    self.delete(&namespace, &object.metadata).await;
                    continue;
                }
                let place = Place { namespace: namespace.into(), day };
                let is_open = object.labels().contains_key(label::OPEN_RECORD);
                standing.push(Standing { place, is_open });
            }
            match list.metadata.continue_.filter(|next| !next.is_empty()) {
                Some(next) => params = params.continue_token(&next),
                None => return Ok(standing),
            }
        }
    }

    /// Deletes records that are older than `oldest`.
    pub(super) async fn expire(&mut self, oldest: Day) -> Result<(), kube::Error> {
        self.known.retain(|place, _| place.day >= oldest);
        self.unread.retain(|place| place.day >= oldest);
        self.sweep(oldest).await.map(drop)
    }

    async fn delete(&self, namespace: &str, meta: &ObjectMeta) {
        let api: Api<DailyRecord> = Api::namespaced(self.client.clone(), namespace);
        let name = meta.name.as_deref().unwrap_or_default();
        let preconditions = Preconditions {
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.clone(),
        };
        let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
        match api.delete(name, &params).await {
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
            Err(error) => {
                tracing::warn!(
                    namespace,
                    name,
                    error = causes(&error),
                    "failed to delete a record"
                );
            }
            Ok(_) => tracing::debug!(namespace, name, "deleted a record past its time"),
        }
    }

    fn enter(&mut self, object: DailyRecord) {
        let Some(day) = Day::parse(&object.spec.day) else { return };
        let place = Place { namespace: object.namespace().unwrap_or_default().into(), day };
        let book = self.known.entry(place).or_default();
        let part = book.parts.len();
        book.parts.push(Part {
            name: object.name_any(),
            uid: object.uid().unwrap_or_default(),
            resource_version: object.resource_version().unwrap_or_default(),
            bytes: json!(object.spec).to_string().len(),
        });
        let rows = object.spec.workloads.into_iter();
        book.rows.extend(rows.map(|(uid, record)| (uid, Row { part, record })));
    }

    /// Reads the records of a place, unless they are known or there are none.
    async fn read(&mut self, place: &Place) -> Result<(), kube::Error> {
        if !self.unread.contains(place) {
            return Ok(());
        }
        let api: Api<DailyRecord> = Api::namespaced(self.client.clone(), &place.namespace);
        let list = api.list(&ListParams::default().labels(&selector(place.day))).await?;
        for object in list.items {
            self.enter(object);
        }
        self.unread.remove(place);
        Ok(())
    }

    /// The record of a workload.
    pub(super) async fn record(
        &mut self,
        place: &Place,
        uid: &str,
    ) -> Result<Option<&WorkloadRecord>, kube::Error> {
        self.read(place).await?;
        Ok(self.known.get(place).and_then(|book| book.rows.get(uid)).map(|row| &row.record))
    }

    /// Workloads that had not ended when their last record was written, with its place.
    pub(super) fn open_workloads(&self) -> BTreeMap<WorkId, Place> {
        let mut last: BTreeMap<(&str, &str), (&Place, bool)> = BTreeMap::new();
        for (place, book) in &self.known {
            for (uid, row) in &book.rows {
                let is_open = row.record.outcome.is_open();
                let seen = last.entry((&place.namespace, uid)).or_insert((place, is_open));
                if seen.0.day < place.day {
                    *seen = (place, is_open);
                }
            }
        }
        let open = last.into_iter().filter(|(_, (_, is_open))| *is_open);
        open.map(|((_, uid), (place, _))| {
            let id = WorkId { namespace: place.namespace.clone(), uid: uid.into() };
            (id, place.clone())
        })
        .collect()
    }

    /// Has a place read again.
    pub(super) fn forget(&mut self, place: &Place) {
        self.known.remove(place);
        self.unread.insert(place.clone());
    }

    /// Lets go of the days before `today`: whatever needs them again reads them again.
    pub(super) fn shrink(&mut self, today: Day) {
        let old: Vec<Place> =
            self.known.keys().filter(|place| place.day < today).cloned().collect();
        for place in &old {
            self.forget(place);
        }
    }

    /// Writes the records of workloads: a patch for each object that has some of them, and a new object for what has no
    /// room.
    pub(super) async fn write(
        &mut self,
        place: &Place,
        records: BTreeMap<String, WorkloadRecord>,
    ) -> Result<(), Refusal> {
        let book = self.known.entry(place.clone()).or_default();
        let mut by_part: BTreeMap<usize, BTreeMap<String, WorkloadRecord>> = BTreeMap::new();
        let mut new = BTreeMap::new();
        let has_room = book.parts.last().is_some_and(|part| part.bytes < RECORD_BYTES_MAX);
        for (uid, record) in records {
            match book.rows.get(&uid) {
                Some(row) => drop(by_part.entry(row.part).or_default().insert(uid, record)),
                None if has_room => {
                    let last = book.parts.len() - 1;
                    by_part.entry(last).or_default().insert(uid, record);
                }
                None => drop(new.insert(uid, record)),
            }
        }
        let api: Api<DailyRecord> = Api::namespaced(self.client.clone(), &place.namespace);
        for (at, rows) in by_part {
            book.patch(at, rows, &api).await?;
        }
        if !new.is_empty() {
            book.begin(place.day, new, &api).await?;
        }
        Ok(())
    }
}

/// A record that there is.
struct Standing {
    place: Place,
    is_open: bool,
}

fn selector(day: Day) -> String {
    format!("{}={day}", label::DAY)
}

impl Book {
    /// Writes rows of an object that there is.
    async fn patch(
        &mut self,
        at: usize,
        rows: BTreeMap<String, WorkloadRecord>,
        api: &Api<DailyRecord>,
    ) -> Result<(), Refusal> {
        let others =
            self.rows.iter().filter(|(uid, row)| row.part == at && !rows.contains_key(*uid));
        let is_open = others.map(|(_, row)| &row.record).chain(rows.values()).any(is_open);
        let change = rows.iter().map(|(uid, record)| {
            (uid.clone(), change(self.rows.get(uid).map(|row| &row.record), record))
        });
        let change: Map<String, Value> = change.collect();
        let part = &mut self.parts[at];
        let body = json!({
            "metadata": {
                "uid": part.uid,
                "resourceVersion": part.resource_version,
                "labels": {(label::OPEN_RECORD): is_open.then_some("true")},
            },
            "spec": {"workloads": change},
        });
        let written = api.patch(&part.name, &PatchParams::default(), &Patch::Merge(&body)).await?;
        part.resource_version = written.resource_version().unwrap_or_default();
        part.bytes = json!(written.spec).to_string().len();
        self.rows.extend(rows.into_iter().map(|(uid, record)| (uid, Row { part: at, record })));
        Ok(())
    }

    /// Begins another object.
    async fn begin(
        &mut self,
        day: Day,
        rows: BTreeMap<String, WorkloadRecord>,
        api: &Api<DailyRecord>,
    ) -> Result<(), Refusal> {
        let part = self.parts.len();
        let name = if part == 0 { day.to_string() } else { format!("{day}-{}", part + 1) };
        let mut object = DailyRecord::new(
            &name,
            DailyRecordSpec { day: day.to_string(), workloads: rows.clone() },
        );
        let labels = object.metadata.labels.get_or_insert_default();
        labels.insert(label::DAY.to_owned(), day.to_string());
        if rows.values().any(is_open) {
            labels.insert(label::OPEN_RECORD.to_owned(), "true".to_owned());
        }
        let made = api.create(&PostParams::default(), &object).await?;
        self.parts.push(Part {
            name,
            uid: made.uid().unwrap_or_default(),
            resource_version: made.resource_version().unwrap_or_default(),
            bytes: json!(made.spec).to_string().len(),
        });
        self.rows.extend(rows.into_iter().map(|(uid, record)| (uid, Row { part, record })));
        Ok(())
    }
}

fn is_open(record: &WorkloadRecord) -> bool {
    record.outcome.is_open()
}

/// A record as a merge patch: fields that it no longer has are null.
fn change(before: Option<&WorkloadRecord>, after: &WorkloadRecord) -> Value {
    let mut after = json!(after);
    let before = before.map(|before| json!(before)).unwrap_or_default();
    if let (Some(after), Some(before)) = (after.as_object_mut(), before.as_object()) {
        for key in before.keys() {
            after.entry(key.clone()).or_insert(Value::Null);
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use std::sync::{Arc, Mutex};

    use axum::{Json, Router};
    use http::Method;
    use kai_api::daily_record::{DailyRecord, DailyRecordSpec, Outcome, WorkloadRecord};
    use kai_api::names::label;
    use kube::Client;
    use serde_json::{Value, json};

    use super::{Books, Day, Place, change};
    use crate::record::settle::time;

    #[test]
    fn what_a_record_no_longer_has_is_taken_away() {
        let ended = WorkloadRecord { ended: Some(time(0)), ..WorkloadRecord::default() };
        let open = WorkloadRecord { name: "w".to_owned(), ..WorkloadRecord::default() };
        let patch = change(Some(&ended), &open);
        assert_eq!((&patch["ended"], &patch["name"]), (&json!(null), &json!("w")));
        assert!(patch.as_object().is_some_and(|patch| patch.contains_key("ended")));
        assert!(change(None, &open).get("ended").is_none());
    }
    #[tokio::test]
    async fn a_place_that_was_forgotten_is_read_again() {
        let day = Day::of(0);
        let record = WorkloadRecord { name: "w".to_owned(), ..WorkloadRecord::default() };
        let workloads = BTreeMap::from([("u".to_owned(), record)]);
        let mut object =
            DailyRecord::new("1970-01-01", DailyRecordSpec { day: day.to_string(), workloads });
        object.metadata.namespace = Some("n".to_owned());
        object.metadata.labels = Some([(label::DAY.to_owned(), day.to_string())].into());
        let list = json!({"metadata": {}, "items": [object]});
        let server = Router::new().fallback(async move || Json(list));
        let mut books = Books::new(Client::new(server, "default"));
        books.open(day, day).await.expect("the server answers");
        let place = Place { namespace: "n".into(), day };
        for round in ["as it was opened", "after a conflict"] {
            let known = books.record(&place, "u").await.expect("the server answers");
            assert_eq!(known.map(|record| record.name.as_str()), Some("w"), "{round}");
            books.forget(&place);
        }
    }

    /// A day without the mark is not read at a start: what is open of it would stay so for ever.
    #[tokio::test]
    async fn a_day_is_marked_as_open_until_the_last_of_its_workloads_has_ended() {
        let patches: Arc<Mutex<Vec<Value>>> = Arc::default();
        let told = Arc::clone(&patches);
        let server =
            Router::new().fallback(async move |method: Method, Json(body): Json<Value>| {
                if method == Method::PATCH {
                    told.lock().expect("nobody panics with it").push(body);
                }
                let spec = DailyRecordSpec { day: Day::of(0).to_string(), ..Default::default() };
                Json(DailyRecord::new("1970-01-01", spec))
            });
        let mut books = Books::new(Client::new(server, "default"));
        let place = Place { namespace: "n".into(), day: Day::of(0) };
        let record = |uid: &str, outcome: Outcome| {
            (uid.to_owned(), WorkloadRecord { outcome, ..WorkloadRecord::default() })
        };
        let writes = [
            vec![record("a", Outcome::Running), record("b", Outcome::Running)],
            vec![record("a", Outcome::Succeeded)],
            vec![record("b", Outcome::Failed)],
        ];
        for records in writes {
            let written = books.write(&place, records.into_iter().collect()).await;
            assert!(written.is_ok(), "the server takes it");
        }
        let patches = patches.lock().expect("nobody panics with it");
        let marks: Vec<&Value> =
            patches.iter().map(|patch| &patch["metadata"]["labels"][label::OPEN_RECORD]).collect();
        assert_eq!(marks, [&json!("true"), &Value::Null]);
    }
}
