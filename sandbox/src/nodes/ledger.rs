//! What is taken on one simulated node, counted as its kubelet and device plugin would.

use std::collections::HashMap;

use super::group::Spec;
use super::object::{PODS, device_uuid};
use super::pod::Amounts;

/// The resource whose devices are told apart.
const GPU: &str = "nvidia.com/gpu";
const GIB: i64 = 1 << 30;

/// Capacity, what is taken, and who holds which device.
#[derive(Debug)]
pub(super) struct Ledger {
    node: String,
    capacity: Amounts,
    used: Amounts,
    holders: HashMap<String, Amounts>,
    /// Per device index: the UID of the pod that holds it.
    devices: Vec<Option<String>>,
}

/// Why a node does not take a pod, in the kubelet's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Misfit {
    /// The pod's `status.reason`.
    pub(super) reason: String,
    /// The pod's `status.message`, after "Pod was rejected: ".
    pub(super) message: String,
}

impl Ledger {
    /// An empty node.
    pub(super) fn new(spec: &Spec) -> Self {
        let gpus = usize::try_from(spec.gpus).expect("a few devices");
        let capacity = [
            ("cpu", i64::from(spec.cores) * 1000),
            ("memory", i64::from(spec.memory_gib) * GIB),
            ("ephemeral-storage", 1024 * GIB),
            ("pods", PODS),
            (GPU, i64::from(spec.gpus)),
        ];
        Self {
            node: spec.name.clone(),
            capacity: capacity.map(|(name, amount)| (name.to_owned(), amount)).into(),
            used: Amounts::new(),
            holders: HashMap::new(),
            devices: vec![None; gpus],
        }
    }

    /// Whether `request` fits beside what is taken.
    ///
    /// # Errors
    /// The first resource that lacks, named as the kubelet does: `OutOfcpu`, or
    /// `UnexpectedAdmissionError` for devices.
    pub(super) fn fits(&self, request: &Amounts) -> Result<(), Misfit> {
        for (resource, asked) in request.iter().filter(|(_, asked)| **asked > 0) {
            let used = self.used.get(resource).copied().unwrap_or(0);
            let capacity = self.capacity.get(resource).copied().unwrap_or(0);
            if asked.saturating_add(used) <= capacity {
                continue;
            }
            return Err(if resource.contains('/') {
                let free = capacity - used;
                Misfit {
                    reason: "UnexpectedAdmissionError".to_owned(),
                    message: format!(
                        "Allocate failed due to requested number of devices unavailable for {resource}. \
                         Requested: {asked}, Available: {free}, which is unexpected"
                    ),
                }
            } else {
                Misfit {
                    reason: format!("OutOf{resource}"),
                    message: format!(
                        "Node didn't have enough resource: {resource}, requested: {asked}, used: {used}, capacity: {capacity}"
                    ),
                }
            });
        }
        Ok(())
    }

    /// Gives `request` to the pod `uid`, whether it fits or not.
    pub(super) fn take(&mut self, uid: &str, request: Amounts) {
        for (resource, asked) in &request {
            *self.used.entry(resource.clone()).or_default() += asked;
        }
        let wanted = request.get(GPU).copied().unwrap_or(0);
        let wanted = usize::try_from(wanted).unwrap_or(0);
        for slot in self.devices.iter_mut().filter(|slot| slot.is_none()).take(wanted) {
            *slot = Some(uid.to_owned());
        }
        self.holders.insert(uid.to_owned(), request);
    }

    /// Takes back what the pod `uid` holds.
    pub(super) fn give(&mut self, uid: &str) {
        let Some(request) = self.holders.remove(uid) else { return };
        for (resource, asked) in request {
            *self.used.entry(resource).or_default() -= asked;
        }
        for slot in self.devices.iter_mut().filter(|slot| slot.as_deref() == Some(uid)) {
            *slot = None;
        }
    }

    /// The UUIDs of the devices that the pod `uid` holds, in index order.
    pub(super) fn devices(&self, uid: &str) -> Vec<String> {
        let held = self.devices.iter().enumerate().filter(|(_, slot)| slot.as_deref() == Some(uid));
        held.map(|(index, _)| device_uuid(&self.node, u32::try_from(index).expect("a few devices")))
            .collect()
    }
}
