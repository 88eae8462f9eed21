//! The task that keeps the records: takes what changed, settles it day by day, writes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use kai_api::daily_record::{Outcome, WorkloadRecord};
use kai_api::names::{node, resource};
use kai_daemon::clock;
use kai_daemon::process::causes;
use kube::Client;
use tokio::time::Instant;

use super::book::Refusal;
use super::books::{Books, Place};
use super::day::Day;
use super::devices::by_type;
use super::heard::{Heap, Heard, LAG_SECONDS};
use super::settle::{Members, Window, settle};
use super::span::{Devices, End, Ended, Second, Span};
use super::who::{Who, WorkId};
use crate::status::{Devices as Finder, Reads};

/// Pause after a failed write, and before records are looked for again where their kind is not installed.
const RETRY: Duration = Duration::from_secs(5);
const ABSENT_RETRY: Duration = Duration::from_mins(1);
/// Pause before a node that tells how much a pod has of it is looked for again: nothing tells when it is back.
const NODE_RETRY_SECONDS: Second = 60;

/// So many claims of a namespace are asked for in one pass, which waits for each: those of others are written behind it.
const CLAIM_READS_MAX: usize = 512;

/// Bounds the pause between two looks at the clock, in seconds: it may be set meanwhile.
const LOOK_SECONDS_MAX: u64 = 600;

/// Failures that are remembered: their texts have names of namespaces, which users make.
const TOLD_MAX: usize = 1_000;

/// Changes that come within this time are looked at together.
const CROWD: Duration = Duration::from_millis(500);

/// Keeps the records of all workloads.
pub(crate) struct Keeper {
    heard: Arc<Heard>,
    finder: Finder,
    books: Books,
    history_days: u32,
    works: HashMap<WorkId, Work>,
    /// Workloads whose records say that they go on, and that were gone when this process began, each with the place of its record:
    /// until it is written how they ended, as nothing tells of them again.
    orphans: BTreeMap<WorkId, Place>,
    /// The day up to which records that are too old were deleted.
    today: Day,
    /// Failures already told, so that a missing right is said once.
    told: HashSet<String>,
}

/// A workload whose record was written or found.
#[derive(Debug)]
struct Work {
    last: WorkloadRecord,
    through: Second,
    /// Pods that the record has and that were gone when this process began.
    lost: Option<Members>,
}

/// A record to be written.
struct Plan {
    work: WorkId,
    place: Place,
    record: WorkloadRecord,
    window: Window,
    is_new: bool,
}

fn now() -> Second {
    clock::now().as_second()
}

impl Keeper {
    pub(crate) fn new(
        client: Client,
        heard: Arc<Heard>,
        finder: Finder,
        history_days: u32,
    ) -> Self {
        Self {
            heard,
            finder,
            books: Books::new(client),
            history_days,
            works: HashMap::new(),
            orphans: BTreeMap::new(),
            today: Day::of(now()),
            told: HashSet::new(),
        }
    }

    /// Works until the task is dropped.
    pub(crate) async fn run(mut self) {
        if self.history_days == 0 {
            return;
        }
        while let Err(error) = self.books.open(self.today, self.oldest()).await {
            let is_absent = matches!(&error, kube::Error::Api(status) if status.code == 404);
            if self.told.insert(causes(&error)) {
                tracing::warn!(
                    error = causes(&error),
                    "failed to read DailyRecords; none are written"
                );
            }
            tokio::time::sleep(if is_absent { ABSENT_RETRY } else { RETRY }).await;
        }
        // Pods and groups are listed by now: what is missing went away before this process began.
        tokio::time::sleep(Duration::from_secs(LAG_SECONDS.unsigned_abs())).await;
        self.orphans = self.books.open_workloads();
        let mut due = self.heard.take_due(now());
        due.extend(self.orphans.keys().cloned());
        self.pass(due).await;
        let mut again = Instant::now() + RETRY;
        loop {
            let due = self.wait(again).await;
            self.pass(due).await;
            if Instant::now() >= again {
                // By themselves: what fails for one of them puts off none that goes on.
                let orphans = self.orphans.keys().cloned().collect();
                self.pass(orphans).await;
                again = Instant::now() + RETRY;
            }
            self.turn().await;
        }
    }

    fn oldest(&self) -> Day {
        self.today.minus(self.history_days.saturating_sub(1))
    }

    /// Waits until something may be written, a day has ended, or it is time to try again what failed for orphans.
    async fn wait(&self, again: Instant) -> BTreeSet<WorkId> {
        loop {
            let due = self.heard.take_due(now());
            let is_again = !self.orphans.is_empty() && Instant::now() >= again;
            if !due.is_empty() || self.is_over() || is_again {
                return due;
            }
            let midnight = self.today.end() + LAG_SECONDS;
            let next = self.heard.next_due().map_or(midnight, |next| next.min(midnight));
            let pause = u64::try_from(next - now()).unwrap_or(0).clamp(1, LOOK_SECONDS_MAX);
            let until = Instant::now() + Duration::from_secs(pause);
            let until = if self.orphans.is_empty() { until } else { until.min(again) };
            tokio::select! {
                biased;
                // Changes come in crowds, and none of them is due at once.
                () = self.heard.wake.notified() => tokio::time::sleep(CROWD).await,
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }

    fn is_over(&self) -> bool {
        now() >= self.today.end() + LAG_SECONDS
    }

    /// Turns to the next day: all that is held is settled for the one before.
    async fn turn(&mut self) {
        if !self.is_over() {
            return;
        }
        self.today = Day::of(now() - LAG_SECONDS);
        self.heard.look_at_all(now());
        if let Err(error) = self.books.expire(self.oldest()).await {
            tracing::warn!(error = causes(&error), "failed to delete records past their time");
        }
    }

    /// Writes what there is to say of workloads, up to some seconds ago: a namespace after the other, so that the records of
    /// one are in memory.
    async fn pass(&mut self, due: BTreeSet<WorkId>) {
        for left in self.heard.take_left() {
            if let Some(work) = self.works.remove(&left) {
                self.books.leave(&left, Day::of(work.through));
            }
        }
        let to = now() - LAG_SECONDS;
        let mut by_namespace: BTreeMap<Arc<str>, BTreeSet<WorkId>> = BTreeMap::new();
        for work in due {
            by_namespace.entry(work.namespace.clone()).or_default().insert(work);
        }
        for (namespace, due) in by_namespace {
            self.pass_of(due, to).await;
            self.fold(&Place { namespace: namespace.clone(), day: Day::of(to) }).await;
            self.books.shrink(&namespace, Day::of(to));
        }
    }

    /// Writes what there is to say of the workloads of a namespace, day by day.
    async fn pass_of(&mut self, mut due: BTreeSet<WorkId>, to: Second) {
        // What failed for one workload would fail for all others of its namespace.
        let mut has_failed = false;
        let mut reads = Reads::new(CLAIM_READS_MAX);
        while !due.is_empty() {
            let mut plans = Vec::new();
            for work in &due {
                if has_failed {
                    self.put_off(work);
                    continue;
                }
                match self.find_devices(work, &mut reads).await {
                    Ok(true) => {}
                    Ok(false) => {
                        self.put_off(work);
                        continue;
                    }
                    Err(error) => {
                        self.failed(work, &error);
                        continue;
                    }
                }
                let orphan = self.orphans.get(work).cloned();
                match self.plan(work, to, orphan.as_ref()).await {
                    Ok(Some(plan)) => plans.push(plan),
                    Ok(None) => drop(self.orphans.remove(work)),
                    Err(error) => {
                        self.failed(work, &error);
                        has_failed = true;
                    }
                }
            }
            due.clear();
            let mut by_place: BTreeMap<Place, Vec<Plan>> = BTreeMap::new();
            for plan in plans {
                by_place.entry(plan.place.clone()).or_default().push(plan);
            }
            for (place, plans) in by_place {
                due.extend(self.write(&place, plans, to).await);
            }
        }
    }

    /// Sums up workloads that are gone where a day of a namespace has very many.
    async fn fold(&mut self, place: &Place) {
        let id = |uid: &str| WorkId { namespace: place.namespace.clone(), uid: uid.into() };
        let heard = &self.heard;
        let folded = self.books.fold(place, |uid| heard.has(&id(uid))).await;
        if let Err(refusal) = folded {
            if let Refusal::Failed(error) = refusal {
                tracing::debug!(error = causes(&error), "failed to sum up records");
            }
            self.books.forget(place);
        }
    }

    /// Writes the records of one place; returns the workloads of which a later day is still to be written.
    async fn write(&mut self, place: &Place, plans: Vec<Plan>, to: Second) -> Vec<WorkId> {
        let news = plans.iter().filter(|plan| plan.is_new);
        let records: BTreeMap<String, WorkloadRecord> =
            news.map(|plan| (plan.work.uid.to_string(), plan.record.clone())).collect();
        let written =
            if records.is_empty() { Ok(()) } else { self.books.write(place, records).await };
        match written {
            Ok(()) => plans.into_iter().filter_map(|plan| self.written(plan, to)).collect(),
            Err(Refusal::Gone) => {
                tracing::debug!(namespace = &*place.namespace, "its records went with it");
                plans.into_iter().filter_map(|plan| self.written(plan, to)).collect()
            }
            Err(Refusal::Conflict) => {
                self.books.forget(place);
                for plan in plans {
                    self.works.remove(&plan.work);
                    self.heard.count_anew(&plan.work);
                    self.heard.again(&plan.work, now() + 1);
                }
                Vec::new()
            }
            Err(Refusal::Failed(error)) => {
                // The answer may have been lost on its way: what was written, the next read tells.
                self.books.forget(place);
                for plan in plans {
                    self.works.remove(&plan.work);
                    self.heard.count_anew(&plan.work);
                    self.failed(&plan.work, &error);
                }
                Vec::new()
            }
        }
    }

    fn failed(&mut self, work: &WorkId, error: &kube::Error) {
        let is_refused = matches!(error, kube::Error::Api(status) if status.code == 403);
        let text = if is_refused { "not allowed".to_owned() } else { causes(error) };
        if self.told.len() >= TOLD_MAX {
            self.told.clear();
        }
        if self.told.insert(text.clone()) {
            tracing::warn!(error = %text, "failed to bring a record up to date; trying again");
        }
        self.put_off(work);
    }

    /// Has a workload looked at again after a pause.
    fn put_off(&self, work: &WorkId) {
        let pause = Second::try_from(RETRY.as_secs()).unwrap_or(1);
        self.heard.again(work, now() + pause);
    }

    /// Notes that a record stands; returns its workload if there is more to write.
    fn written(&mut self, plan: Plan, to: Second) -> Option<WorkId> {
        let lost = self.works.remove(&plan.work).and_then(|work| work.lost);
        let charged_to = lost.iter().flat_map(|lost| &lost.spans).map(Span::end).max();
        self.heard.written(&plan.work, plan.window, charged_to.unwrap_or(plan.window.from));
        let through = plan.window.to;
        let lost = lost.filter(|lost| lost.spans.iter().any(|span| span.end() > through));
        let is_left = self.heard.has(&plan.work) || lost.is_some();
        let is_closed = !plan.record.outcome.is_open() && !is_left;
        if is_closed || through >= to {
            self.orphans.remove(&plan.work);
        }
        if is_closed {
            self.books.gone(&plan.place, &plan.work.uid);
            return None;
        }
        self.works.insert(plan.work.clone(), Work { last: plan.record, through, lost });
        (through < to).then_some(plan.work)
    }

    /// The next record of a workload; none where nothing is known of it.
    async fn plan(
        &mut self,
        id: &WorkId,
        to: Second,
        orphan: Option<&Place>,
    ) -> Result<Option<Plan>, kube::Error> {
        let heap = match (self.heard.heap(id), orphan) {
            (Some(heap), _) => heap,
            (None, Some(place)) => {
                let found = self.books.record(place, &id.uid).await?;
                let Some(record) = found else { return Ok(None) };
                missing(id, record)
            }
            (None, None) => return Ok(None),
        };
        if !self.works.contains_key(id) {
            let since = orphan.map(|place| place.day.start());
            let work = self.find(id, &heap, to, since).await?;
            self.works.insert(id.clone(), work);
        }
        let work = &self.works[id];
        let day = Day::of(work.through);
        let window = Window {
            from: work.through,
            to: to.max(work.through).min(day.end()),
            // One without a record has not begun to wait.
            begins_waiting: work.last.through.is_some() && work.last.outcome == Outcome::Pending,
        };
        let place = Place { namespace: id.namespace.clone(), day };
        let mut members = heap.members;
        members.extend(work.lost.clone());
        let fresh = opened(&heap.who, &work.last);
        let before = self.books.record(&place, &id.uid).await?;
        let mut record = settle(before.unwrap_or(&fresh), &members, window, heap.is_deleted);
        if let Some(queue) = members.iter().map(|row| &row.queue).find(|queue| !queue.is_empty()) {
            record.queue = queue.to_string();
        }
        let is_new = before.is_none_or(|before| is_other(before, &record));
        Ok(Some(Plan { work: id.clone(), place, record, window, is_new }))
    }

    /// Finds up to when a workload is recorded: the last record that has it, looked for from now on backwards.
    async fn find(
        &mut self,
        id: &WorkId,
        heap: &Heap,
        to: Second,
        since: Option<Second>,
    ) -> Result<Work, kube::Error> {
        let spans = heap.members.iter().flat_map(|row| &row.spans);
        let first = spans.map(|span| span.created).chain(since).min().unwrap_or(to).min(to);
        let first = first.max(self.oldest().start());
        let mut day = Day::of(to);
        while day >= Day::of(first) {
            let place = Place { namespace: id.namespace.clone(), day };
            if let Some(record) = self.books.record(&place, &id.uid).await? {
                let through = record.through.as_ref().map_or(first, |time| time.0.as_second());
                // Whoever may edit records says there any time: it would be settled day by day since then.
                let through = through.clamp(day.start(), day.end());
                let lost = lost(record, &heap.members, to.max(through), through);
                return Ok(Work { last: record.clone(), through, lost });
            }
            day = day.before();
        }
        Ok(Work { last: WorkloadRecord::default(), through: first, lost: None })
    }

    /// Finds the devices of pods that were bound since the last look; false where more claims, or nodes, would have to be asked
    /// for than may be in this pass. What can't be read now is counted once it can, and what only a node tells once that is
    /// there. A pod that was put on its node past the scheduler has for good what it held of it at this look, or what its node
    /// offers it alone where it ended before this process could look.
    async fn find_devices(&self, work: &WorkId, reads: &mut Reads) -> Result<bool, kube::Error> {
        for (group, asks) in self.heard.asks(work) {
            let share = self.finder.share(&asks.usage, reads).await?;
            let held = if asks.was_missed {
                self.finder.had(&asks.usage, reads).await?
            } else {
                self.finder.held(&asks.usage, reads).await?
            };
            let Some(held) = held else { return Ok(false) };
            let mut amounts = held.into_owned();
            if std::mem::take(&mut reads.lacks_node) {
                self.heard.again(work, now() + NODE_RETRY_SECONDS);
                continue;
            }
            let claimed = self.finder.claimed(&group.namespace, &asks.usage, reads).await?;
            let Some(claimed) = claimed else { return Ok(false) };
            amounts.add(&claimed);
            if let Some(share) = share {
                amounts.add_one(resource::NVIDIA_GPU, share);
            }
            let node = self.finder.node(&asks.node).await?;
            let product = node.as_ref().and_then(|node| node.label(node::GPU_PRODUCT));
            self.heard.found(&group, &asks.uid, by_type(&amounts, product));
        }
        Ok(true)
    }
}

/// The record of a workload at the begin of a day.
fn opened(who: &Who, last: &WorkloadRecord) -> WorkloadRecord {
    WorkloadRecord {
        api_version: who.api_version.clone(),
        kind: who.kind.clone(),
        name: who.name.clone(),
        user: who.user.clone(),
        queue: last.queue.clone(),
        created: last.created.clone(),
        started: last.started.clone(),
        outcome: last.outcome,
        ..WorkloadRecord::default()
    }
}

/// Tells whether a record says more than the one before, but for the time up to which it counts.
fn is_other(before: &WorkloadRecord, after: &WorkloadRecord) -> bool {
    let same = WorkloadRecord { through: before.through.clone(), ..after.clone() };
    same != *before
}

/// A workload of which nothing is left but its record.
fn missing(id: &WorkId, record: &WorkloadRecord) -> Heap {
    let who = Who {
        namespace: id.namespace.to_string(),
        api_version: record.api_version.clone(),
        kind: record.kind.clone(),
        name: record.name.clone(),
        uid: id.uid.to_string(),
        user: record.user.clone(),
    };
    Heap { who: Arc::new(who), members: Vec::new(), is_deleted: true }
}

/// Pods that a record has and that are gone: what it holds more than the pods that are there. Each row of it is as one pod
/// that ended at `missed_at`.
fn lost(
    record: &WorkloadRecord,
    members: &[Members],
    missed_at: Second,
    through: Second,
) -> Option<Members> {
    let held_now = |queue: &str, gpu_type: &str| -> u64 {
        let groups = members.iter().filter(|row| *row.queue == *queue);
        let spans = groups.flat_map(|row| &row.spans).filter(|span| span.holds_at(through));
        let devices = spans.flat_map(|span| &*span.devices);
        let own = devices.filter(|row| *row.gpu_type == *gpu_type).map(|row| row.micro_gpus);
        own.fold(0, u64::saturating_add)
    };
    let mut spans = Vec::new();
    let mut queue = record.queue.as_str();
    for row in &record.usage {
        let micro_gpus = row.held_micro_gpus.saturating_sub(held_now(&row.queue, &row.gpu_type));
        if micro_gpus == 0 {
            continue;
        }
        queue = &row.queue;
        spans.push(Span {
            pod: Arc::from(""),
            created: through,
            bound: Some(through),
            ended: Some(Ended { at: missed_at, how: End::Gone }),
            devices: Arc::from([Devices { gpu_type: row.gpu_type.as_str().into(), micro_gpus }]),
            counted_to: None,
            is_news: false,
        });
    }
    (!spans.is_empty()).then(|| Members { queue: queue.into(), spans, evictions: Vec::new() })
}

#[cfg(test)]
mod tests;
