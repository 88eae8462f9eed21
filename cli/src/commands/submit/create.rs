//! Creates the documents, all of them or none.

pub(super) mod there;

use futures::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;

use super::document::{self, Document, There};
use super::{check, list};
use crate::cluster::{Call, Cluster, Failure, json, listing};
use crate::context::Context;
use crate::globals::Globals;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::format;
use crate::print::output::{Style, clean};
pub(crate) use format::Format as Form;

/// Holds what is printed of created objects.
#[derive(Debug)]
pub(crate) struct Format(Form);

impl Format {
    pub(crate) fn read(globals: &Globals) -> Result<Self, Error> {
        Form::read(globals.output.as_deref()).map(Self)
    }
}

/// Prints the objects, or a line for each with what was done to it, or what would be: `rehearsed` says how it is known.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn show(
    documents: &[Document],
    rehearsed: &str,
    format: &Format,
    context: &mut Context,
) -> Result<(), Error> {
    if format.0.is_table() {
        for document in documents {
            let name = listing::name(&document.object);
            let rehearsed = if document.is_unchanged() { "" } else { rehearsed };
            context.out.data(&format!("{name} {}{rehearsed}", document.done()))?;
        }
        return Ok(());
    }
    let objects: Vec<Value> = documents.iter().map(|document| document.object.clone()).collect();
    listing::objects(objects, false, &format.0, &mut context.out)
}

/// Lets the server check every document without storing any; what it would have stored.
///
/// # Errors
/// Every refusal.
pub(crate) async fn rehearse(
    documents: &[Document],
    cluster: &Cluster,
    context: &mut Context,
) -> Result<Vec<Document>, Error> {
    // What a document brings along is not there for the next one in a rehearsal.
    let brings =
        documents.iter().any(|d| matches!(d.kind(), "Namespace" | "CustomResourceDefinition"));
    // All owned: a borrow here would keep callers from boxing the future.
    let all: Vec<_> = documents
        .iter()
        .map(|document| rehearse_one(document.clone(), brings, cluster.clone()))
        .collect();
    let rehearsed = stream::iter(all).buffered(REQUESTS).collect::<Vec<_>>().await;
    let (mut objects, mut problems) = (Vec::new(), Vec::new());
    for one in rehearsed {
        match one {
            Ok((document, warnings)) => {
                for warning in warnings {
                    context.out.warn(&clean(&warning));
                }
                objects.push(document);
            }
            Err(error) => problems.extend(list(error)),
        }
    }
    problems.dedup();
    Error::all(problems).map(|()| objects)
}

/// Requests under way at once; a rehearsal has no order.
const REQUESTS: usize = 16;

/// Says what the server would store, and what it warns of.
async fn rehearse_one(
    document: Document,
    brings: bool,
    cluster: Cluster,
) -> Result<(Document, Vec<String>), Error> {
    let Some(resource) = &document.resource else { return Ok((document, Vec::new())) };
    let call = call(&document, &cluster, resource);
    if document.there.is_some() {
        return Ok((document, Vec::new()));
    }
    match cluster.create(&call, &document.object, true).await {
        Ok(answer) => Ok((Document { object: answer.body, ..document.clone() }, answer.warnings)),
        Err(failure) if brings && failure.code() == Some(404) => Ok((document.clone(), Vec::new())),
        Err(failure) => {
            refused(&document, &call, &failure, &cluster).await.map(|there| (there, Vec::new()))
        }
    }
}

fn call<'a>(
    document: &'a Document,
    cluster: &'a Cluster,
    resource: &'a crate::cluster::Resource,
) -> Call<'a> {
    Call::new("create", resource).namespace(document.namespace(cluster)).name(document.name())
}

/// Creates every document in order; when one fails, or Ctrl-C comes between two, deletes those before it.
///
/// # Errors
/// What stopped it, and what is left when it could not be taken back.
pub(crate) async fn all(
    documents: &[Document],
    cluster: &Cluster,
    context: &mut Context,
) -> Result<Vec<Document>, Error> {
    if documents.len() > 1 {
        rehearse(documents, cluster, context).await?;
    }
    // Asking once takes over the signal, so that it does not end the process between two objects.
    let mut interrupt = Box::pin(tokio::signal::ctrl_c());
    let mut stopped = interrupt.as_mut().now_or_never().is_some();
    let mut created: Vec<Document> = Vec::new();
    for (at, document) in documents.iter().enumerate() {
        stopped = stopped || interrupt.as_mut().now_or_never().is_some();
        let owner = documents[at..].iter().find(|one| one.is_workload && document.is_helper);
        let one = if stopped {
            Err(Error::Quiet(Exit::Interrupted))
        } else {
            one(document, owner, cluster, context).await
        };
        match one {
            Ok(document) => created.push(document),
            Err(error) => {
                let left = take_back(&created, cluster).await;
                report(&created, &left, context);
                return Err(error);
            }
        }
    }
    document::own(&created, cluster, context).await;
    Ok(created)
}

/// Creates a document, or makes of what is there what it says. `owner` is the workload that a helper goes with.
async fn one(
    document: &Document,
    owner: Option<&Document>,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<Document, Error> {
    let mut document = document.clone();
    if document.resource.is_none() {
        document.resource = Some(check::awaited(&document, cluster).await?);
    }
    let resource = document.resource.clone().expect("found just now");
    let call = call(&document, cluster, &resource);
    match &document.there {
        None => {}
        Some(There::Same) => {
            return document::untied(document.clone(), owner, &call, cluster).await;
        }
        Some(There::Changeable(old)) => {
            let changed = there::change(&document, old, &call, cluster).await?;
            let changed = Document { object: changed, ..document.clone() };
            return document::untied(changed, owner, &call, cluster).await;
        }
        Some(There::Fixed(old)) => there::remove(old, &call, cluster).await?,
    }
    match cluster.create(&call, &document.object, false).await {
        Ok(answer) => {
            answer.warnings.iter().for_each(|warning| context.out.warn(&clean(warning)));
            Ok(Document { object: answer.body, ..document.clone() })
        }
        Err(failure) => refused(&document, &call, &failure, cluster).await,
    }
}

/// Deletes what was created, the last first; what could not be.
async fn take_back(created: &[Document], cluster: &Cluster) -> Vec<String> {
    let mut left = Vec::new();
    for document in created.iter().rev().filter(|document| document.there.is_none()) {
        let resource = document.resource.as_ref().expect("it was created there");
        let call = Call { verb: "delete", ..call(document, cluster, resource) };
        let uid = json::text(&document.object["metadata"]["uid"]);
        if cluster.delete(&call, uid, false).await.is_err() {
            left.push(listing::name(&document.object));
        }
    }
    left
}

fn report(created: &[Document], left: &[String], context: &mut Context) {
    if left.is_empty() {
        for document in created.iter().filter(|document| document.there.is_none()) {
            context.out.talk(&format!("{} taken back", listing::name(&document.object)));
        }
    } else {
        context.out.warn(&format!("still there, delete by hand: {}", left.join(", ")));
    }
    for document in created.iter().filter(|one| one.there.is_some() && !one.is_unchanged()) {
        let name = listing::name(&document.object);
        context.out.warn(&format!("{name} was {} before that", document.done()));
    }
}

/// Says what a refusal means for this document: one that is there as it is written is taken as it is, and taken names and
/// missing namespaces have their own words.
async fn refused(
    document: &Document,
    call: &Call<'_>,
    failure: &Failure,
    cluster: &Cluster,
) -> Result<Document, Error> {
    let namespace = call.namespace.unwrap_or_default();
    match failure {
        Failure::Refused(refusal) if refusal.code == 409 && refusal.reason == "AlreadyExists" => {
            there::taken(document, call, cluster).await
        }
        Failure::Refused(refusal)
            if refusal.code == 404 && refusal.message.contains("namespaces") =>
        {
            let what = format!("namespace \"{namespace}\" does not exist");
            Err(Problem::new(number::MISSING, Exit::NotFound, what)
                .fix(format!("kubectl create namespace {namespace}   or   -n NAMESPACE"))
                .into())
        }
        _ => Err(cluster.explain(call, failure)),
    }
}

/// Says what to type next.
pub(crate) fn next_steps(created: &[Document], context: &mut Context) {
    if !context.out.talks_to_terminal() {
        return;
    }
    if let [document] = created {
        let name = document.name();
        for (what, command) in [("State:", "describe"), ("Follow:", "logs -f"), ("Stop:", "delete")]
        {
            context
                .out
                .talk(&Style::Dim.paint(&format!("  {what:<8} kubectl kai {command} {name}")));
        }
    }
}
