//! Settings of admission in the Config.

use std::collections::BTreeMap;

use kai_api::config::ConfigSpec;

/// Key of the binder's plugin whose switch admission shares.
const HAMICORE: &str = "hamicore";
/// The runtime class of pods that share GPUs where the Config names none.
const RUNTIME_CLASS: &str = "nvidia";
/// Versions that end the names of two registrations.
const QUEUE_VERSION: &str = "v2";
const POD_GROUP_VERSION: &str = "v2alpha2";

/// Settings of admission: the Config, with defaults for what it leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `spec.schedulerName` of the pods that are looked at.
    pub scheduler: String,
    /// True if pods may share GPUs.
    pub gpu_sharing: bool,
    /// True if pods that share get a variable for the memory limit, which the plugin `hamicore` reads.
    pub hamicore: bool,
    /// True if containers without GPUs are kept from naming devices.
    pub block_visible_devices: bool,
    /// Runtime class of pods that share GPUs and name none; absent: they keep what they have.
    pub runtime_class: Option<String>,
    /// Scope that is registered with the API server.
    pub scope: Scope,
}

/// Objects that the API server asks about, and under which names it was told so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Only pods with a label of this key; absent: all.
    pub queue_label: Option<String>,
    /// Only pods of namespaces with these labels.
    pub namespace_labels: BTreeMap<String, String>,
    /// Only pods with these labels.
    pub pod_labels: BTreeMap<String, String>,
    /// The mutating registration of pods; absent: switched off.
    pub mutating: Option<String>,
    /// The validating registration of pods and topologies; absent: switched off.
    pub validating: Option<String>,
    /// The registration of queues; absent: switched off.
    pub queues: Option<String>,
    /// The registration of `PodGroup`s; absent: switched off.
    pub pod_groups: Option<String>,
}

/// Values of flags, which count where the Config says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flags {
    /// `spec.schedulerName` of the pods that are served.
    pub scheduler: String,
    /// Key of the queue label.
    pub queue_label: String,
}

impl Settings {
    /// Reads what a Config says; without one, its defaults hold, by which pods may not share GPUs.
    ///
    /// # Source
    /// docs/contract.md 1.7.
    pub fn of(config: Option<&ConfigSpec>, flags: &Flags) -> Self {
        let empty = ConfigSpec::default();
        let config = config.unwrap_or(&empty);
        let admission = config.admission.clone().unwrap_or_default();
        let global = config.global.clone().unwrap_or_default();
        let plugins = config.binder.as_ref().map(|binder| &binder.plugins);
        let hamicore = plugins.and_then(|plugins| plugins.get(HAMICORE)?.enabled);
        let runtime_class =
            admission.gpu_fraction_runtime_class_name.or(admission.gpu_pod_runtime_class_name);
        let runtime_class = runtime_class.unwrap_or_else(|| RUNTIME_CLASS.to_owned());
        Self {
            scheduler: filled(global.scheduler_name).unwrap_or_else(|| flags.scheduler.clone()),
            gpu_sharing: admission.gpu_sharing.unwrap_or(false),
            // It is off unless it is switched on by name, unlike the other plugins.
            hamicore: hamicore.unwrap_or(false),
            block_visible_devices: admission.block_nvidia_visible_devices.unwrap_or(false),
            runtime_class: filled(Some(runtime_class)),
            scope: Scope::of(config, flags),
        }
    }
}

impl Scope {
    fn of(config: &ConfigSpec, flags: &Flags) -> Self {
        let admission = config.admission.clone().unwrap_or_default();
        let global = config.global.clone().unwrap_or_default();
        let is_on = admission.service.and_then(|service| service.enabled) != Some(false);
        let named = |name: Option<String>, default: &str| {
            is_on.then(|| filled(name).unwrap_or_else(|| default.to_owned()))
        };
        let queue_label = filled(global.queue_label_key).unwrap_or(flags.queue_label.clone());
        Self {
            queue_label: (admission.queue_label_selector == Some(true)).then_some(queue_label),
            namespace_labels: global.namespace_label_selector,
            pod_labels: global.pod_label_selector,
            mutating: named(
                admission.mutating_webhook_configuration_name,
                "mutating-kai-admission",
            ),
            validating: named(
                admission.validating_webhook_configuration_name,
                "validating-kai-admission",
            ),
            queues: config.queue_validation(),
            pod_groups: config.pod_group_validation(),
        }
    }
}

/// Names of registrations that the Config switches on or off as a whole.
trait Validation {
    fn queue_validation(&self) -> Option<String>;
    fn pod_group_validation(&self) -> Option<String>;
}

impl Validation for ConfigSpec {
    fn queue_validation(&self) -> Option<String> {
        let part = self.queue_controller.clone().unwrap_or_default();
        let webhooks = part.webhooks.unwrap_or_default();
        let is_on = part.service.and_then(|service| service.enabled) != Some(false)
            && webhooks.enable_validation != Some(false);
        let prefix = filled(webhooks.webhook_configuration_name_prefix);
        let prefix = prefix.unwrap_or_else(|| "kai-queue-validation-".to_owned());
        is_on.then(|| format!("{prefix}{QUEUE_VERSION}"))
    }

    fn pod_group_validation(&self) -> Option<String> {
        let part = self.pod_group_controller.clone().unwrap_or_default();
        let webhooks = part.webhooks.unwrap_or_default();
        let is_on = part.service.and_then(|service| service.enabled) != Some(false)
            && webhooks.enable_validation != Some(false);
        let prefix = filled(webhooks.webhook_configuration_name_prefix);
        let prefix = prefix.unwrap_or_else(|| "kai-podgroup-validation-".to_owned());
        is_on.then(|| format!("{prefix}{POD_GROUP_VERSION}"))
    }
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(config: Value, expect: impl Fn(&Settings) -> bool) {
        let flags = Flags { scheduler: "by-flag".into(), queue_label: "queue".into() };
        let text = config.to_string();
        let config: ConfigSpec = serde_json::from_value(config).expect("a Config");
        let settings = Settings::of(Some(&config), &flags);
        assert!(expect(&settings), "{text}: {settings:?}");
    }

    #[test]
    fn fields_take_effect_and_have_the_defaults_of_the_contract() {
        check(json!({}), |found| {
            found.scheduler == "by-flag"
                && !found.gpu_sharing
                && !found.hamicore
                && !found.block_visible_devices
                && found.runtime_class.as_deref() == Some("nvidia")
                && found.scope.mutating.as_deref() == Some("mutating-kai-admission")
                && found.scope.queues.as_deref() == Some("kai-queue-validation-v2")
                && found.scope.pod_groups.as_deref() == Some("kai-podgroup-validation-v2alpha2")
                && found.scope.queue_label.is_none()
        });
        check(json!({"admission": {"gpuSharing": true}}), |found| found.gpu_sharing);
        check(json!({"global": {"schedulerName": "x"}}), |found| found.scheduler == "x");
        check(json!({"binder": {"plugins": {"hamicore": {"enabled": true}}}}), |f| f.hamicore);
        check(json!({"binder": {"plugins": {"hamicore": {"priority": 1}}}}), |f| !f.hamicore);
    }

    #[test]
    fn the_newer_name_of_the_runtime_class_wins_and_an_empty_one_switches_off() {
        let class = |expect: Option<&'static str>| {
            move |found: &Settings| found.runtime_class.as_deref() == expect
        };
        check(json!({"admission": {"gpuFractionRuntimeClassName": ""}}), class(None));
        check(json!({"admission": {"gpuPodRuntimeClassName": "old"}}), class(Some("old")));
        check(json!({"admission": {"gpuPodRuntimeClassName": ""}}), class(None));
        let both = json!({"gpuFractionRuntimeClassName": "new", "gpuPodRuntimeClassName": "old"});
        check(json!({"admission": both}), class(Some("new")));
    }

    #[test]
    fn registrations_are_renamed_and_switched_off() {
        check(json!({"admission": {"service": {"enabled": false}}}), |found| {
            found.scope.mutating.is_none()
                && found.scope.validating.is_none()
                && found.scope.queues.is_some()
        });
        let webhooks = json!({"webhooks": {"webhookConfigurationNamePrefix": "q-"}});
        check(json!({"queueController": webhooks}), |found| {
            found.scope.queues.as_deref() == Some("q-v2")
        });
        let off = json!({"webhooks": {"enableValidation": false}});
        check(json!({"podGroupController": off}), |found| found.scope.pod_groups.is_none());
        for is_on in [false, true] {
            let part = json!({"service": {"enabled": is_on}});
            check(json!({"queueController": part, "podGroupController": part}), |found| {
                found.scope.queues.is_some() == is_on && found.scope.pod_groups.is_some() == is_on
            });
        }
        let renamed = json!({"mutatingWebhookConfigurationName": "m", "queueLabelSelector": true});
        check(json!({"admission": renamed, "global": {"queueLabelKey": "k"}}), |found| {
            found.scope.mutating.as_deref() == Some("m")
                && found.scope.queue_label.as_deref() == Some("k")
        });
    }
}
