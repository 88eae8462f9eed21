//! Devices of `resource.k8s.io`: what slices publish, what classes and claims ask for, and which is for which.

pub(in crate::ingest) mod catalog;
mod charge;
pub(in crate::ingest) mod claim;
mod device;
mod held;
mod settle;
mod share;
pub(in crate::ingest) mod slice;
