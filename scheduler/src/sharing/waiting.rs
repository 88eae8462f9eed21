//! Binds that wait for devices.

use std::collections::BTreeSet;

use crate::actuate::Bind;

/// Binds of one pod group that were decided together, and the devices that they wait for.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) devices: BTreeSet<u32>,
    pub(super) binds: Vec<Bind>,
}
