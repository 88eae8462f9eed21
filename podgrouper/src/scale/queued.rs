//! A `PodGroup` that waits for its queue: nodes more would not help it.

use kai_api::names::reason;
use serde_json::Value;

use crate::object::Object;
use crate::slim::{Kept, Shape};

/// The part that is read of a `PodGroup`.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueuedShape;

const METADATA: Kept = Kept::Fields(
    &[("name", Kept::Whole), ("namespace", Kept::Whole), ("resourceVersion", Kept::Whole)],
    &Kept::Nothing,
);
const CONDITIONS: Kept = Kept::Fields(
    &[
        ("reasons", Kept::Fields(&[("reason", Kept::Whole)], &Kept::Nothing)),
        ("status", Kept::Whole),
    ],
    &Kept::Nothing,
);

impl Shape for QueuedShape {
    const KEPT: &'static Kept = &Kept::Fields(
        &[
            ("metadata", METADATA),
            ("status", Kept::Fields(&[("schedulingConditions", CONDITIONS)], &Kept::Nothing)),
        ],
        &Kept::Nothing,
    );
}

/// Reasons that no node changes.
const OF_QUEUES: [&str; 3] =
    [reason::OVER_LIMIT, reason::NON_PREEMPTIBLE_OVER_QUOTA, reason::QUEUE_DOES_NOT_EXIST];

/// Tells whether its queue is all that a group waits for, in every pool that says something.
pub(super) fn is_queued(group: &Object) -> bool {
    let conditions = group.value()["status"]["schedulingConditions"].as_array();
    let mut said = conditions
        .into_iter()
        .flatten()
        .filter(|one| one["status"] == "True")
        .map(|one| one["reasons"].as_array().map_or(&[][..], Vec::as_slice))
        .peekable();
    let is_of_queues =
        |one: &Value| one["reason"].as_str().is_some_and(|reason| OF_QUEUES.contains(&reason));
    let are_of_queues = |reasons: &[Value]| !reasons.is_empty() && reasons.iter().all(is_of_queues);
    said.peek().is_some() && said.all(are_of_queues)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_queued;
    use crate::object::Object;

    #[test]
    fn a_queue_is_all_that_it_waits_for() {
        let check = |said: &[(&str, &[&str])], expect: bool| {
            let conditions: Vec<_> = said
                .iter()
                .map(|(status, reasons)| {
                    let reasons: Vec<_> =
                        reasons.iter().map(|one| json!({"reason": one})).collect();
                    json!({"status": status, "reasons": reasons})
                })
                .collect();
            let group = json!({"metadata": {"name": "g", "namespace": "n"},
                "status": {"schedulingConditions": conditions}});
            assert_eq!(is_queued(&Object::new(group)), expect, "{said:?}");
        };
        check(&[], false);
        check(&[("True", &[])], false);
        check(&[("True", &["PodSchedulingErrors"])], false);
        check(&[("True", &["OverLimit"])], true);
        check(&[("True", &["NonPreemptibleOverQuota"])], true);
        check(&[("True", &["QueueDoesNotExist"])], true);
        check(&[("True", &["OverLimit", "PodSchedulingErrors"])], false);
        check(&[("True", &["OverLimit"]), ("True", &["PodSchedulingErrors"])], false);
        check(&[("False", &["PodSchedulingErrors"]), ("True", &["OverLimit"])], true);
        check(&[("False", &["OverLimit"])], false);
    }
}
