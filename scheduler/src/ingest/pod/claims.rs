//! Claims of pods: which they are, who refers to them, and who holds what they were given.

use std::collections::{BTreeSet, HashMap};

use kai_engine::{ClaimId, Pod};

use super::{PodClaim, Wire, has_ended};
use crate::{
    ingest::{Context, selector::LISTED_MAX},
    names::Number,
};

/// The claims of a pod. One that a template has yet to make has a name that no claim can have, and is not found: the first of
/// them keeps the pod waiting, and its status will tell of the others.
///
/// A pod that names more than are looked for waits and is told so, whatever they are. Once it has a node it holds of these
/// what is there.
pub(super) fn of(context: &mut Context, wire: &Wire<'_>) -> Vec<ClaimId> {
    let namespace = &*wire.metadata.namespace;
    let (entries, has_node) = (&wire.spec.resource_claims, !wire.spec.node_name.is_empty());
    let looked_for = if has_node || entries.len() <= LISTED_MAX { entries.len() } else { 0 };
    let made = wire.status.resource_claim_statuses.iter().rev();
    let made: HashMap<&str, &PodClaim<'_>> = made.map(|status| (&*status.name, status)).collect();
    let (mut claims, mut is_one_unmade) = (Vec::new(), false);
    for (at, entry) in entries.iter().take(looked_for).enumerate() {
        let name = match (&entry.resource_claim_name, made.get(&*entry.name)) {
            (Some(name), _) => String::from(&**name),
            (None, Some(made)) => match &made.resource_claim_name {
                Some(name) => String::from(&**name),
                None => continue,
            },
            (None, None) if std::mem::replace(&mut is_one_unmade, true) => continue,
            (None, None) => format!("{}/{}", wire.metadata.name, entry.name),
        };
        let is_taken = at < LISTED_MAX || context.names.has_claim(namespace, &name);
        claims.extend(is_taken.then(|| context.names.claim(namespace, &name)));
    }
    let extended = wire.status.extended.as_ref();
    if let Some(name) = extended.and_then(|status| status.resource_claim_name.as_ref()) {
        claims.push(context.names.claim(namespace, name));
    }
    // A pod has a claim once, however often it names it.
    let mut seen = BTreeSet::new();
    claims.retain(|claim| seen.insert(*claim));
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

/// Moves a pod from the claims that it named to others, counts it among those that hold theirs where it has a node, and notes
/// whether it uses them, which it does while it has not ended.
pub(super) fn hold(context: &mut Context, row: u32, facts: &Pod) {
    let Context { names, claims_changed, .. } = context;
    let claims = &facts.claims;
    let (had_node, was_user) = (names.pods[row].node.is_some(), names.pods[row].uses_claims);
    let has_node = facts.state.place().is_some();
    let is_user = !claims.is_empty() && !has_ended(&facts.state);
    let is_same = names.pods[row].claims.len() == claims.len()
        && names.pods[row].claims.iter().zip(claims).all(|(old, new)| *old == new.number());
    if is_same && (claims.is_empty() || (had_node, was_user) == (has_node, is_user)) {
        return;
    }
    let new: Vec<u32> = claims.iter().map(|claim| claim.number()).collect();
    for number in &new {
        let claim = &mut names.claims[*number];
        claim.presence.references += 1;
        claim.holders += u32::from(has_node);
        if is_user {
            claims_changed.push(*number);
        }
    }
    let old = names.pods[row].edit(|extras| {
        extras.uses_claims = is_user;
        std::mem::replace(&mut extras.claims, new)
    });
    for old in old {
        let claim = &mut names.claims[old];
        claim.presence.references -= 1;
        claim.holders -= u32::from(had_node);
        if (had_node && claim.holders == 0) || was_user {
            claims_changed.push(old);
        }
        if claim.presence.references == 0 && !claim.presence.is_there {
            names.claims.remove(old);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{
        Args,
        ingest::{Ingest, Kind, Rules},
    };

    /// Gives the names of the claims that are kept, once these objects were told, and how many of them a pod holds.
    fn kept(claims: &[&str], pod: &Value) -> (Vec<String>, usize) {
        let args = Args::from_command_line(["kai-scheduler"].map(Into::into)).expect("valid flags");
        let mut ingest = Ingest::new(Rules::new(&args));
        let mut apply = |kind, object: &Value| {
            ingest.applied(kind, object.to_string().as_bytes()).expect("the object can be read");
        };
        for name in claims {
            let metadata = json!({ "name": name, "namespace": "ml", "uid": name });
            apply(Kind::ResourceClaim, &json!({ "metadata": metadata }));
        }
        apply(Kind::Pod, pod);
        let names = &ingest.context.names.claims;
        let held = names.iter().filter(|(_, claim)| claim.holders > 0).count();
        (names.iter().map(|(number, _)| String::from(&**names.key(number))).collect(), held)
    }

    /// A pod with so many entries, each of this field.
    fn pod(count: usize, field: &str, node: &str) -> Value {
        let entry = |at: usize| json!({ "name": format!("e{at}"), field: format!("c{at}") });
        let claims: Vec<Value> = (0..count).map(entry).collect();
        json!({
            "metadata": { "name": "p", "namespace": "ml", "uid": "p" },
            "spec": { "nodeName": node, "resourceClaims": claims },
        })
    }

    /// A user may have pods name thousands of claims that nobody looks for.
    #[test]
    fn what_is_refused_is_not_kept() {
        let (kept, _) = kept(&[], &pod(5000, "resourceClaimName", ""));
        assert_eq!(kept, Vec::<String>::new());
    }

    /// Nobody refuses a pod that has its node.
    #[test]
    fn a_pod_on_a_node_holds_of_very_many_claims_those_that_are_there() {
        let (kept, held) = kept(&["c999", "other"], &pod(1000, "resourceClaimName", "n1"));
        assert_eq!((kept.len(), held), (258, 257));
    }

    /// Each pod of a Job has names of its own for what its templates have yet to make.
    #[test]
    fn of_the_claims_that_have_yet_to_be_made_one_is_waited_for() {
        let (kept, _) = kept(&[], &pod(256, "resourceClaimTemplateName", ""));
        assert_eq!(kept, ["ml/p/e0"]);
    }
}
