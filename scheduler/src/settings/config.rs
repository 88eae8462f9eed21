//! The command line and the configuration file become the engine's configuration.

use std::path::PathBuf;

use kai_api::shard::{PlacementStrategy, SchedulingShardSpec};
use kai_engine::Config;

use crate::settings::{Args, Settings};

/// Says why the configuration cannot be used.
#[derive(thiserror::Error, Debug)]
pub enum Error {
    /// The file cannot be read.
    #[error("failed to read the configuration {path} (--scheduler-conf)")]
    Read {
        /// The file.
        path: PathBuf,
        /// Says why not.
        source: std::io::Error,
    },
    /// The file is no configuration.
    #[error("failed to understand the configuration {path} (--scheduler-conf)")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Says where and why not.
        source: Box<serde_saphyr::Error>,
    },
}

/// Says where the engine's configuration comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Of the command line and, where one is given, the file.
    settings: Settings,
    /// With a file the shards are not asked, as with KAI.
    follows_shards: bool,
    /// Goes before what file and shards say.
    strategy: Option<String>,
}

impl Source {
    /// Reads the command line, and the file that it names.
    ///
    /// # Errors
    /// [`Error`].
    pub fn new(args: &Args) -> Result<Self, Error> {
        let config = engine(args);
        let strategy = args.placement_strategy.clone();
        if args.scheduler_conf.is_empty() {
            let spec = ranked(SchedulingShardSpec::default(), strategy.as_deref());
            let settings = Settings::of_shard(&spec, &config);
            return Ok(Self { settings, follows_shards: true, strategy });
        }
        let path = PathBuf::from(&args.scheduler_conf);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| Error::Read { path: path.clone(), source })?;
        let mut settings = Settings::of_file(&text, &config)
            .map_err(|source| Error::Parse { path, source: Box::new(source) })?;
        warn("--scheduler-conf", &settings.problems);
        if strategy.is_some() {
            let spec = ranked(SchedulingShardSpec::default(), strategy.as_deref());
            let ranked = Settings::of_shard(&spec, &config).config;
            settings.config.gpu_placement = ranked.gpu_placement;
            settings.config.cpu_placement = ranked.cpu_placement;
            settings.config.device_placement = ranked.device_placement;
            settings.config.sharing_first = ranked.sharing_first;
        }
        Ok(Self { settings, follows_shards: false, strategy })
    }

    /// The shard that is followed: the first by name.
    pub fn followed<'s>(
        &self,
        mut shards: impl Iterator<Item = (&'s String, &'s SchedulingShardSpec)>,
    ) -> Option<&'s String> {
        shards.next().filter(|_| self.follows_shards).map(|(name, _)| name)
    }

    /// Works out what is asked for while these shards serve our node pool, in the order of their names.
    pub fn settings<'s>(
        &self,
        shards: impl Iterator<Item = (&'s String, &'s SchedulingShardSpec)>,
    ) -> Settings {
        let mut shards = shards.filter(|_| self.follows_shards);
        let Some((name, spec)) = shards.next() else {
            return self.settings.clone();
        };
        let spec = ranked(spec.clone(), self.strategy.as_deref());
        let settings = Settings::of_shard(&spec, &self.settings.config);
        let shard = format!("schedulingshard/{name}");
        warn(&shard, &settings.problems);
        for (other, _) in shards {
            tracing::warn!("schedulingshard/{other} serves the node pool of {shard}: ignored");
        }
        settings
    }
}

/// A shard's wish with the strategy of the command line, where there is one.
pub fn ranked(mut spec: SchedulingShardSpec, strategy: Option<&str>) -> SchedulingShardSpec {
    if let Some(strategy) = strategy.map(String::from) {
        let (gpu, cpu) = (Some(strategy.clone()), Some(strategy));
        spec.placement_strategy = Some(PlacementStrategy { gpu, cpu });
        for plugin in ["gpupack", "gpuspread", "nodeplacement"] {
            spec.plugins.remove(plugin);
        }
    }
    spec
}

fn warn(place: &str, problems: &[String]) {
    for problem in problems {
        tracing::warn!("{place}: {problem}");
    }
}

/// The engine's configuration of a command line.
pub(crate) fn engine(args: &Args) -> Config {
    Config {
        // Below zero there is no limit (docs/behaviour.md 6).
        consolidation_victims_max: u32::try_from(args.max_consolidation_preemptees).ok(),
        reclaim_may_relocate: args.allow_consolidating_reclaim,
        staleness_grace: args.default_staleness_grace_period.millis(),
        restrict_nodes: args.restrict_node_scheduling,
        names_nodes: args.detailed_fit_errors,
        ..Config::default()
    }
}

#[cfg(test)]
mod tests {
    use kai_engine::Placement;

    use super::*;

    /// Compares how nodes and devices are ranked with such flags, and a shard that asks for this.
    fn check(flags: &[&str], strategy: &str, expect: Placement) {
        let words = std::iter::once("kai-scheduler").chain(flags.iter().copied());
        let args = Args::from_command_line(words.map(Into::into)).expect("valid flags");
        let source = Source::new(&args).expect("no file");
        let spec = format!("placementStrategy: {{gpu: {strategy}, cpu: {strategy}}}");
        let spec: SchedulingShardSpec = serde_saphyr::from_str(&spec).expect("a shard's spec");
        let shards = [(String::from("default"), spec)];
        let config = source.settings(shards.iter().map(|(name, spec)| (name, spec))).config;
        let ranked = (config.gpu_placement, config.cpu_placement, config.device_placement);
        assert_eq!(ranked, (expect, expect, expect), "{flags:?} over {strategy}");
    }

    #[test]
    fn the_flag_goes_before_the_shard() {
        check(&[], "binpack", Placement::Pack);
        check(&[], "fragmentation", Placement::Fragmentation);
        check(&["--placement-strategy=fragmentation"], "binpack", Placement::Fragmentation);
        check(&["-placement-strategy", "binpack"], "spread", Placement::Pack);
        check(&["--placement-strategy=spread"], "fragmentation", Placement::Spread);
    }

    /// With a file the shard is not asked, and with a flag neither.
    #[test]
    fn the_file_goes_before_the_shard_and_the_flag_before_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("scheduler.yaml");
        let text = "tiers: [{plugins: [{name: gpuspread}, \
                    {name: nodeplacement, arguments: {gpu: spread, cpu: spread}}]}]";
        std::fs::write(&path, text).expect("it is written");
        let file = format!("--scheduler-conf={}", path.display());
        check(&[&file], "binpack", Placement::Spread);
        check(&[&file, "--placement-strategy=binpack"], "fragmentation", Placement::Pack);
    }

    /// The engine's configuration with such flags.
    fn config(flags: &[&str]) -> Config {
        let words = std::iter::once("kai-scheduler").chain(flags.iter().copied());
        engine(&Args::from_command_line(words.map(Into::into)).expect("valid flags"))
    }

    #[test]
    fn flags_about_nodes_and_stale_gangs_are_the_engines() {
        let flags = |config: &Config| (config.restrict_nodes, config.names_nodes);
        assert_eq!(flags(&config(&[])), (false, false));
        assert_eq!(flags(&config(&["--restrict-node-scheduling"])), (true, false));
        assert_eq!(flags(&config(&["--detailed-fit-errors"])), (false, true));
        let flag = "--default-staleness-grace-period=5m";
        assert_eq!(config(&[flag]).staleness_grace, 300_000);
    }

    /// Below zero there is no limit, and at zero there is no consolidation.
    #[test]
    fn flags_about_victims_are_the_engines() {
        for (count, expect) in [("-1", None), ("0", Some(0)), ("3", Some(3))] {
            let flag = format!("--max-consolidation-preemptees={count}");
            assert_eq!(config(&[&flag]).consolidation_victims_max, expect, "{flag}");
        }
        assert!(config(&[]).reclaim_may_relocate);
        assert!(!config(&["--allow-consolidating-reclaim=false"]).reclaim_may_relocate);
    }
}
