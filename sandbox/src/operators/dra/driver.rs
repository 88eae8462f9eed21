//! Objects of the driver: its class, and the slice of each node.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::ApiResource;
use kube::core::{DynamicObject, GroupVersionKind};
use serde_json::{Value, json};

use super::seen::{GROUP, Watched};
use super::{NIC_DRIVER, NICS_OF_NODE};

/// The kind of classes, which nobody here watches.
pub(super) fn class_resource() -> ApiResource {
    let kind = GroupVersionKind::gvk(GROUP, "v1", "DeviceClass");
    ApiResource::from_gvk_with_plural(&kind, "deviceclasses")
}

/// The class that all devices of the driver are of.
pub(super) fn class() -> DynamicObject {
    let expression = format!("device.driver == {NIC_DRIVER:?}");
    DynamicObject::new(NIC_DRIVER, &class_resource())
        .data(json!({"spec": {"selectors": [{"cel": {"expression": expression}}]}}))
}

/// The name of the slice of a node: no two nodes have the same.
pub(super) fn slice_name(node: &str) -> String {
    format!("{node}-{NIC_DRIVER}")
}

/// The slice with the devices of a node, which goes with the node: one of the same name that comes later has another.
pub(super) fn slice(node: &DynamicObject) -> DynamicObject {
    let name = super::name(node);
    let devices = (0..NICS_OF_NODE).map(
        |index| json!({"name": format!("nic-{index}"), "attributes": {"index": {"int": index}}}),
    );
    let devices: Vec<Value> = devices.collect();
    let mut slice =
        DynamicObject::new(&slice_name(name), &Watched::Slice.resource()).data(json!({"spec": {
            "driver": NIC_DRIVER, "nodeName": name, "devices": devices,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        }}));
    slice.metadata.owner_references = Some(vec![OwnerReference {
        api_version: "v1".to_owned(),
        kind: "Node".to_owned(),
        name: name.to_owned(),
        uid: node.metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: None,
    }]);
    slice
}
