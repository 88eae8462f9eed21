//! Job, `CronJob` and `RunaiJob` (`docs/grouping.md` 7.2, 7.3, 7.14).

use crate::desired::Desired;
use crate::facts::{Read, Stop};
use crate::group::{Case, base};
use crate::object::{self, Object};
use kai_api::names;

/// A Job: one pod at a time, or as many as its annotation asks for.
pub(crate) fn job(case: &Case<'_>) -> Result<Desired, Stop> {
    let mut desired = base(case, &[])?;
    if case.settings.legacy_names {
        let legacy = format!("pg-{}-{}", case.pod.name, case.top.uid());
        let read = Read::pod_group(&case.pod.namespace, &legacy);
        if case.facts.object(read)?.is_some() {
            desired.name = legacy;
            return Ok(desired);
        }
    }
    if let Some(min) = min_member(case, case.top)? {
        desired.min_member = min;
    }
    Ok(desired)
}

/// A Job's `kai.scheduler/batch-min-member`.
fn min_member(case: &Case<'_>, job: &Object) -> Result<Option<i64>, Stop> {
    let key = names::annotation::BATCH_MIN_MEMBER;
    let Some(text) = job.annotation(key) else { return Ok(None) };
    let min = text.parse::<i32>().map_err(|_| {
        Stop::bad(format!("annotation {key} is {text:?}, want a whole number of pods"))
    })?;
    if min < 0 && !case.settings.is_kai_v017() {
        return Err(Stop::bad(format!("annotation {key} is {min}, want 0 or more pods")));
    }
    Ok(Some(i64::from(min)))
}

/// A `CronJob`: one `PodGroup` per Job that it made, with that Job's labels.
pub(crate) fn cron_job(case: &Case<'_>) -> Result<Desired, Stop> {
    let owner = case.pod.owners.iter().find(|owner| owner.kind == "Job");
    let name = &owner.ok_or_else(|| Stop::bad("no owner reference of type 'Job'"))?.name;
    let read = Read::metadata("batch/v1", "Job", &case.pod.namespace, name);
    let job = case.facts.object(read)?;
    let job = job.ok_or_else(|| Stop::bad(format!("jobs.batch {name:?} not found")))?;
    let case = Case { top: job, owners: &[], ..*case };
    let mut desired = base(&case, &[])?;
    if !case.settings.is_kai_v017()
        && let Some(min) = min_member(&case, job)?
    {
        desired.min_member = min;
    }
    Ok(desired)
}

/// A Run:ai job: one `PodGroup` per index of its pods' names.
pub(crate) fn runai_job(case: &Case<'_>) -> Result<Desired, Stop> {
    let mut desired = base(case, &[])?;
    let (pod, uid) = (&*case.pod.name, case.top.uid());
    if case.settings.legacy_names {
        let parallelism = object::int(case.top.value(), "spec.parallelism")?.unwrap_or(0);
        let stem = if parallelism > 1 { pod } else { case.top.name() };
        let legacy = format!("pg-{stem}-{uid}");
        let read = Read::pod_group(&case.pod.namespace, &legacy);
        if case.facts.object(read)?.is_some() {
            desired.name = legacy;
            return Ok(desired);
        }
    }
    let stem = pod.rsplit_once('-').map_or(pod, |(stem, _)| stem);
    desired.name = format!("pg-{stem}-{uid}");
    Ok(desired)
}
