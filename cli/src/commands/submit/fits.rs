//! Tells whether work can ever start: what all nodes have, and what its queue may have at most.

use kai_api::names::annotation;
use serde_json::Value;

use super::Document;
use crate::cluster::capacity::Capacity;
use crate::cluster::gpu::{self, Total};
use crate::cluster::json::text;
use crate::cluster::kinds::Gang;
use crate::cluster::manifest::{self, as_pod};
use crate::cluster::names;
use crate::cluster::queue::Queues;
use crate::cluster::queue::count;
use crate::print::error::{Exit, Problem, number};
use crate::print::output::clean;

/// More pods of one template than are looked at one by one.
const PODS_MAX: u64 = 10_000;

/// The pods of a document, and how many of them start together at the least.
fn pods(object: &Value) -> (Vec<Value>, usize) {
    let mut pods = Vec::new();
    for site in manifest::sites(object) {
        if site.makes_pods() {
            let count = usize::try_from(site.replicas.min(PODS_MAX)).unwrap_or(0);
            pods.extend(std::iter::repeat_n(as_pod(object, &site), count));
        }
    }
    let gang = manifest::kind(object).map_or(Gang::None, |kind| kind.gang);
    let together = match gang {
        Gang::None => 1,
        Gang::Annotation => {
            let inner = &object["spec"]["jobTemplate"]["metadata"];
            let metadata = if inner.is_object() { inner } else { &object["metadata"] };
            text(&metadata["annotations"][names::MIN_MEMBER]).parse().unwrap_or(1)
        }
        Gang::SchedulingPolicy => {
            let min = &object["spec"]["runPolicy"]["schedulingPolicy"]["minAvailable"];
            min.as_u64().and_then(|min| usize::try_from(min).ok()).unwrap_or(pods.len())
        }
        Gang::RayReplicas => ray_minimum(object).unwrap_or(pods.len()),
        Gang::ReplicatedJob => replicated_minimum(object).unwrap_or(pods.len()),
        // One group of several.
        Gang::Whole => {
            let size = object["spec"]["leaderWorkerTemplate"]["size"].as_u64().unwrap_or(1);
            usize::try_from(size).unwrap_or(usize::MAX)
        }
    };
    let together = together.min(pods.len());
    (pods, together)
}

/// The fewest pods of each replica of each replicated job.
fn replicated_minimum(object: &Value) -> Option<usize> {
    let jobs = [&object["spec"], &object["spec"]["template"]["spec"]]
        .into_iter()
        .find_map(|spec| spec["replicatedJobs"].as_array())?;
    let fewest = |job: &Value| {
        let template = &job["template"];
        let all = template["spec"]["parallelism"].as_u64().unwrap_or(1);
        let min = text(&template["metadata"]["annotations"][names::MIN_MEMBER]).parse();
        min.unwrap_or(all).min(all).saturating_mul(job["replicas"].as_u64().unwrap_or(1))
    };
    usize::try_from(jobs.iter().map(fewest).fold(0, u64::saturating_add)).ok()
}

/// The head and the fewest workers of each group.
fn ray_minimum(object: &Value) -> Option<usize> {
    let spec = &object["spec"];
    let cluster = [&spec["rayClusterSpec"], &spec["rayClusterConfig"], spec];
    let groups = cluster.iter().find_map(|spec| spec["workerGroupSpecs"].as_array())?;
    let fewest = |group: &Value| {
        let hosts = group["numOfHosts"].as_u64().unwrap_or(1);
        let fewest = group["minReplicas"].as_u64().or(group["replicas"].as_u64()).unwrap_or(0);
        fewest.saturating_mul(hosts)
    };
    let workers = groups.iter().map(fewest).fold(1, u64::saturating_add);
    usize::try_from(workers).ok()
}

/// The label of the level of a topology within one domain of which its pods have to stay.
fn level(object: &Value) -> Option<&str> {
    [&object["metadata"], &object["spec"]["jobTemplate"]["metadata"]]
        .into_iter()
        .map(|meta| text(&meta["annotations"][annotation::TOPOLOGY_REQUIRED]))
        .find(|level| !level.is_empty())
}

/// Says what all nodes together, the largest, or each domain of a topology have too little of; silent where the user may not look.
pub(super) fn too_large(documents: &[Document], capacity: Option<&Capacity>) -> Vec<String> {
    let Some(capacity) = capacity else { return Vec::new() };
    let workloads = documents.iter().filter(|document| document.is_workload);
    let too_little = workloads.filter_map(|document| {
        let (pods, together) = pods(document.templates());
        let why = capacity
            .too_little(&pods, together)
            .or_else(|| capacity.too_little_in(level(document.templates())?, &pods, together))?;
        Some(format!("{} cannot start on this cluster: {why}", clean(document.name())))
    });
    too_little.collect()
}

/// Refuses what the nodes of the cluster are too small for.
pub(super) fn never(what: String) -> Problem {
    Problem::new(number::NEVER_FITS, Exit::Refused, what)
        .line("it would wait for ever")
        .fix("ask for less; or, where nodes are still to come, submit all the same: --force")
}

/// The limit that work can never stay within: that of its queue, or of one above.
pub(super) fn limit(document: &Document, queue: &str, queues: &Queues) -> Option<Problem> {
    let (pods, together) = pods(document.templates());
    let mut each: Vec<u64> = pods.iter().map(|pod| Total::of_pod(pod).milli).collect();
    each.sort_unstable();
    let least: u64 = each.iter().take(together).sum();
    let mut at = queues.0.get(queue);
    for _ in 0..=queues.0.len() {
        let found = at?;
        if let Some(limit) = found.gpu.limit.milli().filter(|limit| *limit > 0 && least > *limit) {
            let what = format!(
                "{} asks for {} at once, and queue \"{}\" may use {}",
                clean(document.name()),
                count(gpu::devices(least), "GPU"),
                clean(&found.name),
                gpu::devices(limit)
            );
            return Some(
                Problem::new(number::OVER_LIMIT, Exit::Refused, what)
                    .line("it would wait for ever")
                    .fix(
                        "ask for less, or another queue: -q QUEUE; or submit all the same: --force",
                    ),
            );
        }
        at = found.parent.as_ref().and_then(|parent| queues.0.get(parent));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says how many pods an object makes, and how many of them start together.
    fn check(yaml: &str, expect: [usize; 2]) {
        let object: Value = serde_saphyr::from_str(yaml).expect("written below");
        let (pods, together) = pods(&object);
        assert_eq!([pods.len(), together], expect, "{yaml}");
    }

    #[test]
    fn a_gang_is_what_its_kind_says() {
        let template = "template: {spec: {containers: [{name: a, image: b}]}}";
        let job = format!("apiVersion: batch/v1\nkind: Job\nspec: {{parallelism: 4, {template}}}");
        check(&job, [4, 1]);
        check(
            &format!("{job}\nmetadata: {{annotations: {{kai.scheduler/batch-min-member: '3'}}}}"),
            [4, 3],
        );
        let torch = format!(
            "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  pytorchReplicaSpecs: {{Worker: {{replicas: 3, {template}}}}}"
        );
        check(&torch, [3, 3]);
        check(&format!("{torch}\n  runPolicy: {{schedulingPolicy: {{minAvailable: 2}}}}"), [3, 2]);
        let ray = format!(
            "apiVersion: ray.io/v1\nkind: RayCluster\nspec: {{headGroupSpec: {{{template}}}, workerGroupSpecs: [{{replicas: 5, minReplicas: 2, {template}}}]}}"
        );
        check(&ray, [6, 3]);
    }
}
