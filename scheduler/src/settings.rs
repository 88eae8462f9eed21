//! Describes what an operator chooses: the command line, KAI's configuration file, a `SchedulingShard`.

mod args;
pub mod config;
mod shard;
mod sharing;

pub use args::Args;
pub use shard::{Aligning, Settings};
pub use sharing::{Plugins, SharingArgs};
