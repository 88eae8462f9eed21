//! Settings of KAI's binder in the Config, as flags of every scheduler (`docs/contract.md` 1.7, `binder`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::object::Object;

/// The flag for the security context of the container of reservation pods.
const CONTAINER_SECURITY: &str = "resource-reservation-container-security-context";
/// Settings of reservation pods: the field below `binder.resourceReservation`, and the scheduler's flag.
const RESERVATION: [(&str, &str); 8] = [
    ("allocationTimeout", "resource-reservation-allocation-timeout"),
    ("appLabel", "resource-reservation-app-label"),
    ("namespace", "resource-reservation-namespace"),
    ("podResources", "resource-reservation-pod-resources"),
    ("reservationContainerSecurityContext", CONTAINER_SECURITY),
    ("reservationPodSecurityContext", "resource-reservation-pod-security-context"),
    ("runtimeClassName", "runtime-class-name"),
    ("serviceAccountName", "resource-reservation-service-account"),
];
/// Plugins of KAI's binder of which a setting means something here.
const PLUGINS: [&str; 2] = ["gpusharing", "hamicore"];

/// Fields of the Config that have an effect here.
pub(super) const HEEDED: [&str; 13] = [
    "binder.cdiEnabled",
    "binder.plugins.gpusharing.arguments",
    "binder.plugins.gpusharing.enabled",
    "binder.plugins.hamicore.enabled",
    "binder.resourceReservation.allocationTimeout",
    "binder.resourceReservation.appLabel",
    "binder.resourceReservation.namespace",
    "binder.resourceReservation.podResources",
    "binder.resourceReservation.reservationContainerSecurityContext",
    "binder.resourceReservation.reservationPodSecurityContext",
    "binder.resourceReservation.runtimeClassName",
    "binder.resourceReservation.serviceAccountName",
    "binder.volumeBindingTimeoutSeconds",
];

/// The flags that follow from the Config. Its image of reservation pods is left out: it would be KAI's, which does not
/// have our program; the scheduler takes its own.
pub(super) fn flags(config: Option<&Object>) -> BTreeMap<String, String> {
    let mut flags = BTreeMap::new();
    let Some(config) = config else { return flags };
    let spec = &config.value()["spec"];
    let binder = &spec["binder"];
    for (field, flag) in RESERVATION {
        let text = match &binder["resourceReservation"][field] {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                other.to_string()
            }
        };
        flags.insert(flag.to_owned(), text);
    }
    if spec["global"]["openshift"] == true {
        flags.entry(CONTAINER_SECURITY.to_owned()).or_insert_with(|| without_user().to_string());
    }
    if let Some(enabled) = binder["cdiEnabled"].as_bool() {
        flags.insert("cdi-enabled".to_owned(), enabled.to_string());
    }
    // The scheduler would refuse less, and end: its own default counts then.
    if let Some(seconds @ 1..) = binder["volumeBindingTimeoutSeconds"].as_u64() {
        flags.insert("volume-binding-timeout-seconds".to_owned(), seconds.to_string());
    }
    let plugins: serde_json::Map<String, Value> = binder["plugins"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| PLUGINS.contains(&name.as_str()))
        .map(|(name, settings)| (name.clone(), settings.clone()))
        .collect();
    if !plugins.is_empty() {
        flags.insert("plugins".to_owned(), Value::Object(plugins).to_string());
    }
    flags
}

/// The scheduler's own security context of that container but for the user: OpenShift gives pods a user of their
/// namespace, and refuses those that name another.
fn without_user() -> Value {
    json!({"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
        "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_config_becomes_flags_and_what_means_nothing_is_left_out() {
        let config = Object::new(json!({"spec": {"binder": {
            "cdiEnabled": true, "replicas": 3,
            "resourceReservation": {"allocationTimeout": 60, "namespace": "held", "image": {"name": "x"},
                "podResources": {"requests": {"cpu": "10m"}}},
            "plugins": {"hamicore": {"enabled": true}, "volumebinding": {"enabled": true}},
            "volumeBindingTimeoutSeconds": 300,
        }}}));
        let flags: Vec<String> =
            flags(Some(&config)).iter().map(|(flag, value)| format!("{flag}={value}")).collect();
        assert_eq!(
            flags,
            [
                "cdi-enabled=true",
                r#"plugins={"hamicore":{"enabled":true}}"#,
                "resource-reservation-allocation-timeout=60",
                "resource-reservation-namespace=held",
                r#"resource-reservation-pod-resources={"requests":{"cpu":"10m"}}"#,
                "volume-binding-timeout-seconds=300",
            ]
        );
        for refused in [0, -1] {
            let binder = json!({"volumeBindingTimeoutSeconds": refused});
            let config = Object::new(json!({"spec": {"binder": binder}}));
            assert!(super::flags(Some(&config)).is_empty(), "{refused}");
        }
        assert!(super::flags(None).is_empty());
    }

    /// Says which user reservation pods are told to have by a Config; none where the scheduler's own default stands.
    fn check_security(spec: &Value, expect: Option<&Value>) {
        let flags = flags(Some(&Object::new(json!({ "spec": spec }))));
        let told = flags.get(CONTAINER_SECURITY);
        let told: Option<Value> = told.map(|text| serde_json::from_str(text).expect("JSON"));
        assert_eq!(told.map(|told| told["runAsUser"].clone()).as_ref(), expect, "{spec}");
    }

    #[test]
    fn openshift_gives_reservation_pods_their_user() {
        check_security(&json!({"global": {"openshift": false}}), None);
        check_security(&json!({"global": {"openshift": true}}), Some(&Value::Null));
        let own = json!({"reservationContainerSecurityContext": {"runAsUser": 7}});
        let spec = json!({"global": {"openshift": true}, "binder": {"resourceReservation": own}});
        check_security(&spec, Some(&json!(7)));
    }
}
