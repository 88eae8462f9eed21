//! `config`: KAI's configuration file, from a `SchedulingShard` and back. Source: docs/contract.md 1.6, 8.3.

use std::collections::BTreeMap;

use kai_api::shard::SchedulingShardSpec;
use kai_engine::Config;
use serde_json::{Map, Value, json};

use super::lenient::{Lenient, without_nulls};
use crate::settings::Settings;

/// The keys that Go reads in any case, as they are spelled.
const KEYS: [&str; 22] = [
    "actions",
    "tiers",
    "plugins",
    "name",
    "arguments",
    "queueDepthPerAction",
    "usageDBConfig",
    "clientType",
    "connectionString",
    "connectionStringEnvVar",
    "usageParams",
    "halfLifePeriod",
    "windowSize",
    "windowType",
    "tumblingWindowStartTime",
    "cronString",
    "fetchInterval",
    "stalenessPeriod",
    "waitTimeout",
    "extraParams",
    "scenarioSearchBudgets",
    "kValue",
];
/// Those of maps, whose own keys are data.
const MAPS: [&str; 4] =
    ["arguments", "queueDepthPerAction", "extraParams", "scenarioSearchBudgets"];
/// Switches of a plugin that nothing here follows.
const SWITCHES: [&str; 7] = [
    "disableJobOrder",
    "disableTaskOrder",
    "disablePreemptable",
    "disableReclaimable",
    "disableQueueOrder",
    "disablePredicate",
    "disableNodeOrder",
];

/// Says what `config` asks for, over `base`.
///
/// # Errors
/// It is no such configuration.
pub(super) fn read(json: &[u8], base: &Config) -> Result<Settings, String> {
    let mut value: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    without_nulls(&mut value);
    spell(&mut value);
    if value.is_null() {
        value = json!({});
    }
    let idle = switches(&value);
    // JSON is YAML, and one reader is enough.
    let mut settings = Settings::of_file(&value.to_string(), base).map_err(|error| {
        // What comes after it draws the line, which is all of the file here.
        let text = error.to_string();
        String::from(text.lines().next().unwrap_or_default().trim_start_matches("error: "))
    })?;
    settings.problems.extend(idle);
    Ok(settings)
}

/// Spells the keys as they are spelled.
fn spell(value: &mut Value) {
    match value {
        Value::Object(map) => {
            *map =
                std::mem::take(map).into_iter().map(|(key, value)| spelled(key, value)).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(spell),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn spelled(key: String, mut value: Value) -> (String, Value) {
    let known = KEYS.iter().find(|known| known.eq_ignore_ascii_case(&key));
    let key = known.map_or(key, |known| String::from(*known));
    if !MAPS.contains(&key.as_str()) {
        spell(&mut value);
    }
    (key, value)
}

/// Switches that are on, which have no effect here.
fn switches(config: &Value) -> Vec<String> {
    let tiers = config["tiers"].as_array().into_iter().flatten();
    let plugins = tiers.flat_map(|tier| tier["plugins"].as_array().into_iter().flatten());
    let mut idle = Vec::new();
    for plugin in plugins {
        let Value::Object(fields) = plugin else { continue };
        let mut fields = Lenient::of(fields.clone());
        let name = fields.text("name").unwrap_or_default();
        for switch in SWITCHES {
            if fields.take(switch).is_some_and(|value| value == true) {
                idle.push(format!("plugins.{name}.{switch} has no effect here"));
            }
        }
    }
    idle
}

/// KAI's plugins in their order, but for those of node placement, which follow from the strategies.
const PLUGINS: [(&str, i64); 22] = [
    ("predicates", 1900),
    ("proportion", 1800),
    ("priority", 1700),
    ("nodeavailability", 1600),
    ("resourcetype", 1500),
    ("podaffinity", 1400),
    ("elastic", 1300),
    ("kubeflow", 1200),
    ("ray", 1100),
    ("subgrouporder", 1000),
    ("taskorder", 900),
    ("nominatednode", 800),
    ("dynamicresources", 700),
    ("minruntime", 600),
    ("topology", 500),
    ("snapshot", 400),
    ("sg-nodelocalgreedy", 360),
    ("sg-multinodegang", 350),
    ("gpupack", 300),
    ("gpuspread", 300),
    ("nodeplacement", 200),
    ("gpusharingorder", 100),
];
const ACTIONS: [(&str, i64); 5] = [
    ("allocate", 500),
    ("consolidation", 400),
    ("reclaim", 300),
    ("preempt", 200),
    ("stalegangeviction", 100),
];

/// A plugin or an action on its way to the file.
struct Part {
    enabled: bool,
    priority: i64,
    arguments: BTreeMap<String, String>,
}

impl Part {
    fn new(enabled: bool, priority: i64) -> Self {
        Self { enabled, priority, arguments: BTreeMap::new() }
    }
}

/// The names of what is on, the highest priority first.
fn in_order(parts: &BTreeMap<String, Part>) -> Vec<(&String, &Part)> {
    let mut on: Vec<_> = parts.iter().filter(|(_, part)| part.enabled).collect();
    // Equal ones stay in the order of their names.
    on.sort_by_key(|(_, part)| std::cmp::Reverse(part.priority));
    on
}

/// A shard as the configuration that KAI's operator makes of it.
///
/// A strategy of which KAI knows nothing, `fragmentation`, stands there under its name: its tool refuses the file or
/// packs nodes, ours reads it.
pub fn write(spec: &SchedulingShardSpec) -> Value {
    let actions = actions(spec);
    let actions: Vec<&str> = in_order(&actions).into_iter().map(|(name, _)| &**name).collect();
    let plugins = plugins(spec);
    let plugins: Vec<Value> = in_order(&plugins)
        .into_iter()
        .map(|(name, part)| {
            let mut plugin = json!({ "name": name });
            if !part.arguments.is_empty() {
                plugin["arguments"] = json!(part.arguments);
            }
            plugin
        })
        .collect();
    let mut config = Map::new();
    config.insert(String::from("actions"), json!(actions.join(", ")));
    config.insert(String::from("tiers"), json!([{ "plugins": plugins }]));
    let more = [
        (
            "queueDepthPerAction",
            json!(spec.queue_depth_per_action),
            spec.queue_depth_per_action.is_empty(),
        ),
        ("usageDBConfig", json!(spec.usage_db_config), spec.usage_db_config.is_none()),
        (
            "scenarioSearchBudgets",
            json!(spec.scenario_search_budgets),
            spec.scenario_search_budgets.is_none(),
        ),
    ];
    let more = more.into_iter().filter(|(_, _, is_empty)| !is_empty);
    config.extend(more.map(|(key, value, _)| (String::from(key), value)));
    Value::Object(config)
}

/// Says which strategy a shard names for GPUs and for the rest.
fn strategies(spec: &SchedulingShardSpec) -> (&str, &str) {
    let given = spec.placement_strategy.as_ref();
    let gpu = given.and_then(|given| given.gpu.as_deref()).filter(|text| !text.is_empty());
    let gpu = gpu.unwrap_or("binpack");
    let cpu = given.and_then(|given| given.cpu.as_deref());
    // Pods without GPUs make fragments as well, unless they are to be placed otherwise.
    let instead = if gpu == "fragmentation" && cpu.is_none() { gpu } else { "binpack" };
    (gpu, cpu.filter(|text| !text.is_empty()).unwrap_or(instead))
}

fn actions(spec: &SchedulingShardSpec) -> BTreeMap<String, Part> {
    let (gpu, cpu) = strategies(spec);
    let spreads = gpu == "spread" || cpu == "spread";
    let mut parts: BTreeMap<String, Part> = ACTIONS
        .iter()
        .map(|(name, priority)| (String::from(*name), Part::new(true, *priority)))
        .collect();
    if let Some(part) = parts.get_mut("consolidation") {
        part.enabled = !spreads;
    }
    for (name, given) in &spec.actions {
        let part = parts.entry(name.clone()).or_insert_with(|| Part::new(true, 0));
        part.enabled = given.enabled.unwrap_or(part.enabled);
        part.priority = given.priority.unwrap_or(part.priority);
    }
    parts
}

fn plugins(spec: &SchedulingShardSpec) -> BTreeMap<String, Part> {
    let (gpu, cpu) = strategies(spec);
    // With a word that is no strategy KAI packs nodes, but spreads devices.
    let packs_devices = matches!(gpu, "binpack" | "fragmentation");
    let usual = |name: &str| match name {
        "gpupack" | "gpusharingorder" => packs_devices,
        "gpuspread" => !packs_devices,
        _ => true,
    };
    let mut parts: BTreeMap<String, Part> = PLUGINS
        .iter()
        .map(|(name, priority)| (String::from(*name), Part::new(usual(name), *priority)))
        .collect();
    if let Some(part) = parts.get_mut("nodeplacement") {
        part.arguments = [("gpu", gpu), ("cpu", cpu)]
            .map(|(key, value)| (String::from(key), String::from(value)))
            .into();
    }
    for (name, given) in &spec.plugins {
        let part = parts.entry(name.clone()).or_insert_with(|| Part::new(true, 0));
        part.enabled = given.enabled.unwrap_or(part.enabled);
        part.priority = given.priority.unwrap_or(part.priority);
        if let Some(arguments) = &given.arguments {
            part.arguments.clone_from(arguments);
        }
    }
    let runtimes = spec.min_runtime.clone().unwrap_or_default();
    let more = [
        ("proportion", "kValue", spec.k_value.map(|k| k.to_string())),
        ("minruntime", "defaultPreemptMinRuntime", runtimes.preempt_min_runtime),
        ("minruntime", "defaultReclaimMinRuntime", runtimes.reclaim_min_runtime),
    ];
    for (plugin, argument, value) in more {
        if let (Some(part), Some(value)) = (parts.get_mut(plugin), value) {
            part.arguments.insert(String::from(argument), value);
        }
    }
    parts
}

#[cfg(test)]
mod tests;
