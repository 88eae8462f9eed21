//! Describes what an operator chooses beside the command line: a `SchedulingShard`, or KAI's configuration file.
//!
//! Both are read into the engine's [`Config`]; whatever asks for something that is not here is told as a
//! [`Settings::problems`], never passed over. Source: docs/contract.md 1.6, docs/behaviour.md appendix B.

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
};

use kai_api::{
    duration::GoDuration,
    shard::{PLACEMENT_STRATEGIES, SchedulingShardSpec, UsageDbConfig},
};
use kai_engine::{Actions, Config, Placement, ReclaimResolution};
use serde::Deserialize;

use crate::usage::Params;

/// A configuration, and what of the text has no effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Holds what the engine follows.
    pub config: Config,
    /// Says where past use is read; none: it counts nothing.
    pub usage: Option<Params>,
    /// Says how pods are aligned to NUMA zones; none: not at all.
    pub aligning: Option<Aligning>,
    /// Tells whether it is told in which order groups have their turns.
    pub job_order: bool,
    /// One sentence each, naming the field.
    pub problems: Vec<String>,
}

/// Says how pods are aligned to NUMA zones. Source: docs/behaviour.md 13.3.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Aligning {
    /// Resources that are not aligned.
    pub ignored: BTreeSet<String>,
}

/// KAI's configuration file, in YAML.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
struct File {
    actions: String,
    tiers: Vec<Tier>,
    queue_depth_per_action: BTreeMap<String, i64>,
    #[serde(rename = "usageDBConfig")]
    usage_db_config: Option<UsageDbConfig>,
    scenario_search_budgets: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Tier {
    plugins: Vec<Plugin>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
struct Plugin {
    name: String,
    arguments: BTreeMap<String, String>,
}

/// Plugins whose rules are always on here.
const ALWAYS: [&str; 15] = [
    "predicates",
    "proportion",
    "priority",
    "nodeavailability",
    "resourcetype",
    "podaffinity",
    "elastic",
    "kubeflow",
    "ray",
    "subgrouporder",
    "taskorder",
    "nominatednode",
    "dynamicresources",
    "minruntime",
    "topology",
];
/// Plugins of KAI with nothing to do here: ways of searching, debugging.
const NOTHING: [&str; 3] = ["snapshot", "sg-nodelocalgreedy", "sg-multinodegang"];
/// The actions by name, in their order.
const ACTIONS: [&str; 5] = ["allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"];

impl Settings {
    /// Works out what a shard asks for, over `base`.
    pub fn of_shard(spec: &SchedulingShardSpec, base: &Config) -> Self {
        let mut reading = Reading::new(base);
        let strategy = spec.placement_strategy.clone().unwrap_or_default();
        let (field, packed) = ("placementStrategy.gpu", "nodes are packed, shared GPUs spread");
        let known = reading.placement(field, strategy.gpu.as_deref(), packed);
        // With a word that is none KAI packs nodes, but loads the plugin that spreads devices.
        let spreads_devices = known.is_none_or(|gpu| gpu == Placement::Spread);
        let gpu = known.unwrap_or(Placement::Pack);
        let cpu = reading.packed("placementStrategy.cpu", strategy.cpu.as_deref());
        reading.config.gpu_placement = gpu;
        reading.config.cpu_placement = cpu;
        if gpu == Placement::Fragmentation && strategy.cpu.is_none() {
            // Pods without GPUs make fragments as well.
            reading.config.cpu_placement = gpu;
        }
        reading.config.sharing_first = !spreads_devices;
        let spreads = gpu == Placement::Spread || cpu == Placement::Spread;
        reading.config.actions.consolidate = !spreads;
        for (name, action) in &spec.actions {
            if action.priority.is_some() {
                reading.problem(format!("actions.{name}.priority: the order of actions is fixed"));
            }
            // An entry that does not say so switches nothing: the usual holds, also for what is off by the strategies.
            if action.enabled.is_some() || !ACTIONS.contains(&name.as_str()) {
                reading.action(name, action.enabled.unwrap_or(true));
            }
        }
        let (mut packs, mut spreads) = (!spreads_devices, spreads_devices);
        for (name, plugin) in &spec.plugins {
            let enabled = plugin.enabled.unwrap_or(match &**name {
                "gpupack" => packs,
                "gpuspread" => spreads,
                "gpusharingorder" => reading.config.sharing_first,
                _ => true,
            });
            match &**name {
                "gpupack" => packs = enabled,
                "gpuspread" => spreads = enabled,
                _ => reading.plugin(name, enabled),
            }
            if enabled && let Some(arguments) = &plugin.arguments {
                reading.arguments(name, arguments);
            }
        }
        reading.devices(packs, spreads);
        reading.depths(&spec.queue_depth_per_action);
        if let Some(k) = spec.k_value {
            reading.config.usage_factor_milli = milli(k);
        }
        if let Some(runtimes) = &spec.min_runtime {
            let given = [
                ("defaultPreemptMinRuntime", &runtimes.preempt_min_runtime),
                ("defaultReclaimMinRuntime", &runtimes.reclaim_min_runtime),
            ];
            for (name, text) in given {
                if let Some(text) = text {
                    reading.argument("minruntime", name, text);
                }
            }
        }
        reading.usage(spec.usage_db_config.as_ref());
        reading.budgets(spec.scenario_search_budgets.is_some());
        reading.done()
    }

    /// Says what a configuration file asks for, over `base`.
    ///
    /// # Errors
    /// The text is no such file; the message tells line and column.
    pub fn of_file(text: &str, base: &Config) -> Result<Self, serde_saphyr::Error> {
        let file: File = serde_saphyr::from_str(text)?;
        let mut reading = Reading::new(base);
        let wanted: Vec<&str> =
            file.actions.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if !wanted.is_empty() {
            for name in ACTIONS {
                reading.action(name, wanted.contains(&name));
            }
            for name in wanted.iter().filter(|name| !ACTIONS.contains(name)) {
                reading.action(name, true);
            }
            if !wanted.is_sorted_by_key(|name| ACTIONS.iter().position(|one| one == name)) {
                reading.problem(String::from("actions: the order of actions is fixed"));
            }
        }
        let plugins: Vec<&Plugin> = file.tiers.iter().flat_map(|tier| &tier.plugins).collect();
        if !plugins.is_empty() {
            let has = |name: &str| plugins.iter().any(|plugin| plugin.name == name);
            let (packs, spreads) = (has("gpupack"), has("gpuspread"));
            reading.config.sharing_first = has("gpusharingorder");
            if !has("nodeplacement") {
                reading.plugin("nodeplacement", false);
            }
            for plugin in plugins {
                if !matches!(&*plugin.name, "gpupack" | "gpuspread") {
                    reading.plugin(&plugin.name, true);
                }
                reading.arguments(&plugin.name, &plugin.arguments);
            }
            reading.devices(packs, spreads);
        }
        reading.depths(&file.queue_depth_per_action);
        reading.usage(file.usage_db_config.as_ref());
        reading.budgets(file.scenario_search_budgets.is_some());
        Ok(reading.done())
    }
}

struct Reading {
    config: Config,
    usage: Option<Params>,
    aligning: Option<Aligning>,
    job_order: bool,
    problems: Vec<String>,
}

impl Reading {
    fn new(base: &Config) -> Self {
        Self {
            config: base.clone(),
            usage: None,
            aligning: None,
            job_order: false,
            problems: Vec::new(),
        }
    }

    fn done(self) -> Settings {
        let Self { config, usage, aligning, job_order, problems } = self;
        Settings { config, usage, aligning, job_order, problems }
    }

    fn problem(&mut self, text: String) {
        self.problems.push(text);
    }

    /// The strategy that a field names; none where there is no such one, which is told with what holds instead.
    fn placement(&mut self, field: &str, text: Option<&str>, instead: &str) -> Option<Placement> {
        match text {
            None | Some("binpack" | "") => Some(Placement::Pack),
            Some("spread") => Some(Placement::Spread),
            Some("fragmentation") => Some(Placement::Fragmentation),
            Some(other) => {
                let known = PLACEMENT_STRATEGIES.join(", ");
                self.problem(format!("{field}: {other:?} is none of {known}: {instead}"));
                None
            }
        }
    }

    /// The strategy that a field names, else packing.
    fn packed(&mut self, field: &str, text: Option<&str>) -> Placement {
        self.placement(field, text, "binpack is used").unwrap_or(Placement::Pack)
    }

    /// Reads how shared GPUs are ranked, from the plugins for it. By fragments where nodes are.
    fn devices(&mut self, packs: bool, spreads: bool) {
        let by_fragments = self.config.gpu_placement == Placement::Fragmentation;
        self.config.device_placement = match (packs, spreads) {
            (true, _) if by_fragments => Placement::Fragmentation,
            (true, _) => Placement::Pack,
            (false, true) => Placement::Spread,
            (false, false) => Placement::Any,
        };
    }

    fn action(&mut self, name: &str, enabled: bool) {
        let Actions { allocate, consolidate, reclaim, preempt, stale } = &mut self.config.actions;
        match name {
            "allocate" => *allocate = enabled,
            "consolidation" => *consolidate = enabled,
            "reclaim" => *reclaim = enabled,
            "preempt" => *preempt = enabled,
            "stalegangeviction" => *stale = enabled,
            _ => self.problem(format!("actions: there is no action {name:?}")),
        }
    }

    fn plugin(&mut self, name: &str, enabled: bool) {
        if name == "nodeplacement" {
            if !enabled {
                self.config.gpu_placement = Placement::Any;
                self.config.cpu_placement = Placement::Any;
            }
        } else if ALWAYS.contains(&name) {
            if !enabled {
                self.problem(format!("plugins.{name}: its rules are always on"));
            }
        } else if name == "gpusharingorder" {
            self.config.sharing_first = enabled;
        } else if name == "numa" {
            self.aligning = enabled.then(Aligning::default);
        } else if name == "reflectjoborder" {
            self.job_order = enabled;
        } else if !NOTHING.contains(&name) {
            self.problem(format!("plugins: there is no plugin {name:?}"));
        }
    }

    fn arguments(&mut self, plugin: &str, arguments: &BTreeMap<String, String>) {
        for (name, text) in arguments {
            self.argument(plugin, name, text);
        }
    }

    fn argument(&mut self, plugin: &str, name: &str, text: &str) {
        let field = format!("plugins.{plugin}.arguments.{name}");
        match (plugin, name) {
            ("nodeplacement", "gpu") => {
                self.config.gpu_placement = self.packed(&field, Some(text));
            }
            ("nodeplacement", "cpu") => {
                self.config.cpu_placement = self.packed(&field, Some(text));
            }
            ("proportion", "kValue") => match f64::from_str(text) {
                Ok(k) => self.config.usage_factor_milli = milli(k),
                Err(_) => self.problem(format!("{field}: {text:?} is no number")),
            },
            // KAI parses the first, which is misspelt, and documents the second (docs/behaviour.md 14.3, Q26).
            (
                "proportion",
                "relcaimerSaturationMultiplier"
                | "reclaimerUtilizationMultiplier"
                | "reclaimerSaturationMultiplier",
            ) => match f64::from_str(text) {
                Ok(multiplier) => {
                    self.config.saturation_multiplier_milli = milli(multiplier).max(1000);
                }
                Err(_) => self.problem(format!("{field}: {text:?} is no number")),
            },
            ("minruntime", "reclaimResolveMethod") => match text {
                "lca" => self.config.reclaim_resolution = ReclaimResolution::CommonAncestor,
                "queue" => self.config.reclaim_resolution = ReclaimResolution::Queue,
                _ => self.problem(format!("{field}: {text:?} is neither lca nor queue")),
            },
            ("minruntime", "defaultPreemptMinRuntime" | "defaultReclaimMinRuntime") => {
                match GoDuration::from_str(text) {
                    Ok(runtime) if name == "defaultPreemptMinRuntime" => {
                        self.config.preempt_min_runtime = runtime.millis();
                    }
                    Ok(runtime) => self.config.reclaim_min_runtime = runtime.millis(),
                    Err(error) => self.problem(format!("{field}: {error}")),
                }
            }
            ("numa", "ignoreList") => {
                let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
                let aligning = self.aligning.get_or_insert_default();
                aligning.ignored = names.map(String::from).collect();
            }
            ("numa", "reconstructAvailable") if text.parse() == Ok(true) => {}
            ("numa", "reconstructAvailable") => self.problem(format!(
                "{field}: {text:?} has no effect here: what pods hold is always taken from what zones have"
            )),
            _ => self.problem(format!("{field} has no effect here")),
        }
    }

    fn depths(&mut self, depths: &BTreeMap<String, i64>) {
        for (name, depth) in depths {
            let slot = match &**name {
                "allocate" => &mut self.config.queue_depth.allocate,
                "consolidation" => &mut self.config.queue_depth.consolidate,
                "reclaim" => &mut self.config.queue_depth.reclaim,
                "preempt" => &mut self.config.queue_depth.preempt,
                _ => {
                    self.problem(format!(
                        "queueDepthPerAction.{name}: no such action tries groups"
                    ));
                    continue;
                }
            };
            match u32::try_from(*depth) {
                Ok(depth) => *slot = Some(depth),
                Err(_) => self.problem(format!(
                    "queueDepthPerAction.{name}: {depth} is no number of groups: all are tried"
                )),
            }
        }
    }

    fn usage(&mut self, given: Option<&UsageDbConfig>) {
        self.usage = given.and_then(|given| Params::read(given, &mut self.problems));
    }

    fn budgets(&mut self, given: bool) {
        if given {
            self.problem(String::from(
                "scenarioSearchBudgets has no effect here: searches are bounded by counted steps",
            ));
        }
    }
}

/// Thousandths; nothing below zero, and no more than a million.
fn milli(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded here")]
    let whole = (number.clamp(0.0, 1e6) * 1000.0).round() as u64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads both forms of the same wish and compares what they change.
    fn check(shard: &str, file: &str, expect: impl Fn(&mut Config), problems: &[&str]) {
        let mut config = Config::default();
        expect(&mut config);
        let expect = Settings {
            config,
            usage: None,
            aligning: None,
            job_order: false,
            problems: problems.iter().map(|text| String::from(*text)).collect(),
        };
        let base = Config::default();
        if !shard.is_empty() {
            let spec: SchedulingShardSpec = serde_saphyr::from_str(shard).expect("a shard's spec");
            assert_eq!(Settings::of_shard(&spec, &base), expect, "{shard}");
        }
        if !file.is_empty() {
            assert_eq!(Settings::of_file(file, &base).expect("a file"), expect, "{file}");
        }
    }

    #[test]
    fn nothing_asked_changes_nothing() {
        check("{}", "{}", |_| {}, &[]);
    }

    #[test]
    fn spread_switches_consolidation_off_unless_it_is_asked_for() {
        let spread = |config: &mut Config| {
            config.gpu_placement = Placement::Spread;
            config.device_placement = Placement::Spread;
            config.sharing_first = false;
        };
        check(
            "placementStrategy: {gpu: spread}",
            "{actions: 'allocate, reclaim, preempt, stalegangeviction', \
             tiers: [{plugins: [{name: gpuspread}, {name: nodeplacement, arguments: {gpu: spread, cpu: binpack}}]}]}",
            |config| {
                spread(config);
                config.actions.consolidate = false;
            },
            &[],
        );
        check(
            "{placementStrategy: {gpu: spread}, actions: {consolidation: {enabled: true}}}",
            "",
            spread,
            &[],
        );
        check(
            "{placementStrategy: {gpu: spread}, actions: {consolidation: {}, reclaim: {}}, \
             plugins: {gpupack: {}, gpusharingorder: {}, gpuspread: {}}}",
            "",
            |config| {
                spread(config);
                config.actions.consolidate = false;
            },
            &[],
        );
        check("plugins: {gpuspread: {}, gpusharingorder: {arguments: {}}}", "", |_| {}, &[]);
        check("actions: {later: {}}", "", |_| {}, &["actions: there is no action \"later\""]);
        // Pods without GPUs are spread by it as well.
        check(
            "placementStrategy: {gpu: binpack, cpu: spread}",
            "",
            |config| {
                config.cpu_placement = Placement::Spread;
                config.actions.consolidate = false;
            },
            &[],
        );
    }

    #[test]
    fn a_strategy_that_is_none_spreads_shared_gpus_and_consolidates() {
        check(
            "placementStrategy: {gpu: sprinkle}",
            "",
            |config| {
                config.device_placement = Placement::Spread;
                config.sharing_first = false;
            },
            &["placementStrategy.gpu: \"sprinkle\" is none of binpack, spread, fragmentation: \
               nodes are packed, shared GPUs spread"],
        );
    }

    #[test]
    fn placement_by_fragments_is_a_strategy() {
        let all = |config: &mut Config| {
            config.gpu_placement = Placement::Fragmentation;
            config.cpu_placement = Placement::Fragmentation;
            config.device_placement = Placement::Fragmentation;
        };
        let file = |gpu: &str, cpu: &str| {
            format!(
                "tiers: [{{plugins: [{{name: gpupack}}, {{name: gpusharingorder}}, {{name: nodeplacement, arguments: {{gpu: {gpu}, cpu: {cpu}}}}}]}}]"
            )
        };
        let table = [
            ("placementStrategy: {gpu: fragmentation}", "fragmentation", Placement::Fragmentation),
            ("placementStrategy: {gpu: fragmentation, cpu: binpack}", "binpack", Placement::Pack),
            (
                "plugins: {nodeplacement: {arguments: {gpu: fragmentation, cpu: spread}}}",
                "spread",
                Placement::Spread,
            ),
        ];
        for (spec, cpu, placement) in table {
            check(
                spec,
                &file("fragmentation", cpu),
                |config| {
                    all(config);
                    config.cpu_placement = placement;
                },
                &[],
            );
        }
    }

    #[test]
    fn plugins_without_a_node_order_take_any() {
        check(
            "plugins: {nodeplacement: {enabled: false}, gpupack: {enabled: false}, \
             gpusharingorder: {enabled: false}}",
            "tiers: [{plugins: [{name: predicates}]}]",
            |config| {
                config.gpu_placement = Placement::Any;
                config.cpu_placement = Placement::Any;
                config.device_placement = Placement::Any;
                config.sharing_first = false;
            },
            &[],
        );
        // What a plugin that is off was told counts nothing.
        check(
            "plugins: {nodeplacement: {enabled: false, arguments: {gpu: spread, cpu: spread}}}",
            "tiers: [{plugins: [{name: gpupack}, {name: gpusharingorder}]}]",
            |config| {
                config.gpu_placement = Placement::Any;
                config.cpu_placement = Placement::Any;
            },
            &[],
        );
    }

    #[test]
    fn runtimes_factors_and_depths_are_read() {
        check(
            "{minRuntime: {preemptMinRuntime: 1m}, kValue: 0.5, queueDepthPerAction: {reclaim: 3}, \
             plugins: {minruntime: {arguments: {reclaimResolveMethod: queue}}}}",
            "{queueDepthPerAction: {reclaim: 3}, tiers: [{plugins: [{name: gpupack}, \
             {name: gpusharingorder}, {name: nodeplacement}, {name: proportion, arguments: {kValue: '0.5'}}, {name: minruntime, \
             arguments: {defaultPreemptMinRuntime: 1m, reclaimResolveMethod: queue}}]}]}",
            |config| {
                config.preempt_min_runtime = 60_000;
                config.usage_factor_milli = 500;
                config.queue_depth.reclaim = Some(3);
                config.reclaim_resolution = ReclaimResolution::Queue;
            },
            &[],
        );
    }

    /// Preemption and reclaim have each their own runtime and depth.
    #[test]
    fn preemption_and_reclaim_are_told_apart() {
        let plugins = "{name: gpupack}, {name: gpusharingorder}, {name: nodeplacement}";
        check(
            "{minRuntime: {reclaimMinRuntime: 5m}}",
            &format!(
                "{{tiers: [{{plugins: [{plugins}, {{name: minruntime, \
                 arguments: {{defaultReclaimMinRuntime: 5m}}}}]}}]}}"
            ),
            |config| config.reclaim_min_runtime = 300_000,
            &[],
        );
        check(
            "{queueDepthPerAction: {preempt: 5}}",
            &format!("{{queueDepthPerAction: {{preempt: 5}}, tiers: [{{plugins: [{plugins}]}}]}}"),
            |config| config.queue_depth.preempt = Some(5),
            &[],
        );
        check(
            "{queueDepthPerAction: {consolidation: 4, allocate: 6}}",
            &format!(
                "{{queueDepthPerAction: {{consolidation: 4, allocate: 6}}, \
                 tiers: [{{plugins: [{plugins}]}}]}}"
            ),
            |config| {
                config.queue_depth.consolidate = Some(4);
                config.queue_depth.allocate = Some(6);
            },
            &[],
        );
    }

    #[test]
    fn an_action_that_is_switched_off_is_the_one_that_is_named() {
        type Switch = fn(&mut Actions) -> &mut bool;
        let switches: [Switch; 5] = [
            |actions| &mut actions.allocate,
            |actions| &mut actions.consolidate,
            |actions| &mut actions.reclaim,
            |actions| &mut actions.preempt,
            |actions| &mut actions.stale,
        ];
        for (name, switch) in ACTIONS.into_iter().zip(switches) {
            let others: Vec<&str> = ACTIONS.into_iter().filter(|other| *other != name).collect();
            check(
                &format!("actions: {{{name}: {{enabled: false}}}}"),
                &format!("actions: '{}'", others.join(", ")),
                |config| *switch(&mut config.actions) = false,
                &[],
            );
        }
    }

    #[test]
    fn zones_count_where_the_plugin_is_listed() {
        let text =
            "arguments: {ignoreList: 'memory, hugepages-1Gi', reconstructAvailable: 'false'}";
        let base = Config::default();
        let spec = format!("plugins: {{numa: {{{text}}}}}");
        let spec: SchedulingShardSpec = serde_saphyr::from_str(&spec).expect("a shard's spec");
        let of_shard = Settings::of_shard(&spec, &base);
        let ignored = ["memory", "hugepages-1Gi"].map(String::from).into();
        assert_eq!(of_shard.aligning, Some(Aligning { ignored }));
        assert_eq!(
            of_shard.problems,
            [
                "plugins.numa.arguments.reconstructAvailable: \"false\" has no effect here: what pods hold is \
              always taken from what zones have"
            ],
        );
        let file = format!(
            "tiers: [{{plugins: [{{name: nodeplacement}}, {{name: gpupack}}, {{name: gpusharingorder}}, \
             {{name: numa, {text}}}]}}]"
        );
        assert_eq!(Settings::of_file(&file, &base).expect("a file"), of_shard);
        let off = "plugins: {numa: {enabled: false}}";
        let off: SchedulingShardSpec = serde_saphyr::from_str(off).expect("a shard's spec");
        assert_eq!(Settings::of_shard(&off, &base).aligning, None);
    }

    #[test]
    fn the_order_of_turns_is_told_where_its_plugin_is_on() {
        let base = Config::default();
        for (spec, expect) in [
            ("{}", false),
            ("plugins: {reflectjoborder: {}}", true),
            ("plugins: {reflectjoborder: {enabled: false}}", false),
        ] {
            let read: SchedulingShardSpec = serde_saphyr::from_str(spec).expect("a shard's spec");
            assert_eq!(Settings::of_shard(&read, &base).job_order, expect, "{spec}");
        }
    }

    #[test]
    fn past_use_is_read_from_where_both_forms_say() {
        let text = "{usageDBConfig: {clientType: prometheus, connectionString: 'http://prometheus:9090', \
                    usageParams: {halfLifePeriod: 24h}}}";
        let base = Config::default();
        let spec: SchedulingShardSpec = serde_saphyr::from_str(text).expect("a shard's spec");
        let of_shard = Settings::of_shard(&spec, &base);
        assert!(of_shard.usage.is_some());
        assert_eq!(of_shard.problems, Vec::<String>::new());
        assert_eq!(of_shard, Settings::of_file(text, &base).expect("a file"));
    }

    #[test]
    fn the_multiplier_is_read_by_each_of_its_names() {
        let names = [
            "relcaimerSaturationMultiplier",
            "reclaimerUtilizationMultiplier",
            "reclaimerSaturationMultiplier",
        ];
        for name in names {
            for (text, milli) in [("'1.5'", 1500), ("'0.2'", 1000)] {
                let arguments = format!("{{{name}: {text}}}");
                check(
                    &format!("{{plugins: {{proportion: {{arguments: {arguments}}}}}}}"),
                    &format!(
                        "{{tiers: [{{plugins: [{{name: gpupack}}, {{name: gpusharingorder}}, \
                         {{name: nodeplacement}}, {{name: proportion, arguments: {arguments}}}]}}]}}"
                    ),
                    |config| config.saturation_multiplier_milli = milli,
                    &[],
                );
            }
        }
    }

    #[test]
    fn what_has_no_effect_is_named() {
        check(
            "{placementStrategy: {cpu: sprinkle}, actions: {dance: {}}, queueDepthPerAction: {dance: 1, preempt: -1}, \
             plugins: {predicates: {enabled: false}, mine: {}, proportion: {arguments: {kValue: x, y: z}}}, \
             minRuntime: {reclaimMinRuntime: soon}}",
            "",
            |_| {},
            &[
                "placementStrategy.cpu: \"sprinkle\" is none of binpack, spread, fragmentation: binpack is used",
                "actions: there is no action \"dance\"",
                "plugins: there is no plugin \"mine\"",
                "plugins.predicates: its rules are always on",
                "plugins.proportion.arguments.kValue: \"x\" is no number",
                "plugins.proportion.arguments.y has no effect here",
                "queueDepthPerAction.dance: no such action tries groups",
                "queueDepthPerAction.preempt: -1 is no number of groups: all are tried",
                "plugins.minruntime.arguments.defaultReclaimMinRuntime: failed to read duration \"soon\": \
                 a form like 30s, 1h30m, 500ms, -1s or 0 was expected",
            ],
        );
    }

    #[test]
    fn a_file_that_is_none_is_refused_with_its_place() {
        let error = Settings::of_file("actions: [", &Config::default()).expect_err("no YAML");
        assert!(error.to_string().contains("line"), "{error}");
    }
}
