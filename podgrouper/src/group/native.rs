//! Gangs of Kubernetes' own API, `scheduling.k8s.io`: what a pod names there comes before its kind's rule.
//!
//! Kubernetes 1.36 has a `PodGroup` (v1alpha2) that a pod names in `spec.schedulingGroup`; 1.35 has entries of a
//! `Workload` (v1alpha1), named in `spec.workloadRef`. Both state a policy: `gang` with a least number of pods,
//! or `basic`, which asks for nothing (KEP-4671).

use std::sync::Arc;

use serde_json::Value;

use super::{Case, base, class_exists};
use crate::desired::{Desired, Topology};
use crate::facts::{Answer, Read, Stop};
use crate::object::{self, Object};
use crate::pod::NativeGroup;
use kai_api::names;

/// A gang as the API states it.
struct Gang<'a> {
    /// The object that states it.
    stated_by: &'a Arc<Object>,
    /// Suffix of the name of our `PodGroup`, behind the object's name and uid.
    suffix: String,
    /// `{gang: {minCount}}` or `{basic: {}}`.
    policy: &'a Value,
    /// The part of the object where priority and constraints stand.
    spec: &'a Value,
}

/// The `PodGroup` of a pod that names a gang of the native API; `None` for one that names none, or where the
/// API server does not serve the kind.
pub(super) fn group(case: &Case<'_>) -> Result<Option<Desired>, Stop> {
    let Some(native) = case.pod.native.as_deref().filter(|_| !case.settings.is_kai_v017()) else {
        return Ok(None);
    };
    let gang = match native {
        NativeGroup::PodGroup(name) => pod_group(case, name)?,
        NativeGroup::Workload { name, group, replica } => workload(case, name, group, replica)?,
    };
    gang.map(|gang| desired(case, &gang)).transpose()
}

fn pod_group<'a>(case: &Case<'a>, name: &str) -> Result<Option<Gang<'a>>, Stop> {
    let Some(found) = read(case, "scheduling.k8s.io/v1alpha2", "PodGroup", name)? else {
        return Ok(None);
    };
    let spec = &found.value()["spec"];
    let policy = &spec["schedulingPolicy"];
    Ok(Some(Gang { stated_by: found, suffix: String::new(), policy, spec }))
}

fn workload<'a>(
    case: &Case<'a>,
    name: &str,
    group: &str,
    replica: &str,
) -> Result<Option<Gang<'a>>, Stop> {
    let Some(found) = read(case, "scheduling.k8s.io/v1alpha1", "Workload", name)? else {
        return Ok(None);
    };
    let groups = object::list(found.value(), "spec.podGroups")?;
    let entry = groups.iter().find(|entry| entry["name"] == group).ok_or_else(|| {
        Stop::bad(format!("Workload {}/{name} has no pod group {group:?}", case.pod.namespace))
    })?;
    let mut suffix = String::new();
    for part in [group, replica].into_iter().filter(|part| !part.is_empty()) {
        suffix.push('-');
        suffix.push_str(part);
    }
    Ok(Some(Gang { stated_by: found, suffix, policy: &entry["policy"], spec: entry }))
}

/// The object that a pod names. A kind that is not served is ignored, as the API server would ignore the field.
fn read<'a>(
    case: &Case<'a>,
    api_version: &str,
    kind: &str,
    name: &str,
) -> Result<Option<&'a Arc<Object>>, Stop> {
    let namespace = &case.pod.namespace;
    match case.facts.ask(Read::get(api_version, kind, namespace, name))? {
        Answer::Found(object) => Ok(Some(object)),
        Answer::Unserved => Ok(None),
        Answer::Absent | Answer::List(_) => Err(Stop::Early(format!(
            "{kind} {namespace}/{name} of {api_version} does not exist yet"
        ))),
        Answer::Failed(why) => Err(Stop::bad(why.clone())),
    }
}

fn desired(case: &Case<'_>, gang: &Gang<'_>) -> Result<Desired, Stop> {
    // The gang's own labels and annotations first, then those of the workload that it belongs to.
    let mut top = gang.stated_by.head();
    for (key, text) in case.top.labels() {
        top.add_missing("labels", key, text);
    }
    for (key, text) in case.top.annotations() {
        top.add_missing("annotations", key, text);
    }
    let mut desired = base(&Case { top: &top, owners: &[], ..*case }, &[])?;
    desired.name.push_str(&gang.suffix);
    desired.min_member = object::int(gang.policy, "gang.minCount")?.unwrap_or(1);
    if let Some(class) = object::text(gang.spec, "priorityClassName")?
        && class_exists(case.facts, class)?
    {
        class.clone_into(&mut desired.priority_class);
    }
    constrain(gang.spec, &top, &mut desired)?;
    Ok(desired)
}

/// A constraint names a node label; the Topology that the label is a level of is named by annotation.
fn constrain(spec: &Value, top: &Object, desired: &mut Desired) -> Result<(), Stop> {
    let keys = object::list(spec, "schedulingConstraints.topology")?;
    let Some(key) = keys.first().and_then(|row| row["key"].as_str()) else { return Ok(()) };
    match top.annotation(names::annotation::TOPOLOGY) {
        Some(name) if desired.topology.required.is_empty() => {
            desired.topology = Topology {
                name: name.to_owned(),
                required: key.to_owned(),
                preferred: desired.topology.preferred.clone(),
            };
        }
        Some(_) => {}
        None => desired.notes.push(format!(
            "schedulingConstraints.topology {key:?} has no effect: annotation {} does not name a Topology with that level",
            names::annotation::TOPOLOGY
        )),
    }
    Ok(())
}
