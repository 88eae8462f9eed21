//! Settings of every part of the system, of the podgrouper, and of past use, in the Config, put over the flags.
//!
//! # Source
//! `docs/contract.md` 1.7, `global`, `podGrouper`, `prometheus`. KAI's operator hands these on as flags and restarts its daemons; here the controllers
//! begin anew with them, and a shard's scheduler gets them as flags.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use kai_api::names::CONFIG_NAME;
use kai_daemon::process::causes;
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::Value;
use tokio::sync::Notify;

use crate::args::Args;
use crate::follow::{Selection, Table, keep_table};
use crate::object::{Gvk, Object};

/// API version and kind of the Config.
const API_VERSION: &str = "kai.scheduler/v1";
const KIND: &str = "Config";
/// More workers than this would take memory and wait for the same answers.
const WORKERS_MAX: u32 = 1_000;
/// The pause between two attempts to read it.
const RETRY: Duration = Duration::from_secs(2);
/// Changes of so long go into one beginning anew.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// Fields that name something, and the flag of a scheduler that says the same.
const NAMES: [(&str, &str); 3] = [
    ("schedulerName", "scheduler-name"),
    ("queueLabelKey", "queue-label-key"),
    ("nodePoolLabelKey", "nodepool-label-key"),
];

/// Fields of the Config that have an effect here.
pub(crate) const HEEDED: [&str; 14] = [
    "global.schedulerName",
    "global.queueLabelKey",
    "global.nodePoolLabelKey",
    "global.namespaceLabelSelector",
    "global.podLabelSelector",
    "podGrouper.args.defaultPrioritiesConfigMapName",
    "podGrouper.args.defaultPrioritiesConfigMapNamespace",
    "podGrouper.args.gangScheduleKnative",
    "podGrouper.args.genericKartaFallback",
    "podGrouper.maxConcurrentReconciles",
    "queueController.metricsNamespace",
    "queueController.queueLabelToMetricLabel",
    "queueController.queueLabelToDefaultMetricValue",
    "prometheus.externalPrometheusUrl",
];
/// The flag of schedulers that says with what the names of metrics begin.
const METRICS_NAMESPACE: &str = "metrics-namespace";
/// Fields of other parts that concern every scheduler: the part, the field and the flag. The one is the prefix of metrics,
/// the other says where past use is read for shards whose `usageDBConfig` does not.
const OF_SCHEDULERS: [(&str, &str, &str); 2] = [
    ("queueController", "metricsNamespace", METRICS_NAMESPACE),
    ("prometheus", "externalPrometheusUrl", "usage-prometheus-url"),
];

/// The flags of every scheduler that follow from the Config.
pub(crate) fn flags(config: Option<&Object>) -> BTreeMap<String, String> {
    let named = |(field, flag): (&str, &str)| Some((flag.to_owned(), name(config?, field)?));
    let told = |(part, field, flag): (&str, &str, &str)| {
        let value = text(&config?.value()["spec"][part], field)?;
        // The schedulers would not start with it; the log names it where the metrics of queues are named.
        (flag != METRICS_NAMESPACE || begins_names(&value)).then(|| (flag.to_owned(), value))
    };
    NAMES.into_iter().filter_map(named).chain(OF_SCHEDULERS.into_iter().filter_map(told)).collect()
}

/// The flags of the podgrouper with what the Config says put over them.
pub(crate) fn overlaid(args: &Args, config: Option<&Object>) -> Args {
    let mut args = args.clone();
    let Some(config) = config else { return args };
    for (field, text) in [
        ("schedulerName", &mut args.scheduler_name),
        ("queueLabelKey", &mut args.queue_label_key),
        ("nodePoolLabelKey", &mut args.nodepool_label_key),
    ] {
        if let Some(name) = name(config, field) {
            *text = name;
        }
    }
    for (field, text) in [
        ("namespaceLabelSelector", &mut args.namespace_label_selector),
        ("podLabelSelector", &mut args.pod_label_selector),
    ] {
        if let Value::Object(labels) = &global(config)[field] {
            let pairs = labels.iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
            let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={value}")).collect();
            *text = pairs.join(",");
        }
    }
    let spec = &config.value()["spec"];
    overlay_grouping(&mut args, &spec["podGrouper"]);
    for (field, flag) in [
        ("metricsNamespace", &mut args.metrics_namespace),
        ("queueLabelToMetricLabel", &mut args.queue_label_to_metric_label),
        ("queueLabelToDefaultMetricValue", &mut args.queue_label_to_default_metric_value),
    ] {
        if let Some(given) = text(&spec["queueController"], field) {
            *flag = given;
        }
    }
    args
}

/// Puts what the Config says of the podgrouper alone over its flags.
fn overlay_grouping(args: &mut Args, podgrouper: &Value) {
    let of = &podgrouper["args"];
    for (field, flag) in [
        ("gangScheduleKnative", &mut args.knative_gang_schedule),
        ("genericKartaFallback", &mut args.generic_karta_fallback),
    ] {
        if let Some(is_on) = of[field].as_bool() {
            *flag = is_on;
        }
    }
    let pair = ["defaultPrioritiesConfigMapName", "defaultPrioritiesConfigMapNamespace"];
    // As KAI does: one without the other says nothing.
    if let [Some(name), Some(namespace)] = pair.map(|field| text(of, field)) {
        args.default_priorities_configmap_name = name;
        args.default_priorities_configmap_namespace = namespace;
    }
    let at_once = podgrouper["maxConcurrentReconciles"].as_u64();
    let at_once = at_once.and_then(|at_once| u32::try_from(at_once).ok());
    if let Some(at_once) = at_once.filter(|at_once| *at_once > 0) {
        args.max_concurrent_reconciles = at_once.min(WORKERS_MAX);
    }
}

/// Tells whether names of metrics may begin with a text.
fn begins_names(text: &str) -> bool {
    let is_read = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
    text.bytes().all(is_read) && !text.starts_with(|first: char| first.is_ascii_digit())
}

fn global(config: &Object) -> &Value {
    &config.value()["spec"]["global"]
}

/// A name that is set.
fn name(config: &Object, field: &str) -> Option<String> {
    text(global(config), field)
}

/// A text that is set; an empty one is none.
fn text(of: &Value, field: &str) -> Option<String> {
    let text = of[field].as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// The Config as it changes.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    configs: Table,
    news: Notify,
}

impl Follower {
    /// Keeps up with the Config; never ends.
    pub(crate) async fn watch(&self, client: Client) {
        let selection = Selection {
            fields: format!("metadata.name={CONFIG_NAME}"),
            ..Selection::of(API_VERSION, KIND)
        };
        keep_table(client, selection, &self.configs, || self.news.notify_one()).await;
    }

    /// Waits until what the Config says of these flags is other than what is in use. A table that is still empty wakes
    /// nobody: `current` came from a read.
    pub(crate) async fn changed(&self, args: &Args, current: &Args) -> Args {
        loop {
            self.news.notified().await;
            tokio::time::sleep(DEBOUNCE).await;
            let configs = self.configs.lock().unwrap_or_else(PoisonError::into_inner);
            let next = overlaid(args, configs.values().next().map(Arc::as_ref));
            if next != *current {
                return next;
            }
        }
    }
}

/// Reads the Config, as often as it takes; none where there is none, or no such kind.
pub(crate) async fn read(client: &Client) -> Option<Object> {
    let gvk = Gvk::new(API_VERSION, KIND);
    let resource =
        ApiResource::from_gvk(&GroupVersionKind::gvk(&gvk.group, &gvk.version, &gvk.kind));
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let mut last_error = String::new();
    loop {
        match api.get_opt(CONFIG_NAME).await {
            Ok(found) => return found.map(|found| crate::cache::to_object(&gvk, found)),
            Err(kube::Error::Api(status)) if status.code == 403 => {
                tracing::warn!("may not read the Config, flags alone hold: {}", status.message);
                return None;
            }
            Err(error) => {
                let text = causes(&error);
                if text != last_error {
                    tracing::warn!(error = %text, "failed to read the Config; trying again");
                    last_error = text;
                }
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_config_is_put_over_the_flags() {
        let args =
            Args::try_from_words(["x", "--queue-label-key=q"].map(String::from)).expect("flags");
        let check = |global: Value, expect: [&str; 5], flags_expected: &[(&str, &str)]| {
            let config = Object::new(json!({"spec": {"global": global}}));
            let found = overlaid(&args, Some(&config));
            let found = [
                found.scheduler_name,
                found.queue_label_key,
                found.nodepool_label_key,
                found.namespace_label_selector,
                found.pod_label_selector,
            ];
            assert_eq!(found, expect, "{global}");
            let flags = flags(Some(&config));
            let flags: Vec<_> =
                flags.iter().map(|(flag, value)| (flag.as_str(), value.as_str())).collect();
            assert_eq!(flags, flags_expected, "{global}");
        };
        let none = ["kai-scheduler", "q", "kai.scheduler/node-pool", "", ""];
        check(json!(null), none, &[]);
        check(json!({"schedulerName": "", "podLabelSelector": null}), none, &[]);
        check(
            json!({"schedulerName": "s", "queueLabelKey": "k", "nodePoolLabelKey": "p",
                "namespaceLabelSelector": {"team": "a", "x": "y"}, "podLabelSelector": {}}),
            ["s", "k", "p", "team=a,x=y", ""],
            &[("nodepool-label-key", "p"), ("queue-label-key", "k"), ("scheduler-name", "s")],
        );
    }

    #[test]
    fn schedulers_are_told_of_a_prometheus_outside_and_the_prefix_of_metrics() {
        let check = |spec: Value, expect: &[&str]| {
            let found = flags(Some(&Object::new(json!({"spec": spec}))));
            let found: Vec<String> =
                found.iter().map(|(flag, value)| format!("{flag}={value}")).collect();
            assert_eq!(found, expect, "{spec}");
        };
        check(json!({"prometheus": null}), &[]);
        check(json!({"prometheus": {"externalPrometheusUrl": ""}}), &[]);
        check(
            json!({"prometheus": {"enabled": false, "externalPrometheusUrl": "http://p:9090"},
                "queueController": {"metricsNamespace": "own"}}),
            &["metrics-namespace=own", "usage-prometheus-url=http://p:9090"],
        );
        check(json!({"queueController": {"metricsNamespace": "my-team"}}), &[]);
    }

    #[test]
    fn labels_of_the_metrics_of_queues_are_put_over_the_flags() {
        let args = Args::try_from_words(
            ["x", "--metrics-namespace=flag", "--queue-label-to-metric-label=a=b"]
                .map(String::from),
        )
        .expect("flags");
        let check = |controller: Value, expect: [&str; 3]| {
            let config = Object::new(json!({"spec": {"queueController": controller}}));
            let found = overlaid(&args, Some(&config));
            let found = [
                found.metrics_namespace,
                found.queue_label_to_metric_label,
                found.queue_label_to_default_metric_value,
            ];
            assert_eq!(found, expect, "{controller}");
        };
        check(json!(null), ["flag", "a=b", ""]);
        check(json!({"metricsNamespace": ""}), ["flag", "a=b", ""]);
        check(
            json!({"metricsNamespace": "own", "queueLabelToMetricLabel": "team=team",
                "queueLabelToDefaultMetricValue": "team=none"}),
            ["own", "team=team", "team=none"],
        );
    }

    #[test]
    fn what_it_says_of_the_podgrouper_alone_is_put_over_its_flags_too() {
        let args = Args::try_from_words(
            ["x", "--knative-gang-schedule=false", "--default-priorities-configmap-name=flag"]
                .map(String::from),
        )
        .expect("flags");
        let check =
            |podgrouper: Value, switches: [bool; 2], config_map: [&str; 2], at_once: u32| {
                let config = Object::new(json!({"spec": {"podGrouper": podgrouper}}));
                let found = overlaid(&args, Some(&config));
                assert_eq!(
                    [found.knative_gang_schedule, found.generic_karta_fallback],
                    switches,
                    "{podgrouper}"
                );
                let named = [
                    found.default_priorities_configmap_namespace.as_str(),
                    found.default_priorities_configmap_name.as_str(),
                ];
                assert_eq!(named, config_map, "{podgrouper}");
                assert_eq!(found.max_concurrent_reconciles, at_once, "{podgrouper}");
            };
        check(json!(null), [false, true], ["", "flag"], 10);
        check(
            json!({"args": {"gangScheduleKnative": true, "genericKartaFallback": false}}),
            [true, false],
            ["", "flag"],
            10,
        );
        let name = "defaultPrioritiesConfigMapName";
        check(json!({"args": { name: "types" }}), [false, true], ["", "flag"], 10);
        let pair = json!({name: "types", "defaultPrioritiesConfigMapNamespace": "kai"});
        check(json!({ "args": pair }), [false, true], ["kai", "types"], 10);
        check(json!({"maxConcurrentReconciles": 3}), [false, true], ["", "flag"], 3);
        check(json!({"maxConcurrentReconciles": -3}), [false, true], ["", "flag"], 10);
        check(
            json!({"maxConcurrentReconciles": 3_000_000_000_u64}),
            [false, true],
            ["", "flag"],
            1_000,
        );
    }
}
