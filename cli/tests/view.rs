//! `top -i` in a terminal: keys are pressed, and the screen is read as somebody sees it.

mod stage;
mod terminal;

use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use stage::Sandbox;
use terminal::Pty;

fn run(kubeconfig: &str, line: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-kai"))
        .args(line.split(' '))
        .env("KUBECONFIG", kubeconfig)
        .output()
        .expect("built with the tests");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

fn start(kubeconfig: &str, words: &[&str]) -> Pty {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-kai"));
    Pty::run(command.args(words).env_clear().env("KUBECONFIG", kubeconfig))
}

#[test]
fn the_view_follows_the_cluster_and_gives_the_terminal_back() {
    let (_sandbox, kubeconfig) = Sandbox::start("2xH100:8");
    run(&kubeconfig, "submit job big --gpu 8 --workers 2 --image busybox --quiet -- sleep 100000");
    run(&kubeconfig, "wait big --for running --quiet");
    run(&kubeconfig, "submit job more --gpu 8 --workers 2 --image busybox --quiet -- sleep 100000");

    let mut view = start(&kubeconfig, &["top", "-i"]);
    view.wait(&["WAITING 1", "16/16 GPUs held, 0 free", "aaaaaaaa", "it needs 2 whole nodes"], &[]);
    view.press("e");
    view.wait(&["kubectl kai explain job/more", "more waits: it needs 2 whole nodes"], &["NODES"]);
    view.press("\x1b");
    view.wait(&["NODES 2", "QUEUES"], &["kubectl kai explain"]);
    run(&kubeconfig, "submit job late --gpu 1 --image busybox --quiet -- sleep 100000");
    view.wait(&["WAITING 2", "late"], &[]);
    view.press("w");
    view.wait(&["WORKLOADS 3", "big"], &[]);
    view.press("/big\r");
    view.wait(&["WORKLOADS 1", "/big"], &["late"]);
    view.press("d");
    view.wait(&["kubectl kai describe job/big", "Running"], &["QUEUES"]);
    view.press("q");
    view.wait(&["QUEUES"], &[]);
    view.press("q");
    assert_eq!(view.end().code(), Some(0));

    let mut view = start(&kubeconfig, &["top", "-i", "--ascii"]);
    view.wait(&["WAITING 2"], &["─"]);
    view.press("\x03");
    assert_eq!(view.end().code(), Some(130));

    let view = start(&kubeconfig, &["top", "-i"]);
    view.wait(&["WAITING 2"], &[]);
    let pid = Pid::from_child(&view.child);
    kill_process(pid, Signal::TERM).expect("it runs");
    assert_eq!(view.end().code(), Some(130));
}
