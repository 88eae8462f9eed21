//! Defaults and validation of webhook configurations and policies.
//!
//! # Source
//!
//! The answers of kube-apiserver 1.36 (`tests/conformance/webhooks-refused.yaml`, `policies-refused.yaml`).

use std::collections::BTreeSet;

use http::Uri;
use serde_json::{Map, Value, json};

use super::GROUP;
use super::expression::Expression;
use crate::server::kinds::Kind;
use crate::server::object;
use crate::server::refusal::Cause;

/// Number of match conditions that an object may have.
const CONDITIONS_MAX: u64 = 64;

fn fill(value: &mut Value, defaults: &[(&str, Value)]) {
    let Some(fields) = value.as_object_mut() else { return };
    for (key, default) in defaults {
        fields.entry(*key).or_insert_with(|| default.clone());
    }
}

fn each<'a>(value: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Fills in the defaults of webhook configurations and policies.
pub(crate) fn default(kind: &Kind, value: &mut Value) {
    let matching = [
        ("matchPolicy", json!("Equivalent")),
        ("namespaceSelector", json!({})),
        ("objectSelector", json!({})),
    ];
    for webhook in each(value, "webhooks") {
        fill(webhook, &matching);
        fill(webhook, &[("failurePolicy", json!("Fail")), ("timeoutSeconds", json!(10))]);
        if kind.plural == "mutatingwebhookconfigurations" {
            fill(webhook, &[("reinvocationPolicy", json!("Never"))]);
        }
        if let Some(service) = webhook.pointer_mut("/clientConfig/service") {
            fill(service, &[("port", json!(443))]);
        }
        for rule in each(webhook, "rules") {
            fill(rule, &[("scope", json!("*"))]);
        }
    }
    if kind.plural == "validatingadmissionpolicies" {
        fill(
            value.get_mut("spec").unwrap_or(&mut Value::Null),
            &[("failurePolicy", json!("Fail"))],
        );
    }
    for key in ["matchConstraints", "matchResources"] {
        let Some(resources) = value.get_mut("spec").and_then(|spec| spec.get_mut(key)) else {
            continue;
        };
        fill(resources, &matching);
        for list in ["resourceRules", "excludeResourceRules"] {
            for rule in each(resources, list) {
                fill(rule, &[("scope", json!("*"))]);
            }
        }
    }
    if let Some(params) = value.pointer_mut("/spec/paramRef") {
        fill(params, &[("parameterNotFoundAction", json!("Deny"))]);
    }
}

/// Lists what is wrong with a webhook configuration or policy.
pub(crate) fn validate(kind: &Kind, value: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if kind.group != GROUP || kind.custom {
        return causes;
    }
    match kind.plural.as_str() {
        "validatingadmissionpolicies" => policy(value, &mut causes),
        "validatingadmissionpolicybindings" => binding(value, &mut causes),
        _ => webhooks(value, &mut causes),
    }
    causes
}

fn webhooks(value: &Value, causes: &mut Vec<Cause>) {
    let mut names = BTreeSet::new();
    for (index, webhook) in object::array(value, "/webhooks").iter().enumerate() {
        let at = format!("webhooks[{index}]");
        let name = object::text(webhook, "/name");
        if name.split('.').filter(|part| !part.is_empty()).count() < 3 {
            let why = "should be a domain with at least three segments separated by dots";
            causes.push(Cause::invalid(format!("{at}.name"), &json!(name), why));
        }
        if !names.insert(name) {
            causes.push(Cause::duplicate(format!("{at}.name"), &json!(name)));
        }
        self_description(webhook, &at, causes);
        client(webhook, &at, causes);
        for (index, rule) in object::array(webhook, "/rules").iter().enumerate() {
            check_rule(rule, &format!("{at}.rules[{index}]"), causes);
        }
        conditions(webhook, "matchConditions", &at, causes);
    }
}

/// Checks what a webhook says of itself: versions, side effects, time, policies.
fn self_description(webhook: &Value, at: &str, causes: &mut Vec<Cause>) {
    let versions = object::array(webhook, "/admissionReviewVersions");
    let field = format!("{at}.admissionReviewVersions");
    if versions.is_empty() {
        causes.push(Cause::required(field, "must specify one of v1, v1beta1"));
    } else if !versions.iter().any(|version| version == "v1" || version == "v1beta1") {
        let given = webhook.get("admissionReviewVersions").cloned().unwrap_or_default();
        causes.push(Cause::invalid(field, &given, "must include at least one of v1, v1beta1"));
    }
    let field = format!("{at}.sideEffects");
    match object::text(webhook, "/sideEffects") {
        "None" | "NoneOnDryRun" => {}
        "" => causes.push(Cause::required(field, "must specify one of None, NoneOnDryRun")),
        other => causes.push(Cause::unsupported(field, &json!(other), &["None", "NoneOnDryRun"])),
    }
    let seconds = webhook.get("timeoutSeconds").cloned().unwrap_or(json!(10));
    if !seconds.as_i64().is_some_and(|seconds| (1..=30).contains(&seconds)) {
        let why = "the timeout value must be between 1 and 30 seconds";
        causes.push(Cause::invalid(format!("{at}.timeoutSeconds"), &seconds, why));
    }
    one_of(webhook, "failurePolicy", &["Fail", "Ignore"], at, causes);
    one_of(webhook, "matchPolicy", &["Equivalent", "Exact"], at, causes);
    one_of(webhook, "reinvocationPolicy", &["IfNeeded", "Never"], at, causes);
}

fn one_of(value: &Value, key: &str, allowed: &[&str], at: &str, causes: &mut Vec<Cause>) {
    let Some(given) = value.get(key).and_then(Value::as_str) else { return };
    if !allowed.contains(&given) {
        causes.push(Cause::unsupported(format!("{at}.{key}"), &json!(given), allowed));
    }
}

fn client(webhook: &Value, at: &str, causes: &mut Vec<Cause>) {
    let at = format!("{at}.clientConfig");
    let url = object::text(webhook, "/clientConfig/url");
    let service = webhook.pointer("/clientConfig/service");
    if url.is_empty() == service.is_none() {
        causes.push(Cause::required(at, "exactly one of url or service is required"));
        return;
    }
    if let Some(service) = service {
        for key in ["name", "namespace"] {
            if object::text(service, &format!("/{key}")).is_empty() {
                let field = format!("{at}.service.{key}");
                causes.push(Cause::required(field, &format!("service {key} is required")));
            }
        }
        return;
    }
    let form = "desired format: https://host[/path]";
    let why = match url.parse::<Uri>() {
        Err(error) => Some(format!("url must be a valid URL: {error}; {form}")),
        Ok(uri) if uri.scheme_str() != Some("https") => {
            Some(format!("'https' is the only allowed URL scheme; {form}"))
        }
        Ok(uri) if uri.query().is_some() => {
            Some(format!("query parameters are not permitted in the URL; {form}"))
        }
        Ok(_) => None,
    };
    if let Some(why) = why {
        causes.push(Cause::invalid(format!("{at}.url"), &json!(url), &why));
    }
}

fn check_rule(rule: &Value, at: &str, causes: &mut Vec<Cause>) {
    for key in ["operations", "apiGroups", "apiVersions", "resources"] {
        if object::array(rule, &format!("/{key}")).is_empty() {
            causes.push(Cause::required(format!("{at}.{key}"), ""));
        }
    }
    for (index, one) in object::array(rule, "/operations").iter().enumerate() {
        let allowed = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
        if !one.as_str().is_some_and(|word| allowed.contains(&word)) {
            let field = format!("{at}.operations[{index}]");
            causes.push(Cause::unsupported(field, one, &allowed));
        }
    }
    one_of(rule, "scope", &["*", "Cluster", "Namespaced"], at, causes);
}

/// Named expressions.
fn conditions(value: &Value, key: &str, at: &str, causes: &mut Vec<Cause>) {
    let entries = object::array(value, &format!("/{key}"));
    if entries.len() as u64 > CONDITIONS_MAX {
        causes.push(Cause::too_many(format!("{at}.{key}"), entries.len(), CONDITIONS_MAX));
    }
    let mut names = BTreeSet::new();
    for (index, entry) in entries.iter().enumerate() {
        let at = format!("{at}.{key}[{index}]");
        let name = object::text(entry, "/name");
        if name.is_empty() {
            causes.push(Cause::required(format!("{at}.name"), ""));
        } else if !names.insert(name) {
            causes.push(Cause::duplicate(format!("{at}.name"), &json!(name)));
        }
        expression(entry, "expression", &at, causes);
    }
}

fn expression(value: &Value, key: &str, at: &str, causes: &mut Vec<Cause>) {
    let text = object::text(value, &format!("/{key}"));
    let field = format!("{at}.{key}");
    if text.trim().is_empty() {
        causes.push(Cause::required(field, ""));
    } else if let Err(why) = Expression::compile(text) {
        causes.push(Cause::invalid(field, &json!(text), &why));
    }
}

fn policy(value: &Value, causes: &mut Vec<Cause>) {
    let none = Value::Object(Map::new());
    let spec = value.get("spec").unwrap_or(&none);
    if spec.get("paramKind").is_some() {
        let why = "parameters of policies are not implemented by the kai sandbox API server";
        causes.push(Cause::forbidden("spec.paramKind", why));
    }
    match spec.get("matchConstraints") {
        None => causes.push(Cause::required("spec.matchConstraints", "")),
        Some(resources) => {
            let at = "spec.matchConstraints.resourceRules";
            let rules = object::array(resources, "/resourceRules");
            if rules.is_empty() {
                causes.push(Cause::required(at, ""));
            }
            for (index, rule) in rules.iter().enumerate() {
                check_rule(rule, &format!("{at}[{index}]"), causes);
            }
        }
    }
    let validations = object::array(spec, "/validations");
    if validations.is_empty() && object::array(spec, "/auditAnnotations").is_empty() {
        let why = "validations or auditAnnotations must be specified";
        causes.push(Cause::required("spec.validations", why));
    }
    for (index, validation) in validations.iter().enumerate() {
        let at = format!("spec.validations[{index}]");
        expression(validation, "expression", &at, causes);
        if validation.get("messageExpression").is_some() {
            expression(validation, "messageExpression", &at, causes);
        }
    }
    one_of(spec, "failurePolicy", &["Fail", "Ignore"], "spec", causes);
    conditions(spec, "matchConditions", "spec", causes);
    conditions(spec, "variables", "spec", causes);
}

fn binding(value: &Value, causes: &mut Vec<Cause>) {
    let none = Value::Object(Map::new());
    let spec = value.get("spec").unwrap_or(&none);
    if object::text(spec, "/policyName").is_empty() {
        causes.push(Cause::required("spec.policyName", ""));
    }
    if spec.get("paramRef").is_some() {
        let why = "parameters of policies are not implemented by the kai sandbox API server";
        causes.push(Cause::forbidden("spec.paramRef", why));
    }
    let actions = object::array(spec, "/validationActions");
    if actions.is_empty() {
        causes.push(Cause::required("spec.validationActions", ""));
    }
    for (index, action) in actions.iter().enumerate() {
        let allowed = ["Audit", "Deny", "Warn"];
        if !action.as_str().is_some_and(|word| allowed.contains(&word)) {
            let at = format!("spec.validationActions[{index}]");
            causes.push(Cause::unsupported(at, action, &allowed));
        }
    }
    if actions.contains(&json!("Deny")) && actions.contains(&json!("Warn")) {
        let why = "must not contain both Deny and Warn (repeating the same validation failure information in the API \
                   response and headers serves no purpose)";
        let given = spec.get("validationActions").cloned().unwrap_or_default();
        causes.push(Cause::invalid("spec.validationActions", &given, why));
    }
}
