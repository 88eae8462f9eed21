//! `RayCluster`, `RayJob`, `RayService` (`docs/grouping.md` 7.7): a head and worker groups.

use std::collections::BTreeSet;

use serde_json::Value;

use super::templates::{Part, foreign, foreign_text};
use crate::desired::{Desired, Subgroup, Topology};
use crate::facts::{Answer, Read, Stop};
use crate::group::{Case, base};
use crate::object::{self, Object};
use kai_api::names;

const HEAD: &str = "headgroup";
const CATCH_ALL: &str = names::value::DEFAULT_SUBGROUP;
const GROUP_LABEL: &str = "ray.io/group";
const NODE_TYPE_LABEL: &str = "ray.io/node-type";
const PRIORITY_LABEL: &str = "ray.io/priority-class-name";
/// No label of a pod has a longer value.
const NAME_CHARS_MAX: usize = 63;

/// A `RayCluster`.
pub(crate) fn ray_cluster(case: &Case<'_>) -> Result<Desired, Stop> {
    ray(case, case.top)
}

/// A `RayJob`: the cluster that its status names.
pub(crate) fn ray_job(case: &Case<'_>) -> Result<Desired, Stop> {
    by_status(case, &["status.rayClusterName"])
}

/// A `RayService`: the active cluster, else the pending one.
pub(crate) fn ray_service(case: &Case<'_>) -> Result<Desired, Stop> {
    const ACTIVE: &str = "status.activeServiceStatus.rayClusterName";
    const PENDING: &str = "status.pendingServiceStatus.rayClusterName";
    by_status(case, &[ACTIVE, PENDING])
}

fn by_status(case: &Case<'_>, paths: &[&str]) -> Result<Desired, Stop> {
    let mut name = None;
    for path in paths {
        // Operators write an empty name where there is none.
        name = name.or(object::text(case.top.value(), path)?.filter(|name| !name.is_empty()));
    }
    let Some(name) = name else {
        return Err(Stop::Early(format!("{} is not set yet", paths.join(" or "))));
    };
    let version = case.top.gvk().api_version();
    let read = Read::get(&version, "RayCluster", case.top.namespace(), name);
    match case.facts.object(read)? {
        Some(cluster) => ray(case, cluster),
        None => Err(Stop::Early(format!("RayCluster {name} does not exist yet"))),
    }
}

/// A worker group as the rule sees it.
struct Group {
    /// `groupName`, the value of the pods' group label.
    label: String,
    /// Name of the subgroup.
    subgroup: String,
    members: i64,
    topology: Option<Topology>,
}

fn ray(case: &Case<'_>, cluster: &Object) -> Result<Desired, Stop> {
    let mut desired = base(case, &[])?;
    if let Some(class) = case.top.label(PRIORITY_LABEL) {
        class.clone_into(&mut desired.priority_class);
    }
    let foreign =
        if case.settings.is_kai_v017() { Vec::new() } else { foreign_parts(case, cluster) };
    let groups = groups(case, cluster, &foreign)?;
    let has_head = !foreign.iter().any(|name| name == HEAD);
    let existing = case.facts.ask(Read::pod_group(&desired.namespace, &desired.name))?;
    // Three products of two counts may be more than a number holds.
    desired.min_member =
        groups.iter().fold(i64::from(has_head), |sum, group| sum.saturating_add(group.members));
    desired.foreign = foreign_text(
        &foreign.iter().map(String::as_str).collect::<Vec<_>>(),
        &case.settings.scheduler,
    );
    let stored = match existing {
        Answer::Found(stored) => object::list(stored.value(), "spec.subGroups")?,
        Answer::Absent | Answer::Unserved | Answer::List(_) | Answer::Failed(_) => &[],
    };
    if matches!(existing, Answer::Found(_)) && stored.is_empty() {
        return Ok(desired);
    }
    if has_head {
        let head = &cluster.value()["spec"]["headGroupSpec"]["template"];
        desired.subgroups.push(Subgroup::leaf(HEAD, 1).with_topology(topology(head, HEAD)?));
    }
    for group in &groups {
        desired.subgroups.push(
            Subgroup::leaf(&group.subgroup, group.members).with_topology(group.topology.clone()),
        );
    }
    route(case, &mut desired, &groups, stored);
    Ok(desired)
}

/// Puts the pod into its group. A pod that belongs to none goes to a leaf that needs no pod: the
/// scheduler never looks at a pod without subgroup in a `PodGroup` that has some.
fn route(case: &Case<'_>, desired: &mut Desired, groups: &[Group], stored: &[Value]) {
    let label = case.pod.label(GROUP_LABEL);
    let is_worker = case.pod.label(NODE_TYPE_LABEL) == Some("worker");
    let group = groups.iter().find(|group| Some(group.label.as_str()) == label);
    let subgroup = match (label, group) {
        (Some(HEAD), Some(group)) if is_worker && !case.settings.is_kai_v017() => {
            Some(group.subgroup.as_str())
        }
        (Some(HEAD), _) => Some(HEAD),
        (_, Some(group)) => Some(group.subgroup.as_str()),
        (_, None) => None,
    };
    let is_routed = subgroup.is_some_and(|name| desired.route(&case.pod.name, name));
    if case.settings.is_kai_v017() {
        if !is_routed {
            desired.notes.push(format!("no subgroup for label {GROUP_LABEL} {label:?}"));
        }
        return;
    }
    let has_catch_all = stored.iter().any(|row| row["name"] == CATCH_ALL);
    if !is_routed || has_catch_all || submits_to_us(case) {
        desired.subgroups.push(Subgroup::leaf(CATCH_ALL, 0));
    }
    if !is_routed {
        desired.route(&case.pod.name, CATCH_ALL);
    }
}

/// Tells whether the job's submitter, a pod without group label, says that it runs under our scheduler.
fn submits_to_us(case: &Case<'_>) -> bool {
    let template = &case.top.value()["spec"]["submitterPodTemplate"];
    template["spec"]["schedulerName"] == case.settings.scheduler.as_str()
}

fn foreign_parts(case: &Case<'_>, cluster: &Object) -> Vec<String> {
    let spec = &cluster.value()["spec"];
    let workers = spec["workerGroupSpecs"].as_array().map_or(&[][..], Vec::as_slice);
    let names: Vec<String> =
        (0..).zip(workers).map(|(index, group)| group_name(group, index)).collect();
    let head = Part { name: HEAD, template: &spec["headGroupSpec"]["template"] };
    let groups = names.iter().zip(workers);
    let groups = groups.map(|(name, group)| Part { name, template: &group["template"] });
    let parts: Vec<Part<'_>> = [head].into_iter().chain(groups).collect();
    let names = foreign(&parts, &case.settings.scheduler);
    names.into_iter().map(str::to_owned).collect()
}

fn group_name(group: &Value, index: usize) -> String {
    match group["groupName"].as_str() {
        None | Some("") => format!("worker-group-{index}"),
        Some(name) => name.to_owned(),
    }
}

fn groups(case: &Case<'_>, cluster: &Object, foreign: &[String]) -> Result<Vec<Group>, Stop> {
    let mut groups: Vec<Group> = Vec::new();
    let foreign: BTreeSet<&str> = foreign.iter().map(String::as_str).collect();
    let mut taken = BTreeSet::from([HEAD, CATCH_ALL].map(str::to_owned));
    let specs = object::list(cluster.value(), "spec.workerGroupSpecs")?;
    for (index, spec) in specs.iter().enumerate() {
        let place = format!("spec.workerGroupSpecs[{index}]");
        let name = group_name(spec, index);
        if foreign.contains(name.as_str()) {
            continue;
        }
        let members = if case.settings.is_kai_v017() {
            match kai_v017_members(spec, &place)? {
                None => continue,
                Some(members) => members,
            }
        } else {
            members(spec, &place)?
        };
        let subgroup = if case.settings.is_kai_v017() {
            name.clone()
        } else {
            legal(&name, index, |name| taken.contains(name))
        };
        taken.insert(subgroup.clone());
        let topology = topology(&spec["template"], &name)?;
        groups.push(Group { label: name, subgroup, members, topology });
    }
    Ok(groups)
}

struct Counts {
    replicas: Option<i64>,
    min: i64,
    hosts: i64,
}

fn counts(spec: &Value, place: &str) -> Result<Counts, Stop> {
    let int =
        |key: &str| object::int(spec, key).map_err(|error| Stop::bad(format!("{place}: {error}")));
    Ok(Counts {
        replicas: int("replicas")?,
        min: int("minReplicas")?.unwrap_or(0),
        hosts: int("numOfHosts")?.unwrap_or(1),
    })
}

fn kai_v017_members(spec: &Value, place: &str) -> Result<Option<i64>, Stop> {
    let counts = counts(spec, place)?;
    if object::boolean(spec, "suspended")? == Some(true) {
        return Ok(None);
    }
    let replicas = counts.replicas.unwrap_or(0);
    if counts.min > replicas {
        return Err(Stop::bad(format!(
            "{place}.minReplicas is {}, more than replicas, which is {replicas}",
            counts.min
        )));
    }
    let wanted = if counts.min > 0 { counts.min } else { replicas };
    Ok((wanted > 0).then_some(wanted * counts.hosts))
}

/// Pods that the group needs: `KubeRay` keeps the replicas between its bounds, so do we.
fn members(spec: &Value, place: &str) -> Result<i64, Stop> {
    let counts = counts(spec, place)?;
    let max = object::int(spec, "maxReplicas")?.unwrap_or(i64::from(i32::MAX));
    if object::boolean(spec, "suspend")? == Some(true) {
        return Ok(0);
    }
    if counts.min > max {
        return Err(Stop::bad(format!(
            "{place}.minReplicas is {}, more than maxReplicas, which is {max}",
            counts.min
        )));
    }
    let replicas = counts.replicas.unwrap_or(counts.min).clamp(counts.min, max);
    let wanted = if counts.min > 0 { counts.min } else { replicas };
    Ok(wanted.max(0) * counts.hosts.max(1))
}

/// A name that the API accepts as that of a subgroup and as a label of pods, unlike any other of the cluster.
fn legal(name: &str, index: usize, is_taken: impl Fn(&str) -> bool) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(safe).collect();
    let name = name.trim_matches('-');
    let name = if name.is_empty() { "worker-group" } else { name };
    let mut ending = String::new();
    let mut count = 1_usize;
    loop {
        let room = NAME_CHARS_MAX.saturating_sub(ending.len());
        let head: String = name.chars().take(room).collect();
        let name = format!("{}{ending}", head.trim_end_matches('-'));
        if !is_taken(&name) {
            return name;
        }
        // Another group may be called as this one would be with the first ending.
        ending = if count == 1 { format!("-{index}") } else { format!("-{index}-{count}") };
        count += 1;
    }
}

/// The constraint that a template's annotations name; a level without a topology is an error.
fn topology(template: &Value, group: &str) -> Result<Option<Topology>, Stop> {
    let text = |key: &str| object::annotation(template, key).unwrap_or_default().to_owned();
    let topology = Topology {
        name: text(names::annotation::TOPOLOGY),
        required: text(names::annotation::TOPOLOGY_REQUIRED),
        preferred: text(names::annotation::TOPOLOGY_PREFERRED),
    };
    if topology.required.is_empty() && topology.preferred.is_empty() {
        return Ok(None);
    }
    if topology.name.is_empty() {
        return Err(Stop::bad(format!(
            "group {group} names a topology level but no topology; set annotation {}",
            names::annotation::TOPOLOGY
        )));
    }
    Ok(Some(topology))
}
