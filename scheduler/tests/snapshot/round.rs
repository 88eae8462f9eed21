//! Shows that what is written is read as it was: the engine hears of a snapshot what it would have heard of a watch.

use std::fs;

use kai_engine::{Cluster, Delta, Timestamp};
use kai_scheduler::{
    Args, config,
    ingest::{Ingest, Kind, Rules},
    settings::Settings,
    snapshot::{self, ARRAYS, Header, Of, Part, Snapshot},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::decided;

/// 2026-01-01T00:00:00Z.
const NOW: Timestamp = Timestamp(1_767_225_600_000);

/// A pod of some group, somewhere.
fn pod(number: usize) -> impl Strategy<Value = Value> {
    let gpus = prop_oneof![
        Just(json!({})),
        Just(json!({"nvidia.com/gpu": "1"})),
        Just(json!({"nvidia.com/gpu": "2"}))
    ];
    let state = (0_u8..4, 0_u8..3, any::<bool>());
    (gpus, 0_u8..4, state).prop_map(move |(gpus, group, (phase, node, leaves))| {
        let phase_name = ["Pending", "Running", "Succeeded", "Pending"][usize::from(phase)];
        let mut pod = json!({
            "metadata": {
                "name": format!("p-{number}"),
                "namespace": "ns",
                "uid": format!("00000000-0000-0000-0000-{number:012}"),
                "creationTimestamp": "2025-12-31T23:00:00Z",
                "annotations": {"pod-group-name": format!("g-{group}")},
            },
            "spec": {
                "schedulerName": "kai-scheduler",
                "containers": [{"name": "c", "image": "x", "resources": {"requests": gpus}}],
            },
            "status": {"phase": phase_name},
        });
        if phase != 0 {
            pod["spec"]["nodeName"] = json!(format!("n-{node}"));
        }
        if phase == 1 && leaves {
            pod["metadata"]["deletionTimestamp"] = json!("2025-12-31T23:59:50Z");
        }
        pod
    })
}

fn node(number: usize) -> impl Strategy<Value = Value> {
    (0_u8..5).prop_map(move |gpus| {
        let amounts = json!({"cpu": "64", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": gpus.to_string()});
        json!({
            "metadata": {"name": format!("n-{number}"), "labels": {"kubernetes.io/hostname": format!("n-{number}")}},
            "status": {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
        })
    })
}

fn queue(number: usize) -> impl Strategy<Value = Value> {
    (-1_i8..4, -1_i8..4).prop_map(move |(quota, limit)| {
        let all = json!({"quota": -1, "limit": -1});
        let gpu = json!({"quota": quota, "limit": limit, "overQuotaWeight": 1});
        json!({
            "metadata": {"name": format!("q-{number}"), "uid": format!("00000000-0000-0000-0002-{number:012}"), "creationTimestamp": "2025-12-31T22:00:00Z"},
            "spec": {"resources": {"gpu": gpu, "cpu": all, "memory": all}},
        })
    })
}

/// Groups of one second are told apart by their UIDs.
fn group(number: usize) -> impl Strategy<Value = Value> {
    (0_u8..3, 1_u8..4).prop_map(move |(queue, min)| {
        json!({
            "metadata": {"name": format!("g-{number}"), "namespace": "ns", "uid": format!("00000000-0000-0000-0001-{number:012}"), "creationTimestamp": "2025-12-31T22:30:00Z"},
            "spec": {"queue": format!("q-{queue}"), "minMember": min, "priorityClassName": if min == 1 { "build" } else { "" }},
        })
    })
}

/// So many objects of one kind.
fn many<S: Strategy<Value = Value> + 'static>(
    count: usize,
    of: impl Fn(usize) -> S,
) -> impl Strategy<Value = Vec<Value>> {
    let all: Vec<BoxedStrategy<Value>> = (0..count).map(|number| of(number).boxed()).collect();
    (Just(all), 0..=count).prop_flat_map(|(all, count)| all[..count].to_vec())
}

fn cluster() -> impl Strategy<Value = [(&'static str, Vec<Value>); 5]> {
    (many(3, node), many(2, queue), many(4, group), many(8, pod)).prop_map(
        |(nodes, queues, groups, pods)| {
            let class = json!({"metadata": {"name": "build"}, "value": 100});
            [
                ("nodes", nodes),
                ("queues", queues),
                ("podGroups", groups),
                ("priorityClasses", vec![class]),
                ("pods", pods),
            ]
        },
    )
}

/// A pod that ended well without what nobody asks of it, as KAI caches it.
fn reduced(object: &Value) -> Value {
    let mut object = object.clone();
    if object["status"]["phase"] == "Succeeded" {
        object["spec"] = json!({"schedulerName": object["spec"]["schedulerName"]});
        object["metadata"]["creationTimestamp"] = Value::Null;
    }
    object
}

/// Works out what the live scheduler would have after these objects came by its watches.
fn watched(arrays: &[(&'static str, Vec<Value>)], args: &Args) -> Ingest {
    let mut ingest = Ingest::new(Rules::new(args));
    for kind in Kind::ALL {
        ingest.begin(kind);
    }
    for (key, objects) in arrays {
        let array = ARRAYS.iter().find(|array| array.key == *key).expect("an array");
        let Of::Kind(kind) = array.of else { continue };
        for object in objects.iter().map(reduced) {
            ingest.applied(kind, object.to_string().as_bytes()).expect("an object");
        }
    }
    for kind in Kind::ALL {
        ingest.end(kind);
    }
    let mut cluster = Cluster::default();
    ingest.advance(NOW);
    for delta in &ingest.context.deltas {
        cluster.apply(delta.clone());
    }
    ingest.tell_again(&|pod| cluster.pod_told(pod));
    ingest
}

/// The same cluster as bare JSON, with its parts in another order.
fn in_order(arrays: &[(&str, Vec<Value>)], order: &[usize], header: &Header) -> String {
    let parts = order.iter().map(|at| format!("\"{}\":{}", arrays[*at].0, json!(arrays[*at].1)));
    format!(
        "{{\"rawObjects\":{{{}}},\"schedulerParams\":{},\"config\":{}}}",
        parts.collect::<Vec<_>>().join(","),
        header.params,
        header.config
    )
}

proptest! {
    #[test]
    fn the_order_of_parts_does_not_matter(arrays in cluster(), order in Just([0, 1, 2, 3, 4]).prop_shuffle()) {
        let header = Header {
            taken: NOW,
            config: snapshot::configuration(&kai_api::shard::SchedulingShardSpec::default()),
            params: snapshot::parameters(&Args::default()),
            discovery: None,
        };
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("snapshot.json");
        let mut said = [&[0, 1, 2, 3, 4], &order].map(|order| {
            fs::write(&path, in_order(&arrays, order, &header)).expect("a file");
            let mut read = Snapshot::read(&path).expect("it is one");
            super::understood(&mut read)
        });
        // Pods of one group that are alike may be told in any order.
        for text in &mut said {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.sort_unstable();
            *text = lines.join("\n");
        }
        prop_assert_eq!(&said[0], &said[1]);
    }

    #[test]
    fn a_snapshot_is_what_a_watch_would_have_told(arrays in cluster(), restricted: bool, hierarchy: bool) {
        let args = Args {
            full_hierarchy_fairness: hierarchy,
            restrict_node_scheduling: restricted,
            ..Args::default()
        };
        let spec = kai_api::shard::SchedulingShardSpec::default();
        let source = config::Source::new(&args).expect("no file");
        let shards = [(String::from("default"), spec.clone())];
        let live: Settings = source.settings(shards.iter().map(|(name, spec)| (name, spec)));
        let mut ingest = watched(&arrays, &args);
        let mut engine = Cluster::default();
        // Nothing of claims is in the file, so none are served.
        engine.apply(Delta::ClaimsServed(false));
        for delta in ingest.context.deltas.drain(..) {
            engine.apply(delta);
        }

        let header = Header {
            taken: NOW,
            config: snapshot::configuration(&spec),
            params: snapshot::parameters(&args),
            discovery: None,
        };
        let parts = arrays.iter().flat_map(|(key, objects)| {
            let array = ARRAYS.iter().find(|array| array.key == *key).expect("an array");
            std::iter::once(Part::Array(array)).chain(objects.iter().cloned().map(Part::Object))
        });
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("snapshot.zip");
        let file = fs::File::create(&path).expect("a file");
        let counts = snapshot::write(file, &header, parts).expect("it is written");
        let mut read = Snapshot::read(&path).expect("what was written is read");
        for (key, objects) in &arrays {
            prop_assert_eq!(counts[key], objects.len());
            prop_assert_eq!(read.counts.get(key).copied().unwrap_or(0), objects.len());
        }
        prop_assert_eq!(read.taken, NOW);
        prop_assert_eq!(&read.settings.config, &live.config);
        let plan = kai_engine::plan(&mut engine, &live.config, NOW);
        let planned = read.plan();
        prop_assert_eq!(&plan, &planned);
        prop_assert_eq!(format!("{engine:?}"), format!("{:?}", read.cluster), "{}", decided(&read, &planned));
        prop_assert_eq!(read.cluster.check(), Vec::<String>::new());
    }
}
