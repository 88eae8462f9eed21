//! Tells of others than KAI that would hold the same pods back, start them together, or give them to a scheduler.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Document;
use crate::cluster::json::{resolve, text};
use crate::cluster::{listing, manifest};
use crate::context::Context;
use crate::print::output::clean;

/// Keys of labels and annotations by which others find pods, and who they are.
const KEYS: [(&str, &str); 4] = [
    ("kueue.x-k8s.io/queue-name", "Kueue"),
    ("scheduling.k8s.io/group-name", "Volcano"),
    ("scheduling.volcano.sh/queue-name", "Volcano"),
    ("scheduling.x-k8s.io/pod-group", "the coscheduling plugin"),
];

/// Warns of them.
///
/// # Source
/// docs/workloads.md 12.2.
pub(super) fn warn(documents: &[Document], context: &mut Context) {
    for document in documents.iter().filter(|document| document.is_workload) {
        for what in told(&document.object, document.templates()) {
            context.out.warn(&format!("{}: {what}", listing::name(&document.object)));
        }
    }
}

/// Says what is in an object, and in the one with its templates.
fn told(object: &Value, templates: &Value) -> Vec<String> {
    let sites = manifest::sites(templates);
    let inner = sites.iter().filter_map(|site| resolve(templates, site.meta.as_deref()?));
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for meta in std::iter::once(&object["metadata"]).chain(inner) {
        let has = |key: &str| ["labels", "annotations"].iter().any(|of| !meta[*of][key].is_null());
        found.extend(KEYS.into_iter().filter(|(key, _)| has(key)));
    }
    let keys = found.into_iter().map(|(key, who)| {
        format!(
            "{key} is for {who}, which may hold its pods back besides KAI; take it out unless both are meant"
        )
    });
    keys.chain(given_away(object)).chain(started_apart(object)).collect()
}

/// A Spark application whose operator names another scheduler on its pods.
fn given_away(object: &Value) -> Option<String> {
    if !text(&object["apiVersion"]).starts_with("sparkoperator.k8s.io/") {
        return None;
    }
    let specs = [&object["spec"], &object["spec"]["template"]];
    let mut named = specs.into_iter().map(|spec| text(&spec["batchScheduler"]));
    let scheduler = named.find(|name| !name.is_empty())?;
    Some(format!(
        "its operator gives its pods to {}, whatever their schedulerName: take batchScheduler out",
        clean(scheduler)
    ))
}

/// An inference service of several nodes, whose head and workers are two Deployments.
fn started_apart(object: &Value) -> Option<String> {
    let is_one = text(&object["kind"]) == "InferenceService"
        && object["spec"]["predictor"]["workerSpec"].is_object();
    is_one.then(|| {
        "its head and its workers start one by one and not together; a LeaderWorkerSet is a gang (submit lws)"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says what an object is warned of, by the beginnings of the sentences.
    fn check(yaml: &str, expect: &[&str]) {
        let object: Value = serde_saphyr::from_str(yaml).expect("written below");
        let told = told(&object, &object);
        assert_eq!(told.len(), expect.len(), "{yaml}: {told:?}");
        for (told, expect) in told.iter().zip(expect) {
            assert!(told.starts_with(expect), "{yaml}: {told}");
        }
    }

    #[test]
    fn others_that_act_on_the_same_pods_are_told() {
        let job = |meta: &str, inner: &str| {
            format!(
                "{{apiVersion: batch/v1, kind: Job, metadata: {{{meta}}}, spec: {{template: {{metadata: {{{inner}}}, spec: {{containers: [{{name: a}}]}}}}}}}}"
            )
        };
        check(&job("", ""), &[]);
        check(
            &job("labels: {kueue.x-k8s.io/queue-name: q}", ""),
            &["kueue.x-k8s.io/queue-name is"],
        );
        check(
            &job(
                "labels: {scheduling.x-k8s.io/pod-group: g}",
                "labels: {scheduling.x-k8s.io/pod-group: g}, annotations: {scheduling.k8s.io/group-name: g}",
            ),
            &["scheduling.k8s.io/group-name is", "scheduling.x-k8s.io/pod-group is"],
        );
    }

    #[test]
    fn pods_that_go_elsewhere_or_start_apart_are_told() {
        let spark = |kind: &str, spec: &str| {
            format!("{{apiVersion: sparkoperator.k8s.io/v1beta2, kind: {kind}, spec: {spec}}}")
        };
        let given = "its operator gives its pods to volcano";
        check(&spark("SparkApplication", "{driver: {}}"), &[]);
        check(&spark("SparkApplication", "{batchScheduler: volcano, driver: {}}"), &[given]);
        check(
            &spark(
                "ScheduledSparkApplication",
                "{template: {batchScheduler: volcano, driver: {}}}",
            ),
            &[given],
        );
        let service = |predictor: &str| {
            format!(
                "{{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, spec: {{predictor: {predictor}}}}}"
            )
        };
        check(&service("{model: {}}"), &[]);
        check(&service("{model: {}, workerSpec: {}}"), &["its head and its workers start"]);
    }
}
