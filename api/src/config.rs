//! Config: the one object, `kai-config`, that sets up the installation.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Affinity, ResourceRequirements, SecurityContext, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema;

mod component;

pub use component::{
    Admission, AdmissionWebhook, Binder, BinderPlugin, ControllerService, NodeScaleAdjuster,
    NodeScaleAdjusterArgs, NumaPlacementExporter, PodGroupController, PodGrouper, PodGrouperArgs,
    Prometheus, PrometheusHealthProbe, QueueController, ResourceReservation, Scheduler,
    SchedulerService, ServiceMonitor, ServicePort, WebhookService, Webhooks,
};

/// The setup of an installation; every field is optional.
///
/// # Source
/// docs/contract.md 1.7. Objects with other names than `kai-config` are ignored; defaults are applied
/// when it is read and never written back.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kai.scheduler",
    version = "v1",
    kind = "Config",
    plural = "configs",
    derive = "Default",
    derive = "PartialEq",
    status = "ConfigStatus",
    doc = "How the installation is set up; only the object named kai-config counts."
)]
#[serde(rename_all = "camelCase", default, remote = "Self")]
pub struct ConfigSpec {
    /// Namespace of the components; absent: `kai-scheduler`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Settings of all components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global: Option<Global>,
    /// The podgrouper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_grouper: Option<PodGrouper>,
    /// Binding and GPU reservation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binder: Option<Binder>,
    /// Pod admission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission: Option<Admission>,
    /// The schedulers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Scheduler>,
    /// Queue status and validation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_controller: Option<QueueController>,
    /// `PodGroup` status and validation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_group_controller: Option<PodGroupController>,
    /// Scaling pods for cluster autoscalers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_scale_adjuster: Option<NodeScaleAdjuster>,
    /// The store of past use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prometheus: Option<Prometheus>,
    /// The daemon that reports NUMA placement from nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa_placement_exporter: Option<NumaPlacementExporter>,
}

empty_when_absent!(ConfigSpec);

/// Settings of all components.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Global {
    /// True: security contexts are left unset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openshift: Option<bool>,
    /// `spec.schedulerName` of the pods that are served; absent: `kai-scheduler`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_name: Option<String>,
    /// Absent: `kai.scheduler/queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_label_key: Option<String>,
    /// Absent: `kai.scheduler/node-pool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_pool_label_key: Option<String>,
    /// Replicas of every component; absent: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_count: Option<i32>,
    /// Of component pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::core::affinity")]
    pub affinity: Option<Affinity>,
    /// Of component pods.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Of component pods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::core::tolerations")]
    pub tolerations: Vec<Toleration>,
    /// Of pods on every node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::core::tolerations")]
    pub daemonsets_tolerations: Vec<Toleration>,
    /// Of component pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<String>,
    /// True: replicas must be on different nodes; else they should.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require_default_pod_anti_affinity_term: Option<bool>,
    /// Of component containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::core::container_security_context")]
    pub security_context: Option<SecurityContext>,
    /// Names of pull secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_image_pull_secrets: Vec<String>,
    /// Deprecated: one more pull secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images_pull_secret: Option<String>,
    /// Namespaces that are served: labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub namespace_label_selector: BTreeMap<String, String>,
    /// Pods that are served: labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pod_label_selector: BTreeMap<String, String>,
    /// True: logs are JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_log: Option<bool>,
    /// Vertical autoscaling of all components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpa: Option<Vpa>,
}

/// Settings of each component's Deployment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Service {
    /// Absent: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The container image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// Of the container.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::core::resource_requirements")]
    pub resources: Option<ResourceRequirements>,
    /// Limits of the API client.
    #[serde(rename = "k8sClientConfig", skip_serializing_if = "Option::is_none")]
    pub k8s_client_config: Option<ClientConfig>,
    /// Of the pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::core::affinity")]
    pub affinity: Option<Affinity>,
    /// Number of pods that may be away at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_disruption_budget: Option<DisruptionBudget>,
}

/// A container image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Image {
    /// Registry and path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Last part of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Absent: `IfNotPresent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_policy: Option<String>,
}

/// Limits of an API client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientConfig {
    /// Requests a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qps: Option<i64>,
    /// Requests at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<i64>,
}

/// A bound on the pods that may be away at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DisruptionBudget {
    /// Absent: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Absent: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<i32>,
}

/// Vertical autoscaling.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Vpa {
    /// Absent: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// As `autoscaling.k8s.io/v1` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::core::vertical_resource_policy")]
    pub resource_policy: Option<Value>,
    /// As `autoscaling.k8s.io/v1` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::core::vertical_update_policy")]
    pub update_policy: Option<Value>,
}

/// Observed state of the installation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigStatus {
    /// Reconciling, Deployed, Available, `DependenciesFulfilled`, Ready.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::core::conditions")]
    pub conditions: Vec<Condition>,
}
