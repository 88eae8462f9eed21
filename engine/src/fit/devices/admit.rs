//! Which devices a pod would get on a node.

use crate::{
    base::{
        ids::{ClaimId, NodeId, PodId, SliceDeviceId},
        resources::{GPU_MILLI, Lane},
    },
    decided::{plan::Misfit, when::When},
    fit::devices::{
        choose::{Alike, Want, choose},
        offer::Offer,
        standing::{ClaimState, PodClaims},
    },
    state::{Cluster, shape::ShapeRow},
    told::{
        claim::{ClaimProblem, Claimed, DeviceCount, DeviceMatch, DeviceRequest},
        pod::Reserved,
    },
};

/// What a pod needs of a node's devices.
#[derive(Debug, Default)]
struct Needs {
    /// Devices that its claims have already.
    given: Vec<Claimed>,
    /// Those of them that pods hold which leave: by their counts they come free for others too.
    stays: Vec<(Want, SliceDeviceId)>,
    wants: Vec<Want>,
    alikes: Vec<Alike>,
    /// Extended resources that devices stand in for.
    lanes: Vec<Lane>,
    /// Whether something must leave first.
    later: bool,
}

impl Want {
    /// What a request of a claim, at this position, wants.
    fn of(claim: ClaimId, (request, ask): (u16, &DeviceRequest)) -> Self {
        let DeviceRequest { class, count, instead, admin, gpu: _ } = *ask;
        Self { claim: Some(claim), request, class, count, instead, admin }
    }
}

/// The most consumers that a claim may have. Source: the API's `ResourceClaimReservedForMaxSize`.
const CONSUMERS_MAX: u32 = 256;

impl Cluster {
    /// Whether a pod may be considered at all, given its resource claims.
    ///
    /// # Errors
    /// The first claim that keeps it out, and why.
    ///
    /// # Panics
    /// When the pod was never told.
    pub fn admission(&self, pod: PodId) -> Result<(), Misfit> {
        self.pod_claims(pod).map(|_| ())
    }

    /// # Source
    /// spec/scheduling.md 13.1, pre-filter.
    pub(crate) fn admits_claim(&self, pod: PodId, claim: ClaimId) -> Result<(), Misfit> {
        let refused = |problem| Err(Misfit::Claim(claim, problem));
        if self.claims.are_off {
            return refused(ClaimProblem::NotServed);
        }
        let Some(facts) = self.claims.facts(claim) else { return refused(ClaimProblem::NotFound) };
        if self.claims.consumers(claim) >= CONSUMERS_MAX {
            return refused(ClaimProblem::Full);
        }
        let gpu = facts.requests.iter().any(|request| request.gpu);
        if gpu && !facts.own {
            let group = self.pods[pod].group().and_then(|group| self.groups.get(group));
            let queue = group.and_then(crate::state::rows::GroupRow::queue);
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
        if facts.requests.iter().any(|request| !self.claims.has_class(request.class)) {
            return refused(ClaimProblem::NoClass);
        }
        let unselected =
            facts.requests.iter().filter_map(|one| self.claims.unselected(one.class)).max();
        if let Some(unselected) = unselected {
            return refused(ClaimProblem::Unselected(unselected));
        }
        Ok(())
    }

    /// What a pod would hold of a node's devices and zones, and whether it could have it now.
    pub(crate) fn reservation(
        &self,
        shape: &ShapeRow,
        (node, pod_claims): (NodeId, &PodClaims),
    ) -> Result<(Option<Box<Reserved>>, When), Misfit> {
        let mut needs = Needs::default();
        self.stand_in(shape, node, &mut needs)?;
        for (claim, standing) in &pod_claims.claims {
            self.need(*claim, *standing, node, &mut needs)?;
        }
        let mut room = if needs.later { When::Later } else { When::Now };
        let mut claims = needs.given;
        if !needs.wants.is_empty() {
            let rows = self.nodes.slices.get(node).map_or(&[][..], Vec::as_slice);
            let (wants, alikes) = (&needs.wants, &needs.alikes);
            let reached = self.reached_devices(node);
            let offer = Offer::new(rows, &reached, &self.claims.counters);
            let chosen = choose(offer, wants, alikes).or_else(|| {
                room = When::Later;
                choose(offer.later(&needs.stays), wants, alikes)
            });
            claims.extend(chosen.ok_or_else(|| self.lacking(offer.later(&needs.stays), wants))?);
        }
        let (zones, at) = self.zones_for(shape, node)?;
        if at == When::Later {
            room = When::Later;
        }
        let reserved = Reserved { claims, lanes: needs.lanes, zones };
        Ok(((!reserved.is_empty()).then(|| Box::new(reserved)), room))
    }

    /// What of a node does not do for some wants: its volumes, where these alone cannot be had, else its devices.
    fn lacking(&self, offer: Offer<'_>, wants: &[Want]) -> Misfit {
        let is_volume = |want: &&Want| want.claim.is_some_and(|claim| self.is_volume(claim));
        let volumes: Vec<Want> = wants.iter().filter(is_volume).copied().collect();
        if volumes.is_empty() || choose(offer, &volumes, &[]).is_some() {
            return Misfit::Devices;
        }
        Misfit::VolumeUnbound
    }

    fn is_volume(&self, claim: ClaimId) -> bool {
        self.claims.facts(claim).is_some_and(|facts| facts.volume)
    }

    /// Whole GPUs and extended resources on a node whose device plugin does not offer them: devices stand in.
    ///
    /// # Source
    /// spec/scheduling.md 13.1, extended resources; 2.9 for parts of GPUs.
    fn stand_in(&self, shape: &ShapeRow, node: NodeId, needs: &mut Needs) -> Result<(), Misfit> {
        if shape.shared > 0 && self.nodes.is_for_claims(node) {
            return Err(Misfit::OnlyClaims);
        }
        if !self.claims.backs.is_empty() {
            for lane in self.backed_lanes(shape, node) {
                let amount = shape.asked().find(|(at, _)| *at == lane).map_or(0, |(_, n)| n);
                let count = if lane == Lane::GPU { amount / GPU_MILLI } else { amount };
                needs.wants.push(Want {
                    claim: None,
                    request: lane.number(),
                    class: self.claims.backs[&lane],
                    count: DeviceCount::Exactly(u32::try_from(count).unwrap_or(u32::MAX)),
                    instead: false,
                    admin: false,
                });
                needs.lanes.push(lane);
            }
        }
        let whole = shape.asked().find(|(at, _)| *at == Lane::GPU).map_or(0, |(_, n)| n);
        if whole == 0 || needs.lanes.contains(&Lane::GPU) || self.nodes.slice_gpus(node) == 0 {
            return Ok(());
        }
        let (idle, free) = self.nodes.plugin_gpus(node);
        if free < whole {
            let for_claims = self.nodes.is_for_claims(node);
            return Err(if for_claims { Misfit::OnlyClaims } else { Misfit::Short(Lane::GPU) });
        }
        needs.later |= idle < whole;
        Ok(())
    }

    /// What a claim needs of a node.
    fn need(
        &self,
        claim: ClaimId,
        standing: ClaimState,
        node: NodeId,
        needs: &mut Needs,
    ) -> Result<(), Misfit> {
        match standing {
            ClaimState::Bound { node: on, holder, later } => {
                if on.is_some_and(|on| on != node) {
                    return Err(Misfit::Elsewhere);
                }
                let devices = self.devices_of(claim, holder);
                if on.is_none() && !self.is_within(claim, &devices, node) {
                    let is_volume = self.is_volume(claim);
                    return Err(if is_volume { Misfit::Volume } else { Misfit::Elsewhere });
                }
                needs.given.extend(devices);
                needs.later |= later;
            }
            ClaimState::Leaving { node: on, holder } => {
                let devices = self.devices_of(claim, Some(holder));
                let nominated = |claimed: &Claimed| self.is_device_nominated(node, claimed);
                if on == node && !devices.iter().any(nominated) {
                    needs.stays.extend(devices.iter().filter_map(|one| self.stay(claim, one)));
                    needs.given.extend(devices);
                } else {
                    self.want(claim, needs);
                    needs.later = true;
                }
            }
            ClaimState::Free => self.want(claim, needs),
        }
        Ok(())
    }

    /// Whether a node reaches the devices of a claim that is bound to none.
    fn is_within(&self, claim: ClaimId, devices: &[Claimed], node: NodeId) -> bool {
        match self.claims.allocation(claim) {
            Some(given) => given.within.is_empty() || self.meets(node, &given.within),
            None => devices.iter().all(|claimed| self.reaches(node, claimed.device)),
        }
    }

    /// The devices that a claim was given, or that a pod holds for it.
    fn devices_of(&self, claim: ClaimId, holder: Option<PodId>) -> Vec<Claimed> {
        if let Some(allocation) = self.claims.allocation(claim) {
            return allocation.claimed(claim).collect();
        }
        let state = holder.map(|holder| &self.pods.status[holder]);
        let places = state.into_iter().flat_map(|state| [&state.nominee, &state.place]);
        let mut held = places.flatten().filter_map(|place| place.reserved.as_deref());
        let reserved = held.find(|reserved| reserved.holds(claim));
        let of = |claimed: &&Claimed| claimed.claim == Some(claim);
        reserved.map_or_else(Vec::new, |one| one.claims.iter().filter(of).copied().collect())
    }

    /// A device that stays with a claim, with what it is for.
    fn stay(&self, claim: ClaimId, claimed: &Claimed) -> Option<(Want, SliceDeviceId)> {
        let request = self.claims.facts(claim)?.requests.get(usize::from(claimed.request))?;
        Some((Want::of(claim, (claimed.request, request)), claimed.device))
    }

    fn want(&self, claim: ClaimId, needs: &mut Needs) {
        let Some(facts) = self.claims.facts(claim) else { return };
        let requests = (0..).zip(&facts.requests);
        needs.wants.extend(requests.map(|request| Want::of(claim, request)));
        let claim = Some(claim);
        let of = |alike: &DeviceMatch| Alike { claim, of: alike.clone() };
        needs.alikes.extend(facts.matches.iter().map(of));
    }
}
