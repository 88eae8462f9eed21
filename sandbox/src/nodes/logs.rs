//! Log of a simulated container: a pure text of its run, as it is by now.

use std::sync::{Arc, Mutex};

use kai_daemon::clock;
use kube::ResourceExt;

use super::environment::Environment;
use super::kubelet::{Kubelet, Run};
use super::locked;
use super::pod::{Container, Pod, exit_code};
use crate::log::{Line, Log};

/// Prefix of each variable of its environment in a container's log.
pub const ENVIRONMENT: &str = "env ";
/// Lines of progress after which a log only says that it goes on.
const LINES_MAX: u64 = 5000;

/// The logs of all pods that run on the simulated nodes.
#[derive(Debug, Clone)]
pub struct Logs {
    kubelet: Arc<Mutex<Kubelet>>,
}

impl Logs {
    pub(super) fn new(kubelet: Arc<Mutex<Kubelet>>) -> Self {
        Self { kubelet }
    }

    /// Reads what a container sees in its environment, as the kubelet resolved it when the container started; the last
    /// of a name counts. An empty `container` means the first. `None` where it does not run on a simulated node.
    pub fn environment(&self, namespace: &str, name: &str, container: &str) -> Option<Environment> {
        let kubelet = locked(&self.kubelet);
        let mut pods = kubelet.uids().filter_map(|uid| Some((uid, kubelet.find(uid)?.0)));
        let (uid, pod) = pods.find(|(_, pod)| {
            pod.metadata.name.as_deref() == Some(name)
                && pod.metadata.namespace.as_deref() == Some(namespace)
        })?;
        let first = pod.spec.containers.first().map_or("", |first| first.name.as_str());
        let container = if container.is_empty() { first } else { container };
        kubelet.environment(uid, container).cloned()
    }

    /// The log of one container of the pod `namespace/name`; an empty `container` means the only one, `previous` the
    /// run before its last restart.
    ///
    /// # Errors
    /// Says, as the kubelet does, that the pod or container is not there or has not started.
    pub fn read(
        &self,
        namespace: &str,
        name: &str,
        container: &str,
        previous: bool,
    ) -> Result<Log, String> {
        let kubelet = locked(&self.kubelet);
        let found = kubelet.uids().filter_map(|uid| kubelet.find(uid)).find(|(pod, _)| {
            pod.metadata.name.as_deref() == Some(name)
                && pod.metadata.namespace.as_deref() == Some(namespace)
        });
        let (pod, facts) =
            found.ok_or_else(|| format!("pod {namespace}/{name} is not on a simulated node"))?;
        let containers = || pod.spec.init_containers.iter().chain(&pod.spec.containers);
        let wanted = match container {
            "" => pod.spec.containers.first(),
            container => containers().find(|one| one.name == container),
        };
        let wanted =
            wanted.ok_or_else(|| format!("container {container} is not valid for pod {name}"))?;
        let phase = pod.status.as_ref().map_or("", |status| status.phase.as_str());
        if matches!(phase, "" | "Pending") {
            return Err(format!(
                "container \"{}\" in pod \"{name}\" is waiting to start: ContainerCreating",
                wanted.name
            ));
        }
        let now = clock::now();
        let uid = pod.metadata.uid.as_deref().unwrap_or_default();
        let environment = kubelet.environment(uid, &wanted.name).cloned().unwrap_or_default();
        if !previous {
            return Ok(log(pod, wanted, &environment, &kubelet.run_so_far(pod, facts, now)));
        }
        let run = kubelet.run_before(pod, facts).ok_or_else(|| {
            format!("previous terminated container \"{}\" in pod \"{name}\" not found", wanted.name)
        })?;
        Ok(log(pod, wanted, &environment, &run))
    }
}

/// The code that the first container ended with, as the pod's status has it.
fn ended_with(pod: &Pod) -> Option<i64> {
    let statuses = &pod.status.as_ref()?.container_statuses;
    statuses.first()?.pointer("/state/terminated/exitCode")?.as_i64()
}

fn log(pod: &Pod, container: &Container, environment: &Environment, run: &Run) -> Log {
    let command: Vec<&str> =
        container.command.iter().chain(&container.args).map(String::as_str).collect();
    let seconds = run.millis / 1000;
    let command =
        if command.is_empty() { "(the image's own command)".to_owned() } else { command.join(" ") };
    let mut lines = Vec::new();
    let mut write = |millis: u64, text: String| lines.push(Line { time: run.at(millis), text });
    let node = &pod.spec.node_name;
    write(0, format!("simulated: {} on {node}, image {}", pod.name_any(), container.image));
    for (name, value) in environment {
        write(0, format!("{ENVIRONMENT}{name}={value}"));
    }
    write(0, format!("$ {command}"));
    for second in 1..=seconds.min(LINES_MAX) {
        write(second * 1000, format!("second {second}: working"));
    }
    if run.ended {
        let code = ended_with(pod).unwrap_or_else(|| exit_code(pod).into());
        let text = format!("ended with exit code {code} after {seconds} simulated seconds");
        write(run.millis, text);
    }
    Log { lines, run: run.number, ended: run.ended }
}
