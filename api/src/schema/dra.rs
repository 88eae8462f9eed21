//! Schemas of `resource.k8s.io/v1` types that `BindRequest` embeds.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::core::{node_selector, toleration};
use super::{atomic, boolean, integer, list, map, object, quantity_value, schema, string};

/// `AllocationResult`.
pub(crate) fn allocation_result(_: &mut SchemaGenerator) -> Schema {
    schema(object([
        ("allocationTimestamp", json!({"type": "string", "format": "date-time"})),
        ("devices", object([("config", atomic(configuration())), ("results", atomic(result()))])),
        ("nodeSelector", node_selector()),
    ]))
}

fn configuration() -> Value {
    let mut parameters = json!({"type": "object"});
    parameters["x-kubernetes-preserve-unknown-fields"] = json!(true);
    object([
        ("opaque", object([("driver!", string()), ("parameters!", parameters)])),
        ("requests", atomic(string())),
        ("source!", string()),
    ])
}

fn result() -> Value {
    object([
        ("adminAccess", boolean()),
        ("bindingConditions", atomic(string())),
        ("bindingFailureConditions", atomic(string())),
        ("consumedCapacity", map(quantity_value())),
        ("device!", string()),
        ("driver!", string()),
        ("pool!", string()),
        ("request!", string()),
        ("shareID", string()),
        ("tolerations", device_tolerations()),
    ])
}

/// The only default in all schemas: `operator: Equal`.
fn device_tolerations() -> Value {
    let mut toleration = toleration();
    toleration["properties"]["operator"]["default"] = json!("Equal");
    atomic(toleration)
}

/// A list of `DeviceRequest`.
pub(crate) fn device_requests(_: &mut SchemaGenerator) -> Schema {
    let mut exactly = sub_request();
    exactly["required"] = json!(["deviceClassName"]);
    exactly["properties"]["adminAccess"] = boolean();
    let mut first = sub_request();
    first["required"] = json!(["deviceClassName", "name"]);
    first["properties"]["name"] = string();
    schema(list(object([
        ("exactly", exactly),
        ("firstAvailable", atomic(first)),
        ("name!", string()),
    ])))
}

/// Gives the fields that `ExactDeviceRequest` and `DeviceSubRequest` share.
fn sub_request() -> Value {
    let selector = object([("cel", object([("expression!", string())]))]);
    object([
        ("allocationMode", string()),
        ("capacity", object([("requests", map(quantity_value()))])),
        ("count", integer()),
        ("deviceClassName", string()),
        ("selectors", atomic(selector)),
        ("tolerations", device_tolerations()),
    ])
}
