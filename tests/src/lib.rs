//! Common ground of the tests that cross crates: a real control plane, the project's own processes, and an observer
//! that checks the promises from outside.
//!
//! ```text
//! KUBEBUILDER_ASSETS ─► ControlPlane (etcd, kube-apiserver, kube-controller-manager)
//!                            ▲ kubeconfigs            ▲ watch
//!            Daemon (kai-scheduler, kai-podgrouper,   Observer: no gang in part, no node or
//!            simulated nodes, real operators)         device over-committed, no pod bound twice
//! ```

pub mod admission;
pub mod alone;
pub mod break_point;
pub mod cluster;
pub mod command_line;
pub mod control_plane;
pub mod crash;
pub mod daemon;
pub mod generated;
pub mod guards;
pub mod live;
pub mod matching;
pub mod observer;
pub mod openb;
pub mod oracle;
pub mod recording;
pub mod request;
pub mod rights;
pub mod sandbox;
pub mod simulation;
pub mod stage;
pub mod terminal;
pub mod workload;
