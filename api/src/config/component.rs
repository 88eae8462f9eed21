//! The parts of Config that are about one component each.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    PodSecurityContext, ResourceRequirements, SecurityContext, Toleration,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ClientConfig, Image, Service, Vpa};
use crate::schema;

/// The podgrouper.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PodGrouper {
    /// Its flags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<PodGrouperArgs>,
    /// Its Deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Limits of its API client.
    #[serde(rename = "k8sClientConfig", skip_serializing_if = "Option::is_none")]
    pub k8s_client_config: Option<ClientConfig>,
    /// Pods that it groups at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrent_reconciles: Option<i64>,
    /// Absent: the global count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Vertical autoscaling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpa: Option<Vpa>,
}

/// The podgrouper's flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PodGrouperArgs {
    /// Config map with the default priority of each kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_priorities_config_map_name: Option<String>,
    /// Its namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_priorities_config_map_namespace: Option<String>,
    /// True if Knative revisions are gangs; absent: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gang_schedule_knative: Option<bool>,
    /// True if Kartas say how unknown kinds are grouped; absent: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generic_karta_fallback: Option<bool>,
}

/// Binding and GPU reservation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Binder {
    /// Its Deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Reservation of shared devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_reservation: Option<ResourceReservation>,
    /// Absent: the global count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Binds at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrent_reconciles: Option<i64>,
    /// Absent: 120.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_binding_timeout_seconds: Option<i64>,
    /// Absent: 8081.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_port: Option<i64>,
    /// Absent: 8080.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_port: Option<i64>,
    /// Absent: found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdi_enabled: Option<bool>,
    /// Settings by plugin name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub plugins: BTreeMap<String, BinderPlugin>,
    /// Vertical autoscaling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpa: Option<Vpa>,
}

/// Settings of a plugin of the binder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BinderPlugin {
    /// Absent: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Higher first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Given: replaces the default arguments as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, String>>,
}

/// Reservation of shared devices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceReservation {
    /// Image of reservation pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// Seconds until a reservation that isn't ready fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation_timeout: Option<i64>,
    /// Namespace of reservation pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Their service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// Value of their label `app`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_label: Option<String>,
    /// Their runtime class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_class_name: Option<String>,
    /// Their requests and limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::core::resource_requirements")]
    pub pod_resources: Option<ResourceRequirements>,
    /// Of the pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::core::pod_security_context")]
    pub reservation_pod_security_context: Option<PodSecurityContext>,
    /// Of their containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::core::container_security_context")]
    pub reservation_container_security_context: Option<SecurityContext>,
}

/// Pod admission.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Admission {
    /// Its Deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Its ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<AdmissionWebhook>,
    /// Absent: the global count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// True if pods may share devices; absent: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_sharing: Option<bool>,
    /// True if pods are kept from naming devices themselves; absent: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_nvidia_visible_devices: Option<bool>,
    /// True if only objects with a queue label are looked at; absent: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_label_selector: Option<bool>,
    /// Runtime class of fractional pods; absent: `nvidia`; empty: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_fraction_runtime_class_name: Option<String>,
    /// Deprecated name of the field above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_pod_runtime_class_name: Option<String>,
    /// Absent: `mutating-kai-admission`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutating_webhook_configuration_name: Option<String>,
    /// Absent: `validating-kai-admission`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validating_webhook_configuration_name: Option<String>,
    /// Vertical autoscaling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpa: Option<Vpa>,
}

/// Ports of pod admission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionWebhook {
    /// Of the Service; absent: 443.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i64>,
    /// Of the pod; absent: 9443.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_port: Option<i64>,
    /// Absent: 8081.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_port: Option<i64>,
    /// Absent: 8080.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_port: Option<i64>,
}

/// The schedulers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Scheduler {
    /// Their Deployments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Their Services.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_service: Option<SchedulerService>,
    /// Absent: the global count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Accepted; has no effect here.
    #[serde(rename = "GOGC", skip_serializing_if = "Option::is_none")]
    pub gogc: Option<i64>,
    /// Vertical autoscaling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpa: Option<Vpa>,
}

/// The Service of a scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulerService {
    /// Absent: `ClusterIP`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<String>,
    /// Absent: 8080.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i64>,
    /// Absent: 8080.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_port: Option<i64>,
}

/// Queue status and validation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct QueueController {
    /// Its Deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Its Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller_service: Option<ControllerService>,
    /// Its webhooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<Webhooks>,
    /// Absent: the global count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// First part of metric names; absent: `kai`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_namespace: Option<String>,
    /// Queue labels that become metric labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_label_to_metric_label: Option<String>,
    /// Values of those that a queue doesn't have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_label_to_default_metric_value: Option<String>,
    /// Vertical autoscaling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpa: Option<Vpa>,
}

/// `PodGroup` status and validation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PodGroupController {
    /// Its Deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Its Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller_service: Option<WebhookService>,
    /// Its webhooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<Webhooks>,
    /// Groups that it looks at at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrent_reconciles: Option<i64>,
    /// Absent: the global count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Vertical autoscaling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpa: Option<Vpa>,
}

/// The Service of the queue controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ControllerService {
    /// Absent: `metrics`, 8080.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<ServicePort>,
    /// Absent: `webhook`, 443 to 9443.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<ServicePort>,
}

/// The Service of the `PodGroup` controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WebhookService {
    /// Absent: `webhook`, 443 to 9443.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<ServicePort>,
}

/// A port of a Service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ServicePort {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of the Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i64>,
    /// Of the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_port: Option<i64>,
}

/// Webhooks of a controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Webhooks {
    /// Absent: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_validation: Option<bool>,
    /// First part of the configuration's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook_configuration_name_prefix: Option<String>,
}

/// Scaling pods for cluster autoscalers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeScaleAdjuster {
    /// Its Deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Its flags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<NodeScaleAdjusterArgs>,
    /// Vertical autoscaling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpa: Option<Vpa>,
}

/// Flags of the scale adjuster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeScaleAdjusterArgs {
    /// Image of scaling pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling_pod_image: Option<Image>,
    /// Namespace of scaling pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_scale_namespace: Option<String>,
    /// Their service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_scale_service_account: Option<String>,
    /// Share of a device that a request by memory counts as; absent: 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_memory_to_fraction_ratio: Option<f64>,
}

/// The store of past use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Prometheus {
    /// Absent: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Absent: `prometheus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_name: Option<String>,
    /// Absent: `2w`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_period: Option<String>,
    /// Absent: `1m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_interval: Option<String>,
    /// True if it keeps its data over restarts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_persistent_storage: Option<bool>,
    /// Absent: `50Gi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_size: Option<String>,
    /// Absent: `standard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_class_name: Option<String>,
    /// One that is there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_prometheus_url: Option<String>,
    /// Checks of that one's health.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_prometheus_health_probe: Option<PrometheusHealthProbe>,
    /// Label of what is scraped; absent: `kai.scheduler/accounting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounting_label_key: Option<String>,
    /// Its value; absent: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounting_label_value: Option<String>,
    /// Scraping of the components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_monitor: Option<ServiceMonitor>,
}

/// Checks of an external Prometheus' health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PrometheusHealthProbe {
    /// Seconds; absent: 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<i64>,
    /// Seconds; absent: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<i64>,
    /// Absent: 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<i64>,
}

/// Scraping of components.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceMonitor {
    /// Absent: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Absent: `30s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// Absent: `10s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrape_timeout: Option<String>,
    /// Absent: the `ServiceAccount`'s token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer_token_file: Option<String>,
}

/// The daemon that reports NUMA placement from nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NumaPlacementExporter {
    /// Its `DaemonSet`; `enabled` absent: when a shard has the plugin `numa`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Labels of the nodes that it runs on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Of its pods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::core::tolerations")]
    pub tolerations: Vec<Toleration>,
    /// A duration; absent: 1s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<String>,
    /// A duration; absent: 60s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_resync_interval: Option<String>,
    /// The node's folder of the kubelet's socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_resources_host_path: Option<String>,
    /// The kubelet's socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_resources_socket: Option<String>,
    /// The node's `/sys`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sysfs_host_path: Option<String>,
}
