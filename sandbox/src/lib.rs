//! An embedded Kubernetes API server, simulated nodes and stand-ins for workload operators.

pub mod nodes;
mod queue;
pub mod server;
