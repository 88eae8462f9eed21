//! Claims that keep their pods out, wherever they may go.

use crate::{
    base::ids::{ClaimId, PodId},
    decided::plan::Misfit,
    state::{State, rows::GroupRow},
    told::claim::{CLAIM_DEVICES_MAX, ClaimProblem, least_devices},
};

/// The most consumers that a claim may have. Source: the API's `ResourceClaimReservedForMaxSize`.
const CONSUMERS_MAX: u32 = 256;

/// Says what of a claim keeps a pod out.
///
/// # Source
/// docs/behaviour.md 13.1, pre-filter.
pub(crate) fn admits_claim(state: &State, pod: PodId, claim: ClaimId) -> Result<(), Misfit> {
    let refused = |problem| Err(Misfit::Claim(claim, problem));
    if state.claims().are_off {
        return refused(ClaimProblem::NotServed);
    }
    let Some(facts) = state.claims().facts(claim) else { return refused(ClaimProblem::NotFound) };
    if state.claims().consumers(claim) >= CONSUMERS_MAX {
        return refused(ClaimProblem::Full);
    }
    let gpu = facts.requests.iter().any(|request| request.gpu);
    if gpu && !facts.own {
        let group = state.pods()[pod].group().and_then(|group| state.groups().get(group));
        let queue = group.and_then(GroupRow::queue);
        if facts.queue.is_none() || facts.queue != queue {
            return refused(ClaimProblem::OtherQueue);
        }
    }
    if facts.allocation.is_some() {
        return Ok(());
    }
    if let Some(what) = facts.unsupported {
        return refused(ClaimProblem::Unsupported(what));
    }
    if least_devices(&facts.requests) > u64::from(CLAIM_DEVICES_MAX) {
        return refused(ClaimProblem::TooManyDevices);
    }
    if facts.requests.iter().any(|request| !state.claims().has_class(request.class)) {
        return refused(ClaimProblem::NoClass);
    }
    let unselected =
        facts.requests.iter().filter_map(|one| state.claims().unselected(one.class)).max();
    if let Some(unselected) = unselected {
        return refused(ClaimProblem::Unselected(unselected));
    }
    Ok(())
}
