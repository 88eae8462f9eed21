//! Long-running work: Deployment, Notebook, `SPOTRequest`, Knative (`docs/grouping.md` 7.1, 7.8,
//! 7.16).

use std::collections::BTreeSet;

use crate::desired::{Desired, Topology};
use crate::facts::{Read, Stop};
use crate::group::{Case, base, per_pod, priority};
use crate::object::Object;
use crate::sought::Sought;

const INFERENCE: &str = "inference";
/// The revision that a pod is of.
pub(crate) const REVISION_LABEL: &str = "serving.knative.dev/revision";
const MIN_SCALE: &str = "autoscaling.knative.dev/min-scale";

fn with_fallback(case: &Case<'_>, mut desired: Desired, fallback: &str) -> Result<Desired, Stop> {
    desired.priority_class = priority(case, fallback, &mut desired.notes)?;
    Ok(desired)
}

/// A Deployment: one `PodGroup` per pod.
pub(crate) fn deployment(case: &Case<'_>) -> Result<Desired, Stop> {
    with_fallback(case, per_pod(case)?, INFERENCE)
}

/// A Notebook.
pub(crate) fn notebook(case: &Case<'_>) -> Result<Desired, Stop> {
    with_fallback(case, base(case, case.owners)?, "build")
}

/// A SPOT request.
pub(crate) fn spot_request(case: &Case<'_>) -> Result<Desired, Stop> {
    with_fallback(case, base(case, case.owners)?, INFERENCE)
}

/// A Knative Service: one `PodGroup` per Revision, or per pod where that is wanted or already so.
pub(crate) fn knative_service(case: &Case<'_>) -> Result<Desired, Stop> {
    let namespace = &case.pod.namespace;
    let name = case.pod.label(REVISION_LABEL).ok_or_else(|| {
        Stop::bad(format!("pod has no label {REVISION_LABEL}, which names its revision"))
    })?;
    let read = Read::metadata("serving.knative.dev/v1", "Revision", namespace, name);
    let revision = case
        .facts
        .object(read)?
        .ok_or_else(|| Stop::bad(format!("Knative revision {namespace}/{name} not found")))?;
    let is_gang = case.settings.knative_gangs && runs_as_gang(case, name)?;
    let case = Case { top: revision, owners: &[], ..*case };
    let mut desired = if is_gang { of_revision(&case)? } else { per_pod(&case)? };
    if !is_gang {
        INFERENCE.clone_into(&mut desired.priority_class);
    }
    if case.settings.is_kai_v017() {
        desired.preemptibility = None;
        desired.preemption_delay = None;
        desired.staleness_grace = None;
        desired.topology = Topology::default();
    }
    Ok(desired)
}

fn of_revision(case: &Case<'_>) -> Result<Desired, Stop> {
    let mut desired = with_fallback(case, base(case, &[])?, INFERENCE)?;
    let scale = case.top.annotation(MIN_SCALE).and_then(|text| text.parse::<i32>().ok());
    desired.min_member = scale.map_or(1, i64::from);
    Ok(desired)
}

/// Tells whether the revision's pods are one gang already, or none of them is grouped yet.
fn runs_as_gang(case: &Case<'_>, revision: &str) -> Result<bool, Stop> {
    let namespace = &case.pod.namespace;
    let pods = Read::pods(namespace, &[(REVISION_LABEL, revision)], Sought::SameGroup);
    let mut groups = BTreeSet::new();
    for pod in case.facts.list(pods)? {
        let group = pod.annotation(kai_api::names::annotation::POD_GROUP);
        if let Some(group) = group.filter(|group| !group.is_empty())
            && !groups.insert(group)
        {
            return Ok(true);
        }
    }
    let (Some(group), true) = (groups.first(), groups.len() == 1) else {
        return Ok(groups.is_empty());
    };
    let Some(group) = case.facts.object(Read::pod_group(namespace, group))? else {
        return Ok(true);
    };
    owner_is_revision(group)
}

fn owner_is_revision(group: &Object) -> Result<bool, Stop> {
    let owners = group.owners();
    match owners.first().map(|owner| owner.kind.as_str()) {
        Some("Revision") => Ok(true),
        Some("Pod") => Ok(false),
        Some(_) | None => Err(Stop::bad(format!(
            "PodGroup {}/{} is owned neither by a Revision nor by a Pod",
            group.namespace(),
            group.name()
        ))),
    }
}
