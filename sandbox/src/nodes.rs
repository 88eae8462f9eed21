//! Simulated GPU nodes: Node objects with heartbeats, and a kubelet that runs the pods bound to them.
//!
//! ```text
//! --nodes 4xH100:8 ──group──> specs ──object──> POST nodes, leases
//! watch pods (spec.nodeName!=) ──> kubelet (pure: ledger, stages, time) ──> GET config maps, PATCH status, DELETE
//! watch nodes (faults) ───────────────┘   └──> logs
//! ```
//!
//! An ordinary API client: the same code serves the embedded server and any real cluster.

mod drive;
mod environment;
/// Faults of simulated nodes.
pub mod fault;
/// The grammar of `--nodes`.
pub mod group;
mod inside;
mod kubelet;
mod ledger;
mod logs;
/// Node and Lease objects.
pub mod object;
/// The part that a kubelet reads of a Pod.
pub mod pod;
mod serve;
mod shell;
mod status;

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use kai_daemon::clock;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use thiserror::Error;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use environment::{Environment, VISIBLE_DEVICES};
pub use inside::Inside;
pub use logs::{ENVIRONMENT, Logs};

use group::Spec;
use kubelet::Kubelet;

/// Requests under way at once while nodes are registered or renewed.
const CONCURRENCY: usize = 32;
/// Interval at which a node's Lease is renewed, as the kubelet's default has it.
const RENEW: Duration = Duration::from_secs(10);

/// Behaviour of the nodes.
#[derive(Debug, Clone)]
pub struct Options {
    /// The nodes.
    pub specs: Vec<Spec>,
    /// Factor by which simulated work runs faster than the clock; at least 1.
    pub pace: u32,
    /// Simulated seconds that work runs when nothing says how long, see [`pod::run_millis`].
    pub run_seconds: u64,
    /// Milliseconds by the clock that the program in a GPU reservation pod takes to say which device it holds; drawn
    /// for each pod by `seed`.
    pub reservation_millis: RangeInclusive<u64>,
    /// Seed of all that is drawn.
    pub seed: u64,
    /// True if kubelets renew their nodes' Leases and listen for those who read logs, as real ones do.
    pub is_reachable: bool,
}

impl Default for Options {
    /// No nodes, at the clock's pace.
    fn default() -> Self {
        Self {
            specs: Vec::new(),
            pace: 1,
            run_seconds: pod::RUN_SECONDS_DEFAULT,
            reservation_millis: 20..=20,
            seed: 0,
            is_reachable: true,
        }
    }
}

/// The reason why the nodes could not be set up.
#[derive(Debug, Error)]
pub enum NodesError {
    /// A node of that name exists and is not a simulated one.
    #[error(
        "node {name} exists and is not simulated (it has no label {}); choose another cluster or remove it",
        object::NODE_LABEL
    )]
    Taken {
        /// The node's name.
        name: String,
    },
    /// The API refused an object.
    #[error("failed to write {what} {name}")]
    Api {
        /// The kind of object.
        what: &'static str,
        /// Its name.
        name: String,
        /// The server's answer.
        #[source]
        source: Box<kube::Error>,
    },
    /// The address where logs are served could not be opened.
    #[error("failed to open a port for container logs on 127.0.0.1")]
    Listen(#[source] std::io::Error),
}

/// Simulated nodes that are not registered yet.
#[derive(Debug)]
pub struct Nodes {
    options: Options,
    kubelet: Arc<Mutex<Kubelet>>,
}

/// Registered nodes whose pods run, until [`Running::stop`].
pub struct Running {
    client: Client,
    names: Vec<String>,
    cancel: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl Nodes {
    /// Nodes that exist only in memory so far.
    pub fn new(options: Options) -> Self {
        let kubelet = Kubelet::new(&options);
        Self { options, kubelet: Arc::new(Mutex::new(kubelet)) }
    }

    /// The logs of the pods that will run here.
    pub fn logs(&self) -> Logs {
        Logs::new(Arc::clone(&self.kubelet))
    }

    /// The way into the containers of the pods that will run here.
    pub fn inside(&self) -> Inside {
        Inside::new(Arc::clone(&self.kubelet))
    }

    /// Registers the nodes and starts to run pods; returns when all nodes are registered.
    ///
    /// # Errors
    /// When a node exists that is not simulated, or the API refuses one.
    pub async fn start(self, client: Client) -> Result<Running, NodesError> {
        let cancel = CancellationToken::new();
        let mut tasks = Vec::new();
        let mut port = 0;
        let is_reachable = self.options.is_reachable;
        if is_reachable {
            let served = serve::start(self.logs(), self.inside(), cancel.clone()).await;
            let (at, serving) = served.map_err(NodesError::Listen)?;
            port = at;
            tasks.push(serving);
        }
        // All owned: a borrow here would keep callers from boxing the future.
        let all: Vec<_> = self
            .options
            .specs
            .into_iter()
            .map(|spec| register(client.clone(), spec, port))
            .collect();
        let registered: Vec<(String, String)> =
            stream::iter(all).buffer_unordered(CONCURRENCY).try_collect().await?;
        let names = registered.iter().map(|(name, _)| name.clone()).collect();
        if is_reachable {
            let kubelet = Arc::clone(&self.kubelet);
            tasks.push(tokio::spawn(heartbeat(
                client.clone(),
                registered,
                kubelet,
                cancel.clone(),
            )));
        }
        tasks.push(tokio::spawn(drive::run(client.clone(), self.kubelet, cancel.clone())));
        Ok(Running { client, names, cancel, tasks })
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("names", &self.names).finish_non_exhaustive()
    }
}

impl Running {
    /// Stops the kubelets and leaves the Node objects as they are.
    pub async fn stop(self) {
        self.cancel.cancel();
        for task in self.tasks {
            // A task that panicked has said so on its own; the others still have to end.
            let _ended = task.await;
        }
    }

    /// Stops the kubelets and removes the Node objects; failures are only logged, since the
    /// cluster may be gone already.
    pub async fn remove(self) {
        let (client, names) = (self.client.clone(), self.names.clone());
        self.stop().await;
        let nodes: Api<Node> = Api::all(client);
        stream::iter(names)
            .for_each_concurrent(CONCURRENCY, |name| {
                let nodes = nodes.clone();
                async move {
                    if let Err(error) = nodes.delete(&name, &DeleteParams::default()).await {
                        tracing::debug!(node = name, %error, "failed to delete the simulated node");
                    }
                }
            })
            .await;
    }
}

/// Creates or adopts one node with its Lease; gives its name and UID.
async fn register(client: Client, spec: Spec, port: u16) -> Result<(String, String), NodesError> {
    let failed = |source| NodesError::Api {
        what: "node",
        name: spec.name.clone(),
        source: Box::new(source),
    };
    let nodes: Api<Node> = Api::all(client.clone());
    let wanted = object::node(&spec, clock::now(), port);
    let typed: Node =
        serde_json::from_value(wanted.clone()).expect("the node object has the API's form");
    let node = match nodes.create(&PostParams::default(), &typed).await {
        Ok(node) => node,
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let node = nodes.get(&spec.name).await.map_err(failed)?;
            if node.labels().get(object::NODE_LABEL).map(String::as_str) != Some("true") {
                return Err(NodesError::Taken { name: spec.name.clone() });
            }
            let labels = serde_json::json!({"metadata": {"uid": node.uid(), "labels": wanted["metadata"]["labels"]}});
            nodes
                .patch(&spec.name, &PatchParams::default(), &Patch::Merge(labels))
                .await
                .map_err(failed)?;
            let status = serde_json::json!({"status": wanted["status"]});
            nodes
                .patch_status(&spec.name, &PatchParams::default(), &Patch::Merge(status))
                .await
                .map_err(failed)?
        }
        Err(error) => return Err(failed(error)),
    };
    let uid = node.uid().unwrap_or_default();
    renew(&client, &spec.name, &uid).await.map_err(|source| NodesError::Api {
        what: "lease",
        name: spec.name.clone(),
        source: Box::new(source),
    })?;
    Ok((spec.name.clone(), uid))
}

/// Renews all Leases until cancelled. One that fails is tried again the next time: a node is only
/// lost after four missed ones.
async fn heartbeat(
    client: Client,
    nodes: Vec<(String, String)>,
    kubelet: Arc<Mutex<Kubelet>>,
    cancel: CancellationToken,
) {
    loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(RENEW) => {}
        }
        let client = &client;
        let alive: Vec<_> = {
            let kubelet = locked(&kubelet);
            nodes.iter().filter(|(name, _)| !kubelet.is_dead(name)).collect()
        };
        stream::iter(alive)
            .for_each_concurrent(CONCURRENCY, |(name, uid)| async move {
                if let Err(error) = renew(client, name, uid).await {
                    tracing::debug!(node = name, %error, "failed to renew the lease");
                }
            })
            .await;
    }
}

async fn renew(client: &Client, name: &str, uid: &str) -> Result<(), kube::Error> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), object::LEASE_NAMESPACE);
    let lease = object::lease(name, uid, clock::now());
    match leases.patch(name, &PatchParams::default(), &Patch::Merge(&lease)).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => {
            let lease = serde_json::from_value(lease).expect("the lease object has the API's form");
            leases.create(&PostParams::default(), &lease).await.map(drop)
        }
        other => other.map(drop),
    }
}

/// The kubelet behind its lock; a panic elsewhere doesn't make its state wrong.
fn locked(kubelet: &Mutex<Kubelet>) -> std::sync::MutexGuard<'_, Kubelet> {
    kubelet.lock().unwrap_or_else(PoisonError::into_inner)
}
