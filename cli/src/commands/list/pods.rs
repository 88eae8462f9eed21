//! `list --pods`: the pods of workloads.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use futures::future::join3;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::place;
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
use crate::workload::members::{self, Makers, Members, Owner};
use crate::workload::pod::{self, Pod};
use crate::workload::{Unread, Workload, created};

/// A pod with the workload that it is of.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    /// Its namespace.
    namespace: String,
    /// Name of its workload.
    workload: String,
    /// Queue of its `PodGroup`; of its workload where it has none.
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
    let rows = all(workloads).into_iter().map(|(owner, pod)| row(&owner, pod, all_namespaces));
    let table = Table { columns: columns(all_namespaces), rows: rows.collect() };
    Report::new("PodList", json!({ "items": [] }), Body::Table(table))
}

fn columns(all_namespaces: bool) -> Vec<Column> {
    COLUMNS[usize::from(!all_namespaces)..].to_vec()
}

fn row(owner: &Owner<'_>, pod: &Value, all_namespaces: bool) -> Row {
    let name = text(&pod["metadata"]["name"]);
    let cells = cells(owner, pod).into_iter().skip(usize::from(!all_namespaces)).collect();
    Row::new(format!("pod/{name}"), cells)
        .keyed(format!("{}/{name}", owner.workload.namespace))
        .labelled(pod["metadata"]["labels"].as_object())
}

/// Prints a line for each pod, page by page, each page once it is known whose its pods are.
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
    let (sender, news) = tokio::sync::mpsc::unbounded_channel();
    let makers = {
        let (cluster, scope, sender) = (&cluster, scope.as_deref(), sender.clone());
        async move {
            let unread =
                members::read(cluster, scope, |made| give(&sender, News::Makers(made))).await;
            give(&sender, News::End(unread))
        }
    };
    let pods =
        cluster.parts(&call, &select, Detail::Row, move |part| give(&sender, News::Pods(part)));
    let mut pages = Pages::new(context.globals.all_namespaces);
    let print = async {
        // Moved in, so that who reads stops when this does.
        let mut news = news;
        let mut parts = Parts::new(format, list, &context.out);
        while let Some(news) = news.recv().await {
            pages.take(news)?;
            while let Some(table) = pages.next() {
                parts.print(&table, &mut context.out)?;
            }
        }
        Ok::<_, Error>(())
    };
    let (_, read, printed) = join3(makers, pods, print).await;
    printed?;
    read.map_err(|failure| cluster.explain(&call, &failure))?;
    if pages.members.is_empty() {
        check_namespace(scope.as_deref(), &cluster).await?;
        if format.is_table() {
            context.out.talk(&format!("no workloads in {}", place(scope.as_deref())));
        }
    }
    for warning in pages.unread.sentences("shown") {
        context.out.warn(&warning);
    }
    Ok(pages.unread.exit_of_failures())
}

/// Says what was read.
enum News {
    Pods(Part),
    Makers(Makers),
    /// All that makes and groups pods was given, but for kinds that cannot be listed.
    End(Result<Unread, Error>),
}

/// Gives away what was read; says to stop where nobody prints any more.
fn give(sender: &UnboundedSender<News>, news: News) -> ControlFlow<()> {
    if sender.send(news).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// Pages of pods that were read and are not printed yet: they are printed as they were read, so that the columns of a
/// table do not depend on what was read first.
#[derive(Debug)]
struct Pages {
    members: Members,
    unread: Unread,
    waiting: VecDeque<VecDeque<Value>>,
    /// Rows of the first page that waits.
    rows: Vec<Row>,
    /// The key of the last pod that was taken in.
    last: String,
    /// Pods came again from the first.
    is_again: bool,
    all_namespaces: bool,
}

impl Pages {
    fn new(all_namespaces: bool) -> Self {
        Self {
            members: Members::default(),
            unread: Unread::default(),
            waiting: VecDeque::new(),
            rows: Vec::new(),
            last: String::new(),
            is_again: false,
            all_namespaces,
        }
    }

    /// Takes in what was read.
    fn take(&mut self, news: News) -> Result<(), Error> {
        match news {
            News::Pods(Part::Again) => self.is_again = true,
            News::Pods(Part::Objects(mut pods)) => {
                pods.retain(|pod| !self.is_again || key(pod) > self.last);
                if let Some(last) = pods.last() {
                    self.last = key(last);
                }
                self.waiting.push_back(pods.into());
            }
            News::Makers(makers) => self.members.add(makers),
            News::End(unread) => {
                self.unread = unread?;
                self.members.finish();
            }
        }
        Ok(())
    }

    /// Returns the next page, once it is known whose its pods are.
    fn next(&mut self) -> Option<Table> {
        let page = self.waiting.front_mut()?;
        while let Some(pod) = page.front() {
            let owner = self.members.owner(pod)?;
            self.rows.push(row(&owner, pod, self.all_namespaces));
            page.pop_front();
        }
        self.waiting.pop_front();
        let rows = std::mem::take(&mut self.rows);
        Some(Table { columns: columns(self.all_namespaces), rows })
    }
}

/// The data of each pod.
pub(super) fn data(workloads: &[Workload]) -> Value {
    let listed = |(owner, pod): (Owner<'_>, &Value)| Listed {
        namespace: owner.workload.namespace.clone(),
        workload: owner.workload.label(),
        queue: owner.queue.to_owned(),
        pod: pod::data(pod),
    };
    json!({ "items": all(workloads).into_iter().map(listed).collect::<Vec<_>>() })
}

/// The pods of workloads in the order of the server, in which they are printed as they are read.
fn all(workloads: &[Workload]) -> Vec<(Owner<'_>, &Value)> {
    let mut all: Vec<(Owner<'_>, &Value)> = workloads.iter().flat_map(members::owned).collect();
    all.sort_by_cached_key(|(_, pod)| key(pod));
    all
}

/// Returns what API servers order pods by.
fn key(pod: &Value) -> String {
    let meta = &pod["metadata"];
    format!("{}/{}", text(&meta["namespace"]), text(&meta["name"]))
}

fn cells(owner: &Owner<'_>, pod: &Value) -> Vec<Cell> {
    let Owner { workload, queue } = *owner;
    let node = text(&pod["spec"]["nodeName"]);
    let age = created(pod).map(|then| Timestamp::now().as_second() - then.as_second());
    vec![
        workload.namespace.as_str().into(),
        text(&pod["metadata"]["name"]).into(),
        workload.name.as_str().into(),
        queue.into(),
        pod::status(pod).into(),
        if node.is_empty() { "-" } else { node }.into(),
        gpu::ask(pod).into(),
        pod::restarts(pod).to_string().into(),
        Cell::ranked(age.map_or_else(|| "-".to_owned(), duration::short), age),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The server forgets a list in the middle of it, and it comes again from its first object.
    #[test]
    fn a_pod_is_listed_once_although_its_list_begins_anew() {
        let pods = |names: &[&str]| {
            let pod = |name: &&str| json!({"metadata": {"namespace": "n", "name": name}});
            News::Pods(Part::Objects(names.iter().map(pod).collect()))
        };
        let news = [
            News::End(Ok(Unread::default())),
            pods(&["a", "b"]),
            News::Pods(Part::Again),
            pods(&["a", "b", "c"]),
        ];
        let mut pages = Pages::new(true);
        for news in news {
            pages.take(news).expect("all was read");
        }
        let tables = std::iter::from_fn(|| pages.next());
        let names: Vec<String> = tables.flat_map(|table| table.rows).map(|row| row.name).collect();
        assert_eq!(names, ["pod/a", "pod/b", "pod/c"]);
    }
}
