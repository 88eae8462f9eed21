//! `kubectl kai install remove`.

use kai_api::names::{SCHEDULER_NAME, component, label, value};
use serde_json::Value;

use super::manifest::{self, Component, Group, Item, Options};
use super::plan;
use super::status::first;
use crate::cluster::{Call, Cluster, Resource, Select};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Style, clean};

/// Flags of `install remove`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Also while workloads run
    #[arg(long)]
    force: bool,
    /// Also the custom resource definitions, and with them all queues and pod groups
    #[arg(long)]
    crds: bool,
}

/// An object of the installation that is there.
struct Present {
    item: Item,
    uid: String,
}

/// Removes what the installer has made, last things first.
pub(super) async fn run(args: Args, context: &mut Context) -> Result<Exit, Error> {
    let mut options = Options::default();
    if let Some(namespace) = &context.globals.namespace {
        options.namespace.clone_from(namespace);
    }
    if !args.crds {
        options.components.retain(|component| *component != Component::Crds);
    }
    let cluster = context.cluster().await?;
    let (present, foreign) = find(&cluster, &options).await?;
    if !foreign.is_empty() {
        let titles: Vec<String> = foreign.iter().map(Item::title).collect();
        let stays = if titles.len() == 1 {
            "was not made by this command and stays"
        } else {
            "were not made by this command and stay"
        };
        context.out.warn(&format!("{} {stays}", first(&titles)));
    }
    if present.is_empty() {
        context.out.talk("Nothing to remove.");
        return Ok(Exit::Ok);
    }
    let running = running(&cluster).await?;
    if !running.is_empty() && !args.force {
        return Err(refusal(&running));
    }
    say_plan(&present, &args, &running, context);
    context.confirm("Remove?", args.yes)?;
    let mut removed = Vec::new();
    for Present { item, uid } in present.iter().rev() {
        let call = plan::call(item, "delete");
        let is_removed = cluster.delete(&call, uid, false).await.map_err(|e| {
            context.out.talk(&format!("{} of {} removed", removed.len(), present.len()));
            cluster.explain(&call, &e)
        })?;
        if is_removed {
            removed.push(item.title());
        }
    }
    if context.globals.output.as_deref() == Some("name") {
        removed.iter().try_for_each(|title| context.out.data(title))?;
    }
    let ok = if context.out.is_ascii() { "ok" } else { "✔" };
    context.out.talk(&format!("  {} {} objects removed", Style::Good.paint(ok), removed.len()));
    if !args.crds {
        context.out.talk("CRDs, queues, PodGroups and settings stay.");
    }
    Ok(Exit::Ok)
}

/// Says what is there: ours, and what only has the name of ours.
async fn find(cluster: &Cluster, options: &Options) -> Result<(Vec<Present>, Vec<Item>), Error> {
    let (mut present, mut foreign) = (Vec::new(), Vec::new());
    // Queues and settings are the administrator's from the day they are made.
    for item in manifest::items(options).into_iter().filter(|item| !item.is_kept()) {
        let call = plan::call(&item, "get");
        let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
        let Some(live) = live else { continue };
        if live["metadata"]["labels"][label::MANAGED_BY] != value::INSTALLER {
            foreign.push(item);
            continue;
        }
        // Pods that hold shared GPUs live there; a namespace with somebody's pods stays.
        if item.resource.kind == "Namespace" && !is_ours_alone(cluster, item.name()).await? {
            foreign.push(item);
            continue;
        }
        let uid = live["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        present.push(Present { item, uid });
    }
    // From the last to the first they go: registrations when the podgrouper has lost the right to make them again.
    let at = present.iter().position(|found| found.item.group == Group::Rbac).unwrap_or_default();
    present.splice(at..at, registrations(cluster).await?);
    Ok((present, foreign))
}

/// Says what the podgrouper told the API server: to ask it about pods, which nobody answers once it is gone.
async fn registrations(cluster: &Cluster) -> Result<Vec<Present>, Error> {
    const API_VERSION: &str = "admissionregistration.k8s.io/v1";
    let mut present = Vec::new();
    for (kind, plural) in [
        ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
        ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
    ] {
        let resource = Resource::new(API_VERSION, kind, plural).cluster_wide();
        let call = Call::new("list", &resource);
        let labels = format!("{}={}", label::MANAGED_BY, component::PODGROUPER);
        let found = cluster.list(&call, &Select { labels: &labels, fields: "" }).await;
        let found = found.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
        for mut object in found {
            // Objects of a list don't say what they are.
            object["apiVersion"] = API_VERSION.into();
            object["kind"] = kind.into();
            let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
            present.push(Present { item: Item::new(Group::Daemons, object), uid });
        }
    }
    Ok(present)
}

/// Tells whether a namespace holds no pods but ours.
async fn is_ours_alone(cluster: &Cluster, namespace: &str) -> Result<bool, Error> {
    let pods = Resource::new("v1", "Pod", "pods");
    let call = Call::new("list", &pods).namespace(Some(namespace));
    let found = cluster.list(&call, &Select::default()).await;
    let found = found.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
    let is_ours = |pod: &Value| pod["metadata"]["labels"][label::PART_OF] == value::PRODUCT;
    Ok(found.iter().all(is_ours))
}

/// Pods of our scheduler that are not finished: namespace and name.
async fn running(cluster: &Cluster) -> Result<Vec<String>, Error> {
    let pods = Resource::new("v1", "Pod", "pods");
    let call = Call::new("list", &pods);
    let fields =
        format!("spec.schedulerName={SCHEDULER_NAME},status.phase!=Succeeded,status.phase!=Failed");
    let found = cluster.list(&call, &Select { labels: "", fields: &fields }).await;
    let found = found.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
    let text = |pod: &Value, field: &str| {
        clean(pod["metadata"][field].as_str().unwrap_or_default()).into_owned()
    };
    Ok(found
        .iter()
        .map(|pod| format!("{}/{}", text(pod, "namespace"), text(pod, "name")))
        .collect())
}

fn refusal(running: &[String]) -> Error {
    let shown = running.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    let more = running.len().saturating_sub(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = format!("{} pods of the scheduler are not finished", running.len());
    Problem::new(number::QUEUE_IN_USE, Exit::Conflict, what)
        .line(format!("{shown}{more}"))
        .line("running pods would go on, waiting ones would wait for ever")
        .fix("kubectl kai install remove --force")
        .into()
}

fn say_plan(present: &[Present], args: &Args, running: &[String], context: &mut Context) {
    let mut head = "REMOVE";
    for group in Group::ALL {
        let items: Vec<_> =
            present.iter().map(|found| &found.item).filter(|item| item.group == group).collect();
        if !items.is_empty() {
            let count = items.len();
            let names = group.names(items.into_iter());
            context.out.talk(&format!("{head:<9} {names}: {count}"));
            head = "";
        }
    }
    if args.crds {
        context.out.warn("with the CRDs go ALL queues, PodGroups, topologies, shards and settings");
    }
    if !running.is_empty() {
        context.out.warn(&format!("{} pods of the scheduler are not finished", running.len()));
    }
}
