//! Checks of the API server's priority levels: whose requests wait for whose.

use std::collections::BTreeSet;

use serde_json::Value;

use super::facts::{Facts, Source, condition, each, place};
use super::finding::{Unread, Verdict};
use super::installed;
use crate::cluster::json::text;

/// The level of what no schema takes.
const CATCH_ALL: &str = "catch-all";
/// Lists of a rule which all hold `*` where it takes every request about objects.
const OF_ALL: [&str; 4] = ["/verbs", "/apiGroups", "/resources", "/namespaces"];

/// Requests of the daemons have a level to themselves.
pub(super) fn own(facts: &Facts) -> Result<Verdict, Unread> {
    let Some(schemas) = facts.kind(Source::FlowSchemas)? else {
        return Ok(Verdict::ok("this API server has no priority levels"));
    };
    let accounts: BTreeSet<&str> = installed::ours(facts)?.into_iter().map(account).collect();
    if accounts.is_empty() {
        return Ok(Verdict::ok("no Deployment of ours, so that no account of a daemon is known"));
    }
    let schema = |account: &str| schema_of(schemas, &facts.system, account);
    let levels = accounts.iter().map(|account| schema(account).map_or(CATCH_ALL, level));
    let levels: BTreeSet<&str> = levels.collect();
    let is_shared = |name: &&str| !is_own(schemas, &facts.system, name);
    let shared: Vec<&str> = levels.iter().copied().filter(is_shared).collect();
    if shared.is_empty() {
        let names: Vec<&str> = levels.into_iter().collect();
        let names = names.join(", ");
        return Ok(Verdict::ok(format!(
            "requests of the daemons have a level of their own: {names}"
        )));
    }
    Ok(Verdict::ok(format!(
        "requests of the daemons share the seats of level {} with others; seats of their own: {}",
        shared.join(", "),
        facts.install(" --flow-control")
    )))
}

/// The account that the pods of a Deployment have.
fn account(deployment: &Value) -> &str {
    match text(&deployment["spec"]["template"]["spec"]["serviceAccountName"]) {
        "" => "default",
        name => name,
    }
}

fn level(schema: &Value) -> &str {
    text(&schema["spec"]["priorityLevelConfiguration"]["name"])
}

/// Finds the schema that takes the requests of an account: the first by precedence, then by name, whose level is there.
fn schema_of<'s>(schemas: &'s [Value], namespace: &str, account: &str) -> Option<&'s Value> {
    let takes = |schema: &&Value| {
        condition(schema, "Dangling") != "True"
            && each(schema, "/spec/rules").any(|rule| {
                is_of_all(rule)
                    && each(rule, "/subjects").any(|subject| means(subject, namespace, account))
            })
    };
    let order = |schema: &&Value| (schema["spec"]["matchingPrecedence"].as_i64(), place(schema));
    schemas.iter().filter(takes).min_by_key(order)
}

/// Tells whether a rule takes every request about objects, rather than some kinds or verbs.
fn is_of_all(rule: &Value) -> bool {
    let has_all = |one: &Value| OF_ALL.iter().all(|list| each(one, list).any(|word| word == "*"));
    each(rule, "/resourceRules").any(has_all)
}

/// Tells whether a subject of a rule means an account.
fn means(subject: &Value, namespace: &str, account: &str) -> bool {
    let (user, group) = (text(&subject["user"]["name"]), text(&subject["group"]["name"]));
    let named = &subject["serviceAccount"];
    match text(&subject["kind"]) {
        "ServiceAccount" => {
            named["namespace"] == namespace && (named["name"] == "*" || named["name"] == account)
        }
        "User" => user == "*" || user == format!("system:serviceaccount:{namespace}:{account}"),
        "Group" => {
            matches!(group, "*" | "system:authenticated" | "system:serviceaccounts")
                || group == format!("system:serviceaccounts:{namespace}")
        }
        _ => false,
    }
}

/// Tells whether all schemas of a level are of accounts in the namespace of the daemons.
fn is_own(schemas: &[Value], namespace: &str, name: &str) -> bool {
    let mut schemas = schemas.iter().filter(|schema| level(schema) == name).peekable();
    let is_ours = |subject: &Value| subject["serviceAccount"]["namespace"] == namespace;
    schemas.peek().is_some()
        && schemas.all(|schema| {
            each(schema, "/spec/rules").all(|rule| each(rule, "/subjects").all(is_ours))
        })
}
