//! The product's daemons in this process: the scheduler and the podgrouper, each as the account and
//! with the rights that it has in a real cluster.

use std::net::{Ipv4Addr, SocketAddr};

use kai_api::names::{component, namespace};
use thiserror::Error;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::server::Server;

/// Why a daemon could not be started, or ended.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// The podgrouper does not take the flags that it is given here.
    #[error("failed to set the podgrouper's flags: {0}")]
    Flags(String),
    /// A daemon's own promise was broken; it has said so on stderr.
    #[error("a daemon panicked")]
    Panicked,
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
    let scheduler = kai_scheduler::Args {
        listen_address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ..kai_scheduler::Args::default()
    };
    let client = account(server, component::SCHEDULER);
    let token = stop.clone();
    tasks.spawn(async move {
        let run = Box::pin(kai_scheduler::run(scheduler, client, token));
        run.await.map_err(DaemonError::Scheduler)
    });
    let flags = ["kai-podgrouper", "--metrics-bind-address=0", "--health-probe-bind-address=0"];
    let flags = flags.map(ToOwned::to_owned).into_iter();
    let own = format!("--namespace={}", namespace::SYSTEM);
    let podgrouper = kai_podgrouper::Args::try_from_words(flags.chain([own]))
        .map_err(|error| DaemonError::Flags(error.to_string()))?;
    let client = account(server, component::PODGROUPER);
    let token = stop.clone();
    tasks.spawn(async move {
        kai_podgrouper::run(podgrouper, client, token).await.map_err(DaemonError::Podgrouper)
    });
    Ok(Daemons { stop, tasks })
}

/// A client with the rights of a `ServiceAccount` in the product's namespace, and no others.
fn account(server: &Server, name: &str) -> kube::Client {
    let user = format!("system:serviceaccount:{}:{name}", namespace::SYSTEM);
    let own = format!("system:serviceaccounts:{}", namespace::SYSTEM);
    server.client_as(&user, &["system:serviceaccounts", &own, "system:authenticated"])
}

impl Daemons {
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
