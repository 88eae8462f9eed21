//! Plans: what the scheduler would do, worked out by its own code on a copy of the cluster. Nothing is written.
//!
//! ```text
//!  cluster ──► snapshot ─┐
//!  FILE ─────────────────┼─► Situation ─► changes ─► sim::Course (engine::plan in virtual time) ─► Outcome
//!  scenario ─────────────┘        ▲
//!  manifests ─► pods as operators make them ─► PodGroups by the podgrouper's rules
//! ```
//!
//! What could not be read is an assumption of the outcome, a sentence each.

mod change;
pub(crate) mod collect;
mod compare;
pub(crate) mod eta;
mod future;
mod gpus;
mod outcome;
mod past;
#[cfg(test)]
mod property;
pub(crate) mod settings;
mod situation;
mod title;
mod trial;
pub(crate) mod words;
mod workload;

pub(crate) use change::{Change, Field};
pub(crate) use outcome::{Fate, Outcome, Share, Shift, Start, Wish};
pub(crate) use situation::{Reading, Situation, in_namespace};
