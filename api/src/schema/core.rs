//! Schemas of Kubernetes' own types that Config embeds.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::{
    atomic, atomic_map, boolean, int32, integer, list, map, object, one_of, quantity_value, schema,
    string,
};

/// `core/v1` `ResourceRequirements`.
pub(crate) fn resource_requirements(_: &mut SchemaGenerator) -> Schema {
    let mut claims = list(object([("name!", string()), ("request", string())]));
    claims["x-kubernetes-list-type"] = json!("map");
    claims["x-kubernetes-list-map-keys"] = json!(["name"]);
    schema(object([
        ("claims", claims),
        ("limits", map(quantity_value())),
        ("requests", map(quantity_value())),
    ]))
}

/// `core/v1` Toleration, without a default.
pub(crate) fn tolerations(_: &mut SchemaGenerator) -> Schema {
    schema(list(toleration()))
}

pub(super) fn toleration() -> Value {
    object([
        ("effect", string()),
        ("key", string()),
        ("operator", string()),
        ("tolerationSeconds", integer()),
        ("value", string()),
    ])
}

/// `core/v1` Affinity.
pub(crate) fn affinity(_: &mut SchemaGenerator) -> Schema {
    schema(object([
        ("nodeAffinity", node_affinity()),
        ("podAffinity", pod_affinity()),
        ("podAntiAffinity", pod_affinity()),
    ]))
}

fn node_affinity() -> Value {
    let preferred = object([("preference!", node_selector_term()), ("weight!", int32())]);
    object([
        ("preferredDuringSchedulingIgnoredDuringExecution", atomic(preferred)),
        ("requiredDuringSchedulingIgnoredDuringExecution", node_selector()),
    ])
}

pub(super) fn node_selector() -> Value {
    atomic_map(object([("nodeSelectorTerms!", atomic(node_selector_term()))]))
}

fn node_selector_term() -> Value {
    atomic_map(object([
        ("matchExpressions", atomic(requirement())),
        ("matchFields", atomic(requirement())),
    ]))
}

fn requirement() -> Value {
    object([("key!", string()), ("operator!", string()), ("values", atomic(string()))])
}

fn pod_affinity() -> Value {
    let preferred = object([("podAffinityTerm!", pod_affinity_term()), ("weight!", int32())]);
    object([
        ("preferredDuringSchedulingIgnoredDuringExecution", atomic(preferred)),
        ("requiredDuringSchedulingIgnoredDuringExecution", atomic(pod_affinity_term())),
    ])
}

fn pod_affinity_term() -> Value {
    let selector = || {
        atomic_map(object([
            ("matchExpressions", atomic(requirement())),
            ("matchLabels", map(string())),
        ]))
    };
    object([
        ("labelSelector", selector()),
        ("matchLabelKeys", atomic(string())),
        ("mismatchLabelKeys", atomic(string())),
        ("namespaceSelector", selector()),
        ("namespaces", atomic(string())),
        ("topologyKey!", string()),
    ])
}

/// `core/v1` `SecurityContext`.
pub(crate) fn container_security_context(_: &mut SchemaGenerator) -> Schema {
    let capabilities = object([("add", atomic(string())), ("drop", atomic(string()))]);
    schema(object([
        ("allowPrivilegeEscalation", boolean()),
        ("appArmorProfile", security_profile()),
        ("capabilities", capabilities),
        ("privileged", boolean()),
        ("procMount", string()),
        ("readOnlyRootFilesystem", boolean()),
        ("runAsGroup", integer()),
        ("runAsNonRoot", boolean()),
        ("runAsUser", integer()),
        ("seLinuxOptions", se_linux_options()),
        ("seccompProfile", security_profile()),
        ("windowsOptions", windows_options()),
    ]))
}

/// `core/v1` `PodSecurityContext`.
pub(crate) fn pod_security_context(_: &mut SchemaGenerator) -> Schema {
    let sysctl = object([("name!", string()), ("value!", string())]);
    schema(object([
        ("appArmorProfile", security_profile()),
        ("fsGroup", integer()),
        ("fsGroupChangePolicy", string()),
        ("runAsGroup", integer()),
        ("runAsNonRoot", boolean()),
        ("runAsUser", integer()),
        ("seLinuxChangePolicy", string()),
        ("seLinuxOptions", se_linux_options()),
        ("seccompProfile", security_profile()),
        ("supplementalGroups", atomic(integer())),
        ("supplementalGroupsPolicy", string()),
        ("sysctls", atomic(sysctl)),
        ("windowsOptions", windows_options()),
    ]))
}

fn security_profile() -> Value {
    object([("localhostProfile", string()), ("type!", string())])
}

fn se_linux_options() -> Value {
    object([("level", string()), ("role", string()), ("type", string()), ("user", string())])
}

fn windows_options() -> Value {
    object([
        ("gmsaCredentialSpec", string()),
        ("gmsaCredentialSpecName", string()),
        ("hostProcess", boolean()),
        ("runAsUserName", string()),
    ])
}

/// The resource policy of a `VerticalPodAutoscaler` (`autoscaling.k8s.io/v1`).
pub(crate) fn vertical_resource_policy(_: &mut SchemaGenerator) -> Schema {
    let policy = object([
        ("containerName", string()),
        ("controlledResources", list(string())),
        ("controlledValues", one_of(&["RequestsAndLimits", "RequestsOnly"])),
        ("maxAllowed", map(quantity_value())),
        ("minAllowed", map(quantity_value())),
        ("mode", one_of(&["Auto", "Off"])),
    ]);
    schema(object([("containerPolicies", list(policy))]))
}

/// The update policy of a `VerticalPodAutoscaler` (`autoscaling.k8s.io/v1`).
pub(crate) fn vertical_update_policy(_: &mut SchemaGenerator) -> Schema {
    let requirement = object([
        ("changeRequirement!", one_of(&["TargetHigherThanRequests", "TargetLowerThanRequests"])),
        ("resources!", list(string())),
    ]);
    schema(object([
        ("evictionRequirements", list(requirement)),
        ("minReplicas", int32()),
        ("updateMode", one_of(&["Off", "Initial", "Recreate", "InPlaceOrRecreate", "Auto"])),
    ]))
}

/// A list of `meta/v1` Condition.
pub(crate) fn conditions(_: &mut SchemaGenerator) -> Schema {
    const REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
    schema(list(object([
        ("lastTransitionTime!", json!({"type": "string", "format": "date-time"})),
        ("message!", json!({"type": "string", "maxLength": 32768})),
        ("observedGeneration", json!({"type": "integer", "minimum": 0})),
        (
            "reason!",
            json!({"type": "string", "minLength": 1, "maxLength": 1024, "pattern": REASON}),
        ),
        ("status!", one_of(&["True", "False", "Unknown"])),
        ("type!", json!({"type": "string", "maxLength": 316, "pattern": QUALIFIED_NAME})),
    ])))
}

/// A label key or condition type: an optional DNS prefix, `/`, a name.
pub(crate) const QUALIFIED_NAME: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
