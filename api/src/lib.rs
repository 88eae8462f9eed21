//! The custom resources as types, every name on the wire, exact quantities. No client, no tokio.
//!
//! ```text
//!  names       labels, annotations, resources, objects
//!  quantity    1500m, 4Gi             duration    1h30m   human   2y70d
//!  json_path   {.items[?(@.n>1)].v}   fair        turns of tenants
//!  queue  pod_group  bind_request     scheduling.run.ai
//!  topology  shard  config  daily_record    kai.scheduler
//!  explanation why a PodGroup waits, beyond its condition
//!  shared_gpu  what a pod asks of shared GPUs, and the names of its config maps
//!  mig         how many GPUs a MIG instance counts as
//!  schema      what the derives can't say      crd  the definitions for the API server
//! ```
//!
//! Types decode any object that KAI's schema accepts and keep to what the wire has: optional
//! fields are `Option`, durations stay texts until [`duration::GoDuration`] reads them, and
//! defaults are applied by readers, never written back.

#[macro_use]
mod absent;

pub mod bind_request;
pub mod config;
pub mod crd;
pub mod daily_record;
pub mod duration;
pub mod explanation;
pub mod fair;
pub mod human;
pub mod json_path;
pub mod mig;
pub mod names;
pub mod pod_group;
pub mod quantity;
pub mod queue;
mod schema;
pub mod shard;
pub mod shared_gpu;
pub mod topology;
