//! Describes what pods ask of GPUs, read from their limits and annotations, and exact sums of it.

use std::collections::BTreeMap;
use std::fmt;

use kai_api::quantity::Quantity;
use kai_api::shared_gpu::{self, Invalid, Share, SharedGpu};
use serde_json::Value;

use super::devices;
use crate::cluster::json::text;
use crate::cluster::names;

/// Returns what a pod, or a pod template, asks of shared GPUs; none where it asks for no share.
///
/// # Errors
/// Its annotations make no request; such a pod gets no part of a GPU.
pub(crate) fn shared(pod: &Value) -> Result<Option<SharedGpu>, Invalid> {
    let annotations = &pod["metadata"]["annotations"];
    shared_gpu::read(|key| annotations[key].as_str(), has_whole_limit(pod))
}

/// Tells whether some container or init container of a pod has the limit `nvidia.com/gpu`.
pub(crate) fn has_whole_limit(pod: &Value) -> bool {
    let limits = containers(pod, "containers").chain(containers(pod, "initContainers"));
    limits.filter_map(|container| container["resources"]["limits"].as_object()).any(|map| {
        map.iter().any(|(name, amount)| shared_gpu::is_whole_limit(name, quantity(amount)))
    })
}

/// The share of each device as a person reads it: `0.5`, `8Gi`.
pub(crate) fn share(share: Share) -> String {
    match share {
        Share::Fraction(_) => devices(part_milli(share, None).unwrap_or(0)),
        Share::MemoryMib(mib) => memory(mib),
    }
}

/// A share of a device in thousandths of it; none for memory of a device whose size is not known. Rounded up: parts to
/// thousandths, memory to hundredths, as the scheduler does.
///
/// # Source
/// docs/behaviour.md 2.3.
pub(crate) fn part_milli(share: Share, device_mib: Option<u64>) -> Option<u64> {
    match share {
        Share::Fraction(part) => u64::try_from(part.milli().ok()?).ok(),
        Share::MemoryMib(mib) => {
            // The scheduler counts devices in whole hundreds of MiB.
            let device_mib = (device_mib? / 100 * 100).max(100);
            Some(mib.saturating_mul(100).div_ceil(device_mib).saturating_mul(10))
        }
    }
}

/// Says what one pod asks for, in the grammar of `--gpu`: `2`, `0.25x4`, `8Gi`, `2x1g.10gb`; `-` for nothing.
pub(crate) fn ask(pod: &Value) -> String {
    match shared(pod) {
        Ok(Some(SharedGpu { share: each, devices: 1 })) => share(each),
        Ok(Some(SharedGpu { share: each, devices })) => format!("{}x{devices}", share(each)),
        Ok(None) | Err(_) => {
            let total = Total::of_pod(pod);
            if total.is_zero() { String::from("-") } else { total.to_string() }
        }
    }
}

fn containers<'a>(pod: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    pod["spec"][list].as_array().into_iter().flatten()
}

fn quantity(amount: &Value) -> Option<Quantity> {
    match amount {
        Value::String(text) => Quantity::parse(text).ok(),
        other => other.as_i64().map(Quantity::from_value),
    }
}

/// Thousandths of as many devices as no cluster has, where the pods of one template are no longer counted: `u32::MAX`.
const MANY_MILLI: u64 = 4_294_967_295_000;

/// Adds amounts up, which users choose: a sum that is no number any more stays the largest one.
pub(crate) fn sum(amounts: impl IntoIterator<Item = u64>) -> u64 {
    amounts.into_iter().fold(0, u64::saturating_add)
}

/// Adds amounts up in the same way where each of them is known.
pub(crate) fn sum_known(amounts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    amounts.into_iter().try_fold(0_u64, |sum, amount| Some(sum.saturating_add(amount?)))
}

/// GPUs of several pods together: thousandths of devices, memory shares, MIG slices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    /// Thousandths of devices.
    pub(crate) milli: u64,
    /// Memory shares in MiB.
    pub(crate) memory_mib: u64,
    /// Slices by profile.
    pub(crate) mig: BTreeMap<String, u64>,
}

impl Total {
    /// Returns what a pod, or a pod template, asks for: its limits and its annotations. Annotations that make no request count
    /// for nothing, since nothing is given for them.
    pub(crate) fn of_pod(pod: &Value) -> Self {
        Self::of_pod_on(pod, None)
    }

    /// As [`Total::of_pod`], with memory counted as part of a device that has so much.
    pub(crate) fn of_pod_on(pod: &Value, device_mib: Option<u64>) -> Self {
        let mut total = Self::default();
        if let Ok(Some(shared)) = shared(pod) {
            let count = u64::from(shared.devices);
            match (part_milli(shared.share, device_mib), shared.share) {
                (Some(milli), _) => total.milli = milli.saturating_mul(count),
                (None, Share::MemoryMib(mib)) => total.memory_mib = mib.saturating_mul(count),
                (None, Share::Fraction(_)) => {}
            }
        }
        for (name, amount) in plugin_devices(pod) {
            match name.strip_prefix(names::MIG) {
                Some(profile) => drop(total.mig.insert(profile.to_owned(), amount)),
                None => total.milli = total.milli.saturating_add(amount.saturating_mul(1000)),
            }
        }
        total
    }

    /// Adds what `count` such pods ask for.
    pub(crate) fn add(&mut self, other: &Self, count: u64) {
        self.milli = self.milli.saturating_add(other.milli.saturating_mul(count));
        self.memory_mib = self.memory_mib.saturating_add(other.memory_mib.saturating_mul(count));
        for (profile, slices) in &other.mig {
            let sum = self.mig.entry(profile.clone()).or_default();
            *sum = sum.saturating_add(slices.saturating_mul(count));
        }
    }

    /// Returns what is left of it without another.
    pub(crate) fn less(&self, other: &Self) -> Self {
        let mut left = Self {
            milli: self.milli.saturating_sub(other.milli),
            memory_mib: self.memory_mib.saturating_sub(other.memory_mib),
            mig: self.mig.clone(),
        };
        for (profile, slices) in &mut left.mig {
            *slices = slices.saturating_sub(other.mig.get(profile).copied().unwrap_or(0));
        }
        left.mig.retain(|_, slices| *slices > 0);
        left
    }

    pub(crate) fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Says it with its units: `1.5 GPU`, `20Gi of GPU memory`, `2 MIG slices 1g.10gb`, or several of these; `no GPU`
    /// for nothing.
    pub(crate) fn words(&self) -> String {
        let mut parts = Vec::new();
        if self.milli > 0 {
            parts.push(format!("{} GPU", shown(self.milli)));
        }
        if self.memory_mib > 0 {
            parts.push(format!("{} of GPU memory", memory(self.memory_mib)));
        }
        parts.extend(self.mig.iter().map(|(profile, count)| {
            format!("{count} MIG slice{} {profile}", if *count == 1 { "" } else { "s" })
        }));
        if parts.is_empty() { "no GPU".to_owned() } else { parts.join(" and ") }
    }
}

/// Devices of resource claims among the amounts of a status, in thousandths: they stand under the names of their
/// classes, which have no `/`, and GPUs are those that say so.
///
/// # Source
/// docs/behaviour.md 13.1.
pub(crate) fn claimed_milli(amounts: &Value) -> u64 {
    let amounts = amounts.as_object().into_iter().flatten();
    let gpus = amounts
        .filter(|(name, _)| !name.contains('/') && name.to_ascii_lowercase().contains("gpu"));
    sum(gpus.filter_map(|(_, amount)| u64::try_from(quantity(amount)?.milli().ok()?).ok()))
}

/// GPUs among the amounts of a queue's status, in thousandths; none where it says nothing of GPUs.
pub(crate) fn status_milli(amounts: &Value) -> Option<u64> {
    let of = |name: &str| u64::try_from(quantity(&amounts[name])?.milli().ok()?).ok();
    let devices = [of(names::GPU), of(names::AMD_GPU)];
    let claimed = claimed_milli(amounts);
    let is_told = devices.iter().any(Option::is_some) || claimed > 0;
    is_told.then(|| sum(devices.into_iter().flatten().chain([claimed])))
}

/// Returns how many whole devices a pod asks for.
pub(crate) fn whole(pod: &Value) -> u64 {
    let devices = plugin_devices(pod);
    let of = |name: &str| devices.get(name).copied().unwrap_or(0);
    of(names::GPU).saturating_add(of(names::AMD_GPU))
}

/// Devices that a pod takes from device plugins, by resource: its containers and sidecars together, or an init container
/// with the sidecars before it, where that is more.
fn plugin_devices(pod: &Value) -> BTreeMap<&str, u64> {
    let mut running: BTreeMap<&str, u64> = BTreeMap::new();
    let mut starting: BTreeMap<&str, u64> = BTreeMap::new();
    let init = containers(pod, "initContainers")
        .map(|container| (container, text(&container["restartPolicy"]) != "Always"));
    let regular = containers(pod, "containers").map(|container| (container, false));
    for (container, ends_first) in init.chain(regular) {
        for (name, amount) in container_devices(container) {
            let beside = running.entry(name).or_default();
            let sum = beside.saturating_add(amount);
            if ends_first {
                let most = starting.entry(name).or_default();
                *most = (*most).max(sum);
            } else {
                *beside = sum;
            }
        }
    }
    for (name, most) in starting {
        let all = running.entry(name).or_default();
        *all = (*all).max(most);
    }
    running.retain(|_, amount| *amount > 0);
    running
}

fn container_devices(container: &Value) -> impl Iterator<Item = (&str, u64)> {
    let resources = &container["resources"];
    let asked = [&resources["limits"], &resources["requests"]];
    let asked = asked.into_iter().find_map(Value::as_object).into_iter().flatten();
    asked.filter_map(|(name, amount)| {
        let is_device =
            name == names::GPU || name == names::AMD_GPU || name.starts_with(names::MIG);
        let count = quantity(amount).filter(|_| is_device)?.value().ok()?;
        Some((name.as_str(), u64::try_from(count).ok()?))
    })
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.milli > 0 {
            parts.push(shown(self.milli));
        }
        if self.memory_mib > 0 {
            parts.push(memory(self.memory_mib));
        }
        parts.extend(self.mig.iter().map(|(profile, count)| format!("{count}x{profile}")));
        f.write_str(if parts.is_empty() { "0".into() } else { parts.join("+") }.as_str())
    }
}

/// Says how many devices, or that they are more than can be counted.
fn shown(milli: u64) -> String {
    if milli < MANY_MILLI { devices(milli) } else { "many".to_owned() }
}

fn memory(mib: u64) -> String {
    if mib.is_multiple_of(1024) { format!("{}Gi", mib / 1024) } else { format!("{mib}Mi") }
}
