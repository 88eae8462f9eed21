//! Rules of RBAC that hold for users, kept until one of them changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::object;
use super::store::TableId;
use super::user::User;

/// The API group of roles and their bindings.
pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";

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

    /// Tells whether a rule allows it; those of the user in the namespace are found where they are not known.
    pub(crate) fn allow<'v>(
        &self,
        user: &User,
        attributes: &Attributes<'_>,
        find: impl FnOnce() -> Vec<&'v Value>,
    ) -> bool {
        let rules = self.of(user, attributes.namespace, find);
        rules.iter().any(|rule| rule.covers(attributes))
    }

    fn of<'v>(
        &self,
        user: &User,
        namespace: &str,
        find: impl FnOnce() -> Vec<&'v Value>,
    ) -> Arc<[Rule]> {
        let mut users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = users.get(user).and_then(|namespaces| namespaces.get(namespace)) {
            return Arc::clone(found);
        }
        let found: Arc<[Rule]> = find().into_iter().map(Rule::read).collect();
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
