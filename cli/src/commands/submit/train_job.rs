//! `TrainJob`s: their pod templates are in a runtime, and only a runtime can name a scheduler.
//!
//! A runtime among the documents gets what was asked for. One on the cluster is left as it is; where its pods would be
//! another scheduler's, the job gets a runtime of its own that is like it.
//!
//! # Source
//! docs/workloads.md 5

use serde_json::{Value, json};

use super::document::Document;
use super::request::Request;
use crate::cluster::json::{ensure, text};
use crate::cluster::{Call, Cluster, Resource, manifest, names};
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

const GROUP: &str = "trainer.kubeflow.org";
const VERSION: &str = "trainer.kubeflow.org/v1alpha1";
/// The label of the replicated job that the nodes of a `TrainJob` are made of.
const STEP: &str = "trainer.kubeflow.org/trainjob-ancestor-step";

/// The documents with the runtimes that they lack, each before its job; what was done, to be told.
///
/// # Errors
/// A runtime is missing.
pub(super) async fn complete(
    documents: Vec<Document>,
    may_ask: bool,
    context: &mut Context,
) -> Result<Vec<Document>, Error> {
    let mut complete: Vec<Document> = Vec::new();
    for mut document in documents {
        if !is_one(&document.object) || runtime_of(&document, &complete).is_some() {
            complete.push(document);
            continue;
        }
        let found = if may_ask { find(&document, context).await? } else { None };
        match found {
            None => context.out.warn(&format!(
                "the runtime of trainjob/{} was not looked at: whether its pods are KAI's to schedule is not known",
                clean(document.name())
            )),
            Some(runtime) if is_ours(&runtime) && !is_owned(&runtime) => {
                document.made_of = Some(runtime);
            }
            Some(runtime) => {
                let derived = derive(&runtime, &mut document.object);
                let runtime_name = clean(text(&runtime["metadata"]["name"])).into_owned();
                let why = if is_owned(&runtime) {
                    format!("its runtime {runtime_name} goes with another job")
                } else {
                    format!("the pods of its runtime {runtime_name} are another scheduler's")
                };
                context.out.talk(&format!(
                    "trainjob/{name}: {why}, so it gets one of its own: trainingruntime/{name}",
                    name = clean(document.name()),
                ));
                complete.push(derived);
            }
        }
        complete.push(document);
    }
    Ok(complete)
}

/// Writes down what the pods of each job are made of, once the request is in its runtime.
pub(super) fn resolve(documents: &mut [Document]) {
    for i in 0..documents.len() {
        if is_one(&documents[i].object) {
            let runtime = runtime_of(&documents[i], documents).or(documents[i].made_of.clone());
            documents[i].made_of = Some(made_of(&documents[i].object, runtime.as_ref()));
        }
    }
}

/// Says what was asked for and has no place, because the runtime is not among the documents or the job itself goes before it.
pub(super) fn without_place(
    document: &Document,
    documents: &[Document],
    request: &Request,
) -> Option<Problem> {
    let trainer = &document.object["spec"]["trainer"];
    let asks = request.asks_of_pods();
    if !is_one(&document.object) || asks.is_empty() {
        return None;
    }
    let what = format!("trainjob/{} has no place for {}", clean(document.name()), asks.join(", "));
    let problem = Problem::new(number::UNSUPPORTED, Exit::Usage, what);
    if runtime_of(document, documents).is_none() {
        return Some(
            problem.line("its pods are made of a runtime that is not among the manifests").fix(
                "say it in spec.trainer or spec.runtimePatches, or submit the runtime with it",
            ),
        );
    }
    let own: Vec<&str> = ["image", "env", "resourcesPerNode"]
        .into_iter()
        .filter(|field| !trainer[*field].is_null())
        .collect();
    (!own.is_empty()).then(|| {
        problem
            .line(format!("its spec.trainer goes before the runtime: {}", own.join(", ")))
            .fix("change it there")
    })
}

pub(super) fn is_one(object: &Value) -> bool {
    text(&object["kind"]) == "TrainJob"
        && text(&object["apiVersion"]).split('/').next() == Some(GROUP)
}

/// The kind and the name of the runtime of a job.
fn reference(object: &Value) -> (&str, &str) {
    let of = &object["spec"]["runtimeRef"];
    let kind = text(&of["kind"]);
    (if kind.is_empty() { "ClusterTrainingRuntime" } else { kind }, text(&of["name"]))
}

/// The runtime of a job among the documents.
fn runtime_of(job: &Document, documents: &[Document]) -> Option<Value> {
    let (kind, name) = reference(&job.object);
    let found = documents.iter().find(|one| one.kind() == kind && one.name() == name);
    found.map(|one| one.object.clone())
}

async fn find(job: &Document, context: &mut Context) -> Result<Option<Value>, Error> {
    let (kind, name) = reference(&job.object);
    let cluster = context.cluster().await?;
    let resource = match kind {
        "TrainingRuntime" => Resource::new(VERSION, kind, "trainingruntimes"),
        _ => Resource::new(VERSION, kind, "clustertrainingruntimes").cluster_wide(),
    };
    let namespace = job.namespace(&cluster).filter(|_| resource.namespaced);
    let call = Call::new("get", &resource).namespace(namespace).name(name);
    match cluster.get(&call).await {
        Ok(Some(mut runtime)) => {
            runtime["kind"] = kind.into();
            Ok(Some(runtime))
        }
        // Where the kind itself is not served, that is said later.
        Ok(None) => missing(kind, name, &cluster).await,
        Err(failure) if failure.is_forbidden() => Ok(None),
        Err(failure) => Err(cluster.explain(&call, &failure)),
    }
}

async fn missing(kind: &str, name: &str, cluster: &Cluster) -> Result<Option<Value>, Error> {
    if cluster.read(&format!("/apis/{VERSION}")).await.is_err() {
        return Ok(None);
    }
    let what = format!("there is no {} \"{}\"", kind.to_lowercase(), clean(name));
    Err(Problem::new(number::MISSING, Exit::NotFound, what)
        .fix(format!("name one of: kubectl get {}s", kind.to_lowercase()))
        .into())
}

/// A runtime as the namespaced kind, whose templates are known.
fn namespaced(runtime: &Value) -> Value {
    json!({"apiVersion": VERSION, "kind": "TrainingRuntime", "metadata": {}, "spec": runtime["spec"]})
}

/// Tells whether all pods of a runtime are KAI's to schedule.
fn is_ours(runtime: &Value) -> bool {
    let runtime = namespaced(runtime);
    manifest::sites(&runtime).iter().all(|site| {
        let scheduler = runtime.pointer(&format!("{}/schedulerName", site.spec));
        scheduler.map(text) == Some(names::SCHEDULER)
    })
}

/// Tells whether a runtime was made for one job, and is deleted with it.
fn is_owned(runtime: &Value) -> bool {
    runtime["metadata"]["ownerReferences"].is_array()
}

/// A runtime like another, for one job alone, which is made to refer to it.
fn derive(runtime: &Value, job: &mut Value) -> Document {
    let mut own = namespaced(runtime);
    let name = job["metadata"]["name"].clone();
    own["metadata"]["name"] = name.clone();
    if let Some(namespace) = job["metadata"]["namespace"].as_str() {
        own["metadata"]["namespace"] = namespace.into();
    }
    let mut labels = serde_json::Map::new();
    for (from, key) in [
        (runtime, "trainer.kubeflow.org/framework"),
        (&*job, names::QUEUE),
        (&*job, names::PRIORITY),
    ] {
        let value = &from["metadata"]["labels"][key];
        if value.is_string() {
            labels.insert(key.into(), value.clone());
        }
    }
    own["metadata"]["labels"] = labels.into();
    // Another gang scheduler's.
    ensure(&mut own, "/spec").remove("podGroupPolicy");
    job["spec"]["runtimeRef"] = json!({"apiGroup": GROUP, "kind": "TrainingRuntime", "name": name});
    let source = format!("runtime {}", text(&runtime["metadata"]["name"]));
    Document { is_helper: true, may_exist: true, ..Document::new(own, &source) }
}

/// Returns what the pods of a job are made of: its runtime with as many nodes as it says, and its own resources.
fn made_of(job: &Value, runtime: Option<&Value>) -> Value {
    let trainer = &job["spec"]["trainer"];
    let Some(runtime) = runtime else {
        return json!({"apiVersion": VERSION, "kind": "TrainingRuntime", "spec": {"template": {"spec": {
            "replicatedJobs": [{"template": {"spec": {
                "parallelism": trainer["numNodes"].as_u64().unwrap_or(1),
                "template": {"spec": {"containers": [{"name": "node", "resources": trainer["resourcesPerNode"]}]}},
            }}}],
        }}}});
    };
    let mut made = namespaced(runtime);
    let nodes = trainer["numNodes"].as_u64().or(runtime["spec"]["mlPolicy"]["numNodes"].as_u64());
    let jobs = made.pointer_mut("/spec/template/spec/replicatedJobs").and_then(Value::as_array_mut);
    for one in jobs.into_iter().flatten() {
        if text(&one["template"]["metadata"]["labels"][STEP]) != "trainer" {
            continue;
        }
        let spec = ensure(one, "/template/spec");
        if let Some(nodes) = nodes {
            spec.insert("parallelism".into(), nodes.into());
        }
        if trainer["resourcesPerNode"].is_object() {
            let container = one.pointer_mut("/template/spec/template/spec/containers/0");
            if let Some(Value::Object(container)) = container {
                container.insert("resources".into(), trainer["resourcesPerNode"].clone());
            }
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(text: &str) -> Value {
        serde_saphyr::from_str(text).expect("written below")
    }

    fn runtime(pod: &str) -> Value {
        yaml(&format!(
            "{{apiVersion: {VERSION}, kind: ClusterTrainingRuntime, metadata: {{name: torch, labels: {{trainer.kubeflow.org/framework: torch}}}},
            spec: {{mlPolicy: {{numNodes: 1}}, podGroupPolicy: {{coscheduling: {{}}}}, template: {{spec: {{replicatedJobs: [
            {{name: init, template: {{spec: {{template: {{spec: {pod}}}}}}}}},
            {{name: node, template: {{metadata: {{labels: {{{STEP}: trainer}}}}, spec: {{template: {{spec: {pod}}}}}}}}}]}}}}}}}}"
        ))
    }

    fn job(trainer: &str) -> Value {
        yaml(&format!(
            "{{apiVersion: {VERSION}, kind: TrainJob, metadata: {{name: ddp, labels: {{kai.scheduler/queue: team-a}}}},
            spec: {{runtimeRef: {{name: torch}}, trainer: {trainer}}}}}"
        ))
    }

    #[test]
    fn a_runtime_of_another_scheduler_is_copied_without_its_gang() {
        let theirs = runtime("{containers: [{name: node}]}");
        assert!(!is_ours(&theirs));
        assert!(is_ours(&runtime("{schedulerName: kai-scheduler, containers: [{name: node}]}")));
        let mut job = job("{}");
        let own = derive(&theirs, &mut job);
        assert_eq!((own.kind(), own.name(), own.is_helper), ("TrainingRuntime", "ddp", true));
        assert_eq!(own.object["metadata"]["labels"][names::QUEUE], "team-a");
        assert!(own.object["spec"]["podGroupPolicy"].is_null());
        assert_eq!(reference(&job), ("TrainingRuntime", "ddp"));
    }

    /// Says how many pods a job makes, and how many thousandths of GPUs they ask for.
    fn check(trainer: &str, runtime: Option<&Value>, expect: [u64; 2]) {
        let (pods, gpus) = manifest::demand(&made_of(&job(trainer), runtime));
        assert_eq!([pods, gpus.milli], expect, "{trainer}");
    }

    #[test]
    fn the_nodes_of_a_job_are_those_that_it_asks_for() {
        let limits = "resources: {limits: {nvidia.com/gpu: 2}}";
        let plain = runtime("{containers: [{name: node}]}");
        let two = runtime(&format!("{{containers: [{{name: node, {limits}}}]}}"));
        check("{numNodes: 3, resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}", None, [3, 24_000]);
        check(
            "{numNodes: 3, resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}",
            Some(&plain),
            [4, 24_000],
        );
        check("{numNodes: 3}", Some(&two), [4, 8000]);
        check("{}", Some(&two), [2, 4000]);
    }
}
