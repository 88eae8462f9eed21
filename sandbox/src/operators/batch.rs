//! Job, as kube-controller-manager's job controller runs it.
//!
//! Left out: success policies, of failure policies all but `Ignore` by a condition, the delay before a pod that was deleted or
//! that has an index with a limit of its own is made again, and tracking by finalizers (counts come from the pods that are
//! there, and never fall).

mod index;

use jiff::Timestamp;
use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::POD;
use super::action::{Action, View, active, is_true, leaving, phase, suffix};
use super::condition::{self, Wanted};
use super::template::{self, environment, integer, label};
use crate::nodes::object::seconds;
use index::Indexes;

/// Number of pods that may fail when the Job does not say.
const BACKOFF_LIMIT: i64 = 6;
/// Time from the end of the first pod that failed to the next one, twice as long for each more, and the longest.
const RETRY_SECONDS: i64 = 10;
const RETRY_SECONDS_MAX: i64 = 600;

/// Reconciles a Job.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    let spec = view.spec();
    if is_true(view.object, "Complete") || is_true(view.object, "Failed") {
        return after_end(view);
    }
    let pods: Vec<&DynamicObject> = view.of(POD).collect();
    let count = |of: &dyn Fn(&DynamicObject) -> bool| pods.iter().filter(|pod| of(pod)).count();
    let most = |field: &str, seen: usize| to_i64(seen).max(integer(&view.status()[field], 0));
    let succeeded = most("succeeded", count(&|pod| phase(pod) == "Succeeded"));
    let failed = most("failed", count(&|pod| has_failed(pod, spec)));
    let parallelism = integer(&spec["parallelism"], 1);
    // Without completions any success ends the Job once no pod is left.
    let completions = spec["completions"].as_i64();
    let running = to_i64(count(&|pod| active(pod)));
    let suspended = spec["suspend"] == true;
    let indexes = Indexes::read(spec, &pods);
    // With a limit per index there is none for all unless it is given.
    let limit = if indexes.has_limit() { i64::MAX } else { BACKOFF_LIMIT };
    let limit = integer(&spec["backoffLimit"], limit);
    let end = if failed > limit {
        Some(("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"))
    } else if let Some(end) = indexes.end() {
        Some(end)
    } else if completions.map_or(succeeded > 0 && running == 0, |wanted| succeeded >= wanted) {
        Some(("Complete", "CompletionsReached", "Reached expected number of succeeded pods"))
    } else if deadline(view).is_some_and(|at| at <= view.now) {
        Some(("Failed", "DeadlineExceeded", "Job was active longer than specified deadline"))
    } else {
        None
    };

    let mut actions = Vec::new();
    if suspended || end.is_some() {
        actions.extend(pods.iter().filter(|pod| active(pod)).map(|pod| View::delete(POD, pod)));
    } else {
        let open = completions
            .map_or(if succeeded > 0 { running } else { parallelism }, |wanted| {
                wanted - succeeded - to_i64(indexes.failed.len())
            });
        let missing = usize::try_from(parallelism.min(open) - running).unwrap_or(0);
        match retry(view, &pods, &indexes).filter(|at| missing > 0 && *at > view.now) {
            Some(at) => actions.push(Action::Again(at)),
            None => actions.extend(create(view, &pods, &indexes, missing)),
        }
        actions.extend(deadline(view).map(Action::Again));
    }
    let ready = to_i64(count(&|pod| active(pod) && is_true(pod, "Ready")));
    let counts = json!({
        "active": running, "ready": ready, "succeeded": succeeded, "failed": failed,
        "terminating": to_i64(count(&|pod| leaving(pod))),
    });
    let mut status = status(view, &counts, suspended, end);
    indexes.tell(&mut status);
    actions.push(Action::Status(status));
    actions
}

/// The moment from which pods are made again after those that failed since the last that succeeded.
///
/// # Source
/// `backoff_utils.go` of the job controller.
fn retry(view: &View<'_>, pods: &[&DynamicObject], indexes: &Indexes) -> Option<Timestamp> {
    if indexes.has_limit() {
        return None;
    }
    let ended = |wanted: &str| {
        let pods = pods.iter().filter(move |pod| phase(pod) == wanted && !leaving(pod));
        pods.filter_map(|pod| end_of(pod)).collect::<Vec<_>>()
    };
    let success = ended("Succeeded").into_iter().max().unwrap_or(Timestamp::MIN);
    let failures: Vec<Timestamp> = ended("Failed").into_iter().filter(|at| *at > success).collect();
    let last = failures.iter().max()?;
    let doublings = u32::try_from(failures.len() - 1).unwrap_or(u32::MAX);
    let factor = 2_i64.checked_pow(doublings).unwrap_or(RETRY_SECONDS_MAX);
    Some(view.after(*last, RETRY_SECONDS.saturating_mul(factor).min(RETRY_SECONDS_MAX)))
}

/// The end of a pod: that of its last container, or when it was made where none of them began.
fn end_of(pod: &DynamicObject) -> Option<Timestamp> {
    let containers = pod.data["status"]["containerStatuses"].as_array().into_iter().flatten();
    let ends = containers.filter_map(|one| one["state"]["terminated"]["finishedAt"].as_str());
    let last = ends.filter_map(|text| text.parse().ok()).max();
    last.or_else(|| pod.metadata.creation_timestamp.as_ref().map(|time| time.0))
}

/// Tells whether a pod counts as failed: one that is deleted before it succeeded does too, unless the Job ignores why.
///
/// # Source
/// `podFailurePolicy` of batch/v1; `isPodFailed` of the job controller.
fn has_failed(pod: &DynamicObject, spec: &Value) -> bool {
    // What a suspended Job takes away itself does not count.
    if leaving(pod) && spec["suspend"] == true {
        return false;
    }
    // With a policy a pod is looked at once it has ended.
    let is_lost =
        leaving(pod) && phase(pod) != "Succeeded" && !spec["podFailurePolicy"].is_object();
    (phase(pod) == "Failed" || is_lost) && !is_ignored(pod, spec)
}

/// Tells whether the first rule that a pod fits ignores it.
fn is_ignored(pod: &DynamicObject, spec: &Value) -> bool {
    let rules = spec["podFailurePolicy"]["rules"].as_array().into_iter().flatten();
    let mut fitting = rules.filter(|rule| {
        let wanted = rule["onPodConditions"].as_array().into_iter().flatten();
        wanted.into_iter().any(|one| one["type"].as_str().is_some_and(|kind| is_true(pod, kind)))
    });
    fitting.next().is_some_and(|rule| rule["action"] == "Ignore")
}

type End = (&'static str, &'static str, &'static str);

fn status(view: &View<'_>, counts: &Value, suspended: bool, end: Option<End>) -> Value {
    let mut status = view.status().clone();
    if !status.is_object() {
        status = json!({});
    }
    for (field, value) in counts.as_object().expect("made by the caller") {
        if value == 0 && !matches!(field.as_str(), "ready" | "terminating") {
            status.as_object_mut().expect("made an object above").remove(field);
        } else {
            status[field] = value.clone();
        }
    }
    let mut conditions = condition::all(&status);
    let mut set = |kind, status, reason, message| {
        let wanted = Wanted { kind, status, reason, message, update: Some("lastProbeTime") };
        condition::set(&mut conditions, &wanted, view.now);
    };
    if suspended {
        set("Suspended", true, "JobSuspended", "Job suspended");
        status.as_object_mut().expect("made an object above").remove("startTime");
    } else {
        if is_true(view.object, "Suspended") {
            set("Suspended", false, "JobResumed", "Job resumed");
        }
        if status["startTime"].is_null() {
            status["startTime"] = json!(seconds(view.now));
        }
    }
    if let Some((kind, reason, message)) = end {
        let criteria = if kind == "Complete" { "SuccessCriteriaMet" } else { "FailureTarget" };
        set(criteria, true, reason, message);
        set(kind, true, reason, message);
        status["ready"] = json!(0);
        status.as_object_mut().expect("made an object above").remove("active");
        if kind == "Complete" {
            status["completionTime"] = json!(seconds(view.now));
        }
    }
    if !conditions.is_empty() {
        status["conditions"] = json!(conditions);
    }
    status
}

/// As many pods as are missing: for indexes without a pod, else with a serial number.
fn create(
    view: &View<'_>,
    pods: &[&DynamicObject],
    indexes: &Indexes,
    missing: usize,
) -> Vec<Action> {
    let taken = |name: &str| pods.iter().any(|pod| pod.metadata.name.as_deref() == Some(name));
    if view.spec()["completionMode"] != "Indexed" {
        let names = (0_u32..).map(|serial| {
            format!("{}-{}", view.name(), suffix(&format!("{}/{serial}", view.uid())))
        });
        let names = names.filter(|name| !taken(name)).take(missing);
        return names.map(|name| Action::Create(POD, pod(view, &name, None))).collect();
    }
    let has = |index: i64| {
        let is_there = |pod: &DynamicObject| active(pod) || phase(pod) == "Succeeded";
        indexes.failed.contains(&index)
            || pods.iter().any(|pod| index::of(pod) == Some(index) && is_there(pod))
    };
    let all = 0..integer(&view.spec()["completions"], 1);
    let open: Vec<i64> = all.filter(|index| !has(*index)).take(missing).collect();
    open.into_iter()
        .map(|index| {
            let names =
                (0_u32..).map(|attempt| suffix(&format!("{}/{index}/{attempt}", view.uid())));
            let mut names = names.map(|suffix| format!("{}-{index}-{suffix}", view.name()));
            let name = names.find(|name| !taken(name)).expect("there are more names than pods");
            Action::Create(POD, pod(view, &name, Some(index)))
        })
        .collect()
}

/// The label, and the annotation, of a pod's index.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

fn pod(view: &View<'_>, name: &str, index: Option<i64>) -> Value {
    let mut pod = template::pod(name, &view.spec()["template"]);
    label(
        &mut pod,
        [
            ("batch.kubernetes.io/controller-uid", view.uid()),
            ("batch.kubernetes.io/job-name", view.name()),
            ("controller-uid", view.uid()),
            ("job-name", view.name()),
        ],
    );
    if let Some(index) = index {
        let text = index.to_string();
        label(&mut pod, [(INDEX, &text)]);
        pod["metadata"]["annotations"][INDEX] = json!(text);
        pod["spec"]["hostname"] = json!(format!("{}-{index}", view.name()));
        for container in pod["spec"]["containers"].as_array_mut().into_iter().flatten() {
            environment(container, &[("JOB_COMPLETION_INDEX", text.clone())]);
        }
    }
    pod
}

/// The moment at which the Job has been active for too long.
fn deadline(view: &View<'_>) -> Option<Timestamp> {
    let allowed = view.spec()["activeDeadlineSeconds"].as_i64()?;
    let start: Timestamp = view.status()["startTime"].as_str()?.parse().ok()?;
    Some(view.after(start, allowed))
}

/// Deletes a finished Job when its time to live is over.
fn after_end(view: &View<'_>) -> Vec<Action> {
    let Some(ttl) = view.spec()["ttlSecondsAfterFinished"].as_i64() else { return Vec::new() };
    let end =
        ["Complete", "Failed"].into_iter().find_map(|kind| condition::find(view.status(), kind));
    let end =
        end.and_then(|end| end["lastTransitionTime"].as_str()?.parse().ok()).unwrap_or(view.now);
    let at = view.after(end, ttl);
    vec![if at <= view.now { Action::DeleteSelf } else { Action::Again(at) }]
}

fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tells whether a pod counts as failed: `phase`, and `leaving` or `disrupted` behind it.
    fn check(pod: &str, spec: &Value, expect: bool) {
        let mut words = pod.split(' ');
        let mut object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
            "status": {"phase": words.next(), "conditions": []}});
        for word in words {
            match word {
                "leaving" => {
                    object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                }
                "disrupted" => {
                    object["status"]["conditions"] =
                        json!([{"type": "DisruptionTarget", "status": "True"}]);
                }
                other => panic!("{other} says nothing of a pod"),
            }
        }
        let object: DynamicObject = serde_json::from_value(object).expect("written above");
        assert_eq!(has_failed(&object, spec), expect, "{pod}, {spec}");
    }

    #[test]
    fn evicted_pods_count_as_failed_unless_the_job_ignores_disruptions() {
        let ignoring = json!({"podFailurePolicy": {"rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}});
        let plain = json!({});
        check("Failed", &plain, true);
        check("Running leaving", &plain, true);
        check("Failed leaving disrupted", &plain, true);
        check("Succeeded leaving", &plain, false);
        check("Failed leaving", &json!({"suspend": true}), false);
        check("Failed", &ignoring, true);
        check("Failed leaving", &ignoring, true);
        check("Failed leaving disrupted", &ignoring, false);
        check("Running leaving disrupted", &ignoring, false);
    }

    /// Checks the second from which a pod is made again after pods that ended in these.
    fn check_retry(pods: &[(&str, i64)], expect: Option<i64>) {
        let at = |second: i64| Timestamp::from_second(second).expect("a few seconds of 1970");
        let object =
            |value: Value| serde_json::from_value::<DynamicObject>(value).expect("an object");
        let job =
            object(json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
            "spec": {}}));
        let ended: Vec<DynamicObject> = pods
            .iter()
            .map(|(phase, second)| {
                let state = json!({"terminated": {"finishedAt": seconds(at(*second))}});
                object(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                    "status": {"phase": phase, "containerStatuses": [{"state": state}]}}))
            })
            .collect();
        let children: Vec<&DynamicObject> = ended.iter().collect();
        let view = View {
            object: &job,
            children: children.clone(),
            others: Vec::new(),
            now: at(0),
            pace: 1,
        };
        let indexes = Indexes::read(view.spec(), &children);
        assert_eq!(retry(&view, &children, &indexes), expect.map(at), "{pods:?}");
    }

    #[test]
    fn pods_that_fail_one_after_another_are_made_again_ever_later() {
        check_retry(&[], None);
        check_retry(&[("Succeeded", 5)], None);
        check_retry(&[("Failed", 5)], Some(15));
        check_retry(&[("Failed", 15), ("Failed", 5), ("Running", 3)], Some(35));
        check_retry(&[("Failed", 5), ("Succeeded", 10), ("Failed", 15)], Some(25));
        check_retry(&[("Failed", 5), ("Succeeded", 10)], None);
        let many: Vec<(&str, i64)> = (0..80).map(|second| ("Failed", second)).collect();
        check_retry(&many, Some(79 + 600));
    }
}
