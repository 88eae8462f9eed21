//! Describes what an installation would change: read, and tried out on the server without effect.

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use http::{Method, Request, header};
use kube::client::Body;
use serde_json::Value;

use super::manifest::{Group, Item, Options};
use crate::cluster::{Call, Cluster, Failure};
use crate::print::error::{Error, Exit, Problem, number};

/// Sets how many questions are asked at once.
const CONCURRENCY: usize = 8;

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

/// Finds out what has to happen; changes nothing.
///
/// # Errors
/// What the server refuses now it would refuse later: missing rights, fields of other owners.
pub(super) async fn make(
    cluster: &Cluster,
    items: Vec<Item>,
    options: &Options,
) -> Result<Plan, Error> {
    let look = |item: Item| async move {
        let state = state(cluster, &item, options).await?;
        Ok::<_, Error>(Entry { item, state })
    };
    let entries = stream::iter(items).map(look).buffered(CONCURRENCY).try_collect().await?;
    Ok(Plan { entries })
}

async fn state(cluster: &Cluster, item: &Item, options: &Options) -> Result<State, Error> {
    let call = call(item, "get");
    let Some(live) = cluster.get(&call).await.map_err(|e| cluster.explain(&call, &e))? else {
        return Ok(State::Create);
    };
    if item.is_kept() {
        return Ok(State::Kept);
    }
    let dry = put(cluster, item, options, true).await.map_err(|e| refused(cluster, item, &e))?;
    let same = without_history(live) == without_history(dry);
    Ok(if same { State::Unchanged } else { State::Change })
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
    // The definitions are ours alone: whoever applied them before, helm or kubectl, gives them up.
    let force = options.force_conflicts || item.group == Group::Crds;
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

/// Says what it means when the server refuses an object.
pub(super) fn refused(cluster: &Cluster, item: &Item, failure: &Failure) -> Error {
    if let Failure::Refused(refusal) = failure
        && refusal.code == 409
        && refusal.message.contains("conflict")
    {
        let what = format!("somebody else has set fields of {}", item.title());
        let problem = Problem::new(number::EXISTS, Exit::Conflict, what);
        let problem = if refusal.causes.is_empty() {
            problem.line(refusal.message.clone())
        } else {
            refusal.causes.iter().take(3).fold(problem, |all, cause| all.line(cause.clone()))
        };
        return problem.fix("take them over: kubectl kai install --force-conflicts").into();
    }
    cluster.explain(&call(item, "patch"), failure)
}
