//! Rights of the project's accounts: those that its roles give, and those that an API server's audit log says they used.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::stage::scene::documents;

/// API group, resource with its subresource, verb.
pub type Right = (String, String, String);

/// Rights that the suite `rbac` cannot bring about: account, group, resource, verb (`*`: any), and why it is there.
const UNSEEN: [(&str, &str, &str, &str, &str); 9] = [
    ("kai-scheduler", "", "events", "patch", "an event that is told again"),
    (
        "kai-scheduler",
        "resource.k8s.io",
        "resourceclaims/binding",
        "*",
        "no request of its own: asked about with a write of a claim's status",
    ),
    (
        "kai-scheduler",
        "resource.k8s.io",
        "resourceclaims",
        "patch",
        "a claim made for extended resources where the bind failed",
    ),
    (
        "kai-scheduler",
        "resource.k8s.io",
        "resourceclaims",
        "delete",
        "such a claim where the bind failed",
    ),
    (
        "kai-scheduler",
        "resource.k8s.io",
        "resourceclaims/status",
        "patch",
        "such a claim where the bind failed",
    ),
    ("kai-podgrouper", "", "events", "patch", "an event that the process before it said, too"),
    ("kai-podgrouper", "kai.scheduler", "dailyrecords", "delete", "a record of last month"),
    ("kai-podgrouper", "scheduling.k8s.io", "workloads", "*", "served by Kubernetes 1.35 only"),
    (
        "kai-podgrouper",
        "scheduling.run.ai",
        "podgroups",
        "get",
        "after a conflict with another podgrouper",
    ),
];

/// Tells whether an account has a right that the suite `rbac` cannot bring about.
pub fn is_unseen(account: &str, right: &Right) -> bool {
    let (group, resource, verb) = right;
    let is_any = |pattern: &str, found: &str| pattern == "*" || pattern == found;
    UNSEEN.iter().any(|(who, of_group, of, unseen, _)| {
        is_any(who, account)
            && is_any(of_group, group)
            && is_any(of, resource)
            && is_any(unseen, verb)
    })
}

/// Deeds of an account.
#[derive(Debug, Default)]
pub struct Use {
    /// Rights that it used and was given.
    pub granted: BTreeSet<Right>,
    /// Rights that it lacked.
    pub refused: BTreeSet<Right>,
    /// Programs that its requests named as their senders.
    pub agents: BTreeSet<String>,
}

/// Reads what each account of the system's namespace did, by the audit log.
///
/// # Errors
///
/// When the log cannot be read.
pub fn used(log: &Path) -> Result<BTreeMap<String, Use>> {
    let mut found: BTreeMap<String, Use> = BTreeMap::new();
    let text = fs::read_to_string(log)?;
    // The API server may be in the middle of the last line.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    for line in whole.lines() {
        let event: Value = serde_json::from_str(line)?;
        let user = event["user"]["username"].as_str().unwrap_or_default();
        let object = &event["objectRef"];
        let (Some(account), Some(resource)) =
            (user.rsplit(':').next(), object["resource"].as_str())
        else {
            continue;
        };
        let resource = match object["subresource"].as_str() {
            Some(subresource) => format!("{resource}/{subresource}"),
            None => resource.to_owned(),
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let right = (text(&object["apiGroup"]), resource, text(&event["verb"]));
        let entry = found.entry(account.to_owned()).or_default();
        entry.agents.insert(text(&event["userAgent"]));
        if event["responseStatus"]["code"] == 403
            && text(&event["responseStatus"]["message"]).contains("cannot")
        {
            entry.refused.insert(right);
        } else {
            entry.granted.insert(right);
        }
    }
    Ok(found)
}

/// Reads what the roles in a file of `deploy/rbac` give.
///
/// # Errors
///
/// When the file cannot be read or gives nothing.
pub fn granted(file: &Path) -> Result<BTreeSet<Right>> {
    let rows = |value: &Value| -> Vec<String> {
        serde_json::from_value(value.clone()).unwrap_or_default()
    };
    let mut found = BTreeSet::new();
    for document in documents(file)? {
        for rule in document["rules"].as_array().into_iter().flatten() {
            for group in rows(&rule["apiGroups"]) {
                for resource in rows(&rule["resources"]) {
                    for verb in rows(&rule["verbs"]) {
                        found.insert((group.clone(), resource.clone(), verb));
                    }
                }
            }
        }
    }
    ensure!(!found.is_empty(), "{} gives no rights", file.display());
    Ok(found)
}

/// Kinds in the podgrouper's role for owners, by the file of its roles: group, version, kind, plural.
///
/// # Errors
///
/// When the file cannot be read or has no such role.
pub fn owner_kinds(file: &Path) -> Result<Vec<(String, String, String, String)>> {
    let builtin = ["apps", "batch"];
    let versions: BTreeMap<&str, &str> = [
        ("amlarc.azureml.com", "v1alpha1"),
        ("argoproj.io", "v1alpha1"),
        ("egx.nvidia.io", "v1"),
        ("grove.io", "v1alpha1"),
        ("jobset.x-k8s.io", "v1alpha2"),
        ("nvidia.com", "v1alpha1"),
        ("scheduler.grove.io", "v1alpha1"),
        ("trainer.kubeflow.org", "v1alpha1"),
        ("workspace.devfile.io", "v1alpha2"),
    ]
    .into();
    let mut found = Vec::new();
    let documents = documents(file)?;
    let role = documents
        .iter()
        .find(|document| {
            document["kind"] == "ClusterRole"
                && document["metadata"]["name"] == "kai-podgrouper-owners"
        })
        .context("no role for owners")?;
    for rule in role["rules"].as_array().into_iter().flatten() {
        let group = rule["apiGroups"][0].as_str().unwrap_or_default();
        for plural in rule["resources"].as_array().into_iter().flatten() {
            let plural = plural.as_str().unwrap_or_default();
            let singular = plural.trim_end_matches('s');
            let mut letters = singular.chars();
            let kind: String =
                letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
            let kind = match (group, singular) {
                ("apps", "replicaset") => "ReplicaSet".to_owned(),
                ("apps", "statefulset") => "StatefulSet".to_owned(),
                ("batch", "cronjob") => "CronJob".to_owned(),
                _ => kind,
            };
            let version = if builtin.contains(&group) {
                "v1"
            } else {
                versions.get(group).copied().unwrap_or("v1")
            };
            found.push((group.to_owned(), version.to_owned(), kind, plural.to_owned()));
        }
    }
    Ok(found)
}
