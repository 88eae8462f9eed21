//! Claims, classes and slices, taken into the tables.

mod ask_change;
pub(crate) mod ledger;
pub(crate) mod reach;

use crate::{
    base::{
        few::Few,
        ids::{ClaimId, Column, CounterId, DeviceClassId, Id, NodeId, PodId},
        resources::Lane,
    },
    state::{
        State,
        booking::Sign,
        claims::{
            ask_change::AskChange,
            reach::{Reaches, loose},
        },
        rows::{Phase, PodStatus},
        shape::ShapeRow,
        slices::{CounterRow, SliceRow},
    },
    told::{
        claim::{
            Allocation, Ask, Claim, DeviceClass, OwnDevices, SliceDevice, Unselected, charged_milli,
        },
        pod::{Place, Reserved},
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// No claim with more requests and constraints is among what makes pods alike: these are compared for each pod.
const COMPARED_MAX: usize = 64;

/// Requests of pods through a claim: of those that have a place, and of those that wait for one.
#[derive(Clone, PartialEq, Debug)]
struct Asks([Ask; 2]);

/// Facts and counts of a claim.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct ClaimRow {
    pub(crate) facts: Option<Box<Claim>>,
    /// Requests of its pods through it. Derived.
    asks: Option<Box<Asks>>,
    /// The pods that name it.
    pub(crate) pods: BTreeSet<PodId>,
    /// Those of them that have a place and hold its devices. Derived.
    pub(crate) holders: Few<PodId>,
    /// Those of them that are to have a place with its devices once others have left. Derived.
    pub(crate) nominees: Few<PodId>,
}

impl ClaimRow {
    /// The pods that have its devices, or are to have them, by id.
    pub(crate) fn users(&self) -> impl Iterator<Item = PodId> {
        let mut holders = self.holders.iter().copied().peekable();
        let mut nominees = self.nominees.iter().copied().peekable();
        std::iter::from_fn(move || match (holders.peek(), nominees.peek()) {
            (Some(holder), Some(nominee)) if holder == nominee => {
                nominees.next();
                holders.next()
            }
            (Some(holder), Some(nominee)) if holder > nominee => nominees.next(),
            (None, Some(_)) => nominees.next(),
            (Some(_) | None, _) => holders.next(),
        })
    }
}

/// Claims and device classes.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Claims {
    pub(crate) rows: Column<ClaimId, ClaimRow>,
    pub(crate) classes: Column<DeviceClassId, Option<DeviceClass>>,
    /// Device class that serves an extended resource where no device plugin does.
    pub(crate) backs: BTreeMap<Lane, DeviceClassId>,
    /// Counters that devices draw from.
    pub(crate) counters: Column<CounterId, CounterRow>,
    /// Devices of several nodes.
    pub(crate) reaches: Reaches,
    /// True if the API server serves none: no pod that names one may be considered.
    pub(crate) are_off: bool,
    /// Number of devices that count as GPUs and bound nothing.
    pub(crate) loose: u32,
    /// Claims that were given devices, by the node that these are bound to.
    by_node: BTreeSet<(NodeId, ClaimId)>,
}

impl Claims {
    /// The facts of a claim, while it is there.
    pub(crate) fn facts(&self, claim: ClaimId) -> Option<&Claim> {
        self.rows.get(claim)?.facts.as_deref()
    }

    /// The devices that a claim was given, as told.
    pub(crate) fn allocation(&self, claim: ClaimId) -> Option<&Allocation> {
        self.facts(claim)?.allocation.as_ref()
    }

    /// Counts the consumers of a claim, those that a plan adds included. Pods that were placed and are not written down
    /// yet are among its holders, and those that are written down are too, unless they have left since.
    ///
    /// Any number of pods may have a volume.
    pub(crate) fn consumers(&self, claim: ClaimId) -> u32 {
        let Some(row) = self.rows.get(claim) else { return 0 };
        let facts = row.facts.as_deref().filter(|facts| !facts.volume);
        let holders = u32::try_from(row.holders.len()).unwrap_or(u32::MAX);
        facts.map_or(0, |facts| facts.consumers.max(holders))
    }

    /// Gives the reason why a class has no devices for claims; none where it has some, or does not exist.
    pub(crate) fn unselected(&self, class: DeviceClassId) -> Option<Unselected> {
        self.classes.get(class).copied().flatten()?.unselected
    }

    /// Tells whether a device class exists.
    pub(crate) fn has_class(&self, class: DeviceClassId) -> bool {
        self.classes.get(class).is_some_and(Option::is_some)
    }

    /// Tells whether a claim was given devices and none of its pods has a place.
    pub(crate) fn is_alone(&self, claim: ClaimId) -> bool {
        self.rows.get(claim).is_some_and(|row| row.holders.is_empty())
            && self.allocation(claim).is_some()
    }

    /// Claims whose devices are bound to a node.
    fn on(&self, node: NodeId) -> Vec<ClaimId> {
        let (first, last) = (ClaimId::of_row(0), ClaimId::of_row(u32::MAX as usize));
        self.by_node.range((node, first)..=(node, last)).map(|(_, claim)| *claim).collect()
    }

    /// Lists what a pod asks for through its claims, in whatever order it names them: pods that ask for the same are alike.
    pub(crate) fn asks(&self, claims: &[ClaimId], phase: Phase) -> Vec<Ask> {
        let waits = usize::from(waits(phase));
        let ask = |claim: &ClaimId| match self.rows.get(*claim).and_then(|row| row.asks.as_ref()) {
            Some(asks) => asks.0[waits].clone(),
            None => Ask::Named(*claim, 0),
        };
        let mut asks: Vec<Ask> = claims.iter().map(ask).collect();
        asks.sort_unstable();
        asks
    }
}

/// Tells whether a pod of which this is told has no place.
fn waits(phase: Phase) -> bool {
    matches!(phase, Phase::Pending | Phase::Gated)
}

impl Asks {
    /// The parts of what pods ask for that come with a claim.
    fn of(claim: ClaimId, facts: &Claim) -> Self {
        let milli = if facts.synthetic { 0 } else { charged_milli(&facts.requests) };
        let named = Ask::Named(claim, milli);
        if !is_compared(facts) {
            return Self([named.clone(), named]);
        }
        let requests = facts.requests.iter().filter(|_| !facts.synthetic).copied().collect();
        let (matches, unsupported) = (facts.matches.clone(), facts.unsupported);
        let own = Ask::Own(Arc::new(OwnDevices { requests, matches, unsupported }));
        Self([own.clone(), if facts.allocation.is_some() { named } else { own }])
    }
}

/// Tells whether pods that ask for the same through claims like this one are alike.
pub(crate) fn is_compared(facts: &Claim) -> bool {
    facts.own && facts.requests.len() + facts.matches.len() <= COMPARED_MAX
}

impl State {
    /// Takes a claim in, or that it is gone.
    ///
    /// # Cost
    /// In the number of pods that name it, and in that of all claims of one of those that are alike, but for pods without a
    /// place that ask for as much through it as before.
    pub(crate) fn claim_told(&mut self, id: ClaimId, claim: Option<Box<Claim>>) {
        let row = self.claims.rows.slot(id);
        if row.facts == claim {
            return;
        }
        let asks = claim.as_deref().map(|claim| Box::new(Asks::of(id, claim)));
        let mut change = AskChange::new(id, row.asks.as_deref(), asks.as_deref());
        let all = &self.pods;
        let is_unmoved = |pod: &PodId| {
            let status = &all.status[*pod];
            let waits = waits(all[*pod].told.phase);
            change.is_none_while_waiting() && waits && status.is_waiting() && status.place.is_none()
        };
        let (unmoved, pods): (Vec<PodId>, Vec<PodId>) =
            row.pods.iter().copied().partition(is_unmoved);
        for pod in &pods {
            self.give(*pod);
        }
        self.nodes.hold_alone(&mut self.claims, id, Sign::Minus);
        let node = |claims: &Claims| claims.allocation(id).and_then(|allocation| allocation.node);
        if let Some(node) = node(&self.claims) {
            self.claims.by_node.remove(&(node, id));
        }
        let row = &mut self.claims.rows[id];
        (row.facts, row.asks) = (claim, asks);
        if let Some(node) = node(&self.claims) {
            self.claims.by_node.insert((node, id));
        }
        self.nodes.hold_alone(&mut self.claims, id, Sign::Plus);
        for pod in &pods {
            self.rejoin(*pod, &mut change);
            self.take(*pod);
        }
        for node in self.pods.nodes_of_unplanned(&pods) {
            self.share_out(node);
        }
        for pod in pods.into_iter().chain(unmoved) {
            if let Some(group) = self.pods[pod].group() {
                self.changes.touch(group);
            }
        }
        self.queues.moved = true;
        self.changes.grow_room();
    }

    /// Lists a pod with its claims, and adds to its state what it holds through them. Nobody asks what a pod was
    /// before that has, and had, nothing to do with claims and zones.
    pub(crate) fn join_claims(
        &mut self,
        pod: PodId,
        state: PodStatus,
        was: Option<PodStatus>,
    ) -> PodStatus {
        let Some(was) = was else { return state };
        let claims = self.pods[pod].claims.clone();
        for claim in &claims {
            self.claims.rows.slot(*claim).pods.insert(pod);
        }
        self.with_devices(pod, &claims, state, &was)
    }

    /// Adds to a state what the pod's claims were given, or what a plan gave them before.
    fn with_devices(
        &self,
        pod: PodId,
        claims: &[ClaimId],
        mut state: PodStatus,
        was: &PodStatus,
    ) -> PodStatus {
        let shape = &self.shapes[self.pods[pod].shape];
        for (place, was) in [(&mut state.place, &was.place), (&mut state.nominee, &was.nominee)] {
            if let Some(place) = place {
                let was = was.as_ref().filter(|was| was.node == place.node);
                self.fill_in(claims, shape, place, was.and_then(|was| was.reserved.as_deref()));
            }
        }
        state
    }

    fn fill_in(
        &self,
        claims: &[ClaimId],
        shape: &ShapeRow,
        place: &mut Place,
        was: Option<&Reserved>,
    ) {
        let mut reserved = place.reserved.take().map_or_else(Reserved::default, |told| *told);
        reserved.claims.clear();
        let mut made = false;
        for claim in claims {
            if let Some(allocation) = self.claims.allocation(*claim) {
                reserved.claims.extend(allocation.claimed(*claim));
            } else if let Some(was) = was {
                let same = was.claims.iter().filter(|claimed| claimed.claim == Some(*claim));
                reserved.claims.extend(same.copied());
            }
            made |= self.claims.facts(*claim).is_some_and(|facts| facts.synthetic);
        }
        if let Some(was) = was {
            if !made {
                let unmade = was.claims.iter().filter(|claimed| claimed.claim.is_none());
                reserved.claims.extend(unmade.copied());
            }
            reserved.lanes.clone_from(&was.lanes);
            if reserved.zones.is_empty() {
                reserved.zones.clone_from(&was.zones);
            }
        }
        if made && reserved.lanes.is_empty() {
            reserved.lanes = self.backed_lanes(shape, place.node);
        }
        place.reserved = (!reserved.is_empty()).then(|| Box::new(reserved));
    }

    /// The lanes of a shape for which devices stand in on a node.
    pub(crate) fn backed_lanes(&self, shape: &ShapeRow, node: NodeId) -> Vec<Lane> {
        let plugin = |lane: Lane| {
            let facts = self.nodes.facts.get(node).and_then(Option::as_ref);
            facts.is_some_and(|facts| facts.allocatable.amount(lane) > 0)
        };
        let asked = shape.asked().filter(|(_, amount)| *amount > 0).map(|(lane, _)| lane);
        asked.filter(|lane| self.claims.backs.contains_key(lane) && !plugin(*lane)).collect()
    }

    /// Takes a device class in, or that it is gone.
    pub(crate) fn class_told(&mut self, id: DeviceClassId, class: Option<DeviceClass>) {
        let row = self.claims.classes.slot(id);
        if *row == class {
            return;
        }
        let was = std::mem::replace(row, class);
        let served = |class: DeviceClass| [class.backs, class.implicit].into_iter().flatten();
        for lane in was.into_iter().flat_map(served) {
            if self.claims.backs.get(&lane) == Some(&id) {
                self.claims.backs.remove(&lane);
            }
        }
        for lane in class.into_iter().flat_map(served) {
            self.claims.backs.insert(lane, id);
        }
        self.nodes.index.fragments.forget_ranks();
        self.changes.grow_room_from_outside();
    }

    /// Takes in whether the API server serves claims.
    pub(crate) fn claims_served_told(&mut self, are_served: bool) {
        if self.claims.are_off == are_served {
            self.claims.are_off = !are_served;
            self.changes.grow_room_from_outside();
        }
    }

    /// Adds (`sign` 1) or takes back (-1) what a node offers, while it is there.
    fn offer_node(&mut self, id: NodeId, sign: i64) {
        if let Some(Some(node)) = self.nodes.facts.get(id).cloned() {
            self.nodes.offer(id, &node, &self.lanes, sign);
        }
    }

    /// Takes in what resource slices publish for a node; what they no longer publish is gone.
    ///
    /// # Cost
    /// In the number of the node's devices and pods, and of claims bound to it and pods that have those; in that of the devices
    /// alone where only what selects them has changed.
    pub(crate) fn slices_told(&mut self, id: NodeId, devices: Vec<SliceDevice>) {
        let rows = self.nodes.slices.slot(id);
        if rows.iter().map(|row| &row.facts).eq(devices.iter()) {
            return;
        }
        // Nobody holds a device by what selects it.
        if rows.len() == devices.len()
            && rows.iter().zip(&devices).all(|(row, told)| row.is_but_for_classes(told))
        {
            for (row, told) in rows.iter_mut().zip(devices) {
                row.facts.classes = told.classes;
            }
            // Rankings by fragments have who has room.
            self.nodes.reindex(id);
            self.changes.grow_room_from_outside();
            return;
        }
        let claims = self.claims.on(id);
        let mut pods: BTreeSet<PodId> = self.nodes.pods.slot(id).iter().copied().collect();
        // Pods may have been put on other nodes than their claims.
        pods.extend(claims.iter().flat_map(|claim| self.claims.rows[*claim].users()));
        for pod in &pods {
            self.give(*pod);
        }
        self.hold_all_alone(&claims, Sign::Minus);
        self.offer_node(id, -1);
        self.nodes.index.largest = None;
        let (had, was) = (!self.nodes.slices[id].is_empty(), loose(&self.nodes.slices[id], true));
        self.nodes.slices[id] = devices.into_iter().map(SliceRow::new).collect();
        let (has, is) = (!self.nodes.slices[id].is_empty(), loose(&self.nodes.slices[id], true));
        self.nodes.claims_or_zones = self.nodes.claims_or_zones + u32::from(has) - u32::from(had);
        self.offer_node(id, 1);
        self.hold_all_alone(&claims, Sign::Plus);
        for pod in &pods {
            self.take(*pod);
        }
        self.share_out(id);
        self.loosen(was, is);
        self.nodes.reindex(id);
        self.queues.moved = true;
        self.changes.grow_room_from_outside();
    }
}
