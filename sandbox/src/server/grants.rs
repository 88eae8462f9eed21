//! Rules of RBAC that hold for users, by Roles, `ClusterRoles` and their bindings; kept until one of them changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::object::{self, Object};
use super::store::{Key, Store, TableId};
use super::user::User;

/// The API group of roles and their bindings.
const GROUP: &str = "rbac.authorization.k8s.io";

/// Wish of somebody, in the words of RBAC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attributes<'a> {
    /// The verb.
    pub(crate) verb: &'a str,
    /// The API group.
    pub(crate) group: &'a str,
    /// The plural.
    pub(crate) resource: &'a str,
    /// The subresource, or empty.
    pub(crate) subresource: &'a str,
    /// The namespace, or empty.
    pub(crate) namespace: &'a str,
    /// The object's name, or empty.
    pub(crate) name: &'a str,
}

/// So many users are remembered, and so many namespaces of each; then it begins anew, since anybody may name any number.
const KEPT_MAX: usize = 1000;

/// Rules that hold for users, as they were found. Every request asks for them, and they seldom change.
#[derive(Debug, Default)]
pub(crate) struct Grants(Mutex<HashMap<User, OfUser>>);

/// The rules for a user in each namespace.
type OfUser = HashMap<String, Arc<[Rule]>>;

impl Grants {
    /// Forgets them where a table of RBAC was written.
    pub(crate) fn notice(&mut self, table: &TableId) {
        if &*table.group == GROUP {
            self.0.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// Finds the rights of a user in a namespace; where it is empty, those that hold in all of them.
    pub(crate) fn rights(&self, store: &Store, user: &User, namespace: &str) -> Rights {
        Rights((!user.is_master()).then(|| self.of(store, user, namespace)))
    }

    fn of(&self, store: &Store, user: &User, namespace: &str) -> Arc<[Rule]> {
        let mut users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = users.get(user).and_then(|namespaces| namespaces.get(namespace)) {
            return Arc::clone(found);
        }
        let found: Arc<[Rule]> =
            rules(store, user, namespace).into_iter().map(Rule::read).collect();
        if users.len() >= KEPT_MAX {
            users.clear();
        }
        let of_user = users.entry(user.clone()).or_default();
        if of_user.len() >= KEPT_MAX {
            of_user.clear();
        }
        of_user.insert(namespace.to_owned(), Arc::clone(&found));
        found
    }
}

/// Rights of a user in a namespace, as they were when they were asked for; none: RBAC does not bind the user.
#[derive(Debug, Clone)]
pub(crate) struct Rights(Option<Arc<[Rule]>>);

impl Rights {
    /// Tells whether a rule allows it.
    pub(crate) fn allow(&self, attributes: &Attributes<'_>) -> bool {
        let Some(rules) = &self.0 else { return true };
        rules.iter().any(|rule| rule.covers(attributes))
    }
}

/// A rule of a role.
#[derive(Debug)]
struct Rule {
    verbs: Vec<String>,
    groups: Vec<String>,
    /// Each with its subresource.
    resources: Vec<(String, Option<String>)>,
    /// The objects; none: all of them.
    names: Vec<String>,
}

impl Rule {
    fn read(rule: &Value) -> Self {
        let texts = |field: &str| -> Vec<String> {
            let items = object::array(rule, field).iter().filter_map(Value::as_str);
            items.map(str::to_owned).collect()
        };
        let resources =
            texts("/resources").into_iter().map(|resource| match resource.split_once('/') {
                Some((of, subresource)) => (of.to_owned(), Some(subresource.to_owned())),
                None => (resource, None),
            });
        Self {
            verbs: texts("/verbs"),
            groups: texts("/apiGroups"),
            resources: resources.collect(),
            names: texts("/resourceNames"),
        }
    }

    fn covers(&self, attributes: &Attributes<'_>) -> bool {
        let has =
            |items: &[String], word: &str| items.iter().any(|item| item == "*" || item == word);
        let covers = |(of, subresource): &(String, Option<String>)| match subresource {
            Some(subresource) => {
                !attributes.subresource.is_empty()
                    && subresource == attributes.subresource
                    && (of == "*" || of == attributes.resource)
            }
            None => of == "*" || (attributes.subresource.is_empty() && of == attributes.resource),
        };
        has(&self.verbs, attributes.verb)
            && has(&self.groups, attributes.group)
            && self.resources.iter().any(covers)
            && (self.names.is_empty() || self.names.iter().any(|name| name == attributes.name))
    }
}

/// The rules that hold for a user in a namespace (cluster-wide ones only when empty).
pub(crate) fn rules<'a>(store: &'a Store, user: &User, namespace: &str) -> Vec<&'a Value> {
    let mut rules = Vec::new();
    let mut collect = |bindings: &str, of: &str| {
        let table = store.table(&TableId::new(GROUP, bindings));
        for binding in table.into_iter().flat_map(|table| table.in_namespace(of)) {
            if binds(binding, user)
                && let Some(role) = role(store, binding)
            {
                rules.extend(object::array(&role.value, "/rules"));
            }
        }
    };
    collect("clusterrolebindings", "");
    if !namespace.is_empty() {
        collect("rolebindings", namespace);
    }
    rules
}

fn role<'a>(store: &'a Store, binding: &Object) -> Option<&'a Arc<Object>> {
    let name = object::text(&binding.value, "/roleRef/name");
    match object::text(&binding.value, "/roleRef/kind") {
        "ClusterRole" => store.get(&TableId::new(GROUP, "clusterroles"), &Key::new("", name)),
        "Role" => {
            let key = Key::new(object::namespace(&binding.value), name);
            store.get(&TableId::new(GROUP, "roles"), &key)
        }
        _ => None,
    }
}

fn binds(binding: &Object, user: &User) -> bool {
    object::array(&binding.value, "/subjects").iter().any(|subject| {
        let name = object::text(subject, "/name");
        match object::text(subject, "/kind") {
            "User" => user.name == name,
            "Group" => user.groups.iter().any(|group| group == name),
            "ServiceAccount" => {
                let namespace = object::text(subject, "/namespace");
                let account = user.name.strip_prefix("system:serviceaccount:");
                account.and_then(|account| account.split_once(':')) == Some((namespace, name))
            }
            _ => false,
        }
    })
}
