//! `PyTorchJob`: elastic minimum, master and workers, segments (`docs/grouping.md` 7.5).

use super::kubeflow::{Replica, Replicas, gang, min_available};
use super::segments;
use crate::desired::{Desired, Subgroup, Topology};
use crate::facts::Stop;
use crate::group::Case;
use crate::object;
use kai_api::names;

const FIELD: &str = "pytorchReplicaSpecs";
const TYPE_LABEL: &str = "training.kubeflow.org/replica-type";
const INDEX_LABEL: &str = "training.kubeflow.org/replica-index";

/// A `PyTorchJob`.
pub(crate) fn pytorch_job(case: &Case<'_>) -> Result<Desired, Stop> {
    let mut desired = gang(case, FIELD, &[])?;
    let elastic = object::int(case.top.value(), "spec.elasticPolicy.minReplicas")?;
    if let Some(min) = min_available(case)?.or(elastic) {
        desired.min_member = min;
    }
    let Some(replicas) = Replicas::read(case, FIELD)? else { return Ok(desired) };
    replicas.leave_out_foreign(case, &mut desired);
    let masters = replicas.get("Master").map_or(0, |row| row.count).max(0);
    if masters > 0 {
        desired.subgroups.push(Subgroup::leaf("master", masters));
    }
    if let Some(workers) = replicas.get("Worker") {
        let min = (desired.min_member - masters).max(0);
        add_workers(case, &mut desired, workers, min)?;
    }
    if case.pod.label(TYPE_LABEL) == Some("master") {
        desired.route(&case.pod.name, "master");
    }
    Ok(desired)
}

fn add_workers(
    case: &Case<'_>,
    desired: &mut Desired,
    workers: &Replica<'_>,
    min: i64,
) -> Result<(), Stop> {
    let is_worker = case.pod.label(TYPE_LABEL) == Some("worker");
    let size = segment_size(case, workers, is_worker)?;
    // Segments are cut as the operator counts, also where KAI's gang does not.
    let replicas = if workers.is_set { workers.count } else { 1 };
    let count = match size {
        Some(size) => replicas.max(0).div_euclid(size) + i64::from(replicas % size > 0),
        None => 0,
    };
    segments::check_count(count)?;
    let Some(size) = size.filter(|_| count > 0) else {
        desired.subgroups.push(Subgroup::leaf("worker", min));
        if is_worker {
            desired.route(&case.pod.name, "worker");
        }
        return Ok(());
    };
    let topology = segment_topology(case, workers, is_worker);
    desired.subgroups.push(Subgroup::parent("worker", count));
    for (index, members) in (0..count).zip(leaf_minima(replicas, size, min)) {
        desired.subgroups.push(
            Subgroup::leaf(format!("worker-{index}"), members)
                .below("worker")
                .with_topology(topology.clone()),
        );
    }
    if is_worker {
        let text = case.pod.label(INDEX_LABEL).ok_or_else(|| {
            Stop::bad(format!("pod has no label {INDEX_LABEL}, which names its segment"))
        })?;
        let index = segments::index(text, INDEX_LABEL)?;
        desired.route(&case.pod.name, &format!("worker-{}", index / size));
    }
    Ok(())
}

/// Minimum of each segment: whole segments until the workers' minimum is covered, then none.
fn leaf_minima(workers: i64, size: i64, min: i64) -> impl Iterator<Item = i64> {
    let needed = min.div_euclid(size) + i64::from(min % size > 0);
    let count = workers.div_euclid(size) + i64::from(workers % size > 0);
    let rest = workers % size;
    (0..count).map(move |index| {
        if index >= needed {
            0
        } else if rest > 0 && index == count - 1 {
            rest
        } else {
            size
        }
    })
}

/// Size of a segment. The template decides, so that every pod of the job gives the same shape;
/// KAI looks at the reconciled pod first.
fn segment_size(
    case: &Case<'_>,
    workers: &Replica<'_>,
    is_worker: bool,
) -> Result<Option<i64>, Stop> {
    let key = names::annotation::SEGMENT_SIZE;
    let on_pod = segments::size(case.pod.annotation(key), "the pod");
    let on_template =
        || segments::size(object::annotation(workers.template, key), "the Worker template");
    let size = if case.settings.is_kai_v017() {
        on_pod?.map_or_else(on_template, |size| Ok(Some(size)))?
    } else {
        match on_template()? {
            None if is_worker => on_pod?,
            found => found,
        }
    };
    match size {
        Some(size) if size <= 0 => {
            Err(Stop::bad(format!("annotation {key} is {size}, want 1 or more pods")))
        }
        found => Ok(found),
    }
}

fn segment_topology(case: &Case<'_>, workers: &Replica<'_>, is_worker: bool) -> Option<Topology> {
    let find = |key: &str| {
        let on_pod = case.pod.annotation(key);
        let on_template = object::annotation(workers.template, key);
        if case.settings.is_kai_v017() {
            on_pod.or(on_template)
        } else {
            on_template.or(on_pod.filter(|_| is_worker))
        }
    };
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
    use super::leaf_minima;

    #[test]
    fn segments_cover_the_minimum() {
        let cases: [(i64, i64, i64, &[i64]); 7] = [
            (4, 2, 4, &[2, 2]),
            (5, 2, 5, &[2, 2, 1]),
            (5, 2, 3, &[2, 2, 0]),
            (5, 2, 2, &[2, 0, 0]),
            (3, 4, 3, &[3]),
            (4, 2, 0, &[0, 0]),
            (8, 4, 5, &[4, 4]),
        ];
        for (workers, size, min, want) in cases {
            assert_eq!(leaf_minima(workers, size, min).collect::<Vec<_>>(), want);
        }
    }
}
