//! An independent witness: one watch of pods and one of `PodGroup`s, beside everything else.
//!
//! What the demo claims is taken from here, and from what containers see on their nodes, not from the scheduler.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kai_api::pod_group::PodGroup;
use kai_sandbox::nodes::{Logs, VISIBLE_DEVICES};
use kube::api::Api;
use kube::runtime::watcher::{self, Event};
use kube::{Client, ResourceExt as _};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::witness::Witness;

/// Sets how often time alone can change what is true: a gang may have stood half-placed for too long.
const TICK: Duration = Duration::from_millis(100);

/// The witness, and word of every change.
#[derive(Clone, Debug)]
pub(super) struct Watcher {
    witness: Arc<Mutex<Witness>>,
    logs: Logs,
    changes: watch::Receiver<u64>,
}

impl Watcher {
    /// Starts to watch; ends with the returned task.
    pub(super) fn start(client: Client, witness: Witness, logs: Logs) -> (Self, JoinHandle<()>) {
        let witness = Arc::new(Mutex::new(witness));
        let (told, changes) = watch::channel(0);
        let task = tokio::spawn(run(client, Arc::clone(&witness), told));
        (Self { witness, logs, changes }, task)
    }

    /// Returns what is known now.
    pub(super) fn now(&self) -> MutexGuard<'_, Witness> {
        self.witness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The devices that the first container of a pod sees in its environment, as its node's kubelet resolved it; `None` until
    /// the container has started, empty where it sees none.
    pub(super) fn visible_devices(&self, pod: &str) -> Option<String> {
        let environment = self.logs.environment("default", pod, "")?;
        let last = environment.into_iter().rev().find(|(name, _)| name == VISIBLE_DEVICES);
        Some(last.map(|(_, devices)| devices).unwrap_or_default())
    }

    /// Waits for the next change, or a moment.
    pub(super) async fn changed(&mut self, at_most: Duration) {
        // The sender lives as long as the demo; a time-out is as good as a change.
        let _either = tokio::time::timeout(at_most, self.changes.changed()).await;
    }
}

async fn run(client: Client, witness: Arc<Mutex<Witness>>, told: watch::Sender<u64>) {
    let config = watcher::Config::default;
    let mut pods = watcher::watcher(Api::<Pod>::all(client.clone()), config()).boxed();
    let mut groups = watcher::watcher(Api::<PodGroup>::all(client), config()).boxed();
    // A watch that fell behind begins with a list: whoever is not on it went meanwhile.
    let mut listed = Vec::new();
    loop {
        tokio::select! {
            Some(event) = pods.next() => {
                let now = Instant::now();
                let mut witness = witness.lock().unwrap_or_else(PoisonError::into_inner);
                match event {
                    Ok(Event::Apply(pod)) => witness.pod(&pod, now),
                    Ok(Event::Delete(pod)) => witness.pod_gone(&pod.uid().unwrap_or_default(), now),
                    Ok(Event::Init) => listed.clear(),
                    Ok(Event::InitApply(pod)) => listed.push(pod),
                    Ok(Event::InitDone) => witness.pods_listed(mem::take(&mut listed), now),
                    Err(_) => {}
                }
            }
            Some(event) = groups.next() => {
                let mut witness = witness.lock().unwrap_or_else(PoisonError::into_inner);
                if let Ok(Event::Apply(group) | Event::InitApply(group)) = event {
                    witness.group(&group);
                }
            }
            () = tokio::time::sleep(TICK) => {
                let mut witness = witness.lock().unwrap_or_else(PoisonError::into_inner);
                witness.check(Instant::now());
            }
        }
        told.send_modify(|version| *version += 1);
    }
}
