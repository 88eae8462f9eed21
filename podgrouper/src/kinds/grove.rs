//! Grove's `PodCliqueSet` and `PodGangSet` (`docs/grouping.md` 7.12): the `PodGang` decides.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::desired::{Desired, Preemptibility, Subgroup, Topology};
use crate::facts::{Read, Stop};
use crate::group::{Case, base, explicit_queue};
use crate::object::{self, Object};
use kai_api::duration::GoDuration;
use kai_api::names;

const GANG_LABEL: &str = "grove.io/podgang";
const TOPOLOGY_NAME: &str = "grove.io/topology-name";

/// A pod of a `PodGang`.
pub(crate) fn pod_gang(case: &Case<'_>) -> Result<Desired, Stop> {
    let namespace = &case.pod.namespace;
    let name = case
        .pod
        .label(GANG_LABEL)
        .ok_or_else(|| Stop::bad(format!("pod has no label {GANG_LABEL}, which names its gang")))?;
    let read = Read::get("scheduler.grove.io/v1alpha1", "PodGang", namespace, name);
    let gang = case
        .facts
        .object(read)?
        .ok_or_else(|| Stop::Early(format!("PodGang {namespace}/{name} does not exist yet")))?;
    let of_gang = Case { top: gang, owners: &[], ..*case };
    let mut desired = base(&of_gang, &[])?;
    let topology_name = gang
        .annotation(TOPOLOGY_NAME)
        .or_else(|| gang.annotation(names::annotation::TOPOLOGY))
        .unwrap_or_default();
    if let Some(topology) = pack(&gang.value()["spec"], topology_name)? {
        desired.topology = topology;
    }
    if let Some(class) = object::text(gang.value(), "spec.priorityClassName")? {
        class.clone_into(&mut desired.priority_class);
    }
    inherit(case, gang, &mut desired)?;
    add_parents(gang, topology_name, &mut desired)?;
    add_leaves(gang, topology_name, &mut desired)?;
    Ok(desired)
}

/// Takes over what the set at the top says where the `PodGang` is silent.
fn inherit(case: &Case<'_>, gang: &Object, desired: &mut Desired) -> Result<(), Stop> {
    for (key, value) in case.top.labels() {
        desired.labels.entry(key.to_owned()).or_insert_with(|| value.to_owned());
    }
    for (key, value) in case.top.annotations() {
        desired.annotations.entry(key.to_owned()).or_insert_with(|| value.to_owned());
    }
    if let Some(class) = desired.labels.get(names::label::PRIORITY_CLASS) {
        desired.priority_class.clone_from(class);
    }
    if let Some(text) = desired.labels.get(names::label::PREEMPTIBILITY) {
        desired.preemptibility = match Preemptibility::parse(text) {
            None if text.is_empty() => None,
            None => {
                return Err(Stop::bad(format!(
                    "label {} is {text:?}, want preemptible or non-preemptible",
                    names::label::PREEMPTIBILITY
                )));
            }
            found => found,
        };
    }
    if let Some(text) = desired.annotations.get(names::annotation::PREEMPTION_DELAY) {
        match text.parse::<GoDuration>().ok().filter(|delay| !delay.is_negative()) {
            None => desired.notes.push(format!(
                "annotation {} is {text:?}, want a duration like 90s",
                names::annotation::PREEMPTION_DELAY
            )),
            found => desired.preemption_delay = found,
        }
    }
    let annotations = &desired.annotations;
    let fill = |slot: &mut String, key: &str| {
        if let (true, Some(text)) = (slot.is_empty(), annotations.get(key)) {
            slot.clone_from(text);
        }
    };
    fill(&mut desired.topology.name, names::annotation::TOPOLOGY);
    fill(&mut desired.topology.required, names::annotation::TOPOLOGY_REQUIRED);
    fill(&mut desired.topology.preferred, names::annotation::TOPOLOGY_PREFERRED);
    let is_open = explicit_queue(gang, case.pod, case.settings).is_none();
    if let Some(queue) = desired.labels.get(&case.settings.queue_label)
        && is_open
        && !case.settings.is_kai_v017()
    {
        desired.queue.clone_from(queue);
    }
    Ok(())
}

/// The `topologyConstraint.packConstraint` below `spec`, if it has a level.
fn pack(spec: &Value, name: &str) -> Result<Option<Topology>, Stop> {
    const PATH: &str = "topologyConstraint.packConstraint";
    let required = object::text(spec, &format!("{PATH}.required"))?;
    let preferred = object::text(spec, &format!("{PATH}.preferred"))?;
    if required.is_none() && preferred.is_none() {
        return Ok(None);
    }
    if name.is_empty() {
        return Err(Stop::bad(format!(
            "the PodGang has a packConstraint but no topology; set annotation {TOPOLOGY_NAME}"
        )));
    }
    Ok(Some(Topology {
        name: name.to_owned(),
        required: required.unwrap_or_default().to_owned(),
        preferred: preferred.unwrap_or_default().to_owned(),
    }))
}

fn named<'a>(row: &'a Value, place: &str) -> Result<&'a str, Stop> {
    object::text(row, "name")?
        .filter(|name| !name.is_empty())
        .ok_or_else(|| Stop::bad(format!("{place} has no name")))
}

const CONFIGS: &str = "spec.topologyConstraintGroupConfigs";

fn add_parents(gang: &Object, topology: &str, desired: &mut Desired) -> Result<(), Stop> {
    for (index, row) in object::list(gang.value(), CONFIGS)?.iter().enumerate() {
        let name = named(row, &format!("{CONFIGS}[{index}]"))?;
        let children = object::list(row, "podGroupNames")?;
        if children.is_empty() {
            continue;
        }
        let count = i64::try_from(children.len()).unwrap_or(i64::MAX);
        let parent = Subgroup::parent(name, count).with_topology(pack(row, topology)?);
        desired.subgroups.push(parent);
    }
    Ok(())
}

/// The name of each leaf's parent, by the leaf's name: the first that names it.
fn parents(gang: &Object) -> Result<BTreeMap<&str, &str>, Stop> {
    let mut parents = BTreeMap::new();
    for row in object::list(gang.value(), CONFIGS)? {
        let Some(parent) = object::text(row, "name")? else { continue };
        for name in object::list(row, "podGroupNames")?.iter().filter_map(Value::as_str) {
            parents.entry(name).or_insert(parent);
        }
    }
    Ok(parents)
}

fn add_leaves(gang: &Object, topology: &str, desired: &mut Desired) -> Result<(), Stop> {
    desired.min_member = 0;
    let parents = parents(gang)?;
    for (index, row) in object::list(gang.value(), "spec.podgroups")?.iter().enumerate() {
        let place = format!("spec.podgroups[{index}]");
        let name = named(row, &place)?;
        let min = object::int(row, "minReplicas")?
            .filter(|min| *min > 0)
            .ok_or_else(|| Stop::bad(format!("{place}.minReplicas must be 1 or more")))?;
        if object::field(row, "podReferences")?.is_none() {
            return Err(Stop::bad(format!("{place} has no podReferences")));
        }
        let mut leaf = Subgroup::leaf(name, min).with_topology(pack(row, topology)?);
        leaf.parent = parents.get(name).map(|parent| (*parent).to_owned());
        for pod in object::list(row, "podReferences")? {
            let text = |key: &str| -> Result<&str, Stop> {
                object::text(pod, key)?
                    .ok_or_else(|| Stop::bad(format!("{place}.podReferences: one has no {key}")))
            };
            let (namespace, pod) = (text("namespace")?, text("name")?);
            if namespace != gang.namespace() {
                return Err(Stop::bad(format!(
                    "{place}: pod {namespace}/{pod} is not in the PodGang's namespace {}",
                    gang.namespace()
                )));
            }
            leaf.pods.insert(pod.to_owned());
        }
        desired.min_member += min;
        desired.subgroups.push(leaf);
    }
    Ok(())
}
