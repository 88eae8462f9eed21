//! Devices that more than one node reaches, and counters that devices draw from.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    base::ids::{ClaimId, Column, CounterId, NodeId, PodId, ReachId, SliceDeviceId, Symbol},
    state::{
        State,
        booking::Sign,
        rows::Nodes,
        slices::{CounterRow, SliceRow},
    },
    told::{claim::Reach, node::Node, pod::Reserved, requirement::Requirement},
};

/// Devices of several nodes, and who has them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Reaches {
    rows: Column<ReachId, ReachRow>,
    /// The owner of each device: where it moves from one to another both name it for a while, and it is of the first of
    /// them in the order in which they are given away. Derived.
    by_device: BTreeMap<SliceDeviceId, ReachId>,
    /// Number of devices that they name, each as often as it is named. Derived.
    named: usize,
    /// Number of holds on devices that neither a node nor one of these publishes. Derived.
    unpublished: BTreeMap<SliceDeviceId, u32>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct ReachRow {
    uid: u128,
    nodes: Vec<Vec<Requirement>>,
    devices: Vec<SliceRow>,
}

/// Everything that decides which nodes reach devices, where there are any.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Site {
    uid: u128,
    nodes: Vec<Vec<Requirement>>,
}

impl ReachRow {
    fn site(&self) -> Option<Site> {
        let site = || Site { uid: self.uid, nodes: self.nodes.clone() };
        (!self.devices.is_empty()).then(site)
    }
}

impl Reaches {
    /// Tells whether there are no such devices.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_device.is_empty()
    }

    pub(crate) fn devices(&self, reach: ReachId) -> &[SliceRow] {
        self.rows.get(reach).map_or(&[], |row| &row.devices)
    }

    /// The devices that are to be given away as those of a reach.
    pub(crate) fn own(&self, reach: ReachId) -> impl Iterator<Item = &SliceRow> {
        self.devices(reach).iter().filter(move |row| self.is_of(reach, row.facts.id))
    }

    pub(crate) fn device(&self, device: SliceDeviceId) -> Option<&SliceRow> {
        let reach = *self.by_device.get(&device)?;
        self.rows[reach].devices.iter().find(|row| row.facts.id == device)
    }

    pub(crate) fn device_mut(&mut self, device: SliceDeviceId) -> Option<&mut SliceRow> {
        let reach = *self.by_device.get(&device)?;
        self.rows[reach].devices.iter_mut().find(|row| row.facts.id == device)
    }

    /// Enters a holder of a device that nobody publishes.
    pub(crate) fn count_unpublished(&mut self, device: SliceDeviceId, sign: Sign) {
        let count = self.unpublished.entry(device).or_default();
        sign.count(count);
        if *count == 0 {
            self.unpublished.remove(&device);
        }
    }

    /// Has nobody hold any of them.
    pub(crate) fn clear_counts(&mut self) {
        self.unpublished.clear();
        for reach in self.rows.ids() {
            for row in &mut self.rows[reach].devices {
                *row = SliceRow::new(row.facts.clone());
            }
        }
    }

    fn is_as(&self, id: ReachId, reach: &Reach) -> bool {
        let none = ReachRow::default();
        let row = self.rows.get(id).unwrap_or(&none);
        let devices = row.devices.iter().map(|row| &row.facts);
        row.uid == reach.uid && row.nodes == reach.nodes && devices.eq(&reach.devices)
    }

    /// The devices that somebody has of those that a reach names or will name.
    fn used(&self, id: ReachId, will: &Reach) -> BTreeSet<SliceDeviceId> {
        let named = self.devices(id).iter().filter(|row| !row.is_free()).map(|row| row.facts.id);
        let is_used_elsewhere = |device: &SliceDeviceId| {
            self.unpublished.contains_key(device)
                || (self.by_device.get(device).is_some_and(|other| *other != id)
                    && self.device(*device).is_some_and(|row| !row.is_free()))
        };
        let devices = will.devices.iter().map(|device| device.id);
        named.chain(devices.filter(is_used_elsewhere)).collect()
    }

    /// Tells whether a device that one of them names is its own, and not another's that names it too.
    fn is_of(&self, reach: ReachId, device: SliceDeviceId) -> bool {
        self.named == self.by_device.len() || self.by_device.get(&device) == Some(&reach)
    }

    fn replace(&mut self, id: ReachId, reach: Reach) {
        let row = self.rows.slot(id);
        self.named = self.named - row.devices.len() + reach.devices.len();
        for device in &row.devices {
            if self.by_device.get(&device.facts.id) == Some(&id) {
                self.by_device.remove(&device.facts.id);
            }
        }
        for device in &reach.devices {
            self.by_device.entry(device.id).or_insert(id);
        }
        let devices = reach.devices.into_iter().map(SliceRow::new).collect();
        *row = ReachRow { uid: reach.uid, nodes: reach.nodes, devices };
        if self.named != self.by_device.len() {
            self.tell_apart();
        }
    }

    /// Works out whose each device is.
    pub(crate) fn tell_apart(&mut self) {
        let mut reaches: Vec<(u128, ReachId)> =
            self.rows.iter().map(|(id, row)| (row.uid, id)).collect();
        reaches.sort_unstable();
        self.by_device.clear();
        self.named = 0;
        for (_, id) in reaches {
            self.named += self.rows[id].devices.len();
            for device in &self.rows[id].devices {
                self.by_device.entry(device.facts.id).or_insert(id);
            }
        }
    }
}

/// Counts the devices that count as GPUs of their node and bound nothing: claims may have others, or a part of one.
pub(crate) fn loose<'r>(rows: impl IntoIterator<Item = &'r SliceRow>, is_of_node: bool) -> u32 {
    let is_loose = |row: &&SliceRow| row.facts.gpu && (!is_of_node || row.facts.shares.is_some());
    u32::try_from(rows.into_iter().filter(is_loose).count()).unwrap_or(u32::MAX)
}

impl Nodes {
    /// The nodes for which one of some terms may hold, by a label that each has to have; all, where there are no terms.
    ///
    /// # Cost
    /// In the nodes with these labels; in all, where no term names values of one, and for a key that was not asked for
    /// since some node got other labels.
    fn likely(&mut self, terms: &[Vec<Requirement>]) -> BTreeSet<NodeId> {
        let mut found = BTreeSet::new();
        for term in terms {
            let Some((key, values)) = term.iter().find_map(Requirement::values) else {
                return self.facts.ids().collect();
            };
            let Self { facts, index, .. } = self;
            let by_value = index.labelled.entry(key).or_insert_with(|| by_value(facts, key));
            found.extend(values.iter().filter_map(|value| by_value.get(value)).flatten());
        }
        if terms.is_empty() { self.facts.ids().collect() } else { found }
    }
}

/// Nodes by their value of a label.
fn by_value(
    facts: &Column<NodeId, Option<Arc<Node>>>,
    key: Symbol,
) -> BTreeMap<Symbol, Vec<NodeId>> {
    let mut nodes: BTreeMap<Symbol, Vec<NodeId>> = BTreeMap::new();
    for (id, node) in facts.iter() {
        let labels = node.iter().flat_map(|node| &node.labels);
        for label in labels.filter(|label| label.key == key) {
            nodes.entry(label.value).or_default().push(id);
        }
    }
    nodes
}

impl State {
    /// Has nodes listed by their value of a label.
    ///
    /// # Cost
    /// In the nodes, for a key that was not asked for since some node got other labels; else nothing.
    pub(crate) fn ensure_labelled(&mut self, key: Symbol) {
        let Nodes { facts, index, .. } = &mut self.nodes;
        index.labelled.entry(key).or_insert_with(|| by_value(facts, key));
    }

    /// Takes in what resource slices publish for several nodes; what they no longer publish is gone.
    ///
    /// # Cost
    /// In the number of its devices; of the nodes that have a label as it asks, where the first of them came or the last
    /// went; of claims, where somebody has one. Where a device is named twice, in that of all devices of several nodes.
    pub(crate) fn reach_told(&mut self, id: ReachId, reach: Reach) {
        if self.claims.reaches.is_as(id, &reach) {
            return;
        }
        let used = self.claims.reaches.used(id, &reach);
        let (pods, claims) = self.users(&used);
        for pod in &pods {
            self.give(*pod);
        }
        self.hold_all_alone(&claims, Sign::Minus);
        let was = loose(self.claims.reaches.devices(id), false);
        let before = self.claims.reaches.rows.slot(id).site();
        self.claims.reaches.replace(id, reach);
        let is = loose(self.claims.reaches.devices(id), false);
        self.reach_by(id, before.as_ref());
        self.hold_all_alone(&claims, Sign::Plus);
        for pod in &pods {
            self.take(*pod);
        }
        self.loosen(was, is);
        self.queues.moved = true;
        self.changes.grow_room_from_outside();
    }

    /// Takes in what a counter holds.
    pub(crate) fn counter_told(&mut self, id: CounterId, capacity: i64) {
        let row: &mut CounterRow = self.claims.counters.slot(id);
        if row.capacity != capacity {
            row.capacity = capacity;
            self.changes.grow_room_from_outside();
        }
    }

    /// The pods that hold or were nominated for one of these devices, and the claims that were given one.
    fn users(&self, devices: &BTreeSet<SliceDeviceId>) -> (BTreeSet<PodId>, Vec<ClaimId>) {
        let (mut pods, mut claims) = (BTreeSet::new(), Vec::new());
        if devices.is_empty() {
            return (pods, claims);
        }
        let is_held = |reserved: &Reserved| {
            reserved.claims.iter().any(|claimed| devices.contains(&claimed.device))
        };
        for (claim, row) in self.claims.rows.iter() {
            let given = self.claims.allocation(claim);
            if given.is_some_and(|given| given.devices.iter().any(|(_, one)| devices.contains(one)))
            {
                claims.push(claim);
            }
            pods.extend(row.users().filter(|pod| {
                let state = &self.pods.status[*pod];
                let places = [&state.place, &state.nominee].into_iter().flatten();
                places.filter_map(|place| place.reserved.as_deref()).any(is_held)
            }));
        }
        (pods, claims)
    }

    /// Adds the devices of claims, for themselves, or takes them back, where none of their pods has a place.
    pub(crate) fn hold_all_alone(&mut self, claims: &[ClaimId], sign: Sign) {
        for claim in claims {
            if self.claims.is_alone(*claim) {
                self.nodes.hold_alone(&mut self.claims, *claim, sign);
            }
        }
    }

    /// Works out what a node reaches.
    pub(crate) fn reach_from(&mut self, node: NodeId) {
        let reaches = &self.claims.reaches;
        if reaches.is_empty() && self.nodes.reached.get(node).is_none_or(Vec::is_empty) {
            return;
        }
        let mut reached: Vec<(u128, ReachId)> = reaches
            .rows
            .iter()
            .filter(|(_, row)| self.is_reached(node, row))
            .map(|(id, row)| (row.uid, id))
            .collect();
        reached.sort_unstable();
        *self.nodes.reached.slot(node) = reached.into_iter().map(|(_, id)| id).collect();
    }

    /// Works out which nodes reach some devices, given the same before they changed; what else nodes reach stays.
    fn reach_by(&mut self, id: ReachId, before: Option<&Site>) {
        let now = self.claims.reaches.rows[id].site();
        if before == now.as_ref() {
            return;
        }
        let left = before.map_or_else(BTreeSet::new, |site| self.nodes.likely(&site.nodes));
        for node in left {
            self.nodes.reached.slot(node).retain(|other| *other != id);
        }
        let Some(Site { nodes, uid }) = now else { return };
        for node in self.nodes.likely(&nodes) {
            let rows = &self.claims.reaches.rows;
            if self.is_reached(node, &rows[id]) {
                let reached = self.nodes.reached.slot(node);
                let at = reached.partition_point(|other| (rows[*other].uid, *other) < (uid, id));
                reached.insert(at, id);
            }
        }
    }

    fn is_reached(&self, node: NodeId, row: &ReachRow) -> bool {
        self.nodes.facts.get(node).is_some_and(Option::is_some)
            && !row.devices.is_empty()
            && (row.nodes.is_empty() || self.meets(node, &row.nodes))
    }

    /// Tells whether a node reaches a device of several nodes.
    pub(crate) fn reaches(&self, node: NodeId, device: SliceDeviceId) -> bool {
        let reach = self.claims.reaches.by_device.get(&device);
        reach.is_some_and(|reach| self.nodes.reached.get(node).is_some_and(|of| of.contains(reach)))
    }

    /// Notes how many GPUs bound nothing; with the first of them, GPUs of claims are no longer compared with those of a
    /// node, and with the last they are again.
    pub(crate) fn loosen(&mut self, was: u32, is: u32) {
        let all = self.claims.loose + is - was;
        let flips = (self.claims.loose > 0) != (all > 0);
        self.claims.loose = all;
        if flips {
            self.shapes.has_backed_resources = all > 0;
            self.shapes.recharge(&self.lanes);
            self.nodes.index.fragments.forget_ranks();
        }
    }
}
