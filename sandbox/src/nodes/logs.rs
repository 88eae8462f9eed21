//! What a simulated container writes to its log: a pure text of its run, as it is by now.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use kube::ResourceExt;

use super::kubelet::Kubelet;
use super::locked;
use super::pod::{Container, Pod, exit_code};

/// Lines of progress after which a log only says that it goes on.
const LINES_MAX: u64 = 5000;

/// The logs of all pods that run on the simulated nodes.
#[derive(Debug, Clone)]
pub struct Logs {
    kubelet: Arc<Mutex<Kubelet>>,
}

/// A log as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// All lines so far.
    pub text: String,
    /// Whether the container has ended, so that no line will follow.
    pub ended: bool,
}

impl Logs {
    pub(super) fn new(kubelet: Arc<Mutex<Kubelet>>) -> Self {
        Self { kubelet }
    }

    /// The log of one container of the pod `namespace/name`; an empty `container` means the only one.
    ///
    /// # Errors
    /// Says, as the kubelet does, that the pod or container is not there or has not started.
    pub fn read(&self, namespace: &str, name: &str, container: &str) -> Result<Text, String> {
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
        let progress = kubelet.progress(pod, facts, Timestamp::now());
        Ok(text(pod, wanted, progress))
    }
}

fn text(pod: &Pod, container: &Container, (run, passed): (Option<u64>, u64)) -> Text {
    let command: Vec<&str> =
        container.command.iter().chain(&container.args).map(String::as_str).collect();
    let phase = pod.status.as_ref().map_or("", |status| status.phase.as_str());
    let ended = matches!(phase, "Succeeded" | "Failed");
    let seconds = run.map_or(passed, |run| if ended { run } else { passed.min(run) }) / 1000;
    let command =
        if command.is_empty() { "(the image's own command)".to_owned() } else { command.join(" ") };
    let mut text = format!(
        "simulated: {} on {}, image {}\n$ {command}\n",
        pod.name_any(),
        pod.spec.node_name,
        container.image
    );
    for second in 1..=seconds.min(LINES_MAX) {
        writeln!(text, "second {second}: working").expect("a String takes all writes");
    }
    if ended {
        writeln!(text, "ended with exit code {} after {seconds} simulated seconds", exit_code(pod))
            .expect("a String takes all writes");
    }
    Text { text, ended }
}
