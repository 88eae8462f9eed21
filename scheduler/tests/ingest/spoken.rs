//! Ids in texts: by number where a file says which comes first, by name where the order is chance.

use std::ops::Deref;

use kai_engine::{ClaimId, DeviceId, GroupId, NodeId, PodId, QueueId, Symbol, TopologyId};
use kai_scheduler::names::{Names, Number, Table};

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
    /// An id of a table.
    fn of<R>(&self, table: &Table<R>, number: u32) -> String {
        if self.is_by_name { table.key(number).to_string() } else { number.to_string() }
    }

    /// Tells whether an attribute of devices is spoken of: by name only where a claim names it.
    pub(crate) fn has_attribute(&self, attribute: Symbol) -> bool {
        let attribute = self.text(attribute);
        let mut named = self.claims.iter().flat_map(|(_, claim)| &claim.alike);
        !self.is_by_name || named.any(|alike| **alike == *attribute)
    }

    /// An id that has no name of its own.
    pub(crate) fn unnamed(&self, number: u32) -> String {
        if self.is_by_name { String::from("#") } else { number.to_string() }
    }

    pub(crate) fn node(&self, id: NodeId) -> String {
        self.of(&self.nodes, id.number())
    }

    pub(crate) fn queue(&self, id: QueueId) -> String {
        self.of(&self.queues, id.number())
    }

    pub(crate) fn group(&self, id: GroupId) -> String {
        self.of(&self.groups, id.number())
    }

    pub(crate) fn pod(&self, id: PodId) -> String {
        self.of(&self.pods, id.number())
    }

    pub(crate) fn topology(&self, id: TopologyId) -> String {
        self.of(&self.topologies, id.number())
    }

    pub(crate) fn claim(&self, id: ClaimId) -> String {
        self.of(&self.claims, id.number())
    }

    pub(crate) fn shared(&self, id: DeviceId) -> String {
        self.of(&self.devices, id.number())
    }
}
