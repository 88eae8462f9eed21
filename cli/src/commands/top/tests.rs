//! Drawings by examples: nodes and pods in, text out.

use serde::Deserialize;

use super::*;
use crate::print::output::Output;

/// Holds what there is, and how the place looks where it is drawn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// None where they may not be read.
    nodes: Option<Vec<Value>>,
    pods: Vec<Pod>,
    /// Tells whether pods of all namespaces were read.
    #[serde(default = "yes")]
    is_complete: bool,
    #[serde(default = "wide")]
    columns: usize,
    #[serde(default)]
    ascii: bool,
}

/// A pod on a node.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pod {
    /// `namespace/name`.
    name: String,
    node: String,
    #[serde(default)]
    labels: Value,
    #[serde(default)]
    annotations: Value,
    #[serde(default)]
    limits: Value,
}

fn yes() -> bool {
    true
}

fn wide() -> usize {
    80
}

impl Pod {
    fn object(&self) -> Value {
        let (namespace, name) = self.name.split_once('/').expect("namespace/name");
        json!({
            "metadata": {"namespace": namespace, "name": name, "uid": name,
                "labels": self.labels, "annotations": self.annotations},
            "spec": {"nodeName": self.node, "containers": [{"name": "c", "resources": {"limits": self.limits}}]},
            "status": {"phase": "Running"},
        })
    }
}

fn drawn(case: &str) -> (String, String) {
    let case: Case = serde_saphyr::from_str(case).expect("written below");
    let pods: Vec<Value> = case.pods.iter().map(Pod::object).collect();
    let found = reservations(&pods);
    let reservations = (case.is_complete || !found.is_empty()).then_some(found);
    let seen = Seen { reservations, is_complete: case.is_complete, ..Seen::default() };
    let nodes = nodes::nodes(&Scene {
        nodes: case.nodes.as_deref(),
        pods: pods.iter().collect(),
        seen: &seen,
    });
    let mut out = Output::given(Box::new(Vec::new()), Box::new(Vec::new()));
    out.set_columns(case.columns);
    if case.ascii {
        out.set_ascii();
    }
    let plain = |text: String| anstream::adapter::strip_str(&text).to_string();
    let table = draw::nodes(&nodes, &out).text(false, &ListFlags::default(), case.columns);
    (plain(draw::devices(&nodes, &out)), plain(table))
}

fn check(case: &str, devices: &str, table: &str) {
    let got = drawn(case);
    assert_eq!(got.0.trim_end(), devices.trim(), "\n{}", got.0);
    assert_eq!(got.1.trim_end(), table.trim(), "\n{}", got.1);
}

const NODES: &str = "
nodes:
  - metadata: {name: n1, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3, nvidia.com/gpu.memory: '81559'}}
    status: {allocatable: {nvidia.com/gpu: '4'}, capacity: {nvidia.com/gpu: '4'}, conditions: [{type: Ready, status: 'True'}]}
";

const PODS: &str = "
pods:
  - {name: kai-resource-reservation/r1, node: n1, limits: {nvidia.com/gpu: 1},
     labels: {app: kai-resource-reservation, runai-gpu-group: g1},
     annotations: {run.ai/reserve_for_gpu_index: GPU-11111111-aaaa}}
  - {name: default/ana, node: n1, labels: {runai-gpu-group: g1}, annotations: {gpu-fraction: '0.5'}}
  - {name: research/ben, node: n1, labels: {runai-gpu-group: g1}, annotations: {gpu-memory: '8192'}}
  - {name: default/train-0, node: n1, limits: {nvidia.com/gpu: 2}}
";

#[test]
fn each_device_has_a_line_with_its_holders() {
    check(
        &format!("{NODES}{PODS}"),
        "
n1  4 x NVIDIA-H100-80GB-HBM3 · 2.61 of 4 held, 1 free
  GPU-11111111  ██████···· 0.61  default/ana 0.5, research/ben 8Gi · 0.39 left
  -             ██████████ 1     default/train-0
  -             ██████████ 1     default/train-0
  -             ·········· 0     free",
        "
NODE  GPU                    DEVICES  HELD    FREE  MIG  STATUS
n1    NVIDIA-H100-80GB-HBM3  ▄██·     2.61/4  1     -    ready",
    );
}

#[test]
fn what_no_node_has_is_counted_and_not_listed() {
    let pods = "pods:\n  - {name: evil/all, node: n1, limits: {nvidia.com/gpu: 300000}}";
    let (devices, _) = drawn(&format!("{NODES}{pods}"));
    let told = "300000 of 4 held, 0 free · 300000 devices are held, 299984 more devices not listed";
    assert!(devices.contains(told), "{devices}");
    assert_eq!(devices.trim_end().lines().count(), 17, "{devices}");
}

#[test]
fn a_narrow_place_without_unicode_still_shows_who_holds_what() {
    check(
        &format!("{NODES}{PODS}ascii: true\ncolumns: 50\n"),
        "
n1  4 x NVIDIA-H100-80GB-HBM3 - 2.61 of 4 held, 1 free
  GPU-11111111  0.61  default/ana 0.5, research...
  -             1     default/train-0
  -             1     default/train-0
  -             0     free",
        "
NODE  DEVICES  HELD    FREE  MIG  STATUS
n1    +##.     2.61/4  1     -    ready",
    );
}

#[test]
fn what_others_hold_is_not_called_free() {
    let own = "
is_complete: false
pods:
  - {name: default/ana, node: n1, labels: {runai-gpu-group: g1}, annotations: {gpu-fraction: '0.5'}}
  - {name: default/train-0, node: n1, limits: {nvidia.com/gpu: 1}}
";
    check(
        &format!("{NODES}{own}"),
        "
n1  4 x NVIDIA-H100-80GB-HBM3 · ? of 4 held, ? free
  ?  █████????? ?     default/ana 0.5 · others not readable
  -  ██████████ 1     default/train-0
  -  ?????????? ?     free, or held by pods that you may not list
  -  ?????????? ?     free, or held by pods that you may not list",
        "
NODE  GPU                    DEVICES  HELD  FREE  MIG  STATUS
n1    NVIDIA-H100-80GB-HBM3  ▄█??     ?/4   ?     -    ready",
    );
    check(
        own,
        "
n1  node not readable
  ?  █████????? ?     default/ana 0.5 · others not readable
  -  ██████████ 1     default/train-0",
        "
NODE  GPU  DEVICES  HELD  FREE  MIG  STATUS
n1    -    ▄█       ?/?   ?     -    -",
    );
}

#[test]
fn a_node_whose_devices_are_all_divided_says_so() {
    check(
        "
nodes:
  - metadata: {name: n1, labels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}}
    status: {allocatable: {nvidia.com/gpu: '0', nvidia.com/mig-1g.10gb: '7'}, capacity: {nvidia.com/gpu: '0'},
      conditions: [{type: Ready, status: 'True'}]}
pods:
  - {name: default/mig-0, node: n1, limits: {nvidia.com/mig-1g.10gb: 2}}
",
        "
n1  every NVIDIA-A100-SXM4-80GB divided by MIG
  mig 1g.10gb  2 of 7 held  default/mig-0 2",
        "
NODE  GPU                    DEVICES  HELD  FREE  MIG                STATUS
n1    NVIDIA-A100-SXM4-80GB  -        0/0   0     2 of 7 of 1g.10gb  ready",
    );
}

#[test]
fn what_is_wrong_with_nodes_and_reservations_is_marked() {
    check(
        "
nodes:
  - metadata: {name: n1}
    spec: {unschedulable: true, taints: [{key: gpu, value: a100, effect: NoSchedule}, {key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}
    status: {allocatable: {nvidia.com/gpu: '3', nvidia.com/mig-1g.10gb: '7'}, capacity: {nvidia.com/gpu: '4'}}
pods:
  - {name: kai-resource-reservation/r1, node: n1, labels: {app: kai-resource-reservation, runai-gpu-group: g1}}
  - {name: default/waits, node: n1, labels: {runai-gpu-group: g1}, annotations: {gpu-fraction: '0.25'}}
  - {name: kai-resource-reservation/r2, node: n1, labels: {app: kai-resource-reservation, runai-gpu-group: g2},
     annotations: {run.ai/reserve_for_gpu_index: GPU-2}}
  - {name: \"default/e\\e[2Jvil\", node: n1, labels: {runai-gpu-group: g3}, annotations: {gpu-fraction: '0.25'}}
  - {name: default/mig-0, node: n1, limits: {nvidia.com/mig-1g.10gb: 2}}
columns: 140
",
        "
n1  3 x GPU · 0.5 of 3 held, 0 free · not ready, cordoned, taint gpu=a100:NoSchedule, 1 GPU lost
  GPU-2        ·········· 0     reserved, nobody is on it
  ?            ███······· 0.25  default/waits 0.25 · 0.75 left · its reservation has not named the device yet
  ?            ███······· 0.25  default/e\\u{1b}[2Jvil 0.25 · 0.75 left · it has no reservation
  mig 1g.10gb  2 of 7 held  default/mig-0 2",
        "
NODE  GPU  DEVICES  HELD   FREE  MIG                STATUS
n1    -    ▄!!      0.5/3  0     2 of 7 of 1g.10gb  not ready, cordoned, taint gpu=a100:NoSchedule, 1 GPU lost",
    );
}

#[test]
fn uuids_are_as_long_as_they_must_be_to_differ() {
    let pod = |n: u32, uuid: &str| {
        format!(
            "  - {{name: kai-resource-reservation/r{n}, node: n1, labels: {{app: kai-resource-reservation, runai-gpu-group: g{n}}}, annotations: {{run.ai/reserve_for_gpu_index: {uuid}}}}}\n"
        )
    };
    let pods = format!("pods:\n{}{}", pod(1, "GPU-00000000-0001"), pod(2, "GPU-00000000-0002"));
    let (page, _) = drawn(&format!("{NODES}{pods}"));
    assert!(
        page.contains("  GPU-00000000-0001  ") && page.contains("  GPU-00000000-0002  "),
        "{page}"
    );
}

/// The scheduler goes by the queue of the group; what the pod says may be older.
#[test]
fn a_device_is_of_the_queue_of_its_holders_group() {
    let members = Members {
        queues: BTreeSet::from(["new".to_owned()]),
        groups: BTreeMap::from([(("ml".to_owned(), "pg".to_owned()), "new".to_owned())]),
    };
    for (group, label, expect) in [
        ("pg", "old", true),
        ("pg", "", true),
        ("", "new", true),
        ("", "old", false),
        ("other", "new", true),
    ] {
        let holder = Holder {
            namespace: "ml".into(),
            pod: "p".into(),
            pod_group: group.into(),
            queue_label: label.into(),
            share: String::new(),
            milli: None,
        };
        assert_eq!(members.has(&holder), expect, "group {group:?}, label {label:?}");
    }
}
