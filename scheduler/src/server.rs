//! Describes how the API server is talked to: requests bounded in time, and what is read of its JSON.

pub mod call;
mod failure;
pub mod wire;
mod write;

pub use write::{OpenWrites, Write};
