//! Amounts that are taken on one simulated node, counted as its kubelet and device plugin would.

use std::collections::{BTreeSet, HashMap};

use super::group::Spec;
use super::object::{PODS, device_uuid};
use super::pod::Amounts;

/// The resource whose devices are told apart.
const GPU: &str = "nvidia.com/gpu";
const GIB: i64 = 1 << 30;

/// Capacity, what is taken, and who holds which device.
#[derive(Debug)]
pub(super) struct Ledger {
    capacity: Amounts,
    used: Amounts,
    holders: HashMap<String, Amounts>,
    /// The UUIDs of the devices, by index.
    pub(super) devices: Vec<String>,
    /// Name of their model; empty without devices.
    pub(super) product: &'static str,
    /// Per device index: the UID of the pod that holds it.
    slots: Vec<Option<String>>,
    /// The indexes of devices that are gone.
    lost: BTreeSet<usize>,
}

/// The reason why a node does not take a pod, in the kubelet's words.
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
        let whole = if spec.mig.is_some() { 0 } else { spec.gpus };
        let instances = spec.mig.iter();
        let instances = instances.map(|mig| (mig.resource(), i64::from(spec.gpus * mig.each)));
        let capacity = [
            ("cpu", i64::from(spec.cores) * 1000),
            ("memory", i64::from(spec.memory_gib) * GIB),
            ("ephemeral-storage", 1024 * GIB),
            ("pods", PODS),
            (GPU, i64::from(whole)),
        ];
        Self {
            capacity: capacity
                .map(|(name, amount)| (name.to_owned(), amount))
                .into_iter()
                .chain(instances)
                .collect(),
            used: Amounts::new(),
            holders: HashMap::new(),
            devices: (0..whole).map(|index| device_uuid(&spec.name, index)).collect(),
            product: spec.model.map_or("", |model| model.product),
            slots: (0..whole).map(|_| None).collect(),
            lost: BTreeSet::new(),
        }
    }

    /// Says which devices are gone: they are given to nobody.
    pub(super) fn lose(&mut self, lost: &BTreeSet<usize>) {
        self.lost.clone_from(lost);
    }

    /// Tells whether the device is gone.
    pub(super) fn is_lost(&self, device: &str) -> bool {
        let index = self.devices.iter().position(|own| own == device);
        index.is_some_and(|index| self.lost.contains(&index))
    }

    /// The UID of the pod that holds a device.
    pub(super) fn holder(&self, device: &str) -> Option<&str> {
        let index = self.devices.iter().position(|own| own == device)?;
        self.slots[index].as_deref()
    }

    /// The slots that a pod may get.
    fn is_free(&self, index: usize) -> bool {
        self.slots[index].is_none() && !self.lost.contains(&index)
    }

    /// Gives how much of a resource is left.
    fn left(&self, resource: &str) -> i64 {
        if resource == GPU {
            let free = (0..self.slots.len()).filter(|index| self.is_free(*index)).count();
            return i64::try_from(free).expect("a few devices");
        }
        let capacity = self.capacity.get(resource).copied().unwrap_or(0);
        capacity - self.used.get(resource).copied().unwrap_or(0)
    }

    /// Tells whether `request` fits beside what is taken.
    ///
    /// # Errors
    /// The first resource that lacks, named as the kubelet does: `OutOfcpu`, or
    /// `UnexpectedAdmissionError` for devices.
    pub(super) fn fits(&self, request: &Amounts) -> Result<(), Misfit> {
        for (resource, asked) in request.iter().filter(|(_, asked)| **asked > 0) {
            let used = self.used.get(resource).copied().unwrap_or(0);
            let capacity = self.capacity.get(resource).copied().unwrap_or(0);
            let free = self.left(resource);
            if *asked <= free {
                continue;
            }
            return Err(if resource.contains('/') {
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

    /// Gives `request` to the pod `uid`, whether it fits or not; `held` are devices that it is known to have already.
    pub(super) fn take(&mut self, uid: &str, request: Amounts, held: &[String]) {
        for (resource, asked) in &request {
            *self.used.entry(resource.clone()).or_default() += asked;
        }
        let wanted = request.get(GPU).copied().unwrap_or(0);
        let mut wanted = usize::try_from(wanted).unwrap_or(0);
        let known = held.iter().filter_map(|one| self.devices.iter().position(|own| own == one));
        let known: Vec<usize> = known.collect();
        for index in known.iter().copied().chain(0..self.slots.len()) {
            // A device that a pod has already stays its own when it is lost.
            let is_free = if known.contains(&index) {
                self.slots[index].is_none()
            } else {
                self.is_free(index)
            };
            if wanted > 0 && is_free {
                self.slots[index] = Some(uid.to_owned());
                wanted -= 1;
            }
        }
        self.holders.insert(uid.to_owned(), request);
    }

    /// Gives the pod `uid`, which has its devices, other amounts of CPU and memory.
    ///
    /// # Errors
    /// `Infeasible` where the node has not that much at all, `Deferred` where others have it; in the kubelet's words.
    pub(super) fn resize(&mut self, uid: &str, request: &Amounts) -> Result<(), Misfit> {
        let held = self.holders.get(uid).cloned().unwrap_or_default();
        let of = |amounts: &Amounts, resource: &str| amounts.get(resource).copied().unwrap_or(0);
        let resized = ["cpu", "memory"];
        for resource in resized {
            let (asked, capacity) = (of(request, resource), of(&self.capacity, resource));
            if asked > capacity {
                return Err(Misfit {
                    reason: "Infeasible".to_owned(),
                    message: format!(
                        "Node didn't have enough capacity: {resource}, requested: {asked}, capacity: {capacity}"
                    ),
                });
            }
        }
        for resource in resized {
            let (asked, capacity) = (of(request, resource), of(&self.capacity, resource));
            let used = of(&self.used, resource) - of(&held, resource);
            // What shrinks is given whatever the others have.
            if asked > of(&held, resource) && asked > capacity - used {
                return Err(Misfit {
                    reason: "Deferred".to_owned(),
                    message: format!(
                        "Node didn't have enough resource: {resource}, requested: {asked}, used: {used}, capacity: {capacity}"
                    ),
                });
            }
        }
        let holder = self.holders.entry(uid.to_owned()).or_default();
        for resource in resized {
            let asked = of(request, resource);
            *self.used.entry(resource.to_owned()).or_default() += asked - of(&held, resource);
            holder.insert(resource.to_owned(), asked);
        }
        Ok(())
    }

    /// Takes back what the pod `uid` holds.
    pub(super) fn give(&mut self, uid: &str) {
        let Some(request) = self.holders.remove(uid) else { return };
        for (resource, asked) in request {
            *self.used.entry(resource).or_default() -= asked;
        }
        for slot in self.slots.iter_mut().filter(|slot| slot.as_deref() == Some(uid)) {
            *slot = None;
        }
    }

    /// The UUIDs of the devices that the pod `uid` holds, in index order.
    pub(super) fn held(&self, uid: &str) -> Vec<String> {
        let slots = self.slots.iter().zip(&self.devices);
        slots
            .filter(|(slot, _)| slot.as_deref() == Some(uid))
            .map(|(_, device)| device.clone())
            .collect()
    }
}
