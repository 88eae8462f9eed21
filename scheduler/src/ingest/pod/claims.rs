//! Claims of pods: which they are, who refers to them, and who holds what they were given.

use std::collections::HashMap;

use kai_engine::ClaimId;

use super::{PodClaim, Wire};
use crate::{ingest::Context, names::Number};

/// The claims of a pod. One that a template has yet to make has a name that no claim can have, and is not found.
pub(super) fn of(context: &mut Context, wire: &Wire<'_>) -> Vec<ClaimId> {
    let meta = &wire.metadata;
    let mut claims = Vec::new();
    let made = wire.status.resource_claim_statuses.iter().rev();
    let made: HashMap<&str, &PodClaim<'_>> = made.map(|status| (&*status.name, status)).collect();
    for entry in &wire.spec.resource_claims {
        let made = made.get(&*entry.name);
        let name = match (&entry.resource_claim_name, made) {
            (Some(name), _) => String::from(&**name),
            (None, Some(made)) => match &made.resource_claim_name {
                Some(name) => String::from(&**name),
                None => continue,
            },
            (None, None) => format!("{}/{}", meta.name, entry.name),
        };
        claims.push(context.names.claim(&meta.namespace, &name));
    }
    let extended = wire.status.extended.as_ref();
    if let Some(name) = extended.and_then(|status| status.resource_claim_name.as_ref()) {
        claims.push(context.names.claim(&meta.namespace, name));
    }
    claims
}

/// The claim that the status of a pod says was made for its extended resources.
pub(super) fn extended(context: &mut Context, wire: &Wire<'_>) -> Option<u32> {
    let name = wire.status.extended.as_ref()?.resource_claim_name.as_ref()?;
    Some(context.names.claim(&wire.metadata.namespace, name).number())
}

/// Notes which claim the status of a pod says was made for its extended resources.
pub(super) fn name_extended(context: &mut Context, row: u32, claim: Option<u32>) {
    let Context { names, claims_changed, .. } = context;
    if names.pods[row].extended == claim {
        return;
    }
    let old = names.pods[row].edit(|extras| std::mem::replace(&mut extras.extended, claim));
    if let Some(new) = claim {
        names.claims[new].extended_for += 1;
    }
    if let Some(old) = old {
        names.claims[old].extended_for -= 1;
    }
    claims_changed.extend(claim.into_iter().chain(old));
}

/// Moves a pod from the claims that it named to others, and counts it among those that hold theirs where it has a node.
pub(super) fn hold(context: &mut Context, row: u32, has_node: bool, claims: &[ClaimId]) {
    let Context { names, claims_changed, .. } = context;
    let had_node = names.pods[row].node.is_some();
    let is_same = names.pods[row].claims.len() == claims.len()
        && names.pods[row].claims.iter().zip(claims).all(|(old, new)| *old == new.number());
    if is_same && (had_node == has_node || claims.is_empty()) {
        return;
    }
    let new: Vec<u32> = claims.iter().map(|claim| claim.number()).collect();
    for claim in &new {
        let claim = &mut names.claims[*claim];
        claim.presence.references += 1;
        claim.holders += u32::from(has_node);
    }
    for old in names.pods[row].edit(|extras| std::mem::replace(&mut extras.claims, new)) {
        let claim = &mut names.claims[old];
        claim.presence.references -= 1;
        claim.holders -= u32::from(had_node);
        if had_node && claim.holders == 0 {
            claims_changed.push(old);
        }
        if claim.presence.references == 0 && !claim.presence.is_there {
            names.claims.remove(old);
        }
    }
}
