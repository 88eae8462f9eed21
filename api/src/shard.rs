//! `SchedulingShard`: one scheduler and the node pool that it serves.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::Quantity;
use crate::schema;

/// The setup of one scheduler.
///
/// # Source
/// docs/contract.md 1.6. Defaults are applied when it is read and never written back.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "kai.scheduler",
    version = "v1",
    kind = "SchedulingShard",
    plural = "schedulingshards",
    derive = "Default",
    derive = "PartialEq",
    status = "SchedulingShardStatus",
    doc = "One scheduler and the node pool that it serves."
)]
#[serde(rename_all = "camelCase", default, remote = "Self")]
pub struct SchedulingShardSpec {
    /// Value of the node-pool label; absent or empty: objects without the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_label_value: Option<String>,
    /// Scheduler flags by name without dashes; they win over generated ones.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, String>,
    /// `binpack`, `spread` or `fragmentation`; absent: `binpack`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement_strategy: Option<PlacementStrategy>,
    /// Gangs to try per queue, by action.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub queue_depth_per_action: BTreeMap<String, i64>,
    /// Run times that work is guaranteed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_runtime: Option<MinRuntime>,
    /// Weight of past use in fair shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k_value: Option<f64>,
    /// The database that past use is read from; absent: it is not read.
    #[serde(rename = "usageDBConfig", skip_serializing_if = "Option::is_none")]
    pub usage_db_config: Option<UsageDbConfig>,
    /// Time budgets of the search for evictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario_search_budgets: Option<ScenarioSearchBudgets>,
    /// Plugin settings by plugin name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub plugins: BTreeMap<String, PluginConfig>,
    /// Action settings by action name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<String, ActionConfig>,
    /// Accepted; has no effect here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1), extend("exclusiveMinimum" = true))]
    pub go_mem_limit_ratio: Option<f64>,
    /// Accepted; has no effect here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Quantity")]
    pub go_mem_limit: Option<Quantity>,
}

empty_when_absent!(SchedulingShardSpec);

/// Strategies that [`PlacementStrategy`] may name. KAI knows the first two; the schema takes any text, as its does.
pub const PLACEMENT_STRATEGIES: [&str; 3] = ["binpack", "spread", "fragmentation"];

/// Strategies by which pods spread over nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PlacementStrategy {
    /// For pods with devices: `binpack`, `spread` or `fragmentation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// For pods without: `binpack`, `spread` or `fragmentation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
}

/// Run times that work is guaranteed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MinRuntime {
    /// Before work of the same queue may preempt: a duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preempt_min_runtime: Option<String>,
    /// Before other queues may reclaim: a duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reclaim_min_runtime: Option<String>,
}

/// The database that past use is read from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageDbConfig {
    /// `prometheus`.
    pub client_type: String,
    /// Its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_string: Option<String>,
    /// The environment variable that holds its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_string_env_var: Option<String>,
    /// Parameters of what is asked of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_params: Option<UsageParams>,
}

/// Parameters of what is asked of the usage database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UsageParams {
    /// After how long use counts half: a duration; absent or <= 0: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life_period: Option<String>,
    /// The span of time that counts: a Prometheus duration; absent: `1w`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = WINDOW_SIZE))]
    pub window_size: Option<String>,
    /// `sliding`, `tumbling` or `cron`; absent: `sliding`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_type: Option<String>,
    /// Start of the tumbling window; absent: now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tumbling_window_start_time: Option<Time>,
    /// Times when the cron window starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron_string: Option<String>,
    /// Interval at which it is read: a duration; absent: 1m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetch_interval: Option<String>,
    /// Age at which what was read is too old: a duration; absent: 5m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staleness_period: Option<String>,
    /// Time that the first read may take: a duration; absent: 1m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_timeout: Option<String>,
    /// Other parameters that the client wants.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_params: BTreeMap<String, String>,
}

/// A Prometheus duration.
const WINDOW_SIZE: &str =
    "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$";

/// Time budgets of the search for evictions: durations; 0 means without end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ScenarioSearchBudgets {
    /// By action, or `default`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub max_action_search_duration: BTreeMap<String, String>,
    /// By generator, or `default`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub max_generator_search_duration: BTreeMap<String, String>,
    /// Per gang.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_job_search_duration: Option<String>,
    /// Time that each gang is guaranteed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_job_search_duration: Option<String>,
}

/// Settings of a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PluginConfig {
    /// Absent: as without the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Higher first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Given: replaces the default arguments as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<BTreeMap<String, String>>,
}

/// Settings of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ActionConfig {
    /// Absent: as without the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Higher first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
}

/// Observed state of the shard's scheduler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulingShardStatus {
    /// Reconciling, Deployed, Available, `DependenciesFulfilled`, Ready.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::core::conditions")]
    pub conditions: Vec<Condition>,
}
