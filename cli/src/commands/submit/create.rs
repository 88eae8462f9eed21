//! Creates the documents, all of them or none.

use futures::FutureExt as _;
use serde_json::Value;

use super::{Document, check, list};
use crate::cluster::{Call, Cluster, Failure, json, listing, manifest, names};
use crate::context::Context;
use crate::globals::Globals;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::{Style, clean};
use crate::print::{duration, format, time};
pub(crate) use format::Format as Form;

/// What is printed of created objects.
#[derive(Debug)]
pub(crate) struct Format(Form);

impl Format {
    pub(crate) fn read(globals: &Globals) -> Result<Self, Error> {
        Form::read(globals.output.as_deref()).map(Self)
    }
}

/// Prints the objects, or a line for each with what was done to it.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn show(
    documents: &[Document],
    done: &str,
    format: &Format,
    context: &mut Context,
) -> Result<(), Error> {
    if format.0.is_table() {
        for document in documents {
            context.out.data(&format!("{} {done}", listing::name(&document.object)))?;
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
    let (mut objects, mut problems) = (Vec::new(), Vec::new());
    // What a document brings along is not there for the next one in a rehearsal.
    let brings =
        documents.iter().any(|d| matches!(d.kind(), "Namespace" | "CustomResourceDefinition"));
    for document in documents {
        let Some(resource) = &document.resource else {
            objects.push(document.clone());
            continue;
        };
        let call = call(document, cluster, resource);
        match cluster.create(&call, &document.object, true).await {
            Ok(answer) => {
                answer.warnings.iter().for_each(|warning| context.out.warn(&clean(warning)));
                objects.push(Document { object: answer.body, ..document.clone() });
            }
            Err(failure) if brings && failure.code() == Some(404) => objects.push(document.clone()),
            Err(failure) => {
                problems.extend(list(refusal(document, &call, &failure, cluster).await));
            }
        }
    }
    problems.dedup();
    Error::all(problems).map(|()| objects)
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
    for document in documents {
        stopped = stopped || interrupt.as_mut().now_or_never().is_some();
        let one = if stopped {
            Err(Error::Quiet(Exit::Interrupted))
        } else {
            one(document, cluster, context).await
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
    Ok(created)
}

async fn one(
    document: &Document,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<Document, Error> {
    let mut document = document.clone();
    if document.resource.is_none() {
        document.resource = Some(check::awaited(&document, cluster).await?);
    }
    let resource = document.resource.clone().expect("found just now");
    let call = call(&document, cluster, &resource);
    match cluster.create(&call, &document.object, false).await {
        Ok(answer) => {
            answer.warnings.iter().for_each(|warning| context.out.warn(&clean(warning)));
            Ok(Document { object: answer.body, ..document.clone() })
        }
        Err(failure) => Err(refusal(&document, &call, &failure, cluster).await),
    }
}

/// Deletes what was created, the last first; what could not be.
async fn take_back(created: &[Document], cluster: &Cluster) -> Vec<String> {
    let mut left = Vec::new();
    for document in created.iter().rev() {
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
        for document in created {
            context.out.talk(&format!("{} taken back", listing::name(&document.object)));
        }
    } else {
        context.out.warn(&format!("still there, delete by hand: {}", left.join(", ")));
    }
}

/// What a refusal means for this document: taken names and missing namespaces have their own words.
async fn refusal(
    document: &Document,
    call: &Call<'_>,
    failure: &Failure,
    cluster: &Cluster,
) -> Error {
    let namespace = call.namespace.unwrap_or_default();
    match failure {
        Failure::Refused(refusal) if refusal.code == 409 && refusal.reason == "AlreadyExists" => {
            let kind = document.kind().to_lowercase();
            let old = cluster.get(call).await.ok().flatten();
            let age = old.and_then(|old| time::age(&old["metadata"]["creationTimestamp"]));
            let age =
                age.map_or_else(String::new, |age| format!(" ({} old)", duration::short(age)));
            let what = format!("{kind} \"{}\" already exists in {namespace}{age}", call.name);
            Problem::new(number::EXISTS, Exit::Conflict, what)
                .fix(if document.is_workload {
                    format!("another name, or first: kubectl kai delete {}", call.name)
                } else {
                    format!(
                        "another name, or first: kubectl delete {kind} {} -n {namespace}",
                        call.name
                    )
                })
                .into()
        }
        Failure::Refused(refusal)
            if refusal.code == 404 && refusal.message.contains("namespaces") =>
        {
            let what = format!("namespace \"{namespace}\" does not exist");
            Problem::new(number::MISSING, Exit::NotFound, what)
                .fix(format!("kubectl create namespace {namespace}   or   -n NAMESPACE"))
                .into()
        }
        _ => cluster.explain(call, failure),
    }
}

/// Says where it waits, and what to type next.
pub(crate) fn next_steps(created: &[Document], cluster: &Cluster, context: &mut Context) {
    for document in created.iter().filter(|document| document.is_workload) {
        let (pods, gpus) = manifest::demand(&document.object);
        let queue =
            clean(json::text(&document.object["metadata"]["labels"][names::QUEUE])).into_owned();
        let gpus = if gpus.is_zero() { String::new() } else { format!(" · {gpus} GPU") };
        let pods = crate::cluster::queue::count(usize::try_from(pods).unwrap_or(0), "pod");
        let namespace = document.namespace(cluster).unwrap_or_default();
        context.out.talk(&format!("  queue {queue} · {pods}{gpus} · namespace {namespace}"));
    }
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
