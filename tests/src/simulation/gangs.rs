//! Promises about gangs: where nothing goes wrong none runs in part, but while it is bound or was just hurt (S4).

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    queue_tree::QueueTree,
    recent::{Moment, Recent},
    shown::{Groups, Life, Shown},
};

/// Time within which all that a gang needs is bound, the first pod of it to the last.
const START_MAX: Duration = Duration::from_mins(1);
/// Time for which a gang may be in part: it is hurt, its pods leave, it has its grace of a minute, and is evicted.
const PART_MAX: Duration = Duration::from_mins(4);
/// A gang that has nobody for less than this may not have been seen so: it did not start anew.
const EMPTY_MIN: Duration = Duration::from_secs(10);

/// All gangs that ever had a pod.
#[derive(Debug, Default)]
pub(super) struct Gangs {
    gangs: BTreeMap<String, Gang>,
    /// When to look at gangs again.
    due: BTreeSet<(Instant, String)>,
}

#[derive(Debug, Default)]
struct Gang {
    /// UIDs of all its pods, also of those that wait, leave, or ended well.
    members: BTreeSet<String>,
    /// The number of these.
    size: Recent,
    /// UIDs of those that wait.
    waiting: BTreeSet<String>,
    /// UIDs of pods that have their places.
    placed: BTreeSet<String>,
    /// The number of these.
    count: Recent,
    /// When its first pods got their places.
    started: Option<Instant>,
    /// When the last one lost its place.
    emptied: Option<Instant>,
    /// When it began to start; none once it has, or has lost a pod since.
    starts: Option<Instant>,
    /// Since when it is in part.
    in_part: Option<Instant>,
    /// A pod of it ended well: what is left goes on.
    has_succeeded: bool,
}

impl Gangs {
    /// Takes a pod in; says so where it is the first of too few to be bound. That holds whatever goes wrong: members that
    /// are gone for long, or never were, are known to nobody.
    pub(super) fn pod(&mut self, shown: &Shown<'_>, groups: &Groups, at: Moment) -> Option<String> {
        let name = shown.group.as_ref()?;
        let minimum = groups.get(name).map_or(0, |group| group.minimum);
        let gang = self.gangs.entry(name.clone()).or_default();
        gang.take(shown, at.now);
        if shown.life == Life::Waits || !gang.place(shown) {
            return None;
        }
        let before = gang.count.now();
        let count = i64::try_from(gang.placed.len()).unwrap_or(i64::MAX);
        gang.count.set(count, at.now);
        if before == 0 {
            gang.start(at.now);
            self.due.insert((at.now + START_MAX, name.clone()));
        } else if count == 0 {
            gang.emptied = Some(at.now);
        }
        if gang.placed.len() >= minimum {
            gang.starts = None;
        }
        if gang.is_in_part(minimum) {
            gang.in_part = gang.in_part.or(Some(at.now));
            self.due.insert((at.now + PART_MAX, name.clone()));
        } else {
            gang.in_part = None;
        }
        let size = usize::try_from(gang.size.most_since(at.since)).unwrap_or_default();
        let is_begun_too_few = before == 0 && size < minimum;
        is_begun_too_few.then(|| format!("{name} was begun with {size} of {minimum} pods"))
    }

    /// Looks at the gangs whose time is over; says which of them are in part and ought not to be. Those that are hurt have
    /// more time while queues come and go.
    pub(super) fn pass(&mut self, groups: &Groups, queues: &QueueTree, at: Moment) -> Vec<String> {
        let lately = at.now.checked_sub(PART_MAX).unwrap_or(at.now);
        let mut found = Vec::new();
        while self.due.first().is_some_and(|(due, _)| *due <= at.now) {
            let Some((_, name)) = self.due.pop_first() else { break };
            let Some(gang) = self.gangs.get_mut(&name) else { continue };
            let Some(group) = groups.get(&name).filter(|group| gang.is_in_part(group.minimum))
            else {
                continue;
            };
            let (count, minimum) = (gang.placed.len(), group.minimum);
            let is_late = |since: Instant| at.now.duration_since(since) >= START_MAX;
            if gang
                .starts
                .take_if(|starts| is_late(*starts))
                .is_some_and(|began| at.was_calm_at(began))
            {
                found.push(format!("{name} was begun in part: {count} of {minimum} are bound"));
                continue;
            }
            let Some(since) = gang.in_part else { continue };
            let since = at.calm.map(|calm| calm.max(since));
            let is_over = since.is_some_and(|since| at.now.duration_since(since) >= PART_MAX);
            if is_over && !queues.has_moved_since(lately) {
                gang.in_part = None;
                found.push(format!("{name} goes on in part: {count} of {minimum} are bound"));
            } else {
                self.due.insert((at.now + PART_MAX, name));
            }
        }
        found
    }

    /// Tells whether some pods of a group have their places, and none waits.
    pub(super) fn runs_as_a_whole(&self, group: &str) -> bool {
        let gang = self.gangs.get(group);
        gang.is_some_and(|gang| !gang.placed.is_empty() && gang.waiting.is_empty())
    }

    /// The moment at which the first pods of a group got their places.
    pub(super) fn started(&self, group: &str) -> Option<Instant> {
        self.gangs.get(group)?.started
    }

    /// The most pods of a group that had places since a moment.
    pub(super) fn most_since(&self, group: &str, moment: Instant) -> usize {
        let most = self.gangs.get(group).map_or(0, |gang| gang.count.most_since(moment));
        usize::try_from(most).unwrap_or_default()
    }
}

impl Gang {
    /// Counts a pod among its members, or no more.
    fn take(&mut self, shown: &Shown<'_>, now: Instant) {
        self.has_succeeded |= shown.life == Life::Succeeded;
        if shown.life != Life::Waits {
            self.waiting.remove(&shown.uid);
        } else if !self.waiting.contains(&shown.uid) {
            self.waiting.insert(shown.uid.clone());
        }
        let has_changed = if shown.life == Life::Gone {
            self.members.remove(&shown.uid)
        } else {
            !self.members.contains(&shown.uid) && self.members.insert(shown.uid.clone())
        };
        if has_changed {
            self.size.set(i64::try_from(self.members.len()).unwrap_or(i64::MAX), now);
        }
    }

    /// Counts a pod among those that have their places, or no more; tells whether it was not so before.
    fn place(&mut self, shown: &Shown<'_>) -> bool {
        if shown.life == Life::Holds {
            return self.placed.insert(shown.uid.clone());
        }
        // Also one that went before it was bound is missed by the others.
        self.starts = None;
        self.placed.remove(&shown.uid)
    }

    /// Notes that its first pod has got its place.
    fn start(&mut self, now: Instant) {
        let is_anew = self.emptied.is_none_or(|at| now.duration_since(at) >= EMPTY_MIN);
        if is_anew {
            self.started = Some(now);
        }
        self.starts = Some(now);
    }

    /// Tells whether it has some pods, and fewer than it needs, none of which ended well.
    fn is_in_part(&self, minimum: usize) -> bool {
        !self.placed.is_empty() && self.placed.len() < minimum && !self.has_succeeded
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use kai_sandbox::server::Change;
    use serde_json::json;

    use super::*;
    use crate::simulation::shown::Group;

    /// Takes in steps such as `0 a bound`, `10 a leaves`, `20 a ended`, of a gang of three in seconds, and looks at it each
    /// second up to `until`. Nothing goes wrong from the second `calm` on.
    fn check(steps: &[&str], calm: u64, until: u64, expect: &[&str]) {
        let start = Instant::now();
        let group = Group { minimum: 3, ..Group::default() };
        let groups = Groups::from([("d/g".to_owned(), group)]);
        let mut gangs = Gangs::default();
        let mut found = Vec::new();
        for second in 0..=until {
            let now = start + Duration::from_secs(second);
            let calm = Some(start + Duration::from_secs(calm));
            let since = now.checked_sub(Duration::from_secs(5)).unwrap_or(now);
            let at = Moment { now, since, calm };
            for words in steps.iter().map(|step| step.split(' ').collect::<Vec<_>>()) {
                if words[0] == second.to_string() {
                    let pod = pod(words[1], words[2]);
                    found.extend(gangs.pod(&Shown::of(&pod, Change::Modified), &groups, at));
                }
            }
            found.extend(gangs.pass(&groups, &QueueTree::default(), at));
        }
        assert_eq!(found, expect, "{steps:?}");
    }

    fn pod(name: &str, becomes: &str) -> Pod {
        let mut pod = json!({
            "metadata": {"name": name, "uid": name, "namespace": "d", "annotations": {"pod-group-name": "g"}},
            "spec": {"nodeName": "n", "containers": []},
        });
        match becomes {
            "comes" => pod["spec"]["nodeName"] = serde_json::Value::Null,
            "failed" => pod["status"] = json!({"phase": "Failed"}),
            "leaves" => pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"),
            "ended" => pod["status"] = json!({"phase": "Succeeded"}),
            _ => {}
        }
        serde_json::from_value(pod).expect("it is a pod")
    }

    /// Steps after which three pods wait.
    const COME: [&str; 3] = ["0 a comes", "0 b comes", "0 c comes"];

    fn with(before: &[&'static str], more: &[&'static str]) -> Vec<&'static str> {
        [&COME[..], before, more].concat()
    }

    #[test]
    fn a_gang_starts_as_a_whole() {
        let two = ["1 a bound", "2 b bound"];
        check(&with(&two, &["50 c bound"]), 0, 400, &[]);
        let begun = &["d/g was begun in part: 2 of 3 are bound"];
        check(&with(&two, &["70 c bound"]), 0, 400, begun);
        check(&with(&two, &["70 c bound"]), 2, 400, &[]);
        check(&with(&two, &["3 b leaves", "9 a leaves"]), 0, 400, &[]);
    }

    #[test]
    fn a_gang_starts_once_enough_of_it_are_there() {
        let few = &["d/g was begun with 2 of 3 pods"];
        check(&["0 a comes", "0 b comes", "9 a bound", "20 a leaves"], 900, 30, few);
        check(&with(&[], &["3 c failed", "9 a bound", "20 a leaves"]), 900, 30, few);
        check(&with(&[], &["3 c failed", "7 a bound", "20 a leaves"]), 900, 30, &[]);
        check(&with(&[], &["3 c ended", "9 a bound", "20 a leaves"]), 900, 30, &[]);
    }

    #[test]
    fn a_gang_that_was_hurt_does_not_go_on_in_part_for_long() {
        let whole = ["1 a bound", "1 b bound", "1 c bound"];
        let part = &["d/g goes on in part: 2 of 3 are bound"];
        check(&with(&whole, &["100 c leaves"]), 0, 900, part);
        check(&with(&whole, &["100 c leaves", "200 a leaves", "200 b leaves"]), 0, 900, &[]);
        check(&with(&whole, &["100 c leaves", "200 d bound"]), 0, 900, &[]);
        check(&with(&whole, &["100 c ended"]), 0, 900, &[]);
        check(&with(&whole, &["100 c leaves"]), 500, 700, &[]);
        check(&with(&whole, &["100 c leaves"]), 500, 900, part);
    }
}
