//! Budgets of disruptions: how many pods of an application may be evicted at a time.
//!
//! # Source
//! `PodDisruptionBudget` of `policy/v1`.

use crate::{base::ids::Symbol, told::requirement::Requirement};

/// How many of some pods may be evicted now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Budget {
    /// Where the pods are.
    pub namespace: Symbol,
    /// Which pods: all requirements hold.
    pub selector: Vec<Requirement>,
    /// How many more may leave: `status.disruptionsAllowed`.
    pub allowed: u32,
}
