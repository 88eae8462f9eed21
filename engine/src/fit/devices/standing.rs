//! States of a pod's claims before a node is looked for: bound to one, or free to be given devices.

use crate::{
    base::{
        id_set::IdSet,
        ids::{ClaimId, NodeId, PodId, Rank},
    },
    decided::plan::Misfit,
    fit::devices::pre_filter,
    state::{State, claims::is_compared, rows::Phase},
    told::claim::{ClaimProblem, POD_REQUESTS_MAX, certain_milli},
};

/// State of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ClaimState {
    /// Bound to a node by what it was given, or by a pod that has it.
    Bound {
        /// The node; none where its devices are reached from everywhere.
        node: Option<NodeId>,
        /// A pod whose place holds its devices.
        holder: Option<PodId>,
        /// True if that pod waits for them too.
        later: bool,
    },
    /// Every pod that has it is leaving, or has left and the claim comes free: it may stay, or go elsewhere once they left.
    Leaving {
        node: NodeId,
        /// One of these pods; none where all have left.
        holder: Option<PodId>,
    },
    /// Was given nothing.
    Free,
}

/// States of all claims of a pod.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PodClaims {
    pub(crate) claims: Vec<(ClaimId, ClaimState)>,
    /// The only node that the pod may go to.
    pub(crate) node: Option<NodeId>,
    /// GPUs that claims without devices ask for and the pod's shape does not tell, in milli-devices.
    pub(crate) more_milli: i64,
}

impl PodClaims {
    /// Tells whether pods that were promised their places have some of its claims: it may come to where they will be.
    pub(crate) fn are_promised(&self) -> bool {
        self.claims.iter().any(|(_, state)| matches!(state, ClaimState::Bound { later: true, .. }))
    }

    /// The only node that the pod may go to, as a set; none where there is no such.
    pub(crate) fn only(&self, state: &State, within: &IdSet<Rank>) -> Option<IdSet<Rank>> {
        let rank = state.nodes().index.rank(self.node?);
        Some(rank.into_iter().filter(|rank| within.contains(*rank)).collect())
    }
}

/// Finds out where the claims of a pod stand, or why it may go nowhere.
///
/// # Cost
/// In the number of claims, and of pods that have one that all leave.
pub(crate) fn pod_claims(state: &State, pod: PodId) -> Result<PodClaims, Misfit> {
    let facts = &state.pods()[pod];
    let mut pod_claims = PodClaims::default();
    let mut requests = 0;
    for claim in &facts.claims {
        pre_filter::admits_claim(state, pod, *claim)?;
        let standing = standing(state, pod, *claim);
        let bound = match standing {
            ClaimState::Bound { node, .. } => node,
            ClaimState::Leaving { .. } | ClaimState::Free => None,
        };
        if !matches!(standing, ClaimState::Bound { .. })
            && let Some(facts) = state.claims().facts(*claim)
        {
            requests += facts.requests.len() + facts.matches.len();
            if requests > POD_REQUESTS_MAX {
                return Err(Misfit::Claim(*claim, ClaimProblem::TooManyRequests));
            }
            if standing == ClaimState::Free && !is_compared(facts) {
                pod_claims.more_milli += certain_milli(&facts.requests);
            }
        }
        if let Some(node) = bound {
            if pod_claims.node.is_some_and(|other| other != node) {
                return Err(Misfit::Claim(*claim, ClaimProblem::Apart));
            }
            pod_claims.node = Some(node);
        }
        pod_claims.claims.push((*claim, standing));
    }
    Ok(pod_claims)
}

/// All that is wrong with the claims of a pod: each that is refused, else one that is bound away from the others.
///
/// # Source
/// docs/behaviour.md 10.1: what is found before nodes are looked at is told together.
pub(crate) fn claim_problems(state: &State, pod: PodId) -> Vec<Misfit> {
    let claims = state.pods()[pod].claims.iter();
    let refused: Vec<Misfit> =
        claims.filter_map(|claim| pre_filter::admits_claim(state, pod, *claim).err()).collect();
    if refused.is_empty() { pod_claims(state, pod).err().into_iter().collect() } else { refused }
}

fn standing(state: &State, pod: PodId, claim: ClaimId) -> ClaimState {
    let Some(row) = state.claims().rows.get(claim) else { return ClaimState::Free };
    let Some(facts) = row.facts.as_deref() else { return ClaimState::Free };
    if facts.own && state.pods().status[pod].phase != Phase::Pending {
        // It is made anew with the pod.
        return ClaimState::Free;
    }
    let mut leaving = None;
    for other in row.users() {
        let status = &state.pods().status[other];
        let nominee =
            status.nominee.as_ref().filter(|_| row.nominees.binary_search(&other).is_ok());
        if let Some(place) = nominee {
            let (node, holder) = (bound_by(state, claim, place), Some(other));
            return ClaimState::Bound { node, holder, later: true };
        }
        let place = status.place.as_ref().filter(|_| row.holders.binary_search(&other).is_ok());
        let Some(place) = place else { continue };
        if status.phase.is_active() {
            let (node, holder) = (bound_by(state, claim, place), Some(other));
            return ClaimState::Bound { node, holder, later: false };
        }
        let node = state.claims().node_of(Some(claim), place.node);
        leaving = leaving.or(Some(ClaimState::Leaving { node, holder: Some(other) }));
    }
    let given = || {
        Some(match facts.allocation.as_ref()?.node {
            Some(node) if facts.leaves => ClaimState::Leaving { node, holder: None },
            node => ClaimState::Bound { node, holder: None, later: false },
        })
    };
    leaving.or_else(given).unwrap_or(ClaimState::Free)
}

/// The node that a claim is bound to by a pod that has it; none where other nodes reach its devices too.
fn bound_by(state: &State, claim: ClaimId, place: &crate::Place) -> Option<NodeId> {
    // What it was given says so itself, also where no slice tells of its devices.
    if let Some(given) = state.claims().allocation(claim) {
        return given.node;
    }
    let reaches = &state.claims().reaches;
    if reaches.is_empty() {
        return Some(place.node);
    }
    let reserved = place.reserved.iter().flat_map(|reserved| &reserved.claims);
    let mut devices = reserved.filter(|claimed| claimed.claim == Some(claim));
    let binds = |device| reaches.device(device).is_none_or(|row| row.facts.binds);
    devices.any(|claimed| binds(claimed.device)).then_some(place.node)
}
