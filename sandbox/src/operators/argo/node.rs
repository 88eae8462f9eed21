//! The walk through a Workflow's templates: which nodes there are, and how far each is.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::POD;
use super::super::action::{Action, View, fnv32a, phase};
use super::super::template::integer;
use super::pod::pod;
use crate::nodes::object::seconds;

/// Templates may call each other; a loop ends here.
const DEPTH_MAX: usize = 32;
/// Nodes of one Workflow: a loop that calls itself twice would have more than there is room for before it is deep.
const NODES_MAX: usize = 10_000;

/// Progress of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Pending,
    Running,
    Succeeded,
    Failed,
    Error,
}

impl Phase {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Error => "Error",
        }
    }

    pub(super) fn ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Error)
    }

    fn parse(text: &str) -> Self {
        match text {
            "Running" => Self::Running,
            "Succeeded" => Self::Succeeded,
            "Failed" => Self::Failed,
            "Error" => Self::Error,
            _ => Self::Pending,
        }
    }

    /// Tells what parts of a group together are.
    fn of(parts: &[Self]) -> Self {
        let any = |phase| parts.contains(&phase);
        if parts.iter().any(|part| !part.ended()) {
            Self::Running
        } else if any(Self::Error) {
            Self::Error
        } else if any(Self::Failed) {
            Self::Failed
        } else {
            Self::Succeeded
        }
    }
}

/// Parameter values by name.
pub(super) type Parameters = BTreeMap<String, String>;

/// One walk over the whole Workflow.
pub(super) struct Walk<'a> {
    view: &'a View<'a>,
    pub(super) nodes: Map<String, Value>,
    pub(super) actions: Vec<Action>,
    /// The first thing that went wrong.
    pub(super) message: Option<String>,
    depth: usize,
}

/// The parameters of an `arguments` or `inputs` object that have a value.
pub(super) fn parameters(arguments: &Value) -> Parameters {
    let list = arguments["parameters"].as_array().into_iter().flatten();
    list.filter_map(|one| {
        let value = if one["value"].is_null() { &one["default"] } else { &one["value"] };
        Some((one["name"].as_str()?.to_owned(), text(value)?))
    })
    .collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(value.to_string())
        }
    }
}

/// Replaces `{{name}}` in every text of `value`.
fn substitute(value: &Value, replace: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::String(text) => Value::String(replaced(text, replace)),
        Value::Array(list) => list.iter().map(|one| substitute(one, replace)).collect(),
        Value::Object(map) => Value::Object(
            map.iter().map(|(key, one)| (key.clone(), substitute(one, replace))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn replaced(text: &str, replace: &dyn Fn(&str) -> Option<String>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else { break };
        result.push_str(before);
        match replace(name.trim()) {
            Some(value) => result.push_str(&value),
            None => result.extend(["{{", name, "}}"]),
        }
        rest = behind;
    }
    result.push_str(rest);
    result
}

impl<'a> Walk<'a> {
    pub(super) fn new(view: &'a View<'a>) -> Self {
        Self { view, nodes: Map::new(), actions: Vec::new(), message: None, depth: 0 }
    }

    /// Walks one template under the node name `name`.
    pub(super) fn template(&mut self, template: &str, arguments: &Parameters, name: &str) -> Phase {
        let list = self.view.object.data["spec"]["templates"].as_array().into_iter().flatten();
        let Some(found) = list.into_iter().find(|one| one["name"] == template) else {
            return self.refuse(name, format!("template {template:?} is not in the Workflow"));
        };
        if self.depth >= DEPTH_MAX {
            return self.refuse(name, format!("templates nest deeper than {DEPTH_MAX}"));
        }
        if self.nodes.len() >= NODES_MAX {
            return self.refuse(name, format!("it has more than {NODES_MAX} nodes"));
        }
        let mut inputs = parameters(&found["inputs"]);
        inputs.extend(
            arguments
                .iter()
                .filter(|(key, _)| inputs.contains_key(*key) || declares(found, key))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect::<Vec<_>>(),
        );
        let global = parameters(&self.view.object.data["spec"]["arguments"]);
        let workflow = self.view.name().to_owned();
        let namespace = self.view.namespace().to_owned();
        let found = substitute(found, &|variable| match variable.split_once('.') {
            Some(("inputs", rest)) => inputs.get(rest.strip_prefix("parameters.")?).cloned(),
            Some(("workflow", "name")) => Some(workflow.clone()),
            Some(("workflow", "namespace")) => Some(namespace.clone()),
            Some(("workflow", rest)) => global.get(rest.strip_prefix("parameters.")?).cloned(),
            _ => None,
        });
        self.depth += 1;
        let phase = if found["steps"].is_array() {
            self.steps(&found, name)
        } else if found["dag"].is_object() {
            self.dag(&found, name)
        } else if found["container"].is_object() || found["script"].is_object() {
            self.attempts(&found, name)
        } else {
            let what = ["resource", "suspend", "http", "plugin", "containerSet", "data"];
            let what = what.into_iter().find(|what| !found[*what].is_null()).unwrap_or("this");
            self.refuse(
                name,
                format!("template {template:?}: the sandbox does not run {what} templates"),
            )
        };
        self.depth -= 1;
        phase
    }

    fn refuse(&mut self, name: &str, message: String) -> Phase {
        self.record(name, "Skipped", Phase::Error, &json!({"message": message.clone()}));
        self.message.get_or_insert(message);
        Phase::Error
    }

    fn steps(&mut self, template: &Value, name: &str) -> Phase {
        let mut result = Phase::Succeeded;
        let groups: Vec<Value> = template["steps"].as_array().cloned().unwrap_or_default();
        for (index, group) in groups.iter().enumerate() {
            let group_name = format!("{name}[{index}]");
            let mut parts = Vec::new();
            for step in group.as_array().into_iter().flatten() {
                parts.extend(self.call(step, &|own| format!("{group_name}.{own}")));
            }
            result = Phase::of(&parts);
            self.record(&group_name, "StepGroup", result, &json!({"boundaryID": self.id(name)}));
            if result != Phase::Succeeded {
                break;
            }
        }
        self.record(name, "Steps", result, &json!({"templateName": template["name"]}));
        result
    }

    fn dag(&mut self, template: &Value, name: &str) -> Phase {
        let tasks: Vec<Value> = template["dag"]["tasks"].as_array().cloned().unwrap_or_default();
        let mut done: BTreeMap<String, Phase> = BTreeMap::new();
        // Each round walks the tasks whose dependencies have ended; what is left waits or never runs.
        loop {
            let before = done.len();
            for task in &tasks {
                let own = task["name"].as_str().unwrap_or_default();
                let needs = dependencies(task);
                if done.contains_key(own)
                    || !needs
                        .iter()
                        .all(|need| done.get(need).is_some_and(|phase| *phase == Phase::Succeeded))
                {
                    continue;
                }
                let parts = self.call(task, &|own| format!("{name}.{own}"));
                done.insert(own.to_owned(), Phase::of(&parts));
            }
            if done.len() == before {
                break;
            }
        }
        let parts: Vec<Phase> = done.values().copied().collect();
        let result = match Phase::of(&parts) {
            // Tasks behind a failed one are not run; behind none that failed, the graph has a loop.
            Phase::Succeeded if done.len() < tasks.len() => {
                return self.refuse(
                    name,
                    "the dag has a loop or depends on a task that is not there".to_owned(),
                );
            }
            other @ (Phase::Pending
            | Phase::Running
            | Phase::Succeeded
            | Phase::Failed
            | Phase::Error) => other,
        };
        self.record(name, "DAG", result, &json!({"templateName": template["name"]}));
        result
    }

    /// Runs a step or task, once for each of its items.
    fn call(&mut self, step: &Value, node: &dyn Fn(&str) -> String) -> Vec<Phase> {
        let own = step["name"].as_str().unwrap_or_default();
        for field in ["when", "withParam", "withSequence", "templateRef", "inline", "hooks"] {
            if !step[field].is_null() {
                return vec![self.refuse(
                    &node(own),
                    format!("step {own:?}: the sandbox does not run {field}"),
                )];
            }
        }
        if let Some(depends) = step["depends"].as_str()
            && !depends
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || " -_&".contains(letter))
        {
            return vec![self.refuse(
                &node(own),
                format!("task {own:?}: the sandbox runs only && in depends, not {depends:?}"),
            )];
        }
        let Some(items) = step["withItems"].as_array() else {
            let template = step["template"].as_str().unwrap_or_default().to_owned();
            return vec![self.template(&template, &parameters(&step["arguments"]), &node(own))];
        };
        let mut parts = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let step = substitute(step, &|variable| match variable.strip_prefix("item") {
                Some("") => text(item),
                Some(field) => text(&item[field.strip_prefix('.')?]),
                None => None,
            });
            let label = text(item).unwrap_or_default();
            let template = step["template"].as_str().unwrap_or_default().to_owned();
            parts.push(self.template(
                &template,
                &parameters(&step["arguments"]),
                &node(&format!("{own}({index}:{label})")),
            ));
        }
        parts
    }

    /// A pod template: one pod, or one per attempt where it is to be retried.
    fn attempts(&mut self, template: &Value, name: &str) -> Phase {
        if template["retryStrategy"].is_null() {
            return self.pod(template, name);
        }
        let limit = &template["retryStrategy"]["limit"];
        let limit =
            limit.as_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| integer(limit, 0));
        let mut result = Phase::Pending;
        for attempt in 0..=limit {
            result = self.pod(template, &format!("{name}({attempt})"));
            if !matches!(result, Phase::Failed | Phase::Error) {
                break;
            }
        }
        self.record(name, "Retry", result, &json!({"templateName": template["name"]}));
        result
    }

    fn pod(&mut self, template: &Value, name: &str) -> Phase {
        let id = self.id(name);
        let pod_name = self.pod_name(template, name);
        let known = Phase::parse(self.view.status()["nodes"][&id]["phase"].as_str().unwrap_or(""));
        let found = self.view.child(POD, &pod_name);
        let mut more = json!({"templateName": template["name"], "podName": pod_name});
        let now = match found {
            _ if known.ended() => known,
            // As Argo has it: a pod that ran and is gone is an error of its step.
            None if known == Phase::Running => {
                more["message"] = json!("pod deleted");
                Phase::Error
            }
            None => {
                self.actions
                    .push(Action::Create(POD, pod(self.view, template, &pod_name, &id, name)));
                Phase::Pending
            }
            Some(pod) => Phase::parse(phase(pod)),
        };
        if now == Phase::Failed {
            self.message.get_or_insert_with(|| format!("child '{id}' failed"));
        }
        if let Some(node) = found.and_then(|pod| pod.data["spec"]["nodeName"].as_str()) {
            more["hostNodeName"] = json!(node);
        }
        self.record(name, "Pod", now, &more);
        now
    }

    /// A node's identity: the Workflow's name, and for all but the first a hash of the node's name.
    fn id(&self, name: &str) -> String {
        if name == self.view.name() {
            name.to_owned()
        } else {
            format!("{}-{}", self.view.name(), fnv32a(name))
        }
    }

    fn pod_name(&self, template: &Value, name: &str) -> String {
        if name == self.view.name() {
            return name.to_owned();
        }
        format!(
            "{}-{}-{}",
            self.view.name(),
            template["name"].as_str().unwrap_or_default(),
            fnv32a(name)
        )
    }

    fn record(&mut self, name: &str, kind: &str, phase: Phase, more: &Value) {
        let id = self.id(name);
        let old = &self.view.status()["nodes"][&id];
        let at = |field: &str| {
            if old[field].is_null() { json!(seconds(self.view.now)) } else { old[field].clone() }
        };
        let mut node = json!({
            "id": id, "name": name, "displayName": name.rsplit('.').next().unwrap_or(name),
            "type": kind, "phase": phase.name(), "startedAt": at("startedAt"),
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            node[key] = value.clone();
        }
        if phase.ended() {
            node["finishedAt"] = at("finishedAt");
        }
        self.nodes.insert(id, node);
    }
}

fn declares(template: &Value, parameter: &str) -> bool {
    template["inputs"]["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|one| one["name"] == parameter)
}

/// The tasks that must have succeeded first.
fn dependencies(task: &Value) -> Vec<String> {
    if let Some(depends) = task["depends"].as_str() {
        return depends
            .split("&&")
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
    }
    task["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(ToOwned::to_owned))
        .collect()
}
