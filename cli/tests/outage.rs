//! An API server that goes away: a proxy before the sandbox cuts every connection, refuses so many attempts, and lets the
//! next through. What follows a log or waits goes on as if nothing had been.

#[path = "stage/proxy.rs"]
mod proxy;
mod stage;

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use kai_api::names::{lease, namespace};
use kube::api::{Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use proxy::Proxy;
use serde_json::json;
use stage::Sandbox;

/// A cluster, and the command through the proxy before it.
struct World {
    _sandbox: Sandbox,
    kubeconfig: PathBuf,
    proxy: Proxy,
}

impl World {
    fn start() -> Self {
        let (sandbox, kubeconfig) = Sandbox::start("2xH100:8");
        let (proxy, kubeconfig) = Proxy::before(&kubeconfig);
        Self { _sandbox: sandbox, kubeconfig, proxy }
    }

    fn command(&self, words: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_kubectl-kai"))
            .args(words.split_whitespace())
            .env_clear()
            .env("KUBECONFIG", &self.kubeconfig)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("built with the tests")
    }

    fn run(&self, words: &str) {
        let output = self.command(words).wait_with_output().expect("it ran");
        assert!(output.status.success(), "{words}: {output:?}");
    }
}

#[test]
fn a_log_that_is_followed_through_an_outage_is_whole() {
    let world = World::start();
    world.run("submit job ranks --workers 2 --gpu 1 --image busybox -- sleep 100");
    let mut logs = world.command("logs -f ranks");
    let mut lines = BufReader::new(logs.stdout.take().expect("it is piped")).lines();
    let mut said: Vec<String> = Vec::new();
    while !said.iter().any(|line| line.contains("second 20:")) {
        said.push(lines.next().expect("the log goes on").expect("it is text"));
    }
    world.proxy.cut_after(Duration::ZERO);
    said.extend(lines.map(|line| line.expect("it is text")));
    let output = logs.wait_with_output().expect("it ended");
    let talk = String::from_utf8_lossy(&output.stderr);
    for rank in ["0", "1"] {
        let own: Vec<&str> = said
            .iter()
            .filter_map(|line| line.strip_prefix(&format!("[{rank}] second ")))
            .collect();
        let expect: Vec<String> = (1..=100).map(|second| format!("{second}: working")).collect();
        assert_eq!(own, expect, "{rank}\n{talk}");
    }
    assert!(output.status.success() && talk.contains("trying again until it answers"), "{talk}");
}

#[test]
fn what_is_waited_for_is_waited_for_through_an_outage() {
    let world = World::start();
    world.run("submit job long --gpu 1 --image busybox -- sleep 100");
    let mut wait = world.command("wait long");
    let mut talk = BufReader::new(wait.stderr.take().expect("it is piped"));
    let mut first = String::new();
    while !first.contains("Running") {
        assert!(talk.read_line(&mut first).expect("it is text") > 0, "{first}");
    }
    world.proxy.cut_after(Duration::ZERO);
    let mut rest = String::new();
    talk.read_to_string(&mut rest).expect("it is text");
    let ended = wait.wait().expect("it ended");
    let back = rest.find("the API server answers again");
    assert!(ended.success(), "{rest}");
    assert!(rest.contains("trying again") && back < rest.find("Succeeded"), "{rest}");
}

#[test]
fn the_time_to_wait_is_over_when_it_is_over() {
    let world = World::start();
    world.run("submit job long --gpu 1 --image busybox -- sleep 1000");
    let begin = Instant::now();
    let mut wait = world.command("wait long --timeout 4s");
    let mut talk = BufReader::new(wait.stderr.take().expect("it is piped"));
    let mut first = String::new();
    while !first.contains("long") {
        assert!(talk.read_line(&mut first).expect("it is text") > 0, "{first}");
    }
    // From here on the server says nothing, and its connections stay open.
    world.proxy.state.lock().expect("nobody panics with it").is_stalled = true;
    let mut rest = String::new();
    talk.read_to_string(&mut rest).expect("it is text");
    let ended = wait.wait().expect("it ended");
    assert_eq!(ended.code(), Some(124), "{rest}");
    assert!(rest.contains("still waiting after"), "{rest}");
    assert!(begin.elapsed() < Duration::from_secs(10), "it took {:?}", begin.elapsed());
}

#[test]
fn what_is_watched_is_told_at_once_after_a_long_quiet_and_after_an_outage() {
    let world = World::start();
    world.run("submit job first --gpu 1 --image busybox -- sleep 10000");
    let mut watch = world.command("list -w");
    let mut lines = BufReader::new(watch.stdout.take().expect("it is piped")).lines();
    let mut until_runs = |name: &str| {
        let runs = |line: &str| line.starts_with(name) && line.contains("Running");
        while !runs(&lines.next().expect("it goes on").expect("it is text")) {}
    };
    until_runs("first");
    let quiet = Duration::from_secs(10);
    std::thread::sleep(quiet);
    let begin = Instant::now();
    world.run("submit job second --gpu 1 --image busybox -- sleep 10000");
    until_runs("second");
    assert!(begin.elapsed() < quiet, "it took {:?}", begin.elapsed());

    world.proxy.cut_after(Duration::ZERO);
    let mut talk = BufReader::new(watch.stderr.take().expect("it is piped")).lines();
    let mut until_said = |what: &str| {
        while !talk.next().expect("it goes on").expect("it is text").contains(what) {}
    };
    until_said("trying again until it does");
    until_said("the API server answers again");
    world.run("submit job third --gpu 1 --image busybox -- sleep 10000");
    until_runs("third");
    // It would go on for ever.
    let _gone = watch.kill().and_then(|()| watch.wait());
}

#[test]
fn a_command_in_a_rank_whose_connection_breaks_is_no_longer_waited_for() {
    for words in ["exec long -- sleep 1000", "exec long --all-ranks -- sleep 1000"] {
        let world = World::start();
        world.run("submit job long --workers 2 --gpu 1 --image busybox -- sleep 10000");
        world.run("wait long --for running");
        let exec = world.command(words);
        world.proxy.cut_after(Duration::from_secs(3));
        let output = exec.wait_with_output().expect("it ended");
        let talk = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(8), "{words}: {talk}");
        assert!(talk.contains("broke off"), "{words}: {talk}");
    }
}

/// On a machine that stands still for a while the podgrouper's Lease runs out, and a sandbox goes on all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_outlives_the_lease_of_its_podgrouper() {
    let world = World::start();
    let file = Kubeconfig::read_from(&world.kubeconfig).expect("the sandbox wrote it");
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    let client = Client::try_from(config.expect("it is whole")).expect("it is whole");
    let leases: Api<Lease> = Api::namespaced(client, namespace::SYSTEM);
    let theft = json!({"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 1}});
    let (name, params) = (lease::PODGROUPER, PatchParams::default());
    leases.patch(name, &params, &Patch::Merge(&theft)).await.expect("it is held");
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        let lease = leases.get(name).await.expect("the sandbox goes on");
        let holder = lease.spec.and_then(|spec| spec.holder_identity);
        if holder.is_some_and(|holder| holder != "thief") {
            break;
        }
        assert!(Instant::now() < until, "nobody takes it back");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    world.run("submit job after --gpu 1 --image busybox -- sleep 1");
    world.run("wait after --for complete --timeout 1m");
}
