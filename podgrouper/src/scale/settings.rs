//! Settings of scaling pods, from the Config and the command line.

use kai_api::config::NodeScaleAdjuster;
use kai_api::names::namespace;
use kai_api::quantity::Quantity;

use crate::object::Object;

/// Fields of the Config that take effect here.
pub(crate) const HEEDED: [&str; 3] =
    ["global.openshift", "nodeScaleAdjuster.args", "nodeScaleAdjuster.service.enabled"];

/// Last part of the path of KAI's image, which ends by itself.
const IMAGE_NAME: &str = "scalingpod";
/// Share of a device that a request by memory counts as.
const MEMORY_SHARE: Quantity = Quantity::from_milli(100);

/// Settings of scaling pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// True if scaling pods are made.
    pub(crate) is_on: bool,
    /// Their namespace.
    pub(crate) namespace: String,
    /// Their service account.
    pub(crate) account: String,
    /// An image that ends by itself; absent: ours.
    pub(crate) image: Option<String>,
    /// Policy by which the kubelet asks the registry.
    pub(crate) pull_policy: String,
    /// Share of a device that a request by memory counts as.
    pub(crate) memory_share: Quantity,
    /// True if the platform sets security contexts.
    pub(crate) is_openshift: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            is_on: false,
            namespace: namespace::SCALE_ADJUST.to_owned(),
            account: namespace::SCALE_ADJUST.to_owned(),
            image: None,
            pull_policy: "IfNotPresent".to_owned(),
            memory_share: MEMORY_SHARE,
            is_openshift: false,
        }
    }
}

impl Settings {
    /// Reads the Config; `is_asked` holds where it does not say whether there are scaling pods.
    ///
    /// An image without a repository names none that could be pulled, for there is no operator here whose own registry
    /// it would be in: ours is taken then.
    pub(crate) fn read(config: Option<&Object>, is_asked: bool) -> Self {
        let mut settings = Self { is_on: is_asked, ..Self::default() };
        let Some(config) = config else { return settings };
        let spec = &config.value()["spec"];
        settings.is_openshift = spec["global"]["openshift"] == true;
        let adjuster = serde_json::from_value(spec["nodeScaleAdjuster"].clone());
        let NodeScaleAdjuster { service, args, .. } = adjuster.unwrap_or_default();
        if let Some(is_on) = service.and_then(|service| service.enabled) {
            settings.is_on = is_on;
        }
        let args = args.unwrap_or_default();
        if let Some(namespace) = args.node_scale_namespace.filter(|text| !text.is_empty()) {
            settings.namespace = namespace;
        }
        if let Some(account) = args.node_scale_service_account.filter(|text| !text.is_empty()) {
            settings.account = account;
        }
        // A float's shortest decimal form is the number that somebody wrote.
        let share = args.gpu_memory_to_fraction_ratio.map(|ratio| ratio.to_string());
        let share = share.and_then(|text| Quantity::parse(&text).ok());
        if let Some(share) = share.filter(|share| *share > Quantity::ZERO) {
            settings.memory_share = share;
        }
        let image = args.scaling_pod_image.unwrap_or_default();
        if let Some(policy) = image.pull_policy.filter(|text| !text.is_empty()) {
            settings.pull_policy = policy;
        }
        settings.image = image.repository.filter(|text| !text.is_empty()).map(|repository| {
            let name = image.name.as_deref().unwrap_or(IMAGE_NAME);
            let tag = image.tag.map_or_else(String::new, |tag| format!(":{tag}"));
            format!("{repository}/{name}{tag}")
        });
        settings
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Settings;
    use crate::object::Object;

    fn check(spec: &Value, is_asked: bool, expect: &Settings) {
        let config = Object::new(json!({"spec": spec}));
        assert_eq!(Settings::read(Some(&config), is_asked), *expect, "{spec}");
    }

    #[test]
    fn the_config_decides_and_the_flag_where_it_says_nothing() {
        let off = Settings::default();
        let on = Settings { is_on: true, ..Settings::default() };
        assert_eq!(Settings::read(None, false), off);
        assert_eq!(Settings::read(None, true), on);
        check(&json!({}), true, &on);
        check(&json!({"nodeScaleAdjuster": {"service": {"enabled": false}}}), true, &off);
        check(&json!({"nodeScaleAdjuster": {"service": {"enabled": true}}}), false, &on);
        check(&json!({"nodeScaleAdjuster": {"args": {"gpuMemoryToFractionRatio": -1}}}), true, &on);
    }

    #[test]
    fn every_argument_takes_effect() {
        let args = json!({"nodeScaleNamespace": "n", "nodeScaleServiceAccount": "a",
            "gpuMemoryToFractionRatio": 0.25, "scalingPodImage": {
                "repository": "registry/kai", "name": "s", "tag": "v1", "pullPolicy": "Always"}});
        let expect = Settings {
            is_on: true,
            namespace: "n".into(),
            account: "a".into(),
            image: Some("registry/kai/s:v1".into()),
            pull_policy: "Always".into(),
            memory_share: kai_api::quantity::Quantity::from_milli(250),
            is_openshift: true,
        };
        let spec = json!({"nodeScaleAdjuster": {"args": args}, "global": {"openshift": true}});
        check(&spec, true, &expect);
    }

    #[test]
    fn an_image_without_a_registry_is_ours() {
        let args = json!({"scalingPodImage": {"name": "scalingpod", "tag": "v0.17"}});
        check(&json!({"nodeScaleAdjuster": {"args": args}}), false, &Settings::default());
    }
}
