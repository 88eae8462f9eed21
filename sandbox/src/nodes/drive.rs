//! The loop around the kubelet: one watch in, bounded writes out.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{ConfigMap, Node, PersistentVolumeClaim, Secret};
use k8s_openapi::api::resource::v1::ResourceClaim;
use kai_daemon::clock;
use kai_daemon::work::Work;
use kube::api::{Api, ApiResource, DeleteParams, Patch, PatchParams, Preconditions};
use kube::runtime::watcher::{self, Event};
use kube::{Client, ResourceExt};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::environment::{Found, Source, entries};
use super::kubelet::{Kubelet, Step};
use super::pod::Pod;
use super::{fault, locked, object};

/// Writes under way at once: enough to keep an API server busy, few enough to leave room for others.
const WRITES: usize = 32;
/// Time after which a write that failed for no reason of its own is tried again.
const RETRY: SignedDuration = SignedDuration::from_millis(500);

/// The Pod resource, for the slim decoding of [`Pod`].
fn resource() -> ApiResource {
    ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&())
}

/// Outcome of a write.
enum Outcome {
    Accepted,
    /// A read that a step asked for.
    Read(Found),
    /// The pod is another one by now, or gone: the watch will say so.
    Outdated,
    Failed,
}

struct Loop {
    client: Client,
    kubelet: Arc<Mutex<Kubelet>>,
    work: Work<String, Timestamp>,
    writes: JoinSet<(String, Outcome)>,
    /// Patches of nodes under way.
    repairs: JoinSet<()>,
    /// UIDs listed since the last `Init`; `None` outside an initial list.
    listed: Option<HashSet<String>>,
}

/// Runs the pods of the kubelet's nodes until cancelled. A broken watch is taken up again with a
/// new list, from which pods that disappeared meanwhile are noticed.
pub(super) async fn run(client: Client, kubelet: Arc<Mutex<Kubelet>>, cancel: CancellationToken) {
    let pods: Api<Pod> = Api::all_with(client.clone(), &resource());
    let config = watcher::Config::default().fields("spec.nodeName!=");
    let mut events = pin!(watcher::watcher(pods, config));
    let nodes: Api<Node> = Api::all(client.clone());
    let config = watcher::Config::default().labels(&format!("{}=true", object::NODE_LABEL));
    let mut nodes = pin!(watcher::watcher(nodes, config));
    let mut state = Loop {
        client,
        kubelet,
        work: Work::default(),
        writes: JoinSet::new(),
        repairs: JoinSet::new(),
        listed: None,
    };
    loop {
        state.start();
        let sleep = state.work.sleep(clock::now());
        tokio::select! {
            biased;
            () = cancel.cancelled() => return,
            Some(done) = state.writes.join_next() => state.done(done),
            Some(_) = state.repairs.join_next() => {}
            () = tokio::time::sleep(sleep) => state.work.ring(clock::now()),
            event = events.next() => match event {
                Some(Ok(event)) => state.event(event),
                // The watcher takes a pause by itself when the next poll fails as well.
                Some(Err(error)) => {
                    tracing::debug!(%error, "pod watch interrupted");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                None => return,
            },
            event = nodes.next() => match event {
                Some(Ok(Event::InitApply(node) | Event::Apply(node))) => state.node(&node),
                Some(Ok(Event::Init | Event::InitDone | Event::Delete(_))) => {}
                Some(Err(error)) => {
                    tracing::debug!(%error, "node watch interrupted");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                None => return,
            },
        }
    }
}

impl Loop {
    fn event(&mut self, event: Event<Pod>) {
        match event {
            Event::Init => self.listed = Some(HashSet::new()),
            Event::InitApply(pod) => {
                if let (Some(listed), Some(uid)) = (&mut self.listed, pod.uid()) {
                    listed.insert(uid);
                }
                locked(&self.kubelet).seen(pod, clock::now());
            }
            // Only now are pods admitted: running ones, whatever their place in the list, hold
            // their resources first.
            Event::InitDone => {
                let listed = self.listed.take().unwrap_or_default();
                let known: Vec<String> =
                    locked(&self.kubelet).uids().map(ToOwned::to_owned).collect();
                for uid in known {
                    if listed.contains(&uid) {
                        self.work.add(uid);
                    } else {
                        locked(&self.kubelet).gone(&uid);
                    }
                }
            }
            Event::Apply(pod) => {
                let uid = pod.uid().unwrap_or_default();
                if locked(&self.kubelet).seen(pod, clock::now()) {
                    self.work.add(uid);
                }
            }
            Event::Delete(pod) => locked(&self.kubelet).gone(&pod.uid().unwrap_or_default()),
        }
    }

    /// Takes in what is to go wrong on a node, and lets the node show it.
    fn node(&mut self, node: &Node) {
        let name = node.name_any();
        let mut kubelet = locked(&self.kubelet);
        let Some(gpus) = kubelet.devices(&name).map(<[String]>::len) else { return };
        let pods = kubelet.break_node(&name, fault::of(node).0);
        drop(kubelet);
        for uid in pods {
            self.work.add(uid);
        }
        let now = clock::now();
        let (status, taints) = (fault::status(node, gpus, now), fault::taints(node, now));
        if status.is_none() && taints.is_none() {
            return;
        }
        let nodes: Api<Node> = Api::all(self.client.clone());
        self.repairs.spawn(async move {
            let params = PatchParams::default();
            // What fails here is tried again with the next change of the node, such as the other of these two.
            if let Some(patch) = taints
                && let Err(error) = nodes.patch(&name, &params, &Patch::Merge(patch)).await
            {
                tracing::debug!(node = name, %error, "failed to write the taints of a node");
            }
            if let Some(patch) = status
                && let Err(error) =
                    nodes.patch_status(&name, &params, &Patch::Strategic(patch)).await
            {
                tracing::debug!(node = name, %error, "failed to write the status of a node");
            }
        });
    }

    /// Takes steps for pods that are ready while there is room for writes.
    fn start(&mut self) {
        // In the middle of a list nothing is admitted, see `InitDone`.
        while self.listed.is_none() && self.writes.len() < WRITES {
            let Some(uid) = self.work.take() else { return };
            self.step(uid);
        }
    }

    fn step(&mut self, uid: String) {
        let mut kubelet = locked(&self.kubelet);
        let step = kubelet.next(&uid, clock::now());
        let names = kubelet
            .find(&uid)
            .map(|(pod, _)| (pod.name_any(), pod.namespace().unwrap_or_default()));
        drop(kubelet);
        let Some((name, namespace)) = names else { return self.work.done(&uid) };
        let pods: Api<Pod> = Api::namespaced_with(self.client.clone(), &namespace, &resource());
        match step {
            Step::Rest => return self.work.done(&uid),
            Step::Wait(at) => {
                self.work.done(&uid);
                return self.work.add_at(at, uid);
            }
            Step::Fetch(sources) => {
                let client = self.client.clone();
                self.writes.spawn(async move {
                    let pod = Place { namespace: &namespace, uid: &uid };
                    let outcome = match fetch(&client, pod, sources).await {
                        Ok(found) => Outcome::Read(found),
                        Err(error) => {
                            tracing::debug!(pod = name, %error, "failed to read what the pod refers to");
                            Outcome::Failed
                        }
                    };
                    (uid, outcome)
                });
                return;
            }
            Step::Write(_) | Step::Annotate(_) | Step::Remove => {}
        }
        self.writes.spawn(async move {
            let outcome = outcome(&name, write(&pods, &name, &uid, step).await);
            (uid, outcome)
        });
    }

    fn done(&mut self, done: Result<(String, Outcome), tokio::task::JoinError>) {
        let Ok((uid, outcome)) = done else { return };
        self.work.done(&uid);
        let mut kubelet = locked(&self.kubelet);
        kubelet.wrote(&uid, matches!(outcome, Outcome::Accepted));
        match outcome {
            Outcome::Accepted => self.work.add(uid),
            Outcome::Read(found) => {
                kubelet.found(&uid, found);
                self.work.add(uid);
            }
            Outcome::Outdated => {}
            Outcome::Failed => {
                let at = clock::now().saturating_add(RETRY).unwrap_or(Timestamp::MAX);
                self.work.add_at(at, uid);
            }
        }
    }
}

/// The pod for which something is read.
#[derive(Clone, Copy)]
struct Place<'a> {
    namespace: &'a str,
    uid: &'a str,
}

/// Reads config maps, secrets and claims; those that are not there, or not yet the pod's, are `None`.
async fn fetch(
    client: &Client,
    pod: Place<'_>,
    sources: std::collections::BTreeSet<Source>,
) -> Result<Found, kube::Error> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), pod.namespace);
    let secrets: Api<Secret> = Api::namespaced(client.clone(), pod.namespace);
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(client.clone(), pod.namespace);
    let devices: Api<ResourceClaim> = Api::namespaced(client.clone(), pod.namespace);
    let is_bound = |claim: &PersistentVolumeClaim| {
        claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Bound")
    };
    let mut found = Found::new();
    for source in sources {
        let object = match &source {
            Source::ConfigMap(name) => maps.get_opt(name).await?.map(serde_json::to_value),
            Source::Secret(name) => secrets.get_opt(name).await?.map(serde_json::to_value),
            Source::Claim(name) => {
                claims.get_opt(name).await?.filter(is_bound).map(serde_json::to_value)
            }
            Source::Devices { claim: Some(name), .. } => {
                let claim = devices.get_opt(name).await?;
                claim.filter(|claim| is_held(claim, pod.uid)).map(serde_json::to_value)
            }
            Source::Devices { claim: None, .. } => None,
        };
        let object = object.transpose().map_err(kube::Error::SerdeError)?;
        let all = object.map(|object| entries(&source, &object));
        found.insert(source, all);
    }
    Ok(found)
}

/// Tells whether a claim has devices, and is reserved for a pod.
fn is_held(claim: &ResourceClaim, uid: &str) -> bool {
    let Some(status) = &claim.status else { return false };
    let mut consumers = status.reserved_for.iter().flatten();
    status.allocation.is_some() && consumers.any(|one| one.uid == uid)
}

async fn write(pods: &Api<Pod>, name: &str, uid: &str, step: Step) -> Result<(), kube::Error> {
    let params = PatchParams::default();
    match step {
        Step::Write(patch) => {
            pods.patch_status(name, &params, &Patch::Strategic(patch)).await.map(drop)
        }
        Step::Annotate(patch) => {
            pods.patch(name, &params, &Patch::Strategic(patch)).await.map(drop)
        }
        Step::Remove => {
            let guard = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
            let params = DeleteParams {
                grace_period_seconds: Some(0),
                preconditions: Some(guard),
                ..DeleteParams::default()
            };
            pods.delete(name, &params).await.map(drop)
        }
        Step::Rest | Step::Wait(_) | Step::Fetch(_) => Ok(()),
    }
}

fn outcome(name: &str, result: Result<(), kube::Error>) -> Outcome {
    match result {
        Ok(()) => Outcome::Accepted,
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => {
            Outcome::Outdated
        }
        Err(error) => {
            tracing::debug!(pod = name, %error, "failed to write the pod's state");
            Outcome::Failed
        }
    }
}
