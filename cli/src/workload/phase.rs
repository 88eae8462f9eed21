//! One state for all kinds, from the object, its pods and its `PodGroups`. Pure, after `docs/workloads.md` 11.1.

use kai_api::explanation::Explanation;
use kai_api::names::condition;
use serde_json::Value;

use super::Workload;
use super::reason::word;
use crate::cluster::json::text;
use crate::cluster::kinds::{self, Suspend};
use crate::print::output::Style;
use crate::print::time;

/// Says how a workload stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Phase {
    /// There are no pods yet.
    Waiting,
    /// Pods wait for nodes.
    Pending,
    /// Pods have nodes and start.
    Starting,
    Running,
    /// Some pods of a service are ready, not all.
    Degraded,
    Suspended,
    Deleting,
    Succeeded,
    Failed,
}

impl Phase {
    /// Returns how it looks where colour is on.
    pub(crate) fn style(self) -> Style {
        match self {
            Self::Waiting | Self::Pending | Self::Starting | Self::Degraded => Style::Warn,
            Self::Running | Self::Succeeded => Style::Good,
            Self::Failed => Style::Bad,
            Self::Suspended | Self::Deleting => Style::Dim,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::Pending => "Pending",
            Self::Starting => "Starting",
            Self::Running => "Running",
            Self::Degraded => "Degraded",
            Self::Suspended => "Suspended",
            Self::Deleting => "Deleting",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
        }
    }

    /// Tells whether it will not run again.
    pub(crate) fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }

    /// Tells whether it waits for nodes.
    pub(crate) fn is_queued(self) -> bool {
        matches!(self, Self::Waiting | Self::Pending)
    }
}

/// The state with its reason: a word for tables, and the sentence behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) reason: Option<String>,
    pub(crate) message: Option<String>,
    /// The stable number of the reason, where the scheduler or its words tell it: `KAI1203`.
    pub(crate) code: Option<String>,
    /// Nothing that ends or is evicted lets it in: it waits until it, its queue or the nodes are changed.
    pub(crate) never: bool,
}

impl State {
    fn of(phase: Phase) -> Self {
        Self { phase, reason: None, message: None, code: None, never: false }
    }

    fn because(phase: Phase, reason: &str, message: &str) -> Self {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Self { reason: some(reason), message: some(message), ..Self::of(phase) }
    }

    /// Tells whether it is one that new work mostly leaves within a second: nobody has looked at it yet.
    pub(crate) fn is_passing(&self) -> bool {
        let early = ["NoPods", "NoPodGroup", "NotTried", "GangIncomplete"];
        self.reason.as_deref().is_some_and(|reason| early.contains(&reason))
    }

    /// The state of what waits as our scheduler explains it.
    fn explained(explanation: &Explanation) -> Self {
        let Explanation { code, reason, never, sentence, .. } = explanation;
        let state = Self::because(Phase::Pending, reason, sentence);
        Self { code: Some(code.clone()), never: *never, ..state }
    }

    /// `Pending (NoCapacity)`; of what never runs as it is, `Pending (never: TooLarge)`.
    pub(crate) fn show(&self) -> String {
        match &self.reason {
            Some(reason) if self.never && self.phase.is_queued() => {
                format!("{} (never: {reason})", self.phase.word())
            }
            Some(reason) => format!("{} ({reason})", self.phase.word()),
            None => self.phase.word().to_owned(),
        }
    }
}

pub(super) fn state(workload: &Workload) -> State {
    let none = Value::Null;
    let object = workload.object.as_ref().unwrap_or(&none);
    if object["metadata"]["deletionTimestamp"].is_string() {
        return State::of(Phase::Deleting);
    }
    if let Some(over) = over(&workload.resource.kind, object) {
        return over;
    }
    let live: Vec<&Value> = workload.pods.iter().filter(|pod| !is_over(pod)).collect();
    if is_suspended(workload, object) && live.is_empty() {
        return State::of(Phase::Suspended);
    }
    if workload.pods.is_empty() {
        return match &workload.eviction {
            Some(eviction) if workload.object.is_none() && workload.groups.is_empty() => {
                State::because(Phase::Failed, "Evicted", &eviction.sentence())
            }
            Some(_) | None => waiting(object),
        };
    }
    let known = kinds::find(&workload.resource.api_version(), &workload.resource.kind);
    if live.is_empty() {
        return ended_pods(workload, known.is_none_or(kinds::Kind::ends));
    }
    let bound = live.iter().filter(|pod| is_bound(pod)).count();
    let ready = live.iter().filter(|pod| is_ready(pod)).count();
    if ready == live.len() {
        return State::of(Phase::Running);
    }
    if known.is_some_and(|kind| !kind.ends()) && ready > 0 {
        return State { phase: Phase::Degraded, ..pending(workload, &live) };
    }
    if bound == live.len() {
        return State { phase: Phase::Starting, ..starting(&live) };
    }
    // A gang that has its minimum runs, even when extras wait; one that lost a pod of its minimum does not.
    let done = workload.pods.iter().filter(|pod| text(&pod["status"]["phase"]) == "Succeeded");
    if bound > 0 && ready == bound && ready + done.count() >= workload.together() {
        return State { phase: Phase::Running, ..pending(workload, &live) };
    }
    pending(workload, &live)
}

/// The final state that the object's own status tells.
fn over(kind: &str, object: &Value) -> Option<State> {
    let status = &object["status"];
    let succeeded = || Some(State::of(Phase::Succeeded));
    let failed = |reason: &str, message: &str| Some(State::because(Phase::Failed, reason, message));
    match kind {
        "RayJob" => match (text(&status["jobDeploymentStatus"]), text(&status["jobStatus"])) {
            ("Complete", "SUCCEEDED") => succeeded(),
            ("Complete", "FAILED" | "STOPPED") | ("Failed" | "ValidationFailed", _) => {
                failed(text(&status["reason"]), text(&status["message"]))
            }
            _ => None,
        },
        "Workflow" | "Pod" => match text(&status["phase"]) {
            "Succeeded" => succeeded(),
            "Failed" | "Error" => failed(text(&status["reason"]), text(&status["message"])),
            _ => None,
        },
        "SparkApplication" => match text(&status["applicationState"]["state"]) {
            "COMPLETED" => succeeded(),
            "FAILED" => failed("", text(&status["applicationState"]["errorMessage"])),
            _ => None,
        },
        _ => {
            let is = |condition: &&Value, types: &[&str]| {
                types.contains(&text(&condition["type"])) && text(&condition["status"]) == "True"
            };
            let conditions = status["conditions"].as_array()?;
            if conditions.iter().any(|c| is(&c, &["Complete", "Completed", "Succeeded"])) {
                return succeeded();
            }
            let failure = conditions.iter().find(|c| is(c, &["Failed"]))?;
            failed(text(&failure["reason"]), text(&failure["message"]))
        }
    }
}

fn is_suspended(workload: &Workload, object: &Value) -> bool {
    let kind = kinds::find(&workload.resource.api_version(), &workload.resource.kind);
    match kind.map_or(Suspend::Never, |kind| kind.suspend) {
        Suspend::Field(pointer) => object.pointer(pointer).and_then(Value::as_bool) == Some(true),
        Suspend::Scale => object["spec"]["replicas"].as_u64() == Some(0),
        Suspend::Annotation(key) => kinds::is_stopped(object, key),
        Suspend::Never => false,
    }
}

/// No pods: what the object's controller says about it.
fn waiting(object: &Value) -> State {
    let conditions = object["status"]["conditions"].as_array();
    let complaint = conditions.into_iter().flatten().find(|condition| {
        let words = text(&condition["reason"]);
        ["Fail", "Error", "Invalid"].iter().any(|bad| words.contains(bad))
    });
    match complaint {
        Some(condition) => {
            State::because(Phase::Waiting, text(&condition["reason"]), text(&condition["message"]))
        }
        None => match text(&object["spec"]["schedule"]) {
            "" => State::because(Phase::Waiting, "NoPods", "its controller has made no pods yet"),
            times => {
                let message = format!("it begins anew at {times}");
                State::because(Phase::Waiting, "Scheduled", &message)
            }
        },
    }
}

fn ended_pods(workload: &Workload, ends: bool) -> State {
    let failed = workload.pods.iter().find(|pod| text(&pod["status"]["phase"]) == "Failed");
    match failed {
        Some(pod) if workload.object.is_none() || workload.resource.kind == "Pod" => {
            State::because(
                Phase::Failed,
                text(&pod["status"]["reason"]),
                text(&pod["status"]["message"]),
            )
        }
        None if ends && workload.object.is_none() => State::of(Phase::Succeeded),
        // Its controller has not drawn the conclusion yet.
        Some(_) | None => State::of(Phase::Running),
    }
}

/// Says why it waits: the `PodGroup`'s last condition, or a bind that failed after it, else what the pods say.
fn pending(workload: &Workload, live: &[&Value]) -> State {
    let condition = workload.groups.iter().find_map(|group| {
        let all = group["status"]["schedulingConditions"].as_array()?;
        all.iter().rev().find(|c| {
            text(&c["type"]) == "UnschedulableOnNodePool" && text(&c["status"]) != "False"
        })
    });
    let since = |condition: &Value| time::of(&condition["lastTransitionTime"]);
    if let Some(failure) = bind_failure(live.iter().copied())
        && condition.is_none_or(|told| since(failure) > since(told))
    {
        let message = text(&failure["message"]);
        let failed = word(text(&failure["reason"]), message);
        return State::because(Phase::Pending, failed, message);
    }
    if let Some(queue) = &workload.held {
        return State { code: Some("KAI1202".to_owned()), ..held(queue) };
    }
    if let Some(explanation) = &workload.explanation {
        return State::explained(explanation);
    }
    if let Some(condition) = condition {
        let first = &condition["reasons"][0];
        let reason = if text(&first["reason"]).is_empty() {
            text(&condition["reason"])
        } else {
            text(&first["reason"])
        };
        let message = match text(&condition["message"]) {
            "" => text(&first["message"]),
            message => message,
        };
        return State::because(Phase::Pending, word(reason, message), one_full_stop(message));
    }
    let unscheduled = live.iter().find_map(|pod| {
        let all = pod["status"]["conditions"].as_array()?;
        all.iter().find(|c| text(&c["type"]) == "PodScheduled" && text(&c["status"]) == "False")
    });
    match unscheduled {
        Some(condition) => State::because(
            Phase::Pending,
            word(text(&condition["reason"]), text(&condition["message"])),
            text(&condition["message"]),
        ),
        None if workload.groups.is_empty() => State::because(
            Phase::Pending,
            "NoPodGroup",
            "the podgrouper has made no PodGroup for it yet",
        ),
        None => unsaid(workload, live),
    }
}

/// The state of what waits in a held queue, or below one: whatever else there is, nothing starts before its release.
fn held(queue: &str) -> State {
    let message = format!("queue {queue} is held, and nothing starts in it");
    State::because(Phase::Pending, "QueueHeld", &message)
}

/// Says why the scheduler has said nothing yet.
fn unsaid(workload: &Workload, live: &[&Value]) -> State {
    let minimum = workload.together();
    if live.len() >= minimum {
        let message = "the scheduler has not tried it yet";
        return State::because(Phase::Pending, "NotTried", message);
    }
    let ended = workload.pods.len() - live.len();
    let ended = if ended > 0 { format!(", and {ended} have ended") } else { String::new() };
    let message = format!(
        "its gang starts with {minimum} pods at once: {} is there{ended}",
        crate::cluster::queue::count(live.len(), "pod")
    );
    State::because(Phase::Pending, "GangIncomplete", &message)
}

/// The newest failed bind of pods that have no node yet: their condition `PodBound`.
pub(crate) fn bind_failure<'a>(pods: impl Iterator<Item = &'a Value>) -> Option<&'a Value> {
    let conditions = pods
        .filter(|pod| !is_bound(pod))
        .flat_map(|pod| pod["status"]["conditions"].as_array().into_iter().flatten());
    let failed = conditions.filter(|condition| {
        text(&condition["type"]) == condition::POD_BOUND && text(&condition["status"]) == "False"
    });
    failed.max_by_key(|condition| time::of(&condition["lastTransitionTime"]))
}

fn starting(live: &[&Value]) -> State {
    let trouble = live
        .iter()
        .flat_map(|pod| pod["status"]["containerStatuses"].as_array().into_iter().flatten());
    let trouble = trouble.map(|container| &container["state"]["waiting"]).find(|waiting| {
        !matches!(text(&waiting["reason"]), "" | "ContainerCreating" | "PodInitializing")
    });
    match trouble {
        Some(waiting) => {
            State::because(Phase::Starting, text(&waiting["reason"]), text(&waiting["message"]))
        }
        None => State::of(Phase::Starting),
    }
}

/// Tells whether the pod has a node.
pub(crate) fn is_bound(pod: &Value) -> bool {
    !text(&pod["spec"]["nodeName"]).is_empty()
}

/// Tells whether the pod has ended.
pub(crate) fn is_over(pod: &Value) -> bool {
    matches!(text(&pod["status"]["phase"]), "Succeeded" | "Failed")
}

/// Tells whether the pod is being deleted.
pub(crate) fn is_leaving(pod: &Value) -> bool {
    pod["metadata"]["deletionTimestamp"].is_string()
}

/// Tells whether the pod runs, or has ended well.
pub(super) fn is_ready(pod: &Value) -> bool {
    matches!(text(&pod["status"]["phase"]), "Running" | "Succeeded")
}

/// A message without the second full stop that KAI's template puts behind a sentence.
pub(crate) fn one_full_stop(message: &str) -> &str {
    match message.strip_suffix('.') {
        Some(sentence) if sentence.ends_with('.') => sentence,
        Some(_) | None => message,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The state of a pod that waits, with conditions `Type=Status/Reason@second: message` of the pod, and the message
    /// of its `PodGroup`'s condition, with the second.
    fn check(pod_conditions: &[&str], told: Option<(u32, &str)>, expect: &str) {
        let at = |second: &str| format!("2026-01-01T00:00:{second:0>2}Z");
        let condition = |text: &&str| {
            let (head, message) = text.split_once(": ").expect("a message");
            let (head, second) = head.split_once('@').expect("a second");
            let (head, reason) = head.split_once('/').expect("a reason");
            let (kind, status) = head.split_once('=').expect("a status");
            json!({"type": kind, "status": status, "reason": reason, "message": message,
                "lastTransitionTime": at(second)})
        };
        let conditions: Vec<Value> = pod_conditions.iter().map(condition).collect();
        let pod = json!({"metadata": {"name": "p"}, "status": {"phase": "Pending", "conditions": conditions}});
        let mut workload = Workload::of_pod(&pod);
        workload.pods.push(pod);
        let conditions = told.map(|(second, message)| {
            json!([{"type": "UnschedulableOnNodePool", "status": "True", "reason": "Unschedulable",
                "message": message, "lastTransitionTime": at(&second.to_string())}])
        });
        workload.groups.push(json!({"status": {"schedulingConditions": conditions}}));
        let state = state(&workload);
        assert_eq!(format!("{}: {}", state.show(), state.message.unwrap_or_default()), expect);
    }

    #[test]
    fn an_annotation_that_says_no_suspends_nothing() {
        for (version, kind, key, value, expect) in [
            (
                "serving.kserve.io/v1beta1",
                "InferenceService",
                "serving.kserve.io/stop",
                "True",
                true,
            ),
            (
                "serving.kserve.io/v1beta1",
                "InferenceService",
                "serving.kserve.io/stop",
                "false",
                false,
            ),
            (
                "kubeflow.org/v1",
                "Notebook",
                "kubeflow-resource-stopped",
                "2026-01-01T00:00:00Z",
                true,
            ),
        ] {
            let object = json!({"metadata": {"annotations": {key: value}}});
            let resource = crate::cluster::Resource::new(version, kind, "");
            let workload = Workload { resource, object: Some(object), ..Workload::default() };
            assert_eq!(state(&workload).phase == Phase::Suspended, expect, "{kind} {value}");
        }
    }

    #[test]
    fn a_bind_that_failed_is_the_reason_until_the_scheduler_says_another() {
        let failed =
            "PodBound=False/BindingError@10: Failed to bind pod a/p to node n: out of reach";
        let reserved = "PodBound=False/BindingError@10: Failed to bind pod a/p to node n: the pod that reserves its GPU came to nothing: it did not say its device in time";
        let no_room = "no nodes with enough resources were found: 4 node(s) didn't have enough resources: GPUs.";
        let aside = "no nodes with enough resources were found: 1 node(s) had no GPU to share: a reservation on them came to nothing.";
        check(
            &[failed],
            None,
            "Pending (BindFailed): Failed to bind pod a/p to node n: out of reach",
        );
        check(
            &[reserved],
            Some((5, no_room)),
            "Pending (NoReservation): Failed to bind pod a/p to node n: the pod that reserves its GPU came to nothing: it did not say its device in time",
        );
        check(&[reserved], Some((15, no_room)), &format!("Pending (NoCapacity): {no_room}"));
        check(&[], Some((15, aside)), &format!("Pending (NoReservation): {aside}"));
        check(
            &["PodBound=True/Bound@10: x"],
            Some((5, no_room)),
            &format!("Pending (NoCapacity): {no_room}"),
        );
        let invalid = "PodScheduled=False/Unschedulable@1: annotation gpu-fraction: \"1.5\" must be a positive number";
        check(
            &[invalid],
            None,
            "Pending (InvalidGpu): annotation gpu-fraction: \"1.5\" must be a positive number",
        );
    }
}
