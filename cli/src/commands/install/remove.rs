//! `kubectl kai install remove`.

mod used;

use std::time::{Duration, Instant};

use kai_api::names::{SCHEDULER_NAME, component, label, lease, value};
use serde_json::{Value, json};

use super::manifest::{self, Component, Group, Item, Options};
use super::plan::{self, Present};
use super::status::first;
use super::{adopted, kai_v017, preflight, tell};
use crate::cluster::queue::count;
use crate::cluster::{Call, Cluster, Failure, Resource, Select};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Style, clean};
use used::Users;

/// Sets how long pods of daemons may take to end before the rest goes.
const ENDED_WITHIN: Duration = Duration::from_secs(40);

/// Flags of `install remove`.
#[derive(Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct Args {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Show what would go and what stays, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Also while workloads run; what they use stays
    #[arg(long)]
    force: bool,
    /// Also priority classes that pods and pod groups name, and namespaces with objects of others in them
    #[arg(long)]
    in_use: bool,
    /// Leave the custom resource definitions, and with them queues and pod groups (the default)
    #[arg(long, conflicts_with = "crds")]
    keep_crds: bool,
    /// Also the custom resource definitions, and with them all queues and pod groups
    #[arg(long)]
    crds: bool,
}

/// Holds what was found of the installation.
#[derive(Default)]
struct Findings {
    /// Holds what goes.
    present: Vec<Present>,
    /// Holds what only has the name of ours.
    foreign: Vec<Item>,
    /// Holds what others use, and by whom it is used.
    used: Vec<(Item, Users)>,
    /// Holds namespaces that were there before ours came.
    older: Vec<Item>,
}

/// Removes what the installer has made, last things first.
pub(super) async fn run(args: Args, context: &mut Context) -> Result<Exit, Error> {
    let mut options = Options::default();
    options.components.extend(Component::OPTIONAL);
    if let Some(namespace) = &context.globals.namespace {
        options.namespace.clone_from(namespace);
    }
    if !args.crds {
        options.components.retain(|component| *component != Component::Crds);
    }
    let cluster = context.cluster().await?;
    if let Some(home) = preflight::elsewhere(&cluster, &options.namespace).await? {
        return Err(preflight::other_home(&home, &options.namespace, "remove"));
    }
    let found = find(&cluster, &options, &args).await?;
    say_staying(&found, &args, context);
    if found.present.is_empty() {
        context.out.talk("Nothing to remove.");
        report(&[], args.dry_run, context)?;
        return Ok(Exit::Ok);
    }
    let running = running(&cluster).await?;
    if !running.is_empty() && !args.force && !args.dry_run {
        return Err(refusal(&running));
    }
    let place = tell::place(&cluster);
    context.out.talk(&format!("Cluster   {place}"));
    say_plan(&found.present, &args, &running, context);
    if let Ok(Some(_)) = adopted::read(&cluster, &options.namespace).await {
        context.out.warn("KAI was here before; install release would give it back, and can't once its record is removed");
    }
    if args.dry_run {
        let all: Vec<&Item> = found.present.iter().rev().map(|found| &found.item).collect();
        report(&all, true, context)?;
        return Ok(Exit::Ok);
    }
    context.confirm(&format!("Remove from {place}?"), args.yes)?;
    let removed = take_out(&cluster, &found.present, &options, context).await?;
    report(&removed, false, context)?;
    let ok = if context.out.is_ascii() { "ok" } else { "✔" };
    context.out.talk(&format!(
        "  {} {} removed",
        Style::Good.paint(ok),
        count(removed.len(), "object")
    ));
    if !args.crds {
        context.out.talk("CRDs, queues, PodGroups and settings stay.");
    }
    Ok(Exit::Ok)
}

/// Removes what was found, webhooks first: with failurePolicy Fail the API server refuses pods and queues once nobody
/// answers. Then the daemons, which would make them again; what they made meanwhile; and the rest, last things first.
async fn take_out<'a>(
    cluster: &Cluster,
    present: &'a [Present],
    options: &Options,
    context: &mut Context,
) -> Result<Vec<&'a Item>, Error> {
    let mut removed = Vec::new();
    let (webhooks, others): (Vec<_>, Vec<_>) =
        present.iter().rev().partition(|found| is_webhook(&found.item));
    let (daemons, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|found| found.item.resource.kind == "Deployment");
    for (at, step) in [webhooks, daemons, others].into_iter().enumerate() {
        for found in &step {
            let is_removed = delete(cluster, found).await.inspect_err(|_| {
                let (done, all) = (removed.len(), present.len());
                context.out.talk(&format!("{done} of {all} removed; run it again to go on"));
            })?;
            if is_removed {
                removed.push(&found.item);
            }
        }
        // A podgrouper makes its webhooks again until it has ended, or has lost its rights.
        if at > 0 {
            end(cluster, &step, context).await;
            for found in made_by_daemons(cluster, &options.namespace).await? {
                if is_webhook(&found.item) {
                    delete(cluster, &found).await?;
                }
            }
        }
    }
    Ok(removed)
}

/// Waits for a while until the pods of Deployments that were deleted have ended; what comes after that needs none of it.
async fn end(cluster: &Cluster, deployments: &[&Present], context: &mut Context) {
    let deadline = Instant::now() + ENDED_WITHIN;
    for item in deployments.iter().map(|found| &found.item) {
        if item.resource.kind == "Deployment" {
            context.out.wait_for(&format!("waiting for the pods of {} to end", item.name()));
            let ended =
                kai_v017::gone(cluster, item.namespace(), item.name(), Some(deadline)).await;
            if ended.is_err() {
                break;
            }
        }
    }
    context.out.waited();
}

async fn delete(cluster: &Cluster, present: &Present) -> Result<bool, Error> {
    let call = plan::call(&present.item, "delete");
    let done = cluster.delete(&call, &present.uid, false).await;
    done.map_err(|e| cluster.explain(&call, &e))
}

/// Tells whether an object is a question that the API server is to ask.
pub(super) fn is_webhook(item: &Item) -> bool {
    matches!(
        item.resource.kind.as_str(),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration"
    )
}

/// Says what was or would be removed, for programs.
fn report(items: &[&Item], dry: bool, context: &mut Context) -> Result<(), Error> {
    let names = items.iter().map(|item| item.title());
    let whole = || {
        let objects: Vec<_> = items.iter().map(|item| item.reported("removed")).collect();
        json!({ "dryRun": dry, "objects": objects })
    };
    tell::for_programs(names, whole, context)
}

fn say_staying(found: &Findings, args: &Args, context: &mut Context) {
    if !found.foreign.is_empty() {
        let titles: Vec<String> = found.foreign.iter().map(Item::title).collect();
        let stays = if titles.len() == 1 {
            "was not made by this command and stays"
        } else {
            "were not made by this command and stay"
        };
        context.out.warn(&format!("{} {stays}", first(&titles)));
    }
    for item in &found.older {
        context.out.warn(&format!("{} was there before this installation and stays", item.title()));
    }
    for (item, users) in &found.used {
        let title = item.title();
        let text = if users.known.is_empty() {
            let unread = users.unread.join(", ");
            if args.in_use {
                format!("{title} goes, though you may not list {unread} and others may use it")
            } else {
                format!(
                    "{title} stays: you may not list {unread}, so that others may use it   (--in-use removes it too)"
                )
            }
        } else {
            let known = first(&users.known);
            if args.in_use {
                format!("{title} goes, though {known} use it")
            } else {
                format!("{title} stays, in use by {known}   (--in-use removes it too)")
            }
        };
        context.out.warn(&text);
    }
}

/// Finds what is ours but definitions, queues and settings, and what nobody else uses, in the order in which it was made.
pub(super) async fn ours(cluster: &Cluster, options: &Options) -> Result<Vec<Present>, Error> {
    find(cluster, options, &Args::default()).await.map(|found| found.present)
}

/// Says what is there: ours, what only has the name of ours, and what others use of it.
async fn find(cluster: &Cluster, options: &Options, args: &Args) -> Result<Findings, Error> {
    let mut found = Findings::default();
    let classes = used::priority_classes(cluster, args.crds).await?;
    // Queues and settings are the administrator's from the day they are made.
    for item in manifest::items(options).into_iter().filter(|item| !item.is_kept()) {
        let call = plan::call(&item, "get");
        let live = cluster.get(&call).await;
        // Who may not read what is there only where it was asked for need not have the right for all the rest.
        if item.group.is_optional() && live.as_ref().is_err_and(Failure::is_forbidden) {
            continue;
        }
        let live = live.map_err(|e| cluster.explain(&call, &e))?;
        let Some(live) = live.filter(|live| !plan::is_ending(live)) else { continue };
        if live["metadata"]["labels"][label::MANAGED_BY] != value::INSTALLER {
            found.foreign.push(item);
            continue;
        }
        let origin = plan::origin(&live);
        if item.resource.kind == "Namespace" && origin == Some(plan::THERE) {
            found.older.push(item);
            continue;
        }
        let users = match item.resource.kind.as_str() {
            "Namespace" => used::in_namespace(cluster, item.name(), origin.is_none()).await?,
            "PriorityClass" => classes.users(item.name()),
            _ => Users::default(),
        };
        if !users.are_excluded() {
            found.used.push((item.clone(), users));
            if !args.in_use {
                continue;
            }
        }
        let uid = live["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        found.present.push(Present { item, uid });
    }
    // From the last to the first they go: what daemons made when they have lost the right to make it again.
    let is_rbac = |found: &Present| found.item.group == Group::Rbac;
    let at = found.present.iter().position(is_rbac).unwrap_or_default();
    found.present.splice(at..at, made_by_daemons(cluster, &options.namespace).await?);
    found.present.splice(at..at, adopted::parts(cluster, &options.namespace).await?);
    Ok(found)
}

/// Says what daemons of ours have made: questions that the API server is to ask, which nobody answers once they are gone,
/// the certificate for that, schedulers of further shards, and Leases.
pub(super) async fn made_by_daemons(
    cluster: &Cluster,
    namespace: &str,
) -> Result<Vec<Present>, Error> {
    const KINDS: [(&str, &str, &str, bool); 6] = [
        ("coordination.k8s.io/v1", "Lease", "leases", true),
        ("v1", "Secret", "secrets", true),
        ("v1", "Service", "services", true),
        ("apps/v1", "Deployment", "deployments", true),
        (
            "admissionregistration.k8s.io/v1",
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
            false,
        ),
        (
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            "mutatingwebhookconfigurations",
            false,
        ),
    ];
    let labels = format!("{}={}", label::MANAGED_BY, component::PODGROUPER);
    let mut present = Vec::new();
    for (api_version, kind, plural, is_namespaced) in KINDS {
        let resource = Resource::new(api_version, kind, plural);
        let resource = if is_namespaced { resource } else { resource.cluster_wide() };
        let call = Call::new("list", &resource).namespace(is_namespaced.then_some(namespace));
        let labels = if kind == "Lease" { "" } else { labels.as_str() };
        let found = cluster.list(&call, &Select { labels, fields: "" }).await;
        let found = found.map_err(|e| cluster.explain(&call, &e))?.unwrap_or_default();
        for mut object in found {
            if kind == "Lease" && !is_lease_of_ours(&object) {
                continue;
            }
            // Objects of a list don't say what they are.
            object["apiVersion"] = api_version.into();
            object["kind"] = kind.into();
            let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
            present.push(Present { item: Item::new(Group::Daemons, object), uid });
        }
    }
    Ok(present)
}

/// Tells whether a Lease is a shard's or the podgrouper's.
fn is_lease_of_ours(object: &Value) -> bool {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let of_shard = name.strip_prefix(SCHEDULER_NAME);
    name == lease::PODGROUPER
        || of_shard.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
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

/// Says how many pods are not finished.
fn unfinished(pods: &[String]) -> String {
    let are = if pods.len() == 1 { "is" } else { "are" };
    format!("{} of the scheduler {are} not finished", count(pods.len(), "pod"))
}

fn refusal(running: &[String]) -> Error {
    let shown = running.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    let more = running.len().saturating_sub(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = unfinished(running);
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
        context.out.warn(&unfinished(running));
    }
}
