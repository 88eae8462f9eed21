//! Requests for which the devices that there are decide what queues are charged.
//!
//! A request for all devices of a node is charged for as many as a node has: before a node is found nobody knows how many
//! that will be, so the node that has the most decides. A class whose name does not say that it is one of GPUs is one where
//! a GPU is among its devices, as is that of MIG devices of NVIDIA's driver. A claim that was given devices is charged for
//! those, also once their node is gone.
//!
//! # Source
//! `docs/behaviour.md` 13.1, K49.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{Claim, DeviceCount, DeviceRequest, SliceDevice};

use super::device::Site;
use crate::names::Number;

/// Selections of which the devices decide about a charge, by number. They are kept until nobody has the number any more.
#[derive(Debug, Default)]
pub(super) struct Charges(BTreeMap<u32, Charge>);

/// A selection of which the devices decide about a charge.
#[derive(Debug, Default)]
struct Charge {
    /// The claims, by row.
    claims: BTreeSet<u32>,
    /// Tells whether its class has GPUs by its name.
    is_named: bool,
    /// Says how many devices of it each site has, where it has any.
    counts: BTreeMap<Site, Count>,
    sums: Sums,
    /// True if the numbers changed since.
    is_stale: bool,
}

/// Sums of counts, by which claims are charged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sums {
    /// The most devices that a node may have.
    most: u32,
    /// True if there are GPUs among the devices.
    has_gpus: bool,
    /// True if there are other devices among them.
    has_others: bool,
}

/// Number of devices of a selection at a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Count {
    devices: u32,
    gpus: u32,
}

impl Charges {
    /// Follows what a claim asks for, where `is_named` tells of which selections the class has GPUs by its name.
    pub(super) fn follow(
        &mut self,
        claim: u32,
        before: Option<&Claim>,
        now: &Claim,
        is_named: impl Fn(u32) -> bool,
    ) -> Followed {
        let depends = |one: &DeviceRequest| {
            let is_all = matches!(one.count, DeviceCount::All { .. });
            !one.admin && (is_all || !is_named(one.class.number()))
        };
        let now = now.requests.iter().filter(|one| depends(one));
        let now: BTreeSet<u32> = now.map(|one| one.class.number()).collect();
        let before = before.into_iter().flat_map(|before| &before.requests);
        for selection in before.map(|one| one.class.number()).filter(|one| !now.contains(one)) {
            if let Some(charge) = self.0.get_mut(&selection) {
                charge.claims.remove(&claim);
            }
        }
        let mut followed = Followed { is_any: !now.is_empty(), is_new: false };
        for selection in now {
            let charge = self.0.entry(selection).or_insert_with(|| {
                followed.is_new = true;
                Charge { is_named: is_named(selection), ..Charge::default() }
            });
            charge.claims.insert(claim);
        }
        followed
    }

    /// Forgets a selection whose number may become another's.
    pub(super) fn forget(&mut self, selection: u32) {
        self.0.remove(&selection);
    }

    /// Counts the devices of a site.
    ///
    /// # Cost
    /// The selections, and those of each device of the site.
    pub(super) fn count(&mut self, site: Site, devices: &[SliceDevice]) {
        let mut counts: BTreeMap<u32, Count> = BTreeMap::new();
        for device in devices {
            for selection in device.classes.iter().map(|class| class.number()) {
                let count = counts.entry(selection).or_default();
                count.devices += 1;
                count.gpus += u32::from(device.gpu);
            }
        }
        for (selection, charge) in &mut self.0 {
            let count = counts.get(selection).copied().unwrap_or_default();
            let before = match count.devices {
                0 => charge.counts.remove(&site),
                _ => charge.counts.insert(site, count),
            };
            charge.is_stale |= before.unwrap_or_default() != count;
        }
    }

    /// Gives the claims that are charged otherwise from now on.
    ///
    /// # Cost
    /// All sites, for each selection of which a site has another number of devices than before.
    pub(super) fn changed(&mut self) -> BTreeSet<u32> {
        let mut changed = BTreeSet::new();
        for charge in self.0.values_mut() {
            if !std::mem::take(&mut charge.is_stale) {
                continue;
            }
            let sums = charge.sum();
            if std::mem::replace(&mut charge.sums, sums) != sums {
                changed.extend(&charge.claims);
            }
        }
        changed
    }

    /// Writes down what the requests of a claim are charged for; tells whether that is another number than before.
    pub(super) fn fill(&self, claim: &mut Claim) -> bool {
        let mut changed = false;
        for (at, request) in (0..).zip(&mut claim.requests) {
            let Some(charge) = self.0.get(&request.class.number()).filter(|_| !request.admin)
            else {
                continue;
            };
            // What a claim was given says itself whether it is GPUs.
            if claim.allocation.is_none() && !charge.is_named {
                let was = (request.gpu, request.mixed);
                request.gpu = charge.sums.has_gpus;
                request.mixed = charge.sums.has_gpus && charge.sums.has_others;
                changed |= was != (request.gpu, request.mixed);
            }
            let DeviceCount::All { most } = &mut request.count else { continue };
            if !request.gpu {
                changed |= std::mem::take(most) != 0;
                continue;
            }
            let given = claim.allocation.iter().flat_map(|given| &given.devices);
            let given = given.filter(|(of, _)| *of == at).count();
            let now = charge.sums.most.max(u32::try_from(given).unwrap_or(u32::MAX));
            changed |= std::mem::replace(most, now) != now;
        }
        changed
    }
}

/// Tells whether what is charged for a claim depends on the devices that there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    pub(super) is_any: bool,
    /// True if devices of a selection have to be counted for it.
    pub(super) is_new: bool,
}

impl Charge {
    /// Works out by what claims are charged. A node may have its own devices, and those that several nodes reach.
    fn sum(&self) -> Sums {
        let (mut own, mut reached) = (0, 0_u32);
        for (site, count) in &self.counts {
            match site {
                Site::Node(_) => own = own.max(count.devices),
                Site::Reach(_) => reached = reached.saturating_add(count.devices),
            }
        }
        Sums {
            most: reached.saturating_add(own),
            has_gpus: self.counts.values().any(|one| one.gpus > 0),
            has_others: self.counts.values().any(|one| one.gpus < one.devices),
        }
    }
}
