//! Devices of resource slices that a claim would get on a node.

pub(crate) mod admit;
pub(crate) mod choose;
mod masks;
pub(crate) mod offer;
pub(crate) mod pre_filter;
mod prospects;
pub(crate) mod standing;
pub(crate) mod want;
