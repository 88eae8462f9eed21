//! The command line and the configuration file become the engine's configuration.

use kai_engine::Config;

use crate::args::Args;

/// Why the configuration cannot be used.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// The file cannot be read.
    #[error("failed to read the configuration {path} (--scheduler-conf)")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
}

/// The engine's configuration of a command line.
///
/// # Errors
/// [`Error`].
pub fn engine(args: &Args) -> Result<Config, Error> {
    Ok(Config {
        consolidation_victims_max: Some(args.max_consolidation_preemptees),
        reclaim_may_relocate: args.allow_consolidating_reclaim,
        staleness_grace: args.default_staleness_grace_period.millis(),
        restrict_nodes: args.restrict_node_scheduling,
        ..Config::default()
    })
}
