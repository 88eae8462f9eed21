//! The project's own programs as a user and a cluster start them.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context, Result, ensure};
use kai_api::names::component;

use super::NAMESPACE;
use crate::{
    control_plane::ControlPlane,
    daemon::{Daemon, binary},
};

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

pub(super) fn succeed(output: &Output) -> Result<String> {
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{}:\n{stdout}\n{stderr}", output.status);
    Ok(stdout.into_owned())
}

/// Starts simulated nodes, as `kubectl kai sandbox --nodes` takes them.
///
/// # Errors
///
/// When the process does not start.
pub fn start_nodes(plane: &ControlPlane, nodes: &str) -> Result<Daemon> {
    let arguments = [
        "sandbox".to_owned(),
        format!("--kubeconfig={}", plane.kubeconfig().display()),
        "--attach=test".into(),
        format!("--nodes={nodes}"),
        "--operators=none".into(),
    ];
    Daemon::start(plane.folder(), "nodes", &binary("kubectl-kai"), &arguments)
}

/// Starts kai-scheduler under its own account with further flags; `name` is that of its log.
///
/// # Errors
///
/// When there is no such account, or the process does not start.
pub async fn start_scheduler(plane: &ControlPlane, name: &str, flags: &[&str]) -> Result<Daemon> {
    let kubeconfig = plane.kubeconfig_of_account(NAMESPACE, component::SCHEDULER).await?;
    let image = "--resource-reservation-pod-image=kai-scheduler";
    let fixed = ["--listen-address=127.0.0.1:0", "--plugin-server-port=0", image];
    let arguments = daemon_arguments(&kubeconfig, &[&fixed[..], flags].concat());
    Daemon::start(plane.folder(), name, &binary("kai-scheduler"), &arguments)
}

/// Starts kai-podgrouper under its own account with further flags.
///
/// # Errors
///
/// When there is no such account, or the process does not start.
pub async fn start_podgrouper(plane: &ControlPlane, flags: &[&str]) -> Result<Daemon> {
    let kubeconfig = plane.kubeconfig_of_account(NAMESPACE, component::PODGROUPER).await?;
    let addresses = [
        "--metrics-bind-address=127.0.0.1:0",
        "--health-probe-bind-address=127.0.0.1:0",
        "--namespace=kai-scheduler",
    ];
    let arguments = daemon_arguments(&kubeconfig, &[&addresses[..], flags].concat());
    Daemon::start(plane.folder(), "kai-podgrouper", &binary("kai-podgrouper"), &arguments)
}

fn daemon_arguments(kubeconfig: &Path, flags: &[&str]) -> Vec<String> {
    let kubeconfig: PathBuf = kubeconfig.into();
    let first = format!("--kubeconfig={}", kubeconfig.display());
    std::iter::once(first).chain(flags.iter().map(|flag| (*flag).to_owned())).collect()
}
