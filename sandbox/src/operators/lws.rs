//! `LeaderWorkerSet`, as its controller 0.10 runs it: groups of a leader and workers, each pod with its place in it.
//!
//! Left out: the `StatefulSets` between it and its pods, the Service, roll-outs, and sub-groups. A group is made anew as a
//! whole where one of its pods has ended; where one was deleted, that one alone.

use kube::core::DynamicObject;
use serde_json::{Value, json};

use super::POD;
use super::action::{Action, View, active, fnv32a, is_true, leaving};
use super::condition::{self, Wanted};
use super::template::{self, environment, integer, label};

const GROUP: &str = "leaderworkerset.sigs.k8s.io/group-index";

/// Reconciles a `LeaderWorkerSet`.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    let spec = view.spec();
    let groups = integer(&spec["replicas"], 1);
    let size = integer(&spec["leaderWorkerTemplate"]["size"], 1);
    let together = spec["leaderWorkerTemplate"]["restartPolicy"] != "None";
    let mut actions = Vec::new();
    let mut ready = 0;
    for group in 0..groups {
        let pods = of(view, group);
        let ended: Vec<&&DynamicObject> =
            pods.iter().filter(|pod| !active(pod) && !leaving(pod)).collect();
        if !ended.is_empty() {
            let all = pods.iter().filter(|pod| !leaving(pod) && (together || !active(pod)));
            actions.extend(all.map(|pod| View::delete(POD, pod)));
            continue;
        }
        let leads =
            pods.iter().find(|pod| pod.metadata.name.as_deref() == Some(&*name(view, group, 0)));
        let may_follow = spec["startupPolicy"] != "LeaderReady"
            || leads.is_some_and(|leader| is_true(leader, "Ready"));
        let wanted = if may_follow { size } else { 1 };
        for worker in 0..wanted {
            let name = name(view, group, worker);
            if !pods.iter().any(|pod| pod.metadata.name.as_deref() == Some(&*name)) {
                actions.push(Action::Create(POD, pod(view, &name, group, worker)));
            }
        }
        let are_ready = pods.iter().filter(|pod| is_true(pod, "Ready") && active(pod)).count();
        ready += i64::from(i64::try_from(are_ready).unwrap_or(0) >= size);
    }
    let extra = view.of(POD).filter(|pod| group_of(pod).is_none_or(|group| group >= groups));
    actions.extend(extra.filter(|pod| !leaving(pod)).map(|pod| View::delete(POD, pod)));
    actions.push(Action::Status(status(view, groups, ready)));
    actions
}

fn group_of(pod: &DynamicObject) -> Option<i64> {
    pod.metadata.labels.as_ref()?.get(GROUP)?.parse().ok()
}

fn of<'a>(view: &View<'a>, group: i64) -> Vec<&'a DynamicObject> {
    view.of(POD).filter(|pod| group_of(pod) == Some(group)).collect()
}

/// The leader has the name of its group.
fn name(view: &View<'_>, group: i64, worker: i64) -> String {
    let leader = format!("{}-{group}", view.name());
    if worker == 0 { leader } else { format!("{leader}-{worker}") }
}

fn pod(view: &View<'_>, name: &str, group: i64, worker: i64) -> Value {
    let spec = &view.spec()["leaderWorkerTemplate"];
    let own = &spec["leaderTemplate"];
    let leads = worker == 0 && own.is_object();
    let mut pod = template::pod(name, if leads { own } else { &spec["workerTemplate"] });
    let leader = self::name(view, group, 0);
    let key = format!("{:08x}", fnv32a(&format!("{}/{leader}", view.namespace())));
    let revision = format!("{:08x}", fnv32a(&spec.to_string()));
    label(
        &mut pod,
        [
            ("leaderworkerset.sigs.k8s.io/name", view.name()),
            (GROUP, &group.to_string()),
            ("leaderworkerset.sigs.k8s.io/worker-index", &worker.to_string()),
            ("leaderworkerset.sigs.k8s.io/group-key", &key),
            ("leaderworkerset.sigs.k8s.io/template-revision-hash", &revision),
        ],
    );
    let size = integer(&spec["size"], 1).to_string();
    pod["metadata"]["annotations"]["leaderworkerset.sigs.k8s.io/size"] = json!(size);
    if worker > 0 {
        pod["metadata"]["annotations"]["leaderworkerset.sigs.k8s.io/leader-name"] = json!(leader);
    }
    pod["spec"]["hostname"] = json!(name);
    pod["spec"]["subdomain"] = json!(view.name());
    let address = format!("{leader}.{}.{}", view.name(), view.namespace());
    for container in pod["spec"]["containers"].as_array_mut().into_iter().flatten() {
        environment(
            container,
            &[
                ("LWS_LEADER_ADDRESS", address.clone()),
                ("LWS_GROUP_SIZE", size.clone()),
                ("LWS_WORKER_INDEX", worker.to_string()),
            ],
        );
    }
    pod
}

fn status(view: &View<'_>, groups: i64, ready: i64) -> Value {
    let is_available = ready >= groups;
    let mut conditions = condition::all(view.status());
    let (reason, message) = if is_available {
        ("AllGroupsReady", "All replicas are ready")
    } else {
        ("GroupsProgressing", "Replicas are progressing")
    };
    for (kind, status) in [("Available", is_available), ("Progressing", !is_available)] {
        let wanted = Wanted { kind, status, reason, message, update: None };
        condition::set(&mut conditions, &wanted, view.now);
    }
    json!({
        "replicas": groups, "readyReplicas": ready, "updatedReplicas": groups,
        "hpaPodSelector": format!("leaderworkerset.sigs.k8s.io/name={},leaderworkerset.sigs.k8s.io/worker-index=0", view.name()),
        "conditions": conditions,
    })
}
