//! `LeaderWorkerSet`: one `PodGroup` per group of pods (`docs/grouping.md` 7.11).

use serde_json::Value;

use super::segments;
use super::templates::{Part, foreign, foreign_text};
use crate::desired::{Desired, Min, Subgroup, Topology};
use crate::facts::{Read, Stop};
use crate::group::{Case, base};
use crate::object;
use crate::sought::Sought;
use kai_api::names;

const GROUP_LABEL: &str = "leaderworkerset.sigs.k8s.io/group-index";
/// The group that a pod is of, among all of its namespace.
pub(crate) const KEY_LABEL: &str = "leaderworkerset.sigs.k8s.io/group-key";
/// The number of a pod in its group; the leader has 0.
pub(crate) const WORKER_LABEL: &str = "leaderworkerset.sigs.k8s.io/worker-index";
const SIZE_ANNOTATION: &str = "leaderworkerset.sigs.k8s.io/size";
const TEMPLATE: &str = "spec.leaderWorkerTemplate";

/// A `LeaderWorkerSet`.
pub(crate) fn leader_worker_set(case: &Case<'_>) -> Result<Desired, Stop> {
    let mut desired = base(case, &[])?;
    let group = case.pod.label(GROUP_LABEL).and_then(|text| text.parse::<i32>().ok());
    if let Some(group) = group {
        desired.name = format!("{}-group-{group}", desired.name);
    }
    let size = object::int(case.top.value(), &format!("{TEMPLATE}.size"))?
        .ok_or_else(|| Stop::bad(format!("{TEMPLATE}.size is not set")))?;
    if size <= 0 {
        return Err(Stop::bad(format!("{TEMPLATE}.size is {size}, want 1 or more")));
    }
    let worker = match case.pod.label(WORKER_LABEL) {
        Some(text) => Some(segments::index(text, WORKER_LABEL)?),
        None => None,
    };
    let members = members(case, size, worker)?;
    desired.min_member = members;
    match segment_size(case)? {
        Some(segment) if members > 1 || case.settings.is_kai_v017() => {
            add_segments(case, &mut desired, Shape { members, segment, worker })?;
        }
        Some(_) | None => add_flat(case, &mut desired, members, worker),
    }
    leave_out_foreign(case, &mut desired);
    Ok(desired)
}

/// Keeps the gang to what our scheduler places, and says what it does not. A leader without a template of its own is made
/// from that of the workers.
fn leave_out_foreign(case: &Case<'_>, desired: &mut Desired) {
    let template = &case.top.value()["spec"]["leaderWorkerTemplate"];
    let workers = &template["workerTemplate"];
    let leader = &template["leaderTemplate"];
    if case.settings.is_kai_v017() || leader.is_null() {
        return;
    }
    let parts =
        [Part { name: "leader", template: leader }, Part { name: "workers", template: workers }];
    let names = foreign(&parts, &case.settings.scheduler);
    if names.is_empty() {
        return;
    }
    let part = |row: &Subgroup| if row.name == "leader" { "leader" } else { "workers" };
    let is_parent = |row: &Subgroup| matches!(row.min, Min::Subgroups(_));
    desired.subgroups.retain(|row| is_parent(row) || !names.contains(&part(row)));
    let leaves = desired.subgroups.iter().filter_map(|row| match row.min {
        Min::Members(members) => Some(members),
        Min::Subgroups(_) => None,
    });
    desired.min_member = leaves.sum();
    let below = desired.subgroups.iter().filter(|row| row.parent.is_some()).count();
    let below = i64::try_from(below).unwrap_or(i64::MAX);
    for row in &mut desired.subgroups {
        if let Min::Subgroups(_) = row.min {
            row.min = Min::Subgroups(below);
        }
    }
    // A segment of workers alone has no leaf where these are another scheduler's.
    desired.subgroups.retain(|row| row.min != Min::Subgroups(0));
    desired.foreign = foreign_text(&names, &case.settings.scheduler);
}

/// Pods that the group needs now: all, or only the leader while its workers are not there.
fn members(case: &Case<'_>, size: i64, worker: Option<i64>) -> Result<i64, Stop> {
    let may_be_alone = worker == Some(0) || is_leaving(case);
    match object::text(case.top.value(), "spec.startupPolicy")? {
        None | Some("" | "LeaderCreated") => Ok(size),
        Some("LeaderReady") if may_be_alone && is_alone(case)? => Ok(1),
        Some("LeaderReady") => {
            let stated = case.pod.annotation(SIZE_ANNOTATION).and_then(|text| text.parse().ok());
            Ok(stated.map_or(size, |stated: i32| i64::from(stated)))
        }
        Some(other) => Err(Stop::bad(format!(
            "spec.startupPolicy is {other:?}, want LeaderCreated or LeaderReady"
        ))),
    }
}

/// Tells whether a pod leaves. A worker that does says of the gang what the leader says, whom nobody asks again once it is gone.
fn is_leaving(case: &Case<'_>) -> bool {
    let has_key = case.pod.label(KEY_LABEL).is_some();
    has_key && case.pod.terminating && !case.settings.is_kai_v017()
}

/// Tells whether a leader has no workers yet. They are made once it is ready, which may be long after it has a node: a group that
/// needs them from then on is stale, and its leader is evicted again and again before it is ready. KAI looks at the node alone.
fn is_alone(case: &Case<'_>) -> Result<bool, Stop> {
    let key = case.pod.label(KEY_LABEL).filter(|_| !case.settings.is_kai_v017());
    let Some(key) = key else { return Ok(case.pod.node.is_empty()) };
    let workers = Sought::StayingBut(WORKER_LABEL.to_owned(), "0".to_owned());
    let read = Read::pods(&case.pod.namespace, &[(KEY_LABEL, key)], workers);
    let pods = case.facts.list(read)?;
    Ok(!pods.iter().any(|pod| !pod.is_terminating() && pod.label(WORKER_LABEL) != Some("0")))
}

fn add_flat(case: &Case<'_>, desired: &mut Desired, members: i64, worker: Option<i64>) {
    desired.subgroups.push(Subgroup::leaf("leader", 1));
    if members > 1 {
        desired.subgroups.push(Subgroup::leaf("workers", members - 1));
    }
    let leaf = if worker == Some(0) { "leader" } else { "workers" };
    desired.route(&case.pod.name, leaf);
}

/// A group cut into segments.
#[derive(Debug, Clone, Copy)]
struct Shape {
    members: i64,
    segment: i64,
    worker: Option<i64>,
}

impl Shape {
    fn is_divisible(self) -> bool {
        (self.members - 1) % self.segment == 0
    }

    /// The segment of a worker; the leader is worker 0.
    fn of(self, worker: i64) -> i64 {
        match worker {
            0 => 0,
            _ if self.is_divisible() => (worker - 1) / self.segment,
            _ => worker / self.segment,
        }
    }

    fn count(self) -> i64 {
        self.of(self.members - 1) + 1
    }

    /// Counts the pods that fall into a segment, the leader among them.
    fn pods_in(self, segment: i64) -> i64 {
        let first =
            if self.is_divisible() { segment * self.segment + 1 } else { segment * self.segment };
        let last = (first + self.segment).min(self.members);
        let leader = i64::from(segment == 0 && self.is_divisible());
        (last - first).max(0) + leader
    }
}

fn segment_size(case: &Case<'_>) -> Result<Option<i64>, Stop> {
    let top = case.top.value();
    if let Some(size) = object::int(top, &format!("{TEMPLATE}.subGroupPolicy.subGroupSize"))? {
        return Ok(Some(size));
    }
    let own = segments::size(
        case.top.annotation(names::annotation::SEGMENT_SIZE),
        "the LeaderWorkerSet",
    )?;
    let template = &top["spec"]["leaderWorkerTemplate"]["workerTemplate"];
    match own {
        Some(size) => Ok(Some(size)),
        None => segments::size(
            object::annotation(template, names::annotation::SEGMENT_SIZE),
            "the worker template",
        ),
    }
}

fn add_segments(case: &Case<'_>, desired: &mut Desired, shape: Shape) -> Result<(), Stop> {
    let least = if case.settings.is_kai_v017() { 2 } else { 1 };
    if shape.segment < least || shape.segment > shape.members {
        return Err(Stop::bad(format!(
            "segment size is {}, want {least} to {}, the size of the group",
            shape.segment, shape.members
        )));
    }
    let path = format!("{TEMPLATE}.subGroupPolicy.subGroupPolicyType");
    let policy = object::text(case.top.value(), &path)?.unwrap_or("LeaderWorker");
    let is_excluded = policy == "LeaderExcluded";
    if is_excluded && !shape.is_divisible() {
        return Err(Stop::bad(format!(
            "LeaderExcluded: {} workers are not divisible by segment size {}",
            shape.members - 1,
            shape.segment
        )));
    }
    segments::check_count(shape.count())?;
    let minima = if case.settings.is_kai_v017() {
        kai_v017_minima(shape, is_excluded)
    } else {
        minima(shape, is_excluded)
    };
    let topology = topology(case);
    if is_excluded {
        desired.subgroups.push(Subgroup::leaf("leader", 1));
    }
    for (index, members) in minima.iter().enumerate() {
        desired.subgroups.push(
            Subgroup::leaf(format!("segment-{index}"), *members).with_topology(topology.clone()),
        );
    }
    if !is_excluded {
        split_first(desired, minima[0]);
    }
    let leaf = match (shape.worker.unwrap_or(0), shape.of(shape.worker.unwrap_or(0))) {
        (0, _) => "leader".to_owned(),
        (_, 0) if !is_excluded => "workers".to_owned(),
        (_, segment) => format!("segment-{segment}"),
    };
    desired.route(&case.pod.name, &leaf);
    Ok(())
}

/// Turns segment 0 into a parent of the leader and its workers.
fn split_first(desired: &mut Desired, members: i64) {
    let first = desired.subgroups.iter_mut().find(|row| row.name == "segment-0");
    let Some(first) = first else { return };
    first.min = Min::Subgroups(if members > 1 { 2 } else { 1 });
    desired.subgroups.push(Subgroup::leaf("leader", 1).below("segment-0"));
    if members > 1 {
        desired.subgroups.push(Subgroup::leaf("workers", members - 1).below("segment-0"));
    }
}

/// Minimum of each segment. All leaves of the group together need every pod of it once.
fn minima(shape: Shape, is_excluded: bool) -> Vec<i64> {
    let leader = |segment: i64| i64::from(is_excluded && segment == 0);
    (0..shape.count()).map(|segment| shape.pods_in(segment) - leader(segment)).collect()
}

/// KAI's minima: wrong by one where the only segment is also the last.
fn kai_v017_minima(shape: Shape, is_excluded: bool) -> Vec<i64> {
    let count = shape.count();
    let mut minima = vec![shape.segment; usize::try_from(count).unwrap_or(0)];
    if let Some(slot) = minima.last_mut() {
        *slot = shape.pods_in(count - 1);
    }
    if !is_excluded && shape.is_divisible() {
        minima[0] += 1;
    }
    minima
}

fn topology(case: &Case<'_>) -> Option<Topology> {
    let template: &Value = &case.top.value()["spec"]["leaderWorkerTemplate"]["workerTemplate"];
    let find = |key: &str| case.pod.annotation(key).or_else(|| object::annotation(template, key));
    let name = find(names::annotation::TOPOLOGY)
        .or_else(|| case.top.annotation(names::annotation::TOPOLOGY));
    segments::constraint(
        name,
        find(names::annotation::SEGMENT_TOPOLOGY_REQUIRED),
        find(names::annotation::SEGMENT_TOPOLOGY_PREFERRED),
    )
}

#[cfg(test)]
mod tests {
    use super::{Shape, minima};

    /// Leaves of both policies need every pod of the group exactly once.
    #[test]
    fn minima_add_up_to_the_group() {
        for members in 2..40 {
            for segment in 1..=members {
                let shape = Shape { members, segment, worker: None };
                let within: i64 = minima(shape, false).iter().sum();
                assert_eq!(within, members, "{shape:?}");
                if shape.is_divisible() {
                    let excluded: i64 = minima(shape, true).iter().sum();
                    assert_eq!(excluded + 1, members, "{shape:?}");
                }
            }
        }
    }
}
