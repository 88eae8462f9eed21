//! `JobSet`: a parent subgroup per replicated job, a leaf per replica (`docs/grouping.md` 7.10).

use std::collections::BTreeSet;

use crate::object::POD_GROUP_API_VERSION;
use serde_json::Value;

use super::segments;
use super::templates::{Part, foreign, foreign_text};
use crate::desired::{Desired, Subgroup};
use crate::facts::{Read, Stop};
use crate::group::{Case, base};
use crate::object;
use crate::sought::Sought;
use kai_api::names;

const JOB_LABEL: &str = "jobset.sigs.k8s.io/replicatedjob-name";
const INDEX_LABEL: &str = "jobset.sigs.k8s.io/job-index";

/// A replicated job.
struct Job<'a> {
    name: &'a str,
    replicas: i64,
    members: i64,
    spec: &'a Value,
}

/// A `JobSet`.
pub(crate) fn job_set(case: &Case<'_>) -> Result<Desired, Stop> {
    let set = case.top.value();
    if case.top.name().is_empty() || case.top.uid().is_empty() {
        return Err(Stop::bad("the JobSet has no name or no uid"));
    }
    let jobs = jobs(case)?;
    let mut desired = base(case, &[])?;
    let order = object::text(set, "spec.startupPolicy.startupPolicyOrder")?;
    let is_in_order = order == Some("InOrder");
    let annotation =
        positive(case.top.annotation(names::annotation::BATCH_MIN_MEMBER), "the JobSet")?;
    if is_flat(case, &desired.name)? {
        desired.min_member = annotation.unwrap_or(1);
        if is_in_order && let Some(job) = case.pod.label(JOB_LABEL) {
            desired.name = format!("{}-{job}", desired.name);
        }
        return Ok(desired);
    }
    let jobs = ours(case, jobs, &mut desired);
    let count = i64::try_from(jobs.len()).unwrap_or(i64::MAX);
    desired.min_subgroups = Some(match annotation {
        Some(min) => min.min(count),
        None if is_in_order => 1.min(count),
        None => startable(case, &jobs).unwrap_or(count),
    });
    let mut taken = BTreeSet::new();
    for job in &jobs {
        add_job(case, &mut desired, job, &mut taken)?;
    }
    route(case, &mut desired)?;
    Ok(desired)
}

fn jobs<'a>(case: &Case<'a>) -> Result<Vec<Job<'a>>, Stop> {
    let specs = object::list(case.top.value(), "spec.replicatedJobs")?;
    if specs.is_empty() {
        return Err(Stop::bad("the JobSet has no replicatedJobs"));
    }
    let mut jobs = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let place = format!("spec.replicatedJobs[{index}]");
        let name = object::text(spec, "name")?
            .filter(|name| !name.is_empty())
            .ok_or_else(|| Stop::bad(format!("{place} has no name")))?;
        let int = |path: &str| {
            object::int(spec, path).map_err(|error| Stop::bad(format!("{place}: {error}")))
        };
        let template = object::annotation(&spec["template"], names::annotation::BATCH_MIN_MEMBER);
        let members = match positive(template, &format!("replicated job {name}"))? {
            Some(members) => members,
            None => int("template.spec.parallelism")?.unwrap_or(1),
        };
        let replicas = int("replicas")?.unwrap_or(1);
        jobs.push(Job { name, replicas, members, spec });
    }
    segments::check_count(jobs.iter().map(|job: &Job<'_>| job.replicas.max(0)).sum())?;
    Ok(jobs)
}

/// The jobs that make pods for our scheduler; KAI takes all of them.
fn ours<'a>(case: &Case<'_>, jobs: Vec<Job<'a>>, desired: &mut Desired) -> Vec<Job<'a>> {
    if case.settings.is_kai_v017() {
        return jobs;
    }
    let part = |job: &Job<'a>| Part {
        name: job.name,
        template: &job.spec["template"]["spec"]["template"],
    };
    let parts: Vec<Part<'a>> = jobs.iter().map(part).collect();
    let names = foreign(&parts, &case.settings.scheduler);
    desired.foreign = foreign_text(&names, &case.settings.scheduler);
    let names: BTreeSet<&str> = names.into_iter().collect();
    jobs.into_iter().filter(|job| job.replicas > 0 && !names.contains(job.name)).collect()
}

/// Counts the jobs that start at once when some of them wait for others (`dependsOn`). A job that waits for what another
/// scheduler places, or for a job without replicas, waits for none of these.
fn startable(case: &Case<'_>, jobs: &[Job<'_>]) -> Option<i64> {
    let names: BTreeSet<&str> = jobs.iter().map(|job| job.name).collect();
    let waits = |job: &&Job<'_>| {
        let on = job.spec["dependsOn"].as_array().into_iter().flatten();
        on.filter_map(|on| on["name"].as_str()).any(|name| names.contains(name))
    };
    let waiting = jobs.iter().filter(waits).count();
    if case.settings.is_kai_v017() || waiting == 0 {
        return None;
    }
    // Where they wait for each other, which JobSet refuses, none would start.
    i64::try_from((jobs.len() - waiting).max(1)).ok()
}

/// Adds the sub-groups of a job; `taken` are the names of those that are there.
fn add_job(
    case: &Case<'_>,
    desired: &mut Desired,
    job: &Job<'_>,
    taken: &mut BTreeSet<String>,
) -> Result<(), Stop> {
    let find = |key: &str| object::annotation(&job.spec["template"], key);
    let topology = segments::constraint(
        find(names::annotation::TOPOLOGY),
        find(names::annotation::TOPOLOGY_REQUIRED),
        find(names::annotation::TOPOLOGY_PREFERRED),
    );
    if taken.contains(job.name) && !case.settings.is_kai_v017() {
        return Err(Stop::bad(format!(
            "replicated job {:?} has the name of another job's replica; rename it",
            job.name
        )));
    }
    taken.insert(job.name.to_owned());
    desired.subgroups.push(Subgroup::parent(job.name, job.replicas));
    for index in 0..job.replicas {
        let name = format!("{}-replica-{index}", job.name);
        taken.insert(name.clone());
        desired.subgroups.push(
            Subgroup::leaf(name, job.members).below(job.name).with_topology(topology.clone()),
        );
    }
    Ok(())
}

fn route(case: &Case<'_>, desired: &mut Desired) -> Result<(), Stop> {
    let label = |key: &str| {
        let text = case.pod.label(key).filter(|text| !text.is_empty());
        text.ok_or_else(|| Stop::bad(format!("pod has no label {key}, which names its job")))
    };
    let leaf = format!("{}-replica-{}", label(JOB_LABEL)?, label(INDEX_LABEL)?);
    if desired.route(&case.pod.name, &leaf) {
        return Ok(());
    }
    Err(Stop::bad(format!("the JobSet has no {leaf}")))
}

/// Tells whether the namespace holds a `PodGroup` of this `JobSet` in the older, flat shape.
fn is_flat(case: &Case<'_>, name: &str) -> Result<bool, Stop> {
    let read = Read::List {
        api_version: POD_GROUP_API_VERSION.to_owned(),
        kind: "PodGroup".to_owned(),
        namespace: case.pod.namespace.to_string(),
        prefix: name.to_owned(),
        labels: Vec::new(),
        sought: Sought::All,
    };
    let prefix = format!("{name}-");
    for group in case.facts.list(read)? {
        let is_ours = group.name() == name || group.name().starts_with(&prefix);
        if is_ours && object::list(group.value(), "spec.subGroups")?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A `kai.scheduler/batch-min-member` of 1 or more.
fn positive(text: Option<&str>, place: &str) -> Result<Option<i64>, Stop> {
    let Some(text) = text else { return Ok(None) };
    match text.parse::<i32>() {
        Ok(min) if min >= 1 => Ok(Some(i64::from(min))),
        Ok(_) | Err(_) => Err(Stop::bad(format!(
            "annotation {} of {place} is {text:?}, want a whole number of 1 or more",
            names::annotation::BATCH_MIN_MEMBER
        ))),
    }
}
