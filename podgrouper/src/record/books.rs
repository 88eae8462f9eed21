//! The records that are written, as the API server has them: read once for each day, guarded by their versions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kai_api::daily_record::{DailyRecord, WorkloadRecord};
use kai_api::names::label;
use kai_daemon::process::causes;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, Preconditions};
use kube::{Client, ResourceExt as _};

use super::book::{Book, Refusal};
use super::day::Day;
use super::who::WorkId;

/// Objects asked for at once, of a megabyte each at most, and of their metadata.
const PAGE: u32 = 10;
const METADATA_PAGE: u32 = 500;

/// A namespace and a day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) namespace: Arc<str>,
    pub(super) day: Day,
}

/// All records that are needed now.
pub(super) struct Books {
    client: Client,
    known: HashMap<Place, Book>,
    /// Days of which a namespace has records that were not read.
    unread: BTreeSet<Place>,
    /// Workloads that were open on days before that of the first look, each with the last of these.
    open_before: BTreeMap<WorkId, Place>,
}

impl Books {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            known: HashMap::new(),
            unread: BTreeSet::new(),
            open_before: BTreeMap::new(),
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
            if standing.is_open && standing.place.day != today {
                open_days.insert(standing.place.day);
            }
            self.unread.insert(standing.place);
        }
        let all: Api<DailyRecord> = Api::all(self.client.clone());
        pages(&all, &selector(today), |object| self.enter(object)).await?;
        self.unread.retain(|place| place.day != today);
        for day in open_days.into_iter().rev() {
            let open = format!("{},{}=true", selector(day), label::OPEN_RECORD);
            let mut found = BTreeSet::new();
            pages(&all, &open, |object| {
                let namespace: Arc<str> = object.namespace().unwrap_or_default().into();
                let rows = object.spec.workloads.into_iter();
                let open = rows.filter(|(_, record)| record.outcome.is_open());
                found.extend(
                    open.map(|(uid, _)| WorkId { namespace: namespace.clone(), uid: uid.into() }),
                );
            })
            .await?;
            for work in found {
                let place = |day| Place { namespace: work.namespace.clone(), day };
                let later = self.known.get(&place(today));
                if !later.is_some_and(|book| book.has(&work.uid)) {
                    let place = place(day);
                    self.open_before.entry(work).or_insert(place);
                }
            }
        }
        Ok(())
    }

    /// Lists the records by their metadata, and deletes those that are older than `oldest`.
    async fn sweep(&self, oldest: Day) -> Result<Vec<Standing>, kube::Error> {
        let all: Api<DailyRecord> = Api::all(self.client.clone());
        let mut params = ListParams::default().limit(METADATA_PAGE);
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
        let api = self.api(namespace);
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
        self.known.entry(place).or_default().enter(object);
    }

    fn api(&self, namespace: &str) -> Api<DailyRecord> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// Reads the records of a place, unless they are known or there are none.
    async fn read(&mut self, place: &Place) -> Result<(), kube::Error> {
        if !self.unread.contains(place) {
            return Ok(());
        }
        let mut book = Book::default();
        let api = self.api(&place.namespace);
        pages(&api, &selector(place.day), |object| book.enter(object)).await?;
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
        let api = self.api(&place.namespace);
        let Some(book) = self.known.get_mut(place) else { return Ok(None) };
        if let Some((part, name, version)) = book.place_of(uid) {
            match api.get_opt(name).await? {
                Some(object) if object.resource_version().as_deref() == Some(version) => {
                    book.load(part, object);
                }
                // Somebody else wrote it.
                Some(_) | None => {
                    self.forget(place);
                    return Box::pin(self.record(place, uid)).await;
                }
            }
        }
        Ok(self.known.get_mut(place).and_then(|book| book.record(uid)))
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
        let api = self.api(&place.namespace);
        self.known.entry(place.clone()).or_default().write(place.day, records, &api).await
    }

    /// Sums up workloads that are gone where a day has very many.
    pub(super) async fn fold(
        &mut self,
        place: &Place,
        is_there: impl Fn(&str) -> bool,
    ) -> Result<(), Refusal> {
        let api = self.api(&place.namespace);
        let Some(book) = self.known.get_mut(place) else { return Ok(()) };
        book.fold(&api, is_there).await
    }
}

/// Reads the objects of a selector, some at a time.
async fn pages(
    api: &Api<DailyRecord>,
    selector: &str,
    mut take: impl FnMut(DailyRecord),
) -> Result<(), kube::Error> {
    let mut params = ListParams::default().labels(selector).limit(PAGE);
    loop {
        let list = api.list(&params).await?;
        list.items.into_iter().for_each(&mut take);
        match list.metadata.continue_.filter(|next| !next.is_empty()) {
            Some(next) => params = params.continue_token(&next),
            None => return Ok(()),
        }
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

#[cfg(test)]
pub(super) mod tests;
