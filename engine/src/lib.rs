//! The scheduling engine: a pure function from cluster state to a plan.
//!
//! ```text
//!   Delta ──► Cluster::apply ──► State: facts ──► take/give ──► derived columns
//!                                  │ changes                          │
//!                         Cluster::absorb ──► Pending                 │
//!                                               │                     │
//!   Plan ◄── plan(&mut Cluster, &Config, now) ◄─┴──────── Trial ◄─────┘
//! ```
//!
//! No clock, no I/O, no threads, no floats, no hash maps: the same deltas give the same plan on every machine.
//! State lives across cycles, so a cycle costs what changed.
//!
//! Folders are layers: each imports from those above it in this list, and from none below. `cargo xtask tidy` holds it.

mod base;

mod told;

mod decided;

mod config;

mod state;

mod queues;

mod fit;

mod place;

mod pending;

mod evict;

mod cluster;

mod actions;

pub use base::ids;
pub use decided::plan;
pub use queues::{entitlement, order, share};

pub use actions::{plan, plan_stepwise};
pub use base::ids::{
    BudgetId, ClaimId, CounterId, DeviceClassId, DeviceId, GroupId, NamespaceSelectorId, NodeId,
    PodId, QueueId, ReachId, SliceDeviceId, Symbol, TopologyId,
};
pub use base::resources::{
    Charge, GPU_MILLI, Lane, LaneKind, Limit, PerLane, QueueLane, Resources,
};
pub use base::time::{Millis, Timestamp};
pub use cluster::Cluster;
pub use config::{Actions, Config, QueueDepth, ReclaimResolution};
pub use decided::plan::{
    Action, Bound, Change, Eviction, Grant, Misfit, NoRoom, Plan, QueueState, TooLarge, Unready,
    Verdict, Why,
    domain::{DomainProblem, DomainRoom, NoDomain, Room},
    refusal::{Amounts, Refusal},
    shape::{Alike, EmptyShape, FreeShape},
};
pub use decided::proof::{EvictionKind, Proof, Shortage};
pub use decided::remedy::Remedy;
pub use decided::steps::{Progress, Steps};
pub use state::Stage;
pub use state::looks::{DEVICE_LOOKS_MAX, NODE_LOOKS_MAX};
pub use told::budget::Budget;
pub use told::claim::{
    Allocation, CLAIM_DEVICES_MAX, Claim, ClaimProblem, Claimed, Consumed, DeviceClass,
    DeviceCount, DeviceMatch, DeviceRequest, POD_REQUESTS_MAX, Reach, Shares, SliceDevice,
    Unselected, Unsupported,
};
pub use told::delta::Delta;
pub use told::group::{Constraint, Group, Level, Min, Structure, SubGroup, Topology};
pub use told::node::{Blocked, Effect, Gpus, Label, Mig, MigStrategy, Node, Taint, Worker};
pub use told::numa::{Alignment, Numa, NumaPolicy, NumaScope, ZoneAmount};
pub use told::placement::{Placement, Typical};
pub use told::pod::{
    GpuRequest, HostPort, Missing, Owner, Place, Pod, PodPriority, PodRank, PodState, PodTerm,
    Reserved, Shape, Spread, Storage, Toleration, VolumeNodes,
};
pub use told::queue::Queue;
pub use told::requirement::{Holds, Requirement};
