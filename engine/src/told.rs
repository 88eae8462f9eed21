//! Facts that the adapter tells, as plain data.

pub(crate) mod budget;
pub(crate) mod claim;
pub(crate) mod delta;
pub(crate) mod group;
pub(crate) mod node;
pub(crate) mod numa;
pub(crate) mod placement;
pub(crate) mod pod;
pub(crate) mod queue;
pub(crate) mod requirement;
