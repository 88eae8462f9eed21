//! The command line and the configuration file become the engine's configuration.

use std::path::PathBuf;

use kai_api::shard::SchedulingShardSpec;
use kai_engine::Config;

use crate::{args::Args, settings::Settings};

/// Why the configuration cannot be used.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// The file cannot be read.
    #[error("failed to read the configuration {path} (--scheduler-conf)")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is no configuration.
    #[error("failed to understand the configuration {path} (--scheduler-conf)")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why not.
        source: Box<serde_saphyr::Error>,
    },
}

/// Where the engine's configuration comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Of the command line and, where one is given, the file.
    settings: Settings,
    /// With a file the shards are not asked, as with the peer.
    follows_shards: bool,
}

impl Source {
    /// Reads the command line, and the file that it names.
    ///
    /// # Errors
    /// [`Error`].
    pub fn new(args: &Args) -> Result<Self, Error> {
        let config = engine(args);
        if args.scheduler_conf.is_empty() {
            let settings = Settings {
                config,
                usage: None,
                aligning: None,
                job_order: false,
                problems: Vec::new(),
            };
            return Ok(Self { settings, follows_shards: true });
        }
        let path = PathBuf::from(&args.scheduler_conf);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| Error::Read { path: path.clone(), source })?;
        let settings = Settings::of_file(&text, &config)
            .map_err(|source| Error::Parse { path, source: Box::new(source) })?;
        warn("--scheduler-conf", &settings.problems);
        Ok(Self { settings, follows_shards: false })
    }

    /// What is asked for while these shards serve our node pool, in the order of their names.
    pub fn settings<'s>(
        &self,
        shards: impl Iterator<Item = (&'s String, &'s SchedulingShardSpec)>,
    ) -> Settings {
        let mut shards = shards.filter(|_| self.follows_shards);
        let Some((name, spec)) = shards.next() else {
            return self.settings.clone();
        };
        let settings = Settings::of_shard(spec, &self.settings.config);
        let shard = format!("schedulingshard/{name}");
        warn(&shard, &settings.problems);
        for (other, _) in shards {
            tracing::warn!("schedulingshard/{other} serves the node pool of {shard}: ignored");
        }
        settings
    }
}

fn warn(place: &str, problems: &[String]) {
    for problem in problems {
        tracing::warn!("{place}: {problem}");
    }
}

/// The engine's configuration of a command line.
fn engine(args: &Args) -> Config {
    Config {
        consolidation_victims_max: Some(args.max_consolidation_preemptees),
        reclaim_may_relocate: args.allow_consolidating_reclaim,
        staleness_grace: args.default_staleness_grace_period.millis(),
        restrict_nodes: args.restrict_node_scheduling,
        ..Config::default()
    }
}
