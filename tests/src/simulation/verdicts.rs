//! Promises about conditions of groups: one that runs as a whole is not told that it cannot be scheduled (L1).

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use kai_api::{names::condition, pod_group::PodGroup};
use tokio::time::Instant;

use super::{gangs::Gangs, recent::Moment};

/// A condition goes within this time where nothing goes wrong.
const GOES_WITHIN: Duration = Duration::from_mins(3);

/// Groups that are told why they wait.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    told: BTreeSet<String>,
    /// Those that do not wait, since when.
    wrong: BTreeMap<String, Instant>,
    /// When to look at them again.
    due: VecDeque<(Instant, String)>,
}

impl Verdicts {
    /// Takes a group in.
    pub(super) fn group(&mut self, name: &str, group: &PodGroup, gangs: &Gangs, now: Instant) {
        let conditions = group.status.iter().flat_map(|status| &status.scheduling_conditions);
        let mut types = conditions.filter(|one| one.status.as_deref() == Some("True"));
        if types.any(|one| one.type_.as_deref() == Some(condition::UNSCHEDULABLE_ON_NODE_POOL)) {
            self.told.insert(name.to_owned());
        } else {
            self.told.remove(name);
        }
        self.look(name, gangs, now);
    }

    /// Notes that a group is gone.
    pub(super) fn group_gone(&mut self, name: &str) {
        self.told.remove(name);
        self.wrong.remove(name);
    }

    /// Looks at a group of which a pod has changed.
    pub(super) fn look(&mut self, name: &str, gangs: &Gangs, now: Instant) {
        if !self.told.contains(name) || !gangs.runs_as_a_whole(name) {
            self.wrong.remove(name);
        } else if !self.wrong.contains_key(name) {
            self.tell(name.to_owned(), now);
        }
    }

    /// Says which groups are told for too long what is not so any more.
    pub(super) fn pass(&mut self, at: Moment) -> Vec<String> {
        let mut found = Vec::new();
        while self.due.front().is_some_and(|(due, _)| *due <= at.now) {
            let Some((due, name)) = self.due.pop_front() else { break };
            let Some(since) = self.wrong.get(&name).copied() else { continue };
            // One that waited meanwhile is looked at later, for what it was told since then.
            if since + GOES_WITHIN != due {
                continue;
            }
            if at.was_calm_at(since) {
                found.push(format!("{name} runs, and is told that it cannot be scheduled"));
            } else {
                self.tell(name, at.now);
            }
        }
        found
    }

    fn tell(&mut self, name: String, now: Instant) {
        self.due.push_back((now + GOES_WITHIN, name.clone()));
        self.wrong.insert(name, now);
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use kai_sandbox::server::Change;
    use serde_json::{Value, json};

    use super::*;
    use crate::simulation::shown::{Groups, Shown};

    fn pod(name: &str, node: Option<&str>) -> Pod {
        serde_json::from_value(json!({
            "metadata": {"name": name, "uid": name, "namespace": "d", "annotations": {"pod-group-name": "g"}},
            "spec": {"nodeName": node, "containers": []},
        }))
        .expect("it is a pod")
    }

    fn group(conditions: &Value) -> PodGroup {
        serde_json::from_value(json!({
            "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": {"name": "g", "namespace": "d"}, "spec": {},
            "status": {"schedulingConditions": conditions},
        }))
        .expect("it is a group")
    }

    /// A group is told that it cannot be scheduled, and then has pods, bound or not, and its condition goes or not.
    fn check(pods: &[(&str, Option<&str>)], goes_after: u64, expect: &[&str]) {
        let start = Instant::now();
        let at = |second: u64| {
            let now = start + Duration::from_secs(second);
            Moment { now, since: now, calm: Some(start) }
        };
        let (mut verdicts, mut gangs) = (Verdicts::default(), Gangs::default());
        let told = json!([{"type": "UnschedulableOnNodePool", "status": "True"}]);
        verdicts.group("d/g", &group(&told), &gangs, start);
        for (name, node) in pods {
            let pod = pod(name, *node);
            let shown = Shown::of(&pod, Change::Modified);
            drop(gangs.pod(&shown, &Groups::new(), at(1)));
            verdicts.look("d/g", &gangs, at(1).now);
        }
        let mut found = verdicts.pass(at(100));
        if goes_after < 200 {
            verdicts.group("d/g", &group(&json!([])), &gangs, at(goes_after).now);
        }
        found.extend(verdicts.pass(at(200)));
        assert_eq!(found, expect, "{pods:?}");
    }

    #[test]
    fn a_condition_goes_once_nobody_waits() {
        let wrong = &["d/g runs, and is told that it cannot be scheduled"];
        check(&[("a", Some("n"))], 300, wrong);
        check(&[("a", None), ("a", Some("n"))], 300, wrong);
        check(&[("a", Some("n"))], 150, &[]);
        check(&[("a", Some("n")), ("b", None)], 300, &[]);
        check(&[], 300, &[]);
    }
}
