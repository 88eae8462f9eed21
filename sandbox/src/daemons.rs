//! The product's daemons in this process: the scheduler and the podgrouper with its admission, each as the account and
//! with the rights that it has in a real cluster.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kai_api::names::{SCHEDULER_NAME, annotation, component, namespace};
use kube::ResourceExt as _;
use kube::api::{Api, PostParams};
use thiserror::Error;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::server::Server;

/// Time that admission may take to be asked for the first time; a few hundred milliseconds are usual.
const ADMISSION_MAX: Duration = Duration::from_secs(20);
/// Interval at which is looked whether it is.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The reason why a daemon could not be started, or ended.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// The podgrouper does not take the flags that it is given here.
    #[error("failed to set the podgrouper's flags: {0}")]
    Flags(String),
    /// A daemon's own promise was broken; it has said so on stderr.
    #[error("a daemon panicked")]
    Panicked,
    /// The API server does not ask admission in time.
    #[error("the API server does not ask admission about pods within {} s", ADMISSION_MAX.as_secs())]
    Admission,
    /// The scheduler ended by itself.
    #[error("the scheduler ended")]
    Scheduler(#[source] kai_scheduler::Error),
    /// The podgrouper ended by itself.
    #[error("the podgrouper ended")]
    Podgrouper(#[source] kai_podgrouper::Error),
}

/// Daemons that run until [`Daemons::stop`].
#[derive(Debug)]
pub struct Daemons {
    stop: CancellationToken,
    tasks: JoinSet<Result<(), DaemonError>>,
}

/// Starts both daemons against `server`. They serve health and metrics on ports of their own choice.
///
/// # Errors
/// When the flags are refused; what goes wrong later, [`Daemons::ended`] tells.
pub fn start(server: &Server) -> Result<Daemons, DaemonError> {
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    let mut scheduler = kai_scheduler::Args {
        listen_address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        // As the Deployment in `deploy/` has it.
        update_pod_eviction_condition: true,
        ..kai_scheduler::Args::default()
    };
    // A scheduler in a cluster takes the image that it runs from itself; simulated nodes play the program in it.
    component::SCHEDULER.clone_into(&mut scheduler.sharing.resource_reservation_pod_image);
    let client = account(server, component::SCHEDULER);
    let token = stop.clone();
    tasks.spawn(async move {
        let run = Box::pin(kai_scheduler::run(scheduler, client, token));
        run.await.map_err(DaemonError::Scheduler)
    });
    let flags = [
        "kai-podgrouper",
        // The Lease tells that it runs, since it has no Deployment here.
        "--leader-elect",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
        "--webhook-listen-address=127.0.0.1:0",
        // Services lead nowhere here: the API server asks at a URL.
        "--webhook-url=https://127.0.0.1:0",
    ];
    let flags = flags.map(ToOwned::to_owned).into_iter();
    let own = format!("--namespace={}", namespace::SYSTEM);
    let podgrouper = kai_podgrouper::Args::try_from_words(flags.chain([own]))
        .map_err(|error| DaemonError::Flags(error.to_string()))?;
    let client = account(server, component::PODGROUPER);
    tasks.spawn(podgroup(podgrouper, client, stop.clone()));
    Ok(Daemons { stop, tasks })
}

/// Runs the podgrouper. On a machine that stands still for a while its Lease runs out, upon which it ends, and is started
/// again as a kubelet would.
async fn podgroup(
    args: kai_podgrouper::Args,
    client: kube::Client,
    stop: CancellationToken,
) -> Result<(), DaemonError> {
    loop {
        let run = Box::pin(kai_podgrouper::run(args.clone(), client.clone(), stop.clone()));
        match run.await {
            Err(lost @ kai_podgrouper::Error::LeaseLost(_)) => {
                tracing::warn!("the podgrouper starts anew: {lost}");
            }
            ended => return ended.map_err(DaemonError::Podgrouper),
        }
    }
}

/// A client with the rights of a `ServiceAccount` in the product's namespace, and no others.
fn account(server: &Server, name: &str) -> kube::Client {
    let user = format!("system:serviceaccount:{}:{name}", namespace::SYSTEM);
    let own = format!("system:serviceaccounts:{}", namespace::SYSTEM);
    server.client_as(&user, &["system:serviceaccounts", &own, "system:authenticated"])
}

impl Daemons {
    /// Waits until the API server asks admission about pods that share GPUs.
    ///
    /// # Errors
    /// When that takes too long, or a daemon ends before.
    pub async fn admit(&mut self, client: &kube::Client) -> Result<(), DaemonError> {
        let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
        let probe: Pod = serde_json::from_value(serde_json::json!({
            "metadata": {
                "name": "is-admission-there",
                "annotations": {(annotation::GPU_FRACTION): "0.5"},
            },
            "spec": {
                "schedulerName": SCHEDULER_NAME,
                "containers": [{"name": "main", "image": "none"}],
            },
        }))
        .expect("the pod has the API's form");
        let rehearsal = PostParams { dry_run: true, ..PostParams::default() };
        let is_asked = async {
            loop {
                let seen = pods.create(&rehearsal, &probe).await;
                let is_prepared =
                    |pod: Pod| pod.annotations().contains_key(annotation::SHARED_GPU_CONFIG_MAP);
                if seen.is_ok_and(is_prepared) {
                    return;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::select! {
            biased;
            asked = tokio::time::timeout(ADMISSION_MAX, is_asked) => {
                asked.map_err(|_| DaemonError::Admission)
            }
            error = self.ended() => Err(error),
        }
    }

    /// Waits until a daemon has ended by itself, and tells why.
    pub async fn ended(&mut self) -> DaemonError {
        loop {
            match self.tasks.join_next().await {
                Some(Ok(Err(error))) => return error,
                Some(Err(error)) if error.is_panic() => return DaemonError::Panicked,
                // One that ended without an error, or was cut off, was told to.
                Some(Ok(Ok(())) | Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Stops both and waits until they have given their Leases back.
    pub async fn stop(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}
