//! Kinds that only wrap another workload (`docs/grouping.md` 7.13): the owner below them decides,
//! with what the wrapper's labels and annotations say.

use std::sync::Arc;

use super::exact;
use crate::defaults::Defaults;
use crate::desired::Desired;
use crate::facts::{Part, Read, Stop};
use crate::group::{Case, base, class_exists};
use crate::object::Object;
use kai_api::names;

/// Groups by the owner below the top one, or by the pod when there is none.
pub(crate) fn skip_top_owner(case: &Case<'_>) -> Result<Desired, Stop> {
    let mut notes = Vec::new();
    let below = &case.owners[..case.owners.len().saturating_sub(1)];
    let mut last = last_owner(case, below)?;
    let mut list: Vec<Arc<Object>> = below.to_vec();
    let mut entry = list.pop().map(|entry| Object::clone(&entry));
    let labels = default_labels(case, &mut notes)?;
    // KAI lets a default for the wrapper's kind win over the wrapper's own label, and does not
    // show the wrapper's labels to rules that search the list.
    if case.settings.is_kai_v017() {
        add_labels(&mut last, &labels);
        add_from(&mut last, case.top);
        if let Some(entry) = &mut entry {
            add_labels(entry, &labels);
        }
    } else {
        for object in [Some(&mut last), entry.as_mut()].into_iter().flatten() {
            add_from(object, case.top);
            add_labels(object, &labels);
        }
    }
    list.extend(entry.map(Arc::new));
    let row = exact(case.table, &last.gvk());
    let case = Case { top: &last, owners: &list, ..*case };
    let mut desired = match row {
        Some(row) => (row.rule)(&case)?,
        None => base(&case, &list)?,
    };
    desired.notes.extend(notes);
    Ok(desired)
}

fn last_owner(case: &Case<'_>, below: &[Arc<Object>]) -> Result<Object, Stop> {
    let Some(last) = below.last() else { return Ok(case.pod.to_object()) };
    let owner = last.reference();
    let namespace = Some(last.namespace()).filter(|name| !name.is_empty());
    let namespace = namespace.unwrap_or(&case.pod.namespace);
    let part = exact(case.table, &owner.gvk()).map_or(Part::Metadata, |row| row.part);
    let read = Read::owner(&owner, namespace, part);
    match case.facts.object(read)? {
        Some(object) => Ok(Object::clone(object)),
        None => Err(Stop::bad(format!("{} {namespace}/{} not found", owner.kind, owner.name))),
    }
}

/// Labels that stand for the defaults of the wrapper's kind.
fn default_labels(
    case: &Case<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<(&'static str, String)>, Stop> {
    let defaults = Defaults::read(case.settings, case.facts, notes)?;
    let mut labels = Vec::new();
    let Some(entry) = defaults.of(&case.top.gvk()) else { return Ok(labels) };
    if class_exists(case.facts, &entry.priority_name)? {
        labels.push((names::label::PRIORITY_CLASS, entry.priority_name.clone()));
    }
    if !entry.preemptibility.is_empty() {
        let text = &entry.preemptibility;
        let text = if case.settings.is_kai_v017() { text.clone() } else { text.to_lowercase() };
        labels.push((names::label::PREEMPTIBILITY, text));
    }
    Ok(labels)
}

fn add_labels(object: &mut Object, labels: &[(&str, String)]) {
    for (key, value) in labels {
        object.add_missing("labels", key, value);
    }
}

fn add_from(object: &mut Object, wrapper: &Object) {
    for (key, value) in wrapper.labels() {
        object.add_missing("labels", key, value);
    }
    for (key, value) in wrapper.annotations() {
        object.add_missing("annotations", key, value);
    }
}
