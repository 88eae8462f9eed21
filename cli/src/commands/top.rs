//! `kubectl kai top`: every device of every node, and who holds what of it.
//!
//! ```text
//!  nodes, pods, reservation pods ─► nodes (pure) ─► filter ─► draw
//! ```

mod draw;
mod live;
mod nodes;
pub(crate) mod row;

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use futures::future::join_all;
use kai_api::names::namespace;
use serde_json::{Value, json};

use crate::cluster::json::text;
use crate::cluster::queue::Queues;
use crate::cluster::{Call, Cluster, Failure, Resource, Select, gpu, names};
use crate::commands::show::{Find, show};
use crate::commands::{list, queues};
use crate::context::{Context, Run};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::flags::{ListFlags, WatchFlags};
use crate::print::format::Format;
use crate::print::output::{Output, Style, clean};
use crate::print::report::{Body, Report};
use crate::settings;
use crate::workload::devices::{Seen, own_maps, reservations};
use crate::workload::{is_bound, is_over};
use nodes::{Holder, Node, Scene};

/// Flags of `top`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubectl kai top                       every device of the cluster
  kubectl kai top nodes                 a line for each node
  kubectl kai top queues                what each queue holds, waits for and is entitled to
  kubectl kai top workloads -A          what each workload holds, the largest first
  kubectl kai top --node 'gpu-*' -q research
  kubectl kai top -n ana                only what pods of a namespace hold
  kubectl kai top -i                    all of it on one screen that follows; ? lists the keys")]
pub struct Args {
    /// gpus: a line for each device; nodes, queues, workloads: a line for each of these
    #[arg(value_enum, value_name = "WHAT", default_value = "gpus", hide_possible_values = true)]
    what: What,
    /// Only this node, or those of a pattern with *, repeatable
    #[arg(long, value_name = "NODE")]
    node: Vec<String>,
    /// Only devices that work of this queue, or of those below it, holds
    #[arg(short, long, value_name = "QUEUE")]
    queue: Option<String>,
    /// Draw nodes, queues and what waits on the whole terminal, and follow; ? lists the keys
    #[arg(short, long, conflicts_with_all = ["what", "node", "queue", "watch", "live", "jq", "sort_by", "limit", "no_headers", "show_labels"])]
    interactive: bool,
    #[command(flatten)]
    list: ListFlags,
    #[command(flatten)]
    watch: WatchFlags,
}

impl Args {
    /// Tells whether it draws on the whole terminal, and prints nothing.
    pub(crate) fn interactive(&self) -> bool {
        self.interactive
    }
}

/// Says what gets a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// A device.
    #[value(alias = "gpu", alias = "devices")]
    Gpus,
    /// A node.
    #[value(alias = "node")]
    Nodes,
    /// A queue.
    #[value(alias = "queue")]
    Queues,
    /// A workload.
    #[value(alias = "workload", alias = "jobs")]
    Workloads,
}

/// Runs `top`; the interactive view runs other commands.
pub(crate) async fn run(args: &Args, context: &mut Context, run: Run) -> Result<Exit, Error> {
    if args.interactive {
        return Box::pin(live::run(context, run)).await;
    }
    let queue = args.queue.clone();
    if matches!(args.what, What::Queues | What::Workloads) && !args.node.is_empty() {
        let what = "--node chooses devices and nodes, and neither is shown";
        return Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what)
            .fix("top gpus --node NODE   or   top nodes --node NODE")
            .into());
    }
    match args.what {
        What::Gpus | What::Nodes => show(args, &args.list, args.watch, context).await,
        What::Queues => queues::top(queue, &args.list, args.watch, context).await,
        What::Workloads => Box::pin(list::top(queue, &args.list, args.watch, context)).await,
    }
}

impl Find for Args {
    async fn find(&self, context: &mut Context, format: &Format) -> Result<Report, Error> {
        let cluster = context.cluster().await?;
        let read = Read::all(&self.node, &cluster).await?;
        let scene = Scene {
            nodes: read.nodes.as_deref(),
            pods: read.pods.iter().collect(),
            seen: &read.seen,
        };
        let mut nodes = nodes::nodes(&scene);
        pick(&mut nodes, &self.node, read.nodes.is_some())?;
        // Who names a namespace means what its pods hold; devices are the whole cluster's otherwise.
        let only = context.globals.namespace.clone().filter(|_| !context.globals.all_namespaces);
        let queues = match &self.queue {
            Some(queue) => Some(Members::read(queue, &cluster).await?),
            None => None,
        };
        if only.is_some() || queues.is_some() {
            let is_wanted = |holder: &Holder| {
                only.as_ref().is_none_or(|namespace| holder.namespace == *namespace)
                    && queues.as_ref().is_none_or(|members| members.has(holder))
            };
            nodes.retain_mut(|node| node.keep(&is_wanted));
        } else if self.what == What::Gpus {
            nodes.retain(|node| {
                !node.devices.is_empty() || !node.slices.is_empty() || node.lost > 0
            });
        }
        if nodes.is_empty() && format.is_table() {
            context
                .out
                .talk("no device to show: no node has GPUs, or nobody who was asked for holds one");
        }
        // What is sorted, cut, labelled or goes into a spreadsheet has a line for each node.
        let is_of_rows = self.list.sheet.of_rows().is_some() || self.list.show_labels;
        let is_page = self.what == What::Gpus && !is_of_rows && *format != Format::Csv;
        Ok(report(&nodes, read.hidden, is_page, &context.out))
    }
}

fn report(nodes: &[Node], hidden: Vec<String>, is_page: bool, out: &Output) -> Report {
    let data =
        json!({ "items": nodes.iter().map(Node::to_row).collect::<Vec<_>>(), "notRead": hidden });
    let body = if is_page {
        let names = nodes.iter().map(|node| format!("node/{}", node.name)).collect();
        Body::Page { text: draw::devices(nodes, out), names }
    } else {
        Body::Table(draw::nodes(nodes, out))
    };
    let mut report = Report::new("NodeList", data, body);
    report.warnings = hidden;
    if !nodes.is_empty() {
        let legend = draw::legend(!is_page, out);
        report.footer = vec![total(nodes), Style::Dim.paint(legend)];
    }
    report
}

/// Says what is held of all devices that are shown.
fn total(nodes: &[Node]) -> String {
    let or_unknown = |number: Option<String>| number.unwrap_or_else(|| "?".to_owned());
    let held = gpu::sum_known(nodes.iter().map(|node| node.held_milli));
    let usable = gpu::sum_known(nodes.iter().map(|node| node.usable));
    let free = gpu::sum_known(nodes.iter().map(|node| u64::try_from(node.free?).ok()));
    format!(
        "{} of {} GPUs held, {} free",
        or_unknown(held.map(gpu::devices)),
        or_unknown(usable.map(|usable| usable.to_string())),
        or_unknown(free.map(|free| free.to_string()))
    )
}

/// Leaves the nodes that were named.
fn pick(nodes: &mut Vec<Node>, words: &[String], is_all: bool) -> Result<(), Error> {
    let is = |node: &Node, word: &String| settings::matches(word, &node.name);
    let unknown = words.iter().find(|word| !nodes.iter().any(|node| is(node, word)));
    if let Some(word) = unknown {
        let near = nodes.iter().map(|node| &node.name);
        let near = near.min_by_key(|name| strsim::damerau_levenshtein(name, word));
        let what = if is_all {
            format!("there is no node \"{word}\"")
        } else {
            format!("no pod that you may list is on a node \"{word}\"")
        };
        let problem = Problem::new(number::OTHER, Exit::NotFound, what);
        let problem = match near {
            Some(near) => problem.line(format!("there is \"{}\"", clean(near))),
            None => problem,
        };
        return Err(problem.fix("kubectl kai top nodes").into());
    }
    nodes.retain(|node| words.is_empty() || words.iter().any(|word| is(node, word)));
    Ok(())
}

/// Holds what was read for a drawing, and what could not be.
struct Read {
    nodes: Option<Vec<Value>>,
    pods: Vec<Value>,
    seen: Seen,
    hidden: Vec<String>,
}

impl Read {
    /// Reads nodes and pods: two requests, or one for each node that is named.
    async fn all(words: &[String], cluster: &Cluster) -> Result<Self, Error> {
        let resource = Resource::new("v1", "Node", "nodes").cluster_wide();
        let call = Call::new("list", &resource);
        let everything = Select::default();
        let (nodes, pods) =
            futures::join!(cluster.list(&call, &everything), pods(words, None, cluster));
        let mut hidden = Vec::new();
        let nodes = match nodes {
            Ok(nodes) => Some(nodes.unwrap_or_default()),
            Err(failure) if failure.is_forbidden() => {
                hidden.push("you may not list nodes: only devices that pods hold are shown".into());
                None
            }
            Err(failure) => return Err(cluster.explain(&call, &failure)),
        };
        let is_complete = pods.is_ok();
        let pods = match pods {
            Ok(pods) => pods,
            Err(failure) if failure.is_forbidden() => {
                hidden.push(format!(
                    "you may not list pods in all namespaces: only those of {} are known",
                    clean(&cluster.namespace)
                ));
                within(words, cluster).await?
            }
            Err(failure) => return Err(explain(None, &failure, cluster)),
        };
        let pods: Vec<Value> =
            pods.into_iter().filter(|pod| is_bound(pod) && !is_over(pod)).collect();
        Ok(Self {
            seen: seen(&pods.iter().collect::<Vec<_>>(), is_complete, cluster).await,
            nodes,
            pods,
            hidden,
        })
    }
}

/// Returns what names devices; the pods' own config maps only where reservation pods were not read.
async fn seen(pods: &[&Value], is_complete: bool, cluster: &Cluster) -> Seen {
    let found = reservations(pods.iter().copied());
    let mut seen = Seen { is_complete, ..Seen::default() };
    seen.reservations = (is_complete || !found.is_empty()).then_some(found);
    seen.own = own_maps(pods.iter().copied(), &seen, cluster).await;
    seen
}

/// The pods of the namespace that commands work in, and the reservations if they may be read.
async fn within(words: &[String], cluster: &Cluster) -> Result<Vec<Value>, Error> {
    let own = Some(cluster.namespace.as_str());
    let (own_pods, reserved) = futures::join!(
        pods(words, own, cluster),
        pods(words, Some(namespace::RESERVATION), cluster)
    );
    let mut all = own_pods.map_err(|failure| explain(own, &failure, cluster))?;
    all.extend(reserved.unwrap_or_default());
    Ok(all)
}

fn explain(namespace: Option<&str>, failure: &Failure, cluster: &Cluster) -> Error {
    cluster.explain(&Call::new("list", &names::pods()).namespace(namespace), failure)
}

/// Pods of a namespace or of all that have not ended, on the nodes that are named or on all.
async fn pods(
    words: &[String],
    namespace: Option<&str>,
    cluster: &Cluster,
) -> Result<Vec<Value>, Failure> {
    let resource = names::pods();
    let call = Call::new("list", &resource).namespace(namespace);
    let running = "status.phase!=Succeeded,status.phase!=Failed";
    let fields: Vec<String> = if words.is_empty() || words.iter().any(|word| word.contains('*')) {
        vec![running.to_owned()]
    } else {
        words.iter().map(|node| format!("spec.nodeName={node},{running}")).collect()
    };
    let lists = fields
        .iter()
        .map(|fields| async { cluster.list(&call, &Select { labels: "", fields }).await });
    let lists = join_all(lists).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(lists.into_iter().flatten().flatten().collect())
}

/// Says whose work is in a queue or below it.
struct Members {
    queues: BTreeSet<String>,
    /// Queues of `PodGroup`s, by namespace and name.
    groups: BTreeMap<(String, String), String>,
}

impl Members {
    async fn read(queue: &str, cluster: &Cluster) -> Result<Self, Error> {
        let queues = crate::cluster::queue::readable(cluster).await?;
        let queues = match queues {
            Some(queues) if !queues.0.contains_key(queue) => {
                return Err(queues.unknown(queue).into());
            }
            Some(queues) => below(&queues, queue),
            None => BTreeSet::from([queue.to_owned()]),
        };
        let resource = names::pod_groups();
        let everywhere = Call::new("list", &resource);
        let own = everywhere.clone().namespace(Some(&cluster.namespace));
        let mut found = cluster.list(&everywhere, &Select::default()).await;
        if found.as_ref().is_err_and(Failure::is_forbidden) {
            found = cluster.list(&own, &Select::default()).await;
        }
        let found = found.map_err(|failure| cluster.explain(&own, &failure))?.unwrap_or_default();
        let groups = found.iter().map(|group| {
            let meta = &group["metadata"];
            let key = (text(&meta["namespace"]).to_owned(), text(&meta["name"]).to_owned());
            (key, text(&group["spec"]["queue"]).to_owned())
        });
        Ok(Self { queues, groups: groups.collect() })
    }

    /// Returns the queue that the scheduler acts on: the `PodGroup`'s; the pod's own counts before there is one.
    fn has(&self, holder: &Holder) -> bool {
        let group = self.groups.get(&(holder.namespace.clone(), holder.pod_group.clone()));
        self.queues.contains(group.unwrap_or(&holder.queue_label))
    }
}

/// A queue and all below it.
fn below(queues: &Queues, root: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut next = vec![root];
    while let Some(name) = next.pop() {
        if all.insert(name.to_owned())
            && let Some(queue) = queues.0.get(name)
        {
            next.extend(queue.children.iter().map(String::as_str));
        }
    }
    all
}

#[cfg(test)]
mod tests;
