//! `kubectl kai install release`: gives what `--adopt` took over back to KAI v0.17, the way it came.
//!
//! ```text
//!  webhooks of ours -> daemons of ours, until their pods ended -> what else is ours
//!      -> roles and accounts as they were -> KAI's operator and daemons, until they are ready -> KAI's webhooks
//! ```
//!
//! Each object says by its labels whose it is now, so that a run that was interrupted goes on where it stopped.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use http::{Method, Request, header};
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::adopted::{self, Fate, Kept, Record, Was, seal};
use super::manifest::{self, Component, Group, Item, Options};
use super::plan::Present;
use super::remove::{self, is_webhook};
use super::{apply, kai_v017, plan, preflight, tell};
use crate::cluster::queue::count;
use crate::cluster::{Cluster, Failure, escape};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Style, clean};

/// Names whoever writes what was nobody's.
const FIELD_MANAGER: &str = "kubectl-kai";
const LOOK: Duration = Duration::from_millis(250);
const STAYS: &str =
    "pods, queues, PodGroups, BindRequests, reservations, shards, kai-config, CRDs stay";

/// Flags of `install release`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Show what would go and what would come back, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Wait until KAI's Deployments are ready
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set,
        num_args = 0..=1, default_missing_value = "true")]
    wait: bool,
    /// Longest wait, as 90s or 5m
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    timeout: String,
}

/// Holds what goes, and what comes back.
#[derive(Default)]
struct Switch {
    ours: Vec<Present>,
    kept: Kept,
}

/// Gives an installation back to KAI.
pub(super) async fn run(args: Args, context: &mut Context) -> Result<Exit, Error> {
    let mut options = Options { wait: args.wait, ..Options::default() };
    options.components.extend(Component::OPTIONAL);
    options.components.retain(|component| *component != Component::Crds);
    if let Some(namespace) = &context.globals.namespace {
        options.namespace.clone_from(namespace);
    }
    options.timeout =
        crate::print::duration::parse("--timeout", &args.timeout)?.unwrap_or(Duration::MAX);
    let cluster = context.cluster().await?;
    if let Some(home) = preflight::elsewhere(&cluster, &options.namespace).await? {
        return Err(preflight::other_home(&home, &options.namespace, "release"));
    }
    let found = adopted::read(&cluster, &options.namespace).await?;
    let mut ours = remove::ours(&cluster, &options).await?;
    let Some(kept) = found else {
        nothing(&cluster, &ours, &options, context).await?;
        if !args.dry_run {
            forget(&cluster, &options).await?;
        }
        report(&Switch::default(), args.dry_run, context)?;
        return Ok(Exit::Ok);
    };
    ours.retain(|present| goes(present, &kept.record, &options));
    let switch = Switch { ours, kept };
    let place = tell::place(&cluster);
    context.out.talk(&format!("Cluster   {place}"));
    say_plan(&switch, context);
    if args.dry_run {
        report(&switch, true, context)?;
        return Ok(Exit::Ok);
    }
    context.confirm(&format!("Give {place} back to KAI?"), args.yes)?;
    let began = Instant::now();
    let mut tell = |what: &str| context.out.wait_for(what);
    let done = carry_out(&cluster, &switch, &options, &mut tell).await;
    context.out.waited();
    done?;
    report(&switch, false, context)?;
    let ok = if context.out.is_ascii() { "ok" } else { "✔" };
    let (gone, back) = (switch.ours.len(), switch.kept.record.all.len());
    let seconds = began.elapsed().as_secs_f32();
    context.out.talk(&format!(
        "  {} {} of ours removed, {back} of KAI given back   {seconds:.1}s",
        Style::Good.paint(ok),
        count(gone, "object")
    ));
    Ok(Exit::Ok)
}

/// Tells whether an object of ours goes: not what is changed back, nor a namespace that something comes back to.
fn goes(present: &Present, record: &Record, options: &Options) -> bool {
    let item = &present.item;
    let is_needed = item.resource.kind == "Namespace"
        && (item.name() == options.namespace
            || record.all.iter().any(|was| was.item.namespace() == Some(item.name())));
    !is_needed && !adopted::is_part(item) && !record.keeps(item)
}

/// Says that nothing is there to be given back, or that it was written down and is lost.
async fn nothing(
    cluster: &Cluster,
    ours: &[Present],
    options: &Options,
    context: &mut Context,
) -> Result<(), Error> {
    let namespace = clean(&options.namespace);
    if !ours.iter().any(|present| present.item.group == Group::Daemons) {
        context.out.talk(&format!("Nothing to give back in namespace {namespace}."));
        return Ok(());
    }
    if seal::read(cluster).await?.is_none() {
        context.out.talk(&format!(
            "Nothing to give back in namespace {namespace}: nothing of KAI was taken over.   (kubectl kai install remove takes out what is ours)"
        ));
        return Ok(());
    }
    let what = "what was there before this installation is not known any more";
    let map = adopted::NAME;
    Err(Problem::new(number::NOT_INSTALLED, Exit::NotFound, what)
        .line(format!("install --adopt wrote down what it took over, in configmap/{map} in namespace {namespace}"))
        .line(format!("clusterrole/{map} says so; the configmap is gone"))
        .fix("kubectl kai install remove --force, then KAI's own chart: helm upgrade --install   (queues and workloads stay)")
        .into())
}

fn say_plan(switch: &Switch, context: &mut Context) {
    let mut head = "REMOVE";
    let ours = switch.ours.iter().rev().map(|present| &present.item);
    for (kind, names) in by_kind(ours) {
        tell::say_names(head, &format!("{kind} "), &names, context);
        head = "";
    }
    for (fate, title) in [(Fate::Changed, "REVERT"), (Fate::Removed, "RESTORE")] {
        let mut head = title;
        let of = switch.kept.record.all.iter().filter(|was| was.fate == fate);
        for (kind, names) in by_kind(of.map(|was| &was.item)) {
            tell::say_names(head, &format!("{kind} "), &names, context);
            head = "";
        }
    }
    context.out.talk(&format!("{:<9} {STAYS}", ""));
}

/// Names by kind, in the order in which the kinds come up.
fn by_kind<'a>(items: impl Iterator<Item = &'a Item>) -> Vec<(String, Vec<String>)> {
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for item in items {
        let kind = item.resource.label();
        let name = clean(item.name()).into_owned();
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, names)) => names.push(name),
            None => kinds.push((kind, vec![name])),
        }
    }
    kinds
}

/// Says what goes and comes back, for programs.
fn report(switch: &Switch, dry: bool, context: &mut Context) -> Result<(), Error> {
    let ours = switch.ours.iter().rev().map(|present| (&present.item, "removed"));
    let theirs = switch.kept.record.all.iter().map(|was| (&was.item, "givenBack"));
    let all = ours.chain(theirs);
    let names = all.clone().map(|(item, _)| item.title());
    let whole = || {
        let objects: Vec<_> = all.map(|(item, result)| item.reported(result)).collect();
        json!({ "dryRun": dry, "objects": objects })
    };
    tell::for_programs(names, whole, context)
}

async fn carry_out(
    cluster: &Cluster,
    switch: &Switch,
    options: &Options,
    progress: &mut (dyn FnMut(&str) + Send),
) -> Result<(), Error> {
    let deadline = Instant::now().checked_add(options.timeout);
    take_out(cluster, switch, options, deadline, progress).await?;
    let owners = owners_alive(cluster, &switch.kept.record).await?;
    let (webhooks, others): (Vec<_>, Vec<_>) =
        switch.kept.record.all.iter().partition(|was| was.is_webhook());
    progress("giving back to KAI");
    for was in &others {
        give_back(cluster, was, &owners, deadline).await?;
    }
    // With failurePolicy Fail the API server refuses pods until somebody answers.
    for was in others.iter().filter(|was| options.wait && has_replicas(was)) {
        progress(&format!("waiting for {} of KAI", clean(was.item.name())));
        apply::ready(cluster, &was.item, deadline).await?;
    }
    for was in &webhooks {
        give_back(cluster, was, &owners, deadline).await?;
    }
    forget(cluster, options).await
}

/// Forgets what was taken over, the seal last: it is given back.
async fn forget(cluster: &Cluster, options: &Options) -> Result<(), Error> {
    for present in adopted::parts(cluster, &options.namespace).await?.iter().rev() {
        delete(cluster, present).await?;
    }
    Ok(())
}

fn has_replicas(was: &Was) -> bool {
    was.item.resource.kind == "Deployment" && was.item.object["spec"]["replicas"] != 0
}

/// Takes out what is ours: webhooks first, which nobody answers soon; then the daemons, until none of their pods is left.
async fn take_out(
    cluster: &Cluster,
    switch: &Switch,
    options: &Options,
    deadline: Option<Instant>,
    progress: &mut (dyn FnMut(&str) + Send),
) -> Result<(), Error> {
    progress("removing what is ours");
    let of = |wanted: fn(&Item) -> bool| {
        switch.ours.iter().rev().filter(move |present| wanted(&present.item))
    };
    for present in of(is_webhook) {
        delete(cluster, present).await?;
    }
    let is_deployment: fn(&Item) -> bool = |item| item.resource.kind == "Deployment";
    for present in of(is_deployment) {
        delete(cluster, present).await?;
    }
    // Ours have these names, whether or not this run deleted them.
    let daemons: BTreeSet<_> = of(is_deployment).map(|present| present.item.name()).collect();
    let known = [kai_api::names::component::PODGROUPER];
    for name in daemons.into_iter().chain(known) {
        progress(&format!("waiting for the pods of {} to end", clean(name)));
        kai_v017::gone(cluster, Some(&options.namespace), name, deadline).await?;
    }
    // The podgrouper may have written them once more before it ended.
    for present in remove::made_by_daemons(cluster, &options.namespace).await? {
        if is_webhook(&present.item) {
            delete(cluster, &present).await?;
        }
    }
    let others = of(|item| !is_webhook(item) && item.resource.kind != "Deployment");
    for present in others {
        delete(cluster, present).await?;
    }
    Ok(())
}

async fn delete(cluster: &Cluster, present: &Present) -> Result<(), Error> {
    let call = plan::call(&present.item, "delete");
    let done = cluster.delete(&call, &present.uid, false).await;
    done.map(drop).map_err(|e| cluster.explain(&call, &e))
}

/// The UIDs of owners that are there: an object of an owner that is gone would go, too.
async fn owners_alive(cluster: &Cluster, record: &Record) -> Result<BTreeSet<String>, Error> {
    let (mut looked, mut alive) = (BTreeSet::new(), BTreeSet::new());
    for was in &record.all {
        for owner in kai_v017::owners(&was.item.object) {
            let mut object = owner.clone();
            object["metadata"] = json!({"name": owner["name"], "namespace": was.item.namespace()});
            let uid = owner["uid"].as_str().unwrap_or_default();
            let Some(resource) = manifest::resource(&object) else { continue };
            if !looked.insert(uid.to_owned()) {
                continue;
            }
            let item = Item { group: Group::Daemons, object, resource };
            let call = plan::call(&item, "get");
            let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
            if live.is_some_and(|live| live["metadata"]["uid"] == uid) {
                alive.insert(uid.to_owned());
            }
        }
    }
    Ok(alive)
}

/// Brings one object back to what it was; one that is KAI's again stays as it is.
async fn give_back(
    cluster: &Cluster,
    was: &Was,
    owners: &BTreeSet<String>,
    deadline: Option<Instant>,
) -> Result<(), Error> {
    let mut object = was.item.object.clone();
    let is_alive = |owner: &&Value| owner["uid"].as_str().is_some_and(|uid| owners.contains(uid));
    let owned: Vec<_> = kai_v017::owners(&object).filter(is_alive).cloned().collect();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("ownerReferences");
        if !owned.is_empty() {
            metadata.insert("ownerReferences".to_owned(), json!(owned));
        }
    }
    let live = live(cluster, &was.item, deadline).await?;
    match live {
        None if was.fate == Fate::Disowned => Ok(()),
        None => write(cluster, &was.item, Method::POST, object).await,
        Some(live) if was.fate != Fate::Disowned && plan::is_ours(&live) => {
            object["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
            write(cluster, &was.item, Method::PUT, object).await
        }
        Some(live) if owned.is_empty() || kai_v017::owners(&live).next().is_some() => Ok(()),
        Some(live) => {
            let call = plan::call(&was.item, "patch");
            let uid = &live["metadata"]["uid"];
            let patch = json!({"metadata": {"uid": uid, "ownerReferences": owned}});
            let done = cluster.patch(&call, &patch, false).await;
            done.map(drop).map_err(|e| cluster.explain(&call, &e))
        }
    }
}

/// Reads what is in an object's place, once nothing is there that is being deleted.
async fn live(
    cluster: &Cluster,
    item: &Item,
    deadline: Option<Instant>,
) -> Result<Option<Value>, Error> {
    let call = plan::call(item, "get");
    loop {
        let live = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))?;
        if !live.as_ref().is_some_and(plan::is_ending) {
            return Ok(live);
        }
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            let what = format!("{} is being deleted, and does not go in time", item.title());
            return Err(Problem::new(number::NOT_INSTALLED, Exit::NoScheduler, what)
                .line("run it again to go on")
                .into());
        }
        sleep(LOOK).await;
    }
}

/// Writes an object as whoever it belonged to, so that nobody else owns its fields.
async fn write(
    cluster: &Cluster,
    item: &Item,
    method: Method,
    mut object: Value,
) -> Result<(), Error> {
    let is_new = method == Method::POST;
    let manager = manager(&object).unwrap_or(FIELD_MANAGER).to_owned();
    if is_new {
        object["metadata"].as_object_mut().map(|metadata| metadata.remove("managedFields"));
        // Addresses are given anew: the old ones may be another's by now.
        if item.resource.kind == "Service"
            && object["spec"]["clusterIP"] != "None"
            && let Some(spec) = object["spec"].as_object_mut()
        {
            spec.remove("clusterIP");
            spec.remove("clusterIPs");
        }
    }
    let name = if is_new { "" } else { item.name() };
    let path = item.resource.path(item.namespace(), name);
    let request = Request::builder()
        .method(method)
        .uri(format!("{path}?fieldManager={}", escape(&manager)))
        .header(header::ACCEPT, "application/json")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(object.to_string().into_bytes()))
        .expect("paths are escaped");
    match cluster.send(request).await {
        Ok(_) => Ok(()),
        // KAI's operator was faster.
        Err(Failure::Refused(refusal)) if is_new && refusal.reason == "AlreadyExists" => Ok(()),
        Err(failure) => {
            let call = plan::call(item, if is_new { "create" } else { "update" });
            Err(cluster.explain(&call, &failure))
        }
    }
}

/// Whoever wrote an object, and not its status.
fn manager(object: &Value) -> Option<&str> {
    let all = object["metadata"]["managedFields"].as_array()?;
    all.iter().find(|entry| entry["subresource"].is_null())?["manager"].as_str()
}
