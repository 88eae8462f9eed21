//! An embedded Kubernetes API server, simulated nodes and stand-ins for workload operators.

pub mod daemons;
pub mod log;
pub mod nodes;
pub mod operators;
pub mod server;
pub mod streams;

/// Has a process end with a panic of any of its daemons.
pub use kai_daemon::process::end_on_panic;
