//! The tree of queues, and what each of them and all below it hold: no limit is passed, no quota by what is never evicted (S5).

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use serde_json::Value;
use tokio::time::Instant;

use super::{
    recent::{Moment, Recent},
    shown::{Group, Groups, Life, Shown, duration},
};

/// A quota or limit without end.
const UNLIMITED: i64 = i64::MAX;
/// More queues above each other are a circle.
const DEPTH_MAX: usize = 8;
/// Time after which a plan is told whole: what it evicts and what it binds are written at once, in any order.
const TOLD_WITHIN: Duration = Duration::from_secs(30);

/// All queues, and the pods that count for them.
#[derive(Debug, Default)]
pub(super) struct QueueTree {
    rows: BTreeMap<String, Row>,
    /// Pods that wait or hold places, by UID.
    pods: BTreeMap<String, Counted>,
    /// The last time that a queue got another parent.
    moved: Option<Instant>,
    /// The most thousandths of GPUs that each node ever had.
    gpus_of_nodes: BTreeMap<String, i64>,
    /// Limits and quotas that were passed, by plans that may not be told whole yet.
    doubts: VecDeque<Doubt>,
}

/// A limit or quota of a queue that is passed unless the plan evicts from it.
#[derive(Debug)]
struct Doubt {
    told: Instant,
    queue: String,
    is_quota: bool,
    most: i64,
    pod: String,
}

/// A queue, with thousandths of GPUs.
#[derive(Debug)]
struct Row {
    /// Since when it is gone.
    gone: Option<Instant>,
    parent: Option<String>,
    quota: Recent,
    limit: Recent,
    reclaim_min_runtime: Option<Duration>,
    preempt_min_runtime: Option<Duration>,
    /// GPUs of pods that have their places, of it and of all below.
    held: Recent,
    /// The same of those that are never evicted.
    protected: Recent,
    /// The same of all that wait or have their places.
    asked: Recent,
}

/// A pod that counts for a queue.
#[derive(Debug)]
struct Counted {
    gpu_milli: i64,
    group: String,
    /// The queue of its group; none where the group is not there yet.
    queue: Option<String>,
    is_protected: bool,
    holds: bool,
}

/// The sums of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    held: i64,
    protected: i64,
    asked: i64,
}

impl QueueTree {
    /// Notes that a queue is gone: what is on its account counts for none above it until it is there again.
    pub(super) fn queue_gone(&mut self, name: &str, now: Instant) {
        if let Some(row) = self.rows.get_mut(name) {
            row.parent = None;
            row.gone = Some(now);
        }
        self.moved = Some(now);
        self.recount(now);
    }

    /// Takes a queue in.
    pub(super) fn queue(&mut self, name: &str, spec: &Value, now: Instant) {
        let gpu = &spec["resources"]["gpu"];
        let (quota, limit) = (amount(&gpu["quota"]), amount(&gpu["limit"]));
        let parent = spec["parentQueue"].as_str().filter(|parent| !parent.is_empty());
        let is_new = !self.rows.contains_key(name);
        let row = self.rows.entry(name.to_owned()).or_insert_with(|| Row {
            gone: None,
            parent: parent.map(str::to_owned),
            quota: Recent::new(quota),
            limit: Recent::new(limit),
            reclaim_min_runtime: None,
            preempt_min_runtime: None,
            held: Recent::default(),
            protected: Recent::default(),
            asked: Recent::default(),
        });
        let was_gone = row.gone.take().is_some();
        row.quota.set(quota, now);
        row.limit.set(limit, now);
        row.reclaim_min_runtime = spec["reclaimMinRuntime"].as_str().and_then(duration);
        row.preempt_min_runtime = spec["preemptMinRuntime"].as_str().and_then(duration);
        let has_moved = was_gone || row.parent.as_deref() != parent;
        if has_moved {
            row.parent = parent.map(str::to_owned);
            self.moved = Some(now);
        }
        if is_new || has_moved {
            self.recount(now);
        }
    }

    /// Takes in how many GPUs a node has.
    pub(super) fn node(&mut self, name: &str, gpus: i64) {
        let most = self.gpus_of_nodes.entry(name.to_owned()).or_default();
        *most = (*most).max(1000 * gpus);
    }

    /// Takes in that a group is there, whose pods count for its queue from now on.
    pub(super) fn group(&mut self, name: &str, group: &Group, now: Instant) {
        let mut is_news = false;
        for pod in self.pods.values_mut().filter(|pod| pod.queue.is_none() && pod.group == name) {
            pod.queue = Some(group.queue.clone());
            pod.is_protected = group.is_protected;
            is_news = true;
        }
        if is_news {
            self.recount(now);
        }
    }

    /// Takes a pod in; says what is wrong about the queue for which it has got its place. What is leaving is no longer its queue's,
    /// though still its node's.
    pub(super) fn pod(&mut self, shown: &Shown<'_>, groups: &Groups, at: Moment) -> Option<String> {
        let holds = shown.life == Life::Holds;
        if !holds && shown.life != Life::Waits {
            if self.pods.remove(&shown.uid).is_some() {
                self.recount(at.now);
            }
            return None;
        }
        let name = shown.group.as_ref()?;
        let before = self.pods.get(&shown.uid);
        if before.is_some_and(|before| before.holds == holds && before.queue.is_some()) {
            return None;
        }
        let had_place = before.is_some_and(|before| before.holds);
        let group = groups.get(name);
        let counted = Counted {
            gpu_milli: shown.gpu_milli,
            group: name.clone(),
            queue: group.map(|group| group.queue.clone()),
            is_protected: group.is_some_and(|group| group.is_protected),
            holds,
        };
        self.pods.insert(shown.uid.clone(), counted);
        self.recount(at.now);
        if !holds || had_place {
            return None;
        }
        let passed = self.passed(shown, at);
        self.doubts.extend(passed);
        self.missing(shown, at)
    }

    /// Says which limits and quotas were passed by plans that are told whole by now, all the time since. It is asked before
    /// anything that is new is taken in.
    pub(super) fn settled(&mut self, now: Instant) -> Vec<String> {
        let mut found = Vec::new();
        while self.doubts.front().is_some_and(|doubt| now.duration_since(doubt.told) > TOLD_WITHIN)
        {
            let Some(Doubt { told, queue, is_quota, most, pod }) = self.doubts.pop_front() else {
                break;
            };
            let Some(row) = self.rows.get(&queue) else { continue };
            // What was so until then was before the pod.
            let told = told + Duration::from_millis(1);
            let (held, which) = if is_quota {
                (row.protected.least_since(told), "for good of a quota of")
            } else {
                (row.held.least_since(told), "of")
            };
            if held > most {
                found.push(format!("{queue} has {held} milli of GPUs {which} {most} after {pod}"));
            }
        }
        found
    }

    /// A queue that is long gone, or hangs below one that is, for which a pod has got its place.
    fn missing(&self, shown: &Shown<'_>, at: Moment) -> Option<String> {
        let queue = self.pods.get(&shown.uid)?.queue.as_deref()?;
        let is_long_gone = |name: &&str| {
            let row = self.rows.get(*name);
            row.and_then(|row| row.gone).is_some_and(|gone| gone < at.since)
        };
        let name = self.path(queue).find(is_long_gone)?;
        Some(format!("{name} is gone, and {} is bound for it", shown.name))
    }

    /// Limits and quotas that are passed by what a pod has got. Of the queues above only where none has moved lately.
    fn passed(&self, shown: &Shown<'_>, at: Moment) -> Vec<Doubt> {
        let mut found = Vec::new();
        let counted = self.pods.get(&shown.uid).filter(|counted| counted.gpu_milli > 0);
        let Some((counted, queue)) = counted.and_then(|one| Some((one, one.queue.as_deref()?)))
        else {
            return found;
        };
        let levels = if self.has_moved_since(at.since) { 1 } else { DEPTH_MAX };
        for name in self.path(queue).take(levels) {
            let Some(row) = self.rows.get(name) else { break };
            let doubt = |is_quota, most| Doubt {
                told: at.now,
                queue: name.to_owned(),
                is_quota,
                most,
                pod: shown.name.clone(),
            };
            let most = row.limit.most_since(at.since);
            if row.held.now() > most {
                found.push(doubt(false, most));
            }
            let most = row.quota.most_since(at.since);
            if counted.is_protected && row.protected.now() > most {
                found.push(doubt(true, most));
            }
        }
        found
    }

    /// Tells whether nothing has a place.
    pub(super) fn is_empty(&self) -> bool {
        !self.pods.values().any(|pod| pod.holds && pod.queue.is_some())
    }

    /// Tells whether a queue got another parent since a moment, or is away: nobody says what counts for which queue then.
    pub(super) fn has_moved_since(&self, moment: Instant) -> bool {
        let is_one_away = self.rows.values().any(|row| row.gone.is_some());
        is_one_away || self.moved.is_some_and(|moved| moved >= moment)
    }

    /// The first queue on the way from the root to `queue` that is not on the way to `other`; `queue` itself where all are.
    pub(super) fn levelled<'t>(&'t self, queue: &'t str, other: &'t str) -> &'t str {
        let others: Vec<&str> = self.path(other).collect();
        let own: Vec<&str> = self.path(queue).collect();
        own.into_iter().rev().find(|name| !others.contains(name)).unwrap_or(queue)
    }

    /// The most thousandths of GPUs that a queue may have had by what anybody knew since a moment, all that waited counted as
    /// placed, and the least that was its own at any time; none where that has no end.
    pub(super) fn most_and_own(&self, queue: &str, since: Instant) -> Option<(i64, i64)> {
        let row = self.rows.get(queue)?;
        let own = row.quota.least_since(since).min(row.limit.least_since(since));
        (row.quota.most_since(since) != UNLIMITED).then(|| (row.asked.most_since(since), own))
    }

    /// The least thousandths of GPUs that a queue had since a moment, and the most that its fair share may have been: what is
    /// left of that of the queue above once all beside it have the lesser of their quota and what they ask for, or the same of
    /// its own. Source: docs/behaviour.md 3.3.
    pub(super) fn least_and_share(&self, queue: &str, since: Instant) -> Option<(i64, i64)> {
        let path: Vec<&str> = self.path(queue).collect();
        let mut share: i64 = self.gpus_of_nodes.values().sum();
        for name in path.iter().rev() {
            let row = self.rows.get(*name)?;
            let is_beside = |other: &str, beside: &Row| {
                other != *name && beside.parent == row.parent && beside.gone.is_none()
            };
            let beside = self.rows.iter().filter(|(other, beside)| is_beside(other, beside));
            let kept: i64 = beside.map(|(_, beside)| beside.kept_at_least(since)).sum();
            // It is divided in whole GPUs, the last of which may be there in part.
            let left = share - kept;
            share = (left + (-left).rem_euclid(1000)).max(row.kept_at_most(since));
        }
        Some((self.rows.get(queue)?.held.least_since(since), share))
    }

    /// Time for which work of a queue is kept from others of the queue.
    pub(super) fn preempt_min_runtime(&self, queue: &str) -> Option<Duration> {
        self.path(queue).find_map(|name| self.rows.get(name)?.preempt_min_runtime)
    }

    /// Time for which work of a queue is kept from those of another one: from the first queue below the lowest that is above
    /// both on. Source: docs/behaviour.md 4.6.
    pub(super) fn reclaim_min_runtime(&self, queue: &str, by: &str) -> Option<Duration> {
        let from = self.levelled(queue, by);
        self.path(from).find_map(|name| self.rows.get(name)?.reclaim_min_runtime)
    }

    /// A queue and those above it, the root last.
    fn path<'t>(&'t self, queue: &'t str) -> impl Iterator<Item = &'t str> {
        let above = move |name: &&'t str| self.rows.get(*name)?.parent.as_deref();
        std::iter::successors(Some(queue), above).take(DEPTH_MAX)
    }

    /// Sums up what queues hold: of few pods, and only when one of them comes, gets its place or goes.
    fn recount(&mut self, now: Instant) {
        let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
        for pod in self.pods.values().filter(|pod| pod.gpu_milli > 0) {
            for name in pod.queue.iter().flat_map(|queue| self.path(queue)) {
                let sum = sums.entry(name.to_owned()).or_default();
                sum.asked += pod.gpu_milli;
                if pod.holds {
                    sum.held += pod.gpu_milli;
                    sum.protected += if pod.is_protected { pod.gpu_milli } else { 0 };
                }
            }
        }
        for (name, row) in &mut self.rows {
            let sum = sums.get(name).copied().unwrap_or_default();
            row.held.set(sum.held, now);
            row.protected.set(sum.protected, now);
            row.asked.set(sum.asked, now);
        }
    }
}

impl Row {
    /// The least that it got before what was over was divided.
    fn kept_at_least(&self, since: Instant) -> i64 {
        let own = self.quota.least_since(since).min(self.limit.least_since(since));
        own.min(self.asked.least_since(since))
    }

    /// The most that it got before what was over was divided.
    fn kept_at_most(&self, since: Instant) -> i64 {
        let own = self.quota.most_since(since).min(self.limit.most_since(since));
        own.min(self.asked.most_since(since))
    }
}

/// A quota or limit in thousandths of GPUs; what is left out is nothing. Source: docs/contract.md 1.2.
fn amount(gpus: &Value) -> i64 {
    match gpus.as_i64() {
        None if gpus.is_null() => 0,
        Some(gpus) if gpus >= 0 => 1000 * gpus,
        // A part of a GPU would have to be read exactly; nobody gives one here.
        Some(_) | None => UNLIMITED,
    }
}

#[cfg(test)]
mod tests;
