//! From a scenario to a world: names become ids, text becomes facts, in the order of the file.

use kai_engine::{
    Actions, Budget, BudgetId, Config, Delta, Holds, LaneKind, Placement as Ranking, QueueDepth,
    ReclaimResolution, Requirement, Timestamp, Topology,
};

use crate::{
    names::Names,
    scenario::{Placement, Scenario, ScenarioError, Settings},
    world::World,
};

mod claim;
mod group;
mod node;
mod pod;
mod queue;

type Result<T> = std::result::Result<T, ScenarioError>;

/// Builds the world that `scenario` describes.
///
/// # Errors
///
/// Names the key of the first value that names what is not there or makes no sense.
pub fn build(scenario: &Scenario) -> Result<World> {
    let mut world = World { config: config(&scenario.config)?, ..World::default() };
    add(&mut world, scenario)?;
    Ok(world)
}

/// Adds to a world what `scenario` describes: what has a name that is known there changes and stays as old as it was, all
/// else is made now. The configuration stays.
///
/// # Errors
///
/// Names the key of the first value that names what is not there or makes no sense.
pub fn add(world: &mut World, scenario: &Scenario) -> Result<()> {
    for (name, levels) in scenario.topologies.iter() {
        let id = world.names.topology(name);
        let levels = levels.iter().map(|level| world.names.symbol(level)).collect();
        world.tell(Delta::Topology(id, Box::new(Topology { levels })));
    }
    claim::counters(world, scenario);
    for (name, node) in scenario.nodes.iter() {
        node::tell(world, name, node)?;
    }
    claim::reaches(world, scenario)?;
    claim::classes(world, scenario);
    for (name, queue) in scenario.queues.iter() {
        queue::tell(world, name, queue, scenario)?;
    }
    claim::claims(world, scenario)?;
    budgets(world, scenario);
    group::tell(world, scenario)
}

fn budgets(world: &mut World, scenario: &Scenario) {
    let known = u32::try_from(world.facts.budgets.len()).unwrap_or(u32::MAX);
    for (number, (_, wire)) in (known..).zip(scenario.budgets.iter()) {
        let selector = wire.labels.iter().map(|(key, value)| Requirement {
            key: world.names.symbol(key),
            holds: Holds::In(vec![world.names.symbol(value)]),
        });
        let selector = selector.collect();
        let namespace = world.names.symbol("default");
        let budget = Budget { namespace, selector, allowed: wire.allowed };
        world.tell(Delta::Budget(BudgetId::new(number), Box::new(budget)));
    }
}

fn config(settings: &Settings) -> Result<Config> {
    let mut config = Config::default();
    if let Some(actions) = &settings.actions {
        config.actions = actions_of(actions)?;
    }
    let rank = |placement: Option<Placement>, default: Ranking| placement.map_or(default, ranking);
    config.gpu_placement = rank(settings.gpu, config.gpu_placement);
    config.cpu_placement = rank(settings.cpu, config.cpu_placement);
    config.device_placement = rank(settings.devices, config.device_placement);
    config.sharing_first =
        settings.sharing_first.unwrap_or(config.gpu_placement != Ranking::Spread);
    if let Some(bound) = settings.consolidation_victims {
        config.consolidation_victims_max =
            bound.units().map(|most| u32::try_from(most).unwrap_or(u32::MAX));
    }
    config.reclaim_may_relocate = settings.relocate.unwrap_or(config.reclaim_may_relocate);
    config.restrict_nodes = settings.restrict_nodes.unwrap_or(config.restrict_nodes);
    config.staleness_grace = settings.grace.map_or(config.staleness_grace, |grace| grace.0 * 1000);
    config.preempt_min_runtime =
        settings.preempt_min_runtime.map_or(config.preempt_min_runtime, |span| span.0 * 1000);
    config.reclaim_min_runtime =
        settings.reclaim_min_runtime.map_or(config.reclaim_min_runtime, |span| span.0 * 1000);
    let milli = |amount: i64| u64::try_from(amount).unwrap_or(0);
    config.usage_factor_milli =
        settings.usage_factor.map_or(config.usage_factor_milli, |k| milli(k.0));
    config.saturation_multiplier_milli =
        settings.saturation.map_or(config.saturation_multiplier_milli, |times| milli(times.0));
    config.queue_depth = QueueDepth {
        allocate: settings.queue_depth.allocate,
        consolidate: settings.queue_depth.consolidation,
        reclaim: settings.queue_depth.reclaim,
        preempt: settings.queue_depth.preempt,
    };
    config.steps_max = settings.steps.unwrap_or(config.steps_max);
    config.reclaim_resolution = match settings.resolve.as_deref() {
        None => config.reclaim_resolution,
        Some("lca") => ReclaimResolution::CommonAncestor,
        Some("queue") => ReclaimResolution::Queue,
        Some(other) => {
            return Err(ScenarioError::value(
                "config.resolve",
                format!("`{other}` is neither `lca` nor `queue`"),
            ));
        }
    };
    Ok(config)
}

/// The actions that `text` names.
pub fn actions_of(text: &str) -> Result<Actions> {
    let mut actions = Actions::NONE;
    for name in text.split([' ', ',']).filter(|name| !name.is_empty()) {
        match name {
            "allocate" => actions.allocate = true,
            "consolidation" => actions.consolidate = true,
            "reclaim" => actions.reclaim = true,
            "preempt" => actions.preempt = true,
            "stalegangeviction" => actions.stale = true,
            _ => {
                let what = format!(
                    "`{name}` is no action: write some of allocate, consolidation, reclaim, preempt, stalegangeviction"
                );
                return Err(ScenarioError::value("config.actions", what));
            }
        }
    }
    Ok(actions)
}

fn ranking(placement: Placement) -> Ranking {
    match placement {
        Placement::Pack => Ranking::Pack,
        Placement::Spread => Ranking::Spread,
        Placement::None => Ranking::Any,
        Placement::Fragmentation => Ranking::Fragmentation,
    }
}

/// Tells what a resource of this name is: the number before `g` of a MIG profile counts as GPUs.
pub fn lane_kind(resource: &str) -> LaneKind {
    let profile = resource.strip_prefix("nvidia.com/mig-");
    match profile
        .and_then(|profile| profile.split_once('g'))
        .and_then(|(gpus, _)| gpus.parse().ok())
    {
        Some(gpus) => LaneKind::Mig { gpus },
        None => LaneKind::Plain,
    }
}

/// The time `seconds` before now.
fn ago(now: Timestamp, seconds: i64) -> Timestamp {
    Timestamp(now.0 - seconds * 1000)
}

/// The lane of `resource`; the engine is told what it means when it is new.
pub fn lane(world: &mut World, resource: &str) -> kai_engine::Lane {
    let lane = world.names.lane(resource);
    if !world.facts.lanes.contains_key(&lane) && lane.number() >= kai_engine::Lane::FIRST_EXTENDED {
        world.tell(Delta::Lane(lane, lane_kind(resource)));
    }
    lane
}

/// `key=value:Effect`, `key:Effect`, `key=value` or `key`.
fn taint_parts(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (head, effect) =
        text.rsplit_once(':').map_or((text, None), |(head, effect)| (head, Some(effect)));
    let (key, value) = head.split_once('=').map_or((head, None), |(key, value)| (key, Some(value)));
    (key, value, effect)
}

fn effect_of(text: &str, key: &str) -> Result<kai_engine::Effect> {
    match text {
        "NoSchedule" => Ok(kai_engine::Effect::NoSchedule),
        "PreferNoSchedule" => Ok(kai_engine::Effect::PreferNoSchedule),
        "NoExecute" => Ok(kai_engine::Effect::NoExecute),
        _ => Err(ScenarioError::value(
            key,
            format!("`{text}` is no effect: write NoSchedule, PreferNoSchedule or NoExecute"),
        )),
    }
}

/// Symbols of a mapping.
fn pairs(
    names: &mut Names,
    entries: &crate::entries::Entries<String>,
) -> Vec<(kai_engine::Symbol, kai_engine::Symbol)> {
    entries.iter().map(|(key, value)| (names.symbol(key), names.symbol(value))).collect()
}
