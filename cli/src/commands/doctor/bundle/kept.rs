//! Says what a bundle keeps of objects that others than this product put into the cluster: the fields that a check reads,
//! by name. What else is in them is their owners' own, tokens and passwords in URLs among it.

use std::collections::BTreeSet;

use kai_api::names::annotation;
use serde_json::{Map, Value, json};

use crate::cluster::json::text;
use crate::commands::doctor::facts::{Source, each};
use crate::commands::install::manifest::{self, Component, Options};

/// Says which objects are this product's own.
#[derive(Debug)]
pub(super) struct Ours<'f> {
    /// The namespace of the daemons.
    system: &'f str,
    /// Kinds and names of what `install` makes.
    made: BTreeSet<(String, String)>,
}

impl<'f> Ours<'f> {
    /// Reads the manifests that this program has.
    pub(super) fn new(system: &'f str) -> Self {
        let mut options = Options::default();
        options.components.push(Component::FlowControl);
        let items = manifest::items(&options);
        let of = |object: &Value| {
            (text(&object["kind"]).to_owned(), text(&object["metadata"]["name"]).to_owned())
        };
        Self { system, made: items.iter().map(|item| of(&item.object)).collect() }
    }

    /// Returns what is kept of an object of a list.
    pub(super) fn kept(&self, source: Source, object: &Value) -> Value {
        let spec = &object["spec"];
        match source {
            Source::ServiceMonitors | Source::PodMonitors => json!({
                "metadata": head(object),
                "spec": some(spec, &["selector", "namespaceSelector"]),
            }),
            Source::Definitions if !self.is_made("CustomResourceDefinition", object) => {
                let versions = each(spec, "/versions");
                let versions = versions.map(|version| some(version, &["name", "served"]));
                json!({ "metadata": head(object), "spec": { "versions": versions.collect::<Vec<_>>() } })
            }
            Source::Policies if !self.is_made("ValidatingAdmissionPolicy", object) => {
                json!({ "metadata": head(object) })
            }
            Source::PolicyBindings => self.binding(object),
            Source::FlowSchemas if !self.is_made("FlowSchema", object) => json!({
                "metadata": head(object),
                "spec": some(spec, &["priorityLevelConfiguration", "matchingPrecedence"]),
            }),
            Source::Mutating | Source::Validating if !self.is_called(object) => {
                let webhooks: Vec<Value> = each(object, "/webhooks").map(webhook).collect();
                json!({ "metadata": head(object), "webhooks": webhooks })
            }
            Source::Pods | Source::PodGroups => without_words(object),
            _ => object.clone(),
        }
    }

    fn is_made(&self, kind: &str, object: &Value) -> bool {
        self.is_name_of(kind, text(&object["metadata"]["name"]))
    }

    fn is_name_of(&self, kind: &str, name: &str) -> bool {
        self.made.iter().any(|made| made.0 == kind && made.1 == name)
    }

    /// A binding of a policy, with what it does where the policy is this product's own.
    fn binding(&self, binding: &Value) -> Value {
        let spec = &binding["spec"];
        let is_of_ours = self.is_name_of("ValidatingAdmissionPolicy", text(&spec["policyName"]));
        let fields: &[&str] = if is_of_ours { &["policyName", "validationActions"] } else { &[] };
        json!({ "metadata": head(binding), "spec": some(spec, fields) })
    }

    /// Tells whether a configuration has webhooks, and all call services in the namespace of the daemons.
    fn is_called(&self, object: &Value) -> bool {
        let mut webhooks = each(object, "/webhooks").peekable();
        webhooks.peek().is_some()
            && webhooks.all(|one| text(&one["clientConfig"]["service"]["namespace"]) == self.system)
    }
}

/// Annotations without a domain that schedulers read or write.
const ANNOTATIONS: [&str; 7] = [
    annotation::GPU_FRACTION,
    annotation::GPU_MEMORY,
    annotation::GPU_FRACTION_DEVICES,
    annotation::GPU_FRACTION_CONTAINER,
    annotation::MPS,
    annotation::POD_GROUP,
    annotation::RECEIVED_RESOURCE_TYPE,
];
/// Domains of further ones.
const DOMAINS: [&str; 4] = ["kai.scheduler", "run.ai", "runai", "nvidia.com"];

/// A pod or group without what other tools note on it, and without what its containers said when they ended.
fn without_words(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(all)) = object.pointer_mut("/metadata/annotations") {
        all.retain(|key, _| match key.split_once('/') {
            Some((domain, _)) => DOMAINS.contains(&domain),
            None => ANNOTATIONS.contains(&key.as_str()),
        });
    }
    for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
        let statuses = object.pointer_mut(&format!("/status/{list}"));
        for status in statuses.and_then(Value::as_array_mut).into_iter().flatten() {
            for state in ["/state/terminated", "/state/waiting", "/lastState/terminated"] {
                if let Some(Value::Object(state)) = status.pointer_mut(state) {
                    state.remove("message");
                }
            }
        }
    }
    object
}

fn head(object: &Value) -> Value {
    some(&object["metadata"], &["name", "namespace", "creationTimestamp"])
}

fn webhook(webhook: &Value) -> Value {
    let mut kept = some(webhook, &["name", "failurePolicy", "timeoutSeconds"]);
    let service = &webhook["clientConfig"]["service"];
    kept["clientConfig"] = json!({ "service": some(service, &["namespace", "name"]) });
    kept
}

/// Some fields of an object, those that it has.
fn some(object: &Value, fields: &[&str]) -> Value {
    let field = |name: &&str| Some(((*name).to_owned(), object.get(*name)?.clone()));
    Value::Object(fields.iter().filter_map(field).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says what is kept of an object.
    fn check(source: Source, object: &Value, expect: &Value) {
        assert_eq!(Ours::new("kai-scheduler").kept(source, object), *expect, "{source:?}");
    }

    #[test]
    fn of_what_others_made_a_few_fields_are_kept() {
        let annotations = json!({"note": "s3cret"});
        let monitor = json!({
            "metadata": {"name": "m", "namespace": "n", "annotations": annotations},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "namespaceSelector": {"any": true},
                "endpoints": [{"params": {"token": ["s3cret"]}, "proxyUrl": "http://u:s3cret@p"}]}});
        let kept = json!({"metadata": {"name": "m", "namespace": "n"},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "namespaceSelector": {"any": true}}});
        check(Source::ServiceMonitors, &monitor, &kept);
        check(Source::PodMonitors, &monitor, &kept);
        let definition = json!({"metadata": {"name": "widgets.acme.com", "annotations": annotations},
            "spec": {"group": "acme.com", "versions": [{"name": "v1", "served": true, "schema": {"description": "s3cret"}}]}});
        let kept = json!({"metadata": {"name": "widgets.acme.com"}, "spec": {"versions": [{"name": "v1", "served": true}]}});
        check(Source::Definitions, &definition, &kept);
        let policy = json!({"metadata": {"name": "kai-acme"}, "spec": {"validations": [{"expression": "s3cret"}]}});
        check(Source::Policies, &policy, &json!({"metadata": {"name": "kai-acme"}}));
        let binding = |policy: &str| {
            json!({"metadata": {"name": "b", "annotations": annotations},
                "spec": {"policyName": policy, "validationActions": ["Deny"], "paramRef": {"name": "s3cret"}}})
        };
        let kept = json!({"metadata": {"name": "b"}, "spec": {}});
        check(Source::PolicyBindings, &binding("s3cret"), &kept);
        let kept = json!({"metadata": {"name": "b"},
            "spec": {"policyName": "kai-claims", "validationActions": ["Deny"]}});
        check(Source::PolicyBindings, &binding("kai-claims"), &kept);
        let schema = json!({"metadata": {"name": "s", "annotations": annotations},
            "spec": {"matchingPrecedence": 9, "priorityLevelConfiguration": {"name": "l"},
                "rules": [{"subjects": [{"kind": "User", "user": {"name": "s3cret"}}]}]}});
        let kept = json!({"metadata": {"name": "s"},
            "spec": {"priorityLevelConfiguration": {"name": "l"}, "matchingPrecedence": 9}});
        check(Source::FlowSchemas, &schema, &kept);
        let webhooks = json!({"metadata": {"name": "w"}, "webhooks": [
            {"name": "w.acme.com", "failurePolicy": "Fail", "timeoutSeconds": 10, "rules": [{"apiGroups": ["acme.com"]}],
                "clientConfig": {"service": {"namespace": "acme", "name": "w", "path": "/s3cret"}, "caBundle": "x"}},
            {"name": "v.acme.com", "clientConfig": {"url": "https://u:s3cret@acme.com"}}]});
        let kept = json!({"metadata": {"name": "w"}, "webhooks": [
            {"name": "w.acme.com", "failurePolicy": "Fail", "timeoutSeconds": 10,
                "clientConfig": {"service": {"namespace": "acme", "name": "w"}}},
            {"name": "v.acme.com", "clientConfig": {"service": {}}}]});
        check(Source::Mutating, &webhooks, &kept);
        check(Source::Validating, &webhooks, &kept);
        let none = json!({"metadata": {"name": "w", "annotations": annotations}, "webhooks": []});
        check(Source::Mutating, &none, &json!({"metadata": {"name": "w"}, "webhooks": []}));
    }

    #[test]
    fn of_pods_what_others_wrote_is_left_out() {
        let mut pod = json!({"metadata": {"name": "p", "annotations": {
                "gpu-fraction": "0.5", "kai.scheduler/topology": "t",
                "kapp.k14s.io/original": "s3cret", "objectset.rio.cattle.io/applied": "s3cret",
                "vault.hashicorp.com/agent-inject-template-x": "s3cret", "note": "s3cret"}},
            "status": {"conditions": [{"type": "PodScheduled", "message": "no GPU"}],
                "containerStatuses": [{"name": "c", "lastState": {"terminated": {"exitCode": 1, "message": "s3cret"}},
                    "state": {"waiting": {"reason": "ImagePullBackOff", "message": "s3cret"}}}]}});
        let kept = Ours::new("kai-scheduler").kept(Source::Pods, &pod);
        assert!(!kept.to_string().contains("s3cret"), "{kept}");
        pod["metadata"]["annotations"] =
            json!({"gpu-fraction": "0.5", "kai.scheduler/topology": "t"});
        pod["status"]["containerStatuses"][0]["lastState"] = json!({"terminated": {"exitCode": 1}});
        pod["status"]["containerStatuses"][0]["state"] =
            json!({"waiting": {"reason": "ImagePullBackOff"}});
        assert_eq!(kept, pod);
    }

    #[test]
    fn what_install_made_is_kept_whole() {
        let mut options = Options::default();
        options.components.push(Component::FlowControl);
        for item in manifest::items(&options) {
            let source = match text(&item.object["kind"]) {
                "CustomResourceDefinition" => Source::Definitions,
                "ValidatingAdmissionPolicy" => Source::Policies,
                "FlowSchema" => Source::FlowSchemas,
                _ => continue,
            };
            check(source, &item.object, &item.object);
        }
        let webhooks = json!({"metadata": {"name": "w"}, "webhooks": [
            {"name": "w", "clientConfig": {"service": {"namespace": "kai-scheduler"}, "caBundle": "x"}}]});
        check(Source::Mutating, &webhooks, &webhooks);
    }
}
