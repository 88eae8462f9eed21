//! The scheduling engine: a pure function from cluster state to a plan.
//!
//! ```text
//!   Delta ──► Cluster::apply ──► facts ──► take/give ──► derived columns
//!                                                             │
//!   Plan ◄── plan(&mut Cluster, &Config, now) ◄── Trial ◄─────┘
//! ```
//!
//! No clock, no I/O, no threads, no floats, no hash maps: the same deltas give the same plan on every machine.
//! State lives across cycles, so a cycle costs what changed.
//!
//! Read in this order: [`ids`], [`idset`], [`resources`]; the facts [`node`], [`pod`], [`group`], [`queue`] and
//! how they come in, [`delta`]; what comes out, [`mod@plan`]; then how.

pub mod ids;
pub mod idset;
pub mod resources;

pub mod claim;
pub mod delta;
pub mod group;
pub mod node;
pub mod numa;
pub mod pod;
pub mod queue;

pub mod cluster;
mod device;
mod few;
mod fewmap;
mod lanes;
mod leastset;
mod shape;
mod tree;

mod bracket;
mod buckets;
pub mod budget;
mod check;
mod index;
mod trial;

mod company;
mod crowd;
mod depth;
pub mod entitlement;
mod fit;
mod fragment;
mod hunt;
mod leaning;
mod limits;
mod losses;
mod order;
mod placement;
mod scarce;
mod search;
pub mod share;
mod sieve;
mod spread;
mod topology;
mod turns;
mod victims;
mod why;

mod agenda;
pub mod cycle;
pub mod plan;
pub mod proof;
pub mod remedy;
pub mod steps;

pub use budget::Budget;
pub use claim::{
    Allocation, Claim, ClaimProblem, Claimed, Consumed, DeviceClass, DeviceCount, DeviceMatch,
    DeviceRequest, Reach, Shares, SliceDevice, Unselected, Unsupported,
};
pub use cluster::{Cluster, Stage};
pub use cycle::{
    Actions, Config, Millis, Placement, QueueDepth, ReclaimResolution, Timestamp, Typical, plan,
    plan_stepwise,
};
pub use delta::Delta;
pub use group::{Constraint, Group, Level, Min, Structure, SubGroup, Topology};
pub use ids::{
    BudgetId, ClaimId, CounterId, DeviceClassId, DeviceId, GroupId, NodeId, PodId, QueueId,
    ReachId, SliceDeviceId, Symbol, TopologyId,
};
pub use node::{Blocked, Effect, Gpus, Label, Mig, MigStrategy, Node, Taint, Worker};
pub use numa::{Alignment, Numa, NumaPolicy, NumaScope, ZoneAmount};
pub use plan::{
    Action, Bound, Change, Eviction, FreeShape, Grant, Misfit, NoRoom, Plan, QueueState, TooLarge,
    Unready, Verdict, Why,
    domain::{DomainProblem, DomainRoom, NoDomain, Room},
    refusal::{Amounts, Refusal},
};
pub use pod::{
    GpuRequest, Holds, HostPort, Missing, Owner, Place, Pod, PodPriority, PodRank, PodState,
    PodTerm, Requirement, Reserved, Shape, Spread, Storage, Toleration, VolumeNodes,
};
pub use proof::{EvictionKind, Proof, Shortage};
pub use queue::Queue;
pub use remedy::Remedy;
pub use resources::{Charge, GPU_MILLI, Lane, LaneKind, Limit, PerLane, QueueLane, Resources};
pub use steps::{Progress, Steps};
