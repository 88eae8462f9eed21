//! Status of the Config (`docs/contract.md` 1.7, 1.8).
//!
//! There is no operator here that would make an installation from it: the installer does, and flags and shards set it
//! up. Whoever waits for the Config (Argo CD, Helm, kstatus) still has to hear whether the installation stands, so its
//! conditions tell of the Deployments that there are, and which of its fields have no effect.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use kai_api::names::{DEFAULT_SHARD, SCHEDULER_NAME, component, namespace};
use serde_json::Value;

use super::conditions::{Standing, conditions};
use super::plan::is_available;
use super::sharing;
use crate::global;
use crate::object::Object;
use crate::scale;

/// Fields that take effect, with all below them: where the installation is, which is true of every one, and what the
/// controllers here read.
const HEEDED: [&[&str]; 5] =
    [&["namespace"], &ADMISSION, &global::HEEDED, &scale::HEEDED, &sharing::HEEDED];
/// Fields that admission reads.
const ADMISSION: [&str; 12] = [
    "admission.service.enabled",
    "admission.gpuSharing",
    "admission.blockNvidiaVisibleDevices",
    "admission.queueLabelSelector",
    "admission.gpuFractionRuntimeClassName",
    "admission.gpuPodRuntimeClassName",
    "admission.mutatingWebhookConfigurationName",
    "admission.validatingWebhookConfigurationName",
    "queueController.service.enabled",
    "queueController.webhooks",
    "podGroupController.service.enabled",
    "podGroupController.webhooks",
];

/// Namespaces that the Config may move, and where the installation has its roles and policies for them.
const NAMESPACES: [(&str, &str); 2] = [
    ("binder.resourceReservation.namespace", namespace::RESERVATION),
    ("nodeScaleAdjuster.args.nodeScaleNamespace", namespace::SCALE_ADJUST),
];

/// Name of the scheduler for whose pods the installed policies hold, and those policies.
const POLICIES: (&str, [&str; 5]) = (
    SCHEDULER_NAME,
    ["kai-gpu-shares", "kai-bound-pods", "kai-placed-pods", "kai-waiting-pods", "kai-resized-pods"],
);

/// The conditions of the Config where they are not as wanted, from the Deployments of the system's namespace.
pub(super) fn plan(
    config: &Object,
    deployments: &BTreeMap<String, Arc<Object>>,
    scheduler: &str,
    now: Timestamp,
) -> Option<Value> {
    let names = [format!("{scheduler}-{DEFAULT_SHARD}"), component::PODGROUPER.to_owned()];
    let missing: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !deployments.contains_key(*name)).collect();
    let is_ready = |name: &String| deployments.get(name).is_some_and(|found| is_available(found));
    let standing = Standing {
        subject: "the scheduler and the podgrouper are",
        missing: None,
        refused: match missing[..] {
            [] => None,
            [name] => Some(format!("Deployment {name} does not exist")),
            _ => Some(format!("Deployments {} do not exist", missing.join(" and "))),
        },
        idle: idle(config),
        is_available: names.iter().all(is_ready),
    };
    conditions(config, &standing, now)
}

/// Fields that are set and have no effect, each as far up as that is true of all below it.
fn idle(config: &Object) -> Vec<String> {
    let mut idle = Vec::new();
    collect_idle("", &config.value()["spec"], &mut idle);
    let moved = NAMESPACES.into_iter().filter_map(|(path, installed)| {
        let named = config.value().pointer(&format!("/spec/{}", path.replace('.', "/")))?.as_str()?;
        (!named.is_empty() && named != installed).then(|| {
            format!("{path} before the roles and policies of namespace {installed} are given to {named} too")
        })
    });
    idle.extend(moved);
    let (scheduler, policies) = POLICIES;
    let named = config.value()["spec"]["global"]["schedulerName"].as_str().unwrap_or_default();
    if !named.is_empty() && named != scheduler {
        idle.push(format!(
            "global.schedulerName before it takes the place of {scheduler} in ValidatingAdmissionPolicies {}",
            policies.join(", ")
        ));
    }
    idle.iter().map(|path| format!("spec.{path}")).collect()
}

fn collect_idle(above: &str, fields: &Value, idle: &mut Vec<String>) {
    for (key, value) in fields.as_object().into_iter().flatten() {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        let mut heeded = HEEDED.iter().copied().flatten();
        if value.is_null() || heeded.clone().any(|field| *field == path) {
            continue;
        }
        let is_above =
            |field: &&str| field.strip_prefix(&path).is_some_and(|rest| rest.starts_with('.'));
        if heeded.any(is_above) {
            collect_idle(&path, value, idle);
        } else {
            idle.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::plan;
    use crate::object::Object;

    fn deployment(name: &str, available: i64) -> (String, Arc<Object>) {
        let value = json!({"metadata": {"name": name, "generation": 2}, "spec": {"replicas": 1},
            "status": {"observedGeneration": 2, "availableReplicas": available}});
        (name.to_owned(), Arc::new(Object::new(value)))
    }

    fn config(spec: &Value, conditions: &Value) -> Object {
        Object::new(json!({"metadata": {"name": "kai-config", "generation": 3}, "spec": spec,
            "status": {"conditions": conditions}}))
    }

    /// Statuses in the order Reconciling, Deployed, Available, `DependenciesFulfilled`, Ready, and what Deployed says.
    fn check(spec: &Value, deployments: &[(String, Arc<Object>)], statuses: [&str; 5], why: &str) {
        let deployments: BTreeMap<String, Arc<Object>> = deployments.iter().cloned().collect();
        let plan =
            |config: &Object| plan(config, &deployments, "kai-scheduler", Timestamp::UNIX_EPOCH);
        let rows = plan(&config(spec, &Value::Null)).expect("nothing is stored yet");
        let found: Vec<&str> = rows
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|row| row["status"].as_str())
            .collect();
        assert_eq!(found, statuses, "{rows}");
        assert_eq!(rows[1]["message"], why);
        assert!(
            rows.as_array()
                .is_some_and(|rows| rows.iter().all(|row| row["observedGeneration"] == 3))
        );
        assert_eq!(plan(&config(spec, &rows)), None, "a second look writes nothing");
    }

    #[test]
    fn fields_without_effect_are_named() {
        let check = |spec: &Value, expect: &[&str]| {
            assert_eq!(super::idle(&config(spec, &Value::Null)), expect, "{spec}");
        };
        check(
            &json!({"namespace": "n", "prometheus": {"enabled": true, "externalPrometheusUrl": "u"}}),
            &["spec.prometheus.enabled"],
        );
        let adjuster = json!({"service": {"enabled": true, "resources": {}}, "vpa": {},
            "args": {"nodeScaleNamespace": "n"}});
        check(
            &json!({"nodeScaleAdjuster": adjuster}),
            &[
                "spec.nodeScaleAdjuster.service.resources",
                "spec.nodeScaleAdjuster.vpa",
                "spec.nodeScaleAdjuster.args.nodeScaleNamespace before the roles and policies of namespace \
                 kai-scale-adjust are given to n too",
            ],
        );
        let args = json!({"gangScheduleKnative": false, "genericKartaFallback": true});
        check(
            &json!({"podGrouper": {"args": args, "k8sClientConfig": {"qps": 5}, "replicas": 2}}),
            &["spec.podGrouper.k8sClientConfig", "spec.podGrouper.replicas"],
        );
        check(&json!({"global": {"schedulerName": "kai-scheduler"}}), &[]);
        check(
            &json!({"global": {"schedulerName": "other"}}),
            &["spec.global.schedulerName before it takes the place of kai-scheduler in \
                 ValidatingAdmissionPolicies kai-gpu-shares, kai-bound-pods, kai-placed-pods, \
                 kai-waiting-pods, kai-resized-pods"],
        );
        check(
            &json!({"scheduler": null, "queueController": {"webhooks": {"enableValidation": false}},
                "admission": {"gpuSharing": true, "replicas": 2, "service": {"enabled": true, "image": {"tag": "x"}}},
                "binder": {"plugins": {"hamicore": {"enabled": true, "priority": 5}, "gpusharing": {"enabled": false}}}}),
            &[
                "spec.admission.replicas",
                "spec.admission.service.image",
                "spec.binder.plugins.hamicore.priority",
            ],
        );
    }

    #[test]
    fn the_policies_that_hold_for_one_scheduler_are_those_that_are_named() {
        let manifest = include_str!("../../../deploy/policies/admission.yaml");
        let (scheduler, names) = super::POLICIES;
        let condition = format!("object.spec.schedulerName == '{scheduler}'");
        let found: Vec<String> = manifest
            .split("\n---\n")
            .map(|text| serde_saphyr::from_str::<Value>(text).expect("an object"))
            .filter(|one| one["spec"]["matchConditions"].to_string().contains(&condition))
            .filter_map(|one| one["metadata"]["name"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(found, names);
    }

    #[test]
    fn conditions_tell_what_is_deployed_and_answers() {
        let spec = json!({"namespace": "kai-scheduler", "prometheus": {"enabled": true}});
        let scheduler = |available| deployment("kai-scheduler-default", available);
        let podgrouper = deployment("kai-podgrouper", 1);
        let idle = "all objects are applied; without effect here: spec.prometheus.enabled";
        check(
            &spec,
            &[scheduler(1), podgrouper.clone()],
            ["False", "True", "True", "True", "True"],
            idle,
        );
        check(
            &spec,
            &[scheduler(0), podgrouper.clone()],
            ["False", "True", "False", "True", "False"],
            idle,
        );
        // Scaled to none it answers nobody.
        let (name, none) = scheduler(0);
        let mut none = none.value().clone();
        none["spec"]["replicas"] = json!(0);
        check(
            &spec,
            &[(name, Arc::new(Object::new(none))), podgrouper.clone()],
            ["False", "True", "False", "True", "False"],
            idle,
        );
        // Its status is still that of the version before.
        let (name, changed) = scheduler(1);
        let mut changed = changed.value().clone();
        changed["metadata"]["generation"] = json!(3);
        check(
            &spec,
            &[(name, Arc::new(Object::new(changed))), podgrouper.clone()],
            ["False", "True", "False", "True", "False"],
            idle,
        );
        check(
            &json!({}),
            &[podgrouper],
            ["False", "False", "False", "True", "False"],
            "Deployment kai-scheduler-default does not exist",
        );
        check(
            &json!({}),
            &[],
            ["False", "False", "False", "True", "False"],
            "Deployments kai-scheduler-default and kai-podgrouper do not exist",
        );
    }
}
