//! The two writers of derived columns.

use crate::{
    base::{
        ids::{DeviceId, NodeId, PodId, QueueId},
        resources::{Charge, Lane},
    },
    state::{
        State,
        booking::{Booking, HoldKind, Sign},
        device::{self, Device},
        holding::Taken,
        rows::{Nodes, Phase, PodFacts, PodStatus, Queues},
        tallies::Presence,
        tree::count::Count,
    },
    told::pod::{Owner, Place},
};

impl State {
    /// Adds what a pod holds and waits for to its nodes, its sub-group, its queue and all above it.
    pub(crate) fn take(&mut self, pod: PodId) {
        self.account(pod, Sign::Plus);
    }

    /// The exact inverse of [`take`](Self::take).
    pub(crate) fn give(&mut self, pod: PodId) {
        self.account(pod, Sign::Minus);
    }

    /// Changes the state of a pod, the one way to do it: [`give`](Self::give), then [`take`](Self::take), with one walk
    /// up the queues.
    pub(crate) fn set_status(&mut self, pod: PodId, state: PodStatus) -> PodStatus {
        let before = self.occupy(pod, Sign::Minus);
        let was = std::mem::replace(&mut self.pods.status[pod], state);
        let after = self.occupy(pod, Sign::Plus);
        let now = &self.pods.status[pod];
        let is_somewhere = now.is_somewhere();
        if self.placed.is_kept() && was.is_somewhere() != is_somewhere {
            self.placed.assign(pod, self.pods[pod].namespace, is_somewhere);
        }
        self.tallies.note(pod, &was, now);
        if !self.anti_affinity.is_empty() {
            self.keep_away_anew(pod, Presence::of(&was));
        }
        if let Some((queue, mut burden)) = after {
            if let Some((_, before)) = before {
                burden.add(&before);
            }
            self.queues.charge(queue, &burden);
        }
        was
    }

    fn account(&mut self, pod: PodId, sign: Sign) {
        if self.pods.status[pod].is_somewhere() {
            if self.placed.is_kept() {
                self.placed.assign(pod, self.pods[pod].namespace, sign == Sign::Plus);
            }
            self.keep_away(pod, Presence::of(&self.pods.status[pod]), sign);
        }
        if let Some((queue, burden)) = self.occupy(pod, sign) {
            self.queues.charge(queue, &burden);
            // No plan changes the state of such a pod.
            if self.pods.status[pod].phase == Phase::Lingering {
                self.queues.linger(queue, &burden);
            }
        }
    }

    /// Enters a pod at its nodes and its sub-group; says what is to be entered at which queue and all above it.
    fn occupy(&mut self, pod: PodId, sign: Sign) -> Option<(QueueId, QueueDelta)> {
        let Self { pods, shapes, nodes, groups, claims, pod_counts, steps, .. } = self;
        let (facts, state) = (&pods[pod], &pods.status[pod]);
        let shape = &shapes[facts.shape];
        if !pod_counts.is_empty()
            && let Some(node) = state.stays_on()
        {
            steps.compared += pod_counts.count(facts, node, sign);
        }
        let ports = &shape.facts.ports;
        let mut charge = shape.charge;
        if let Some(place) = &state.place {
            let hold = if state.phase.leaves() { HoldKind::Leaves } else { HoldKind::Stays };
            nodes.list(pod, place.node, sign);
            let leaves = state.leaves_for_good();
            steps.compared += nodes.ports.count(ports, place.node, leaves, sign);
            nodes.reserve(claims, pod, place, Booking { hold, sign });
            if facts.is_unplanned {
                let holding = pods.holding(pod);
                nodes.occupy(holding.taken(), facts, place, Booking { hold, sign });
                charge = holding.charge;
            } else {
                nodes.occupy(shape.taken(), facts, place, Booking { hold, sign });
                charge = nodes.charge(shape, place.node);
            }
        }
        if let Some(place) = &state.nominee {
            if state.place.as_ref().is_none_or(|old| old.node != place.node) {
                nodes.list(pod, place.node, sign);
                steps.compared += nodes.ports.count(ports, place.node, false, sign);
            }
            let entry = Booking { hold: HoldKind::Nominated, sign };
            nodes.reserve(claims, pod, place, entry);
            nodes.occupy(shape.taken(), facts, place, entry);
            charge = nodes.charge(shape, place.node);
        }
        let Owner::Group(group) = facts.owner else {
            if facts.owner == Owner::Foreign
                && let Some(place) = &state.place
            {
                let charge = claims.foreign_charge(facts, shape, charge);
                nodes.change_supply(place.node, |supply| supply.hold(charge, sign));
            }
            return None;
        };
        let row = &mut groups[group];
        if let Some(leaf) = facts.leaf {
            row.tree.count_in(leaf, |counts| count(counts, state, sign));
        }
        let group = row.facts.as_ref()?;
        let mut burden = QueueDelta::default();
        if state.is_active() {
            sign.charge(&mut burden.used, charge);
            if !group.preemptible {
                sign.charge(&mut burden.fixed, charge);
            }
        } else if state.phase.leaves() || state.phase == Phase::Lingering {
            sign.charge(&mut burden.leaving, charge);
            if !group.preemptible {
                sign.charge(&mut burden.leaving_fixed, charge);
            }
        }
        if state.phase == Phase::Pending {
            sign.charge(&mut burden.requested, shape.charge);
            burden.requested_mib = sign.of(shape.gpu_mib);
        } else if state.phase.is_active() {
            sign.charge(&mut burden.requested, charge);
        }
        Some((group.queue?, burden))
    }
}

/// Amounts that a pod adds to a queue and to all above it.
#[derive(Clone, Copy, Default)]
struct QueueDelta {
    used: Charge,
    fixed: Charge,
    leaving: Charge,
    leaving_fixed: Charge,
    requested: Charge,
    requested_mib: i64,
}

impl QueueDelta {
    fn add(&mut self, other: &Self) {
        self.used += other.used;
        self.fixed += other.fixed;
        self.leaving += other.leaving;
        self.leaving_fixed += other.leaving_fixed;
        self.requested += other.requested;
        self.requested_mib += other.requested_mib;
    }
}

impl Queues {
    fn charge(&mut self, queue: QueueId, burden: &QueueDelta) {
        // A pod that gets a place waits for no less than before, and few cannot be evicted.
        let (fixes, asks) = (!burden.fixed.is_zero(), !burden.requested.is_zero());
        let leaves = !burden.leaving.is_zero();
        let asks_mib = burden.requested_mib != 0;
        let mut next = Some(queue);
        while let Some(at) = next {
            let row = &mut self.rows[at];
            row.used += burden.used;
            if fixes {
                row.fixed += burden.fixed;
            }
            if leaves {
                row.leaving += burden.leaving;
                row.leaving_fixed += burden.leaving_fixed;
            }
            if asks {
                row.requested += burden.requested;
            }
            if asks_mib {
                row.requested_mib += burden.requested_mib;
            }
            next = row.up;
        }
    }

    /// Enters which part of what leaves takes long to, at a queue and all above it.
    fn linger(&mut self, queue: QueueId, burden: &QueueDelta) {
        let mut next = Some(queue);
        while let Some(at) = next {
            let row = &mut self.rows[at];
            row.lingering += burden.leaving;
            row.lingering_fixed += burden.leaving_fixed;
            next = row.up;
        }
    }
}

/// # Source
/// docs/behaviour.md 1.4.
fn count(count: &mut Count, state: &PodStatus, sign: Sign) {
    if state.nominee.is_some() {
        sign.count(&mut count.active);
        sign.count(&mut count.nominated);
        sign.count(&mut count.used);
        return;
    }
    match state.phase {
        Phase::Gated => sign.count(&mut count.gated),
        Phase::Pending => sign.count(&mut count.pending),
        Phase::Binding | Phase::Bound | Phase::Running => {
            sign.count(&mut count.active);
            sign.count(&mut count.used);
        }
        Phase::Evicting | Phase::Releasing | Phase::Lingering | Phase::Stuck => {
            sign.count(&mut count.used);
        }
        Phase::Succeeded => sign.count(&mut count.succeeded),
        Phase::Failed | Phase::Absent => {}
    }
}

/// So many pods are on a node most of the time, or more.
const PODS: usize = 8;

impl Nodes {
    fn list(&mut self, pod: PodId, node: NodeId, sign: Sign) {
        let pods = self.pods.slot(node);
        if pods.capacity() == 0 {
            pods.reserve(PODS);
        }
        match (pods.binary_search(&pod), sign) {
            (Err(at), Sign::Plus) => pods.insert(at, pod),
            (Ok(at), Sign::Minus) => {
                pods.remove(at);
            }
            (Ok(_), Sign::Plus) | (Err(_), Sign::Minus) => {
                unreachable!("a pod is listed once on a node")
            }
        }
    }

    fn occupy(&mut self, taken: Taken<'_>, pod: &PodFacts, place: &Place, entry: Booking) {
        let owner = pod.owner;
        let stands_in = place.reserved.as_deref().map_or(&[][..], |reserved| &reserved.lanes);
        // Devices of claims are on the account of whoever holds them.
        let own = |lane| if lane == Lane::GPU { taken.own_milli } else { 0 };
        let holds =
            |lane| (lane != Lane::GPU || owner != Owner::Reservation) && !stands_in.contains(&lane);
        let held = taken.amounts.iter().filter(|(lane, _)| holds(*lane));
        let held = held.map(|(lane, amount)| (lane.row(), entry.sign.of(amount - own(*lane))));
        let lanes = taken.amounts.last().map_or(0, |(lane, _)| lane.row() + 1);
        if entry.hold != HoldKind::Nominated {
            let idle = self.idle.row_mut(place.node, lanes);
            held.clone().for_each(|(lane, amount)| idle[lane] -= amount);
        }
        if entry.hold != HoldKind::Stays {
            let releasing = self.releasing.row_mut(place.node, lanes);
            let sign = if entry.hold == HoldKind::Leaves { 1 } else { -1 };
            held.for_each(|(lane, amount)| releasing[lane] += sign * amount);
        }
        if owner == Owner::Reservation {
            for device in &place.devices {
                self.on_device(place.node, *device, |device| {
                    entry.sign.count(match entry.hold {
                        HoldKind::Leaves => &mut device.going,
                        HoldKind::Stays | HoldKind::Nominated => &mut device.standing,
                    });
                });
            }
        } else if taken.shared > 0 {
            let gpus = self.gpus(place.node);
            match device::part(taken.gpu, gpus) {
                Some(part) if !place.devices.is_empty() => {
                    for device in &place.devices {
                        self.on_device(place.node, *device, |device| {
                            share(device, pod.uid, part, entry);
                        });
                    }
                }
                // Nobody said which devices: nothing else may have as many whole ones.
                _ => {
                    let whole = i64::from(taken.shared) * crate::GPU_MILLI;
                    entry.sign.count(&mut self.unassigned);
                    self.hold(place.node, Lane::GPU, whole, entry);
                }
            }
        }
        self.reindex(place.node);
    }

    fn hold(&mut self, node: NodeId, lane: Lane, amount: i64, entry: Booking) {
        let amount = entry.sign.of(amount);
        match entry.hold {
            HoldKind::Stays => self.idle.add(node, lane, -amount),
            HoldKind::Leaves => {
                self.idle.add(node, lane, -amount);
                self.releasing.add(node, lane, amount);
            }
            HoldKind::Nominated => self.releasing.add(node, lane, -amount),
        }
    }

    /// Changes what is held of a device, and what its node has for it.
    fn on_device(&mut self, node: NodeId, id: DeviceId, change: impl FnOnce(&mut Device)) {
        let devices = self.devices.slot(node);
        let at = match devices.binary_search_by_key(&id, |device| device.id) {
            Ok(at) => at,
            Err(at) => {
                devices.insert(at, Device::new(id));
                at
            }
        };
        let device = &mut devices[at];
        let (idle, releasing) = (device.idle_milli(), device.releasing_milli());
        let slots = device.slots();
        change(device);
        let (idle, releasing) = (device.idle_milli() - idle, device.releasing_milli() - releasing);
        let slots = (device.slots().0 - slots.0, device.slots().1 - slots.1);
        if device.is_vacant() {
            devices.remove(at);
        }
        self.idle.add(node, Lane::GPU, idle);
        self.releasing.add(node, Lane::GPU, releasing);
        self.idle.add(node, Lane::PODS, -slots.0);
        self.releasing.add(node, Lane::PODS, -slots.1);
    }
}

/// Adds a part of a device to what is held of it, or takes it back.
fn share(device: &mut Device, uid: u128, part: i64, entry: Booking) {
    let part = entry.sign.of(part);
    match entry.hold {
        HoldKind::Stays => device.held += part,
        HoldKind::Leaves => {
            device.held += part;
            device.leaving += part;
        }
        HoldKind::Nominated => device.nominated += part,
    }
    entry.sign.count(&mut device.pods);
    device.uids = match entry.sign {
        Sign::Plus => device.uids.wrapping_add(uid),
        Sign::Minus => device.uids.wrapping_sub(uid),
    };
}
