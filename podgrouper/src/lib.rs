//! The podgrouper: pods and their owners to PodGroups, and the status of PodGroups and Queues.
//!
//! [`group`] decides, without I/O; everything else feeds it and carries out what it wants.

mod defaults;
mod desired;
mod duration;
mod facts;
mod group;
pub mod kinds;
mod mark;
mod merge;
mod names;
mod object;
mod pod;
mod settings;

pub use desired::{Desired, Min, Preemptibility, Subgroup, Topology};
pub use duration::GoDuration;
pub use facts::{Answer, Facts, Read, Stop};
pub use group::{Case, Rule, group};
pub use mark::mark;
pub use merge::{Write, merge};
pub use object::{FieldError, Gvk, Object, OwnerRef};
pub use pod::Pod;
pub use settings::{Compat, Settings};
