//! Requests for all devices of a node, for which queues are charged as many as a node has of them.
//!
//! Before a node is found nobody knows how many that will be, so the node that has the most decides. A claim that was
//! given devices is charged for as many at least, also once its node is gone.
//!
//! # Source
//! `docs/behaviour.md` 13.1, K49.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{Claim, DeviceClassId, DeviceCount, SliceDevice};

use super::device::Site;
use crate::names::Number;

/// Selections of which some claim wants all devices of a node, by number.
#[derive(Debug, Default)]
pub(super) struct Wholes(BTreeMap<u32, Whole>);

/// A selection of which some claim wants all devices of a node.
#[derive(Debug, Default)]
struct Whole {
    /// The claims, by row.
    claims: BTreeSet<u32>,
    /// Says how many devices of it each site has, where it has any.
    counts: BTreeMap<Site, u32>,
    /// The most that a node may have.
    most: u32,
    /// True if the numbers changed since.
    is_stale: bool,
}

impl Wholes {
    /// Follows what a claim asks for; tells whether devices have to be counted for it.
    pub(super) fn follow(&mut self, claim: u32, before: Option<&Claim>, now: &Claim) -> bool {
        let now: BTreeSet<u32> = selections(now).collect();
        for selection in before.into_iter().flat_map(selections).filter(|one| !now.contains(one)) {
            let Some(whole) = self.0.get_mut(&selection) else { continue };
            whole.claims.remove(&claim);
            if whole.claims.is_empty() {
                self.0.remove(&selection);
            }
        }
        let mut is_new = false;
        for selection in now {
            let whole = self.0.entry(selection).or_insert_with(|| {
                is_new = true;
                Whole::default()
            });
            whole.claims.insert(claim);
        }
        is_new
    }

    /// Counts the devices of a site.
    ///
    /// # Cost
    /// The devices of the site, for each selection.
    pub(super) fn count(&mut self, site: Site, devices: &[SliceDevice]) {
        for (selection, whole) in &mut self.0 {
            let class = DeviceClassId::new(*selection);
            let count = devices.iter().filter(|device| device.classes.contains(&class)).count();
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            let before = match count {
                0 => whole.counts.remove(&site),
                _ => whole.counts.insert(site, count),
            };
            whole.is_stale |= before.unwrap_or(0) != count;
        }
    }

    /// Gives the claims that are charged another number from now on.
    ///
    /// # Cost
    /// All sites, for each selection of which a site has another number of devices than before.
    pub(super) fn changed(&mut self) -> BTreeSet<u32> {
        let mut changed = BTreeSet::new();
        for whole in self.0.values_mut() {
            if !std::mem::take(&mut whole.is_stale) {
                continue;
            }
            let most = whole.most();
            if std::mem::replace(&mut whole.most, most) != most {
                changed.extend(&whole.claims);
            }
        }
        changed
    }

    /// Writes down what the requests of a claim are charged for; tells whether that is another number than before.
    pub(super) fn fill(&self, claim: &mut Claim) -> bool {
        let mut changed = false;
        for (at, request) in (0..).zip(&mut claim.requests) {
            let is_charged = request.gpu && !request.admin;
            let DeviceCount::All { most } = &mut request.count else { continue };
            if !is_charged {
                continue;
            }
            let known = self.0.get(&request.class.number()).map_or(0, |whole| whole.most);
            let given = claim.allocation.iter().flat_map(|given| &given.devices);
            let given = given.filter(|(of, _)| *of == at).count();
            let now = known.max(u32::try_from(given).unwrap_or(u32::MAX));
            changed |= std::mem::replace(most, now) != now;
        }
        changed
    }
}

impl Whole {
    /// Works out the most that a node may have: its own, and those that several nodes reach.
    fn most(&self) -> u32 {
        let (mut own, mut reached) = (0, 0_u32);
        for (site, count) in &self.counts {
            match site {
                Site::Node(_) => own = own.max(*count),
                Site::Reach(_) => reached = reached.saturating_add(*count),
            }
        }
        reached.saturating_add(own)
    }
}

/// Tells whether a claim asks for all GPUs of a node.
pub(super) fn is_whole(claim: &Claim) -> bool {
    selections(claim).next().is_some()
}

/// Lists the selections of which a claim wants all GPUs of a node.
fn selections(claim: &Claim) -> impl Iterator<Item = u32> {
    let is_whole = |count| matches!(count, DeviceCount::All { .. });
    let requests = claim.requests.iter();
    let requests = requests.filter(move |one| one.gpu && !one.admin && is_whole(one.count));
    requests.map(|request| request.class.number())
}
