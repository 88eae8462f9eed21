//! Requests of pods for shared GPUs, and where what they are given is written down.
//!
//! Admission, the scheduler, the status controllers and the CLI read the same annotations; this is the one place that
//! says what they mean, so that no two of them differ.
//!
//! # Source
//! docs/contract.md 2.1 (annotations), 3.3 (container and names of config maps), 3.6 (what is refused).

use std::fmt::{Display, Formatter};

use crate::names::{annotation, resource};
use crate::quantity::Quantity;

/// Devices that a pod may share at once; no node has more.
pub const DEVICES_MAX: u32 = 1024;

/// The longest beginning of the names of config maps: 253 bytes are a name, and a container and a word come after it.
const MAP_PREFIX_BYTES_MAX: usize = 230;

/// Reads the label with the memory of each device of a node, in MiB: a value that can only be bytes is converted.
///
/// # Source
/// docs/behaviour.md 2.4.
#[must_use]
pub fn device_memory_mib(label: &str) -> Option<u32> {
    const BYTES_FROM: u64 = 1 << 20;
    let memory = label.parse::<u64>().ok()?;
    u32::try_from(if memory >= BYTES_FROM { memory >> 20 } else { memory }).ok()
}

/// The share of each device that a pod asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Part of the device, more than 0 and less than 1.
    Fraction(Quantity),
    /// Memory of the device in MiB, more than 0.
    MemoryMib(u64),
}

/// Request of a pod for shared GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedGpu {
    /// The share of each device.
    pub share: Share,
    /// On how many devices, at least 1.
    pub devices: u32,
}

/// The reason why the annotations of a pod make no request, in the order in which they are looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// MPS without a share.
    #[error(
        "annotation mps: \"true\" needs a share of a GPU: add the annotation gpu-fraction, like \"0.5\", or gpu-memory, or remove mps"
    )]
    MpsAlone,
    /// A share beside whole GPUs.
    #[error(
        "annotation {0} asks for a share of a GPU, and a container has the limit nvidia.com/gpu: a pod has either; remove one of them"
    )]
    BesideWhole(&'static str),
    /// Both kinds of share.
    #[error("annotations gpu-fraction and gpu-memory exclude each other: remove one of them")]
    TwoShares,
    /// A number of devices without a share.
    #[error(
        "annotation gpu-fraction-num-devices needs the share of each device: add gpu-fraction, like \"0.5\", or gpu-memory"
    )]
    DevicesAlone,
    /// No amount of memory.
    #[error(
        "annotation gpu-memory: {0:?} must be a positive integer greater than 0: MiB of one GPU in digits only, like \"8192\""
    )]
    Memory(String),
    /// No fraction.
    #[error(
        "annotation gpu-fraction: {0:?} must be a positive number smaller than 1.0, like \"0.5\""
    )]
    Fraction(String),
    /// A number in a notation that is no quantity.
    #[error(
        "annotation gpu-fraction: {0:?} must be in decimal or scientific notation, like \"0.5\" or \"5e-1\""
    )]
    Notation(String),
    /// No number of devices.
    #[error(
        "annotation gpu-fraction-num-devices: {0:?} must be a positive integer greater than 0, like \"2\"; at most {DEVICES_MAX}"
    )]
    Devices(String),
}

/// Reads a pod's request for shared GPUs; none where it asks for no share. `annotation` gives the pod's value of a key,
/// and `has_whole_limit` says whether some container or init container of it has the limit `nvidia.com/gpu`.
///
/// # Errors
/// The first rule that the pod breaks.
///
/// # Source
/// docs/contract.md 3.6, rules 2 to 9. A fraction of exactly 1 is refused as the table says.
pub fn read<'a>(
    annotation: impl Fn(&str) -> Option<&'a str>,
    has_whole_limit: bool,
) -> Result<Option<SharedGpu>, Invalid> {
    let fraction = annotation(annotation::GPU_FRACTION);
    let memory = annotation(annotation::GPU_MEMORY);
    let devices = annotation(annotation::GPU_FRACTION_DEVICES);
    if fraction.is_none() && memory.is_none() && annotation(annotation::MPS) == Some("true") {
        return Err(Invalid::MpsAlone);
    }
    if fraction.is_some() && has_whole_limit {
        return Err(Invalid::BesideWhole(annotation::GPU_FRACTION));
    }
    if memory.is_some() && fraction.is_some() {
        return Err(Invalid::TwoShares);
    }
    if memory.is_some() && has_whole_limit {
        return Err(Invalid::BesideWhole(annotation::GPU_MEMORY));
    }
    let share = match (fraction, memory) {
        (None, None) if devices.is_some() => return Err(Invalid::DevicesAlone),
        (None, None) => return Ok(None),
        (_, Some(text)) => {
            let mib = natural(text).ok_or_else(|| Invalid::Memory(shortened(text)))?;
            Share::MemoryMib(mib)
        }
        (Some(text), None) => Share::Fraction(read_fraction(text)?),
    };
    let devices = match devices {
        None => 1,
        Some(text) => natural(text)
            .and_then(|count| u32::try_from(count).ok())
            .filter(|count| *count <= DEVICES_MAX)
            .ok_or_else(|| Invalid::Devices(shortened(text)))?,
    };
    Ok(Some(SharedGpu { share, devices }))
}

/// Tells whether the limits of a container ask for whole GPUs of the device plugin.
pub fn is_whole_limit(name: &str, amount: Option<Quantity>) -> bool {
    name == resource::NVIDIA_GPU && amount.is_none_or(|amount| amount > Quantity::ZERO)
}

/// A fraction, more than 0 and less than 1.
///
/// # Errors
/// It is not a number in range, or written as no Kubernetes quantity is (hexadecimal, `_`).
pub fn read_fraction(text: &str) -> Result<Quantity, Invalid> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b"+.eE-".contains(&byte));
    match Quantity::parse(text) {
        Ok(amount) if is_decimal && amount > Quantity::ZERO && amount < Quantity::from_value(1) => {
            Ok(amount)
        }
        Err(_) if is_other_notation(text) => Err(Invalid::Notation(shortened(text))),
        Ok(_) | Err(_) => Err(Invalid::Fraction(shortened(text))),
    }
}

/// Tells whether a text is a number as programming languages write them, and no quantity.
fn is_other_notation(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    let is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    is_hexadecimal
        || (digits.contains('_') && digits.starts_with(|first: char| first.is_ascii_digit()))
}

/// An integer of digits only, more than 0.
fn natural(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number > 0)
}

/// The text as a message shows it: what a user wrote may be long.
fn shortened(text: &str) -> String {
    const SHOWN_MAX: usize = 40;
    match text.char_indices().nth(SHOWN_MAX) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => String::from(text),
    }
}

/// The container that gets the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// It is one of the init containers.
    pub is_init: bool,
    /// Its place among them, or among the regular ones.
    pub index: usize,
}

/// No container of the pod has the name that its annotation gives, or it has no container at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "annotation gpu-fraction-container-name: {0:?} names no container of the pod: name one of its containers or init containers"
)]
pub struct UnknownContainer(pub String);

/// The container that gets the device: the one that is named, init containers first, else the first regular one.
///
/// # Errors
/// There is none of that name.
///
/// # Source
/// docs/contract.md 3.3, step 1.
pub fn target<'a>(
    named: Option<&str>,
    mut init: impl Iterator<Item = &'a str>,
    mut regular: impl Iterator<Item = &'a str>,
) -> Result<Target, UnknownContainer> {
    let Some(named) = named else {
        let first = regular.next().map(|_| Target { is_init: false, index: 0 });
        return first.ok_or_else(|| UnknownContainer(String::new()));
    };
    if let Some(index) = init.position(|name| name == named) {
        return Ok(Target { is_init: true, index });
    }
    let index = regular.position(|name| name == named);
    let found = index.map(|index| Target { is_init: false, index });
    found.ok_or_else(|| UnknownContainer(shortened(named)))
}

/// The config map that a container's variables refer to one by one; `prefix` is the pod's annotation
/// `runai/shared-gpu-configmap`.
///
/// # Source
/// docs/contract.md 3.3, step 3.
pub fn capabilities_map(prefix: &str, target: Target) -> String {
    format!("{prefix}-{target}")
}

/// Tells whether names of config maps can begin like this. The text is a pod's annotation, so that its user may have written
/// anything: a path, or parameters of a request.
pub fn is_map_prefix(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= MAP_PREFIX_BYTES_MAX
        && text.bytes().next().is_some_and(is_letter)
        && text.bytes().all(|byte| is_letter(byte) || b"-.".contains(&byte))
}

/// The config map that a container takes variables from as a whole.
pub fn variables_map(prefix: &str, target: Target) -> String {
    format!("{prefix}-{target}-evar")
}

impl Display for Target {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}{}", if self.is_init { "i" } else { "" }, self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads annotations written as `key=value, key=value`.
    fn check(annotations: &str, has_whole_limit: bool, expect: &str) {
        let pairs: Vec<(&str, &str)> =
            annotations.split(", ").filter_map(|pair| pair.split_once('=')).collect();
        let value = |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, text)| *text);
        let text = match read(value, has_whole_limit) {
            Ok(None) => String::from("none"),
            Ok(Some(SharedGpu { share: Share::Fraction(part), devices })) => {
                format!("{part} of {devices}")
            }
            Ok(Some(SharedGpu { share: Share::MemoryMib(mib), devices })) => {
                format!("{mib} MiB of {devices}")
            }
            Err(invalid) => invalid.to_string(),
        };
        assert!(text.contains(expect), "{annotations}: {text:?} lacks {expect:?}");
    }

    #[test]
    fn memory_of_devices_in_bytes_is_converted() {
        for (label, expect) in [
            ("81559", Some(81_559)),
            ("1048575", Some(1_048_575)),
            ("1048576", Some(1)),
            ("42949672960", Some(40_960)),
            ("18446744073709551615", None),
            ("much", None),
        ] {
            assert_eq!(device_memory_mib(label), expect, "{label}");
        }
    }

    #[test]
    fn requests_are_read_as_they_are_meant() {
        check("", true, "none");
        check("gpu-fraction=0.5", false, "500m of 1");
        check("gpu-fraction=5e-1, gpu-fraction-num-devices=2", false, "of 2");
        check("gpu-fraction=.25", false, "250m of 1");
        check("gpu-memory=2000", false, "2000 MiB of 1");
        check("gpu-memory=2000, mps=true", false, "2000 MiB of 1");
        check("mps=false", false, "none");
    }

    #[test]
    fn each_rule_refuses() {
        check("mps=true", true, "needs a share of a GPU");
        check("gpu-fraction=0.5", true, "a pod has either");
        check("gpu-memory=5", true, "gpu-memory asks for a share");
        check("gpu-memory=5, gpu-fraction=0.5", true, "gpu-fraction asks for a share");
        check("gpu-memory=5, gpu-fraction=0.5", false, "exclude each other");
        check("gpu-fraction-num-devices=2", false, "needs the share of each device");
        for memory in ["0", "2Gi", "-1", "+1", "", "1.5", "99999999999999999999"] {
            check(&format!("gpu-memory={memory}"), false, "must be a positive integer");
        }
        for fraction in ["0", "1", "1.5", "NaN", "-0.5", "inf", "0.5 ", "", "500m", "1Ki", "5E"] {
            check(&format!("gpu-fraction={fraction}"), false, "smaller than 1.0");
        }
        for fraction in ["0x1p-1", "0_1"] {
            check(&format!("gpu-fraction={fraction}"), false, "decimal or scientific");
        }
        for devices in ["0", "-2", "1.5", "two", "99999"] {
            let annotations = format!("gpu-fraction=0.5, gpu-fraction-num-devices={devices}");
            check(&annotations, false, "num-devices");
        }
    }

    #[test]
    fn the_container_is_found_by_name_or_is_the_first() {
        let find = |named| target(named, ["a", "b"].into_iter(), ["c", "b"].into_iter());
        assert_eq!(find(None).map(|found| found.to_string()), Ok(String::from("0")));
        assert_eq!(find(Some("b")).map(|found| found.to_string()), Ok(String::from("i1")));
        assert_eq!(find(Some("c")).map(|found| capabilities_map("p", found)), Ok("p-0".into()));
        assert_eq!(find(Some("a")).map(|found| variables_map("p", found)), Ok("p-i0-evar".into()));
        assert_eq!(find(Some("x")), Err(UnknownContainer("x".into())));
        assert!(target(None, ["a"].into_iter(), std::iter::empty()).is_err());
    }

    #[test]
    fn a_path_begins_no_name() {
        assert!(is_map_prefix("a.b-abc1234-shared-gpu") && is_map_prefix(&"a".repeat(230)));
        for text in ["", ".", "..", "../x", "?watch=1", "a/b", "a#", "a%2f", "A", "a b", "-a"] {
            assert!(!is_map_prefix(text), "{text:?}");
        }
        assert!(!is_map_prefix(&"a".repeat(231)));
    }
}
