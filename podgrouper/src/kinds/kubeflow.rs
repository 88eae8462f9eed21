//! Jobs of the training operator with a map of replica types (`docs/grouping.md` 7.4, 7.17).

use std::collections::BTreeSet;

use serde_json::Value;

use super::templates::{Part, foreign, foreign_text};
use crate::desired::Desired;
use crate::facts::Stop;
use crate::group::{Case, base};
use crate::object;

/// One replica type of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Replica<'a> {
    /// `Master`, `Worker`, ...
    pub(super) name: &'a str,
    /// Number of pods; absent in the object is one, and none in KAI's reading.
    pub(super) count: i64,
    /// True if `replicas` is in the object.
    pub(super) is_set: bool,
    /// True if our scheduler places its pods.
    pub(super) is_ours: bool,
    /// Its pod template.
    pub(super) template: &'a Value,
}

/// The replica types of a job, in the order of the object.
#[derive(Debug)]
pub(super) struct Replicas<'a> {
    pub(super) rows: Vec<Replica<'a>>,
}

impl<'a> Replicas<'a> {
    /// Reads `spec.<field>`; `None` when it is missing.
    pub(super) fn read(case: &Case<'a>, field: &str) -> Result<Option<Self>, Stop> {
        let Some(specs) = object::table(case.top.value(), &format!("spec.{field}"))? else {
            return Ok(None);
        };
        let absent = i64::from(!case.settings.is_kai_v017());
        let mut rows = Vec::new();
        for (name, spec) in specs {
            let count = object::int(spec, "replicas")
                .map_err(|error| Stop::bad(format!("spec.{field}.{name}: {error}")))?;
            rows.push(Replica {
                name,
                count: count.unwrap_or(absent),
                is_set: count.is_some(),
                is_ours: true,
                template: &spec["template"],
            });
        }
        if !case.settings.is_kai_v017() {
            let part = |row: &Replica<'a>| Part { name: row.name, template: row.template };
            let parts: Vec<Part<'a>> = rows.iter().map(part).collect();
            // A user may write tens of thousands of types.
            let names: BTreeSet<&str> =
                foreign(&parts, &case.settings.scheduler).into_iter().collect();
            for row in &mut rows {
                row.is_ours = !names.contains(row.name);
            }
        }
        Ok(Some(Self { rows }))
    }

    /// A type that our scheduler places.
    pub(super) fn get(&self, name: &str) -> Option<&Replica<'a>> {
        self.rows.iter().find(|row| row.name == name && row.is_ours)
    }

    fn foreign(&self) -> Vec<&'a str> {
        self.rows.iter().filter(|row| !row.is_ours).map(|row| row.name).collect()
    }

    /// Keeps the gang to what our scheduler places, and says what it does not.
    pub(super) fn leave_out_foreign(&self, case: &Case<'_>, desired: &mut Desired) {
        let names = self.foreign();
        if !names.is_empty() {
            desired.min_member = desired.min_member.min(self.total());
        }
        desired.foreign = foreign_text(&names, &case.settings.scheduler);
    }

    fn total(&self) -> i64 {
        self.rows.iter().filter(|row| row.is_ours).map(|row| row.count).sum()
    }
}

/// `spec.runPolicy.schedulingPolicy.minAvailable`.
pub(super) fn min_available(case: &Case<'_>) -> Result<Option<i64>, Stop> {
    Ok(object::int(case.top.value(), "spec.runPolicy.schedulingPolicy.minAvailable")?)
}

/// The gang of a job: `minAvailable` when given, else all replicas of all types.
pub fn gang(case: &Case<'_>, field: &str, required: &[&str]) -> Result<Desired, Stop> {
    let mut desired = base(case, &[])?;
    let replicas = Replicas::read(case, field);
    if let Some(min) = min_available(case)? {
        desired.min_member = min;
        // What it states is taken as it is: the replicas are not looked at for more than who places them.
        if let Ok(Some(replicas)) = replicas {
            replicas.leave_out_foreign(case, &mut desired);
        }
        return Ok(desired);
    }
    let replicas = replicas?.ok_or_else(|| Stop::bad(format!("the job has no spec.{field}")))?;
    check(case, field, required, &replicas, &mut desired.notes)?;
    desired.min_member = replicas.total();
    replicas.leave_out_foreign(case, &mut desired);
    Ok(desired)
}

fn check(
    case: &Case<'_>,
    field: &str,
    required: &[&str],
    replicas: &Replicas<'_>,
    notes: &mut Vec<String>,
) -> Result<(), Stop> {
    for name in required {
        if !replicas.rows.iter().any(|row| row.name == *name) {
            let text = format!("spec.{field} has no {name}");
            if case.settings.is_kai_v017() {
                return Err(Stop::bad(text));
            }
            notes.push(text);
        }
    }
    match replicas.rows.iter().find(|row| row.count <= 0) {
        Some(row) if row.is_set => Err(Stop::bad(format!(
            "spec.{field}.{}.replicas is {}, want 1 or more",
            row.name, row.count
        ))),
        Some(row) => Err(Stop::bad(format!("spec.{field}.{}.replicas is not set", row.name))),
        None => Ok(()),
    }
}

/// A `TFJob`.
pub(crate) fn tf_job(case: &Case<'_>) -> Result<Desired, Stop> {
    gang(case, "tfReplicaSpecs", &[])
}

/// An `XGBoostJob`.
pub(crate) fn xgboost_job(case: &Case<'_>) -> Result<Desired, Stop> {
    gang(case, "xgbReplicaSpecs", &["Master", "Worker"])
}

/// A `JAXJob`.
pub(crate) fn jax_job(case: &Case<'_>) -> Result<Desired, Stop> {
    gang(case, "jaxReplicaSpecs", &["Worker"])
}

/// A `PaddleJob`; KAI has no rule for it.
pub(crate) fn paddle_job(case: &Case<'_>) -> Result<Desired, Stop> {
    if case.settings.is_kai_v017() {
        return base(case, case.owners);
    }
    gang(case, "paddleReplicaSpecs", &[])
}
