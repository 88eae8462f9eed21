//! Devices that a pod would get on a node.

use crate::{
    base::{
        ids::{ClaimId, NodeId, PodId, SliceDeviceId},
        resources::{GPU_MILLI, Lane},
    },
    decided::{plan::Misfit, when::When},
    fit::{
        devices::{
            choose::choose,
            offer::{self, Offer},
            standing::{ClaimState, PodClaims},
            want::{Alike, Want},
        },
        zones,
    },
    state::{State, looks::Looks, shape::ShapeRow, slices::SliceRow},
    told::{
        claim::{Claimed, DeviceCount, DeviceMatch},
        pod::Reserved,
    },
};

/// Needs of a pod for a node's devices.
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
    /// True if something must leave first.
    later: bool,
}

impl Needs {
    /// Works out what a pod needs of a node's devices.
    fn of(
        state: &State,
        shape: &ShapeRow,
        node: NodeId,
        pod_claims: &PodClaims,
    ) -> Result<Self, Misfit> {
        let mut needs = Self::default();
        stand_in(state, shape, node, pod_claims, &mut needs)?;
        for (claim, standing) in &pod_claims.claims {
            need(state, *claim, *standing, node, &mut needs)?;
        }
        Ok(needs)
    }

    /// The looks that working them out took.
    fn looks(&self) -> usize {
        (self.given.len() + self.wants.len() + self.alikes.len()) / 4
    }

    /// Devices for the wants, and whether they can be had now; none where they cannot be had together.
    fn choose(
        &self,
        state: &State,
        node: NodeId,
        looks: &mut Looks,
    ) -> Option<(Vec<Claimed>, When)> {
        let reached = offer::reached_devices(state, node);
        let offer = offer(state, node, &reached);
        let (wants, alikes) = (&self.wants, &self.alikes);
        if let Some(chosen) = choose(offer, wants, alikes, looks) {
            return Some((chosen, When::Now));
        }
        let later = offer.later(&self.stays);
        if !later.differs() {
            return None;
        }
        choose(later, wants, alikes, looks).map(|chosen| (chosen, When::Later))
    }
}

/// The devices that a node offers, with those that it reaches.
fn offer<'c>(state: &'c State, node: NodeId, reached: &'c [&'c SliceRow]) -> Offer<'c> {
    let rows = state.nodes().slices.get(node).map_or(&[][..], Vec::as_slice);
    Offer::new(rows, reached, &state.claims().counters)
}

/// Works out what a pod would hold of a node's devices and zones, and whether it could have it now.
pub(crate) fn reservation(
    state: &State,
    shape: &ShapeRow,
    node: NodeId,
    pod_claims: &PodClaims,
    looks: &mut Looks,
) -> Result<(Option<Box<Reserved>>, When), Misfit> {
    let mut needs = Needs::of(state, shape, node, pod_claims)?;
    looks.note(needs.looks());
    let mut room = if needs.later { When::Later } else { When::Now };
    if !needs.wants.is_empty() {
        let (chosen, at) = needs.choose(state, node, looks).ok_or(Misfit::Devices)?;
        needs.given.extend(chosen);
        if at == When::Later {
            room = When::Later;
        }
    }
    looks.note(zones::looks(state, shape, node));
    let (zones, at) = zones::zones_for(state, shape, node)?;
    if at == When::Later {
        room = When::Later;
    }
    let reserved = Reserved { claims: needs.given, lanes: needs.lanes, zones };
    Ok(((!reserved.is_empty()).then(|| Box::new(reserved)), room))
}

/// Says why a node has no devices or zones for a pod: of what it lacks its volumes, where these alone cannot be had.
pub(crate) fn refusal(
    state: &State,
    shape: &ShapeRow,
    node: NodeId,
    pod_claims: &PodClaims,
    looks: &mut Looks,
) -> Option<Misfit> {
    let misfit = reservation(state, shape, node, pod_claims, looks).err()?;
    if misfit != Misfit::Devices {
        return Some(misfit);
    }
    let needs = Needs::of(state, shape, node, pod_claims).ok()?;
    let is_volume = |want: &&Want| want.claim.is_some_and(|claim| is_volume(state, claim));
    let volumes: Vec<Want> = needs.wants.iter().filter(is_volume).copied().collect();
    let reached = offer::reached_devices(state, node);
    let later = offer(state, node, &reached).later(&needs.stays);
    if volumes.is_empty() || choose(later, &volumes, &[], looks).is_some() {
        return Some(Misfit::Devices);
    }
    Some(Misfit::VolumeUnbound)
}

fn is_volume(state: &State, claim: ClaimId) -> bool {
    state.claims().facts(claim).is_some_and(|facts| facts.volume)
}

/// Whole GPUs and extended resources on a node whose device plugin does not offer them: devices stand in. Where the claim
/// for them was made already, its own requests are what is wanted.
///
/// # Source
/// docs/behaviour.md 13.1, extended resources; 2.9 for parts of GPUs.
fn stand_in(
    state: &State,
    shape: &ShapeRow,
    node: NodeId,
    pod_claims: &PodClaims,
    needs: &mut Needs,
) -> Result<(), Misfit> {
    if shape.shared > 0 && state.nodes().is_for_claims(node) {
        return Err(Misfit::OnlyClaims);
    }
    if !state.claims().backs.is_empty() {
        let is_made =
            |claim: &ClaimId| state.claims().facts(*claim).is_some_and(|facts| facts.synthetic);
        let is_made = pod_claims.claims.iter().any(|(claim, _)| is_made(claim));
        for lane in state.backed_lanes(shape, node) {
            needs.lanes.push(lane);
            if is_made {
                continue;
            }
            let amount = shape.asked().find(|(at, _)| *at == lane).map_or(0, |(_, n)| n);
            let count = if lane == Lane::GPU { amount / GPU_MILLI } else { amount };
            needs.wants.push(Want {
                claim: None,
                request: lane.number(),
                class: state.claims().backs[&lane],
                count: DeviceCount::Exactly(u32::try_from(count).unwrap_or(u32::MAX)),
                instead: false,
                admin: false,
            });
        }
    }
    let whole = shape.asked().find(|(at, _)| *at == Lane::GPU).map_or(0, |(_, n)| n);
    if whole == 0 || needs.lanes.contains(&Lane::GPU) || state.nodes().slice_gpus(node) == 0 {
        return Ok(());
    }
    let (idle, free) = state.nodes().plugin_gpus(node);
    if free < whole {
        let for_claims = state.nodes().is_for_claims(node);
        return Err(if for_claims { Misfit::OnlyClaims } else { Misfit::Short(Lane::GPU) });
    }
    needs.later |= idle < whole;
    Ok(())
}

/// Works out what a claim needs of a node.
fn need(
    state: &State,
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
            let devices = devices_of(state, claim, holder);
            if on.is_none() && !is_within(state, claim, &devices, node) {
                let is_volume = is_volume(state, claim);
                return Err(if is_volume { Misfit::Volume } else { Misfit::Elsewhere });
            }
            needs.given.extend(devices);
            needs.later |= later;
        }
        ClaimState::Leaving { node: on, holder } => {
            let devices = devices_of(state, claim, holder);
            let nominated = |claimed: &Claimed| state.is_device_nominated(node, claimed);
            if on == node && !devices.iter().any(nominated) {
                needs.stays.extend(devices.iter().filter_map(|one| stay(state, claim, one)));
                needs.given.extend(devices);
            } else {
                want(state, claim, needs);
                needs.later = true;
            }
        }
        ClaimState::Free => want(state, claim, needs),
    }
    Ok(())
}

/// Tells whether a node reaches the devices of a claim that is bound to none.
fn is_within(state: &State, claim: ClaimId, devices: &[Claimed], node: NodeId) -> bool {
    match state.claims().allocation(claim) {
        Some(given) => given.within.is_empty() || state.meets(node, &given.within),
        None => devices.iter().all(|claimed| state.reaches(node, claimed.device)),
    }
}

/// The devices that a claim was given, or that a pod holds for it.
fn devices_of(state: &State, claim: ClaimId, holder: Option<PodId>) -> Vec<Claimed> {
    if let Some(allocation) = state.claims().allocation(claim) {
        return allocation.claimed(claim).collect();
    }
    let status = holder.map(|holder| &state.pods().status[holder]);
    let places = status.into_iter().flat_map(|status| [&status.nominee, &status.place]);
    let mut held = places.flatten().filter_map(|place| place.reserved.as_deref());
    let reserved = held.find(|reserved| reserved.holds(claim));
    let of = |claimed: &&Claimed| claimed.claim == Some(claim);
    reserved.map_or_else(Vec::new, |one| one.claims.iter().filter(of).copied().collect())
}

/// A device that stays with a claim, with what it is for.
fn stay(state: &State, claim: ClaimId, claimed: &Claimed) -> Option<(Want, SliceDeviceId)> {
    let request = state.claims().facts(claim)?.requests.get(usize::from(claimed.request))?;
    Some((Want::of(claim, claimed.request, request), claimed.device))
}

fn want(state: &State, claim: ClaimId, needs: &mut Needs) {
    let Some(facts) = state.claims().facts(claim) else { return };
    let requests = (0..).zip(&facts.requests);
    needs.wants.extend(requests.map(|(at, request)| Want::of(claim, at, request)));
    let claim = Some(claim);
    let of = |alike: &DeviceMatch| Alike { claim, of: alike.clone() };
    needs.alikes.extend(facts.matches.iter().map(of));
}
