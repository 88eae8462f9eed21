//! Budgets of disruptions: how many pods of an application may be evicted at a time.
//!
//! # Source
//! `PodDisruptionBudget` of `policy/v1`.

use crate::{base::ids::Symbol, told::requirement::Requirement};

/// A bound on how many of some pods may be evicted now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Budget {
    /// Namespace of the pods.
    pub namespace: Symbol,
    /// Selector of the pods: all requirements hold.
    pub selector: Vec<Requirement>,
    /// Number of pods that may still leave: `status.disruptionsAllowed`.
    pub allowed: u32,
}
