//! The whole product on a real control plane: CRDs, RBAC and queues by `kubectl kai install`, both daemons as processes
//! under their own accounts, simulated nodes by `kubectl kai sandbox --attach`.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use kai_api::names::component;
use kube::Client;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::{
    control_plane::ControlPlane,
    daemon::{Daemon, binary},
};

/// Namespace of the daemons.
pub const NAMESPACE: &str = "kai-scheduler";
/// How long the cluster may take to do what a test waits for.
pub const TIMEOUT: Duration = Duration::from_mins(1);

/// What a suite wants.
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
        let scheduler = start_scheduler(&plane, "kai-scheduler").await?;
        let podgrouper = start_podgrouper(&plane).await?;
        Ok(Self { scheduler, podgrouper, nodes, plane })
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
        self.scheduler = start_scheduler(&self.plane, "kai-scheduler").await?;
        Ok(())
    }

    /// Starts another scheduler of the same name.
    pub async fn second_scheduler(&self) -> Result<Daemon> {
        start_scheduler(&self.plane, "kai-scheduler-2").await
    }

    /// Starts the podgrouper again, after a test killed it.
    pub async fn restart_podgrouper(&mut self) -> Result<()> {
        self.podgrouper = start_podgrouper(&self.plane).await?;
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

/// Runs the CLI with nothing of this machine's environment.
pub fn run_cli(kubeconfig: &Path, arguments: &[&str]) -> Result<Output> {
    let home = kubeconfig.parent().context("a kubeconfig lies in a folder")?;
    Command::new(binary("kubectl-kai"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .env("KUBECONFIG", kubeconfig)
        .env("NO_COLOR", "1")
        .env("LANG", "C.UTF-8")
        .output()
        .context("failed to start kubectl-kai")
}

fn succeed(output: &Output) -> Result<String> {
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{}:\n{stdout}\n{stderr}", output.status);
    Ok(stdout.into_owned())
}

fn start_nodes(plane: &ControlPlane, nodes: &str) -> Result<Daemon> {
    let arguments = [
        "sandbox".to_owned(),
        format!("--kubeconfig={}", plane.kubeconfig().display()),
        "--attach=test".into(),
        format!("--nodes={nodes}"),
        "--operators=none".into(),
    ];
    Daemon::start(plane.folder(), "nodes", &binary("kubectl-kai"), &arguments)
}

async fn start_scheduler(plane: &ControlPlane, name: &str) -> Result<Daemon> {
    let kubeconfig = plane.kubeconfig_of_account(NAMESPACE, component::SCHEDULER).await?;
    let arguments =
        daemon_arguments(&kubeconfig, &["--listen-address=127.0.0.1:0", "--plugin-server-port=0"]);
    Daemon::start(plane.folder(), name, &binary("kai-scheduler"), &arguments)
}

async fn start_podgrouper(plane: &ControlPlane) -> Result<Daemon> {
    let kubeconfig = plane.kubeconfig_of_account(NAMESPACE, component::PODGROUPER).await?;
    let addresses =
        ["--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0"];
    let arguments = daemon_arguments(&kubeconfig, &addresses);
    Daemon::start(plane.folder(), "kai-podgrouper", &binary("kai-podgrouper"), &arguments)
}

fn daemon_arguments(kubeconfig: &Path, flags: &[&str]) -> Vec<String> {
    let kubeconfig: PathBuf = kubeconfig.into();
    let first = format!("--kubeconfig={}", kubeconfig.display());
    std::iter::once(first).chain(flags.iter().map(|flag| (*flag).to_owned())).collect()
}
