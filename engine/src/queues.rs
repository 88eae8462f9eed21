//! What queues are entitled to, and which of them goes first.

pub mod entitlement;
pub(crate) mod limits;
pub mod order;
pub mod share;
pub(crate) mod tournament;
