//! Shards as lines: what there is, what is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Plan, Pools, View, plan};
use crate::object::Object;
use crate::shard::Write;

/// A namespace with shards, the installer's objects, and what earlier plans made.
struct Cluster {
    shards: BTreeMap<String, Arc<Object>>,
    deployments: BTreeMap<String, Arc<Object>>,
    services: BTreeMap<String, Object>,
    /// Flags that the Config asks for.
    settings: BTreeMap<String, String>,
}

fn by_name(values: impl IntoIterator<Item = Value>) -> BTreeMap<String, Arc<Object>> {
    let objects = values.into_iter().map(|value| Arc::new(Object::new(value)));
    objects.map(|object| (object.name().to_owned(), object)).collect()
}

fn shard(name: &str, spec: &Value) -> Value {
    json!({"metadata": {"name": name, "uid": format!("uid-{name}"), "generation": 1}, "spec": spec})
}

impl Cluster {
    fn new(shards: impl IntoIterator<Item = Value>) -> Self {
        let name = "kai-scheduler-default";
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": "kai-scheduler", "uid": "d", "resourceVersion": "1",
                "labels": {"app": name, "app.kubernetes.io/part-of": "kai-scheduler"}},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": {
                "metadata": {"labels": {"app": name, "other": "x"}},
                "spec": {"serviceAccountName": "kai-scheduler", "containers": [{"name": name, "image": "image:1",
                    "args": ["--scheduler-name=kai-scheduler", "--leader-elect=true", "--v=3"]}]}}},
        });
        let service = json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "namespace": "kai-scheduler",
                "annotations": {"prometheus.io/scrape": "true", "own": "x"}},
            "spec": {"clusterIP": "None", "selector": {"app": name}, "ports": [{"name": "http-metrics", "port": 8080}]}});
        Self {
            shards: by_name(shards),
            deployments: by_name([deployment]),
            services: [(name.to_owned(), Object::new(service))].into(),
            settings: BTreeMap::new(),
        }
    }

    fn plan(&self, name: &str) -> Plan {
        let pools = Pools { node_pool_label: "pool".to_owned(), queue_label: "queue".to_owned() };
        let view = View {
            shards: &self.shards,
            deployments: &self.deployments,
            service: self.services.get(&format!("kai-scheduler-{name}")),
            service_pattern: self.services.get("kai-scheduler-default"),
            scheduler: "kai-scheduler",
            pools: &pools,
            settings: &self.settings,
            now: Timestamp::UNIX_EPOCH,
        };
        plan(&self.shards[name], &view)
    }

    /// Carries a plan out as the API server would.
    fn apply(&mut self, name: &str) {
        let plan = self.plan(name);
        for write in plan.writes {
            let (Write::Create(mut object) | Write::Replace(mut object)) = write;
            object["metadata"]["uid"] = json!("made");
            let key = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            if object["kind"] == "Service" {
                self.services.insert(key, Object::new(object));
            } else {
                self.deployments.insert(key, Arc::new(Object::new(object)));
            }
        }
        if let Some(rows) = plan.conditions {
            let mut value = self.shards[name].value().clone();
            value["status"]["conditions"] = rows;
            self.shards.insert(name.to_owned(), Arc::new(Object::new(value)));
        }
    }
}

fn condition<'a>(shard: &'a Object, name: &str) -> &'a Value {
    let rows = shard.value()["status"]["conditions"].as_array();
    rows.and_then(|rows| rows.iter().find(|row| row["type"] == name)).unwrap_or(&Value::Null)
}

#[test]
fn a_shard_gets_a_scheduler_like_the_default_one_for_its_pool() {
    let spec = json!({"partitionLabelValue": "a100", "args": {"v": "5", "no-such": "1"}, "scenarioSearchBudgets": {"maxJobSearchDuration": "1m"},
        "placementStrategy": {"gpu": "fragmentation", "cpu": "binpak"}});
    let mut cluster = Cluster::new([shard("default", &json!({})), shard("fast", &spec)]);
    cluster.apply("fast");
    let made = cluster.deployments["kai-scheduler-fast"].value();
    let container = &made["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "image:1");
    let args = [
        "--scheduler-name=kai-scheduler",
        "--leader-elect=true",
        "--nodepool-label-key=pool",
        "--partition-label-value=a100",
        "--queue-label-key=queue",
        "--v=5",
    ];
    assert_eq!(container["args"], json!(args));
    assert_eq!(made["spec"]["selector"]["matchLabels"], json!({"app": "kai-scheduler-fast"}));
    assert_eq!(made["metadata"]["ownerReferences"][0]["uid"], "uid-fast");
    let service = cluster.services["kai-scheduler-fast"].value();
    assert_eq!(service["spec"]["selector"], json!({"app": "kai-scheduler-fast"}));
    assert_eq!(service["metadata"]["annotations"], json!({"prometheus.io/scrape": "true"}));
    let deployed = condition(&cluster.shards["fast"], "Deployed");
    assert_eq!(deployed["status"], "True");
    assert_eq!(
        deployed["message"],
        "all objects are applied; without effect here: spec.scenarioSearchBudgets, spec.placementStrategy.cpu \
         (\"binpak\" is none of binpack, spread, fragmentation: binpack is used), spec.args.no-such"
    );
    assert_eq!(condition(&cluster.shards["fast"], "Ready")["status"], "False");
    assert_eq!(cluster.plan("fast"), Plan { writes: Vec::new(), conditions: None });
}

#[test]
fn a_strategy_that_is_none_is_told_with_what_holds_instead() {
    let table = [("gpu", "nodes are packed, shared GPUs spread"), ("cpu", "binpack is used")];
    for (key, instead) in table {
        let spec = json!({"partitionLabelValue": "a100", "placementStrategy": {key: "binpak"}});
        let mut cluster = Cluster::new([shard("default", &json!({})), shard("fast", &spec)]);
        cluster.apply("fast");
        let deployed = condition(&cluster.shards["fast"], "Deployed");
        let message = deployed["message"].as_str().unwrap_or_default();
        assert!(message.ends_with(&format!("{instead})")), "{key}: {message}");
    }
}

/// Tools that deploy from a repository keep their own conditions there.
#[test]
fn conditions_of_others_stay() {
    let mut shard = shard("fast", &json!({"partitionLabelValue": "a100"}));
    let other = json!({"type": "Synced", "status": "True", "reason": "synced"});
    shard["status"] = json!({"conditions": [other]});
    let mut cluster = Cluster::new([shard]);
    cluster.apply("fast");
    assert_eq!(condition(&cluster.shards["fast"], "Deployed")["status"], "True");
    assert_eq!(*condition(&cluster.shards["fast"], "Synced"), other);
}

#[test]
fn a_new_image_of_the_default_scheduler_reaches_all_and_other_edits_stay() {
    let spec = json!({"partitionLabelValue": "a100"});
    let mut cluster = Cluster::new([shard("fast", &spec)]);
    cluster.apply("fast");
    let mut edit = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut value = cluster.deployments[name].value().clone();
        change(&mut value);
        cluster.deployments.insert(name.to_owned(), Arc::new(Object::new(value)));
    };
    edit("kai-scheduler-default", &|value| {
        value["spec"]["template"]["spec"]["containers"][0]["image"] = json!("image:2");
    });
    edit("kai-scheduler-fast", &|value| {
        value["spec"]["replicas"] = json!(7);
        value["metadata"]["labels"]["mine"] = json!("x");
    });
    let plan = cluster.plan("fast");
    let [Write::Replace(whole)] = &plan.writes[..] else { panic!("{plan:?}") };
    assert_eq!(whole["spec"]["template"]["spec"]["containers"][0]["image"], "image:2");
    assert_eq!(whole["spec"]["replicas"], 1);
    assert_eq!(whole["metadata"]["labels"]["mine"], "x");
    assert_eq!(whole["metadata"]["uid"], "made");
}

#[test]
fn the_default_shard_is_the_installers_until_it_says_something_itself() {
    let cluster = Cluster::new([shard("default", &json!({}))]);
    assert_eq!(cluster.plan("default").writes, []);
    let cluster = Cluster::new([shard("default", &json!({"args": {"v": "6"}}))]);
    let plan = cluster.plan("default");
    let [Write::Replace(whole)] = &plan.writes[..] else { panic!("{plan:?}") };
    assert_eq!(whole["metadata"]["resourceVersion"], "1");
    assert_eq!(whole["metadata"]["ownerReferences"], Value::Null);
    let args = &whole["spec"]["template"]["spec"]["containers"][0]["args"];
    assert_eq!(args.as_array().and_then(|args| args.last()), Some(&json!("--v=6")));
}

fn args(cluster: &Cluster, name: &str) -> Vec<String> {
    let words =
        &cluster.deployments[name].value()["spec"]["template"]["spec"]["containers"][0]["args"];
    serde_json::from_value(words.clone()).unwrap_or_default()
}

#[test]
fn flags_of_the_default_shard_are_its_own_and_go_again() {
    let mut cluster = Cluster::new([
        shard("default", &json!({"args": {"v": "6", "schedule-period": "2s"}})),
        shard("fast", &json!({"partitionLabelValue": "a100"})),
    ]);
    let default = "kai-scheduler-default";
    let installed = args(&cluster, default);
    cluster.apply("default");
    cluster.apply("fast");
    assert!(args(&cluster, default).contains(&"--v=6".to_owned()));
    assert_eq!(cluster.plan("default").writes, []);
    let of_fast = args(&cluster, "kai-scheduler-fast");
    assert!(of_fast.contains(&"--v=3".to_owned()), "{of_fast:?}");
    assert!(!of_fast.iter().any(|word| word.starts_with("--schedule-period")), "{of_fast:?}");
    cluster.shards.extend(by_name([shard("default", &json!({"args": {"v": "6"}}))]));
    cluster.apply("default");
    assert!(!args(&cluster, default).iter().any(|word| word.starts_with("--schedule-period")));
    cluster.shards.extend(by_name([shard("default", &json!({}))]));
    cluster.apply("default");
    assert_eq!(args(&cluster, default), installed);
    assert_eq!(cluster.deployments[default].annotations().count(), 0);
    assert_eq!(cluster.plan("default").writes, []);
}

#[test]
fn flags_that_an_installer_writes_anew_are_the_pattern() {
    let mut cluster = Cluster::new([shard("default", &json!({"args": {"v": "6"}}))]);
    let default = "kai-scheduler-default";
    cluster.apply("default");
    let mut value = cluster.deployments[default].value().clone();
    value["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["--v=4", "--qps=9"]);
    cluster.deployments.extend(by_name([value]));
    cluster.apply("default");
    let found = args(&cluster, default);
    assert!(
        found.contains(&"--qps=9".to_owned()) && found.contains(&"--v=6".to_owned()),
        "{found:?}"
    );
    assert!(!found.contains(&"--leader-elect=true".to_owned()), "{found:?}");
    cluster.shards.extend(by_name([shard("default", &json!({}))]));
    cluster.apply("default");
    assert_eq!(args(&cluster, default), ["--v=4", "--qps=9"]);
}

#[test]
fn a_node_pool_has_one_scheduler_and_a_missing_pattern_is_said() {
    let mut cluster = Cluster::new([shard("default", &json!({})), shard("again", &json!({}))]);
    cluster.apply("again");
    let deployed = condition(&cluster.shards["again"], "Deployed");
    assert_eq!(deployed["message"], "shard default serves the node pool \"\" already");
    assert!(!cluster.deployments.contains_key("kai-scheduler-again"));
    cluster.deployments.clear();
    cluster.apply("default");
    let fulfilled = condition(&cluster.shards["default"], "DependenciesFulfilled");
    assert_eq!(
        (&fulfilled["status"], &fulfilled["reason"]),
        (&json!("False"), &json!("dependencies_missing"))
    );
}

/// One that is made later must not take the pool over, whatever its name is.
#[test]
fn of_two_shards_of_a_node_pool_the_older_one_has_the_scheduler() {
    let of_pool = |name: &str, created: &str| {
        let mut made = shard(name, &json!({"partitionLabelValue": "a100"}));
        made["metadata"]["creationTimestamp"] = json!(created);
        made
    };
    let older = of_pool("zeta", "2026-01-01T00:00:00Z");
    let cluster = Cluster::new([older, of_pool("alpha", "2026-01-02T00:00:00Z")]);
    assert_eq!(cluster.plan("zeta").writes.len(), 2, "its Deployment and its Service");
    assert_eq!(cluster.plan("alpha").writes, []);
}

/// The Config is for all schedulers, and a shard for its own.
#[test]
fn what_a_shard_says_goes_before_the_config() {
    let spec = json!({"partitionLabelValue": "a100", "args": {"v": "5"}});
    let mut cluster = Cluster::new([shard("fast", &spec)]);
    let settings = [("cdi-enabled", "true"), ("v", "1")];
    cluster.settings = settings.map(|(flag, value)| (flag.to_owned(), value.to_owned())).into();
    cluster.apply("fast");
    let found = args(&cluster, "kai-scheduler-fast");
    assert!(found.ends_with(&["--cdi-enabled=true".to_owned(), "--v=5".to_owned()]), "{found:?}");
}

/// The podgrouper's Deployment with a variable that refers to a Secret.
fn podgrouper(key: &str) -> Value {
    let from = json!({"secretKeyRef": {"name": "usage", "key": key}});
    json!({"metadata": {"name": "kai-podgrouper"}, "spec": {"template": {"spec": {"containers": [
        {"name": "podgrouper", "env": [{"name": "OTHER", "value": "x"}, {"name": "USAGE_URL", "valueFrom": from}]}]}}}})
}

#[test]
fn the_variable_of_past_use_is_carried_over_as_a_reference() {
    let usage = json!({"clientType": "prometheus", "connectionStringEnvVar": "USAGE_URL"});
    let spec = json!({"partitionLabelValue": "a100", "usageDBConfig": usage});
    let mut cluster =
        Cluster::new([shard("default", &json!({"usageDBConfig": usage})), shard("fast", &spec)]);
    let env = |cluster: &Cluster, name: &str| {
        let name = format!("kai-scheduler-{name}");
        cluster.deployments[&name].value()["spec"]["template"]["spec"]["containers"][0]["env"]
            .clone()
    };
    // Nobody sets it: the shard says so.
    cluster.apply("fast");
    assert_eq!(env(&cluster, "fast"), Value::Null);
    assert_eq!(
        condition(&cluster.shards["fast"], "Deployed")["message"],
        "all objects are applied; without effect here: spec.usageDBConfig.connectionStringEnvVar"
    );
    for key in ["url", "url-2"] {
        cluster.deployments.extend(by_name([podgrouper(key)]));
        for name in ["fast", "default"] {
            cluster.apply(name);
            let from = json!({"secretKeyRef": {"name": "usage", "key": key}});
            assert_eq!(env(&cluster, name), json!([{"name": "USAGE_URL", "valueFrom": from}]));
            assert_eq!(cluster.plan(name), Plan { writes: Vec::new(), conditions: None }, "{name}");
        }
    }
    assert_eq!(
        condition(&cluster.shards["fast"], "Deployed")["message"],
        "all objects are applied"
    );
    // What a shard does not name any more goes, and what the default shard was given is not in the pattern.
    cluster.shards.extend(by_name([shard("slow", &json!({"partitionLabelValue": "t4"}))]));
    cluster.apply("slow");
    assert_eq!(env(&cluster, "slow"), Value::Null);
    for name in ["fast", "default"] {
        cluster.shards.extend(by_name([shard(name, &json!({"partitionLabelValue": name}))]));
        cluster.apply(name);
        assert_eq!(env(&cluster, name), Value::Null);
        assert_eq!(cluster.plan(name).writes, Vec::new(), "{name}");
    }
}

#[test]
fn a_variable_that_refers_to_another_is_not_carried_over() {
    let check = |value: &str, expect: &str| {
        let usage = json!({"clientType": "prometheus", "connectionStringEnvVar": "USAGE_URL"});
        let mut cluster = Cluster::new([shard("default", &json!({"usageDBConfig": usage}))]);
        let mut given = podgrouper("url");
        let env = &mut given["spec"]["template"]["spec"]["containers"][0]["env"][1];
        *env = json!({"name": "USAGE_URL", "value": value});
        cluster.deployments.extend(by_name([given]));
        cluster.apply("default");
        let deployed = condition(&cluster.shards["default"], "Deployed");
        assert_eq!(deployed["message"], format!("all objects are applied{expect}"), "{value}");
        let scheduler = cluster.deployments["kai-scheduler-default"].value();
        let carried = &scheduler["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"];
        assert_eq!(*carried == value, expect.is_empty(), "{value}: {scheduler}");
    };
    let of = |name: &str| {
        format!(
            "; without effect here: spec.usageDBConfig.connectionStringEnvVar (variable USAGE_URL of Deployment \
             kai-podgrouper refers to $({name}), which is not carried over)"
        )
    };
    check("http://$(OTHER):9090", &of("OTHER"));
    check("$$$(OTHER)", &of("OTHER"));
    check("http://$$(OTHER)/$1/$(", "");
}
