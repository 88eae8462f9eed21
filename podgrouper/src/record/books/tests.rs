//! Records against a server of a few lines.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::Query;
use axum::{Json, Router};
use http::{Method, StatusCode, Uri};
use kai_api::daily_record::{
    DailyRecord, DailyRecordSpec, OTHERS, Outcome, UsageRow, WorkloadRecord,
};
use kai_api::names::label;
use kube::Client;
use serde_json::{Map, Value, json};

use super::{Books, Day, Place};
use crate::record::book::{Book, Refusal, change};
use crate::record::settle::time;
use crate::record::who::WorkId;

/// A server that keeps objects by their paths, and notes the bytes of each write.
#[derive(Clone, Default)]
pub(in crate::record) struct Server {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    objects: BTreeMap<String, Value>,
    version: u64,
    writes: Vec<usize>,
}

impl Server {
    pub(in crate::record) fn client(&self) -> Client {
        let server = self.clone();
        let answer = async move |method: Method,
                                 uri: Uri,
                                 Query(query): Query<BTreeMap<String, String>>,
                                 body: String| {
            let answer = server.kept().answer(&method, uri.path(), &query, &body);
            answer.map(Json).map_err(|code| {
                let status = json!({"kind": "Status", "code": code.as_u16(), "message": "no",
                    "reason": "no", "status": "Failure"});
                (code, Json(status))
            })
        };
        Client::new(Router::new().fallback(answer), "default")
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().expect("nobody panics with it")
    }

    /// Puts an object there that somebody else wrote.
    fn put(&self, place: &Place, name: &str, labels: &Value, spec: &Value) {
        let folder = "/apis/kai.scheduler/v1alpha1/namespaces";
        let path = format!("{folder}/{}/dailyrecords/{name}", place.namespace);
        let metadata = json!({"namespace": &*place.namespace, "name": name, "uid": name,
            "resourceVersion": "0", "labels": labels});
        self.kept().objects.insert(path, json!({"metadata": metadata, "spec": spec}));
    }

    /// All rows of a namespace and day.
    pub(in crate::record) fn rows(&self, place: &Place) -> Vec<(String, WorkloadRecord)> {
        let kept = self.kept();
        let objects = kept.objects.values().map(|object| {
            serde_json::from_value::<DailyRecord>(object.clone()).expect("it is a record")
        });
        let own = objects.filter(|object| {
            object.metadata.namespace.as_deref() == Some(&*place.namespace)
                && object.spec.day == place.day.to_string()
        });
        own.flat_map(|object| object.spec.workloads).collect()
    }
}

impl Kept {
    fn answer(
        &mut self,
        method: &Method,
        path: &str,
        query: &BTreeMap<String, String>,
        body: &str,
    ) -> Result<Value, StatusCode> {
        if *method == Method::GET {
            if let Some(object) = self.objects.get(path) {
                return Ok(object.clone());
            }
            if !path.ends_with("/dailyrecords") {
                return Err(StatusCode::NOT_FOUND);
            }
            let start = path.trim_end_matches("/dailyrecords");
            let wanted = query.get("labelSelector").map(String::as_str).unwrap_or_default();
            let fits = |object: &&Value| {
                wanted
                    .split(',')
                    .filter_map(|term| term.split_once('='))
                    .all(|(key, value)| object["metadata"]["labels"][key] == value)
            };
            let own = self.objects.iter().filter(|(path, _)| path.starts_with(start));
            let items: Vec<&Value> = own.map(|(_, object)| object).filter(fits).collect();
            return Ok(json!({"metadata": {}, "items": items}));
        }
        if *method == Method::DELETE {
            return self.objects.remove(path).ok_or(StatusCode::NOT_FOUND);
        }
        self.writes.push(body.len());
        self.version += 1;
        let mut body: Value = serde_json::from_str(body).expect("it is JSON");
        let version = json!(self.version.to_string());
        if *method == Method::POST {
            let path = format!("{path}/{}", body["metadata"]["name"].as_str().expect("a name"));
            if self.objects.contains_key(&path) {
                return Err(StatusCode::CONFLICT);
            }
            let namespace = path.split('/').nth(5).expect("it is in a namespace");
            body["metadata"]["namespace"] = json!(namespace);
            body["metadata"]["uid"] = version.clone();
            body["metadata"]["resourceVersion"] = version;
            self.objects.insert(path, body.clone());
            return Ok(body);
        }
        let object = self.objects.get_mut(path).ok_or(StatusCode::NOT_FOUND)?;
        if object["metadata"]["resourceVersion"] != body["metadata"]["resourceVersion"] {
            return Err(StatusCode::CONFLICT);
        }
        body["metadata"]["resourceVersion"] = version;
        merge(object, &body);
        Ok(object.clone())
    }
}

fn merge(into: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        patch.clone_into(into);
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    for (key, value) in patch {
        match into.as_object_mut() {
            Some(table) if value.is_null() => drop(table.remove(key)),
            Some(table) => merge(table.entry(key).or_insert(Value::Null), value),
            None => {}
        }
    }
}

fn place(day: i64) -> Place {
    Place { namespace: "n".into(), day: Day::of(day * 86_400) }
}

/// A workload that has ended, with so many micro GPU seconds.
fn ended(seconds: u64) -> WorkloadRecord {
    let usage = UsageRow {
        queue: "q".to_owned(),
        gpu_type: "H100".to_owned(),
        micro_gpu_seconds: seconds,
        held_micro_gpus: 0,
    };
    WorkloadRecord {
        name: "w".repeat(200),
        outcome: Outcome::Succeeded,
        started: (seconds > 0).then(|| time(0)),
        usage: if seconds > 0 { vec![usage] } else { Vec::new() },
        ..WorkloadRecord::default()
    }
}

/// Writes that hold all that is new would be refused for their size at midnight, for ever.
#[tokio::test]
async fn a_write_of_very_many_records_is_divided() {
    let server = Server::default();
    let mut books = Books::new(server.client());
    let uid = |number: usize| format!("u-{number:04}");
    let all: BTreeMap<String, WorkloadRecord> =
        (0..3_000).map(|number| (uid(number), ended(1))).collect();
    assert!(books.write(&place(0), all.clone()).await.is_ok());
    assert!(server.kept().writes.iter().all(|bytes| *bytes <= 300 * 1024));
    assert!(server.kept().objects.len() > 20);
    let rows: BTreeMap<_, _> = server.rows(&place(0)).into_iter().collect();
    assert_eq!(rows, all);
    // What is written again stays where it is, and what is new goes to the last of them.
    let count = server.kept().objects.len();
    let again = [(uid(0), ended(2)), ("new".to_owned(), ended(1))];
    assert!(books.write(&place(0), again.into()).await.is_ok());
    assert_eq!(server.rows(&place(0)).len(), 3_001);
    assert_eq!(server.kept().objects.len(), count);
}

/// Whoever makes and deletes pods all day long would fill this daemon and etcd.
#[tokio::test]
async fn of_very_many_workloads_those_that_are_gone_are_summed_up() {
    let server = Server::default();
    let mut books = Books::new(server.client());
    let here = place(0);
    let is_there = |uid: &str| uid.starts_with("there");
    for round in 0..50 {
        let uid = |kind: &str, number| format!("{kind}-{round:02}-{number:03}");
        let idle = (0..100).map(|number| (uid("idle", number), ended(0)));
        let own = [(uid("ran", 0), ended(7)), (uid("there", 0), ended(0))];
        let all: BTreeMap<String, WorkloadRecord> = idle.chain(own).collect();
        let uids: Vec<String> = all.keys().cloned().collect();
        assert!(books.write(&here, all).await.is_ok());
        for uid in &uids {
            books.gone(&here, uid);
        }
        if round == 25 {
            // Whoever begins anew goes on from there.
            books = Books::new(server.client());
            books.open(here.day, here.day).await.expect("the server answers");
        }
        assert!(books.fold(&here, is_there).await.is_ok());
    }
    let rows = server.rows(&here);
    let of = |kind: &str| rows.iter().filter(|(uid, _)| uid.starts_with(kind)).count();
    let others = rows.iter().filter(|(uid, _)| uid == OTHERS);
    let summed: u32 = others.map(|(_, record)| record.workloads).sum();
    let held: u64 =
        rows.iter().flat_map(|(_, row)| &row.usage).map(|row| row.micro_gpu_seconds).sum();
    assert_eq!((of("ran"), of("there"), held), (50, 50, 350));
    assert!(of("idle") <= 4_900 && of("idle") >= 4_700, "{}", of("idle"));
    assert_eq!(of("idle") + usize::try_from(summed).expect("small"), 5_000);
    assert!(server.kept().objects.len() < 45);
    // What ran is summed up where nothing else is left.
    let ran = (0..5_000).map(|number| (format!("late-{number}"), ended(7)));
    let all: BTreeMap<String, WorkloadRecord> = ran.collect();
    let uids: Vec<String> = all.keys().cloned().collect();
    assert!(books.write(&here, all).await.is_ok());
    for uid in &uids {
        books.gone(&here, uid);
    }
    assert!(books.fold(&here, is_there).await.is_ok());
    let rows = server.rows(&here);
    let held: u64 =
        rows.iter().flat_map(|(_, row)| &row.usage).map(|row| row.micro_gpu_seconds).sum();
    assert_eq!(held, 350 + 35_000);
    assert!(rows.len() < 5_000 + server.kept().objects.len());
}

/// A group may name ever new workloads, none of which ends.
#[tokio::test]
async fn workloads_that_were_left_are_summed_up_like_those_that_ended() {
    let server = Server::default();
    let mut books = Books::new(server.client());
    let here = place(0);
    let open = WorkloadRecord { outcome: Outcome::Pending, ..ended(0) };
    for round in 0..6 {
        let uid = |number| format!("w-{round}-{number:04}");
        let all: BTreeMap<String, WorkloadRecord> =
            (0..1_000).map(|number| (uid(number), open.clone())).collect();
        let uids: Vec<String> = all.keys().cloned().collect();
        assert!(books.write(&here, all).await.is_ok());
        for uid in uids {
            let work = WorkId { namespace: Arc::clone(&here.namespace), uid: uid.as_str().into() };
            books.leave(&work, here.day);
        }
        assert!(books.fold(&here, |_| false).await.is_ok());
    }
    let rows = server.rows(&here);
    assert!(rows.len() <= 5_000 + server.kept().objects.len(), "{}", rows.len());
    let summed = rows.iter().filter(|(uid, _)| uid == OTHERS).map(|(_, row)| row.workloads);
    assert_eq!(
        summed.sum::<u32>() as usize + rows.iter().filter(|(uid, _)| uid != OTHERS).count(),
        6_000
    );
    assert_eq!(books.open_workloads().len(), 0);
}

/// A record that is not in memory is read when somebody asks for it.
#[tokio::test]
async fn what_has_ended_is_read_again_when_it_is_asked_for() {
    let server = Server::default();
    let here = place(0);
    let all = [("a".to_owned(), ended(1)), ("b".to_owned(), ended(2))];
    assert!(Books::new(server.client()).write(&here, all.into()).await.is_ok());
    let mut books = Books::new(server.client());
    books.open(here.day, here.day).await.expect("the server answers");
    for uid in ["a", "b", "a"] {
        let found = books.record(&here, uid).await.expect("the server answers");
        assert!(found.is_some_and(|record| record.outcome == Outcome::Succeeded), "{uid}");
        books.gone(&here, "a");
    }
    assert!(books.record(&here, "c").await.expect("the server answers").is_none());
    // A write of it changes its row, and makes no other.
    assert!(books.write(&here, [("a".to_owned(), ended(3))].into()).await.is_ok());
    assert_eq!(server.rows(&here).len(), 2);
}

/// Days before today are not read whole, however long somebody left workloads open there.
#[tokio::test]
async fn what_was_open_on_a_day_before_is_found_unless_today_has_it() {
    let server = Server::default();
    let running = || WorkloadRecord { outcome: Outcome::Running, ..WorkloadRecord::default() };
    let days = [
        (place(0), vec!["long", "gone", "done"]),
        (place(1), vec!["long", "gone"]),
        (place(2), vec!["long"]),
    ];
    for (place, uids) in days {
        let rows = uids.into_iter().map(|uid| (uid.to_owned(), running()));
        assert!(Books::new(server.client()).write(&place, rows.collect()).await.is_ok());
    }
    let today = [("done".to_owned(), ended(1))];
    let mut books = Books::new(server.client());
    books.open(place(2).day, place(0).day).await.expect("the server answers");
    assert!(books.write(&place(2), today.into()).await.is_ok());
    let mut books = Books::new(server.client());
    books.open(place(2).day, place(0).day).await.expect("the server answers");
    let id = |uid: &str| WorkId { namespace: "n".into(), uid: uid.into() };
    let expect = [(id("gone"), place(1)), (id("long"), place(2))];
    assert_eq!(books.open_workloads(), BTreeMap::from(expect));
}

/// The first of the days that are kept is kept whole, and the one before it goes.
#[tokio::test]
async fn records_past_their_time_go_and_no_others() {
    let server = Server::default();
    for day in 0..4 {
        let rows = [("u".to_owned(), ended(1))];
        assert!(Books::new(server.client()).write(&place(day), rows.into()).await.is_ok());
    }
    let left =
        || -> Vec<i64> { (0..4).filter(|day| !server.rows(&place(*day)).is_empty()).collect() };
    let mut books = Books::new(server.client());
    books.open(place(3).day, place(1).day).await.expect("the server answers");
    assert_eq!(left(), [1, 2, 3]);
    books.expire(place(2).day).await.expect("the server answers");
    assert_eq!(left(), [2, 3]);
}

/// Whoever may write records in a namespace writes any. What the podgrouper cannot have written is no error of others.
#[tokio::test]
async fn what_somebody_else_wrote_is_passed_over() {
    let server = Server::default();
    let here = place(0);
    let own = [("own".to_owned(), ended(1))];
    assert!(Books::new(server.client()).write(&here, own.into()).await.is_ok());
    let row = |key: &str, value: Value| {
        let open = WorkloadRecord { outcome: Outcome::Running, ..WorkloadRecord::default() };
        let mut row = json!(open);
        row[key] = value;
        row
    };
    let bad_time = row("created", json!("2026-01-01T00:00:00+99:99"));
    let too_large = row("waits", json!(1_u64 << 32));
    let plain = row("name", json!("w"));
    let many: Map<String, Value> =
        (0..129).map(|number| (number.to_string(), plain.clone())).collect();
    let labels = json!({(label::DAY): here.day.to_string()});
    for (name, day, workloads) in [
        ("time", 0, json!({"u": bad_time})),
        ("number", 0, json!({"u": too_large})),
        ("day", 1, json!({"u": plain})),
        ("row", 0, json!({"u": row("name", json!("w".repeat(60_000)))})),
        ("uid", 0, json!({("u".repeat(65)): plain})),
        ("rows", 0, Value::Object(many)),
    ] {
        let there = Place { namespace: "m".into(), day: here.day };
        let spec = json!({"day": place(day).day.to_string(), "workloads": workloads});
        server.put(&there, name, &labels, &spec);
    }
    let mut books = Books::new(server.client());
    books.open(here.day, here.day).await.expect("none of them is an error");
    assert_eq!(books.open_workloads(), BTreeMap::new());
    assert!(books.record(&here, "own").await.expect("the server answers").is_some());
    // Nor is one of its own that was edited since it was read.
    books.gone(&here, "own");
    let spec = json!({"day": here.day.to_string(), "workloads": {"own": too_large}});
    server.put(&here, &here.day.to_string(), &labels, &spec);
    assert!(books.record(&here, "own").await.expect("the server answers").is_none());
}

/// The next object may have a name that somebody else's has, of that day or not.
#[tokio::test]
async fn a_name_that_somebody_took_is_tried_once() {
    let here = place(0);
    for labels in [json!({(label::DAY): here.day.to_string()}), json!({})] {
        let server = Server::default();
        server.put(&here, &here.day.to_string(), &labels, &json!({"day": "1970-01-02"}));
        let mut books = Books::new(server.client());
        books.open(here.day, here.day).await.expect("the server answers");
        let rows = || BTreeMap::from([("u".to_owned(), ended(1))]);
        assert!(matches!(books.write(&here, rows()).await, Err(Refusal::Conflict)));
        books.forget(&here);
        assert!(books.record(&here, "u").await.expect("the server answers").is_none());
        assert!(books.write(&here, rows()).await.is_ok());
        assert_eq!(server.rows(&here).len(), 1);
    }
}

/// Whoever edits a record again and again has nobody else wait for it.
#[tokio::test]
async fn a_record_that_changes_while_it_is_read_is_left_for_later() {
    let server = Router::new().fallback(async move |uri: Uri| {
        let object = |version: &str| {
            let labels = json!({(label::DAY): "1970-01-01"});
            let metadata = json!({"namespace": "n", "name": "r", "resourceVersion": version,
                "labels": labels});
            let spec = json!({"day": "1970-01-01", "workloads": {"u": ended(1)}});
            json!({"metadata": metadata, "spec": spec})
        };
        let list = json!({"metadata": {}, "items": [object("1")]});
        Json(if uri.path().ends_with("/r") { object("2") } else { list })
    });
    let mut books = Books::new(Client::new(server, "default"));
    let here = place(0);
    books.open(here.day, here.day).await.expect("the server answers");
    assert!(books.record(&here, "u").await.is_err());
}

/// Whoever may write records makes any number of them that are open.
#[test]
fn of_a_very_large_day_it_is_known_where_its_rows_are() {
    let row = WorkloadRecord { name: "w".repeat(40_000), ..WorkloadRecord::default() };
    let object = |part: usize| {
        let rows = (0..100).map(|number| (format!("{part}-{number}"), row.clone()));
        let spec = DailyRecordSpec { day: Day::of(0).to_string(), workloads: rows.collect() };
        DailyRecord::new("r", spec)
    };
    let mut book = Book::default();
    for part in 0..8 {
        assert!(book.enter(object(part)));
    }
    // The first four have less than 16 MiB, so that the fifth is whole, too.
    assert_eq!(book.open().count(), 500);
    assert!(book.has("7-1") && book.record("7-1").is_none());
    let (part, _, _) = book.place_of("7-1").expect("it is known");
    book.load(part, object(7), "7-1");
    assert!(book.record("7-1").is_some() && book.record("7-2").is_none());
    let empty = || DailyRecord::new("r", DailyRecordSpec::default());
    assert!((8..2_048).all(|_| book.enter(empty())));
    assert!(!book.enter(empty()));
}

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
    let server = Router::new().fallback(async move |method: Method, Json(body): Json<Value>| {
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
