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
fn pods(document: &Document) -> (Vec<Value>, usize) {
    let object = document.templates();
    let mut pods = Vec::new();
    for site in manifest::sites(object) {
        if site.makes_pods() {
            let count = usize::try_from(site.replicas.min(PODS_MAX)).unwrap_or(0);
            pods.extend(std::iter::repeat_n(as_pod(object, &site), count));
        }
    }
    let gang = manifest::kind(object).map_or(Gang::None, |kind| kind.gang);
    let least = match gang {
        Gang::None => Some(1),
        Gang::Annotation => {
            let inner = &object["spec"]["jobTemplate"]["metadata"];
            let metadata = if inner.is_object() { inner } else { &object["metadata"] };
            Some(stated(metadata).unwrap_or(1))
        }
        Gang::SchedulingPolicy => {
            let spec = &object["spec"];
            let stated = spec["runPolicy"]["schedulingPolicy"]["minAvailable"].as_u64();
            stated.or(spec["elasticPolicy"]["minReplicas"].as_u64())
        }
        Gang::RayReplicas => ray_minimum(object),
        Gang::ReplicatedJob => replicated_minimum(object, &document.object),
        // One group of several.
        Gang::Whole => Some(object["spec"]["leaderWorkerTemplate"]["size"].as_u64().unwrap_or(1)),
    };
    let least = least.map_or(pods.len(), |least| usize::try_from(least).unwrap_or(usize::MAX));
    let together = least.min(pods.len());
    (pods, together)
}

/// The size of a gang that metadata states.
fn stated(metadata: &Value) -> Option<u64> {
    text(&metadata["annotations"][names::MIN_MEMBER]).parse().ok()
}

/// The fewest pods of as many replicated jobs as start together, as the podgrouper counts them. What was submitted is the
/// set itself, or a `TrainJob`, whose annotations count where the set has none.
///
/// # Source
/// docs/grouping.md 7.10.
fn replicated_minimum(object: &Value, submitted: &Value) -> Option<u64> {
    let inner = &object["spec"]["template"];
    let set = if inner["spec"]["replicatedJobs"].is_array() { inner } else { object };
    let jobs: Vec<&Value> = set["spec"]["replicatedJobs"]
        .as_array()?
        .iter()
        .filter(|job| job["replicas"].as_u64() != Some(0))
        .collect();
    let mut each: Vec<u64> = jobs.iter().map(|job| replicas_minimum(job)).collect();
    each.sort_unstable();
    let is_in_order = set["spec"]["startupPolicy"]["startupPolicyOrder"] == "InOrder";
    let is_here = |on: &Value| jobs.iter().any(|job| job["name"] == on["name"]);
    let waits =
        |job: &&&Value| job["dependsOn"].as_array().is_some_and(|on| on.iter().any(is_here));
    let waiting = jobs.iter().filter(waits).count();
    let stated = stated(&set["metadata"]).or_else(|| stated(&submitted["metadata"]));
    let at_once = match stated {
        Some(stated) => usize::try_from(stated).unwrap_or(usize::MAX),
        None if is_in_order => 1,
        None => jobs.len().saturating_sub(waiting).max(1),
    };
    Some(each.into_iter().take(at_once).fold(0, u64::saturating_add))
}

/// The fewest pods of all replicas of a replicated job.
fn replicas_minimum(job: &Value) -> u64 {
    let template = &job["template"];
    let spec = &template["spec"];
    let all = spec["parallelism"].as_u64().unwrap_or(1);
    let all = all.min(spec["completions"].as_u64().unwrap_or(u64::MAX));
    let least = stated(&template["metadata"]).unwrap_or(all).min(all);
    least.saturating_mul(job["replicas"].as_u64().unwrap_or(1))
}

/// The head and the fewest workers of each group.
///
/// # Source
/// docs/grouping.md 7.7.
fn ray_minimum(object: &Value) -> Option<u64> {
    let spec = &object["spec"];
    let cluster = [&spec["rayClusterSpec"], &spec["rayClusterConfig"], spec];
    let groups = cluster.iter().find_map(|spec| spec["workerGroupSpecs"].as_array())?;
    let fewest = |group: &Value| {
        let number = |key: &str| group[key].as_u64();
        if group["suspend"] == true {
            return 0;
        }
        let least = number("minReplicas").filter(|least| *least > 0);
        let replicas = number("replicas").unwrap_or(0);
        let replicas = replicas.min(number("maxReplicas").unwrap_or(u64::MAX));
        least.unwrap_or(replicas).saturating_mul(number("numOfHosts").unwrap_or(1))
    };
    Some(groups.iter().map(fewest).fold(1, u64::saturating_add))
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
        let (pods, together) = pods(document);
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
    let (pods, together) = pods(document);
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
        check_made_of(object, None, expect, yaml);
    }

    /// Says the same of an object whose templates are in another one.
    fn check_made_of(object: Value, made_of: Option<Value>, expect: [usize; 2], yaml: &str) {
        let document = Document { made_of, ..Document::new(object, "test") };
        let (pods, together) = pods(&document);
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
        check(&ray.replace("minReplicas: 2", "minReplicas: 0, maxReplicas: 4"), [6, 5]);
        check(&ray.replace("minReplicas: 2", "minReplicas: 2, suspend: true"), [6, 1]);
    }

    #[test]
    fn an_elastic_gang_starts_with_its_fewest_workers() {
        let elastic = |policy: &str| {
            format!(
                "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec: {{{policy}, pytorchReplicaSpecs: {{Worker: {{replicas: 8, template: {{spec: {{containers: [{{name: a}}]}}}}}}}}}}"
            )
        };
        check(&elastic("elasticPolicy: {minReplicas: 2}"), [8, 2]);
        check(
            &elastic(
                "elasticPolicy: {minReplicas: 2}, runPolicy: {schedulingPolicy: {minAvailable: 4}}",
            ),
            [8, 4],
        );
        check(&elastic("elasticPolicy: {maxReplicas: 8}"), [8, 8]);
    }

    #[test]
    fn jobs_that_start_after_others_are_no_part_of_the_start() {
        let job = |name: &str, pods: u32, more: &str| {
            format!(
                "{{name: {name}, {more} template: {{spec: {{parallelism: {pods}, template: {{spec: {{containers: [{{name: a}}]}}}}}}}}}}"
            )
        };
        let set = |head: &str, jobs: &[String]| {
            format!(
                "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n{head}\n  replicatedJobs: [{}]",
                jobs.join(", ")
            )
        };
        let plain = [job("a", 4, ""), job("b", 2, "")];
        let ordered = [job("a", 4, ""), job("b", 2, "dependsOn: [{name: a, status: Complete}],")];
        let beside = [job("a", 4, ""), job("b", 2, "dependsOn: [{name: c, status: Complete}],")];
        let asked = "metadata: {annotations: {kai.scheduler/batch-min-member: '1'}}\nspec:";
        let in_order = "spec:\n  startupPolicy: {startupPolicyOrder: InOrder}";
        check(&set("spec:", &plain), [6, 6]);
        check(&set(in_order, &plain), [6, 2]);
        check(&set("spec:", &ordered), [6, 2]);
        check(&set("spec:", &beside), [6, 6]);
        check(&set(asked, &plain), [6, 2]);
        check(&set("spec:", &[job("a", 4, ""), job("b", 2, "replicas: 0,")]), [4, 4]);
    }

    #[test]
    fn a_train_job_says_how_many_of_its_jobs_start_together() {
        let runtime = "apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
spec: {template: {spec: {replicatedJobs: [
  {name: init, template: {spec: {template: {spec: {containers: [{name: a}]}}}}},
  {name: node, template: {spec: {parallelism: 3, template: {spec: {containers: [{name: a}]}}}}}]}}}";
        let job = |annotations: &str| {
            format!(
                "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {{annotations: {{{annotations}}}}}"
            )
        };
        let read = |yaml: &str| serde_saphyr::from_str::<Value>(yaml).expect("written above");
        for (annotations, together) in [("", 4), ("kai.scheduler/batch-min-member: '1'", 1)] {
            let yaml = job(annotations);
            check_made_of(read(&yaml), Some(read(runtime)), [4, together], &yaml);
        }
    }
}
