//! Who holds the devices of a node: counts per device, and what they mean for the node's GPUs.
//!
//! A device that one pod holds or more counts once. A claim that was given devices holds them itself while none of its
//! pods has a place.

use crate::{
    claim::{Claimed, Claims, SliceDevice},
    cluster::{Cluster, Entry, Hold, Nodes, Sign},
    ids::{ClaimId, DeviceClassId, NodeId, SliceDeviceId, Symbol},
    pod::Reserved,
    resources::{GPU_MILLI, Lane},
};

/// A published device and who has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SliceRow {
    pub(crate) facts: SliceDevice,
    /// How many pods hold it, leaving ones included. Derived.
    pub(crate) held: u32,
    /// How many of them are leaving. Derived.
    pub(crate) leaving: u32,
    /// How many pods it is promised to. Derived.
    pub(crate) promised: u32,
}

impl SliceRow {
    pub(crate) fn new(facts: SliceDevice) -> Self {
        Self { facts, held: 0, leaving: 0, promised: 0 }
    }

    /// Whether a selection has it.
    pub(crate) fn is_of(&self, class: DeviceClassId) -> bool {
        self.facts.classes.binary_search(&class).is_ok()
    }

    /// Its value of an attribute.
    pub(crate) fn attribute(&self, attribute: Symbol) -> Option<Symbol> {
        let of = |(key, _): &&(Symbol, Symbol)| *key == attribute;
        self.facts.attributes.iter().find(of).map(|(_, value)| *value)
    }

    /// Whether nobody has it, nor will.
    pub(crate) fn is_free(&self) -> bool {
        self.held == 0 && self.promised == 0
    }

    /// Whether it is free, or will be, and is promised to nobody.
    pub(crate) fn comes_free(&self) -> bool {
        self.held == self.leaving && self.promised == 0
    }

    fn idle_milli(&self) -> i64 {
        if self.facts.gpu && self.held > 0 { -GPU_MILLI } else { 0 }
    }

    fn releasing_milli(&self) -> i64 {
        if !self.facts.gpu {
            0
        } else if self.held > 0 && self.held == self.leaving && self.promised == 0 {
            GPU_MILLI
        } else if self.held == 0 && self.promised > 0 {
            -GPU_MILLI
        } else {
            0
        }
    }
}

impl Nodes {
    /// Adds what a pod holds of devices and zones.
    pub(crate) fn reserve(
        &mut self,
        claims: &mut Claims,
        (node, reserved): (NodeId, &Reserved),
        entry: Entry,
    ) {
        let mut last = None;
        for claimed in &reserved.claims {
            if let Some(claim) = claimed.claim.filter(|claim| last != Some(*claim)) {
                last = Some(claim);
                self.count_holder(claims, claim, entry);
            }
            self.hold_device(node, claimed.device, entry);
        }
        self.hold_zones(node, &reserved.zones, entry);
    }

    /// Notes that a pod of a claim has a place: the claim does not hold its devices itself then.
    fn count_holder(&mut self, claims: &mut Claims, claim: ClaimId, entry: Entry) {
        if entry.hold == Hold::Promised {
            return;
        }
        let was = claims.is_alone(claim);
        entry.sign.count(&mut claims.rows.slot(claim).holders);
        if was != claims.is_alone(claim) {
            let sign = if was { Sign::Minus } else { Sign::Plus };
            self.hold_alone(claims, claim, sign);
        }
    }

    /// Adds the devices that a claim was given, for itself.
    pub(crate) fn hold_alone(&mut self, claims: &Claims, claim: ClaimId, sign: Sign) {
        let Some(allocation) = claims.allocation(claim) else { return };
        let Some(node) = allocation.node else { return };
        for (_, device) in &allocation.devices {
            self.hold_device(node, *device, Entry { hold: Hold::Stays, sign });
        }
        self.reindex(node);
    }

    fn hold_device(&mut self, node: NodeId, device: SliceDeviceId, entry: Entry) {
        let rows = self.slices.slot(node);
        // A device that is held and no more published counts nowhere.
        let Some(row) = rows.iter_mut().find(|row| row.facts.id == device) else { return };
        let (idle, releasing) = (row.idle_milli(), row.releasing_milli());
        match entry.hold {
            Hold::Stays => entry.sign.count(&mut row.held),
            Hold::Leaves => {
                entry.sign.count(&mut row.held);
                entry.sign.count(&mut row.leaving);
            }
            Hold::Promised => entry.sign.count(&mut row.promised),
        }
        let (idle, releasing) = (row.idle_milli() - idle, row.releasing_milli() - releasing);
        self.idle.add(node, Lane::GPU, idle);
        self.releasing.add(node, Lane::GPU, releasing);
    }

    /// GPUs among the devices that a node publishes, in milli-devices.
    pub(crate) fn slice_gpus(&self, node: NodeId) -> i64 {
        self.slices.get(node).map_or(0, |rows| {
            let gpus = rows.iter().filter(|row| row.facts.gpu).count();
            i64::try_from(gpus).unwrap_or(i64::MAX) * GPU_MILLI
        })
    }
}

impl Cluster {
    /// Whether a device, or room in a zone, that a leaving pod holds is promised to another.
    pub(crate) fn is_promised(&self, node: NodeId, reserved: &Reserved) -> bool {
        let rows = self.nodes.slices.get(node).map_or(&[][..], Vec::as_slice);
        rows.iter().any(|row| {
            let held = |claimed: &Claimed| claimed.device == row.facts.id;
            row.promised > 0 && reserved.claims.iter().any(held)
        }) || self.nodes.zones.get(node).is_some_and(|table| {
            table.as_ref().is_some_and(|table| !table.may_keep(&reserved.zones))
        })
    }
}
