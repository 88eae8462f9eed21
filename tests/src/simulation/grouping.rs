//! Promises about `PodGroup`s: each says what its Job says, and goes with it.

use std::{collections::BTreeMap, time::Duration};

use kai_api::{
    names::{annotation, label},
    pod_group::PodGroup,
};
use kube::ResourceExt;
use serde_json::Value;

use super::shown::duration;

/// All Jobs, and the groups of their pods.
#[derive(Debug, Default)]
pub(super) struct Grouping {
    /// The words that each Job has for its group, by its UID.
    jobs: BTreeMap<String, Said>,
    /// UIDs of the Jobs of groups, by `namespace/name`; none where a group belongs to no Job.
    groups: BTreeMap<String, Option<String>>,
}

/// The part of a group that its Job decides.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    queue: String,
    class: String,
    minimum: i32,
    preemption_delay: Option<Duration>,
    /// Topology, required level, preferred level.
    place: [String; 3],
}

impl Grouping {
    /// Takes a Job in, whose labels and annotations stay as they are. Source: docs/grouping.md 7.2.
    pub(super) fn job(&mut self, job: &Value) {
        let meta = &job["metadata"];
        let text = |of: &str, key: &str| meta[of][key].as_str().unwrap_or_default().to_owned();
        let place =
            [annotation::TOPOLOGY, annotation::TOPOLOGY_REQUIRED, annotation::TOPOLOGY_PREFERRED];
        let said = Said {
            queue: text("labels", label::QUEUE),
            class: text("labels", label::PRIORITY_CLASS),
            minimum: text("annotations", annotation::BATCH_MIN_MEMBER).parse().unwrap_or(1),
            preemption_delay: duration(&text("annotations", annotation::PREEMPTION_DELAY)),
            place: place.map(|key| text("annotations", key)),
        };
        self.jobs.insert(meta["uid"].as_str().unwrap_or_default().to_owned(), said);
    }

    /// Notes that a Job is gone.
    pub(super) fn job_gone(&mut self, job: &Value) {
        self.jobs.remove(job["metadata"]["uid"].as_str().unwrap_or_default());
    }

    /// Takes a group in; says what it says otherwise than its Job.
    pub(super) fn group(&mut self, name: &str, group: &PodGroup) -> Option<String> {
        let owner = group.owner_references().iter().find(|owner| owner.kind == "Job");
        let owner = owner.map(|owner| owner.uid.clone());
        let wanted = owner.as_ref().and_then(|owner| self.jobs.get(owner));
        let spec = &group.spec;
        let place = spec.topology_constraint.clone().unwrap_or_default();
        let place = [place.topology, place.required_topology_level, place.preferred_topology_level];
        let said = Said {
            queue: spec.queue.clone().unwrap_or_default(),
            class: spec.priority_class_name.clone().unwrap_or_default(),
            minimum: spec.min_member.unwrap_or(1),
            preemption_delay: spec.preemption_delay.as_deref().and_then(duration),
            place: place.map(Option::unwrap_or_default),
        };
        let wrong = wanted.filter(|wanted| **wanted != said);
        let wrong = wrong.map(|wanted| format!("{name} says {said:?}, and its Job {wanted:?}"));
        self.groups.insert(name.to_owned(), owner);
        wrong
    }

    /// Notes that a group is gone.
    pub(super) fn group_gone(&mut self, name: &str) {
        self.groups.remove(name);
    }

    /// Says which groups are there without their Jobs (L6).
    pub(super) fn at_rest(&self) -> Vec<String> {
        let is_there = |owner: &String| self.jobs.contains_key(owner);
        let left = self.groups.iter().filter(|(_, owner)| !owner.iter().any(is_there));
        left.map(|(name, _)| format!("PodGroup {name} is left behind")).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A Job of the queue `q` with a minimum of 2, and a group of it with a spec.
    fn check(spec: &Value, expect: &str) {
        let mut grouping = Grouping::default();
        let job = json!({"metadata": {
            "uid": "j",
            "labels": {"kai.scheduler/queue": "q", "priorityClassName": "build"},
            "annotations": {"kai.scheduler/batch-min-member": "2",
                "kai.scheduler/preemption-delay": "2m", "kai.scheduler/topology": "racks"},
        }});
        grouping.job(&job);
        let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j"});
        let group: PodGroup = serde_json::from_value(json!({
            "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": {"name": "g", "namespace": "d", "ownerReferences": [owner]},
            "spec": spec,
        }))
        .expect("it is a group");
        let found = grouping.group("d/g", &group).unwrap_or_default();
        assert_eq!(found.split(", and").next(), Some(expect), "{found}");
        assert_eq!(grouping.at_rest(), [""; 0]);
        grouping.job_gone(&job);
        assert_eq!(grouping.at_rest(), ["PodGroup d/g is left behind"]);
        grouping.group_gone("d/g");
        assert_eq!(grouping.at_rest(), [""; 0]);
    }

    #[test]
    fn a_group_says_what_its_job_says() {
        let spec = json!({"queue": "q", "priorityClassName": "build", "minMember": 2,
            "preemptionDelay": "2m0s", "topologyConstraint": {"topology": "racks"}});
        check(&spec, "");
        let mut other = spec;
        other["minMember"] = json!(1);
        let said = "d/g says Said { queue: \"q\", class: \"build\", minimum: 1, preemption_delay: \
                    Some(120s), place: [\"racks\", \"\", \"\"] }";
        check(&other, said);
    }
}
