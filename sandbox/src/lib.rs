//! An embedded Kubernetes API server, simulated nodes and stand-ins for workload operators.

pub mod daemons;
pub mod log;
pub mod nodes;
pub mod operators;
pub mod server;
pub mod streams;
