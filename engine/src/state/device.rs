//! Shared GPUs: what is held of each, and what that means for its node.
//!
//! A device is on the ledger while a pod holds, leaves or will take a part of it, or a reservation pod stands for it.
//! Amounts are KiB of GPU memory, so that parts by fraction and parts by memory add up in one unit.
//!
//! A reservation pod is what the device plugin gave the GPU to. With users or without, it keeps the GPU from others; it
//! is deleted once its last user left, and its GPU comes free with it.
//!
//! # Source
//! docs/behaviour.md 2.6: a function of a few sums, where KAI keeps a ledger in steps. docs/contract.md 4.5 and 4.6:
//! reservation pods.

use crate::{
    base::{ids::DeviceId, resources::GPU_MILLI},
    told::{node::Gpus, pod::GpuRequest},
};

/// One shared GPU of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Device {
    pub(crate) id: DeviceId,
    /// KiB held by pods, those that are leaving included.
    pub(crate) held: i64,
    /// KiB of it held by pods that are leaving.
    pub(crate) leaving: i64,
    /// KiB kept for nominated pods.
    pub(crate) nominated: i64,
    /// Number of pods in the sums.
    pub(crate) pods: u32,
    /// Number of reservation pods that stand for it: one, but for moments. Those that are leaving are not among them.
    pub(crate) standing: u32,
    /// Number of its reservation pods that are leaving.
    pub(crate) going: u32,
    /// The sum of their UIDs, which tells devices with the same sums apart whatever their numbers are.
    pub(crate) uids: u128,
}

impl Device {
    pub(crate) const fn new(id: DeviceId) -> Self {
        Self { id, held: 0, leaving: 0, nominated: 0, pods: 0, standing: 0, going: 0, uids: 0 }
    }

    /// Tells whether nobody uses it and no reservation pod is there.
    pub(crate) fn is_vacant(&self) -> bool {
        self.pods == 0 && self.reservations() == 0
    }

    fn reservations(&self) -> u32 {
        self.standing + self.going
    }

    /// Tells whether some pod uses it that stays or will come.
    fn is_used(&self) -> bool {
        self.held > self.leaving || self.nominated > 0
    }

    /// Counts the GPUs that are taken: the one that is used, or as many as reservation pods were given.
    fn taken(&self) -> i64 {
        i64::from(self.reservations()).max(i64::from(self.held > 0))
    }

    /// Counts those that are still taken once all that leaves has left. Reservation pods go with the last user: also
    /// between the moments when that one is gone and when they begin to leave, or whoever was promised the GPU would
    /// lose it to work that fits into the rest.
    fn kept(&self) -> i64 {
        if self.is_used() { i64::from(self.standing).max(1) } else { 0 }
    }

    /// Gives what the device takes from its node's idle GPUs, in milli-devices.
    pub(crate) fn idle_milli(&self) -> i64 {
        -self.taken() * GPU_MILLI
    }

    /// Gives what the device adds to its node's releasing GPUs, in milli-devices.
    pub(crate) fn releasing_milli(&self) -> i64 {
        (self.taken() - self.kept()) * GPU_MILLI
    }

    /// Pod slots kept for a reservation pod that has yet to be made: of those that are idle, and of those that are
    /// leaving. One that is there counts as any pod.
    pub(crate) fn slots(&self) -> (i64, i64) {
        if self.reservations() > 0 {
            return (0, 0);
        }
        let is_held = self.held > self.leaving;
        (i64::from(is_held), i64::from(!is_held && self.nominated > 0))
    }

    /// Tells whether all that is held is leaving: then it is a whole GPU to come, not one to share.
    pub(crate) fn is_leaving(&self) -> bool {
        self.held > 0 && !self.is_used()
    }

    /// Tells whether one more may share it: somebody uses it, and what reserves it for them is not leaving.
    fn is_shareable(&self) -> bool {
        self.is_used() && (self.going == 0 || self.standing > 0)
    }

    /// KiB free now.
    pub(crate) fn idle(&self, capacity: i64) -> i64 {
        if self.held > 0 { capacity - self.held } else { 0 }
    }

    /// KiB free now or to come, after what is kept for nominated pods; 0 where the device is not one to share.
    pub(crate) fn room(&self, capacity: i64) -> i64 {
        if self.is_shareable() { capacity - self.held + self.leaving - self.nominated } else { 0 }
    }
}

/// KiB of one of these GPUs.
pub(crate) fn capacity(gpus: Gpus) -> i64 {
    i64::from(gpus.memory_mib) * 1024
}

/// KiB that a request takes of each device of such GPUs; none for requests that share nothing.
pub(crate) fn part(gpu: &GpuRequest, gpus: Gpus) -> Option<i64> {
    match gpu {
        GpuRequest::Fraction { micro, .. } => {
            Some((i64::from(*micro) * capacity(gpus) / 1_000_000).max(1))
        }
        GpuRequest::Memory { mib, .. } => Some(i64::from(*mib) * 1024),
        GpuRequest::None | GpuRequest::Whole(_) | GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => {
            None
        }
    }
}

/// Thousandths of each device that a request is charged on such GPUs, rounded up to hundredths for memory and
/// to the nearest hundredth for fractions, and never 0.
///
/// # Source
/// docs/behaviour.md 2.2 `GPUs()` and 2.3; docs/contract.md 10.1 D15: KAI charges nothing for less than 0.005.
pub(crate) fn portion_milli(gpu: &GpuRequest, memory_mib: u32) -> i64 {
    match gpu {
        GpuRequest::Fraction { micro, .. } => ((i64::from(*micro) + 5_000) / 10_000).max(1) * 10,
        GpuRequest::Memory { mib, .. } => {
            let memory_mib = i64::from(memory_mib.max(1));
            (i64::from(*mib) * 100 + memory_mib - 1) / memory_mib * 10
        }
        GpuRequest::None | GpuRequest::Whole(_) | GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => {
            0
        }
    }
}
