//! A plan made on a live cluster is what the scheduler then does: the same nodes, and nobody else moves.

mod stage;

use std::collections::BTreeMap;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use stage::Sandbox;

/// Sets how long work may take to be placed.
const PLACED_WITHIN: Duration = Duration::from_mins(1);

/// Returns what a command prints under `-o json`.
fn run(kubeconfig: &str, words: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-kai"))
        .args(["-o", "json"])
        .args(words.split_whitespace())
        .env("KUBECONFIG", kubeconfig)
        .output()
        .expect("the program runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{words}: {error}\n{}", String::from_utf8_lossy(&output.stderr))
    })
}

/// Says how many pods of a workload each node has.
fn nodes(kubeconfig: &str, name: &str) -> BTreeMap<String, usize> {
    let pods = run(kubeconfig, "list --pods");
    let mut nodes = BTreeMap::new();
    for pod in pods["items"].as_array().into_iter().flatten() {
        let workload = pod["workload"].as_str().unwrap_or_default();
        let is_it = workload.split_once('/').is_some_and(|(_, own)| own == name);
        if let Some(node) = pod["node"].as_str().filter(|_| is_it) {
            *nodes.entry(node.to_owned()).or_default() += 1;
        }
    }
    nodes
}

/// The nodes of a plan.
fn planned(plan: &Value) -> BTreeMap<String, usize> {
    let mut nodes = BTreeMap::new();
    for pod in plan["workloads"][0]["pods"].as_array().into_iter().flatten() {
        if let Some(node) = pod["node"].as_str() {
            *nodes.entry(node.to_owned()).or_default() += 1;
        }
    }
    nodes
}

#[test]
fn what_is_planned_is_then_done() {
    let (_sandbox, kubeconfig) = Sandbox::start("2xH100:8,1xA100:4");
    let mut before: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for (name, work) in [
        ("one", "job one --gpu 1 --image busybox"),
        ("half", "job half --gpu 0.5 --image busybox"),
        ("gang", "pytorch gang --gpu 2 --workers 3 --image busybox"),
        ("wide", "job wide --gpu 4 --image busybox"),
        ("quarter", "job quarter --gpu 0.25 --image busybox"),
        ("whole", "job whole --gpu 8 --image busybox"),
        ("late", "job late --gpu 8 --image busybox"),
    ] {
        let plan = run(&kubeconfig, &format!("simulate {work}"));
        let start = plan["workloads"][0]["start"]["when"].as_str().unwrap_or_default().to_owned();
        assert_eq!(plan["evicted"], Value::Array(Vec::new()), "{name}");
        run(&kubeconfig, &format!("submit {work} -- sleep 100000"));
        let expect = planned(&plan);
        let end = Instant::now() + PLACED_WITHIN;
        let starts = start == "now";
        let pods: usize = expect.values().sum();
        while starts
            && nodes(&kubeconfig, name).values().sum::<usize>() < pods
            && Instant::now() < end
        {
            sleep(Duration::from_millis(100));
        }
        let is = nodes(&kubeconfig, name);
        assert_eq!(is, if starts { expect } else { BTreeMap::new() }, "{name}: {start}");
        for (other, places) in &before {
            assert_eq!(&nodes(&kubeconfig, other), places, "{other} stays where it was");
        }
        before.insert(name, is);
    }
    assert!(before["late"].is_empty(), "something has to wait");
}
