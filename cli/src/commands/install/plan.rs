//! Describes what an installation would change: read, and tried out on the server without effect.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use http::{Method, Request, header};
use kai_api::names::{component, label, value};
use kube::client::Body;
use serde_json::{Value, json};

use super::manifest::{Group, Item, Options, is_subdomain};
use super::older;
use crate::cluster::{Call, Cluster, Failure};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Sets how many questions are asked at once.
const CONCURRENCY: usize = 8;
/// Says on a namespace whether an installation made it, or found it: only what was made is removed.
const ORIGIN: &str = "kai.scheduler/namespace-was";
/// The value of [`ORIGIN`] where there was none.
const MISSING: &str = "missing";
/// The value of [`ORIGIN`] where there was one of somebody else.
pub(super) const THERE: &str = "there";

/// Says what has to happen to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It is missing.
    Create,
    /// It is different.
    Change,
    /// It is as it should be.
    Unchanged,
    /// It is there, and belongs to the administrator.
    Kept,
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Create => "created",
            Self::Change => "changed",
            Self::Unchanged => "unchanged",
            Self::Kept => "kept",
        }
    }
}

/// An object and what has to happen to it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) item: Item,
    pub(super) state: State,
    /// The object of somebody else that is changed.
    pub(super) before: Option<Value>,
    /// Names those whose fields are taken over.
    pub(super) managers: BTreeSet<String>,
    /// The Helm release that it is part of until now: its namespace and name.
    pub(super) release: Option<(String, String)>,
    /// Tells whether its flags are written over those that the podgrouper wrote, which does so again over the new ones.
    pub(super) has_new_flags: bool,
    /// The version of ours that is there, where it is newer than this program.
    pub(super) newer: Option<String>,
    /// Lists what the definition of somebody else has and ours lacks.
    pub(super) lost: Vec<String>,
}

impl Entry {
    pub(super) fn new(item: Item, state: State) -> Self {
        Self {
            item,
            state,
            before: None,
            managers: BTreeSet::new(),
            release: None,
            has_new_flags: false,
            newer: None,
            lost: Vec::new(),
        }
    }
}

/// Says what is in the place where an object of ours comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing, or ours, or what is taken over.
    Open,
    /// Nothing that is asked now answers as it would then: webhooks that go are in the way.
    Guarded,
    /// Something that goes before ours is made.
    Taken,
    /// A namespace that ends, and is gone before ours is made.
    Ending,
}

/// An object of the installation that is there.
pub(super) struct Present {
    pub(super) item: Item,
    pub(super) uid: String,
}

/// All objects and what has to happen to them.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) entries: Vec<Entry>,
}

impl Plan {
    /// The entries of a group.
    pub(super) fn of(&self, group: Group) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.item.group == group)
    }

    /// Tells whether nothing is left to do.
    pub(super) fn is_done(&self) -> bool {
        self.entries.iter().all(|entry| matches!(entry.state, State::Unchanged | State::Kept))
    }
}

/// Holds what comes with this run, so that nothing that stands on it can be tried before.
#[derive(Debug, Default)]
struct Fresh {
    namespaces: BTreeSet<String>,
    /// Kinds as RBAC names them, which is what their definitions are called.
    kinds: BTreeSet<String>,
}

impl Fresh {
    fn of(entries: &[Entry]) -> Self {
        let made = |kind: &'static str| {
            let of_kind = move |entry: &&Entry| {
                entry.item.resource.kind == kind && entry.state == State::Create
            };
            entries.iter().filter(of_kind).map(|entry| entry.item.name().to_owned()).collect()
        };
        Self { namespaces: made("Namespace"), kinds: made("CustomResourceDefinition") }
    }

    fn carries(&self, item: &Item) -> bool {
        item.namespace().is_some_and(|name| self.namespaces.contains(name))
            || self.kinds.contains(&item.resource.in_rbac())
    }
}

/// Finds out what has to happen; changes nothing.
///
/// # Errors
/// Refused now is what the server would refuse later: missing rights, fields of other owners, kinds that it does not
/// serve, what a policy or quota of somebody else says.
pub(super) async fn make(
    cluster: &Cluster,
    items: Vec<Item>,
    options: &Options,
    place: impl Fn(&Item) -> Place,
) -> Result<Plan, Error> {
    let place = &place;
    let is_ground = |item: &Item| {
        matches!(item.resource.kind.as_str(), "Namespace" | "CustomResourceDefinition")
    };
    let (ground, others): (Vec<_>, Vec<_>) = items.into_iter().partition(is_ground);
    let nothing = &Fresh::default();
    let look = |item: Item| async move {
        let place = place(&item);
        entry(cluster, item, options, place, nothing).await
    };
    let mut entries: Vec<Entry> =
        stream::iter(ground).map(look).buffered(CONCURRENCY).try_collect().await?;
    let fresh = &Fresh::of(&entries);
    let look = |item: Item| async move {
        let place = place(&item);
        entry(cluster, item, options, place, fresh).await
    };
    let others: Vec<Entry> =
        stream::iter(others).map(look).buffered(CONCURRENCY).try_collect().await?;
    entries.extend(others);
    entries.sort_by_key(|entry| Group::ALL.iter().position(|group| *group == entry.item.group));
    Ok(Plan { entries })
}

async fn entry(
    cluster: &Cluster,
    mut item: Item,
    options: &Options,
    place: Place,
    fresh: &Fresh,
) -> Result<Entry, Error> {
    if matches!(place, Place::Taken | Place::Ending) {
        if place == Place::Taken && !fresh.carries(&item) {
            rehearse_anew(cluster, &item).await?;
        }
        return Ok(Entry::new(item, State::Create));
    }
    let found = call(&item, "get");
    let live = cluster.get(&found).await.map_err(|e| cluster.explain(&found, &e))?;
    // What ends is gone by the time that ours is made: `ended` waits for it.
    let live = live.filter(|live| !is_ending(live));
    if item.resource.kind == "Namespace" {
        mark(&mut item, live.as_ref());
    }
    let Some(live) = live else {
        if place == Place::Open && !fresh.carries(&item) {
            rehearse(cluster, &item, options).await?;
        }
        return Ok(Entry::new(item, State::Create));
    };
    if item.is_kept() {
        return Ok(Entry::new(item, State::Kept));
    }
    change(cluster, item, options, live).await
}

/// Has the API server try out a change.
async fn change(
    cluster: &Cluster,
    mut item: Item,
    options: &Options,
    live: Value,
) -> Result<Entry, Error> {
    item.respect_settings(&live);
    let mut managers = BTreeSet::new();
    let mut has_new_flags = false;
    let forced = Options { force_conflicts: true, ..options.clone() };
    let mut dry =
        put(cluster, &item, &Options { force_conflicts: false, ..options.clone() }, true).await;
    if let Err(failure) = &dry
        && is_field_conflict(failure)
    {
        has_new_flags = is_about_flags(failure) && kai_podgrouper::installed_args(&live).is_some();
        if has_new_flags {
            dry = put(cluster, &item, &forced, true).await;
        } else if options.force_conflicts || item.group == Group::Crds {
            // The definitions are ours alone: whoever applied them before, helm or kubectl, gives them up.
            managers = managers_of(failure);
            dry = put(cluster, &item, &forced, true).await;
        }
    }
    let release = release(&live);
    let dry = dry.map_err(|e| refused(cluster, &item, release.as_ref(), &e))?;
    let is_ours = is_ours(&live);
    let newer = if is_ours { older::newer_than_mine(&live) } else { None };
    let is_foreign = item.group == Group::Crds && !is_ours;
    let lost = if is_foreign { older::lost(&live, &item.object) } else { Vec::new() };
    let before = (!is_ours).then(|| live.clone());
    let same = without_history(live) == without_history(dry);
    let state = if same { State::Unchanged } else { State::Change };
    Ok(Entry { item, state, before, managers, release, has_new_flags, newer, lost })
}

/// Has the API server try out an object that is missing.
async fn rehearse(cluster: &Cluster, item: &Item, options: &Options) -> Result<(), Error> {
    match put(cluster, item, options, true).await {
        Ok(_) => Ok(()),
        // Whoever may not bind every role is asked what the role gives, and that one comes with this run.
        Err(failure)
            if failure.code() == Some(404) && item.resource.kind.ends_with("RoleBinding") =>
        {
            Ok(())
        }
        // Webhooks of ours may be what this run repairs.
        Err(failure) if item.is_kept() && failure.may_pass() => Ok(()),
        Err(failure) => Err(refused(cluster, item, None, &failure)),
    }
}

/// Has the API server try out an object whose name is still taken, which is what it finds last.
async fn rehearse_anew(cluster: &Cluster, item: &Item) -> Result<(), Error> {
    let call = call(item, "create");
    match cluster.create(&call, &item.object, true).await {
        Err(failure) if !failure.is_conflict() => Err(cluster.explain(&call, &failure)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Writes on a namespace whether there was one before ours. Where one of ours says nothing, an earlier version made it
/// or found it.
fn mark(item: &mut Item, live: Option<&Value>) {
    let was = match live {
        None => MISSING,
        Some(live) => match origin(live) {
            Some(known) => known,
            None if is_ours(live) => return,
            None => THERE,
        },
    };
    item.object["metadata"]["annotations"][ORIGIN] = json!(was);
}

/// Says whether a namespace was there before an installation.
pub(super) fn origin(namespace: &Value) -> Option<&str> {
    namespace["metadata"]["annotations"][ORIGIN].as_str()
}

/// Tells whether an object was made by this installer or by our podgrouper.
pub(super) fn is_ours(object: &Value) -> bool {
    let manager = &object["metadata"]["labels"][label::MANAGED_BY];
    *manager == value::INSTALLER || *manager == component::PODGROUPER
}

/// Tells whether an object is being deleted.
pub(super) fn is_ending(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// The Helm release that an object is part of: its namespace and name.
pub(super) fn release(object: &Value) -> Option<(String, String)> {
    let annotation =
        |name: &str| object["metadata"]["annotations"][name].as_str().map(str::to_owned);
    annotation("meta.helm.sh/release-namespace").zip(annotation("meta.helm.sh/release-name"))
}

/// The object without what each write changes by itself.
fn without_history(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["managedFields", "resourceVersion", "generation"] {
            metadata.remove(field);
        }
    }
    object
}

pub(super) fn call<'a>(item: &'a Item, verb: &'static str) -> Call<'a> {
    Call::new(verb, &item.resource).namespace(item.namespace()).name(item.name())
}

/// Applies an object server-side; `dry`: tries it out only.
pub(super) async fn put(
    cluster: &Cluster,
    item: &Item,
    options: &Options,
    dry: bool,
) -> Result<Value, Failure> {
    let force = options.force_conflicts;
    let path = format!(
        "{}?fieldManager=kubectl-kai&fieldValidation=Strict&force={force}{}",
        item.resource.path(item.namespace(), item.name()),
        if dry { "&dryRun=All" } else { "" }
    );
    let request = Request::builder()
        .method(Method::PATCH)
        .uri(path)
        .header(header::ACCEPT, "application/json")
        .header(header::CONTENT_TYPE, "application/apply-patch+yaml")
        .body(Body::from(item.object.to_string().into_bytes()))
        .expect("paths are escaped");
    cluster.send(request).await.map(|answer| answer.body)
}

fn is_field_conflict(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(refusal) if refusal.code == 409 && refusal.message.contains("conflict"))
}

/// Tells whether nothing but a container's flags was set by somebody else.
fn is_about_flags(failure: &Failure) -> bool {
    let Failure::Refused(refusal) = failure else { return false };
    !refusal.causes.is_empty() && refusal.causes.iter().all(|cause| cause.contains("].args: "))
}

/// The field managers that a conflict names: `conflict with "helm" using v1`.
fn managers_of(failure: &Failure) -> BTreeSet<String> {
    let Failure::Refused(refusal) = failure else { return BTreeSet::new() };
    let lines = refusal.causes.iter().chain([&refusal.message]);
    let after = lines.flat_map(|line| line.split("conflict with \"").skip(1));
    after.filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

/// Says what it means when the server refuses an object, which a Helm release may hold.
pub(super) fn refused(
    cluster: &Cluster,
    item: &Item,
    release: Option<&(String, String)>,
    failure: &Failure,
) -> Error {
    let Failure::Refused(refusal) = failure else {
        return cluster.explain(&call(item, "patch"), failure);
    };
    let is_unknown = ["the requested resource", "404 page not found"];
    if refusal.code == 404 && is_unknown.iter().any(|words| refusal.message.contains(words)) {
        let resource = &item.resource;
        let what = format!("the API server does not serve {}", resource.in_rbac());
        return Problem::new(number::KIND_NOT_SERVED, Exit::Refused, what)
            .line(format!("of {}: it says: {}", resource.api_version(), refusal.message))
            .line(format!("at {}", item.title()))
            .into();
    }
    if !is_field_conflict(failure) {
        return cluster.explain(&call(item, "patch"), failure);
    }
    if let Some((namespace, name)) = release {
        let is_safe = is_subdomain(namespace) && is_subdomain(name);
        let (namespace, name) = (clean(namespace), clean(name));
        let what = format!("Helm installed this, as release {name} in namespace {namespace}");
        let problem = Problem::new(number::EXISTS, Exit::Conflict, what)
            .line(format!(
                "{} is part of it; the next helm upgrade would undo what is changed here",
                item.title()
            ))
            .line("take it over from Helm: kubectl kai install --force-conflicts");
        // What is typed in is no name that somebody else chose freely.
        let upgrade = if is_safe {
            format!("change it by Helm: helm upgrade {name} deploy/chart -n {namespace}")
        } else {
            "change it by Helm".to_owned()
        };
        return problem.fix(upgrade).into();
    }
    let what = format!("somebody else has set fields of {}", item.title());
    let problem = Problem::new(number::EXISTS, Exit::Conflict, what);
    let problem = if refusal.causes.is_empty() {
        problem.line(refusal.message.clone())
    } else {
        refusal.causes.iter().take(3).fold(problem, |all, cause| all.line(cause.clone()))
    };
    problem.fix("take them over: kubectl kai install --force-conflicts").into()
}
