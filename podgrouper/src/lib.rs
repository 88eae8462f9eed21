//! The podgrouper: pods and their owners to `PodGroups`, and the status of `PodGroups` and Queues.
//!
//! [`mod@group`] decides, without I/O; everything else feeds it and carries out what it wants.

pub mod admission;
mod args;
mod cache;
mod defaults;
mod dependents;
mod desired;
mod error;
mod events;
mod facts;
mod follow;
mod global;
mod group;
mod interner;
pub mod kinds;
mod mark;
mod merge;
mod meters;
mod object;
mod pod;
pub mod program;
mod queue;
mod ready;
mod reconcile;
mod record;
mod run;
mod scale;
mod settings;
mod shard;
mod slim;
mod sought;
mod status;
mod store;
mod texts;
mod turns;
mod uid;
mod walk;

pub use args::Args;
pub use desired::{Desired, Min, Preemptibility, Subgroup, Topology};
pub use error::Error;
pub use facts::{Answer, Facts, Part, Read, Stop};
pub use group::{Case, Rule, group};
pub use mark::mark;
pub use merge::{Write, merge};
pub use meters::described;
pub use object::{FieldError, Gvk, Object, OwnerRef};
pub use pod::{NativeGroup, Pod};
pub use run::run;
pub use settings::{Compat, Settings};
pub use shard::{KNOWN_FLAGS, installed_args};
pub use sought::Sought;
pub use texts::Texts;
pub use uid::Uid;
