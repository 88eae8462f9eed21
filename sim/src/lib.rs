//! Scenario files, a virtual world, a generator from a seed, plans as text. Pure: no clock, no file, no thread, no hash order.
//!
//! ```text
//!   YAML ──► scenario::parse ──► build::build ──► World ──► plan ──► render::plan ──► text
//!                                                   ▲                    │
//!                                                   └── World::carry_out ◄┘
//! ```

pub mod amount;
pub mod audit;
pub mod build;
pub mod course;
pub mod entries;
pub mod forecast;
pub mod generate;
pub mod names;
pub mod past;
pub mod render;
pub mod run;
pub mod scenario;
pub mod world;
