//! Describes what is said of a pod when its bind ended.

use std::sync::Arc;

use kai_api::names::{component, condition, event};

use crate::{
    actuate::{Event, PodCondition, Task},
    dispatch::{Dispatch, pod_target},
    names::Names,
};

/// Works out what is said of a pod that was bound. Source: docs/contract.md 4.3, 8.4.
pub(super) fn bound(pod: u32, node: &str, names: &Names, dispatch: &Dispatch) -> Vec<Task> {
    let target = pod_target(pod, names);
    let (namespace, name) = (&target.namespace, &target.name);
    let pool = &dispatch.pool;
    let assigned =
        format!("Successfully assigned pod {namespace}/{name} to node {node} at node-pool {pool}");
    let message = format!("Pod bound successfully to node {node}");
    let group = names.pods[pod].group.map_or("no group", |group| names.group_name(group).1);
    tracing::info!("bound {namespace}/{name} to {node} for {group}");
    vec![
        Task::Event(dispatch.event(target.clone(), event::SCHEDULED, assigned)),
        Task::Pod(condition_of(pod, true, message.clone(), names)),
        Task::Event(by_binder(dispatch.event(target, event::BOUND, message))),
    ]
}

/// Works out what is said of a pod that was not.
pub(super) fn not_bound(
    pod: u32,
    node: &str,
    reason: &str,
    names: &Names,
    dispatch: &Dispatch,
) -> Vec<Task> {
    let target = pod_target(pod, names);
    let message =
        format!("Failed to bind pod {}/{} to node {node}: {reason}", target.namespace, target.name);
    tracing::warn!("{message}");
    let mut failed = dispatch.event(target.clone(), event::FAILED_BINDING, message.clone());
    failed.is_warning = true;
    let mut error = by_binder(dispatch.event(target, event::BINDING_ERROR, message.clone()));
    error.is_warning = true;
    vec![
        Task::Event(failed),
        Task::Pod(condition_of(pod, false, message, names)),
        Task::Event(error),
    ]
}

/// Readers look for these two events from KAI's binder, which is a process of its own there.
fn by_binder(event: Event) -> Event {
    Event { component: Arc::from(component::BINDER), ..event }
}

fn condition_of(pod: u32, is_true: bool, message: String, names: &Names) -> PodCondition {
    let row = &names.pods[pod];
    PodCondition {
        pod,
        uid: Box::from(&**names.pods.key(pod)),
        namespace: Box::from(&*row.namespace),
        name: row.name.clone(),
        kind: condition::POD_BOUND,
        is_true,
        reason: if is_true { event::BOUND } else { event::BINDING_ERROR },
        message: Arc::from(message),
    }
}
