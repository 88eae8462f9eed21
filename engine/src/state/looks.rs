//! Budget of looks at devices, while those are searched that claims would get.

use crate::{base::ids::ClaimId, state::State};

/// Number of looks that all searches of one attempt to place a group may make together where wants compete: about
/// 20 ms, however many nodes there are and pods are tried.
///
/// A search that needs to take nothing back costs none of them, nor one that counting refuses, up to so many looks as
/// 32 requests cost on a node of 128 devices: so a claim that is easy finds its devices on the last of many nodes, also
/// once searches on others have used up all.
pub const DEVICE_LOOKS_MAX: u32 = 640_000;

/// Number of them that one search may make: as a node where it is hard would leave none to those after it.
pub const NODE_LOOKS_MAX: u32 = DEVICE_LOOKS_MAX / 20;

/// Number of looks of one search that cost none of them while nothing was taken back.
const FREE: u32 = 32 * 128;

/// Number of looks in which it is counted what is left where no search may take anything back any more: what 16 requests
/// cost on a node of 32 devices, so that plain shortages are called so.
const FEW: usize = 16 * 32;

/// Looks that an attempt to place a group may still make, and those that it made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looks {
    /// Number that all searches together may still make.
    shared: u32,
    /// Number of these that the search under way may make.
    here: u32,
    /// Number that the search under way may make beside, while nothing is taken back.
    free: u32,
    /// True if the search under way may make none.
    are_out: bool,
    /// Number that were made and are not counted as steps yet.
    made: u64,
    /// The claim of a search that ended without an answer, since somebody asked.
    given_up: Option<ClaimId>,
}

impl Default for Looks {
    fn default() -> Self {
        Self { shared: DEVICE_LOOKS_MAX, here: 0, free: 0, are_out: false, made: 0, given_up: None }
    }
}

impl Looks {
    /// Begins a search on a node.
    pub(crate) fn begin(&mut self) {
        (self.here, self.free, self.are_out) = (NODE_LOOKS_MAX, FREE, false);
    }

    /// Makes looks of a search that takes nothing back; says whether it may.
    pub(crate) fn descend(&mut self, looks: usize) -> bool {
        let free = to_number(looks).min(self.free);
        self.free -= free;
        self.made += u64::from(free);
        let beyond = looks - free as usize;
        beyond == 0 || self.search(beyond)
    }

    /// Makes looks of a search in which wants compete; says whether it may.
    pub(crate) fn search(&mut self, looks: usize) -> bool {
        let (looks, most) = (to_number(looks), self.shared.min(self.here));
        self.are_out |= looks > most;
        let looks = looks.min(most);
        self.shared -= looks;
        self.here -= looks;
        self.made += u64::from(looks);
        !self.are_out
    }

    /// Makes looks that no search is bounded by: they are steps of the plan alone.
    pub(crate) fn note(&mut self, looks: usize) {
        self.made += u64::from(to_number(looks));
    }

    /// Tells whether the search under way may count what is left in so many looks, though it may take nothing back.
    pub(crate) fn may_count(&mut self, looks: usize) -> bool {
        self.are_out |= self.shared == 0 && looks > FEW;
        !self.are_out
    }

    /// Tells whether the search under way ran out of them.
    pub(crate) fn are_out(&self) -> bool {
        self.are_out
    }

    /// Notes for which claim a search ended without an answer.
    pub(crate) fn give_up(&mut self, claim: Option<ClaimId>) {
        self.given_up = self.given_up.or(claim);
    }

    /// The claim for which a search ended without an answer, if one did since this was forgotten.
    pub(crate) fn given_up(&self) -> Option<ClaimId> {
        self.given_up
    }

    /// Forgets for which claim a search ended without an answer.
    pub(crate) fn forget(&mut self) {
        self.given_up = None;
    }
}

fn to_number(looks: usize) -> u32 {
    u32::try_from(looks).unwrap_or(u32::MAX)
}

impl State {
    /// Takes in the looks that are left of an attempt; those that were made are steps.
    pub(crate) fn count_looks(&mut self, mut looks: Looks) {
        self.steps.looks += std::mem::take(&mut looks.made);
        self.looks = looks;
    }
}
