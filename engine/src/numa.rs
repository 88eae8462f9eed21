//! NUMA zones of nodes, and what pods hold of them.
//!
//! # Source
//! spec/scheduling.md 13.3, after the kubelet's topology manager.

mod fit;
mod ledger;

use crate::{
    cluster::Cluster,
    fit::Room,
    ids::NodeId,
    plan::Misfit,
    resources::{Lane, Resources},
    shape::ShapeRow,
};

pub(crate) use ledger::ZoneTable;

/// What a node's topology manager does, and the zones it does it with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Numa {
    /// How strictly a container has to fit.
    pub policy: NumaPolicy,
    /// Whether containers are fitted one by one or the pod as a whole.
    pub scope: NumaScope,
    /// What each zone has, in the order of zones. A lane that no zone names is not aligned.
    pub zones: Vec<Resources>,
}

/// How strictly requests have to fit zones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum NumaPolicy {
    /// Not at all.
    #[default]
    None,
    /// As well as it goes; nothing is refused.
    BestEffort,
    /// In as few zones as the request needs.
    Restricted,
    /// In one zone.
    SingleNumaNode,
}

/// What is fitted as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum NumaScope {
    /// Each container.
    #[default]
    Container,
    /// The pod.
    Pod,
}

/// What a pod asks of zones. Pods that nothing is aligned for have none.
///
/// Guaranteed pods ask for everything, CPU only where it is whole cores; others only for devices.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Alignment {
    /// The pod as a whole.
    pub pod: Resources,
    /// Sidecars and containers in the order of their start; they share zones.
    pub concurrent: Vec<Resources>,
    /// Ordinary init containers; each has the zones for itself.
    pub serial: Vec<Resources>,
}

/// What a pod holds of one zone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ZoneAmount {
    /// The position of the zone on its node.
    pub zone: u16,
    /// The resource.
    pub lane: Lane,
    /// How much.
    pub amount: i64,
}

impl Cluster {
    /// Takes in the zones of a node, or that it reports none.
    pub(crate) fn zones_told(&mut self, id: NodeId, numa: Option<Box<Numa>>) {
        let row = self.nodes.zones.slot(id);
        if row.as_ref().map(|row| &row.facts) == numa.as_deref() {
            return;
        }
        let pods = self.nodes.pods.slot(id).clone();
        for pod in &pods {
            self.give(*pod);
        }
        let had = self.nodes.zones[id].is_some();
        self.nodes.special = self.nodes.special + u32::from(numa.is_some()) - u32::from(had);
        self.nodes.zones[id] = numa.map(|facts| Box::new(ZoneTable::new(*facts)));
        self.nodes.zones_max = self
            .nodes
            .zones
            .iter()
            .filter_map(|(_, row)| Some(row.as_ref()?.facts.zones.len()))
            .max()
            .unwrap_or(0);
        for pod in &pods {
            self.take(*pod);
        }
        self.agenda.grow_anew();
    }

    /// What a pod of a shape would hold of a node's zones, and whether it could have it now.
    pub(crate) fn zones_for(
        &self,
        shape: &ShapeRow,
        node: NodeId,
    ) -> Result<(Vec<ZoneAmount>, Room), Misfit> {
        let Some(alignment) = &shape.facts.alignment else { return Ok((Vec::new(), Room::Now)) };
        let Some(Some(table)) = self.nodes.zones.get(node) else {
            return Ok((Vec::new(), Room::Now));
        };
        if table.facts.policy == NumaPolicy::None {
            return Ok((Vec::new(), Room::Now));
        }
        if let Some(zones) = fit::fit(&table.facts, table.left(Room::Now), alignment) {
            return Ok((zones, Room::Now));
        }
        let later = fit::fit(&table.facts, table.left(Room::Later), alignment);
        later.map(|zones| (zones, Room::Later)).ok_or(Misfit::Zones)
    }

    /// Over how many zones a pod of a shape would spread on a node; fewer are better, 0 where it does not matter.
    pub(crate) fn span(&self, shape: &ShapeRow, node: NodeId, zones: &[ZoneAmount]) -> usize {
        if shape.facts.alignment.is_none() || self.nodes.zones_max == 0 {
            return 0;
        }
        match self.nodes.zones.get(node) {
            Some(Some(table)) if table.facts.policy != NumaPolicy::None => {
                let mut seen: Vec<u16> = zones.iter().map(|amount| amount.zone).collect();
                seen.sort_unstable();
                seen.dedup();
                seen.len().max(1)
            }
            Some(Some(table)) => table.facts.zones.len(),
            Some(None) | None => self.nodes.zones_max,
        }
    }
}
