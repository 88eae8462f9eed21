//! The objects of a namespace for one day. What can change still is known whole; of what has ended, where it is.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use kai_api::daily_record::{DailyRecord, DailyRecordSpec, OTHERS, WorkloadRecord};
use kai_api::names::label;
use kai_daemon::chance;
use kube::ResourceExt as _;
use serde_json::{Map, Value, json};

use super::day::Day;
use super::objects::Objects;
use super::sums::add_others;

/// A workload that is new goes to another object where one has more bytes than this, or so many workloads: each of them may
/// grow by some 8 KiB.
pub(super) const RECORD_BYTES_MAX: usize = 256 * 1024;
pub(super) const RECORD_ROWS_MAX: usize = 128;
/// Objects of a day beyond so many bytes have only those of their rows in memory that somebody asked for, and of the others
/// where they are. An object beyond so many objects is passed over.
pub(super) const BOOK_BYTES_MAX: usize = 16 << 20;
const PARTS_MAX: usize = 2_048;
/// Bytes that the API server notes of the fields of one workload.
const FIELDS_BYTES: usize = 320;
/// So many workloads of a day have a record of their own. Beyond it those that are gone are summed up.
const WORKLOADS_MAX: usize = 5_000;

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

/// The objects of a namespace for one day.
#[derive(Debug, Default)]
pub(super) struct Book {
    parts: Vec<Part>,
    /// Workloads by UID: those that are open, and those that somebody asked for.
    rows: BTreeMap<String, Row>,
    /// All others, by a hash of their UIDs.
    ended: HashMap<u64, EndedRow>,
}

#[derive(Debug)]
struct Part {
    name: String,
    uid: String,
    resource_version: String,
    bytes: usize,
    count: usize,
    /// True if its rows may be known whole though nobody asked for them.
    may_be_whole: bool,
}

#[derive(Debug)]
struct Row {
    part: usize,
    record: WorkloadRecord,
    /// False for one that was read with others of its object.
    is_asked: bool,
}

/// A workload that has ended.
#[derive(Debug, Clone, Copy)]
struct EndedRow {
    part: usize,
    /// True if it never had a node.
    is_idle: bool,
}

/// The rows of one object to be summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    part: usize,
    is_idle: bool,
}

fn hash(uid: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    uid.hash(&mut hasher);
    hasher.finish()
}

fn is_open(record: &WorkloadRecord) -> bool {
    record.outcome.is_open()
}

/// The bytes of a row on the API server.
pub(super) fn row_bytes(record: &WorkloadRecord) -> usize {
    json!(record).to_string().len() + FIELDS_BYTES
}

/// The bytes of an object on the API server.
fn bytes_of(spec: &DailyRecordSpec) -> usize {
    json!(spec).to_string().len() + FIELDS_BYTES * spec.workloads.len()
}

impl Part {
    fn of(object: &DailyRecord, may_be_whole: bool) -> Self {
        Self {
            name: object.name_any(),
            uid: object.uid().unwrap_or_default(),
            resource_version: object.resource_version().unwrap_or_default(),
            bytes: bytes_of(&object.spec),
            count: object.spec.workloads.len(),
            may_be_whole,
        }
    }

    /// Takes over what was written.
    fn follow(&mut self, written: &DailyRecord) {
        self.resource_version = written.resource_version().unwrap_or_default();
        self.bytes = bytes_of(&written.spec);
        self.count = written.spec.workloads.len();
    }
}

impl Book {
    /// Takes an object in; false where the day has too many.
    pub(super) fn enter(&mut self, object: DailyRecord) -> bool {
        let part = self.parts.len();
        if part >= PARTS_MAX {
            return false;
        }
        let may_be_whole = self.has_room();
        self.parts.push(Part::of(&object, may_be_whole));
        for (uid, record) in object.spec.workloads {
            self.put(uid, Row { part, record, is_asked: false });
        }
        true
    }

    /// Tells whether the rows of one more object may be known whole.
    fn has_room(&self) -> bool {
        self.parts.iter().map(|part| part.bytes).sum::<usize>() < BOOK_BYTES_MAX
    }

    /// Keeps a row: whole while it may change, else where it is. The sum of others is looked up when it is written.
    fn put(&mut self, uid: String, row: Row) {
        if uid == OTHERS {
            return;
        }
        let may_be_whole = self.parts[row.part].may_be_whole;
        if row.is_asked || (may_be_whole && is_open(&row.record)) {
            self.ended.remove(&hash(&uid));
            self.rows.insert(uid, row);
        } else {
            let is_idle = row.record.started.is_none();
            self.rows.remove(&uid);
            self.ended.insert(hash(&uid), EndedRow { part: row.part, is_idle });
        }
    }

    /// The record of a workload, if it is known whole.
    pub(super) fn record(&mut self, uid: &str) -> Option<&WorkloadRecord> {
        let row = self.rows.get_mut(uid)?;
        row.is_asked = true;
        Some(&row.record)
    }

    /// Name and version of the object that has a workload of which no more is known.
    pub(super) fn place_of(&self, uid: &str) -> Option<(usize, &str, &str)> {
        let part = self.ended.get(&hash(uid)).filter(|_| !self.rows.contains_key(uid))?.part;
        Some((part, &self.parts[part].name, &self.parts[part].resource_version))
    }

    /// Takes in the workloads of an object that was read again for one of them: all of them where there is room.
    pub(super) fn load(&mut self, part: usize, object: DailyRecord, asked: &str) {
        let may_be_whole = self.parts[part].may_be_whole;
        for (uid, record) in object.spec.workloads {
            if (may_be_whole || uid == asked) && uid != OTHERS && !self.rows.contains_key(&uid) {
                self.ended.remove(&hash(&uid));
                self.rows.insert(uid, Row { part, record, is_asked: false });
            }
        }
    }

    /// Lets go of what was read with others.
    pub(super) fn shrink(&mut self) {
        let is_left = |row: &Row| !row.is_asked && !is_open(&row.record);
        let left: Vec<String> =
            self.rows.iter().filter(|(_, row)| is_left(row)).map(|(uid, _)| uid.clone()).collect();
        for uid in left {
            self.gone(&uid);
        }
    }

    /// Notes that a workload is gone.
    pub(super) fn gone(&mut self, uid: &str) {
        if let Some((uid, row)) = self.rows.remove_entry(uid) {
            self.put(uid, Row { is_asked: false, ..row });
        }
    }

    /// Notes that nobody is for a workload any more, though it has not ended: whoever edits a group makes any number of those,
    /// so that they count like those that have.
    pub(super) fn leave(&mut self, uid: &str) {
        if let Some(row) = self.rows.remove(uid) {
            let is_idle = row.record.started.is_none();
            self.ended.insert(hash(uid), EndedRow { part: row.part, is_idle });
        }
    }

    /// The workloads that are open.
    pub(super) fn open(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(|(_, row)| is_open(&row.record)).map(|(uid, _)| uid.as_str())
    }

    /// Tells whether a workload has a record of its own here.
    pub(super) fn has(&self, uid: &str) -> bool {
        self.rows.contains_key(uid) || self.ended.contains_key(&hash(uid))
    }

    /// Divides records among objects: those that there are, and new ones behind them.
    fn spread(
        &self,
        records: BTreeMap<String, WorkloadRecord>,
    ) -> BTreeMap<usize, BTreeMap<String, WorkloadRecord>> {
        let mut filled: Vec<(usize, usize)> =
            self.parts.iter().map(|part| (part.bytes, part.count)).collect();
        let has_room =
            |(bytes, count): (usize, usize)| bytes < RECORD_BYTES_MAX && count < RECORD_ROWS_MAX;
        let mut next = 0;
        let mut by_part: BTreeMap<usize, BTreeMap<String, WorkloadRecord>> = BTreeMap::new();
        for (uid, record) in records {
            let part = if let Some(row) = self.rows.get(&uid) {
                row.part
            } else {
                while filled.get(next).is_some_and(|filled| !has_room(*filled)) {
                    next += 1;
                }
                if next == filled.len() {
                    filled.push((0, 0));
                }
                filled[next].0 += row_bytes(&record);
                filled[next].1 += 1;
                next
            };
            by_part.entry(part).or_default().insert(uid, record);
        }
        by_part
    }

    /// Writes records: a patch for each object that has some of them or has room, and new objects for the others. `is_taken`
    /// says that somebody else took a name.
    pub(super) async fn write(
        &mut self,
        records: BTreeMap<String, WorkloadRecord>,
        objects: &Objects,
        is_taken: bool,
    ) -> Result<(), Refusal> {
        for (part, rows) in self.spread(records) {
            if part < self.parts.len() {
                self.patch(part, rows, objects).await?;
            } else {
                let name = self.free_name(objects.day(), is_taken);
                self.begin(&name, rows, objects).await?;
            }
        }
        Ok(())
    }

    /// Writes rows of an object that there is.
    async fn patch(
        &mut self,
        at: usize,
        rows: BTreeMap<String, WorkloadRecord>,
        objects: &Objects,
    ) -> Result<(), Refusal> {
        let others =
            self.rows.iter().filter(|(uid, row)| row.part == at && !rows.contains_key(*uid));
        let is_open = others.map(|(_, row)| &row.record).chain(rows.values()).any(is_open);
        let change = rows.iter().map(|(uid, record)| {
            (uid.clone(), change(self.rows.get(uid).map(|row| &row.record), record))
        });
        let change: Map<String, Value> = change.collect();
        self.send(at, is_open, change, objects).await?;
        for (uid, record) in rows {
            self.put(uid, Row { part: at, record, is_asked: true });
        }
        Ok(())
    }

    /// Sends a change of the workloads of an object.
    async fn send(
        &mut self,
        at: usize,
        is_open: bool,
        workloads: Map<String, Value>,
        objects: &Objects,
    ) -> Result<(), Refusal> {
        let part = &mut self.parts[at];
        let body = json!({
            "metadata": {
                "uid": part.uid,
                "resourceVersion": part.resource_version,
                "labels": {(label::OPEN_RECORD): is_open.then_some("true")},
            },
            "spec": {"workloads": workloads},
        });
        let written = objects.patch(&part.name, &body).await?;
        part.follow(&written.ok_or(Refusal::Conflict)?);
        Ok(())
    }

    /// Begins another object.
    async fn begin(
        &mut self,
        name: &str,
        rows: BTreeMap<String, WorkloadRecord>,
        objects: &Objects,
    ) -> Result<(), Refusal> {
        let part = self.parts.len();
        let day = objects.day();
        let spec = DailyRecordSpec { day: day.to_string(), workloads: rows.clone() };
        let mut object = DailyRecord::new(name, spec);
        let labels = object.metadata.labels.get_or_insert_default();
        labels.insert(label::DAY.to_owned(), day.to_string());
        if rows.values().any(is_open) {
            labels.insert(label::OPEN_RECORD.to_owned(), "true".to_owned());
        }
        let made = objects.create(&object).await?;
        let mut part_made = Part::of(&object, self.has_room());
        part_made.uid = made.uid().unwrap_or_default();
        part_made.follow(&made);
        self.parts.push(part_made);
        for (uid, record) in rows {
            self.put(uid, Row { part, record, is_asked: true });
        }
        Ok(())
    }

    /// A name that no object of the day has. Somebody may have deleted one before the last, or have taken some for others, and
    /// goes on with those that can be foreseen.
    fn free_name(&self, day: Day, is_taken: bool) -> String {
        if is_taken {
            return format!("{day}-{}", chance::uuid());
        }
        let name = |at: usize| if at == 0 { day.to_string() } else { format!("{day}-{}", at + 1) };
        let is_free = |name: &String| self.parts.iter().all(|part| part.name != *name);
        let count = self.parts.len();
        // They cannot have all of one more than they are.
        (count..=2 * count).map(name).find(is_free).unwrap_or_default()
    }

    /// Chooses an object whose ended workloads are summed up, where the day has too many: of those that never had a node where
    /// there are some, the object with the most.
    fn choice(&self) -> Option<Choice> {
        if self.rows.len() + self.ended.len() <= WORKLOADS_MAX {
            return None;
        }
        let mut counts: BTreeMap<(bool, usize), usize> = BTreeMap::new();
        for row in self.ended.values() {
            *counts.entry((row.is_idle, row.part)).or_default() += 1;
        }
        let most = counts
            .into_iter()
            .max_by_key(|((is_idle, part), count)| (*is_idle, *count, std::cmp::Reverse(*part)));
        most.map(|((is_idle, part), _)| Choice { part, is_idle })
    }

    /// Sums up workloads that are gone, until the day has few enough or there are none.
    pub(super) async fn fold(
        &mut self,
        objects: &Objects,
        is_there: impl Fn(&str) -> bool,
    ) -> Result<(), Refusal> {
        while let Some(choice) = self.choice() {
            let part = &self.parts[choice.part];
            let object = objects.get(&part.name).await?.ok_or(Refusal::Conflict)?;
            if object.resource_version().unwrap_or_default() != part.resource_version {
                return Err(Refusal::Conflict);
            }
            self.fold_part(choice, object, objects, &is_there).await?;
        }
        Ok(())
    }

    async fn fold_part(
        &mut self,
        choice: Choice,
        mut object: DailyRecord,
        objects: &Objects,
        is_there: &impl Fn(&str) -> bool,
    ) -> Result<(), Refusal> {
        let before = object.spec.workloads.remove(OTHERS);
        let mut gone: BTreeMap<String, WorkloadRecord> = BTreeMap::new();
        let is_chosen = |row: &EndedRow| row.part == choice.part && row.is_idle == choice.is_idle;
        for (uid, record) in object.spec.workloads {
            if !self.ended.get(&hash(&uid)).is_some_and(is_chosen) || self.rows.contains_key(&uid) {
                continue;
            }
            if is_there(&uid) {
                self.put(uid, Row { part: choice.part, record, is_asked: true });
            } else {
                gone.insert(uid, record);
            }
        }
        // Whatever comes of it, the same is not chosen again.
        self.ended.retain(|_, row| !is_chosen(row));
        if gone.is_empty() {
            return Ok(());
        }
        let sum = add_others(before.as_ref(), gone.values());
        let mut workloads: Map<String, Value> =
            gone.into_keys().map(|uid| (uid, Value::Null)).collect();
        workloads.insert(OTHERS.to_owned(), change(before.as_ref(), &sum));
        let is_open = self.rows.values().any(|row| row.part == choice.part && is_open(&row.record));
        self.send(choice.part, is_open, workloads, objects).await
    }
}

/// A record as a merge patch: fields that it no longer has are null.
pub(super) fn change(before: Option<&WorkloadRecord>, after: &WorkloadRecord) -> Value {
    let mut after = json!(after);
    let before = before.map(|before| json!(before)).unwrap_or_default();
    if let (Some(after), Some(before)) = (after.as_object_mut(), before.as_object()) {
        for key in before.keys() {
            after.entry(key.clone()).or_insert(Value::Null);
        }
    }
    after
}
