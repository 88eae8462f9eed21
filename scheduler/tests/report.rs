//! Tests what is written on a `PodGroup`, and when, as its reasons change.

use std::{collections::BTreeMap, sync::Arc};

use kai_engine::{Cluster, Config, Timestamp};
use kai_scheduler::{
    Args,
    actuate::{GroupChange, Task},
    dispatch::{Dispatch, GroupWrites},
    ingest::{Ingest, Kind, Rules},
    names::Number as _,
    report::{Context, Report},
    serve::metrics::Metrics,
};
use serde_json::{Value, json};

/// 2026-01-01T00:00:00Z.
const BEGIN: i64 = 1_767_225_600_000;

/// A cluster, and what is said of its groups.
struct World {
    ingest: Ingest,
    cluster: Cluster,
    report: Report,
    writes: GroupWrites,
    dispatch: Dispatch,
}

impl World {
    fn new() -> Self {
        let args = Args::from_command_line(["kai-scheduler".into()]).expect("no flags are valid");
        Self {
            ingest: Ingest::new(Rules::new(&args)),
            cluster: Cluster::default(),
            report: Report::default(),
            writes: GroupWrites::default(),
            dispatch: Dispatch {
                pool: "default".into(),
                pool_label: None,
                component: Arc::from("kai-scheduler"),
                announces_evictions: false,
                asks_budgets: false,
                metrics: Metrics::new("kai"),
                devices_version: "v1",
                has_hami_core: false,
                has_cdi: tokio::sync::watch::channel(false).1,
            },
        }
    }

    fn apply(&mut self, object: &Value) {
        let name = object["kind"].as_str().expect("a kind");
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name).expect("a watched kind");
        self.ingest.applied(kind, object.to_string().as_bytes()).expect("it can be read");
    }

    /// Decides, and returns what is written of groups so long after the beginning: each write succeeds at once.
    fn written(&mut self, milliseconds: i64) -> Vec<&'static str> {
        let now = Timestamp(BEGIN + milliseconds);
        self.ingest.advance(now);
        for delta in std::mem::take(&mut self.ingest.context.deltas) {
            self.cluster.apply(delta);
        }
        let plan = kai_engine::plan(&mut self.cluster, &Config::default(), now);
        let told = plan.verdicts.iter().map(|verdict| verdict.group.number());
        let mut groups: Vec<u32> = told.chain(self.report.due(milliseconds)).collect();
        groups.dedup();
        let mut written = Vec::new();
        for group in groups {
            let mut context = Context {
                cluster: &self.cluster,
                objects: &self.ingest.groups,
                names: &mut self.ingest.context.names,
                writes: &mut self.writes,
                dispatch: &self.dispatch,
                now,
                steady: milliseconds,
            };
            for task in self.report.tasks(group, &mut context) {
                let Task::Group(patch) = task else { continue };
                written.push(match patch.change {
                    GroupChange::Conditions(_) => "conditions",
                    GroupChange::Annotations(_) => "annotations",
                });
                self.writes.end(group, true, Some("2".into()));
            }
        }
        written
    }
}

fn pod(name: &str, group: &str, node: &str) -> Value {
    let request: BTreeMap<&str, &str> = [("nvidia.com/gpu", "8")].into();
    json!({"kind": "Pod",
        "metadata": {"namespace": "ml", "name": name, "uid": format!("u-{name}"),
            "resourceVersion": "1", "annotations": {"pod-group-name": group}},
        "spec": {"schedulerName": "kai-scheduler", "nodeName": node,
            "containers": [{"name": "main", "resources": {"requests": request, "limits": request}}]}})
}

fn group(name: &str, pods: u32) -> Value {
    json!({"kind": "PodGroup",
        "metadata": {"namespace": "ml", "name": name, "uid": format!("u-{name}"), "resourceVersion": "1"},
        "spec": {"queue": "team", "minMember": pods}})
}

#[test]
fn a_gang_is_explained_while_its_condition_must_not_change_yet() {
    let mut world = World::new();
    world.apply(&json!({"kind": "Queue", "metadata": {"name": "team"},
        "spec": {"resources": {"gpu": {"quota": -1, "limit": -1}, "cpu": {"quota": -1, "limit": -1},
            "memory": {"quota": -1, "limit": -1}}}}));
    let amounts = json!({"nvidia.com/gpu": "8", "cpu": "64", "memory": "1Ti", "pods": "110"});
    for name in ["a", "b"] {
        world.apply(&json!({"kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}}));
    }
    world.apply(&group("gang", 3));
    for name in ["gang-0", "gang-1", "gang-2"] {
        world.apply(&pod(name, "gang", ""));
    }
    assert_eq!(world.written(0), ["conditions"]);
    // Less is free, which is another text, too early to be said.
    world.apply(&group("taker", 1));
    world.apply(&pod("taker", "taker", "a"));
    assert_eq!(world.written(100), Vec::<&str>::new());
    assert_eq!(world.written(400), ["annotations"]);
    assert_eq!(world.written(5_100), ["conditions"]);
}
