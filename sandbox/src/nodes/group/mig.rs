//! Devices that are divided into MIG instances.

use super::Model;

/// The models that can be divided.
pub(super) const MODELS: [&str; 4] = ["A100", "B200", "H100", "H200"];
/// A device has seven slices of compute; an instance has so many of them.
const SLICES: u32 = 7;
const SIZES: [u32; 5] = [1, 2, 3, 4, 7];

/// Division of a device into equal instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mig {
    /// The profile, e.g. `1g.10gb`.
    pub profile: String,
    /// Instances of a device.
    pub each: u32,
}

impl Mig {
    /// Reads a profile, `<slices>g.<memory>gb`; none where a device of the model cannot have an instance of it.
    pub(super) fn read(text: &str, model: &Model) -> Option<Self> {
        let (slices, memory) = text.strip_suffix("gb")?.split_once("g.")?;
        let (slices, memory_gb): (u32, u32) = (slices.parse().ok()?, memory.parse().ok()?);
        if !MODELS.contains(&model.name) || !SIZES.contains(&slices) || memory_gb == 0 {
            return None;
        }
        let each = SLICES / slices;
        let has_memory = each * memory_gb <= model.memory_mib.div_ceil(1000);
        has_memory.then(|| Self { profile: text.to_owned(), each })
    }

    /// The extended resource of the instances.
    pub fn resource(&self) -> String {
        format!("nvidia.com/mig-{}", self.profile)
    }
}
