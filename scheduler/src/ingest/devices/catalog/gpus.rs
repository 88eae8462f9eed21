//! Device classes that have GPUs though their names do not say so.

use std::collections::BTreeSet;

use kai_api::names::resource;
use kai_engine::{Delta, DeviceClassId, Lane, LaneKind, SliceDevice};

use super::Catalog;
use crate::{ingest::Context, names::Number};

/// Names of classes that had a GPU among their devices since they came.
pub(super) type GpuClasses = BTreeSet<Box<str>>;

/// Tells whether this is the name of a GPU class or driver. Source: docs/behaviour.md 13.1.
pub(in crate::ingest) fn is_gpu(name: &str) -> bool {
    name.to_ascii_lowercase().contains("gpu")
}

impl Catalog {
    /// Notes the classes of which a site has GPUs: what asks for such by the name of a resource is charged for them from now on.
    ///
    /// # Source
    /// docs/behaviour.md 13.1, extended resources.
    pub(super) fn note_gpus(&mut self, context: &mut Context, devices: &[SliceDevice]) {
        let gpus = devices.iter().filter(|device| device.gpu);
        let selections: BTreeSet<DeviceClassId> =
            gpus.flat_map(|device| &device.classes).copied().collect();
        for selection in selections {
            let Some(class) = self.selections.as_class(selection.number()) else { continue };
            if is_gpu(class) || self.gpu_classes.contains(class) {
                continue;
            }
            let class: Box<str> = Box::from(class);
            self.gpu_classes.insert(class.clone());
            self.charge_resources(context, &class);
        }
    }

    /// Has the resources that stand for a class charged as GPUs, where it has such.
    pub(in crate::ingest) fn charge_resources(&self, context: &mut Context, name: &str) {
        let Some(class) = self.classes.get(name) else { return };
        if !is_gpu(name) && !self.gpu_classes.contains(name) {
            return;
        }
        for lane in class.backs.into_iter().chain([class.implicit]) {
            let is_instance = context.names.lane_name(lane).starts_with(resource::MIG_PREFIX);
            if lane.number() >= Lane::FIRST_EXTENDED && !is_instance {
                context.deltas.push(Delta::Lane(lane, LaneKind::Gpu));
            }
        }
    }
}
