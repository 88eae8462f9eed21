//! Describes how the API server is talked to: requests bounded in time, and what is read of its JSON.

#[cfg(test)]
pub(crate) mod answering;
pub mod call;
mod failure;
pub(crate) mod page;
pub mod wire;
mod write;

pub use write::{OpenWrites, Write};
