//! The way into a simulated container: commands, its output as it comes, and its ports.

mod attach;
mod forward;
mod process;
mod session;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::ResourceExt as _;

use super::kubelet::Kubelet;
use super::locked;
use super::logs::Logs;
use super::pod::{Container, Pod, waits_for_input};
use super::shell::View;
use crate::streams::{Link, Place, Task, Wanted};

/// Time between two looks at whether a container that somebody is in still runs.
const LOOK: Duration = Duration::from_millis(250);

/// The way into the containers of all simulated nodes.
#[derive(Debug, Clone)]
pub struct Inside {
    kubelet: Arc<Mutex<Kubelet>>,
}

/// A container that runs.
#[derive(Debug, Clone)]
struct Running {
    kubelet: Arc<Mutex<Kubelet>>,
    uid: String,
    place: Place,
}

impl Running {
    /// Says how the container's own process ended.
    fn exits(&self, code: u8) {
        locked(&self.kubelet).exited(&self.uid, code);
    }

    /// Ends when the container no longer runs.
    async fn ended(&self) {
        while locked(&self.kubelet).runs(&self.uid) {
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Tells whether a container's own process reads what is typed to it.
fn reads(pod: &Pod, container: &Container) -> bool {
    let is_first = pod.spec.containers.first().is_some_and(|first| first.name == container.name);
    is_first && waits_for_input(&pod.spec)
}

impl Inside {
    pub(super) fn new(kubelet: Arc<Mutex<Kubelet>>) -> Self {
        Self { kubelet }
    }

    /// Answers somebody who wants in.
    ///
    /// # Errors
    /// Says, as the kubelet does, that the pod or container is not there or does not run.
    pub fn open(&self, place: &Place, wanted: Wanted) -> Result<Task, String> {
        let (running, pod, container) = self.find(place)?;
        Ok(match wanted {
            Wanted::Exec(command, streams) => {
                let view = self.view(&running, &pod, &container);
                Box::new(move |link: Link| {
                    Box::pin(process::exec(link, streams, command, view, running))
                })
            }
            Wanted::Attach(streams) if streams.stdin && reads(&pod, &container) => {
                let view = self.view(&running, &pod, &container);
                let command = container.command.iter().chain(&container.args).cloned().collect();
                Box::new(move |link: Link| {
                    Box::pin(process::type_to(link, streams, command, view, running))
                })
            }
            Wanted::Attach(streams) => {
                let logs = Logs::new(Arc::clone(&self.kubelet));
                Box::new(move |link: Link| Box::pin(attach::attach(link, streams, logs, running)))
            }
            Wanted::Forward(ports) => Box::new(move |link: Link| {
                Box::pin(forward::forward(link, pod, ports.len(), running))
            }),
        })
    }

    fn find(&self, place: &Place) -> Result<(Running, Pod, Container), String> {
        let kubelet = locked(&self.kubelet);
        let (namespace, name) = (place.namespace.as_str(), place.pod.as_str());
        let mut pods = kubelet.uids().filter_map(|uid| Some((uid, kubelet.find(uid)?.0)));
        let (uid, pod) = pods
            .find(|(_, pod)| {
                pod.metadata.name.as_deref() == Some(name)
                    && pod.metadata.namespace.as_deref() == Some(namespace)
            })
            .ok_or_else(|| format!("pod {namespace}/{name} is not on a simulated node"))?;
        let mut containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
        let wanted = place.container.as_str();
        let container = containers.find(|one| wanted.is_empty() || one.name == wanted);
        let container = container
            .filter(|_| kubelet.runs(uid))
            .ok_or_else(|| format!("container not found (\"{wanted}\")"))?;
        let place = Place { container: container.name.clone(), ..place.clone() };
        let running = Running { kubelet: Arc::clone(&self.kubelet), uid: uid.to_owned(), place };
        Ok((running, pod.clone(), container.clone()))
    }

    /// Gives what a process in the container sees.
    fn view(&self, running: &Running, pod: &Pod, container: &Container) -> View {
        let kubelet = locked(&self.kubelet);
        let (uid, name) = (running.uid.as_str(), container.name.as_str());
        let mut environment = vec![
            ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOSTNAME".to_owned(), pod.name_any()),
        ];
        environment.extend(kubelet.environment(uid, name).cloned().unwrap_or_default());
        let mounts = container.volume_mounts.iter().map(|mount| mount.mount_path.clone());
        View {
            environment,
            files: kubelet.files(uid, name).cloned().unwrap_or_default(),
            mounts: mounts.collect(),
            devices: kubelet.sees(uid, name),
            hostname: pod.name_any(),
            terminal: None,
        }
    }
}
