//! The start of every rule (`docs/grouping.md` 6): identity, labels, queue, priority, preemptibility, durations and
//! topology of a `PodGroup` from its top owner and the pod.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Case;
use super::yaml::scalar;
use crate::defaults::Defaults;
use crate::desired::{Desired, Preemptibility, Topology};
use crate::facts::{Answer, Facts, Read, Stop};
use crate::object::{CUT, Object};
use crate::pod::Pod;
use crate::settings::Settings;
use kai_api::duration::GoDuration;
use kai_api::names;

const FALLBACK_PRIORITY: &str = "train";
const CUT_NOTE: &str = "the owner has more than 16 KiB of labels or of annotations, or one of more than 4 KiB: \
    not all are copied to the PodGroup";

/// The default `PodGroup` of the top owner, with the owners that settings are searched in, bottom
/// first. An empty list stands for the top owner alone.
pub(crate) fn base(case: &Case<'_>, list: &[Arc<Object>]) -> Result<Desired, Stop> {
    let list = searched(case.top, list);
    let mut notes = Vec::new();
    if case.top.value()["metadata"][CUT] == true {
        notes.push(CUT_NOTE.to_owned());
    }
    let defaults = Defaults::read(case.settings, case.facts, &mut notes)?;
    let mut search = Search { case, list: &list, defaults: &defaults, notes: &mut notes };
    let priority_class = search.priority(FALLBACK_PRIORITY)?;
    let preemptibility = search.preemptibility();
    let preemption_delay = search.duration(names::annotation::PREEMPTION_DELAY, false);
    let staleness_grace = search.duration(names::annotation::STALENESS_GRACE_PERIOD, true);
    Ok(Desired {
        name: format!("pg-{}-{}", case.top.name(), case.top.uid()),
        namespace: case.pod.namespace.to_string(),
        owner: case.top.reference(),
        labels: labels(case.top, case.pod),
        annotations: annotations(case),
        queue: queue(case.top, case.pod, case.settings),
        priority_class,
        preemptibility,
        preemption_delay,
        staleness_grace,
        topology: topology(case.top),
        min_member: 1,
        min_subgroups: None,
        subgroups: Vec::new(),
        notes,
        foreign: None,
    })
}

/// Lists the owners that settings are searched in. None of them is copied: the top owner is as large as its user likes.
fn searched<'a>(top: &'a Object, list: &'a [Arc<Object>]) -> Vec<&'a Object> {
    if list.is_empty() { vec![top] } else { list.iter().map(AsRef::as_ref).collect() }
}

/// One `PodGroup` per pod, owned by the pod; all else from the top owner.
pub(crate) fn per_pod(case: &Case<'_>) -> Result<Desired, Stop> {
    let mut desired = base(case, &[])?;
    desired.name = format!("pg-{}-{}", case.pod.name, case.pod.uid);
    desired.owner = case.pod.reference();
    Ok(desired)
}

/// The priority class by the top owner alone, with the fallback of a kind.
pub(crate) fn priority(
    case: &Case<'_>,
    fallback: &str,
    notes: &mut Vec<String>,
) -> Result<String, Stop> {
    let defaults = Defaults::read(case.settings, case.facts, &mut Vec::new())?;
    let list = searched(case.top, &[]);
    Search { case, list: &list, defaults: &defaults, notes }.priority(fallback)
}

/// The top owner's labels, and the pod's `user`.
fn labels(top: &Object, pod: &Pod) -> BTreeMap<String, String> {
    let mut labels = owned(top.labels());
    if let Some(user) = pod.label(names::label::USER) {
        labels.entry(names::label::USER.to_owned()).or_insert_with(|| user.to_owned());
    }
    labels
}

/// The pod's `user`, all annotations of the top owner, and its identity, which nobody else can say.
fn annotations(case: &Case<'_>) -> BTreeMap<String, String> {
    let (top, pod) = (case.top, case.pod);
    let mut all = BTreeMap::new();
    if let Some(user) = pod.annotation(names::label::USER) {
        all.insert(names::label::USER.to_owned(), user.to_owned());
    }
    all.extend(owned(top.annotations()));
    let identity = all.entry(names::annotation::TOP_OWNER.to_owned());
    if case.settings.is_kai_v017() {
        identity.or_insert_with(|| top_owner_text(top));
    } else {
        identity.insert_entry(top_owner_text(top));
    }
    all
}

fn owned<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeMap<String, String> {
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn top_owner_text(top: &Object) -> String {
    let gvk = top.gvk();
    let rows = [
        ("name", top.name()),
        ("uid", top.uid()),
        ("group", &gvk.group),
        ("version", &gvk.version),
        ("kind", &gvk.kind),
    ];
    let lines: Vec<String> =
        rows.iter().map(|(key, value)| format!("{key}: {}\n", scalar(value))).collect();
    lines.concat()
}

/// The queue of a workload: owner's label, pod's label, project, default; presence counts.
pub(crate) fn queue(top: &Object, pod: &Pod, settings: &Settings) -> String {
    if let Some(queue) = explicit_queue(top, pod, settings) {
        return queue;
    }
    let project = top.label(names::label::PROJECT).or_else(|| pod.label(names::label::PROJECT));
    match project {
        None | Some("") => names::queue::DEFAULT.to_owned(),
        Some(project) => match pod.label(&settings.node_pool_label) {
            Some(pool) => format!("{project}-{pool}"),
            None => project.to_owned(),
        },
    }
}

/// The queue that a label of the owner or the pod names.
pub(crate) fn explicit_queue(top: &Object, pod: &Pod, settings: &Settings) -> Option<String> {
    let key = &settings.queue_label;
    top.label(key).or_else(|| pod.label(key)).map(str::to_owned)
}

/// The root constraint that the owner's annotations name; combinations are not checked here.
pub(crate) fn topology(top: &Object) -> Topology {
    let text = |key: &str| top.annotation(key).unwrap_or_default().to_owned();
    Topology {
        name: text(names::annotation::TOPOLOGY),
        required: text(names::annotation::TOPOLOGY_REQUIRED),
        preferred: text(names::annotation::TOPOLOGY_PREFERRED),
    }
}

/// Tells whether a priority class of this name exists; a failed read counts as no.
pub(crate) fn class_exists(facts: &Facts, name: &str) -> Result<bool, Stop> {
    if name.is_empty() {
        return Ok(false);
    }
    Ok(matches!(facts.ask(Read::priority_class(name))?, Answer::Found(_)))
}

/// A search through owners bottom to top, then the pod, then the defaults per type.
struct Search<'a> {
    case: &'a Case<'a>,
    list: &'a [&'a Object],
    defaults: &'a Defaults,
    notes: &'a mut Vec<String>,
}

impl Search<'_> {
    fn priority(&mut self, fallback: &str) -> Result<String, Stop> {
        let pod = self.case.pod;
        for owner in self.list {
            let candidate = owner
                .label(names::label::PRIORITY_CLASS)
                .or_else(|| pod.label(names::label::PRIORITY_CLASS))
                .or_else(|| Some(&*pod.priority_class).filter(|name| !name.is_empty()));
            let Some(candidate) = candidate else { continue };
            if class_exists(self.case.facts, candidate)? {
                return Ok(candidate.to_owned());
            }
            self.notes.push(format!("priority class {candidate:?} does not exist"));
        }
        for owner in self.list {
            let Some(entry) = self.defaults.of(&owner.gvk()) else { continue };
            if class_exists(self.case.facts, &entry.priority_name)? {
                return Ok(entry.priority_name.clone());
            }
        }
        Ok(fallback.to_owned())
    }

    fn preemptibility(&mut self) -> Option<Preemptibility> {
        let key = names::label::PREEMPTIBILITY;
        let owners = self.list.iter().map(|owner| owner.label(key));
        for text in owners.chain([self.case.pod.label(key)]).flatten() {
            if text.is_empty() {
                return None;
            }
            match Preemptibility::parse(text) {
                Some(found) => return Some(found),
                None => self
                    .notes
                    .push(format!("label {key} is {text:?}, want preemptible or non-preemptible")),
            }
        }
        let of = |owner: &&Object| {
            let text = &self.defaults.of(&owner.gvk())?.preemptibility;
            Preemptibility::parse(&text.to_lowercase())
        };
        self.list.iter().find_map(of)
    }

    fn duration(&mut self, key: &str, may_be_negative: bool) -> Option<GoDuration> {
        let owners = self.list.iter().map(|owner| owner.annotation(key));
        for text in owners.chain([self.case.pod.annotation(key)]).flatten() {
            match text.parse::<GoDuration>().ok() {
                Some(found) if may_be_negative || !found.is_negative() => return Some(found),
                Some(_) | None => {
                    self.notes
                        .push(format!("annotation {key} is {text:?}, want a duration like 90s"));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::searched;
    use crate::object::Object;

    /// The rule is asked again for each fact that it reads.
    #[test]
    fn the_top_owner_is_searched_where_it_is() {
        let (top, other) = (Object::default(), Arc::new(Object::default()));
        assert!(std::ptr::eq(searched(&top, &[])[0], &raw const top));
        let list = [other];
        assert!(std::ptr::eq(searched(&top, &list)[0], Arc::as_ptr(&list[0])));
    }
}
