//! Shared GPUs: what is held of each, and what that means for its node.
//!
//! A device is on the ledger while a pod holds, leaves or will take a part of it. Amounts are KiB of GPU memory,
//! so that parts by fraction and parts by memory add up in one unit.
//!
//! # Source
//! spec/scheduling.md 2.6 gives the peer's ledger as steps; here the same is a function of three sums.

use crate::{ids::DeviceId, node::Gpus, pod::GpuRequest, resources::GPU_MILLI};

/// One shared GPU of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Device {
    pub(crate) id: DeviceId,
    /// KiB held by pods, those that are leaving included.
    pub(crate) held: i64,
    /// KiB of it held by pods that are leaving.
    pub(crate) leaving: i64,
    /// KiB promised to nominated pods.
    pub(crate) promised: i64,
    /// How many pods are in the sums.
    pub(crate) pods: u32,
    /// The sum of their UIDs, which tells devices with the same sums apart whatever their numbers are.
    pub(crate) uids: u128,
}

impl Device {
    pub(crate) const fn new(id: DeviceId) -> Self {
        Self { id, held: 0, leaving: 0, promised: 0, pods: 0, uids: 0 }
    }

    /// What the device takes from its node's idle GPUs, in milli-devices.
    pub(crate) fn idle_milli(&self) -> i64 {
        if self.held > 0 { -GPU_MILLI } else { 0 }
    }

    /// What the device adds to its node's releasing GPUs, in milli-devices.
    pub(crate) fn releasing_milli(&self) -> i64 {
        if self.is_leaving() {
            GPU_MILLI
        } else if self.held == 0 && self.promised > 0 {
            -GPU_MILLI
        } else {
            0
        }
    }

    /// Pod slots promised to the reservation pod of a device that nobody has opened yet.
    pub(crate) fn promised_slots(&self) -> i64 {
        i64::from(self.held == 0 && self.promised > 0)
    }

    /// Whether all that is held is leaving: then it is a whole GPU to come, not one to share.
    pub(crate) fn is_leaving(&self) -> bool {
        self.held > 0 && self.leaving == self.held && self.promised == 0
    }

    /// KiB free now.
    pub(crate) fn idle(&self, capacity: i64) -> i64 {
        if self.held > 0 { capacity - self.held } else { 0 }
    }

    /// KiB free now or to come, after what is promised; 0 where the device is not one to share.
    pub(crate) fn room(&self, capacity: i64) -> i64 {
        if self.is_leaving() { 0 } else { capacity - self.held + self.leaving - self.promised }
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
/// to the nearest hundredth for fractions.
///
/// # Source
/// spec/scheduling.md 2.2 `GPUs()` and 2.3.
pub(crate) fn portion_milli(gpu: &GpuRequest, memory_mib: u32) -> i64 {
    match gpu {
        GpuRequest::Fraction { micro, .. } => (i64::from(*micro) + 5_000) / 10_000 * 10,
        GpuRequest::Memory { mib, .. } => {
            let memory_mib = i64::from(memory_mib.max(1));
            (i64::from(*mib) * 100 + memory_mib - 1) / memory_mib * 10
        }
        GpuRequest::None | GpuRequest::Whole(_) | GpuRequest::Mig(_) | GpuRequest::LegacyMig(_) => {
            0
        }
    }
}
