//! The two writers of derived columns.

use crate::{
    cluster::{Cluster, Nodes, Phase, State},
    device::{self, Device},
    ids::{NodeId, PodId},
    pod::{Owner, Place},
    resources::{Charge, Lane},
    shape::ShapeRow,
    tree::Count,
};

/// How much is held, and whether it is added or taken back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) hold: Hold,
    pub(crate) sign: Sign,
}

/// How a pod holds a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hold {
    Stays,
    Leaves,
    Promised,
}

/// Whether an amount is added or taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    Plus,
    Minus,
}

impl Sign {
    pub(crate) fn of(self, amount: i64) -> i64 {
        match self {
            Self::Plus => amount,
            Self::Minus => -amount,
        }
    }

    pub(crate) fn count(self, count: &mut u32) {
        match self {
            Self::Plus => *count += 1,
            Self::Minus => *count -= 1,
        }
    }

    fn charge(self, sum: &mut Charge, charge: Charge) {
        match self {
            Self::Plus => *sum += charge,
            Self::Minus => *sum -= charge,
        }
    }
}

impl Cluster {
    /// Adds what a pod holds and waits for to its nodes, its sub-group, its queue and all above it.
    pub(crate) fn take(&mut self, pod: PodId) {
        self.account(pod, Sign::Plus);
    }

    /// The exact inverse of [`take`](Self::take).
    pub(crate) fn give(&mut self, pod: PodId) {
        self.account(pod, Sign::Minus);
    }

    /// Changes the state of a pod: the one way to do it.
    pub(crate) fn set_state(&mut self, pod: PodId, state: State) -> State {
        self.give(pod);
        let was = std::mem::replace(&mut self.pods.state[pod], state);
        self.take(pod);
        was
    }

    fn account(&mut self, pod: PodId, sign: Sign) {
        let Self { pods, shapes, nodes, groups, queues, claims, .. } = self;
        let (facts, state) = (&pods[pod], &pods.state[pod]);
        let shape = &shapes[facts.shape];
        let mut charge = shape.charge;
        if let Some(place) = &state.place {
            let hold = if state.phase == Phase::Releasing { Hold::Leaves } else { Hold::Stays };
            nodes.list(pod, place.node, sign);
            if let Some(reserved) = &place.reserved {
                nodes.reserve(claims, (place.node, reserved), Entry { hold, sign });
            }
            nodes.occupy((shape, facts.owner), place, Entry { hold, sign });
            charge = shape.charge_on(nodes.gpus(place.node).memory_mib);
        }
        if let Some(place) = &state.nominee {
            if state.place.as_ref().is_none_or(|old| old.node != place.node) {
                nodes.list(pod, place.node, sign);
            }
            let entry = Entry { hold: Hold::Promised, sign };
            if let Some(reserved) = &place.reserved {
                nodes.reserve(claims, (place.node, reserved), entry);
            }
            nodes.occupy((shape, facts.owner), place, entry);
            charge = shape.charge_on(nodes.gpus(place.node).memory_mib);
        }
        let Owner::Group(group) = facts.owner else {
            if facts.owner == Owner::Foreign && state.place.is_some() {
                sign.charge(&mut nodes.foreign, charge);
            }
            return;
        };
        let row = &mut groups[group];
        if let Some(leaf) = facts.leaf {
            count(&mut row.tree.leaves[usize::from(leaf)].count, state, sign);
        }
        let Some(group) = &row.facts else { return };
        let Some(queue) = group.queue else { return };
        let uses = state.is_active();
        let waits = state.phase == Phase::Pending;
        let holds = state.phase.is_active();
        let mut next = Some(queue);
        while let Some(at) = next {
            let row = &mut queues.rows[at];
            if uses {
                sign.charge(&mut row.used, charge);
                if !group.preemptible {
                    sign.charge(&mut row.fixed, charge);
                }
            }
            if waits {
                sign.charge(&mut row.requested, shape.charge);
                row.requested_mib += sign.of(shape.gpu_mib);
            } else if holds {
                sign.charge(&mut row.requested, charge);
            }
            next = row.up;
        }
    }
}

/// # Source
/// spec/scheduling.md 1.4.
fn count(count: &mut Count, state: &State, sign: Sign) {
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
        Phase::Releasing | Phase::Stuck => sign.count(&mut count.used),
        Phase::Succeeded => sign.count(&mut count.succeeded),
        Phase::Failed | Phase::Absent => {}
    }
}

impl Nodes {
    fn list(&mut self, pod: PodId, node: NodeId, sign: Sign) {
        let pods = self.pods.slot(node);
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

    fn occupy(&mut self, (shape, owner): (&ShapeRow, Owner), place: &Place, entry: Entry) {
        let stands_in = place.reserved.as_deref().map_or(&[][..], |reserved| &reserved.lanes);
        for &(lane, mut amount) in &shape.take {
            if lane == Lane::GPU {
                if owner == Owner::Reservation {
                    continue;
                }
                // Devices of claims are on the account of whoever holds them.
                amount -= shape.own_milli;
            }
            if stands_in.contains(&lane) {
                continue;
            }
            self.hold(place.node, lane, amount, entry);
        }
        if shape.shared > 0 && owner != Owner::Reservation {
            let gpus = self.gpus(place.node);
            match device::part(&shape.facts.gpu, gpus) {
                Some(part) if !place.devices.is_empty() => {
                    for device in &place.devices {
                        self.share(place.node, *device, part, entry);
                    }
                }
                // Nobody said which devices: nothing else may have as many whole ones.
                _ => {
                    let whole = i64::from(shape.shared) * crate::GPU_MILLI;
                    self.hold(place.node, Lane::GPU, whole, entry);
                }
            }
        }
        self.reindex(place.node);
    }

    fn hold(&mut self, node: NodeId, lane: Lane, amount: i64, entry: Entry) {
        let amount = entry.sign.of(amount);
        match entry.hold {
            Hold::Stays => self.idle.add(node, lane, -amount),
            Hold::Leaves => {
                self.idle.add(node, lane, -amount);
                self.releasing.add(node, lane, amount);
            }
            Hold::Promised => self.releasing.add(node, lane, -amount),
        }
    }

    fn share(&mut self, node: NodeId, id: crate::DeviceId, part: i64, entry: Entry) {
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
        let part = entry.sign.of(part);
        match entry.hold {
            Hold::Stays => device.held += part,
            Hold::Leaves => {
                device.held += part;
                device.leaving += part;
            }
            Hold::Promised => device.promised += part,
        }
        entry.sign.count(&mut device.pods);
        let (idle, releasing) = (device.idle_milli() - idle, device.releasing_milli() - releasing);
        if device.pods == 0 {
            devices.remove(at);
        }
        self.idle.add(node, Lane::GPU, idle);
        self.releasing.add(node, Lane::GPU, releasing);
    }
}
