//! Promises about evictions for others: who may take from whom, and when (S6).

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use kai_api::names::condition;
use tokio::time::Instant;

use super::{
    gangs::Gangs,
    queue_tree::QueueTree,
    recent::Moment,
    shown::{Groups, Life, Shown},
};

/// Evictions of a group for another one within this time are of one plan.
const AT_ONCE: Duration = Duration::from_secs(30);
/// The longest time from the plan that starts a group until its first pod is bound.
const BIND_MAX: Duration = Duration::from_mins(1);

/// Moments are written in whole seconds.
const ROUNDED_MAX: Duration = Duration::from_secs(2);

/// All that is known when an eviction is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub(super) groups: &'a Groups,
    pub(super) gangs: &'a Gangs,
    pub(super) queues: &'a QueueTree,
}

/// Pods that were told that they go for others.
#[derive(Debug, Default)]
pub(super) struct Victims {
    /// The words that each was told, by UID.
    told: BTreeMap<String, String>,
    /// Evictions of late: when, of which group, for which.
    lately: VecDeque<(Instant, String, String)>,
    /// Evictions whose plan may not be told whole yet.
    doubts: VecDeque<Doubt>,
    /// When each group came, or was evicted last.
    quiet_since: BTreeMap<String, Instant>,
    /// The fewest thousandths of GPUs that a pod of each group asks for, which asks for some.
    ask: BTreeMap<String, i64>,
}

/// A reclaim for a queue that may have its share: it has not where the same plan took from it before, which may be told later.
#[derive(Debug)]
struct Doubt {
    name: String,
    by: String,
    told: Instant,
    since: Instant,
}

/// An eviction of a pod of one group for another group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Eviction<'a> {
    action: Action,
    of: &'a str,
    by: &'a str,
}

/// Action that evicts for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Preempt,
    Reclaim,
}

impl Victims {
    /// Takes in that a group is there.
    pub(super) fn group(&mut self, name: &str, now: Instant) {
        self.quiet_since.entry(name.to_owned()).or_insert(now);
    }

    /// Notes that a group is gone.
    pub(super) fn group_gone(&mut self, name: &str) {
        self.quiet_since.remove(name);
    }

    /// Takes a pod in; says what is wrong about its eviction where it was told of it just now.
    pub(super) fn pod(&mut self, shown: &Shown<'_>, known: Known<'_>, at: Moment) -> Vec<String> {
        if shown.life == Life::Gone {
            self.told.remove(&shown.uid);
            return Vec::new();
        }
        let Some(of) = &shown.group else { return Vec::new() };
        if shown.gpu_milli > 0 && self.ask.get(of).is_none_or(|least| *least > shown.gpu_milli) {
            self.ask.insert(of.clone(), shown.gpu_milli);
        }
        let Some(message) = message(shown) else { return Vec::new() };
        if self.told.get(&shown.uid).is_some_and(|before| before == message) {
            return Vec::new();
        }
        self.told.insert(shown.uid.clone(), message.to_owned());
        self.quiet_since.insert(of.clone(), at.now);
        let Some((action, by)) = read(message) else { return Vec::new() };
        let is_past =
            |(when, ..): &(Instant, String, String)| at.now.duration_since(*when) > AT_ONCE;
        while self.lately.front().is_some_and(is_past) {
            self.lately.pop_front();
        }
        self.lately.push_back((at.now, of.clone(), by.to_owned()));
        let eviction = Eviction { action, of, by };
        let wrong = [
            forbidden(eviction, known),
            self.too_early(eviction, known, at),
            self.within_its_delay(eviction, known, at),
            self.within_its_quota(eviction, known, at),
        ];
        if eviction.action == Action::Reclaim {
            let (name, by) = (shown.name.clone(), by.to_owned());
            self.doubts.push_back(Doubt { name, by, told: at.now, since: at.since });
        }
        let (name, for_whom) = (&shown.name, by);
        let wrong = wrong.into_iter().flatten();
        wrong.map(|wrong| format!("{name} was evicted for {for_whom}: {wrong}")).collect()
    }

    /// Work within its minimum runtime, of which less is left than it needs. Only while nothing goes wrong: a scheduler's
    /// clock may be wrong by an hour. Source: docs/behaviour.md 4.6.
    fn too_early(&self, eviction: Eviction<'_>, known: Known<'_>, at: Moment) -> Option<String> {
        let (of, by) = (known.groups.get(eviction.of)?, known.groups.get(eviction.by)?);
        let runtime = match eviction.action {
            Action::Preempt => known.queues.preempt_min_runtime(&of.queue),
            Action::Reclaim => known.queues.reclaim_min_runtime(&of.queue, &by.queue),
        }?;
        let started = known.gangs.started(eviction.of).filter(|start| at.was_calm_at(*start))?;
        let ran = at.now.duration_since(started);
        if ran + BIND_MAX >= runtime || known.queues.has_moved_since(at.since) {
            return None;
        }
        let is_same =
            |(_, of, by): &&(Instant, String, String)| of == eviction.of && by == eviction.by;
        let lost = self.lately.iter().filter(is_same).count();
        let since = at.now.checked_sub(AT_ONCE).unwrap_or(at.now);
        let left = known.gangs.most_since(eviction.of, since).saturating_sub(lost);
        let (ran, runtime) = (ran.as_secs(), runtime.as_secs());
        (left < of.minimum).then(|| format!("it ran for {ran} s and has {runtime} s"))
    }

    /// An eviction for a group that came, or was evicted, just now. Only while nothing goes wrong, as above. Source:
    /// docs/behaviour.md 4.7.
    fn within_its_delay(
        &self,
        eviction: Eviction<'_>,
        known: Known<'_>,
        at: Moment,
    ) -> Option<String> {
        let delay = known.groups.get(eviction.by)?.preemption_delay;
        let since = self.quiet_since.get(eviction.by).filter(|since| at.was_calm_at(**since))?;
        let waited = at.now.duration_since(*since);
        let (waited_s, delay_s) = (waited.as_secs(), delay.as_secs());
        let is_early = waited + ROUNDED_MAX < delay;
        is_early.then(|| format!("it came {waited_s} s ago, and waits for {delay_s} s"))
    }

    /// A reclaim from a queue that has no more than is its own, even if all that waits in it counted. Whoever reclaims
    /// without asking for GPUs takes from any queue whose pods find another place. Source: docs/behaviour.md 4.3.
    fn within_its_quota(
        &self,
        eviction: Eviction<'_>,
        known: Known<'_>,
        at: Moment,
    ) -> Option<String> {
        let (of, by) = (known.groups.get(eviction.of)?, known.groups.get(eviction.by)?);
        let is_reclaim = eviction.action == Action::Reclaim && self.ask.contains_key(eviction.by);
        if !is_reclaim || known.queues.has_moved_since(at.since) {
            return None;
        }
        let queue = known.queues.levelled(&of.queue, &by.queue);
        let (most, own) = known.queues.most_and_own(queue, at.since)?;
        (most < own).then(|| format!("{queue} has {most} milli of GPUs of {own} of its own"))
    }

    /// Says which reclaims, of plans that are told whole by now, were for a queue that had its share. It is asked before anything
    /// that is new is taken in.
    pub(super) fn settled(&mut self, known: Known<'_>, now: Instant) -> Vec<String> {
        let mut found = Vec::new();
        while self.doubts.front().is_some_and(|doubt| now.duration_since(doubt.told) > AT_ONCE) {
            let Some(doubt) = self.doubts.pop_front() else { break };
            let wrong = self.beyond_its_share(&doubt, known);
            found.extend(
                wrong.map(|wrong| format!("{} was evicted for {}: {wrong}", doubt.name, doubt.by)),
            );
        }
        found
    }

    /// A reclaim for a queue that has its share, as large as it may have been. Source: docs/behaviour.md 4.2.
    fn beyond_its_share(&self, doubt: &Doubt, known: Known<'_>) -> Option<String> {
        let by = known.groups.get(&doubt.by)?;
        let ask = self.ask.get(&doubt.by)?;
        if known.queues.has_moved_since(doubt.since) {
            return None;
        }
        let queue = &by.queue;
        let (least, share) = known.queues.least_and_share(queue, doubt.since)?;
        let is_beyond = least + ask > share;
        is_beyond.then(|| {
            format!("{queue} has {least} milli of GPUs of a share of {share} and takes {ask} more")
        })
    }
}

/// A preemption of another queue or of work that is not below, or a reclaim within a queue.
fn forbidden(eviction: Eviction<'_>, known: Known<'_>) -> Option<String> {
    let (of, by) = (known.groups.get(eviction.of)?, known.groups.get(eviction.by)?);
    let is_one_queue = of.queue == by.queue;
    match eviction.action {
        Action::Preempt if !is_one_queue => Some(format!("{} is not {}", of.queue, by.queue)),
        Action::Preempt if of.priority >= by.priority => {
            Some(format!("its priority {} is not below {}", of.priority, by.priority))
        }
        Action::Reclaim if is_one_queue => Some(format!("both are of {}", of.queue)),
        Action::Preempt | Action::Reclaim => None,
    }
}

/// The words in which a pod is told that its scheduler evicts it.
fn message<'a>(shown: &Shown<'a>) -> Option<&'a str> {
    let conditions = shown.pod.status.as_ref()?.conditions.as_ref()?;
    let told = conditions.iter().find(|one| {
        one.type_ == condition::DISRUPTION_TARGET
            && one.reason.as_deref() == Some("PreemptionByScheduler")
    });
    told?.message.as_deref()
}

/// The action, and the group for which it is. Source: docs/behaviour.md 4.8.
fn read(message: &str) -> Option<(Action, &str)> {
    let (_, what) = message.lines().next()?.split_once(" was preempted by ")?;
    if let Some(by) = what.strip_prefix("higher priority workload ") {
        return Some((Action::Preempt, by));
    }
    let by = what.strip_prefix("workload ")?;
    Some((Action::Reclaim, by.strip_suffix('.').unwrap_or(by)))
}

#[cfg(test)]
mod tests;
