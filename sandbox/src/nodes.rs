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
mod register;
mod serve;
mod shell;
mod status;

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::{StreamExt, stream};
use kai_daemon::chance;
use kube::Client;
use thiserror::Error;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use environment::{Environment, VISIBLE_DEVICES};
pub use inside::Inside;
pub use logs::{ENVIRONMENT, Logs};

use group::Spec;
use kubelet::Kubelet;
use register::{Own, Simulation};

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
    /// A node of that name belongs to another simulation that still runs.
    #[error(
        "another simulation runs node {name}; end that one first, or wait {left}s if it is gone already"
    )]
    Held {
        /// The node's name.
        name: String,
        /// Seconds after which the node is anybody's, unless its Lease is renewed.
        left: i64,
    },
    /// The API refused a request.
    #[error("failed to {what} {name}")]
    Api {
        /// The request in words, up to a name.
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
    simulation: Simulation,
    nodes: Vec<Own>,
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
        let id = is_reachable.then(|| chance::uuid().to_string());
        let simulation = Simulation { client: client.clone(), id, port };
        let nodes = match simulation.register(self.options.specs).await {
            Ok(nodes) => nodes,
            Err(error) => {
                cancel.cancel();
                return Err(error);
            }
        };
        if is_reachable {
            let kubelet = Arc::clone(&self.kubelet);
            tasks.push(tokio::spawn(heartbeat(
                client.clone(),
                nodes.clone(),
                kubelet,
                cancel.clone(),
            )));
        }
        tasks.push(tokio::spawn(drive::run(client.clone(), self.kubelet, cancel.clone())));
        Ok(Running { simulation, nodes, cancel, tasks })
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("nodes", &self.nodes).finish_non_exhaustive()
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

    /// Stops the kubelets and leaves the Node objects for another simulation to take over.
    pub async fn leave(mut self) {
        let (simulation, nodes) = (self.simulation.clone(), std::mem::take(&mut self.nodes));
        self.stop().await;
        simulation.leave(nodes).await;
    }

    /// Stops the kubelets and removes the Node objects that are still this simulation's; failures
    /// are only logged, since the cluster may be gone already.
    pub async fn remove(mut self) {
        let (simulation, nodes) = (self.simulation.clone(), std::mem::take(&mut self.nodes));
        self.stop().await;
        simulation.remove(nodes).await;
    }
}

/// Renews all Leases until cancelled. One that fails is tried again the next time: a node is only
/// lost after four missed ones.
async fn heartbeat(
    client: Client,
    nodes: Vec<Own>,
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
            nodes.iter().filter(|node| !kubelet.is_dead(&node.name)).collect()
        };
        stream::iter(alive)
            .for_each_concurrent(CONCURRENCY, |Own { name, uid, .. }| async move {
                if let Err(error) = register::renew(client, name, uid).await {
                    tracing::debug!(node = name, %error, "failed to renew the lease");
                }
            })
            .await;
    }
}

/// The kubelet behind its lock; a panic elsewhere doesn't make its state wrong.
fn locked(kubelet: &Mutex<Kubelet>) -> std::sync::MutexGuard<'_, Kubelet> {
    kubelet.lock().unwrap_or_else(PoisonError::into_inner)
}
