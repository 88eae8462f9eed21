//! Ids in texts: by number where a file says which comes first, by name where the order is chance.

use std::ops::Deref;

use kai_engine::{ClaimId, DeviceId, GroupId, NodeId, PodId, QueueId, Symbol, TopologyId};
use kai_scheduler::names::{Names, Number};

/// Names, and whether ids are spoken by name or by number.
pub(crate) struct Spoken<'n> {
    pub(crate) names: &'n Names,
    pub(crate) is_by_name: bool,
}

impl Deref for Spoken<'_> {
    type Target = Names;

    fn deref(&self) -> &Names {
        self.names
    }
}

impl Spoken<'_> {
    fn spoken(&self, number: u32, name: impl FnOnce() -> String) -> String {
        if self.is_by_name { name() } else { number.to_string() }
    }

    /// Tells whether an attribute of devices is spoken of: by name only where a claim names it.
    pub(crate) fn has_attribute(&self, attribute: Symbol) -> bool {
        let attribute = self.text(attribute);
        let mut named = self.claims.iter().flat_map(|(_, claim)| &claim.alike);
        !self.is_by_name || named.any(|alike| **alike == *attribute)
    }

    /// An id that has no name of its own.
    pub(crate) fn unnamed(&self, number: u32) -> String {
        self.spoken(number, || String::from("#"))
    }

    pub(crate) fn node(&self, id: NodeId) -> String {
        self.spoken(id.number(), || self.nodes.key(id.number()).to_string())
    }

    pub(crate) fn queue(&self, id: QueueId) -> String {
        self.spoken(id.number(), || self.queues.key(id.number()).to_string())
    }

    pub(crate) fn group(&self, id: GroupId) -> String {
        self.spoken(id.number(), || self.groups.key(id.number()).to_string())
    }

    pub(crate) fn pod(&self, id: PodId) -> String {
        self.spoken(id.number(), || self.pods.key(id.number()).to_string())
    }

    pub(crate) fn topology(&self, id: TopologyId) -> String {
        self.spoken(id.number(), || self.topologies.key(id.number()).to_string())
    }

    pub(crate) fn claim(&self, id: ClaimId) -> String {
        self.spoken(id.number(), || self.claims.key(id.number()).to_string())
    }

    pub(crate) fn shared(&self, id: DeviceId) -> String {
        self.spoken(id.number(), || self.devices.key(id.number()).to_string())
    }
}
