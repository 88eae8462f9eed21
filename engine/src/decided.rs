//! Answers of the engine: plans, verdicts and proofs, as plain data.

pub mod plan;
pub(crate) mod proof;
pub(crate) mod remedy;
pub(crate) mod steps;
pub(crate) mod when;
