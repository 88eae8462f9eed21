//! The records that are written, as the API server has them: read once for each day, guarded by their versions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kai_api::daily_record::{DailyRecord, WorkloadRecord};
use kai_api::names::label;
use kai_daemon::process::causes;
use kube::Client;
use kube::api::{Api, DeleteParams, Preconditions};
use kube::core::Status;

use super::book::{BOOK_BYTES_MAX, Book, Refusal, row_bytes};
use super::day::Day;
use super::objects::{Objects, Pages, read};
use super::who::WorkId;
use crate::follow::paged;
use crate::object::Object;

/// Namespaces that are remembered as those of which an object was passed over.
const TOLD_MAX: usize = 1_000;

/// A namespace and a day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) namespace: Arc<str>,
    pub(super) day: Day,
}

/// All records that are needed now.
pub(super) struct Books {
    client: Client,
    /// The same for lists, with pages of bounded bytes.
    lists: Client,
    known: HashMap<Place, Book>,
    /// Days of which a namespace has records that were not read.
    unread: BTreeSet<Place>,
    /// Workloads that were open on days before that of the first look, each with the last of these.
    open_before: BTreeMap<WorkId, Place>,
    /// Places where a write met one of somebody else, who may have taken names of objects, too.
    taken: HashSet<Place>,
    /// Namespaces of which it was told that an object is passed over.
    told: HashSet<Box<str>>,
}

impl Books {
    pub(super) fn new(client: Client) -> Self {
        Self {
            lists: paged(client.clone()),
            client,
            known: HashMap::new(),
            unread: BTreeSet::new(),
            open_before: BTreeMap::new(),
            taken: HashSet::new(),
            told: HashSet::new(),
        }
    }

    /// Looks which records there are, and reads those of a day and, of days before, which workloads had not ended. Deletes what
    /// is older than `oldest`.
    pub(super) async fn open(&mut self, today: Day, oldest: Day) -> Result<(), kube::Error> {
        self.known.clear();
        self.unread.clear();
        self.open_before.clear();
        let mut open_days = BTreeSet::new();
        for standing in self.sweep(oldest).await? {
            if standing.is_open && standing.place.day < today {
                open_days.insert(standing.place.day);
            }
            self.unread.insert(standing.place);
        }
        let mut pages = Pages::of(&self.lists, None, &selector(today));
        while let Some(page) = pages.next_page().await? {
            for object in page {
                let place = Place { namespace: object.namespace().into(), day: today };
                if !enter(self.known.entry(place).or_default(), &object, today) {
                    self.pass_over(&object);
                }
            }
        }
        self.unread.retain(|place| place.day != today);
        self.find_open(today, open_days).await
    }

    /// Finds the workloads that were open on days before today, unless today has them: of each namespace as many as have so many
    /// bytes together.
    async fn find_open(&mut self, today: Day, days: BTreeSet<Day>) -> Result<(), kube::Error> {
        let mut bytes: HashMap<Arc<str>, usize> = HashMap::new();
        for day in days.into_iter().rev() {
            let open = format!("{},{}=true", selector(day), label::OPEN_RECORD);
            let mut pages = Pages::of(&self.lists, None, &open);
            while let Some(page) = pages.next_page().await? {
                for object in page {
                    let Some(record) = read(&object, day) else {
                        self.pass_over(&object);
                        continue;
                    };
                    let place = Place { namespace: object.namespace().into(), day };
                    let bytes = bytes.entry(place.namespace.clone()).or_default();
                    self.enter_open(record, &place, today, bytes);
                }
            }
        }
        Ok(())
    }

    /// Takes in the open workloads of a day before today. Later days were looked at first.
    fn enter_open(&mut self, record: DailyRecord, place: &Place, today: Day, bytes: &mut usize) {
        let later = self.known.get(&Place { namespace: place.namespace.clone(), day: today });
        for (uid, row) in record.spec.workloads {
            let is_later = later.is_some_and(|book| book.has(&uid));
            let work = WorkId { namespace: place.namespace.clone(), uid: uid.into() };
            if !row.outcome.is_open() || is_later || self.open_before.contains_key(&work) {
                continue;
            }
            *bytes += row_bytes(&row);
            if *bytes <= BOOK_BYTES_MAX {
                self.open_before.insert(work, place.clone());
            }
        }
    }

    /// Lists the records by their metadata, and deletes those that are older than `oldest`.
    async fn sweep(&self, oldest: Day) -> Result<Vec<Standing>, kube::Error> {
        let mut pages = Pages::of_metadata(&self.lists);
        let mut standing = Vec::new();
        while let Some(page) = pages.next_page().await? {
            for object in page {
                let Some(day) = object.label(label::DAY).and_then(Day::parse) else { continue };
                if day < oldest {
                    self.delete(&object).await;
                    continue;
                }
                let place = Place { namespace: object.namespace().into(), day };
                let is_open = object.label(label::OPEN_RECORD).is_some();
                standing.push(Standing { place, is_open });
            }
        }
        Ok(standing)
    }

    /// Deletes records that are older than `oldest`.
    pub(super) async fn expire(&mut self, oldest: Day) -> Result<(), kube::Error> {
        self.known.retain(|place, _| place.day >= oldest);
        self.unread.retain(|place| place.day >= oldest);
        self.taken.retain(|place| place.day >= oldest);
        self.sweep(oldest).await.map(drop)
    }

    async fn delete(&self, object: &Object) {
        let (namespace, name) = (object.namespace(), object.name());
        let api: Api<DailyRecord> = Api::namespaced(self.client.clone(), namespace);
        let preconditions = Preconditions {
            uid: Some(object.uid().to_owned()),
            resource_version: Some(object.resource_version().to_owned()),
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

    /// Tells once for a namespace that an object of it is passed over.
    fn pass_over(&mut self, object: &Object) {
        if self.told.len() >= TOLD_MAX {
            self.told.clear();
        }
        let namespace = object.namespace();
        if self.told.insert(namespace.into()) {
            tracing::warn!(
                namespace,
                name = object.name(),
                "passing over a DailyRecord that is not as the podgrouper writes them"
            );
        }
    }

    fn objects(&self, place: &Place) -> Objects {
        Objects::of(&self.client, place)
    }

    /// Reads the records of a place, unless they are known or there are none.
    async fn read(&mut self, place: &Place) -> Result<(), kube::Error> {
        if !self.unread.contains(place) {
            return Ok(());
        }
        let mut book = Book::default();
        let mut pages = Pages::of(&self.lists, Some(&place.namespace), &selector(place.day));
        while let Some(page) = pages.next_page().await? {
            for object in page {
                if !enter(&mut book, &object, place.day) {
                    self.pass_over(&object);
                }
            }
        }
        self.known.insert(place.clone(), book);
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
        if !self.load(place, uid).await? {
            // Somebody else wrote it.
            self.forget(place);
            self.read(place).await?;
            if !self.load(place, uid).await? {
                let status = Status::failure("a record changes while it is read", "Conflict");
                return Err(kube::Error::Api(status.with_code(409).boxed()));
            }
        }
        Ok(self.known.get_mut(place).and_then(|book| book.record(uid)))
    }

    /// Reads the object of a workload again where no more than that is known of it; false where it is another by now.
    async fn load(&mut self, place: &Place, uid: &str) -> Result<bool, kube::Error> {
        let objects = self.objects(place);
        let Some(book) = self.known.get_mut(place) else { return Ok(true) };
        let Some((part, name, version)) = book.place_of(uid) else { return Ok(true) };
        match objects.get(name).await? {
            Some(object) if object.metadata.resource_version.as_deref() == Some(version) => {
                book.load(part, object, uid);
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }

    /// Workloads that had not ended when their last record was written, with its place.
    pub(super) fn open_workloads(&mut self) -> BTreeMap<WorkId, Place> {
        let today = self.known.iter().flat_map(|(place, book)| {
            book.open().map(|uid| {
                let id = WorkId { namespace: place.namespace.clone(), uid: uid.into() };
                (id, place.clone())
            })
        });
        std::mem::take(&mut self.open_before).into_iter().chain(today).collect()
    }

    /// Has a place read again.
    pub(super) fn forget(&mut self, place: &Place) {
        self.known.remove(place);
        self.unread.insert(place.clone());
    }

    /// Lets go of the days of a namespace before `today`, and of what was read with others: whatever needs them again reads them
    /// again.
    pub(super) fn shrink(&mut self, namespace: &str, today: Day) {
        let own = self.known.keys().filter(|place| *place.namespace == *namespace);
        let old: Vec<Place> = own.filter(|place| place.day < today).cloned().collect();
        for place in &old {
            self.forget(place);
        }
        let place = Place { namespace: namespace.into(), day: today };
        if let Some(book) = self.known.get_mut(&place) {
            book.shrink();
        }
    }

    /// Notes that a workload is gone, so that its record changes no more.
    pub(super) fn gone(&mut self, place: &Place, uid: &str) {
        if let Some(book) = self.known.get_mut(place) {
            book.gone(uid);
        }
    }

    /// Notes that nobody is for a workload any more.
    pub(super) fn leave(&mut self, work: &WorkId, day: Day) {
        let place = Place { namespace: Arc::clone(&work.namespace), day };
        if let Some(book) = self.known.get_mut(&place) {
            book.leave(&work.uid);
        }
    }

    /// Writes the records of workloads.
    pub(super) async fn write(
        &mut self,
        place: &Place,
        records: BTreeMap<String, WorkloadRecord>,
    ) -> Result<(), Refusal> {
        let objects = self.objects(place);
        let is_taken = self.taken.contains(place);
        let book = self.known.entry(place.clone()).or_default();
        let written = book.write(records, &objects, is_taken).await;
        if matches!(written, Err(Refusal::Conflict)) {
            self.taken.insert(place.clone());
        }
        written
    }

    /// Sums up workloads that are gone where a day has very many.
    pub(super) async fn fold(
        &mut self,
        place: &Place,
        is_there: impl Fn(&str) -> bool,
    ) -> Result<(), Refusal> {
        let objects = self.objects(place);
        let Some(book) = self.known.get_mut(place) else { return Ok(()) };
        book.fold(&objects, is_there).await
    }
}

/// Takes an object of a day in; false where it is none of the podgrouper's.
fn enter(book: &mut Book, object: &Object, day: Day) -> bool {
    read(object, day).is_some_and(|record| book.enter(record))
}

/// A record that there is.
struct Standing {
    place: Place,
    is_open: bool,
}

fn selector(day: Day) -> String {
    format!("{}={day}", label::DAY)
}

#[cfg(test)]
pub(super) mod tests;
