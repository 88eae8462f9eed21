//! Moves of a user of one namespace, in any order, take nothing from others.
//!
//! Sequences of moves are drawn and told as a story, so that one that fails can be put into `tests/live` as it is printed.
//! Two gangs of a neighbour run; the tenant has a queue with a limit of four GPUs and makes, edits and deletes what it may.
//! A book that reads no account of the product says what each pod was given when it was bound.
//!
//! The moves name the tenant's own queue alone: which queue it uses is a tenant's own choice, and what a queue's users do to
//! each other is its business (`docs/threats.md`).

use anyhow::{Context, Result};
use kai_tests::live::{Place, Scenario, TENANT, run};
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use serde_json::{Value, json};

/// A case is a cluster of its own and takes seconds; `cargo xtask hunt` draws more.
const CASES: u32 = 6;
/// A shorter sequence that fails is worth so many clusters.
const SHRINKS: u32 = 12;
/// The tenant's queue gives so many GPUs.
const LIMIT: u32 = 4;
/// Policies that refuse a tenant's edits while the daemons are down.
const POLICIES: [&str; 9] = [
    "kai-bound-pods",
    "kai-claims",
    "kai-gpu-shares",
    "kai-podgroups",
    "kai-queues",
    "kai-placed-pods",
    "kai-waiting-pods",
    "kai-resized-pods",
    "kai-records",
];
/// Objects of a kind that the moves know by number.
const NUMBERS: u32 = 6;

/// The kinds of GPUs that a pod of the tenant asks for.
fn ask() -> impl Strategy<Value = (Option<&'static str>, Option<&'static str>)> {
    prop_oneof![
        3 => prop_oneof![Just("1"), Just("2"), Just("5")].prop_map(|gpus| (Some(gpus), None)),
        2 => prop_oneof![Just("0.5"), Just("0.9")].prop_map(|part| (None, Some(part))),
        1 => Just((None, None)),
    ]
}

/// Labels and annotations that the product reads, with what a tenant may hope for of them; null takes one away.
fn mark() -> impl Strategy<Value = Value> {
    let annotation = |key: &'static str, values: Vec<Value>| {
        prop::sample::select(values).prop_map(move |value| json!({"annotations": {key: value}}))
    };
    let label = |key: &'static str, values: Vec<Value>| {
        prop::sample::select(values).prop_map(move |value| json!({"labels": {key: value}}))
    };
    prop_oneof![
        annotation("gpu-fraction", vec![json!("0.0001"), json!("0.99"), Value::Null]),
        annotation("gpu-memory", vec![json!("1"), json!("999999")]),
        annotation("gpu-fraction-num-devices", vec![json!("2"), json!("64")]),
        annotation("pod-group-name", vec![json!("group-0"), json!("ana"), Value::Null]),
        annotation("received-resource-type", vec![json!("Regular"), json!("Fraction")]),
        label("runai-gpu-group", vec![json!("mine"), Value::Null]),
        label("app", vec![json!("scaling-pod"), json!("kai-resource-reservation")]),
        label("kai.scheduler/subgroup-name", vec![json!("s0"), json!("nowhere")]),
        label("kai.scheduler/node-pool", vec![json!("elsewhere"), Value::Null]),
        label("priorityClassName", vec![json!("inference"), json!("nothing")]),
    ]
}

fn create_pod() -> impl Strategy<Value = Value> {
    let zeros = prop_oneof![4 => Just(0_u32), 1 => Just(260)];
    let junk = prop_oneof![4 => Just(0_u32), 1 => Just(50_000)];
    let extra = prop_oneof![3 => Just(json!({})), 1 => mark()];
    // Some go on for an hour after they were asked to stop.
    let grace = prop_oneof![3 => Just(0_u32), 1 => Just(3_600)];
    (0..NUMBERS, 0..NUMBERS, ask(), extra, (zeros, junk, grace)).prop_map(
        |(name, group, (gpus, part), extra, (zeros, junk, grace))| {
            let mut metadata = json!({
                "name": format!("pod-{name}"),
                // Where it has no group the podgrouper makes one, in this queue.
                "labels": {"kai.scheduler/queue": TENANT},
                "annotations": {
                    "pod-group-name": format!("group-{group}"),
                    "sandbox.kai.scheduler/stop-seconds": grace.to_string(),
                },
            });
            if let Some(part) = part {
                metadata["annotations"]["gpu-fraction"] = json!(part);
            }
            for (field, pairs) in extra.as_object().into_iter().flatten() {
                for (key, value) in pairs.as_object().into_iter().flatten() {
                    if !value.is_null() && key != "gpu-fraction" {
                        metadata[field][key] = value.clone();
                    }
                }
            }
            let limits = gpus.map_or(json!({}), |gpus| json!({"nvidia.com/gpu": gpus}));
            let resources = json!({"limits": limits, "requests": {"cpu": "100m", "memory": "64Mi"}});
            let container = json!({"name": "main", "image": "busybox", "resources": resources});
            json!({"zeros": zeros, "junk-bytes": junk, "create": {
                "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
                "spec": {"schedulerName": "kai-scheduler", "terminationGracePeriodSeconds": grace, "containers": [container]},
            }})
        },
    )
}

fn create_group() -> impl Strategy<Value = Value> {
    let shape = prop_oneof![
        4 => Just((0_u32, 0_u32)),
        1 => Just((30, 0)),
        1 => Just((0, 400)),
    ];
    (0..NUMBERS, 1..4_u32, shape).prop_map(|(name, min, (chain, fan))| {
        json!({"chain": chain, "fan": fan, "create": {
            "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": {"name": format!("group-{name}"), "annotations": {}},
            "spec": {"queue": TENANT, "minMember": min},
        }})
    })
}

fn edit_group() -> impl Strategy<Value = Value> {
    let spec = prop_oneof![
        (0..5_u32).prop_map(|min| json!({"minMember": min})),
        Just(json!({"markUnschedulable": true})),
        Just(json!({"priorityClassName": "inference"})),
        Just(json!({"priorityClassName": "train"})),
        Just(json!({"preemptibility": "non-preemptible"})),
        // What waits there waits for ever; what runs stays where it was.
        Just(json!({"queue": "nowhere"})),
        Just(json!({"queue": TENANT})),
    ];
    let edit = prop_oneof![
        6 => spec.prop_map(|spec| json!({"spec": spec})),
        1 => Just(json!({"metadata": {"labels": {"kai.scheduler/node-pool": "elsewhere"}}})),
        1 => Just(json!({"metadata": {"labels": {"kai.scheduler/node-pool": null}}})),
        1 => Just(json!({"metadata": {"annotations": {"kai.scheduler/last-start-timestamp": "2999-01-01T00:00:00Z"}}})),
    ];
    (0..NUMBERS, edit)
        .prop_map(|(name, edit)| json!({"patch": {format!("PodGroup/group-{name}"): edit}}))
}

/// Objects that the daemons alone write: what a scheduler that starts would carry out, and what the podgrouper would read.
fn write_record() -> impl Strategy<Value = Value> {
    let node = prop_oneof![Just("node-1"), Just("node-2"), Just("nowhere")];
    let received = prop_oneof![Just("Regular"), Just("Fraction")];
    let request = (0..NUMBERS, node, received).prop_map(|(name, node, received)| {
        let name = format!("pod-{name}");
        json!({"create": {
            "apiVersion": "scheduling.run.ai/v1alpha2", "kind": "BindRequest", "metadata": {"name": name},
            "spec": {"podName": name, "selectedNode": node, "receivedResourceType": received},
        }})
    });
    let edit = (0..NUMBERS).prop_map(|name| {
        let failed = json!({"status": {"phase": "Failed"}});
        json!({"patch": {format!("BindRequest/pod-{name}"): failed}})
    });
    let day = prop_oneof![Just("2026-01-01"), Just("2999-01-01")];
    let record = (0..NUMBERS, day).prop_map(|(name, day)| {
        let metadata =
            json!({"name": format!("record-{name}"), "labels": {"kai.scheduler/day": day}});
        json!({"create": {
            "apiVersion": "kai.scheduler/v1alpha1", "kind": "DailyRecord", "metadata": metadata, "spec": {"day": day},
        }})
    });
    prop_oneof![3 => request, 1 => edit, 1 => record]
}

/// One move of the tenant, as a story has it.
fn one_move() -> impl Strategy<Value = Value> {
    let edit = (0..NUMBERS, mark())
        .prop_map(|(name, mark)| json!({"patch": {format!("Pod/pod-{name}"): {"metadata": mark}}}));
    let resize = (0..NUMBERS, prop_oneof![Just("1m"), Just("1"), Just("120"), Just("100000")])
        .prop_map(
            |(name, cpu)| json!({"resize": {format!("pod-{name}"): {"requests": {"cpu": cpu}}}}),
        );
    let of = prop_oneof![
        4 => Just("Pod/pod"),
        1 => Just("PodGroup/group"),
        1 => Just("BindRequest/pod"),
    ];
    let delete =
        (0..NUMBERS, of).prop_map(|(name, of)| json!({"delete": [format!("{of}-{name}")]}));
    let any = prop_oneof![
        10 => create_pod().boxed(),
        4 => create_group().boxed(),
        8 => edit.boxed(),
        3 => resize.boxed(),
        3 => edit_group().boxed(),
        5 => delete.boxed(),
        2 => write_record().boxed(),
        1 => Just(json!({"delete-all": ["Pod"]})).boxed(),
    ];
    any.prop_map(|mut one| {
        one["by-chance"] = json!(true);
        one
    })
}

/// Steps after which the tenant may do anything in its namespace: no role of the product lets it write what the daemons do.
fn rights() -> [Value; 2] {
    [
        // Its namespace is there once it has made something.
        json!({"tenant": [{"create": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}}]}),
        json!({"create": [{
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "owner", "namespace": TENANT},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": TENANT, "namespace": TENANT}],
        }]}),
    ]
}

/// The story of these moves, a few at a time; without policies edits of bound pods are not refused, and what the daemons alone
/// write is there, which nobody reads while they live.
fn story(moves: &[Value], policies: bool) -> Value {
    let mut steps = Vec::from(rights());
    steps.extend([
        json!({"queue": {"name": "team-a", "gpu": 9}}),
        json!({"queue": {"name": TENANT, "gpu": LIMIT, "limit": LIMIT}}),
        json!({"gang": {"name": "ana", "queue": "team-a", "pods": 8, "gpu": "1"}}),
        json!({"gang": {"name": "halves", "queue": "team-a", "pods": 2, "gpu": "0.5"},
            "expect": {"bound": {"ana": 8, "halves": 2}}}),
    ]);
    if !policies {
        let names = POLICIES.map(|name| format!("ValidatingAdmissionPolicyBinding/{name}"));
        steps.push(json!({"delete": names}));
    }
    // Every tenth move or so the cluster is given the time to follow.
    for some in moves.chunks(10) {
        steps.push(json!({"tenant": some, "expect": {"bound": {"ana": 8, "halves": 2}, "tenant-holds-at-most": LIMIT}}));
    }
    let written = |at: u32| [format!("BindRequest/pod-{at}"), format!("DailyRecord/record-{at}")];
    let refused: Vec<String> =
        if policies { (0..NUMBERS).flat_map(written).collect() } else { Vec::new() };
    // Of 16 GPUs the neighbour has nine and the tenant four.
    steps.push(json!({"gang": {"name": "canary", "queue": "team-a", "pods": 3, "gpu": "1"},
        "expect": {"bound": {"ana": 8, "halves": 2, "canary": 3}, "tenant-holds-at-most": LIMIT, "gone": refused}}));
    json!({
        "about": "Moves of a tenant that were drawn.", "nodes": "2xH100:8", "ledger": true, "admission": true,
        "steps": steps,
    })
}

async fn tell(story: &Value) -> Result<()> {
    let scenario: Scenario = serde_json::from_value(story.clone())?;
    let place = Place::embedded().await?;
    let told = run(&scenario, &place).await;
    place.stop().await;
    told
}

#[test]
fn no_order_of_moves_takes_anything_from_others() -> Result<()> {
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let set = std::env::var("PROPTEST_CASES").is_ok();
    let cases = if set { Config::default().cases.div_ceil(400) } else { CASES };
    let config =
        Config { cases, max_shrink_iters: SHRINKS, failure_persistence: None, ..Config::default() };
    let drawn = (vec(one_move(), 10..60), any::<bool>());
    let result = TestRunner::new(config).run(&drawn, |(moves, policies)| {
        let story = story(&moves, policies);
        let told = runtime.block_on(tell(&story));
        told.map_err(|error| {
            let told = format!("{error:#}\n{}", written(&story));
            tracing::info!("{told}");
            TestCaseError::fail(told)
        })
    });
    result.context("a sequence of moves")?;
    Ok(())
}

/// The story as a file of `tests/live`.
fn written(story: &Value) -> String {
    serde_saphyr::to_string(story).unwrap_or_else(|error| error.to_string())
}
