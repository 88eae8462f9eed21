//! Rights of users, and the words in which a request is refused for want of one.

use crate::server::grants::Attributes;
use crate::server::refusal::{Refusal, ResourceName};
use crate::server::state::State;
use crate::server::user::User;

/// Tells whether a rule of a role that is bound to the user allows it.
pub(crate) fn allows(state: &State, user: &User, attributes: &Attributes<'_>) -> bool {
    state.grants.rights(&state.store, user, attributes.namespace).allow(attributes)
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
