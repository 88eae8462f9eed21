//! The whole product on a real control plane: CRDs, RBAC and queues by `kubectl kai install`, both daemons as processes
//! under their own accounts, simulated nodes by `kubectl kai sandbox --attach`.

pub mod processes;

use std::{net::TcpListener, path::Path, process::Output, time::Duration};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::{admissionregistration::v1::MutatingWebhookConfiguration, core::v1::Node};
use kai_sandbox::nodes::group;
use kube::{Api, Client, api::ListParams};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::{control_plane::ControlPlane, daemon::Daemon, live::create_runtime_class};
use processes::{run_cli, start_nodes, start_podgrouper, start_scheduler, succeed};

/// Namespace of the daemons.
pub const NAMESPACE: &str = "kai-scheduler";
/// Time that the cluster may take to do what a test waits for.
pub const TIMEOUT: Duration = Duration::from_mins(3);

/// Wishes of a suite.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Simulated nodes, as `kubectl kai sandbox --nodes` takes them.
    pub nodes: &'a str,
    /// Real operators to start, with the command that starts them.
    pub operators: Option<(&'a Path, &'a [&'a str])>,
    /// Further flags of kube-apiserver.
    pub api_server_flags: &'a [&'a str],
}

/// A cluster with the product in it; dropping it stops everything.
#[derive(Debug)]
pub struct Cluster {
    /// kai-scheduler, to be killed and started again by a test.
    pub scheduler: Daemon,
    /// kai-podgrouper.
    pub podgrouper: Daemon,
    /// Addresses at which it serves admission.
    webhooks: [String; 2],
    nodes: Daemon,
    /// The control plane below.
    pub plane: ControlPlane,
}

impl Cluster {
    /// Starts everything and waits until the nodes are there.
    pub async fn start(assets: &Path, setup: Setup<'_>) -> Result<Self> {
        let mut plane = ControlPlane::start(assets, setup.api_server_flags).await?;
        if let Some((command, names)) = setup.operators {
            plane.start_operators(command, names).await?;
        }
        let kubeconfig = plane.kubeconfig();
        succeed(&run_cli(&kubeconfig, &["install", "apply", "--yes", "--without-daemons"])?)?;
        let nodes = start_nodes(&plane, setup.nodes)?;
        let scheduler = start_scheduler(&plane, "kai-scheduler", &[]).await?;
        // The same port after each restart: the API server goes on to ask there.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let webhooks = [
            format!("--webhook-listen-address=127.0.0.1:{port}"),
            format!("--webhook-url=https://127.0.0.1:{port}"),
        ];
        let flags = [&*webhooks[0], &*webhooks[1]];
        let podgrouper = start_podgrouper(&plane, &flags).await?;
        let cluster = Self { scheduler, podgrouper, webhooks, nodes, plane };
        create_runtime_class(cluster.client().await?).await?;
        cluster.wait_for_nodes(setup.nodes).await?;
        cluster.wait_for_admission().await?;
        Ok(cluster)
    }

    async fn wait_for_nodes(&self, nodes: &str) -> Result<()> {
        let wanted = group::expand(&group::parse(nodes)?, 1).len();
        let api: Api<Node> = Api::all(self.client().await?);
        self.wait_until("the nodes", async || {
            let seen = api.list(&ListParams::default()).await?.items.len();
            Ok(if seen == wanted { Ok(()) } else { Err(format!("{seen} of {wanted}")) })
        })
        .await
    }

    /// Waits until the API server asks about pods.
    async fn wait_for_admission(&self) -> Result<()> {
        let api: Api<MutatingWebhookConfiguration> = Api::all(self.client().await?);
        self.wait_until("admission", async || {
            let found = api.get_opt("mutating-kai-admission").await?;
            Ok(if found.is_some() { Ok(()) } else { Err("not registered".to_owned()) })
        })
        .await
    }

    /// A client with an administrator's rights.
    pub async fn client(&self) -> Result<Client> {
        self.plane.client().await
    }

    /// Runs `kubectl kai ARGUMENTS` as an administrator.
    pub fn kai(&self, arguments: &[&str]) -> Result<Output> {
        run_cli(&self.plane.kubeconfig(), arguments)
    }

    /// Runs `kubectl kai ARGUMENTS`, which must succeed, and returns its stdout.
    pub fn kai_ok(&self, arguments: &[&str]) -> Result<String> {
        succeed(&self.kai(arguments)?)
    }

    /// Runs `kubectl kai ARGUMENTS -o json`, which must succeed.
    pub fn kai_json(&self, arguments: &[&str]) -> Result<Value> {
        let text = self.kai_ok(&[arguments, &["-o", "json"]].concat())?;
        serde_json::from_str(&text).with_context(|| format!("{arguments:?} printed {text}"))
    }

    /// Starts the scheduler again, after a test killed it.
    pub async fn restart_scheduler(&mut self) -> Result<()> {
        self.scheduler = start_scheduler(&self.plane, "kai-scheduler", &[]).await?;
        Ok(())
    }

    /// Starts another scheduler of the same name.
    pub async fn second_scheduler(&self) -> Result<Daemon> {
        start_scheduler(&self.plane, "kai-scheduler-2", &[]).await
    }

    /// Starts the podgrouper again, after a test killed it.
    pub async fn restart_podgrouper(&mut self) -> Result<()> {
        let flags = [&*self.webhooks[0], &*self.webhooks[1]];
        self.podgrouper = start_podgrouper(&self.plane, &flags).await?;
        Ok(())
    }

    /// The end of every log, for a failure message.
    pub fn logs(&self) -> String {
        let end = |daemon: &Daemon| daemon.log_end().unwrap_or_default();
        let (scheduler, podgrouper) = (end(&self.scheduler), end(&self.podgrouper));
        format!("scheduler:\n{scheduler}\npodgrouper:\n{podgrouper}\nnodes:\n{}", end(&self.nodes))
    }

    /// Asks `done` every 50 ms until it says yes.
    ///
    /// # Errors
    ///
    /// When it doesn't within [`TIMEOUT`]; the message carries its last answer and the logs.
    pub async fn wait_until<F>(&self, what: &str, mut done: F) -> Result<()>
    where
        F: AsyncFnMut() -> Result<Result<(), String>>,
    {
        let end = Instant::now() + TIMEOUT;
        loop {
            match done().await? {
                Ok(()) => return Ok(()),
                Err(seen) if Instant::now() > end => {
                    bail!("waited {TIMEOUT:?} for {what}: {seen}\n{}", self.logs())
                }
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    }
}
