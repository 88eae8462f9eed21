//! Evaluation of Roles, `ClusterRoles` and their bindings.

use std::sync::Arc;

use serde_json::Value;

use crate::server::grants::{Attributes, GROUP};
use crate::server::object::{self, Object};
use crate::server::refusal::{Refusal, ResourceName};
use crate::server::state::State;
use crate::server::store::{Key, TableId};
use crate::server::user::User;

/// Tells whether a rule of a role that is bound to the user allows it.
pub(crate) fn allows(state: &State, user: &User, attributes: &Attributes<'_>) -> bool {
    user.is_master() || {
        let find = || rules(state, user, attributes.namespace);
        state.grants.allow(user, attributes, find)
    }
}

/// The refusal, in kube-apiserver's words.
pub(super) fn refusal(user: &User, attributes: &Attributes<'_>) -> Refusal {
    let resource = ResourceName { group: attributes.group, plural: attributes.resource };
    let slash = if attributes.subresource.is_empty() { "" } else { "/" };
    let scope = if attributes.namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace {:?}", attributes.namespace)
    };
    let why = format!(
        "User {:?} cannot {} resource \"{}{slash}{}\" in API group {:?} {scope}",
        user.name, attributes.verb, attributes.resource, attributes.subresource, attributes.group
    );
    Refusal::forbidden(resource, attributes.name, &why)
}

/// The rules that hold for a user in a namespace (cluster-wide ones only when empty).
pub(super) fn rules<'a>(state: &'a State, user: &User, namespace: &str) -> Vec<&'a Value> {
    let mut rules = Vec::new();
    let mut collect = |bindings: &str, of: &str| {
        let table = state.store.table(&TableId::new(GROUP, bindings));
        for binding in table.into_iter().flat_map(|table| table.in_namespace(of)) {
            if binds(binding, user)
                && let Some(role) = role(state, binding)
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

fn role<'a>(state: &'a State, binding: &Object) -> Option<&'a Arc<Object>> {
    let name = object::text(&binding.value, "/roleRef/name");
    match object::text(&binding.value, "/roleRef/kind") {
        "ClusterRole" => state.store.get(&TableId::new(GROUP, "clusterroles"), &Key::new("", name)),
        "Role" => {
            let key = Key::new(object::namespace(&binding.value), name);
            state.store.get(&TableId::new(GROUP, "roles"), &key)
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
