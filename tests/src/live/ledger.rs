//! A book of what pods hold, as it was when they were bound, which no later edit changes.
//!
//! It is kept from each version of each pod that the API server tells, and knows nothing of the product's own accounts.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result};
use futures::TryStreamExt;
use k8s_openapi::api::core::v1::{Node, Pod};
use kai_api::names::{annotation, label, namespace};
use kube::{
    Api, Client, ResourceExt,
    api::ListParams,
    runtime::watcher::{self, Event, watcher},
};
use tokio::task::JoinHandle;

use super::TENANT;

/// A whole GPU in the unit of the book.
const GPU_MICRO: u64 = 1_000_000;
const GPU: &str = "nvidia.com/gpu";

/// The book, and the task that keeps it.
#[derive(Debug)]
pub(super) struct Ledger {
    book: Arc<Mutex<Book>>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Book {
    /// GPUs of each node.
    gpus: BTreeMap<String, u64>,
    /// The holdings of each pod, by its UID.
    held: BTreeMap<String, Held>,
    /// Things that must not have happened.
    faults: Vec<String>,
}

#[derive(Debug)]
struct Held {
    namespace: String,
    name: String,
    node: String,
    /// Whole GPUs.
    gpus: u64,
    /// Groups of the devices that it shares, and how much of each it has.
    shares: Vec<(String, u64)>,
}

impl Ledger {
    /// Begins the book with the nodes that there are.
    ///
    /// # Errors
    /// What the API server says.
    pub(super) async fn start(client: Client) -> Result<Self> {
        let nodes = Api::<Node>::all(client.clone()).list(&ListParams::default()).await?;
        let gpus = nodes.items.iter().map(|node| (node.name_any(), gpus_of(node))).collect();
        let book = Arc::new(Mutex::new(Book { gpus, ..Book::default() }));
        let kept = Arc::clone(&book);
        let task = tokio::spawn(async move {
            let pods = Api::<Pod>::all(client);
            let mut events = pin!(watcher(pods, watcher::Config::default()));
            loop {
                match events.try_next().await {
                    Ok(Some(event)) => locked(&kept).take(event),
                    Ok(None) => return,
                    Err(error) => locked(&kept).faults.push(format!("the watch broke: {error}")),
                }
            }
        });
        Ok(Self { book, task })
    }

    /// The amount of GPUs that the tenant's pods hold, in millionths of one, and the names of these pods.
    pub(super) fn of_tenant(&self) -> (u64, Vec<String>) {
        let book = locked(&self.book);
        let ours = || book.held.values().filter(|held| held.namespace == TENANT);
        let holders = ours().filter(|held| held.micro() > 0);
        (ours().map(Held::micro).sum(), holders.map(|held| held.name.clone()).collect())
    }

    /// Things that happened and must not.
    pub(super) fn faults(&self) -> Vec<String> {
        locked(&self.book).faults.clone()
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn locked(book: &Mutex<Book>) -> std::sync::MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    fn take(&mut self, event: Event<Pod>) {
        match event {
            Event::Apply(pod) | Event::InitApply(pod) => {
                if let Err(error) = self.see(&pod) {
                    self.faults.push(format!("pod {}: {error:#}", pod.name_any()));
                }
            }
            Event::Delete(pod) => {
                self.leave(&pod, "was deleted");
            }
            Event::Init | Event::InitDone => {}
        }
    }

    fn see(&mut self, pod: &Pod) -> Result<()> {
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        if matches!(phase, Some("Failed" | "Succeeded")) {
            self.leave(pod, "ended");
            return Ok(());
        }
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
        let (Some(node), Some(uid)) = (node, pod.uid()) else { return Ok(()) };
        let of = pod.namespace().unwrap_or_default();
        // A reservation pod holds the device for those that share it.
        if of == namespace::RESERVATION || self.held.contains_key(&uid) {
            return Ok(());
        }
        let held = Held {
            namespace: of,
            name: pod.name_any(),
            node,
            gpus: asked(pod)?,
            shares: shares(pod)?,
        };
        let node = held.node.clone();
        self.held.insert(uid, held);
        self.judge(&node);
        Ok(())
    }

    /// Notes what the pods of a node have too much.
    fn judge(&mut self, node: &str) {
        let on: Vec<&Held> = self.held.values().filter(|held| held.node == node).collect();
        let mut devices: BTreeMap<&str, u64> = BTreeMap::new();
        for (group, micro) in on.iter().flat_map(|held| &held.shares) {
            *devices.entry(group).or_default() += micro;
        }
        let names: Vec<String> =
            on.iter().map(|held| format!("{}/{}", held.namespace, held.name)).collect();
        for (group, micro) in &devices {
            if *micro > GPU_MICRO {
                self.faults.push(format!("{micro} millionths of device {group}: {names:?}"));
            }
        }
        let whole: u64 = on.iter().map(|held| held.gpus).sum();
        let gpus = whole + u64::try_from(devices.len()).unwrap_or(u64::MAX);
        let most = self.gpus.get(node).copied().unwrap_or_default();
        if gpus > most {
            self.faults.push(format!("{gpus} of {most} GPUs of node {node} are held: {names:?}"));
        }
    }

    /// A pod holds nothing any more. What is not the tenant's may not leave.
    fn leave(&mut self, pod: &Pod, how: &str) {
        let Some(held) = pod.uid().and_then(|uid| self.held.remove(&uid)) else { return };
        if held.namespace != TENANT {
            let message = pod.status.as_ref().and_then(|status| status.message.as_deref());
            let message = message.unwrap_or_default();
            self.faults.push(format!("pod {}/{} {how}: {message}", held.namespace, held.name));
        }
    }
}

impl Held {
    fn micro(&self) -> u64 {
        self.gpus * GPU_MICRO + self.shares.iter().map(|(_, micro)| micro).sum::<u64>()
    }
}

fn gpus_of(node: &Node) -> u64 {
    let status = node.status.as_ref().and_then(|status| status.allocatable.as_ref());
    let gpus = status.and_then(|allocatable| allocatable.get(GPU));
    gpus.and_then(|gpus| gpus.0.parse().ok()).unwrap_or_default()
}

/// The whole GPUs that a pod asks for.
fn asked(pod: &Pod) -> Result<u64> {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let limits = containers.filter_map(|one| one.resources.as_ref()?.limits.as_ref()?.get(GPU));
    limits.map(|gpus| gpus.0.parse::<u64>().with_context(|| format!("{gpus:?} GPUs"))).sum()
}

/// The groups of its devices, and how much of each the pod asks for.
fn shares(pod: &Pod) -> Result<Vec<(String, u64)>> {
    let Some(fraction) = pod.annotations().get(annotation::GPU_FRACTION) else {
        return Ok(Vec::new());
    };
    let digits = fraction.strip_prefix("0.").context("the book knows fractions as 0.25")?;
    let micro: u64 = format!("{digits:0<6}").parse().with_context(|| fraction.clone())?;
    let is_group = |key: &str| key == label::GPU_GROUP || key.starts_with(label::GPU_GROUP_PREFIX);
    let groups = pod.labels().iter().filter(|(key, _)| is_group(key));
    Ok(groups.map(|(_, group)| (group.clone(), micro)).collect())
}
