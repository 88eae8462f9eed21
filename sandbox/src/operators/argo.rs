//! Workflow, as Argo Workflows 3.7 runs it: steps and DAGs of pods, one after another.
//!
//! Done: container and script templates, steps, dag, parameters, `withItems`, retries, exit
//! handlers, suspend, stop, pod and workflow clean-up. Anything else in a template ends the
//! Workflow in `Error` with a message that names it, instead of being passed over.

mod node;
mod pod;

use serde_json::{Value, json};

use super::POD;
use super::action::{Action, View, active, leaving, phase};
use super::template::integer;
use crate::nodes::object::seconds;
use node::{Phase, Walk};

/// Reconciles a Workflow.
pub(super) fn reconcile(view: &View<'_>) -> Vec<Action> {
    let spec = view.spec();
    if matches!(view.status()["phase"].as_str(), Some("Succeeded" | "Failed" | "Error")) {
        return after_end(view);
    }
    let mut walk = Walk::new(view);
    let entry = spec["entrypoint"].as_str().unwrap_or_default();
    let arguments = node::parameters(&spec["arguments"]);
    let mut result = walk.template(entry, &arguments, view.name());
    let mut message = walk.message.clone();
    let stop = spec["shutdown"].as_str();
    if let Some(strategy) = stop
        && !result.ended()
    {
        result = Phase::Failed;
        message = Some(format!("Stopped with strategy '{strategy}'"));
    }
    // The exit handler runs when the rest has ended, and the Workflow ends with it.
    let mut ended = result.ended();
    if let (true, Some(handler), None | Some("Stop")) = (ended, spec["onExit"].as_str(), stop) {
        ended = walk.template(handler, &arguments, &format!("{}.onExit", view.name())).ended();
    }
    let mut actions = std::mem::take(&mut walk.actions);
    if spec["suspend"] == true {
        actions.retain(|action| !matches!(action, Action::Create(..)));
    }
    if ended {
        actions.retain(|action| !matches!(action, Action::Create(..)));
        actions.extend(view.of(POD).filter(|pod| active(pod)).map(|pod| View::delete(POD, pod)));
    }
    let shown = if ended { result } else { Phase::Running };
    actions.push(Action::Status(status(view, &walk, shown, message)));
    actions.extend(labels(view, shown));
    actions.extend(clean(view));
    actions
}

fn status(view: &View<'_>, walk: &Walk<'_>, phase: Phase, message: Option<String>) -> Value {
    let mut status = if view.status().is_object() { view.status().clone() } else { json!({}) };
    let pods = walk.nodes.values().filter(|node| node["type"] == "Pod");
    let (all, done) = pods.fold((0, 0), |(all, done), node| {
        (all + 1, done + i32::from(node["phase"] == "Succeeded"))
    });
    status["phase"] = json!(phase.name());
    status["progress"] = json!(format!("{done}/{all}"));
    status["nodes"] = Value::Object(walk.nodes.clone());
    if status["startedAt"].is_null() {
        status["startedAt"] = json!(seconds(view.now));
    }
    if let Some(message) = message {
        status["message"] = json!(message);
    }
    let running = view.of(POD).any(|pod| super::action::phase(pod) == "Running");
    let mut conditions =
        vec![json!({"type": "PodRunning", "status": if running { "True" } else { "False" }})];
    if phase.ended() {
        conditions.push(json!({"type": "Completed", "status": "True"}));
        status["finishedAt"] = json!(seconds(view.now));
    }
    status["conditions"] = json!(conditions);
    status
}

/// The labels that Argo's own clients select by.
fn labels(view: &View<'_>, phase: Phase) -> Option<Action> {
    let wanted = [
        ("workflows.argoproj.io/phase", phase.name()),
        ("workflows.argoproj.io/completed", if phase.ended() { "true" } else { "false" }),
    ];
    let has = view.object.metadata.labels.as_ref();
    let same = wanted
        .iter()
        .all(|(key, value)| has.and_then(|all| all.get(*key)).is_some_and(|own| own == value));
    let labels = wanted.map(|(key, value)| (key.to_owned(), json!(value)));
    (!same).then(|| {
        Action::PatchSelf(json!({"metadata": {"labels": serde_json::Map::from_iter(labels)}}))
    })
}

/// Pods that ended are labelled as such, and deleted where `podGC` asks for that.
fn clean(view: &View<'_>) -> Vec<Action> {
    let strategy = view.spec()["podGC"]["strategy"].as_str().unwrap_or("");
    let ended =
        view.of(POD).filter(|pod| !leaving(pod) && matches!(phase(pod), "Succeeded" | "Failed"));
    let recorded = |name: &str| {
        let id = view.status()["nodes"].as_object().into_iter().flatten();
        id.map(|(_, node)| node).any(|node| {
            node["podName"] == name
                && matches!(node["phase"].as_str(), Some("Succeeded" | "Failed" | "Error"))
        })
    };
    ended
        .filter_map(|pod| {
            let name = pod.metadata.name.clone().unwrap_or_default();
            // Only what the status already tells may go.
            let goes = match strategy {
                "OnPodCompletion" => true,
                "OnPodSuccess" => phase(pod) == "Succeeded",
                _ => false,
            };
            if goes && recorded(&name) {
                return Some(View::delete(POD, pod));
            }
            let label = "workflows.argoproj.io/completed";
            let done = pod
                .metadata
                .labels
                .as_ref()
                .and_then(|all| all.get(label))
                .is_some_and(|value| value == "true");
            (!done)
                .then(|| Action::Patch(POD, name, json!({"metadata": {"labels": {label: "true"}}})))
        })
        .collect()
}

/// After the end: pods go as `podGC` says, the Workflow after its time to live.
fn after_end(view: &View<'_>) -> Vec<Action> {
    let spec = view.spec();
    let good = view.status()["phase"] == "Succeeded";
    let all = match spec["podGC"]["strategy"].as_str() {
        Some("OnWorkflowCompletion") => true,
        Some("OnWorkflowSuccess") => good,
        _ => false,
    };
    let mut actions = if all {
        view.of(POD).filter(|pod| !leaving(pod)).map(|pod| View::delete(POD, pod)).collect()
    } else {
        clean(view)
    };
    let ttl = &spec["ttlStrategy"];
    let own = if good { &ttl["secondsAfterSuccess"] } else { &ttl["secondsAfterFailure"] };
    let ttl = if own.is_null() { &ttl["secondsAfterCompletion"] } else { own };
    if !ttl.is_null() {
        let end = view.status()["finishedAt"]
            .as_str()
            .and_then(|text| text.parse().ok())
            .unwrap_or(view.now);
        let at = view.after(end, integer(ttl, 0));
        actions.push(if at <= view.now { Action::DeleteSelf } else { Action::Again(at) });
    }
    actions
}
