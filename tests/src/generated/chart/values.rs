//! Values of the chart, under the names that KAI's chart has: their defaults, their schema, and what they are for.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::{Map, Value, json};

use super::table;

/// A value: its path, its default and its schema as JSON, and its effect.
struct Row {
    path: &'static str,
    default: &'static str,
    schema: &'static str,
    about: &'static str,
}

const fn row(
    path: &'static str,
    default: &'static str,
    schema: &'static str,
    about: &'static str,
) -> Row {
    Row { path, default, schema, about }
}

const STRING: &str = r#"{"type": "string"}"#;
const NAME: &str = r#"{"type": "string", "pattern": "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"}"#;
const FLAG: &str = r#"{"type": "boolean"}"#;
const LIST: &str = r#"{"type": "array"}"#;
const TABLE: &str = r#"{"type": "object"}"#;
const MAYBE_FLAG: &str = r#"{"type": ["boolean", "null"]}"#;
const MAYBE_STRING: &str = r#"{"type": ["string", "null"]}"#;
const MAYBE_TABLE: &str = r#"{"type": ["object", "null"]}"#;
const PULL: &str = r#"{"enum": ["", "Always", "IfNotPresent", "Never"]}"#;
const IMAGE: &str = r#"{"type": "object", "additionalProperties": false, "properties": {"registry": {"type": "string"}, "name": {"type": "string"}, "tag": {"type": "string"}, "pullPolicy": {"enum": ["", "Always", "IfNotPresent", "Never"]}}}"#;
const BUDGET: &str = r#"{"type": "object", "additionalProperties": false, "properties": {"enabled": {"type": "boolean"}, "maxUnavailable": {"type": ["integer", "string"]}}}"#;
const REPLICAS: &str = r#"{"type": ["integer", "null"], "minimum": 1, "maximum": 10}"#;
const SECONDS: &str = r#"{"type": ["integer", "null"], "minimum": 1}"#;
const STRATEGY: &str = r#"{"anyOf": [{"enum": ["binpack", "spread"]}, {"type": "object", "additionalProperties": false, "properties": {"gpu": {"enum": ["binpack", "spread"]}, "cpu": {"enum": ["binpack", "spread"]}}}]}"#;
const QUEUE: &str = r#"{"cpu": {"quota": 0, "limit": -1, "overQuotaWeight": 1}, "gpu": {"quota": 0, "limit": -1, "overQuotaWeight": 1}, "memory": {"quota": 0, "limit": -1, "overQuotaWeight": 1}}"#;

const ROWS: &[Row] = &[
    row(
        "global.registry",
        r#""ghcr.io/kubectl-kai""#,
        STRING,
        "Registry, and path in it, of the image.",
    ),
    row(
        "global.tag",
        r#""""#,
        STRING,
        "Tag of the image, or its digest as sha256:...; the chart's version where empty.",
    ),
    row(
        "global.imagePullPolicy",
        r#""""#,
        PULL,
        "When nodes pull the image; IfNotPresent where empty.",
    ),
    row(
        "global.imagePullSecrets",
        "[]",
        LIST,
        "Secrets to pull the image with: names, or objects with a name.",
    ),
    row(
        "global.createNamespace",
        "false",
        FLAG,
        "Make the release's namespace as well, with restricted Pod Security. For `helm template`: `helm install` wants it to be there, or --create-namespace.",
    ),
    row("global.gpuSharing", "true", FLAG, "Admit pods that share GPUs."),
    row(
        "global.blockNvidiaVisibleDevices",
        "null",
        MAYBE_FLAG,
        "Refuse pods that name devices by NVIDIA_VISIBLE_DEVICES themselves.",
    ),
    row(
        "global.clusterAutoscaling",
        "null",
        MAYBE_FLAG,
        "Make scaling pods, so that autoscalers see which shared GPUs are missing.",
    ),
    row("global.jsonLog", "true", FLAG, "Log one JSON object a line."),
    row("global.nodeSelector", "{}", TABLE, "Labels of the nodes that the daemons may run on."),
    row(
        "global.affinity",
        "{}",
        TABLE,
        "Affinity of the daemons; replaces that of the podgrouper, which keeps its replicas apart.",
    ),
    row(
        "global.tolerations",
        r#"[{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}]"#,
        LIST,
        "Taints that the daemons tolerate.",
    ),
    row(
        "global.priorityClassName",
        r#""system-cluster-critical""#,
        STRING,
        "Priority class of the daemons.",
    ),
    row(
        "global.podSecurityContext",
        r#"{"runAsNonRoot": true, "runAsUser": 10000, "runAsGroup": 10000, "seccompProfile": {"type": "RuntimeDefault"}}"#,
        TABLE,
        "Security context of the daemons' pods.",
    ),
    row(
        "global.securityContext",
        r#"{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}}"#,
        TABLE,
        "Security context of the daemons' containers.",
    ),
    row(
        "global.namespaceLabelSelector",
        "null",
        MAYBE_TABLE,
        "Admit and group only pods of namespaces with these labels.",
    ),
    row(
        "global.podLabelSelector",
        "null",
        MAYBE_TABLE,
        "Admit and group only pods with these labels.",
    ),
    row(
        "global.nodePoolLabelKey",
        "null",
        MAYBE_STRING,
        "Label of node pools; kai.scheduler/node-pool unless given.",
    ),
    row(
        "global.resourceReservation.createNamespace",
        "true",
        FLAG,
        "Make the namespace of reservation pods, kai-resource-reservation.",
    ),
    row(
        "global.resourceReservation.createServiceAccount",
        "true",
        FLAG,
        "Make the account of reservation pods.",
    ),
    row(
        "global.resourceReservation.appLabel",
        "null",
        MAYBE_STRING,
        "Label `app` of reservation pods.",
    ),
    row(
        "global.resourceReservation.namespaceLabels",
        "{}",
        TABLE,
        "Further labels of the namespace of reservation pods; one of ours is replaced.",
    ),
    row(
        "global.resourceReservation.namespace",
        "null",
        MAYBE_STRING,
        "Namespace of reservation pods. Only kai-resource-reservation is taken: roles and policies are for that one.",
    ),
    row(
        "global.resourceReservation.serviceAccount",
        "null",
        MAYBE_STRING,
        "Account of reservation pods. Only kai-resource-reservation is taken: roles and policies are for that one.",
    ),
    row(
        "operator.replicaCount",
        "null",
        REPLICAS,
        "Replicas of each daemon; one scheduler and two podgroupers unless given. One of each acts.",
    ),
    row(
        "scheduler.image",
        "{}",
        IMAGE,
        "Image of the scheduler where it differs: registry, name, tag, pullPolicy.",
    ),
    row(
        "scheduler.resources",
        r#"{"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}}"#,
        TABLE,
        "Resources of the scheduler.",
    ),
    row("scheduler.affinity", "{}", TABLE, "Affinity of the scheduler."),
    row(
        "scheduler.podDisruptionBudget",
        "{}",
        BUDGET,
        "With `enabled: true`, and where there are several schedulers: how many may be away at once, maxUnavailable; one unless given.",
    ),
    row(
        "scheduler.placementStrategy",
        r#""binpack""#,
        STRATEGY,
        "binpack or spread, for both or as {gpu, cpu}; of the default shard, as are the three below.",
    ),
    row("scheduler.args", "null", MAYBE_TABLE, "Flags of the scheduler."),
    row("scheduler.plugins", "null", MAYBE_TABLE, "Plugins of the scheduler."),
    row("scheduler.actions", "null", MAYBE_TABLE, "Actions of the scheduler."),
    row("podgrouper.image", "{}", IMAGE, "Image of the podgrouper where it differs."),
    row(
        "podgrouper.resources",
        r#"{"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}}"#,
        TABLE,
        "Resources of the podgrouper, which is also admission and the controllers of queues and PodGroups.",
    ),
    row("podgrouper.affinity", "{}", TABLE, "Affinity of the podgrouper."),
    row("podgrouper.podDisruptionBudget", "{}", BUDGET, "The same for podgroupers."),
    row(
        "podgrouper.queueLabelKey",
        "null",
        MAYBE_STRING,
        "Label that names the queue; kai.scheduler/queue unless given.",
    ),
    row(
        "podgrouper.genericKartaFallback",
        "null",
        MAYBE_FLAG,
        "Ask Karta definitions for kinds without a rule of their own; true unless given.",
    ),
    row(
        "admission.gpuFractionRuntimeClassName",
        "null",
        MAYBE_STRING,
        "Runtime class of pods that share GPUs; nvidia unless given, none where empty.",
    ),
    row("admission.gpuPodRuntimeClassName", "null", MAYBE_STRING, "The same under its older name."),
    row(
        "binder.cdiEnabled",
        "null",
        MAYBE_FLAG,
        "Hand devices over by CDI; found out unless given.",
    ),
    row("binder.plugins", "null", MAYBE_TABLE, "Settings of what binds: gpusharing and hamicore."),
    row(
        "binder.volumeBindingTimeoutSeconds",
        "null",
        SECONDS,
        "Seconds that the volume claims of a pod may take to get their volumes; 120 unless given.",
    ),
    row("binder.runtimeClassName", "null", MAYBE_STRING, "Runtime class of reservation pods."),
    row(
        "binder.resourceReservationPodResources",
        "null",
        MAYBE_TABLE,
        "What reservation pods request beside their GPU.",
    ),
    row(
        "binder.resourceReservation.runtimeClassName",
        "null",
        MAYBE_STRING,
        "The same as binder.runtimeClassName, which goes before it.",
    ),
    row(
        "nodescaleadjuster.scalingPodImage",
        "null",
        MAYBE_TABLE,
        "Image of scaling pods, which ends by itself: repository, name, tag, pullPolicy. Ours where it has no repository.",
    ),
    row(
        "prometheus.externalPrometheusUrl",
        "null",
        MAYBE_STRING,
        "Prometheus that past use is read from where a shard's usageDBConfig has no address.",
    ),
    row("defaultShard.enabled", "true", FLAG, "Make the SchedulingShard `default`."),
    row(
        "defaultPriorityClasses.enabled",
        "true",
        FLAG,
        "Make the priority classes train, build-preemptible, build and inference.",
    ),
    row(
        "flowControl.enabled",
        "false",
        FLAG,
        "Give the daemons a priority level of the API server of their own. It is no value of KAI's chart.",
    ),
    row(
        "defaultQueue.createDefaultQueue",
        "true",
        FLAG,
        "Make a queue and its parent. They stay when the release goes.",
    ),
    row("defaultQueue.parentName", r#""default-parent-queue""#, NAME, "Name of the parent."),
    row("defaultQueue.childName", r#""default-queue""#, NAME, "Name of the queue."),
    row("defaultQueue.parentResources", QUEUE, TABLE, "Quota, limit and weight of the parent."),
    row("defaultQueue.childResources", QUEUE, TABLE, "Quota, limit and weight of the queue."),
    row(
        "kaiConfig.render",
        "null",
        MAYBE_FLAG,
        "Make the Config `kai-config` from these values; false where it is managed elsewhere. Where it is not given, kaiConfigDeployer.enabled decides, and the Config is made unless that is false.",
    ),
    row(
        "kaiConfigDeployer",
        "{}",
        TABLE,
        "KAI's other way to make the Config: with `enabled: true` it is made whatever kaiConfig.render says, with `enabled: false` only where kaiConfig.render is true. All else here has no effect.",
    ),
    row(
        "openshift",
        "false",
        FLAG,
        "Leave users and groups of pods to OpenShift, which is also found by its API unless Helm renders offline.",
    ),
];

/// Values of KAI's chart for what is no part here: taken, so that its files of values can be used, and without effect.
const IDLE: &[&str] = &[
    "admission.affinity",
    "admission.cdi",
    "admission.enabled",
    "admission.image",
    "admission.name",
    "admission.podDisruptionBudget",
    "admission.ports",
    "admission.resources",
    "binder.affinity",
    "binder.enabled",
    "binder.image",
    "binder.name",
    "binder.podDisruptionBudget",
    "binder.ports",
    "binder.resourceReservationImage",
    "binder.resources",
    "crdupgrader",
    "global.fips",
    "global.fipsMode",
    "global.leaderElection",
    "global.requireDefaultPodAntiAffinityTerm",
    "global.vpa",
    "nodescaleadjuster.affinity",
    "nodescaleadjuster.enabled",
    "nodescaleadjuster.image",
    "nodescaleadjuster.labels",
    "nodescaleadjuster.podDisruptionBudget",
    "nodescaleadjuster.ports",
    "nodescaleadjuster.resources",
    "nodescaleadjuster.scalingPodNamespace",
    "numaPlacementExporter",
    "operator.affinity",
    "operator.image",
    "operator.podDisruptionBudget",
    "operator.resources",
    "podgroupcontroller",
    "podgrouper.enabled",
    "podgrouper.ports",
    "postCleanup",
    "prometheus.accountingLabelKey",
    "prometheus.accountingLabelValue",
    "prometheus.enablePersistentStorage",
    "prometheus.enabled",
    "prometheus.externalPrometheusHealthProbe",
    "prometheus.instanceName",
    "prometheus.retentionPeriod",
    "prometheus.sampleInterval",
    "prometheus.serviceMonitor",
    "prometheus.storageClassName",
    "prometheus.storageSize",
    "queuecontroller",
    "scheduler.additionalArgs",
    "scheduler.enabled",
    "scheduler.goMemLimit",
    "scheduler.goMemLimitRatio",
    "scheduler.ports",
    "scheduler.scenarioSearchBudgets",
    "topologyMigration",
];

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("defaults and schemas are JSON")
}

/// Splits a path into the tables above a value and its key.
fn split(path: &str) -> (Vec<&str>, &str) {
    let mut above: Vec<&str> = path.split('.').collect();
    let key = above.pop().unwrap_or_default();
    (above, key)
}

/// Writes values.yaml, each value below what it is for.
pub(super) fn yaml() -> String {
    let mut text = String::from(super::HEAD);
    let mut open: Vec<&str> = Vec::new();
    for Row { path, default, about, .. } in ROWS {
        let (above, key) = split(path);
        let shared = open.iter().zip(&above).take_while(|(one, other)| one == other).count();
        for (depth, name) in above.iter().enumerate().skip(shared) {
            let _ = writeln!(text, "{:1$}{name}:", "", 2 * depth);
        }
        let indent = 2 * above.len();
        let _ = writeln!(text, "{:indent$}# {about}", "");
        // JSON is YAML, and a default is at most a table of one line.
        let _ = writeln!(text, "{:indent$}{key}: {default}", "");
        open = above;
    }
    text
}

/// Writes the schema, which refuses what is not in it.
pub(super) fn schema() -> String {
    let mut properties = Map::new();
    let idle = IDLE.iter().map(|path| (*path, json!({"description": "No effect here."})));
    let rows = ROWS.iter().map(|row| {
        let mut schema = read(row.schema);
        schema["description"] = json!(row.about);
        (row.path, schema)
    });
    for (path, schema) in rows.chain(idle) {
        let (above, key) = split(path);
        let tables: Vec<&str> = above.iter().flat_map(|name| [*name, "properties"]).collect();
        table(&mut properties, &tables).insert(key.to_owned(), schema);
    }
    close(&mut properties);
    // A chart around this one may have values of its own there; where there is none, a template refuses them.
    properties["global"]["additionalProperties"] = json!(true);
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart kai-scheduler",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    let mut text = serde_json::to_string_pretty(&schema).expect("JSON is JSON");
    text.push('\n');
    text
}

/// Makes tables that only hold others refuse further keys.
fn close(properties: &mut Map<String, Value>) {
    for (_, below) in properties {
        if below.get("type").is_none()
            && let Some(inner) = below.get_mut("properties").and_then(Value::as_object_mut)
        {
            close(inner);
            below["type"] = json!("object");
            below["additionalProperties"] = json!(false);
        }
    }
}

/// Writes the page for people.
pub(super) fn readme() -> String {
    let mut text = String::from(
        "# The chart\n\n<!-- Generated by `cargo xtask generate`. -->\n\n\
         It installs the objects that `kubectl kai install` does: `helm template` and `kubectl kai install render` print the\n\
         same, but for the label that says who manages them. Use one of the two for a cluster.\n\n\
         ```sh\nhelm install kai deploy/chart --namespace kai-scheduler --create-namespace\n\
         kubectl label namespace kai-scheduler pod-security.kubernetes.io/enforce=restricted\n```\n\n\
         Values have the names that they have in KAI's chart. Values that neither chart knows are refused. From a file of values\n\
         for KAI's chart take `global.registry`, `global.tag` and each `image` out: they name KAI's images.\n\n",
    );
    text.push_str(&effects());
    text
}

/// What each value does.
pub(super) fn effects() -> String {
    let mut text = String::from("| value | default | effect |\n|---|---|---|\n");
    for Row { path, default, about, .. } in ROWS {
        let shown = if default.len() > 40 { "see values.yaml" } else { &format!("`{default}`") };
        let _ = writeln!(text, "| `{path}` | {shown} | {about} |");
    }
    let idle: Vec<String> = IDLE.iter().map(|path| format!("`{path}`")).collect();
    let _ = write!(
        text,
        "\nKAI's values for what is no part here are taken, and have no effect: {}.\n",
        idle.join(", ")
    );
    text
}

/// The templates that say which values have no effect, for the notes that name those that are given, and which there are
/// under `global`.
pub(super) fn lists() -> String {
    let all = ROWS.iter().map(|row| row.path).chain(IDLE.iter().copied());
    let globals = all.filter_map(|path| path.strip_prefix("global.")?.split('.').next());
    let globals: BTreeSet<&str> = globals.collect();
    let globals: Vec<&str> = globals.into_iter().collect();
    let mut text = String::from(super::HEAD);
    for (name, words) in
        [("kai.idleValues", IDLE.join(" ")), ("kai.globalValues", globals.join(" "))]
    {
        let _ = writeln!(text, "{{{{- define \"{name}\" -}}}}\n{words}\n{{{{- end -}}}}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_used_by_a_template() {
        let templates = super::super::files();
        let helpers = include_str!("../../../../deploy/chart/templates/_helpers.tpl");
        let budgets = include_str!("../../../../deploy/chart/templates/budgets.yaml");
        for Row { path, .. } in ROWS {
            // Of a program's own settings a template names the table.
            let own = [".image", ".podDisruptionBudget"];
            let path = own.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
            let used = templates.iter().filter(|file| file.path.contains("/templates/"));
            let is_used = used
                .map(|file| file.text.as_str())
                .chain([helpers, budgets])
                // A table that may be missing stands in parentheses.
                .any(|text| text.replace(['(', ')'], "").contains(&format!("Values.{path}")));
            assert!(is_used, "{path} has no effect");
        }
    }

    /// Those that contract.md 7.5 has of KAI's chart.
    #[test]
    fn values_of_kai_are_known() {
        let schema: Value = serde_json::from_str(&schema()).expect("JSON");
        for path in [
            "openshift",
            "prometheus.enabled",
            "prometheus.externalPrometheusUrl",
            "numaPlacementExporter",
            "global.fips",
            "global.resourceReservation.namespace",
            "global.resourceReservation.serviceAccount",
            "global.resourceReservation.namespaceLabels",
            "podgrouper.genericKartaFallback",
            "podgrouper.podDisruptionBudget",
            "binder.resourceReservationImage",
            "binder.resourceReservation.runtimeClassName",
            "admission.affinity",
            "scheduler.scenarioSearchBudgets",
            "scheduler.goMemLimit",
            "scheduler.ports",
            "nodescaleadjuster.scalingPodImage",
            "nodescaleadjuster.scalingPodNamespace",
            "nodescaleadjuster.labels",
        ] {
            let pointer = format!("/properties/{}", path.replace('.', "/properties/"));
            assert!(schema.pointer(&pointer).is_some(), "{path}");
        }
    }

    #[test]
    fn unknown_values_are_refused_at_every_level() {
        let schema: Value = serde_json::from_str(&schema()).expect("JSON");
        for pointer in
            ["", "/properties/global/properties/resourceReservation", "/properties/operator"]
        {
            let table = schema.pointer(pointer).expect("a table");
            assert_eq!(table["additionalProperties"], false, "{pointer}");
        }
        assert_eq!(schema["properties"]["crdupgrader"], json!({"description": "No effect here."}));
    }
}
