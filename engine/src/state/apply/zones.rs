//! Zones of a node that is told of.

use crate::{
    base::ids::NodeId,
    state::{State, zones::ZoneTable},
    told::numa::Numa,
};

impl State {
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
        self.nodes.claims_or_zones =
            self.nodes.claims_or_zones + u32::from(numa.is_some()) - u32::from(had);
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
        self.changes.grow_room_from_outside();
    }
}
