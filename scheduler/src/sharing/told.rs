//! Describes what the watch tells of pods that have to do with shared GPUs.

use super::{Reservation, Sharing, Stage, device::Unseen};

/// Says what a pod is to shared GPUs, as it was told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Told {
    /// A pod that shares GPUs, or did.
    Sharer {
        /// The pod by number.
        pod: u32,
        /// Groups that it names, by number.
        devices: Vec<u32>,
        /// Says where it stands.
        standing: Standing,
    },
    /// A reservation pod.
    Reservation {
        /// Its group by number.
        device: u32,
        /// Its node by number.
        node: u32,
        /// Says how it stands.
        reservation: Reservation,
    },
    /// A pod of either kind is gone.
    Gone {
        /// The pod by number.
        pod: u32,
    },
}

/// Says where a pod that shares GPUs stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It has no node. Labels of shared GPUs name no device then: anybody may write them.
    Pending {
        /// It has such labels.
        is_labelled: bool,
    },
    /// It is on this node, by number.
    OnNode(u32),
    /// It is on this node, and terminates.
    Leaving(u32),
    /// It has ended.
    Ended,
}

impl Sharing {
    /// Takes in what was told of a pod.
    pub fn told(&mut self, told: Told) {
        match told {
            Told::Sharer { pod, devices, standing } => self.sharer_told(pod, devices, standing),
            Told::Reservation { device, node, reservation } => {
                self.reservation_told(device, node, reservation);
            }
            Told::Gone { pod } => self.gone(pod),
        }
    }

    fn sharer_told(&mut self, pod: u32, devices: Vec<u32>, standing: Standing) {
        match standing {
            Standing::Pending { is_labelled } => self.pending_told(pod, is_labelled),
            Standing::OnNode(node) | Standing::Leaving(node) => {
                let sharer = self.pods.entry(pod).or_default();
                // The outcome of a bind that is under way ends it; that the pod has a node is known before.
                if sharer.stage == Stage::Loose {
                    sharer.stage = Stage::Placed;
                }
                sharer.is_labelled = !devices.is_empty();
                sharer.held.extend(&devices);
                for device in devices {
                    let known = self.devices.entry(device).or_default();
                    known.node.get_or_insert(node);
                    known.users.insert(pod, matches!(standing, Standing::Leaving(_)));
                    self.due.insert(device);
                }
            }
            Standing::Ended => self.leave(pod),
        }
    }

    /// A pod without a node. One that was bound is shown as it was before for a moment: that means nothing.
    fn pending_told(&mut self, pod: u32, is_labelled: bool) {
        let stage = self.pods.get(&pod).map(|sharer| sharer.stage);
        if stage == Some(Stage::Placed) || (stage.is_none() && !is_labelled) {
            return;
        }
        let sharer = self.pods.entry(pod).or_default();
        sharer.is_labelled = is_labelled;
        sharer.is_stripping &= is_labelled;
        self.settle_pod_later(pod, 0);
    }

    fn reservation_told(&mut self, device: u32, node: u32, reservation: Reservation) {
        let known = self.devices.entry(device).or_default();
        if known.deleted == Some(reservation.pod) {
            return;
        }
        known.node = Some(node);
        known.unseen = Unseen::Nothing;
        let says_device = reservation.uuid.is_some() && !reservation.has_ended;
        self.reservations.insert(reservation.pod, device);
        known.reserved(reservation);
        self.due.insert(device);
        if says_device && self.set_aside.remove(&node).is_some_and(|aside| aside.until().is_some())
        {
            self.deltas.push(Self::reopened(node));
        }
    }

    fn gone(&mut self, pod: u32) {
        if let Some(device) = self.reservations.remove(&pod) {
            let waits = self.waiting.iter().any(|one| one.devices.contains(&device));
            if let Some(known) = self.devices.get_mut(&device) {
                if known.deleted == Some(pod) {
                    known.deleted = None;
                } else if known.lost(pod) {
                    // One that was not taken away by us failed, or somebody else deleted it.
                    known.has_failed |= waits;
                    known.unseen = Unseen::Left;
                }
                self.due.insert(device);
            }
        }
        if self.pods.contains_key(&pod) {
            self.leave(pod);
        }
    }

    /// A pod needs its devices no more.
    fn leave(&mut self, pod: u32) {
        // Its gang may be too small without it: those that wait with it go back.
        self.fail_those("a pod of its group is gone", true, |one| {
            one.binds.iter().any(|bind| bind.pod == pod)
        });
        let Some(sharer) = self.pods.remove(&pod) else { return };
        for device in sharer.held {
            if let Some(known) = self.devices.get_mut(&device) {
                known.users.remove(&pod);
                known.end_bind(pod);
                self.due.insert(device);
            }
        }
    }
}
