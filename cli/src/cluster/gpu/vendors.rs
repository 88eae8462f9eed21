//! Devices that are not NVIDIA's, or not a device plugin's: `amd:2`, `gaudi:8`, `gpu.intel.com/xe:1`, `dra:CLASS:2`.

use super::{DEVICES_MAX, Gpu, wrong};
use crate::cluster::names;
use crate::print::error::Problem;

/// Resources of device plugins by the names that people give them.
const VENDORS: [(&str, &str); 3] =
    [("nvidia", names::GPU), ("amd", names::AMD_GPU), ("gaudi", names::GAUDI)];

/// The resource that stands before the number: a vendor's, or one by its own name.
pub(super) fn resource(front: &str) -> Option<&str> {
    let known = VENDORS.iter().find(|(vendor, _)| *vendor == front);
    let is_resource = || {
        let (domain, name) = front.split_once('/')?;
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name = |text: &str| !text.is_empty() && text.chars().all(legal);
        (is_name(domain) && domain.contains('.') && is_name(name)).then_some(front)
    };
    known.map(|(_, resource)| *resource).or_else(is_resource)
}

/// As it is typed: the vendor where it has a short name.
pub(super) fn front(resource: &str) -> &str {
    let known = VENDORS.iter().find(|(_, known)| *known == resource);
    known.map_or(resource, |(vendor, _)| vendor)
}

/// Reads whole devices; `typed` is all that was typed.
pub(super) fn device(typed: &str, front: &str, amount: &str) -> Result<Gpu, Problem> {
    let resource = resource(front).unwrap_or(front);
    if resource == names::GPU {
        return Gpu::parse(amount);
    }
    let count = count(typed, amount, &format!("--gpu {front}:2"))?;
    Ok(match resource.strip_prefix(names::MIG) {
        Some(profile) => Gpu::Mig { profile: profile.into(), count },
        None => Gpu::Device { resource: resource.into(), count },
    })
}

/// Reads `CLASS` or `CLASS:2`.
pub(super) fn claim(typed: &str, text: &str) -> Result<Gpu, Problem> {
    let example = "--gpu dra:gpu.nvidia.com:2";
    let (class, amount) = text.split_once(':').unwrap_or((text, "1"));
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if !class.starts_with(ends) || !class.ends_with(ends) || !class.chars().all(legal) {
        return Err(wrong(typed, "names no class of devices", None)
            .fix(format!("{example}   (kubectl get deviceclasses)")));
    }
    Ok(Gpu::Claim { class: class.into(), count: count(typed, amount, example)? })
}

fn count(typed: &str, amount: &str, example: &str) -> Result<u32, Problem> {
    let count = amount.parse::<u32>().ok().filter(|count| (1..=DEVICES_MAX).contains(count));
    count.ok_or_else(|| {
        wrong(typed, "does not say how many whole devices", None)
            .line("parts of a device are of NVIDIA's, by KAI's reservations")
            .fix(example)
    })
}
