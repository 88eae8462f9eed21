//! Work that nothing makes anew once others have taken its place.

use serde_json::Value;

use super::Document;
use crate::cluster::json::text;
use crate::cluster::{listing, names};
use crate::context::Context;

/// Priority classes whose work is not evicted unless it says so.
const FIRM: [&str; 2] = ["build", "inference"];

/// Warns of work that may be evicted and that no controller brings back.
pub(super) fn warn(documents: &[Document], context: &mut Context) {
    for document in documents.iter().filter(|document| document.is_workload) {
        if let Some(why) = lost(&document.object) {
            context.out.warn(&format!("{}: {why}", listing::name(&document.object)));
        }
    }
}

/// Says why an eviction would be its end; none where it is made anew, or where nobody may evict it.
fn lost(object: &Value) -> Option<&'static str> {
    let labels = &object["metadata"]["labels"];
    let preemptibility = text(&labels[names::PREEMPTIBILITY]);
    let class = match text(&labels[names::PRIORITY]) {
        "" => text(&object["spec"]["priorityClassName"]),
        class => class,
    };
    let may_be_evicted = match preemptibility {
        "" => !FIRM.contains(&class),
        word => word != "non-preemptible",
    };
    if !may_be_evicted {
        return None;
    }
    match text(&object["kind"]) {
        "Pod" => Some(
            "other work may evict it, and nothing creates a bare pod again: submit it as a job, or with --preemptible=false, \
             which nobody evicts within the quota of its queue",
        ),
        "Workflow" => {
            let steps = object["spec"]["templates"].as_array()?;
            let makes_pods = |step: &&Value| {
                ["container", "script", "containerSet"].iter().any(|key| step[*key].is_object())
            };
            let retries = |step: &Value| {
                step["retryStrategy"].is_object()
                    || object["spec"]["templateDefaults"]["retryStrategy"].is_object()
            };
            let is_lost = steps.iter().filter(makes_pods).any(|step| !retries(step));
            is_lost.then_some(
                "others may take the place of its steps, and a step without retryStrategy fails then; with \
                 --preemptible=false, within the quota of its queue, nobody evicts them",
            )
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(yaml: &str, expect: bool) {
        let object: Value = serde_saphyr::from_str(yaml).expect("written below");
        assert_eq!(lost(&object).is_some(), expect, "{yaml}");
    }

    #[test]
    fn what_a_controller_makes_anew_and_what_nobody_evicts_is_safe() {
        check("{kind: Pod}", true);
        check("{kind: Job}", false);
        check("{kind: Pod, metadata: {labels: {priorityClassName: build}}}", false);
        check(
            "{kind: Pod, metadata: {labels: {kai.scheduler/preemptibility: non-preemptible}}}",
            false,
        );
        check("{kind: Workflow, spec: {templates: [{container: {}}]}}", true);
        check(
            "{kind: Workflow, spec: {templates: [{container: {}, retryStrategy: {}}, {dag: {}}]}}",
            false,
        );
    }
}
