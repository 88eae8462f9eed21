//! `list --pods`: the pods of workloads.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cluster::gpu;
use crate::cluster::json::text;
use crate::print::duration;
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column};
use crate::workload::pod::{self, Pod};
use crate::workload::{Workload, created};

/// A pod with the workload that it is of.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    /// Its namespace.
    namespace: String,
    /// Name of its workload.
    workload: String,
    /// Queue of its workload.
    queue: String,
    #[serde(flatten)]
    pod: Pod,
}

const COLUMNS: &[Column] = &[
    Column::new("NAMESPACE"),
    Column::new("POD"),
    Column::new("WORKLOAD").drop(6),
    Column::new("QUEUE").drop(5),
    Column::new("STATUS"),
    Column::new("NODE").drop(1),
    Column::new("GPU").drop(2),
    Column::new("RESTARTS").drop(7),
    Column::new("AGE").drop(8).ages(),
];

/// A line for each pod; its data are those of [`data`].
pub(super) fn report(workloads: &[Workload], all_namespaces: bool) -> Report {
    let skip = usize::from(!all_namespaces);
    let row = |(workload, pod): (&Workload, &Value)| {
        let name = text(&pod["metadata"]["name"]);
        let cells = cells(workload, pod).into_iter().skip(skip).collect();
        Row::new(format!("pod/{name}"), cells)
            .keyed(format!("{}/{name}", workload.namespace))
            .labelled(pod["metadata"]["labels"].as_object())
    };
    let table =
        Table { columns: COLUMNS[skip..].to_vec(), rows: all(workloads).map(row).collect() };
    Report::new("PodList", json!({ "items": [] }), Body::Table(table))
}

/// The data of each pod.
pub(super) fn data(workloads: &[Workload]) -> Value {
    let listed = |(workload, pod): (&Workload, &Value)| Listed {
        namespace: workload.namespace.clone(),
        workload: workload.label(),
        queue: workload.queue.clone(),
        pod: pod::data(pod),
    };
    json!({ "items": all(workloads).map(listed).collect::<Vec<_>>() })
}

fn all(workloads: &[Workload]) -> impl Iterator<Item = (&Workload, &Value)> {
    workloads.iter().flat_map(|workload| workload.pods.iter().map(move |pod| (workload, pod)))
}

fn cells(workload: &Workload, pod: &Value) -> Vec<Cell> {
    let node = text(&pod["spec"]["nodeName"]);
    let age = created(pod).map(|then| Timestamp::now().as_second() - then.as_second());
    vec![
        workload.namespace.as_str().into(),
        text(&pod["metadata"]["name"]).into(),
        workload.name.as_str().into(),
        workload.queue.as_str().into(),
        pod::status(pod).into(),
        if node.is_empty() { "-" } else { node }.into(),
        gpu::ask(pod).into(),
        pod::restarts(pod).to_string().into(),
        Cell::ranked(age.map_or_else(|| "-".to_owned(), duration::short), age),
    ]
}
