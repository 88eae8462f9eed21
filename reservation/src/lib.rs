//! Holds a GPU for pods that share it: finds the device that its pod was given, writes it on that pod, and stays.
//!
//! A reservation pod asks the device plugin for one whole GPU. Which one it is, only a process inside of the pod can
//! see; it writes the UUID on its own pod, where the scheduler reads it and hands it to the pods that share.
//!
//! ```text
//! environment, NVML ──> device::given (pure) ──> UUID ──> pod: annotation run.ai/reserve_for_gpu_index
//! ```
//!
//! # Source
//! docs/contract.md 4.5.

pub mod api;
pub mod device;
mod nvml;
pub mod program;
pub mod report;

pub use nvml::ask;
