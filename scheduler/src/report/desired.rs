//! Describes what is to be said of a group as it stands, whatever was said before.

use std::collections::BTreeSet;

use kai_api::explanation::Explanation;
use kai_engine::{
    ClaimProblem, Cluster, GroupId, Misfit, Missing, PodId, Stage, Symbol, Unselected, Why,
};

use crate::{
    ingest::GroupObject,
    message::{self, Asked, Told, Waiting},
    names::{Names, Number},
};

/// All that a report of a group follows from.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'v> {
    /// By number.
    pub(super) group: u32,
    /// Holds what its object says.
    pub(super) object: &'v GroupObject,
    pub(super) cluster: &'v Cluster,
    pub(super) names: &'v Names,
    /// The node pool as messages name it.
    pub(super) pool: &'v str,
}

/// Holds what is to be said of a group.
#[derive(Debug)]
pub(super) struct GroupReport {
    /// Pods that name a sub-group which the group does not have, and what is said of each.
    pub(super) strays: Vec<(u32, String)>,
    /// Holds what keeps it from being looked at.
    pub(super) not_ready: Option<String>,
    /// Says why it waits.
    pub(super) told: Option<Told>,
    /// Tells whether that rests on selectors: of devices, which are being evaluated, or of topology spread, whose turn comes.
    pub(super) awaits_selectors: bool,
    /// Says how its pods stand.
    pub(super) standing: Standing,
}

/// Says how the pods of a group stand.
#[derive(Default, Debug)]
pub(super) struct Standing {
    /// Those that wait for a place.
    pub(super) pending: Vec<u32>,
    /// Some wait for their gates to be lifted.
    pub(super) gated: bool,
    /// The bind of some is under way, or they are promised a place.
    pub(super) comes: bool,
    /// Some hold a place or are promised one, and don't leave.
    pub(super) active: bool,
}

/// Says what becomes of the condition of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition<'t> {
    /// It is, or is not, as it was.
    Stays,
    /// It is taken away.
    Goes,
    /// It says this.
    Says(&'t Told),
}

/// Works out what is to be said of a group: the same for the same cluster and object.
///
/// # Source
/// docs/behaviour.md 12.4, docs/contract.md 8.5.
pub(super) fn desired(view: View<'_>) -> GroupReport {
    let View { group, cluster, names, .. } = view;
    let id = GroupId::new(group);
    let strays: Vec<(PodId, Symbol)> = cluster.strays(id).collect();
    let standing = Standing::of(&members(group, &strays, names), cluster);
    let why = cluster.verdict(id).filter(|_| standing.waits());
    GroupReport {
        strays: stray_pods(&strays, view),
        not_ready: match why {
            Some(Why::NotReady(unready)) => Some(message::not_ready(unready, names)),
            Some(_) | None => None,
        },
        told: why.and_then(|why| told(why, view)),
        awaits_selectors: why.is_some_and(awaits_selectors),
        standing,
    }
}

/// Tells whether a reason rests on selectors of devices that are being evaluated, or on those of topology spread that wait for
/// their turn: another one may follow in a moment.
fn awaits_selectors(why: &Why) -> bool {
    const UNDECIDED: ClaimProblem = ClaimProblem::Unselected(Unselected::Undecided);
    match why {
        Why::NoRoom(no_room) => {
            let is_of_selectors = |(misfit, _): &(Misfit, u32)| {
                matches!(misfit, Misfit::Claim(_, UNDECIDED) | Misfit::Missing(Missing::Turn))
            };
            no_room.misfits.iter().any(is_of_selectors)
                || no_room.before.iter().any(awaits_selectors)
        }
        Why::NoDomain(no_domain) => no_domain.before.iter().any(awaits_selectors),
        Why::Delayed { why, .. } => awaits_selectors(why),
        Why::Undecided { before, .. } => before.as_deref().is_some_and(awaits_selectors),
        Why::Satisfied
        | Why::Nominated
        | Why::QueueMissing
        | Why::QueueNotLeaf
        | Why::Malformed
        | Why::Held
        | Why::NotReady(_)
        | Why::Gated
        | Why::OverLimit(_)
        | Why::OverQuota(_)
        | Why::Behind { .. } => false,
    }
}

/// Gives what explains why a group whose pods stand like this waits, beyond its condition; none where it waits for nothing.
pub(super) fn explanation(
    standing: &Standing,
    view: View<'_>,
) -> Option<impl FnOnce() -> Option<Explanation>> {
    let View { group, cluster, names, .. } = view;
    let id = GroupId::new(group);
    let why = cluster.verdict(id).filter(|why| standing.waits() && **why != Why::Satisfied)?;
    Some(move || {
        let proofs: Vec<_> = cluster.proofs(id).collect();
        message::explanation(Asked { group, why, proofs: &proofs, cluster, names })
    })
}

/// Says why a group waits, with the node pool before it where the group goes on to another.
fn told(why: &Why, view: View<'_>) -> Option<Told> {
    let View { group, names, .. } = view;
    let facts = view.cluster.group(GroupId::new(group));
    let told = message::told(why, Waiting { group, facts, names })?;
    if view.object.backs_off {
        let prefix = format!("Node-Pool '{}': ", view.pool);
        return Some(Told { prefix, ..told });
    }
    Some(told)
}

/// Says of each pod that waits and names a sub-group which its group does not have that it does.
fn stray_pods(strays: &[(PodId, Symbol)], view: View<'_>) -> Vec<(u32, String)> {
    let waits = strays.iter().filter(|(pod, _)| view.cluster.stage(*pod) == Stage::Pending);
    let said = waits
        .map(|(pod, sub_group)| (pod.number(), message::stray(*sub_group, view.group, view.names)));
    said.collect()
}

/// Lists the pods of a group, but for those whose sub-group it does not have.
fn members(group: u32, strays: &[(PodId, Symbol)], names: &Names) -> Vec<u32> {
    let strays: BTreeSet<u32> = strays.iter().map(|(pod, _)| pod.number()).collect();
    names.groups[group].pods.iter().filter(|pod| !strays.contains(pod)).copied().collect()
}

impl Standing {
    /// Looks at each pod.
    fn of(members: &[u32], cluster: &Cluster) -> Self {
        let mut standing = Self::default();
        for pod in members {
            match cluster.stage(PodId::new(*pod)) {
                Stage::Gated => standing.gated = true,
                Stage::Pending => standing.pending.push(*pod),
                Stage::Nominated | Stage::Binding => {
                    (standing.comes, standing.active) = (true, true);
                }
                Stage::Placed => standing.active = true,
                Stage::Leaving | Stage::Ended => {}
            }
        }
        standing
    }

    /// Tells whether pods wait, for a place or for their gates.
    pub(super) fn waits(&self) -> bool {
        self.gated || !self.pending.is_empty()
    }

    /// Says what becomes of the condition, given what there is to say.
    ///
    /// # Source
    /// docs/behaviour.md 12.4, step 4; docs/contract.md 8.5.
    pub(super) fn condition<'t>(&self, told: Option<&'t Told>) -> Condition<'t> {
        match told {
            Some(told) if self.waits() && !self.active => Condition::Says(told),
            Some(_) | None if self.waits() || self.comes => Condition::Stays,
            Some(_) | None => Condition::Goes,
        }
    }
}
