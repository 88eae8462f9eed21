//! Scenario files, a virtual world, plans as text. Pure: no clock, no file, no thread, no hash order.
//!
//! ```text
//!   YAML ──► scenario::parse ──► build::build ──► World ──► plan ──► render::plan ──► text
//!                                                   ▲                    │
//!                                                   └── World::carry_out ◄┘
//! ```

pub mod amount;
pub mod entries;
pub mod names;
pub mod render;
pub mod scenario;
