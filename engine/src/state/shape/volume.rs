//! Volumes that nodes of a kind can use.

use crate::{
    decided::plan::Misfit,
    state::shape::NodeClass,
    told::{pod::VolumeNodes, requirement::Requirement},
};

/// Every term by which it is judged whether a node can use a volume, and why not.
pub(crate) fn terms(volume: &VolumeNodes) -> impl Iterator<Item = &Vec<Requirement>> {
    let storage = volume.storage.as_deref().into_iter();
    volume.terms.iter().chain(storage.flat_map(|one| one.allowed.iter().chain(&one.offered)))
}

impl NodeClass {
    /// Tells whether nodes of this kind can use a volume, or have room for it to be made.
    ///
    /// # Source
    /// docs/behaviour.md 10.2, check 6; 2.10 and 12.3 for storage that is counted.
    pub(super) fn reaches(&self, volume: &VolumeNodes) -> Result<(), Misfit> {
        let any = |terms: &[Vec<Requirement>]| terms.iter().any(|term| self.satisfies(term));
        if any(&volume.terms) {
            return Ok(());
        }
        if volume.bound {
            return Err(Misfit::Volume);
        }
        let allows = |one: &&crate::told::pod::Storage| one.allowed.is_empty() || any(&one.allowed);
        let Some(storage) = volume.storage.as_deref().filter(allows) else {
            return Err(Misfit::VolumeUnbound);
        };
        let is_there = storage.offered.iter().any(|term| term.is_empty() || self.satisfies(term));
        Err(if is_there {
            Misfit::StorageShort(storage.class)
        } else {
            Misfit::StorageAbsent(storage.class)
        })
    }
}
