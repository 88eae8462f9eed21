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
pub(crate) const HEEDED: [&str; 11] = [
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
    PROMETHEUS_URL,
];
/// The field that says where past use is read of shards whose `usageDBConfig` does not, and the flag of their schedulers.
const PROMETHEUS_URL: &str = "prometheus.externalPrometheusUrl";
const PROMETHEUS_FLAG: &str = "usage-prometheus-url";

/// The flags of every scheduler that follow from the Config.
pub(crate) fn flags(config: Option<&Object>) -> BTreeMap<String, String> {
    let named = |(field, flag): (&str, &str)| Some((flag.to_owned(), name(config?, field)?));
    let prometheus = config.and_then(prometheus).map(|url| (PROMETHEUS_FLAG.to_owned(), url));
    NAMES.into_iter().filter_map(named).chain(prometheus).collect()
}

/// The Prometheus outside of the installation that is set; an empty one is none.
fn prometheus(config: &Object) -> Option<String> {
    let url = config.value()["spec"]["prometheus"]["externalPrometheusUrl"].as_str()?;
    (!url.is_empty()).then(|| url.to_owned())
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
    overlay_grouping(&mut args, &config.value()["spec"]["podGrouper"]);
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
    let text = |field: &str| of[field].as_str().filter(|text| !text.is_empty());
    // As KAI does: one without the other says nothing.
    if let (Some(name), Some(namespace)) =
        (text("defaultPrioritiesConfigMapName"), text("defaultPrioritiesConfigMapNamespace"))
    {
        name.clone_into(&mut args.default_priorities_configmap_name);
        namespace.clone_into(&mut args.default_priorities_configmap_namespace);
    }
    let at_once = podgrouper["maxConcurrentReconciles"].as_u64();
    let at_once = at_once.and_then(|at_once| u32::try_from(at_once).ok());
    if let Some(at_once) = at_once.filter(|at_once| *at_once > 0) {
        args.max_concurrent_reconciles = at_once;
    }
}

fn global(config: &Object) -> &Value {
    &config.value()["spec"]["global"]
}

/// A name that is set; an empty one is none.
fn name(config: &Object, field: &str) -> Option<String> {
    let text = global(config)[field].as_str()?;
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
    fn schedulers_are_told_of_a_prometheus_outside() {
        let check = |prometheus: Value, expect: Option<&str>| {
            let config = Object::new(json!({"spec": {"prometheus": prometheus}}));
            let found = flags(Some(&config));
            assert_eq!(found.get(PROMETHEUS_FLAG).map(String::as_str), expect, "{prometheus}");
        };
        check(json!(null), None);
        check(json!({"externalPrometheusUrl": ""}), None);
        check(
            json!({"enabled": false, "externalPrometheusUrl": "http://p:9090"}),
            Some("http://p:9090"),
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
    }
}
