//! Wants: the requests of claims, one by one.

use crate::{
    base::ids::{ClaimId, DeviceClassId},
    state::slices::SliceRow,
    told::claim::{DeviceCount, DeviceMatch, DeviceRequest},
};

/// One request that needs devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Want {
    pub(crate) claim: Option<ClaimId>,
    pub(crate) request: u16,
    pub(crate) class: DeviceClassId,
    pub(crate) count: DeviceCount,
    /// True if it is an alternative to the one before it.
    pub(crate) instead: bool,
    /// True if it may have devices whoever has them.
    pub(crate) admin: bool,
}

/// A condition on the values of an attribute that the devices of some requests of a claim must have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Alike {
    pub(crate) claim: Option<ClaimId>,
    pub(crate) of: DeviceMatch,
}

impl Alike {
    pub(super) fn covers(&self, want: &Want) -> bool {
        let requests = &self.of.requests;
        want.claim == self.claim && (requests.is_empty() || requests.contains(&want.request))
    }
}

/// Tells whether nobody else may have a device beside a want.
pub(super) fn takes(want: &Want, row: &SliceRow) -> bool {
    !want.admin && row.facts.shares.is_none()
}

impl Want {
    /// Makes the want of a request of a claim, at this position.
    pub(crate) fn of(claim: ClaimId, request: u16, ask: &DeviceRequest) -> Self {
        let DeviceRequest { class, count, instead, admin, gpu: _, mixed: _ } = *ask;
        Self { claim: Some(claim), request, class, count, instead, admin }
    }

    /// Tells whether another one is for as many of the same devices, for the same claim.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let all = |want: &Self| (want.claim, want.class, want.count, want.admin);
        all(self) == all(other)
    }
}
