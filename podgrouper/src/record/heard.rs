//! Pods, `PodGroup`s and evictions as the watches tell of them, until they are written.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kai_daemon::clock;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::eviction::{Seen, TOGETHER_SECONDS};
use super::settle::{Members, Window, mark};
use super::span::{Devices, End, Ended, Second, Span};
use super::who::{NAME_BYTES_MAX, Who, WorkId};
use crate::object::Object;
use crate::pod as grouping;
use crate::status::Usage;
use crate::store::{Key, group_of};
use crate::uid::Uid;

/// A change is written so long after it is heard of, with all that changes meanwhile. Nothing later than this long
/// ago is counted, so that watches have the time to tell of it.
pub(super) const LAG_SECONDS: Second = 3;
/// Events are kept as long as an API server keeps them, and somewhat longer.
const EVICTION_AGE_MAX: Second = 2 * 3_600;
/// No event comes from later than this: clocks of nodes differ by less.
const EVICTION_AHEAD_MAX: Second = 60;
/// So many evictions of a namespace are kept, and looked through so often for old ones.
const EVICTIONS_MAX: usize = 20_000;
const SWEEP_SECONDS: Second = 600;

/// Everything heard. Every method is short and takes the lock once.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    rows: Mutex<Rows>,
    pub(super) wake: Notify,
}

#[derive(Debug, Default)]
struct Rows {
    groups: BTreeMap<Key, Group>,
    /// Groups by their workload.
    works: BTreeMap<WorkId, BTreeSet<Key>>,
    /// Workloads that no group is for any more, though none of them is gone.
    left: BTreeSet<WorkId>,
    /// Groups that changed, with the time from which they may be written.
    dirty: BTreeMap<Key, Second>,
    /// True once the pods were listed: a pod that comes later is news.
    is_listed: bool,
    /// Evictions by namespace.
    evictions: HashMap<Arc<str>, Evictions>,
    /// Time when those of too long ago were let go.
    swept: Second,
    /// When it was looked for what is due, by the wall clock and by one that nobody sets.
    looked: Option<(Second, Instant)>,
}

/// Evictions of the groups of a namespace: by the name of the group, what was said, and the time.
type Evictions = BTreeMap<(Arc<str>, u64, Second), Seen>;

#[derive(Debug, Default)]
struct Group {
    who: Option<Arc<Who>>,
    queue: Arc<str>,
    is_there: bool,
    /// Its pods by UID.
    pods: BTreeMap<Uid, Pod>,
}

#[derive(Debug)]
struct Pod {
    span: Span,
    /// Of the few whose devices are not found yet, and as large as all the rest.
    asks: Option<Box<Asks>>,
    is_gone: bool,
}

impl Pod {
    /// Gives what still has to be found, as the pod is by now.
    fn asked(&self) -> Option<Asks> {
        let asks = self.asks.as_deref()?;
        let was_missed = self.span.ended.is_some() && !self.span.is_news;
        Some(Asks { was_missed, ..asks.clone() })
    }

    /// Notes that a window was written. Nothing is counted of a pod whose devices are not found yet: all of it is once they are,
    /// from `from` on where it was there when this process began.
    fn counted(&mut self, window: Window, from: Second) {
        let Some(bound) = self.span.bound else { return };
        if self.asks.is_none() {
            mark(&mut self.span, window);
        } else if !self.span.is_news {
            let first = bound.max(from).min(self.span.end());
            self.span.counted_to = self.span.counted_to.or(Some(first));
        }
    }
}

/// Amounts of a pod on a node, of which the devices still have to be found.
#[derive(Debug, Clone)]
pub(super) struct Asks {
    pub(super) uid: Uid,
    pub(super) usage: Usage,
    pub(super) node: String,
    /// It was there when this process began, and has ended since or before: what it had beside others is not known any more,
    /// though a record may say that it had something.
    pub(super) was_missed: bool,
}

/// All that is known of a workload.
#[derive(Debug, Clone)]
pub(super) struct Heap {
    pub(super) who: Arc<Who>,
    pub(super) members: Vec<Members>,
    /// True if none of its `PodGroup`s is there any more.
    pub(super) is_deleted: bool,
}

fn now() -> Second {
    clock::now().as_second()
}

impl Rows {
    /// Has what is due stay due where the wall clock was set back since the last look: it would wait for as much longer.
    fn follow_clock(&mut self, at: Second) {
        let now = Instant::now();
        let (before, then) = self.looked.replace((at, now)).unwrap_or((at, now));
        let passed = Second::try_from((now - then).as_secs()).unwrap_or(Second::MAX);
        let set_back = before.saturating_add(passed) - at;
        if set_back > LAG_SECONDS {
            for due in self.dirty.values_mut() {
                *due = due.saturating_sub(set_back);
            }
            self.swept = self.swept.min(at);
        }
    }

    /// Lets go of evictions of too long ago, now and then.
    fn sweep(&mut self, at: Second) {
        if at - self.swept < SWEEP_SECONDS {
            return;
        }
        self.swept = at;
        self.evictions.retain(|_, kept| {
            kept.retain(|_, seen| at - seen.at <= EVICTION_AGE_MAX);
            !kept.is_empty()
        });
    }

    /// Has a group looked at from a moment on, or from an earlier one.
    fn look_at(&mut self, key: Key, at: Second) {
        let due = self.dirty.entry(key).or_insert(at);
        *due = at.min(*due);
    }

    /// Takes a group from a workload.
    fn leave(&mut self, work: &WorkId, key: &Key) {
        let Some(groups) = self.works.get_mut(work) else { return };
        groups.remove(key);
        if groups.is_empty() {
            self.works.remove(work);
            self.left.insert(work.clone());
        }
    }

    /// Lets go of a group.
    fn forget(&mut self, key: &Key) {
        self.groups.remove(key);
        if let Some(kept) = self.evictions.get_mut(&key.namespace) {
            let own: Vec<_> = of_group(kept, &key.name).map(|(at, _)| at.clone()).collect();
            for at in own {
                kept.remove(&at);
            }
        }
    }

    fn evictions_of(&self, key: &Key) -> Vec<Seen> {
        let kept = self.evictions.get(&key.namespace).into_iter();
        kept.flat_map(|kept| of_group(kept, &key.name)).map(|(_, seen)| seen.clone()).collect()
    }
}

fn of_group<'a>(
    kept: &'a Evictions,
    name: &Arc<str>,
) -> impl Iterator<Item = (&'a (Arc<str>, u64, Second), &'a Seen)> {
    let all = (name.clone(), 0, Second::MIN)..=(name.clone(), u64::MAX, Second::MAX);
    kept.range(all)
}

impl Heard {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, key: &Key, edit: impl FnOnce(&mut Group, bool) -> bool) {
        let mut rows = self.rows();
        let is_listed = rows.is_listed;
        if edit(rows.groups.entry(key.clone()).or_default(), is_listed) {
            rows.look_at(key.clone(), now() + LAG_SECONDS);
            self.wake.notify_one();
        }
    }

    /// A pod is new or changed; `stored` is what the store keeps of it.
    pub(crate) fn set_pod(&self, object: &Object, stored: &grouping::Pod) {
        let pod = object.value();
        let Some(group) = group_of(stored) else { return };
        let uid = stored.uid.clone();
        self.change(&group, |group, is_listed| {
            let news = Span { pod: stored.name.clone(), ..Span::of(pod) };
            // It was in another group meanwhile.
            if group.pods.get(&uid).is_some_and(|pod| pod.is_gone) {
                group.pods.remove(&uid);
            }
            let row = group.pods.entry(uid.clone());
            let known = matches!(row, std::collections::btree_map::Entry::Occupied(_));
            let row = row.or_insert_with(|| Pod {
                span: Span { bound: None, ended: None, is_news: is_listed, ..news.clone() },
                asks: None,
                is_gone: false,
            });
            let before = (row.span.bound, row.span.ended);
            row.span.follow(&news);
            if before.0.is_none() && row.span.bound.is_some() {
                let usage = Usage::while_bound(pod);
                let node = pod["spec"]["nodeName"].as_str().unwrap_or_default().to_owned();
                let asks = Asks { uid, usage, node, was_missed: false };
                row.asks = asks.usage.has_devices().then(|| Box::new(asks));
            }
            !known || before != (row.span.bound, row.span.ended)
        });
    }

    /// A pod is gone.
    pub(crate) fn pod_gone(&self, group: &Key, uid: &Uid) {
        self.change(group, |group, _| {
            let Some(pod) = group.pods.get_mut(uid) else { return false };
            pod.is_gone = true;
            pod.span.ended =
                pod.span.ended.or(Some(Ended { at: now().max(pod.span.created), how: End::Gone }));
            true
        });
    }

    /// The pods were listed.
    pub(crate) fn listed(&self) {
        self.rows().is_listed = true;
    }

    /// A `PodGroup` is new or changed.
    pub(crate) fn set_group(&self, key: &Key, object: &Object) {
        let who = Arc::new(Who::of(object));
        let queue = object.value()["spec"]["queue"].as_str().unwrap_or_default();
        // What is longer is no queue.
        let queue = Some(queue).filter(|queue| queue.len() <= NAME_BYTES_MAX).unwrap_or_default();
        let mut rows = self.rows();
        rows.works.entry(who.id()).or_default().insert(key.clone());
        let group = rows.groups.entry(key.clone()).or_default();
        let is_news = group.who.as_ref() != Some(&who) || *group.queue != *queue;
        group.is_there = true;
        if is_news {
            group.queue = queue.into();
            let before = group.who.replace(who.clone()).map(|before| before.id());
            if let Some(before) = before.filter(|before| *before != who.id()) {
                rows.leave(&before, key);
            }
            rows.look_at(key.clone(), now() + LAG_SECONDS);
            self.wake.notify_one();
        }
    }

    /// Takes the workloads that no group is for any more, though none of them is gone: groups name others by now.
    pub(super) fn take_left(&self) -> BTreeSet<WorkId> {
        std::mem::take(&mut self.rows().left)
    }

    /// A `PodGroup` is gone.
    pub(crate) fn group_gone(&self, key: &Key) {
        self.change(key, |group, _| std::mem::replace(&mut group.is_there, false));
    }

    /// A pod of a group was evicted; `tells` says whether the event tells of a queue.
    pub(crate) fn evicted(&self, key: &Key, mut seen: Seen, tells: impl Fn(&str) -> bool) {
        if !(-EVICTION_AHEAD_MAX..=EVICTION_AGE_MAX).contains(&(now() - seen.at)) {
            return;
        }
        let mut rows = self.rows();
        let by = Key { namespace: seen.by_namespace.clone(), name: seen.by_pod_group.clone() };
        if let Some(by) = rows.groups.get(&by) {
            // An event that somebody else wrote is to tell nothing of the groups that it names.
            let is_own = rows.groups.get(key).is_some_and(|group| group.queue == by.queue);
            if !by.queue.is_empty() && (is_own || tells(&by.queue)) {
                seen.by_queue = by.queue.clone();
                seen.by_workload =
                    by.who.as_ref().map(|who| who.label().into()).unwrap_or_default();
            }
        }
        let kept = rows.evictions.entry(key.namespace.clone()).or_default();
        let at = |at: Second| (key.name.clone(), seen.said, at);
        // An event that is said again is patched with another time.
        let near = at(seen.at - TOGETHER_SECONDS)..=at(seen.at + TOGETHER_SECONDS);
        if kept.len() >= EVICTIONS_MAX || kept.range(near).next().is_some() {
            return;
        }
        kept.insert(at(seen.at), seen);
        drop(rows);
        self.change(key, |_, _| true);
    }

    /// Has every group with pods looked at from a moment on.
    pub(super) fn look_at_all(&self, at: Second) {
        let mut rows = self.rows();
        let open = |group: &Group| group.pods.values().any(|pod| pod.span.ended.is_none());
        let keys: Vec<Key> = rows
            .groups
            .iter()
            .filter(|(_, group)| open(group))
            .map(|(key, _)| key.clone())
            .collect();
        for key in keys {
            rows.look_at(key, at);
        }
    }

    /// Takes the workloads that may be written.
    pub(super) fn take_due(&self, at: Second) -> BTreeSet<WorkId> {
        let mut rows = self.rows();
        rows.follow_clock(at);
        rows.sweep(at);
        if !rows.is_listed {
            return BTreeSet::new();
        }
        let due: Vec<Key> =
            rows.dirty.iter().filter(|(_, due)| **due <= at).map(|(key, _)| key.clone()).collect();
        let mut works = BTreeSet::new();
        for key in due {
            rows.dirty.remove(&key);
            let Some(group) = rows.groups.get(&key) else { continue };
            match &group.who {
                Some(who) => drop(works.insert(who.id())),
                // Its PodGroup is not there yet, or any more: it comes by itself, and so does what it is for.
                None if group.pods.values().all(|pod| pod.is_gone) => rows.forget(&key),
                None => {}
            }
        }
        works
    }

    /// The time from which the next change may be written.
    pub(super) fn next_due(&self) -> Option<Second> {
        let rows = self.rows();
        if rows.is_listed { rows.dirty.values().min().copied() } else { None }
    }

    /// Has a workload looked at again.
    pub(super) fn again(&self, work: &WorkId, at: Second) {
        let mut rows = self.rows();
        for key in rows.works.get(work).cloned().unwrap_or_default() {
            rows.look_at(key, at);
        }
        drop(rows);
        self.wake.notify_one();
    }

    /// Pods of a workload whose devices still have to be found.
    pub(super) fn asks(&self, work: &WorkId) -> Vec<(Key, Asks)> {
        let rows = self.rows();
        let keys = rows.works.get(work).into_iter().flatten();
        let groups = keys.filter_map(|key| Some((key, rows.groups.get(key)?)));
        groups
            .flat_map(|(key, group)| {
                let asks = group.pods.values().filter_map(Pod::asked);
                asks.map(|asks| (key.clone(), asks)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Notes the devices of a pod.
    pub(super) fn found(&self, group: &Key, pod: &Uid, devices: Arc<[Devices]>) {
        let mut rows = self.rows();
        let row = rows.groups.get_mut(group).and_then(|group| group.pods.get_mut(pod));
        if let Some(row) = row {
            row.span.devices = devices;
            row.asks = None;
        }
    }

    /// Tells whether a workload has groups.
    pub(super) fn has(&self, work: &WorkId) -> bool {
        self.rows().works.contains_key(work)
    }

    /// All that is known of a workload now.
    pub(super) fn heap(&self, work: &WorkId) -> Option<Heap> {
        let rows = self.rows();
        let keys = rows.works.get(work)?.iter();
        let groups: Vec<(&Key, &Group)> =
            keys.filter_map(|key| Some((key, rows.groups.get(key)?))).collect();
        let who = groups.iter().find_map(|(_, group)| group.who.clone())?;
        let members = groups.iter().map(|(key, group)| Members {
            queue: group.queue.clone(),
            spans: group.pods.values().map(|pod| pod.span.clone()).collect(),
            evictions: rows.evictions_of(key),
        });
        Some(Heap {
            who,
            members: members.collect(),
            is_deleted: !groups.iter().any(|(_, group)| group.is_there),
        })
    }

    /// Notes that a window of a workload was written. Pods and groups that are gone are let go once they are counted. Pods
    /// that were there when this process began are counted from `from` on at the earliest: what they held before is charged.
    pub(super) fn written(&self, work: &WorkId, window: Window, from: Second) {
        let mut rows = self.rows();
        let keys = rows.works.get(work).cloned().unwrap_or_default();
        for key in &keys {
            let Some(group) = rows.groups.get_mut(key) else { continue };
            group.pods.retain(|_, pod| {
                pod.counted(window, from);
                let is_old = pod.span.end().saturating_add(EVICTION_LAG) < window.to;
                !(pod.is_gone && is_old)
            });
            let news = group.pods.values().flat_map(|pod| pod.span.changes());
            let later = news.filter(|at| *at > window.to).max();
            let is_empty = group.pods.is_empty() && !group.is_there;
            let has_gone = group.pods.values().any(|pod| pod.is_gone);
            if is_empty {
                rows.forget(key);
                if let Some(groups) = rows.works.get_mut(work) {
                    groups.remove(key);
                }
            } else if let Some(later) = later {
                // It changed after the window that was written because of an earlier change.
                rows.look_at(key.clone(), later + LAG_SECONDS);
            } else if has_gone {
                // Another look lets go of them.
                rows.look_at(key.clone(), window.to + 2 * EVICTION_LAG);
            }
        }
        if rows.works.get(work).is_some_and(BTreeSet::is_empty) {
            rows.works.remove(work);
        }
    }

    /// Forgets which pods of a workload were counted: the record says up to when. It has nothing of those whose devices are not
    /// found yet.
    pub(super) fn count_anew(&self, work: &WorkId) {
        let mut rows = self.rows();
        for key in rows.works.get(work).cloned().unwrap_or_default() {
            let pods =
                rows.groups.get_mut(&key).into_iter().flat_map(|group| group.pods.values_mut());
            for pod in pods.filter(|pod| pod.asks.is_none()) {
                pod.span.counted_to = None;
                pod.span.is_news = false;
            }
        }
    }
}

/// The event of an eviction may come so long after the pod is gone.
const EVICTION_LAG: Second = 30;

#[cfg(test)]
mod tests;
