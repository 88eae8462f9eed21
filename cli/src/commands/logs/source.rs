//! Says whose log is meant: the pods of a workload, by rank.

use serde_json::Value;

use crate::cluster::json::text;
use crate::cluster::{Call, Cluster, Select, names};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;
use crate::workload::Workload;

/// One container's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) namespace: String,
    pub(crate) pod: String,
    pub(crate) uid: String,
    /// The container that works.
    pub(crate) container: String,
    /// All containers of the pod.
    containers: Vec<String>,
    /// Holds what the user calls it: `worker-0`.
    pub(crate) rank: String,
    /// Its number among those that work, the master first; none for one that only steers the others.
    number: Option<usize>,
    pub(crate) has_started: bool,
    /// Tells whether one could go in: it has begun and not ended.
    pub(crate) runs: bool,
}

/// The pods whose logs are meant: for launched work the launcher's, else all.
pub(crate) async fn all(workload: &Workload, cluster: &Cluster) -> Result<Vec<Source>, Error> {
    let mut pods = workload.pods.clone();
    if workload.resource.kind == "RayJob" {
        // Its output is that of the submitter, which KAI does not schedule.
        let resource = names::pods();
        let call = Call::new("list", &resource).namespace(Some(&workload.namespace));
        let labels = format!("job-name={}", workload.name);
        let found = cluster.list(&call, &Select { labels: &labels, fields: "" }).await;
        let submitters =
            found.map_err(|failure| cluster.explain(&call, &failure))?.unwrap_or_default();
        if submitters.iter().any(has_started) {
            pods = submitters;
        } else {
            let is_head =
                |pod: &Value| text(&pod["metadata"]["labels"]["ray.io/node-type"]) == "head";
            if pods.iter().any(is_head) {
                pods.retain(is_head);
            }
        }
    }
    Ok(numbered(pods.iter().map(|pod| source(pod, &workload.name)).collect()))
}

/// Says what the user calls a pod.
pub(super) fn rank_of<'s>(sources: &'s [Source], pod: &'s str) -> &'s str {
    sources.iter().find(|source| source.pod == pod).map_or(pod, |source| &source.rank)
}

/// The ranks of a workload, a line each with the pod's node, for completion.
pub(crate) fn rank_lines(workload: &Workload) -> Vec<String> {
    let node = |source: &Source| {
        let pod = workload.pods.iter().find(|pod| text(&pod["metadata"]["name"]) == source.pod);
        pod.map_or("", |pod| text(&pod["spec"]["nodeName"])).to_owned()
    };
    let sources = numbered(workload.pods.iter().map(|pod| source(pod, &workload.name)).collect());
    let line = |one: &Source| format!("{}\t{}", clean(&one.rank), clean(&node(one)));
    sources.iter().map(line).collect()
}

/// Roles that come before the others in the count of ranks, and those that are not counted.
const FIRST: [&str; 2] = ["master", "chief"];
const STEERING: [&str; 3] = ["launcher", "ps", "evaluator"];

/// The sources in the order of their ranks, with a number each: an indexed Job's pods have their own.
fn numbered(mut sources: Vec<Source>) -> Vec<Source> {
    sources.sort_by_cached_key(|source| {
        let (role, index) = parts(&source.rank);
        let is_later = !FIRST.contains(&role);
        (STEERING.contains(&role), is_later, role.to_owned(), index, source.pod.clone())
    });
    let mut next = 0;
    for source in &mut sources {
        let (role, index) = parts(&source.rank);
        source.number = match (role, index) {
            ("", Some(index)) => Some(index),
            (role, _) if STEERING.contains(&role) => None,
            (_, _) => {
                next += 1;
                Some(next - 1)
            }
        };
    }
    sources
}

/// The role and the index of a rank: `worker-10` is (`worker`, 10), and `3` is the index alone.
fn parts(rank: &str) -> (&str, Option<usize>) {
    let stem = rank.trim_end_matches(|c: char| c.is_ascii_digit());
    match rank[stem.len()..].parse() {
        Ok(index) if stem.is_empty() || stem.ends_with('-') => {
            (stem.trim_end_matches('-'), Some(index))
        }
        Ok(_) | Err(_) => (rank, None),
    }
}

fn has_started(pod: &Value) -> bool {
    let statuses = pod["status"]["containerStatuses"].as_array();
    matches!(text(&pod["status"]["phase"]), "Running" | "Succeeded" | "Failed")
        || statuses.is_some_and(|all| all.iter().any(|c| c["state"]["running"].is_object()))
}

fn source(pod: &Value, workload: &str) -> Source {
    let meta = &pod["metadata"];
    let name = text(&meta["name"]);
    let label = |key: &str| text(&meta["labels"][key]);
    let replica =
        (label("training.kubeflow.org/replica-type"), label("training.kubeflow.org/replica-index"));
    let index = label("batch.kubernetes.io/job-completion-index");
    let rank = if !replica.0.is_empty() && !replica.1.is_empty() {
        format!("{}-{}", replica.0, replica.1)
    } else if !index.is_empty() {
        index.to_owned()
    } else {
        let rest = name.strip_prefix(workload).unwrap_or(name).trim_start_matches('-');
        if rest.is_empty() { name.to_owned() } else { rest.to_owned() }
    };
    let default = text(&meta["annotations"]["kubectl.kubernetes.io/default-container"]);
    let lists = [&pod["spec"]["containers"], &pod["spec"]["initContainers"]];
    let containers = lists.iter().filter_map(|list| list.as_array()).flatten();
    let containers: Vec<String> =
        containers.map(|container| text(&container["name"]).to_owned()).collect();
    let first = containers.first().map_or("", String::as_str);
    Source {
        namespace: text(&meta["namespace"]).into(),
        pod: name.into(),
        uid: text(&meta["uid"]).into(),
        container: if default.is_empty() { first } else { default }.into(),
        containers,
        has_started: has_started(pod),
        runs: pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null(),
        rank,
        number: None,
    }
}

/// The sources that `--rank` names: ranks, their numbers, roles, or names of pods. Without any all, and where the
/// workload was named by one of its pods that one.
///
/// # Errors
/// There is none of a name, or no container of that name; while pods may still come only the latter.
pub(crate) fn chosen(
    ranks: &[String],
    container: Option<&str>,
    sources: Vec<Source>,
    may_grow: bool,
) -> Result<Vec<Source>, Error> {
    let missing = ranks.iter().find(|wanted| !sources.iter().any(|source| is(source, wanted)));
    if let Some(missing) = missing.filter(|_| !may_grow) {
        let there: Vec<&str> = sources.iter().map(|source| source.rank.as_str()).collect();
        let what = format!("there is no rank \"{missing}\"");
        return Err(Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what)
            .fix(format!("one of {}", clean(&there.join(", "))))
            .into());
    }
    let mut chosen = sources;
    chosen.retain(|source| ranks.is_empty() || ranks.iter().any(|wanted| is(source, wanted)));
    if let Some(container) = container
        && let Some(first) = chosen.first()
        && !chosen.iter().any(|source| source.containers.iter().any(|name| name == container))
    {
        let what = format!("{} has no container \"{container}\"", clean(&first.pod));
        return Err(Problem::new(number::WORKLOAD_NOT_FOUND, Exit::NotFound, what)
            .fix(format!("one of {}", clean(&first.containers.join(", "))))
            .into());
    }
    Ok(chosen)
}

fn is(source: &Source, wanted: &str) -> bool {
    source.rank == wanted
        || source.pod == wanted
        || parts(&source.rank).0 == wanted
        || wanted.parse().is_ok_and(|number: usize| source.number == Some(number))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The pods that are chosen of those with these names; `KIND/INDEX` is a replica of a training job.
    fn check(pods: &[&str], ranks: &str, expect: Result<&[&str], &str>) {
        let pod = |name: &&str| match name.split_once('/') {
            Some((role, index)) => {
                json!({"metadata": {"name": format!("t-{role}-{index}"), "labels": {
                "training.kubeflow.org/replica-type": role, "training.kubeflow.org/replica-index": index}}})
            }
            None => json!({"metadata": {"name": name}}),
        };
        let sources = numbered(pods.iter().map(|name| source(&pod(name), "t")).collect());
        let ranks: Vec<String> = ranks.split(',').map(str::to_owned).collect();
        match (chosen(&ranks, None, sources, false), expect) {
            (Ok(chosen), Ok(expect)) => {
                let chosen: Vec<&str> = chosen.iter().map(|source| source.pod.as_str()).collect();
                assert_eq!(chosen, expect, "{ranks:?}");
            }
            (Err(error), Err(expect)) => assert!(error.to_string().contains(expect), "{error}"),
            (Ok(chosen), Err(_)) => panic!("{ranks:?} chose {chosen:?}"),
            (Err(error), Ok(_)) => panic!("{error}"),
        }
    }

    #[test]
    fn ranks_are_numbers_names_roles_and_pods() {
        let torch = ["worker/10", "worker/2", "master/0", "worker/0"];
        check(&torch, "0,1", Ok(&["t-master-0", "t-worker-0"]));
        check(&torch, "3", Ok(&["t-worker-10"]));
        check(&torch, "worker", Ok(&["t-worker-0", "t-worker-2", "t-worker-10"]));
        check(&torch, "worker-2,t-master-0", Ok(&["t-master-0", "t-worker-2"]));
        check(&torch, "7", Err("there is no rank \"7\""));
        let mpi = ["launcher/0", "worker/0", "worker/1"];
        check(&mpi, "1", Ok(&["t-worker-1"]));
        check(&mpi, "launcher", Ok(&["t-launcher-0"]));
        check(&["t-9", "t-4x"], "9", Ok(&["t-9"]));
    }

    #[test]
    fn who_serves_or_evaluates_has_no_number() {
        let tensorflow = ["ps/0", "worker/1", "chief/0", "worker/0", "evaluator/0"];
        check(&tensorflow, "0,1,2", Ok(&["t-chief-0", "t-worker-0", "t-worker-1"]));
        check(&tensorflow, "3", Err("there is no rank \"3\""));
        check(&tensorflow, "ps,evaluator", Ok(&["t-evaluator-0", "t-ps-0"]));
    }
}
