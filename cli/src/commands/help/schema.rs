//! The JSON Schemas of what commands print under `-o json`.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::commands::{
    config, describe, doctor, explain, history, install, list, queues, simulate, snapshot, submit,
    top, version,
};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format::API_VERSION;
use crate::workload::row;

/// A list of items.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
struct Items<T> {
    /// The items.
    items: Vec<T>,
    /// Holds what could not be read, and so is missing among the items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_read: Option<Vec<String>>,
}

/// A kind of output.
struct Kind {
    name: &'static str,
    /// The command that prints it.
    command: &'static str,
    schema: fn() -> Schema,
}

const KINDS: &[Kind] = &[
    Kind { name: "WorkloadList", command: "list", schema: of::<Items<row::Row>> },
    Kind {
        name: "WorkloadGroupList",
        command: "list --group-by",
        schema: of::<Items<list::groups::Group>>,
    },
    Kind { name: "PodList", command: "list --pods", schema: of::<Items<list::pods::Listed>> },
    Kind { name: "WorkloadDescription", command: "describe", schema: of::<describe::Description> },
    Kind { name: "QueueList", command: "queues", schema: of::<Items<queues::row::Row>> },
    Kind { name: "NodeList", command: "top", schema: of::<Items<top::row::Node>> },
    Kind {
        name: "WorkloadHistory",
        command: "history",
        schema: of::<Items<history::row::Workload>>,
    },
    Kind {
        name: "EvictionHistory",
        command: "history evictions",
        schema: of::<Items<history::row::Eviction>>,
    },
    Kind { name: "GpuUsage", command: "history usage", schema: of::<history::row::UsageReport> },
    Kind { name: "Explanation", command: "explain", schema: of::<explain::answer::Explanation> },
    Kind {
        name: "TurnList",
        command: "explain --order",
        schema: of::<Items<explain::order::Item>>,
    },
    Kind { name: "Simulation", command: "simulate", schema: of::<simulate::works::Simulation<'_>> },
    Kind { name: "Plan", command: "submit --dry-run=plan", schema: of::<submit::plan::Plan<'_>> },
    Kind {
        name: "SnapshotContent",
        command: "snapshot show",
        schema: of::<snapshot::report::Content>,
    },
    Kind {
        name: "InstallStatus",
        command: "install status",
        schema: of::<install::status::Status>,
    },
    Kind { name: "DoctorReport", command: "doctor", schema: of::<doctor::Findings> },
    Kind { name: "Settings", command: "config view", schema: of::<config::View> },
    Kind { name: "Version", command: "version", schema: of::<version::Versions> },
];

fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// The kinds, a line each.
pub(super) fn list() -> String {
    let line = |kind: &Kind| format!("{:<20} kubectl kai {} -o json\n", kind.name, kind.command);
    KINDS.iter().map(line).collect()
}

/// The schema of a kind.
///
/// # Errors
/// There is no such kind.
pub(super) fn find(name: &str) -> Result<Value, Error> {
    let Some(kind) = KINDS.iter().find(|kind| kind.name.eq_ignore_ascii_case(name)) else {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        return Err(Problem::new(number::USAGE, Exit::Usage, format!("nothing prints a {name}"))
            .fix(format!("one of {}", names.join(", ")))
            .into());
    };
    let mut schema = (kind.schema)().to_value();
    schema["title"] = kind.name.into();
    schema["$id"] = format!("https://{API_VERSION}/{}", kind.name).into();
    if let Value::Object(properties) = &mut schema["properties"] {
        properties.insert("apiVersion".into(), json!({ "const": API_VERSION }));
        properties.insert("kind".into(), json!({ "const": kind.name }));
    }
    if let Value::Array(required) = &mut schema["required"] {
        required.extend(["apiVersion".into(), "kind".into()]);
    }
    Ok(schema)
}
