//! Describes what only the cluster knows: is the queue there, is the kind served, is the priority class there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::join_all;

use super::request::Request;
use super::{Document, list};
use super::{data, fits, inject, sharing};
use crate::cluster::capacity::Capacity;
use crate::cluster::gpu::Total;
use crate::cluster::kinds::{KINDS, Kind};
use crate::cluster::{Call, Cluster, Failure, Resource, Select, json, names, queue};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Sets how long a command line that is wrong anyhow waits to learn whether its queue is wrong too.
pub(super) const HURRY: Duration = Duration::from_millis(1500);

/// Checks everything at once.
///
/// # Errors
/// Every problem; nothing has been created.
pub(crate) async fn all(
    documents: &mut [Document],
    request: &Request,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<(), Error> {
    let (queues, kinds, priority, sharing, capacity, data) = futures::join!(
        queue::readable(cluster),
        resolve(documents, cluster),
        priority(request.priority.as_deref(), cluster),
        sharing::is_refused(documents, cluster),
        Capacity::read(cluster),
        data::check(&request.data, documents, cluster),
    );
    let mut problems: Vec<Problem> = sharing.into_iter().collect();
    let mut too_large = fits::too_large(documents, capacity.as_ref());
    if !request.force && !request.is_plan {
        problems.extend(too_large.drain(..).map(fits::never));
    }
    for warning in too_large.into_iter().chain(data.warnings) {
        context.out.warn(&clean(&warning));
    }
    match queues {
        Ok(Some(queues)) => {
            problems.extend(in_queues(queues, documents, request, context));
        }
        Ok(None) => {
            context.out.warn("you may not read queues, so whether the queue exists is not known");
        }
        Err(error) => problems.extend(list(error)),
    }
    match kinds {
        Ok(kinds) => {
            for document in documents.iter_mut() {
                let key = (
                    json::text(&document.object["apiVersion"]).to_owned(),
                    document.kind().to_owned(),
                );
                document.resource = kinds.get(&key).cloned();
                // -n is for those that have a namespace.
                if document.resource.as_ref().is_some_and(|resource| !resource.namespaced) {
                    json::ensure(&mut document.object, "/metadata").remove("namespace");
                }
            }
        }
        Err(error) => problems.extend(list(error)),
    }
    match priority {
        Ok(()) => {}
        Err(error) => problems.extend(list(error)),
    }
    problems.extend(data.problems);
    problems.extend(data.error.map(list).unwrap_or_default());
    // An unreachable server is one problem, not three.
    problems
        .dedup_by(|a, b| a == b || (a.exit == Exit::Unreachable && b.exit == Exit::Unreachable));
    Error::all(problems)
}

/// Checks that work can run in its queue, and warns where that is held.
fn in_queues(
    queues: queue::Queues,
    documents: &[Document],
    request: &Request,
    context: &mut Context,
) -> Vec<Problem> {
    // Those of the manifest are there before the work is.
    let queues = queues.with(documents.iter().map(|document| &document.object));
    let (mut checked, mut held) = (BTreeSet::new(), BTreeSet::new());
    let mut problems = Vec::new();
    for document in documents.iter().filter(|document| document.is_workload) {
        let queue = inject::queue(&document.object, request);
        let asks_gpu = document.demand().1 != Total::default() && !request.force;
        if checked.insert((queue.clone(), asks_gpu)) {
            let problem = queues.check(&queue, asks_gpu).err();
            problems.extend(problem.map(|problem| without_queue(problem, request, &queue)));
        }
        held.extend(queues.held(&queue).map(|queue| clean(&queue.name).into_owned()));
        if asks_gpu {
            problems.extend(fits::limit(document, &queue, &queues));
        }
    }
    for name in held {
        context.out.warn(&format!(
            "queue \"{name}\" is held: nothing starts in it before kubectl kai queues release {name}"
        ));
    }
    problems
}

/// Says where the queue comes from, when it was not typed.
fn without_queue(problem: Problem, request: &Request, queue: &str) -> Problem {
    let mut problem = problem;
    if request.queue.as_deref() == Some(queue)
        && let Some(origin) = &request.queue_origin
    {
        problem.lines.insert(0, format!("it comes from {origin}"));
        return problem;
    }
    if request.queue.is_some() || queue != names::DEFAULT_QUEUE {
        return problem;
    }
    problem.lines.insert(0, format!("no queue was given, and \"{queue}\" is what KAI takes then"));
    problem.fix = Some("-q QUEUE, or once for all: kubectl kai config set queue QUEUE".into());
    problem
}

/// The problem of the queue of a command line that is wrong anyhow; silent when the cluster does not answer.
pub(crate) async fn queue_in_a_hurry(request: &Request, context: &mut Context) -> Vec<Problem> {
    let Some(queue) = &request.queue else { return Vec::new() };
    let Ok(cluster) = context.cluster().await else { return Vec::new() };
    match queue::readable(&cluster.hurried(HURRY)).await {
        Ok(Some(queues)) => queues.check(queue, false).err().into_iter().collect(),
        Ok(None) | Err(_) => Vec::new(),
    }
}

async fn priority(class: Option<&str>, cluster: &Cluster) -> Result<(), Error> {
    let Some(class) = class else { return Ok(()) };
    let resource =
        Resource::new("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses").cluster_wide();
    let call = Call::new("get", &resource).name(class);
    match cluster.get(&call).await {
        Ok(Some(_)) => Ok(()),
        Ok(None) => {
            let all = cluster.list(&Call::new("list", &resource), &Select::default()).await;
            let all = all.ok().flatten().unwrap_or_default();
            let names: Vec<&str> = all
                .iter()
                .map(|class| json::text(&class["metadata"]["name"]))
                .filter(|name| !name.starts_with("system-"))
                .collect();
            Err(Problem::new(
                number::PRIORITY,
                Exit::NotFound,
                format!("priority class \"{class}\" does not exist"),
            )
            .line("KAI would ignore it silently")
            .fix(format!("--priority with one of {}", names.join(", ")))
            .into())
        }
        // Not to be allowed to look is no reason to stop.
        Err(failure) if failure.is_forbidden() => Ok(()),
        Err(failure) => Err(cluster.explain(&call, &failure)),
    }
}

type Served = BTreeMap<(String, String), Resource>;

/// Finds where the API serves each document's kind.
async fn resolve(documents: &[Document], cluster: &Cluster) -> Result<Served, Error> {
    let versions: BTreeSet<String> =
        documents.iter().map(|d| json::text(&d.object["apiVersion"]).to_owned()).collect();
    let lists = join_all(versions.iter().map(|version| resources(version, cluster))).await;
    let mut served = Served::new();
    for list in lists {
        let list = list.map_err(|failure| cluster.explain_any(&failure))?;
        for resource in list {
            served.insert((resource.api_version(), resource.kind.clone()), resource);
        }
    }
    let custom = brought_along(documents);
    let mut problems = Vec::new();
    for document in documents {
        let key =
            (json::text(&document.object["apiVersion"]).to_owned(), document.kind().to_owned());
        if served.contains_key(&key) || custom.contains(&key.1) {
            continue;
        }
        problems.push(not_served(&key.0, &key.1, cluster).await);
    }
    problems.dedup();
    Error::all(problems).map(|()| served)
}

/// Kinds whose definitions are among the documents themselves.
fn brought_along(documents: &[Document]) -> BTreeSet<String> {
    documents
        .iter()
        .filter(|d| d.kind() == "CustomResourceDefinition")
        .map(|d| json::text(&d.object["spec"]["names"]["kind"]).to_owned())
        .collect()
}

/// Returns what the API serves in a version of a group; empty when it doesn't know the version.
async fn resources(api_version: &str, cluster: &Cluster) -> Result<Vec<Resource>, Failure> {
    let root = if api_version.contains('/') { "/apis" } else { "/api" };
    match cluster.read(&format!("{root}/{api_version}")).await {
        Ok(list) => {
            let entries = list["resources"].as_array().cloned().unwrap_or_default();
            Ok(entries
                .iter()
                .filter_map(|entry| Resource::discovered(api_version, entry))
                .collect())
        }
        Err(failure) if failure.code() == Some(404) => Ok(Vec::new()),
        Err(failure) => Err(failure),
    }
}

/// The versions of a kind that are served, of those that this program understands.
///
/// # Errors
/// The server cannot be asked.
pub(crate) async fn served(
    kind: &'static Kind,
    cluster: &Cluster,
) -> Result<Vec<&'static str>, Error> {
    let ask = |version: &'static str| async move {
        let resource = kind.resource(version);
        let list = resources(&resource.api_version(), cluster).await;
        list.map(|list| (version, list.iter().any(|served| served.plural == kind.plural)))
    };
    let mut versions = Vec::new();
    for answer in join_all(kind.versions.iter().map(|version| ask(version))).await {
        let (version, is_served) = answer.map_err(|failure| cluster.explain_any(&failure))?;
        if is_served {
            versions.push(version);
        }
    }
    Ok(versions)
}

async fn not_served(api_version: &str, kind: &str, cluster: &Cluster) -> Problem {
    let groups = cluster.groups().await.unwrap_or_default();
    let has = |known: &Kind| {
        known.group.is_empty() || groups.iter().any(|(group, _)| group == known.group)
    };
    let lists =
        KINDS.iter().filter(|known| !known.noun.is_empty() && has(known)).map(|known| async move {
            let versions = served(known, cluster).await.unwrap_or_default();
            versions.first().map(|version| {
                let resource = known.resource(version);
                format!("{} {}", resource.api_version(), resource.kind)
            })
        });
    let installed: Vec<String> = join_all(lists).await.into_iter().flatten().collect();
    let problem = Problem::new(
        number::KIND_NOT_SERVED,
        Exit::NotFound,
        format!("cannot create {kind}: {api_version} {kind} is not installed in this cluster"),
    )
    .line(format!("installed: {}", installed.join(", ")));
    match operator(api_version) {
        Some(operator) => problem.fix(format!(
            "(admin) install {operator}; or submit a kind that is there, with the same flags"
        )),
        None => problem.fix("check apiVersion and kind: kubectl api-resources"),
    }
}

fn operator(api_version: &str) -> Option<&'static str> {
    let group = api_version.split('/').next().unwrap_or_default();
    Some(match group {
        "kubeflow.org" => "the Kubeflow training operator or MPI operator",
        "trainer.kubeflow.org" => "Kubeflow Trainer",
        "ray.io" => "KubeRay",
        "argoproj.io" => "Argo Workflows",
        "jobset.x-k8s.io" => "JobSet",
        "leaderworkerset.x-k8s.io" => "LeaderWorkerSet",
        "sparkoperator.k8s.io" => "the Spark operator",
        "serving.knative.dev" => "Knative Serving",
        "serving.kserve.io" => "KServe",
        _ => return None,
    })
}

/// Sets how often a kind is looked for whose definition was created just before.
const TRIES: u32 = 50;

/// Says where the API serves a document's kind, once the definition that came with it is established.
///
/// # Errors
/// When it does not appear in time.
pub(crate) async fn awaited(document: &Document, cluster: &Cluster) -> Result<Resource, Error> {
    let api_version = json::text(&document.object["apiVersion"]);
    for _ in 0..TRIES {
        let list = resources(api_version, cluster)
            .await
            .map_err(|failure| cluster.explain_any(&failure))?;
        if let Some(resource) = list.into_iter().find(|resource| resource.kind == document.kind()) {
            return Ok(resource);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Err(not_served(api_version, document.kind(), cluster).await.into())
}
