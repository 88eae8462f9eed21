//! `BindRequest`: the journal of a bind that takes several steps.

use k8s_openapi::api::resource::v1::{AllocationResult, DeviceRequest};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::queue::ResourceList;
use crate::schema;

/// A pod, the node that it goes to, and the devices that it gets.
///
/// # Source
/// docs/contract.md 1.4. Named like the pod, in its namespace, owned by it.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "scheduling.run.ai",
    version = "v1alpha2",
    kind = "BindRequest",
    plural = "bindrequests",
    namespaced,
    derive = "Default",
    derive = "PartialEq",
    status = "BindRequestStatus",
    doc = "A bind that takes several steps, and how far it got."
)]
#[serde(rename_all = "camelCase", default, remote = "Self")]
pub struct BindRequestSpec {
    /// A pod of the same namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_name: Option<String>,
    /// The node that it goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_node: Option<String>,
    /// `Regular`, `Fraction` or `MigInstance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received_resource_type: Option<String>,
    /// The devices it gets.
    #[serde(rename = "receivedGPU", skip_serializing_if = "Option::is_none")]
    pub received_gpu: Option<ReceivedGpu>,
    /// The shared devices it gets: a UUID each.
    #[serde(rename = "selectedGPUGroups", skip_serializing_if = "Vec::is_empty")]
    pub selected_gpu_groups: Vec<String>,
    /// Devices that the pod's claims get.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_claim_allocations: Vec<ResourceClaimAllocation>,
    /// The claim to be made for extended resources that a `DeviceClass` backs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended_resource_claim_allocation: Option<ExtendedResourceClaimAllocation>,
    /// Copied to a pod annotation.
    #[serde(rename = "predictedNUMAZones", skip_serializing_if = "Vec::is_empty")]
    pub predicted_numa_zones: Vec<NumaZone>,
    /// Retries before it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_limit: Option<i32>,
}

empty_when_absent!(BindRequestSpec);

/// Devices that a pod gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ReceivedGpu {
    /// Their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
    /// The share of each, with two decimals: `0.50`, `1.00`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub portion: Option<String>,
}

/// Devices that one claim of a pod gets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceClaimAllocation {
    /// The pod's name for the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The allocator's result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::dra::allocation_result")]
    pub allocation: Option<AllocationResult>,
}

/// A claim to be made for extended resources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtendedResourceClaimAllocation {
    /// The allocator's result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::dra::allocation_result")]
    pub allocation: Option<AllocationResult>,
    /// The claim's requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::dra::device_requests")]
    pub device_requests: Vec<DeviceRequest>,
    /// Requests of containers, and those of the claim that stand for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub container_mappings: Vec<ContainerMapping>,
}

/// A resource of a container, and the request of the claim that stands for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContainerMapping {
    /// The container.
    pub container_name: String,
    /// The claim's request.
    pub request_name: String,
    /// The extended resource.
    pub resource_name: String,
}

/// Amounts that are taken of a NUMA zone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NumaZone {
    /// The zone's name.
    pub zone: String,
    /// Amounts by resource name.
    pub amount: ResourceList,
}

/// Progress of the bind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct BindRequestStatus {
    /// Empty at first, then `Pending`, `Succeeded` or `Failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_attempts: Option<i32>,
}
