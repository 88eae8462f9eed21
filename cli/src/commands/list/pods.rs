//! `list --pods`: the pods of workloads.

use std::ops::ControlFlow;

use futures::future::join;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{hidden_warning, place};
use crate::cluster::json::text;
use crate::cluster::{Call, Detail, Part, Select, gpu, names};
use crate::commands::filter::check_namespace;
use crate::context::Context;
use crate::print::duration;
use crate::print::error::{Error, Exit};
use crate::print::flags::ListFlags;
use crate::print::format::Format;
use crate::print::parts::Parts;
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column};
use crate::workload::members::{self, Members};
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
    let rows = all(workloads).into_iter().map(|(workload, pod)| row(workload, pod, all_namespaces));
    let table = Table { columns: columns(all_namespaces), rows: rows.collect() };
    Report::new("PodList", json!({ "items": [] }), Body::Table(table))
}

fn columns(all_namespaces: bool) -> Vec<Column> {
    COLUMNS[usize::from(!all_namespaces)..].to_vec()
}

fn row(workload: &Workload, pod: &Value, all_namespaces: bool) -> Row {
    let name = text(&pod["metadata"]["name"]);
    let cells = cells(workload, pod).into_iter().skip(usize::from(!all_namespaces)).collect();
    Row::new(format!("pod/{name}"), cells)
        .keyed(format!("{}/{name}", workload.namespace))
        .labelled(pod["metadata"]["labels"].as_object())
}

/// Prints a line for each pod, page by page as they are read.
///
/// # Errors
/// The server cannot be asked, pods may not be read, KAI is not installed, or stdout cannot be written.
pub(super) async fn print_as_read(
    format: &Format,
    list: &ListFlags,
    context: &mut Context,
) -> Result<Exit, Error> {
    let cluster = context.cluster().await?;
    let scope = context.scope(&cluster).map(str::to_owned);
    let (resource, ours) = (names::pods(), members::scheduled_by_us());
    let call = Call::new("list", &resource).namespace(scope.as_deref());
    let select = Select { fields: &ours, ..Select::default() };
    let (sender, pages) = tokio::sync::mpsc::unbounded_channel();
    let take = move |part| match sender.send(part) {
        Ok(()) => ControlFlow::Continue(()),
        // Nobody prints them any more.
        Err(_) => ControlFlow::Break(()),
    };
    let read = cluster.parts(&call, &select, Detail::Row, take);
    let all_namespaces = context.globals.all_namespaces;
    let print = async {
        // Moved in, so that who reads stops when this does.
        let mut pages = pages;
        let mut members = Members::read(&cluster, scope.as_deref()).await?;
        let mut parts = Parts::new(format, list, &context.out);
        let (mut last, mut is_again) = (String::new(), false);
        while let Some(page) = pages.recv().await {
            let Part::Objects(mut pods) = page else {
                is_again = true;
                continue;
            };
            pods.retain(|pod| !is_again || key(pod) > last);
            last = pods.last().map_or(last, key);
            let rows = pods.iter().map(|pod| row(members.workload_of(pod), pod, all_namespaces));
            let table = Table { columns: columns(all_namespaces), rows: rows.collect() };
            parts.print(&table, &mut context.out)?;
        }
        Ok::<_, Error>(members)
    };
    let (read, printed) = join(read, print).await;
    let members = printed?;
    read.map_err(|failure| cluster.explain(&call, &failure))?;
    if members.is_empty() {
        check_namespace(scope.as_deref(), &cluster).await?;
        if format.is_table() {
            context.out.talk(&format!("no workloads in {}", place(scope.as_deref())));
        }
    }
    if let Some(warning) = hidden_warning(&members.hidden) {
        context.out.warn(&warning);
    }
    Ok(Exit::Ok)
}

/// The data of each pod.
pub(super) fn data(workloads: &[Workload]) -> Value {
    let listed = |(workload, pod): (&Workload, &Value)| Listed {
        namespace: workload.namespace.clone(),
        workload: workload.label(),
        queue: workload.queue.clone(),
        pod: pod::data(pod),
    };
    json!({ "items": all(workloads).into_iter().map(listed).collect::<Vec<_>>() })
}

/// The pods of workloads in the order of the server, in which they are printed as they are read.
fn all(workloads: &[Workload]) -> Vec<(&Workload, &Value)> {
    let pods =
        workloads.iter().flat_map(|workload| workload.pods.iter().map(move |pod| (workload, pod)));
    let mut all: Vec<(&Workload, &Value)> = pods.collect();
    all.sort_by_cached_key(|(_, pod)| key(pod));
    all
}

/// Returns what API servers order pods by.
fn key(pod: &Value) -> String {
    let meta = &pod["metadata"];
    format!("{}/{}", text(&meta["namespace"]), text(&meta["name"]))
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
