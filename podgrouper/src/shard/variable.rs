//! The environment variable that tells a scheduler where past use of queues is read: `connectionStringEnvVar` of a
//! shard's `usageDBConfig`.
//!
//! Whoever installs the system sets it once, in the podgrouper's Deployment or in the default scheduler's. From there it
//! is carried over as it is written, so that what refers to a Secret goes on referring to it: no value is read here.
//! Source: spec/contract.md 1.6, 2.4.

use std::collections::BTreeMap;
use std::sync::Arc;

use kai_api::names::component;
use serde_json::{Value, json};

use crate::object::Object;

/// The field as `status` names it.
const FIELD: &str = "spec.usageDBConfig.connectionStringEnvVar";

/// Has a shard's container know the variable that the shard names; the field where nobody sets that variable.
pub(super) fn carry_over(
    shard: &Object,
    deployments: &BTreeMap<String, Arc<Object>>,
    container: &mut Value,
) -> Option<&'static str> {
    let name = shard.value()["spec"]["usageDBConfig"]["connectionStringEnvVar"].as_str();
    let name = name.filter(|name| !name.is_empty())?;
    let is_it = |entry: &&Value| entry["name"] == name;
    let given = deployments.get(component::PODGROUPER).and_then(|deployment| {
        let containers = &deployment.value()["spec"]["template"]["spec"]["containers"];
        let variables = containers.as_array()?.iter().filter_map(|one| one["env"].as_array());
        variables.flatten().find(is_it).cloned()
    });
    let mut own = container["env"].as_array().cloned().unwrap_or_default();
    let at = own.iter().position(|entry| is_it(&entry));
    match (given, at) {
        (Some(given), Some(at)) => own[at] = given,
        (Some(given), None) => own.push(given),
        (None, Some(_)) => return None,
        (None, None) => return Some(FIELD),
    }
    container["env"] = json!(own);
    None
}
