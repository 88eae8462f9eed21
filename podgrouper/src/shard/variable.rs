//! The environment variable that tells a scheduler where past use of queues is read: `connectionStringEnvVar` of a
//! shard's `usageDBConfig`.
//!
//! Whoever installs the system sets it once, in the podgrouper's Deployment or in the default scheduler's. From there it
//! is carried over as it is written, so that what refers to a Secret goes on referring to it: no value is read here. One
//! that refers to another variable (`$(HOST)`) means nothing without that one, and is not carried over.
//! Source: docs/contract.md 1.6, 2.4.

use std::collections::BTreeMap;
use std::sync::Arc;

use kai_api::names::component;
use serde_json::{Value, json};

use crate::object::Object;

/// The field as `status` names it.
const FIELD: &str = "spec.usageDBConfig.connectionStringEnvVar";

/// Names the variable that was carried over into a Deployment, so that it goes when the shard does not name it any
/// more, and no other shard inherits it from the default one.
const CARRIED: &str = "kai.scheduler/carried-variable";

/// Has the wanted Deployment of a shard know the variable that the shard names, and forget one that it named before;
/// the field, and why, where it cannot.
pub(super) fn carry_over(
    shard: &Object,
    stored: Option<&Object>,
    pattern: &Object,
    deployments: &BTreeMap<String, Arc<Object>>,
    wanted: &mut Value,
) -> Option<String> {
    let container = &mut wanted["spec"]["template"]["spec"]["containers"][0];
    let mut own = container["env"].as_array().cloned().unwrap_or_default();
    let was_none = own.is_empty();
    let inherited = pattern.annotation(CARRIED);
    own.retain(|entry| inherited.is_none_or(|inherited| entry["name"] != inherited));
    let named = shard.value()["spec"]["usageDBConfig"]["connectionStringEnvVar"].as_str();
    let named = named.filter(|name| !name.is_empty());
    let missing = named.filter(|name| own.iter().all(|entry| entry["name"] != *name));
    let given = missing.and_then(|name| given(name, deployments));
    let other = given.as_ref().and_then(|given| reference(given["value"].as_str()?));
    let refused = given.as_ref().zip(other).map(|(given, other)| {
        format!(
            "{FIELD} (variable {} of Deployment {} refers to $({other}), which is not carried over)",
            given["name"].as_str().unwrap_or_default(),
            component::PODGROUPER,
        )
    });
    let given = given.filter(|_| refused.is_none());
    own.extend(given.clone());
    let had = stored.and_then(|stored| stored.annotation(CARRIED)).is_some();
    if !own.is_empty() {
        container["env"] = json!(own);
    } else if had || !was_none {
        container["env"] = Value::Null;
    }
    if had || given.is_some() {
        let carried = given.as_ref().map_or(&Value::Null, |given| &given["name"]);
        wanted["metadata"]["annotations"][CARRIED] = carried.clone();
    }
    let is_unset = missing.is_some() && given.is_none();
    refused.or_else(|| is_unset.then(|| String::from(FIELD)))
}

/// The first variable that a value refers to.
///
/// # Source
/// The API's `EnvVar.value`: `$(NAME)` is replaced, and `$$` stands for one dollar.
fn reference(value: &str) -> Option<&str> {
    let mut rest = value;
    loop {
        rest = &rest[rest.find('$')? + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            rest = after;
        } else if let Some((name, _)) = rest.strip_prefix('(').and_then(|one| one.split_once(')')) {
            return Some(name);
        }
    }
}

/// A variable of the podgrouper's Deployment, as it is written there.
fn given(name: &str, deployments: &BTreeMap<String, Arc<Object>>) -> Option<Value> {
    let deployment = deployments.get(component::PODGROUPER)?;
    let containers = &deployment.value()["spec"]["template"]["spec"]["containers"];
    let variables = containers.as_array()?.iter().filter_map(|one| one["env"].as_array());
    variables.flatten().find(|entry| entry["name"] == name).cloned()
}
