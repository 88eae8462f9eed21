//! Describes what is answered over HTTP: health, metrics, the order in which groups have their turns.

pub mod health;
pub mod metrics;
pub mod order;
