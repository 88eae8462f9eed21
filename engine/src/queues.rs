//! Entitlements of queues, and their order.

pub mod entitlement;
pub(crate) mod limits;
pub mod order;
pub mod share;
pub(crate) mod tournament;
