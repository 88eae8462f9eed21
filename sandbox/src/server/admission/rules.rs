//! Requests that a webhook or policy wants to hear of: rules, and selectors of namespaces and objects.
//!
//! # Source
//!
//! `k8s.io/apiserver/pkg/admission/plugin/webhook/predicates` describes the order and the exceptions; the cases under
//! `tests/conformance` and `tests/admission` compare with kube-apiserver.

use serde_json::{Map, Value};

use super::{Attributes, GROUP, Operation};
use crate::server::object;
use crate::server::selector::Labels;

/// One `RuleWithOperations`, with the names that policies may add.
#[derive(Debug)]
struct Rule {
    groups: Vec<String>,
    versions: Vec<String>,
    resources: Vec<String>,
    operations: Vec<String>,
    names: Vec<String>,
    /// `*`, `Namespaced` or `Cluster`.
    scope: String,
}

/// Selection of a webhook, policy or binding.
#[derive(Debug)]
pub(super) struct Scope {
    rules: Vec<Rule>,
    excluded: Vec<Rule>,
    /// True if other served versions of a resource match as well.
    is_equivalent: bool,
    /// True if no rule means all requests, as in the binding of a policy.
    takes_all: bool,
    namespaces: Labels,
    objects: Labels,
}

fn texts(value: &Value, pointer: &str) -> Vec<String> {
    object::array(value, pointer).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn has(list: &[String], word: &str) -> bool {
    list.iter().any(|one| one == "*" || one == word)
}

impl Rule {
    fn read(value: &Value) -> Self {
        Self {
            groups: texts(value, "/apiGroups"),
            versions: texts(value, "/apiVersions"),
            resources: texts(value, "/resources"),
            operations: texts(value, "/operations"),
            names: texts(value, "/resourceNames"),
            scope: object::text(value, "/scope").to_owned(),
        }
    }

    fn matches(&self, asked: &Attributes<'_>, version: &str) -> bool {
        has(&self.groups, &asked.target.kind.group)
            && has(&self.versions, version)
            && has(&self.operations, asked.operation.word())
            && self.has_resource(&asked.target.kind.plural, &asked.target.subresource)
            && self.has_scope(asked)
            && (self.names.is_empty() || self.names.contains(&asked.name))
    }

    fn has_resource(&self, plural: &str, subresource: &str) -> bool {
        self.resources.iter().any(|resource| {
            let (own, sub) = resource.split_once('/').unwrap_or((resource, ""));
            (own == "*" || own == plural) && (sub == "*" || sub == subresource)
        })
    }

    /// A Namespace counts as an object of the cluster.
    fn has_scope(&self, asked: &Attributes<'_>) -> bool {
        let is_cluster =
            asked.target.kind.is("", "namespaces") || asked.target.namespace.is_empty();
        match self.scope.as_str() {
            "Namespaced" => !is_cluster,
            "Cluster" => is_cluster,
            _ => true,
        }
    }
}

impl Scope {
    /// The scope of a webhook: `rules` and selectors beside each other.
    pub(super) fn of_webhook(value: &Value) -> Self {
        Self::read(value, "/rules", false)
    }

    /// The `matchConstraints` of a policy.
    pub(super) fn of_policy(value: &Value) -> Self {
        Self::read(value, "/resourceRules", false)
    }

    /// The `matchResources` of a binding; absent rules mean all requests of the policy.
    pub(super) fn of_binding(value: &Value) -> Self {
        Self::read(value, "/resourceRules", true)
    }

    fn read(value: &Value, rules: &str, takes_all: bool) -> Self {
        let list = |pointer: &str| object::array(value, pointer).iter().map(Rule::read).collect();
        let labels =
            |key: &str| Labels::from_object(value.get(key).unwrap_or(&Value::Object(Map::new())));
        Self {
            rules: list(rules),
            excluded: list("/excludeResourceRules"),
            is_equivalent: object::text(value, "/matchPolicy") != "Exact",
            takes_all,
            namespaces: labels("namespaceSelector"),
            objects: labels("objectSelector"),
        }
    }

    /// The version of the resource in which the object is wanted, when the rules and the selector of namespaces match;
    /// `namespace` holds the labels of the request's namespace, `None` for objects of the cluster.
    pub(super) fn version<'a>(
        &self,
        asked: &'a Attributes<'_>,
        namespace: Option<&Map<String, Value>>,
    ) -> Option<&'a str> {
        let is_selected = namespace.is_none_or(|labels| self.namespaces.matches(Some(labels)));
        if !is_selected {
            return None;
        }
        let own = asked.target.version.as_str();
        let others = asked.target.kind.versions.iter().map(|version| version.name.as_str());
        let others = others.filter(|version| self.is_equivalent && *version != own);
        let mut versions = std::iter::once(own).chain(others);
        let is_excluded = versions
            .clone()
            .any(|version| self.excluded.iter().any(|rule| rule.matches(asked, version)));
        if is_excluded {
            return None;
        }
        if self.takes_all && self.rules.is_empty() {
            return Some(own);
        }
        versions.find(|version| self.rules.iter().any(|rule| rule.matches(asked, version)))
    }

    /// Tells whether the selector of objects matches the new or the old state.
    pub(super) fn has_object(&self, new: &Value, old: &Value) -> bool {
        let matches =
            |value: &Value| !value.is_null() && self.objects.matches(object::labels(value));
        self.objects.is_empty() || matches(new) || matches(old)
    }
}

/// Tells whether no webhook is asked about a request: who may break admission must be able to repair it.
pub(super) fn is_kept_from_webhooks(asked: &Attributes<'_>) -> bool {
    asked.target.kind.group == GROUP
}

/// Tells whether no policy is asked about a request: policies are asked about webhooks, and not about policies.
pub(super) fn is_kept_from_policies(asked: &Attributes<'_>) -> bool {
    is_kept_from_webhooks(asked) && asked.target.kind.plural.starts_with("validatingadmissionpolic")
}

impl Operation {
    /// The word used in rules and reviews.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}
