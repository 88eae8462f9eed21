//! Derives every derived column again from the facts and compares.

use crate::{
    base::{
        ids::{Column, GroupId, Id, QueueId},
        lane_table::LaneTable,
    },
    state::{
        State,
        booking::Sign,
        host_ports::HostPorts,
        rows::{Nodes, QueueRow},
        slices::SliceRow,
        tree::Tree,
        zones::ZoneTable,
    },
};

impl State {
    /// Lists what of the derived columns differs from the facts; empty is good.
    ///
    /// # Cost
    /// That of building the cluster anew. It is for tests, for the start, and for once in a thousand cycles.
    pub(crate) fn check(&self) -> Vec<String> {
        let mut findings = Vec::new();
        let anew = self.derived_anew();
        let mut compare = |what: &str, same: bool| {
            if !same {
                findings.push(format!("{what} differ from the facts"));
            }
        };
        compare("idle amounts of nodes", self.nodes.idle == anew.nodes.idle);
        compare("releasing amounts of nodes", self.nodes.releasing == anew.nodes.releasing);
        compare("pods on nodes", equal(&self.nodes.pods, &anew.nodes.pods));
        compare("amounts to divide, by node", equal(&self.nodes.supply, &anew.nodes.supply));
        let divided = |nodes: &Nodes| (nodes.total, nodes.unlabelled_gpu);
        compare("amounts to divide", divided(&self.nodes) == divided(&anew.nodes));
        compare("sums of what there is to divide", self.nodes.is_supply_summed());
        compare("index keys", self.nodes.index == anew.nodes.index);
        compare("users of label keys", self.label_keys_hold());
        compare("shared devices", equal(&self.nodes.devices, &anew.nodes.devices));
        compare("holdings that no plan gave", self.pods.unplanned == anew.pods.unplanned);
        compare("sums of these holdings", self.are_unplanned_bounded());
        compare("parts of unknown GPUs", self.nodes.unassigned == anew.nodes.unassigned);
        compare("devices of slices", equal(&self.nodes.slices, &anew.nodes.slices));
        compare("devices of several nodes", self.claims.reaches == anew.claims.reaches);
        compare("nodes that reach devices", equal(&self.nodes.reached, &anew.nodes.reached));
        let leaving = [&self.nodes.claims_leaving, &anew.nodes.claims_leaving];
        compare("claims that leave", equal(leaving[0], leaving[1]));
        compare("counters of devices", equal(&self.claims.counters, &anew.claims.counters));
        compare("NUMA zones", equal(&self.nodes.zones, &anew.nodes.zones));
        compare("pods that spread counts", self.pod_counts == anew.pod_counts);
        compare("pods by namespace", self.placed == anew.placed);
        compare("pods that keep others away", self.anti_affinity == anew.anti_affinity);
        compare("host ports", self.nodes.ports == anew.nodes.ports);
        compare("pods that terms mean", self.tallies_hold());
        compare("holders of claims", equal(&self.claims.rows, &anew.claims.rows));
        for (id, row) in self.queues.rows.iter() {
            let new = &anew.queues.rows[id];
            let amounts = |row: &QueueRow| {
                let leaving = (row.leaving, row.leaving_fixed);
                let lingering = (row.lingering, row.lingering_fixed);
                (row.used, row.fixed, leaving, lingering, row.requested, row.requested_mib)
            };
            if amounts(row) != amounts(new) {
                findings
                    .push(format!("amounts of queue {} differ from the facts", QueueId::row(id)));
            }
            let parts = !self.queues.below[id].children.is_empty();
            if (row.parts, (row.attached, row.limited)) != (parts, self.queues.standing(id)) {
                findings
                    .push(format!("standing of queue {} differs from the facts", QueueId::row(id)));
            }
        }
        for (id, row) in self.groups.iter() {
            if row.tree != anew.groups[id].tree {
                findings
                    .push(format!("counts of group {} differ from the facts", GroupId::row(id)));
            }
        }
        findings
    }

    /// A cluster with the same facts and states, and every derived column built from nothing.
    fn derived_anew(&self) -> Self {
        let mut anew = self.clone();
        anew.nodes.idle = LaneTable::default();
        anew.nodes.releasing = LaneTable::default();
        anew.nodes.pods = Column::default();
        anew.nodes.devices = Column::default();
        anew.nodes.unassigned = 0;
        anew.pod_counts.clear_counts();
        anew.placed.clear();
        anew.anti_affinity.forget_placed();
        anew.nodes.ports = HostPorts::default();
        for id in anew.queues.rows.ids() {
            let row = &mut anew.queues.rows[id];
            (row.used, row.fixed) = Default::default();
            (row.leaving, row.leaving_fixed) = Default::default();
            (row.lingering, row.lingering_fixed) = Default::default();
            (row.requested, row.requested_mib) = Default::default();
        }
        for id in anew.groups.ids() {
            let row = &mut anew.groups[id];
            row.tree =
                row.facts.as_ref().map(|facts| Tree::new(&facts.structure)).unwrap_or_default();
        }
        anew.offer_anew();
        anew.reserve_anew();
        anew.hold_anew();
        let pods = anew.pods.told();
        for pod in pods {
            if let Some(group) = anew.pods[pod].group() {
                anew.seat(pod, group);
            }
            anew.take(pod);
        }
        if !anew.nodes.index.stale {
            anew.rebuild_index();
        }
        anew
    }
}

impl State {
    /// Empties devices, zones and claims; claims that were given devices hold them themselves.
    fn reserve_anew(&mut self) {
        for id in self.nodes.slices.ids() {
            for row in &mut self.nodes.slices[id] {
                *row = SliceRow::new(row.facts.clone());
            }
        }
        for id in self.nodes.zones.ids() {
            if let Some(table) = &mut self.nodes.zones[id] {
                **table = ZoneTable::new(table.facts.clone());
            }
        }
        self.nodes.claims_leaving = Column::default();
        self.claims.reaches.clear_counts();
        self.claims.reaches.tell_apart();
        for id in self.claims.counters.ids() {
            let row = &mut self.claims.counters[id];
            (row.drawn, row.kept) = (0, 0);
        }
        for id in self.nodes.facts.ids() {
            self.reach_from(id);
        }
        for id in self.claims.rows.ids() {
            let row = &mut self.claims.rows[id];
            row.holders.clear();
            row.nominees.clear();
            self.nodes.hold_alone(&mut self.claims, id, Sign::Plus);
        }
    }
}

/// Equal rows; how far the storage reaches does not count.
fn equal<I: Id, T: PartialEq + Default>(left: &Column<I, T>, right: &Column<I, T>) -> bool {
    let none = T::default();
    (0..left.len().max(right.len()))
        .map(I::of_row)
        .all(|id| left.get(id).unwrap_or(&none) == right.get(id).unwrap_or(&none))
}
