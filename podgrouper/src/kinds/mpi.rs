//! `MPIJob` of both API versions (`docs/grouping.md` 7.6).

use super::kubeflow::{Replicas, gang};
use crate::desired::Desired;
use crate::facts::{Read, Stop};
use crate::group::Case;
use crate::object;
use crate::sought::Sought;

const FIELD: &str = "mpiReplicaSpecs";
/// The name of the job that a pod is of.
pub(crate) const JOB_LABEL: &str = "training.kubeflow.org/job-name";
/// The part that a pod has in its job.
pub(crate) const ROLE_LABEL: &str = "training.kubeflow.org/job-role";

/// An `MPIJob`. A launcher that comes only after its workers run is left out until it is there.
pub(crate) fn mpi_job(case: &Case<'_>) -> Result<Desired, Stop> {
    let mut desired = gang(case, FIELD, &["Launcher", "Worker"])?;
    let policy = object::text(case.top.value(), "spec.launcherCreationPolicy")?;
    if policy != Some("WaitForWorkersReady") || has_launcher(case)? {
        return Ok(desired);
    }
    let Some(replicas) = Replicas::read(case, FIELD)? else { return Ok(desired) };
    let launchers = replicas.get("Launcher").map_or(0, |row| row.count);
    desired.min_member -= launchers;
    if !case.settings.is_kai_v017() {
        desired.min_member = desired.min_member.max(0);
    }
    Ok(desired)
}

fn has_launcher(case: &Case<'_>) -> Result<bool, Stop> {
    let labels = [(JOB_LABEL, case.top.name()), (ROLE_LABEL, "launcher")];
    let read = Read::pods(case.top.namespace(), &labels, Sought::Staying);
    Ok(case.facts.list(read)?.iter().any(|pod| !pod.is_terminating()))
}
