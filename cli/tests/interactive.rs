//! `submit` on a terminal: what it asks, how one gets into a container, and what Ctrl-C ends.

mod stage;
mod terminal;

use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use stage::Sandbox;
use terminal::Pty;

/// Returns what a command line prints on stdout without a terminal.
fn run(kubeconfig: &str, line: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-kai"))
        .args(line.split(' '))
        .env("KUBECONFIG", kubeconfig)
        .output()
        .expect("built with the tests");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn start(kubeconfig: &str, line: &str) -> Pty {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-kai"));
    Pty::run(command.args(line.split(' ')).env_clear().env("KUBECONFIG", kubeconfig))
}

#[test]
fn a_shell_is_submitted_and_gone_with_its_code() {
    let (_sandbox, kubeconfig) = Sandbox::start("1xH100:2");
    let line = "submit -it --rm job dev --gpu 0.5 --image busybox -- bash";
    let mut shell = start(&kubeconfig, line);
    shell.wait(&["job.batch/dev created", "press Enter for a prompt", "\n#"], &[]);
    shell.press("stty size\r");
    shell.wait(&["24 80\n#"], &[]);
    shell.press("nvidia-smi -L\r");
    shell.wait(&["GPU 0: NVIDIA H100"], &[]);
    // Ctrl-C is the container's.
    shell.press("sleep 1000\r");
    shell.wait(&["# sleep 1000"], &[]);
    shell.press("\x03");
    shell.wait(&["^C\n#"], &[]);
    shell.press("exit 3\r");
    shell.wait(&["job.batch/dev deleted"], &[]);
    assert_eq!(shell.end().code(), Some(3));
    assert_eq!(run(&kubeconfig, "list -o name"), "");
}

#[test]
fn whoever_waits_for_a_shell_goes_with_ctrl_c_and_the_work_stays() {
    let (_sandbox, kubeconfig) = Sandbox::start("1xH100:2");
    run(&kubeconfig, "submit job all --gpu 2 --image busybox -- sleep infinity");
    run(&kubeconfig, "wait all --for running");
    let line = "submit -it --rm job dev --gpu 1 --image busybox -- bash";
    let shell = start(&kubeconfig, line);
    shell.wait(&["it needs 1 GPU on one node, none is free"], &[]);
    kill_process(Pid::from_child(&shell.child), Signal::INT).expect("it runs");
    shell.wait(&["stopped waiting; dev goes on"], &[]);
    assert_eq!(shell.end().code(), Some(130));
    assert!(run(&kubeconfig, "list -o name").contains("job.batch/dev"));
}

#[test]
fn submit_without_a_word_asks_for_the_few_things_that_are_needed() {
    let (_sandbox, kubeconfig) = Sandbox::start("1xH100:2");
    let mut asked = start(&kubeconfig, "submit");
    asked.wait(&["Kinds: job", "Kind [job]: "], &[]);
    asked.press("jobb\r");
    asked.wait(&["error: one of job,"], &[]);
    asked.press("\r");
    asked.wait(&["Name: "], &[]);
    asked.press("Hello\r");
    asked.wait(&["has to be of a-z"], &[]);
    asked.press("hello\r");
    asked.wait(&["default-queue  0 GPU used", "Queue [default-queue]: "], &[]);
    asked.press("nope\r");
    asked.wait(&["queue \"nope\" does not exist"], &[]);
    asked.press("\r");
    asked.wait(&["GPUs of each pod"], &[]);
    asked.press("0.5\r");
    asked.wait(&["Image: "], &[]);
    asked.press("busybox\r");
    asked.wait(&["Command (empty"], &[]);
    asked.press("sh -c 'echo hi; sleep 1000'\r");
    asked.wait(
        &[
            "kubectl kai submit job hello -q default-queue --gpu 0.5 --image busybox",
            "Submit? [y/N] ",
        ],
        &[],
    );
    asked.press("y\r");
    asked.wait(&["job.batch/hello created"], &[]);
    assert_eq!(asked.end().code(), Some(0));
    assert_eq!(run(&kubeconfig, "list -o jsonpath={.items[*].name}").trim(), "hello");
}

#[test]
fn what_is_not_confirmed_is_not_submitted() {
    let (_sandbox, kubeconfig) = Sandbox::start("1xH100:2");
    let mut asked = start(&kubeconfig, "submit");
    for (question, answer) in [
        ("Kind [job]: ", "pytorch\r"),
        ("Name: ", "ddp\r"),
        ("Queue [default-queue]: ", "\r"),
        ("Workers [1]: ", "2\r"),
        ("GPUs of each pod", "\r"),
        ("Image: ", "i\r"),
        ("Command (empty", "\r"),
        ("submit pytorch ddp -q default-queue --workers 2 --gpu 1 --image i", ""),
        ("Submit? [y/N] ", "\r"),
        ("nothing was changed", ""),
    ] {
        asked.wait(&[question], &[]);
        asked.press(answer);
    }
    assert_eq!(asked.end().code(), Some(1));
    assert_eq!(run(&kubeconfig, "list -o name"), "");
}
