//! Describes what is waited for, and when it is reached.

use std::ffi::OsStr;

use clap::ValueEnum;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::Value;

use crate::print::error::Exit;
use crate::workload::{Phase, State, Workload, is_bound, is_leaving, is_over};

/// Says what is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// All its pods have nodes.
    Scheduled,
    /// It runs: all its pods do, or those that start together at the least.
    Running,
    /// It has ended.
    Complete,
    /// It has ended, and badly.
    Failed,
    /// It is gone.
    Deleted,
    /// No more than so many are tried before it, or it is past waiting.
    #[value(skip)]
    Position(usize),
}

impl Goal {
    /// Says what the workload does when the waiting is over.
    pub(super) fn verb(self) -> String {
        match self {
            Self::Scheduled => "has nodes".to_owned(),
            Self::Running => "runs".to_owned(),
            Self::Complete => "has ended".to_owned(),
            Self::Failed => "has failed".to_owned(),
            Self::Deleted => "is gone".to_owned(),
            Self::Position(place) => format!("is at position {place} of its queue"),
        }
    }

    /// Tells whether the waiting is over, and how the command ends then.
    pub(super) fn reached(self, workload: &Workload, state: &State) -> Option<Exit> {
        let failed = state.phase == Phase::Failed;
        let ended = state.phase.is_over();
        let wanted = workload.at_once();
        let scheduled =
            workload.pods.len() >= wanted && workload.pods.iter().all(is_bound) && wanted > 0;
        match self {
            Self::Failed => ended.then_some(if failed { Exit::Ok } else { Exit::Failure }),
            _ if failed && self != Self::Deleted => Some(Exit::WorkloadFailed),
            Self::Scheduled => (ended || scheduled).then_some(Exit::Ok),
            Self::Running => {
                // What has ended before its controller says so, or leaves its node, runs no more.
                let is_at_work = |pod: &Value| !is_over(pod) && !is_leaving(pod);
                let runs = state.phase == Phase::Running && workload.pods.iter().any(is_at_work);
                (ended || runs).then_some(Exit::Ok)
            }
            Self::Complete => ended.then_some(Exit::Ok),
            Self::Deleted => None,
            Self::Position(place) => {
                let is_near = workload.position.is_some_and(|at| at.place <= place);
                let has_begun = !state.phase.is_queued() && state.phase != Phase::Suspended;
                (is_near || ended || has_begun).then_some(Exit::Ok)
            }
        }
    }
}

/// Reads `--for`: a state, or `position=N`.
#[derive(Clone, Copy, Debug)]
pub(super) struct GoalParser;

impl TypedValueParser for GoalParser {
    type Value = Goal;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Goal, clap::Error> {
        let text = StringValueParser::new().parse_ref(command, arg, value)?;
        let refused = |known: &[&str]| {
            let known = known.iter().map(|&one| one.to_owned()).collect();
            let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
            error.insert(ContextKind::InvalidArg, ContextValue::String("--for".to_owned()));
            error.insert(ContextKind::InvalidValue, ContextValue::String(text.clone()));
            error.insert(ContextKind::ValidValue, ContextValue::Strings(known));
            error
        };
        let Some(place) = text.strip_prefix("position=") else {
            let states = ["scheduled", "running", "complete", "failed", "deleted", "position=N"];
            return Goal::from_str(&text, false).map_err(|_| refused(&states));
        };
        let place = place.parse().ok().filter(|place| *place > 0);
        place
            .map(Goal::Position)
            .ok_or_else(|| refused(&["position=1 (the first to be tried)", "position=2", "..."]))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let states = Goal::value_variants().iter().filter_map(Goal::to_possible_value);
        let place = PossibleValue::new("position=1")
            .help("No more than so many are tried before it, or it is past waiting");
        Some(Box::new(states.chain([place])))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Tells whether a Job of two pods, in these phases, that start together is said to run; a phase with `-` leaves its node.
    fn check(phases: &[&str], expect: bool) {
        let pod = |(at, phase): (usize, &&str)| {
            let (phase, leaves) = phase.strip_suffix('-').map_or((*phase, false), |p| (p, true));
            let mut pod =
                json!({"metadata": {"name": format!("p{at}")}, "status": {"phase": phase}});
            if phase != "Pending" {
                pod["spec"]["nodeName"] = json!("node");
            }
            if leaves {
                pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
            pod
        };
        let pods: Vec<Value> = phases.iter().enumerate().map(pod).collect();
        let mut workload = Workload::of_pod(&pods[0]);
        workload.resource = crate::cluster::Resource::new("batch/v1", "Job", "jobs");
        workload.object = Some(json!({"apiVersion": "batch/v1", "kind": "Job"}));
        workload.groups.push(json!({"spec": {"minMember": 2}}));
        workload.pods = pods;
        let reached = Goal::Running.reached(&workload, workload.state());
        assert_eq!(reached, expect.then_some(Exit::Ok), "{phases:?}");
    }

    /// Tells whether work of an object and groups has nodes, with a pod on a node for each name of a group.
    fn check_scheduled(object: &Value, groups: &[Value], pods_of: &[&str], expect: bool) {
        let pod = |group: &&str| {
            json!({"metadata": {"name": "p", "annotations": {"pod-group-name": group}},
                "spec": {"nodeName": "node"}, "status": {"phase": "Running"}})
        };
        let pods: Vec<Value> = pods_of.iter().map(pod).collect();
        let mut workload = Workload::of_pod(&pods[0]);
        let word = |key: &str| object[key].as_str().unwrap_or_default();
        workload.resource = crate::cluster::Resource::new(word("apiVersion"), word("kind"), "");
        workload.object = Some(object.clone());
        workload.groups = groups.to_vec();
        workload.pods = pods;
        let reached = Goal::Scheduled.reached(&workload, workload.state());
        assert_eq!(reached, expect.then_some(Exit::Ok), "{object} with pods of {pods_of:?}");
    }

    #[test]
    fn what_has_all_pods_of_its_leaves_has_nodes() {
        let object = json!({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"});
        let leaf = json!({"name": "node-replica-0", "parent": "node", "minMember": 2});
        let spec =
            json!({"minSubGroup": 1, "subGroups": [{"name": "node", "minSubGroup": 1}, leaf]});
        let group = json!({"metadata": {"name": "g"}, "spec": spec});
        check_scheduled(&object, std::slice::from_ref(&group), &["g", "g"], true);
        check_scheduled(&object, &[group], &["g"], false);
    }

    #[test]
    fn groups_that_a_smaller_set_left_behind_are_not_waited_for() {
        let template = json!({"spec": {"containers": [{"name": "a", "image": "b"}]}});
        let object = json!({"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
            "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}}});
        let group = |name: &str| json!({"metadata": {"name": name}, "spec": {"minMember": 2}});
        let groups = [group("g-group-0"), group("g-group-1")];
        check_scheduled(&object, &groups, &["g-group-0", "g-group-0"], true);
        check_scheduled(&object, &groups, &["g-group-0"], false);
    }

    #[test]
    fn what_runs_runs_with_all_that_start_together() {
        check(&["Running", "Running"], true);
        check(&["Running", "Running", "Pending"], true);
        check(&["Running", "Succeeded"], true);
        check(&["Running", "Pending"], false);
        check(&["Failed", "Running", "Pending"], false);
        check(&["Failed", "Failed"], false);
        check(&["Running-", "Running-"], false);
        check(&["Pending", "Pending"], false);
    }

    #[test]
    fn a_goal_is_met_by_how_it_ended() {
        for (goal, complete, failed) in [
            (Goal::Failed, Some(Exit::Failure), Some(Exit::Ok)),
            (Goal::Complete, Some(Exit::Ok), Some(Exit::WorkloadFailed)),
            (Goal::Scheduled, Some(Exit::Ok), Some(Exit::WorkloadFailed)),
            (Goal::Running, Some(Exit::Ok), Some(Exit::WorkloadFailed)),
            (Goal::Position(1), Some(Exit::Ok), Some(Exit::WorkloadFailed)),
            // Nothing but its absence says that it is gone.
            (Goal::Deleted, None, None),
        ] {
            for (condition, expect) in [("Complete", complete), ("Failed", failed), ("Other", None)]
            {
                let mut job = Workload::default();
                job.resource = crate::cluster::Resource::new("batch/v1", "Job", "jobs");
                let conditions = json!([{"type": condition, "status": "True"}]);
                job.object = Some(json!({"status": {"conditions": conditions}}));
                assert_eq!(goal.reached(&job, job.state()), expect, "{goal:?} {condition}");
            }
        }
    }
}
