//! Pod and owners to `PodGroup`: the whole decision, without I/O.

mod base;
mod native;
mod yaml;

use std::sync::Arc;

use crate::desired::Desired;
use crate::facts::{Facts, Stop};
use crate::kinds::{self, Row};
use crate::object::Object;
use crate::pod::Pod;
use crate::settings::Settings;

pub(crate) use base::{base, class_exists, explicit_queue, per_pod, priority};

/// Everything a rule may look at.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The pod being grouped.
    pub pod: &'a Pod,
    /// The object at the top of the owner walk, with what its kind's rule reads of it ([`Row::part`]), or the Karta that
    /// describes it; the pod itself when it has no owner.
    pub top: &'a Object,
    /// The owners that could be read, bottom first, the top owner last; metadata suffices.
    pub owners: &'a [Arc<Object>],
    /// Kinds and their rules, [`kinds::TABLE`] but for tests of a rule by itself.
    pub table: &'a [Row],
    /// Settings.
    pub settings: &'a Settings,
    /// Facts read so far.
    pub facts: &'a Facts,
}

/// A rule: what `PodGroup` a workload of some kind wants for one of its pods.
pub type Rule = fn(&Case<'_>) -> Result<Desired, Stop>;

/// The `PodGroup` that a pod belongs to (`docs/grouping.md` 5 to 7).
///
/// Pure: equal arguments give equal results. Where the rule needs something that `case.facts` does
/// not hold it stops with [`Stop::Need`]. Cost: proportional to the subgroups of the workload.
pub fn group(case: &Case<'_>) -> Result<Desired, Stop> {
    let mut desired = match native::group(case)? {
        Some(desired) => desired,
        None => by_kind(case)?,
    };
    label_node_pool(case, &mut desired);
    if !case.settings.is_kai_v017() {
        // What its owner says may be less than nothing, or more than the API holds.
        desired.min_member = desired.min_member.clamp(0, i64::from(i32::MAX));
        desired.annotations.retain(|key, _| !is_of_daemons(key));
    }
    Ok(desired)
}

/// Tells whether daemons write an annotation themselves, on groups and pods: what a workload says there would be written over
/// what the scheduler says, and that over it again, without end.
fn is_of_daemons(key: &str) -> bool {
    use kai_api::names::annotation::{BOUND_PREEMPTIBILITY, BOUND_QUEUE, OF_SCHEDULER};
    [BOUND_QUEUE, BOUND_PREEMPTIBILITY].contains(&key) || OF_SCHEDULER.contains(&key)
}

/// By the rule of the top owner's kind.
fn by_kind(case: &Case<'_>) -> Result<Desired, Stop> {
    if let Some(row) = kinds::find(case.table, &case.top.gvk()) {
        return (row.rule)(case);
    }
    match kinds::karta::group(case)? {
        Some(desired) => Ok(desired),
        None => base(case, case.owners),
    }
}

/// Step 9 of the reconcile order: the pod's node pool, unless the owner named one.
fn label_node_pool(case: &Case<'_>, desired: &mut Desired) {
    let key = &case.settings.node_pool_label;
    if key.is_empty() {
        return;
    }
    if let Some(pool) = case.pod.label(key) {
        desired.labels.entry(key.clone()).or_insert_with(|| pool.to_owned());
    }
}
