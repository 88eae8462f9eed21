//! Holders of devices: counts per device, and what they mean for the node's GPUs and for counters.
//!
//! A device that one pod holds or more counts once. A claim that was given devices holds them itself while none of its
//! pods has a place, or gives them back where it leaves. Of a device that claims share each has its share, once however many pods have the claim. Access that
//! takes nothing is on no account.

use crate::{
    base::{
        ids::{ClaimId, CounterId, NodeId, PodId},
        resources::{GPU_MILLI, Lane},
    },
    decided::when::When,
    state::{
        State,
        booking::{Booking, HoldKind, Sign},
        claims::Claims,
        rows::Nodes,
        slices::SliceRow,
    },
    told::{
        claim::Claimed,
        numa::ZoneAmount,
        pod::{Place, Reserved},
    },
};

impl Claims {
    /// The node on which the devices of a claim are that a pod on this node has: where it was given them, if it was bound to one.
    pub(crate) fn node_of(&self, claim: Option<ClaimId>, placed: NodeId) -> NodeId {
        let given = claim.and_then(|claim| self.allocation(claim));
        given.and_then(|given| given.node).unwrap_or(placed)
    }

    /// Tells whether a device is held for access that takes nothing.
    fn is_admin(&self, claimed: &Claimed) -> bool {
        let facts = claimed.claim.and_then(|claim| self.facts(claim));
        let request = facts.and_then(|facts| facts.requests.get(usize::from(claimed.request)));
        request.is_some_and(|request| request.admin)
    }
}

impl Nodes {
    /// Adds what a pod holds of devices and zones at a place, or would hold there. Devices of a claim are held where the claim
    /// is, also by a pod that was put on another node.
    pub(crate) fn reserve(
        &mut self,
        claims: &mut Claims,
        pod: PodId,
        place: &Place,
        entry: Booking,
    ) {
        let Some(reserved) = place.reserved.as_deref() else { return };
        for of_one in reserved.claims.chunk_by(|one, next| one.claim == next.claim) {
            let claim = of_one.first().and_then(|claimed| claimed.claim);
            // Whoever is moved will have others by a claim of its own, not those that this one was given.
            let node = match entry.hold {
                HoldKind::Nominated => place.node,
                HoldKind::Stays | HoldKind::Leaves => claims.node_of(claim, place.node),
            };
            if let Some(claim) = claim {
                self.note_holder(claims, claim, pod, entry);
            }
            for claimed in of_one {
                self.hold_device(claims, Some(node), claimed, entry);
            }
            if node != place.node {
                self.reindex(node);
            }
        }
        self.hold_zones(place.node, &reserved.zones, entry);
    }

    /// Notes that a pod of a claim has a place, or will have one. With a pod that has one the claim does not hold its devices
    /// itself.
    fn note_holder(&mut self, claims: &mut Claims, claim: ClaimId, pod: PodId, entry: Booking) {
        let row = claims.rows.slot(claim);
        if entry.hold == HoldKind::Nominated {
            return entry.sign.enter(&mut row.nominees, pod);
        }
        let was = claims.is_alone(claim);
        entry.sign.enter(&mut claims.rows.slot(claim).holders, pod);
        if was != claims.is_alone(claim) {
            let sign = if was { Sign::Minus } else { Sign::Plus };
            self.hold_alone(claims, claim, sign);
        }
    }

    /// Adds the devices that a claim was given, for itself. Those of one that leaves come free: whoever they were taken back for
    /// has them promised until then, and nobody else is placed on the others meanwhile.
    pub(crate) fn hold_alone(&mut self, claims: &mut Claims, claim: ClaimId, sign: Sign) {
        let Some(allocation) = claims.allocation(claim) else { return };
        let node = allocation.node;
        let leaves = claims.facts(claim).is_some_and(|facts| facts.leaves);
        let hold = if leaves { HoldKind::Leaves } else { HoldKind::Stays };
        for claimed in allocation.claimed(claim).collect::<Vec<_>>() {
            self.hold_device(claims, node, &claimed, Booking { hold, sign });
        }
        if let Some(node) = node {
            if leaves {
                sign.count(self.claims_leaving.slot(node));
            }
            self.reindex(node);
        }
    }

    /// Adds what a pod holds of a node's zones.
    fn hold_zones(&mut self, node: NodeId, zones: &[ZoneAmount], entry: Booking) {
        if zones.is_empty() {
            return;
        }
        if let Some(table) = self.zones.slot(node) {
            table.hold(zones, entry);
        }
    }

    /// Enters one device: of the node, or else of those that several nodes reach.
    fn hold_device(
        &mut self,
        claims: &mut Claims,
        node: Option<NodeId>,
        claimed: &Claimed,
        entry: Booking,
    ) {
        if claims.is_admin(claimed) {
            return;
        }
        let Claims { rows: known, counters, reaches, .. } = claims;
        let is_it = |row: &&mut SliceRow| row.facts.id == claimed.device;
        let own = node.and_then(|node| self.slices.slot(node).iter_mut().find(is_it));
        let is_own = own.is_some();
        // A device that is held and no more published counts nowhere.
        let row = match own {
            Some(row) => Some(row),
            None => reaches.device_mut(claimed.device),
        };
        let Some(row) = row else {
            return reaches.count_unpublished(claimed.device, entry.sign);
        };
        let (idle, releasing) = (row.idle_milli(), row.releasing_milli());
        let (was_free, came_free) = (row.is_free(), row.comes_free());
        row.count(entry);
        if row.facts.shares.is_some() {
            let facts = claimed.claim.and_then(|claim| known.get(claim)?.facts.as_deref());
            row.count_share(facts, claimed, entry);
        }
        for (counter, amount) in &row.facts.draws {
            let counter = counters.slot(*counter);
            counter.drawn += amount * (i64::from(was_free) - i64::from(row.is_free()));
            counter.kept += amount * (i64::from(came_free) - i64::from(row.comes_free()));
        }
        let (idle, releasing) = (row.idle_milli() - idle, row.releasing_milli() - releasing);
        if let Some(node) = node.filter(|_| is_own) {
            self.idle.add(node, Lane::GPU, idle);
            self.releasing.add(node, Lane::GPU, releasing);
        }
    }

    /// GPUs that the device plugin of a node can give: those that are idle, and those that are idle or coming free.
    /// GPUs of slices are on the node's account too, and are for claims.
    pub(crate) fn plugin_gpus(&self, node: NodeId) -> (i64, i64) {
        let (idle, free) = (self.idle.get(node, Lane::GPU), self.free(node, Lane::GPU));
        let rows = self.slices.get(node).map_or(&[][..], Vec::as_slice);
        let milli = |of: fn(&SliceRow) -> bool| {
            let count = rows.iter().filter(|row| row.facts.gpu && of(row)).count();
            i64::try_from(count).unwrap_or(i64::MAX) * GPU_MILLI
        };
        (idle - milli(|row| row.held == 0), free - milli(SliceRow::comes_free))
    }

    /// Tells whether all GPUs of a node are devices of slices.
    pub(crate) fn is_for_claims(&self, node: NodeId) -> bool {
        let offers = |facts: &crate::Node| facts.allocatable.amount(Lane::GPU) > 0;
        self.slice_gpus(node) > 0 && !self.facts[node].as_deref().is_some_and(offers)
    }

    /// GPUs among the devices that a node publishes, in milli-devices.
    pub(crate) fn slice_gpus(&self, node: NodeId) -> i64 {
        self.slices.get(node).map_or(0, |rows| {
            let gpus = rows.iter().filter(|row| row.facts.gpu).count();
            i64::try_from(gpus).unwrap_or(i64::MAX) * GPU_MILLI
        })
    }
}

impl State {
    /// GPUs that a pod holds on its node through claims, in milli-devices; one that several pods hold is each one's.
    pub(crate) fn claimed_milli(&self, pod: PodId) -> i64 {
        let Some(place) = &self.pods.status[pod].place else { return 0 };
        let Some(reserved) = &place.reserved else { return 0 };
        let rows = self.nodes.slices.get(place.node).map_or(&[][..], Vec::as_slice);
        let is_gpu = |claimed: &&Claimed| {
            rows.iter().any(|row| row.facts.gpu && row.facts.id == claimed.device)
        };
        let gpus = reserved.claims.iter().filter(is_gpu).count();
        i64::try_from(gpus).unwrap_or(i64::MAX) * GPU_MILLI
    }

    /// The resources for which devices stand in where a pod is.
    pub(crate) fn lanes_stood_in(&self, pod: PodId) -> &[Lane] {
        let place = self.pods.status[pod].place.as_ref();
        place.and_then(|place| place.reserved.as_deref()).map_or(&[], |reserved| &reserved.lanes)
    }

    /// Tells whether a device, or room in a zone, that a leaving pod holds is kept for another.
    pub(crate) fn is_nominated(&self, node: NodeId, reserved: &Reserved) -> bool {
        reserved.claims.iter().any(|claimed| self.is_device_nominated(node, claimed))
            || self.nodes.zones.get(node).is_some_and(|table| {
                table.as_ref().is_some_and(|table| !table.may_keep(&reserved.zones))
            })
    }

    /// Tells whether a device is kept for others in such a way that who has it now cannot stay.
    pub(crate) fn is_device_nominated(&self, node: NodeId, claimed: &Claimed) -> bool {
        let node = self.claims.node_of(claimed.claim, node);
        let rows = self.nodes.slices.get(node).map_or(&[][..], Vec::as_slice);
        let own = rows.iter().find(|row| row.facts.id == claimed.device);
        let row = own.or_else(|| self.claims.reaches.device(claimed.device));
        let Some(row) = row.filter(|_| !self.claims.is_admin(claimed)) else { return false };
        let taken = match &row.facts.shares {
            None => row.nominated > 0,
            Some(shares) => (0..)
                .zip(&shares.capacity)
                .any(|(at, (_, capacity))| row.shared(at, When::Now) > *capacity),
        };
        let overdrawn = |(counter, _): &(CounterId, i64)| {
            self.claims.counters.get(*counter).is_some_and(|row| row.left(When::Now) < 0)
        };
        taken || row.facts.draws.iter().any(overdrawn)
    }
}
