//! The real kubectl with the sandbox: what it sends before and beside the objects themselves.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use kai_tests::{control_plane::leave_out, daemon::binary, sandbox::Sandbox};

/// Runs kubectl with words and an input, and returns what it prints.
fn kubectl(sandbox: &Sandbox, words: &str, input: &str) -> Result<String> {
    let mut child = Command::new("kubectl")
        .args(words.split(' '))
        .env("KUBECONFIG", sandbox.kubeconfig())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    child.stdin.take().context("its input is piped")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "kubectl {words}: {talk}");
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn what_kubectl_prints_as_a_list_can_be_applied() -> Result<()> {
    if Command::new("kubectl").arg("version").arg("--client").output().is_err() {
        leave_out("kubectl", "needs kubectl: https://kubernetes.io/docs/tasks/tools");
        return Ok(());
    }
    let sandbox = Sandbox::start(&binary("kubectl-kai"), "none", &["--operators", "none"])?;
    kubectl(&sandbox, "create configmap one", "")?;
    kubectl(&sandbox, "create configmap two", "")?;
    let list =
        kubectl(&sandbox, "get configmap/one configmap/two queue/default-queue -o yaml", "")?;
    ensure!(list.contains("kind: List"), "{list}");
    kubectl(&sandbox, "delete configmap one two", "")?;
    let applied = kubectl(&sandbox, "apply --dry-run=server -o name -f -", &list)?;
    let names: Vec<&str> = applied.lines().collect();
    ensure!(
        names == ["configmap/one", "configmap/two", "queue.scheduling.run.ai/default-queue"],
        "{applied}"
    );
    Ok(())
}
