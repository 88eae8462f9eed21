//! A scenario as a snapshot: the world that it describes, under the names and settings of the scheduler.

use std::{collections::BTreeMap, sync::Arc};

use kai_api::names::priority_class;
use kai_engine::{Delta, GroupId, NodeId, Owner, PodId, PodState, QueueId, Symbol};
use kai_sim::{names::Tables, world::World};
use serde_json::json;

use super::Snapshot;
use crate::{
    Args,
    ingest::{Ingest, Kind, Rules},
    names::{Names, Number, Presence},
    settings::Settings,
    sharing::Sharing,
};

/// The namespace of groups whose pods name none.
const NAMESPACE: &str = "default";

/// Takes a world over. Its numbers stay: every table gets its names in the order of the world's.
///
/// # Errors
/// The classes of priority that KAI installs cannot be taken in, which their text alone can cause.
pub(super) fn of_world(world: World) -> serde_json::Result<Snapshot> {
    let args = Args::default();
    let mut ingest = Ingest::new(Rules::new(&args));
    name(&mut ingest.context.names, &world);
    let mut counts = BTreeMap::new();
    let facts = &world.facts;
    counts.insert("nodes", facts.nodes.len());
    counts.insert("queues", facts.queues.len());
    counts.insert("podGroups", facts.groups.len());
    counts.insert("pods", facts.pods.len());
    classes(&mut ingest)?;
    let base = world.config.clone();
    let settings = Settings {
        config: base,
        usage: None,
        aligning: None,
        job_order: false,
        problems: Vec::new(),
    };
    let mut snapshot = Snapshot {
        sharing: Sharing::new(&args, None),
        args,
        settings,
        ingest,
        cluster: world.cluster,
        counts,
        taken: world.now,
        is_dated: true,
        left_out: Vec::new(),
        server_version: None,
        run_times: BTreeMap::new(),
        patience: None,
    };
    // Nothing that was named is told again: the world's engine knows it all.
    snapshot.ingest.context.deltas.retain(|delta| matches!(delta, Delta::Spelling(..)));
    Ok(snapshot)
}

/// Names everything, number for number.
fn name(names: &mut Names, world: &World) {
    let Tables { nodes, queues, groups, pods, topologies, resources, symbols, devices, .. } =
        world.names.tables();
    for symbol in symbols {
        names.symbol(symbol);
    }
    let there = |is_there: bool| Presence { is_there, generation: 0, references: 1 };
    for (number, node) in (0..).map(NodeId::new).zip(nodes) {
        let id = names.node(node);
        names.nodes[id.number()].presence = there(world.facts.nodes.contains_key(&number));
    }
    for (number, queue) in (0..).map(QueueId::new).zip(queues) {
        let row = names.queue(queue).number();
        let facts = world.facts.queues.get(&number);
        names.queues[row].presence = there(facts.is_some());
        names.queues[row].parent = facts.and_then(|facts| facts.parent).map(Number::number);
    }
    for topology in topologies {
        names.topology(topology);
    }
    for resource in resources {
        names.lane(resource);
    }
    for device in devices {
        names.device(device);
    }
    let mut namespaces: BTreeMap<GroupId, Symbol> = BTreeMap::new();
    for pod in world.facts.pods.values() {
        if let Owner::Group(group) = pod.owner {
            namespaces.entry(group).or_insert(pod.namespace);
        }
    }
    for (number, group) in (0..).map(GroupId::new).zip(groups) {
        let namespace = namespaces.get(&number).map(|symbol| names.text(*symbol).to_owned());
        let id = names.group(namespace.as_deref().unwrap_or(NAMESPACE), group);
        let facts = world.facts.groups.get(&number);
        let row = &mut names.groups[id.number()];
        row.presence = there(facts.is_some());
        row.queue = facts.and_then(|facts| facts.queue).map(Number::number);
    }
    for (number, pod) in (0..).map(PodId::new).zip(pods) {
        name_pod(names, world, number, pod);
    }
}

fn name_pod(names: &mut Names, world: &World, id: PodId, name: &str) {
    let number = names.pod(name).number();
    let Some(facts) = world.facts.pods.get(&id) else { return };
    let namespace = names.text(facts.namespace).to_owned();
    let group = match facts.owner {
        Owner::Group(group) => Some(group.number()),
        Owner::Foreign | Owner::Reservation => None,
    };
    let node = match &facts.state {
        PodState::Bound(place)
        | PodState::Running(place)
        | PodState::Releasing(place)
        | PodState::Lingering(place)
        | PodState::Stuck(place) => Some(place.node.number()),
        PodState::Gated | PodState::Pending | PodState::Succeeded | PodState::Failed => None,
    };
    let row = &mut names.pods[number];
    row.presence = Presence { is_there: true, generation: 0, references: 0 };
    row.namespace = Arc::from(if namespace.is_empty() { NAMESPACE } else { &*namespace });
    row.name = Box::from(name);
    row.created = facts.created.0;
    row.group = group;
    row.node = node;
    if let Some(group) = group {
        names.groups[group].presence.references += 1;
        names.enlist(group, number);
    }
}

/// Takes in the classes of priority that KAI installs, for work that names one.
fn classes(ingest: &mut Ingest) -> serde_json::Result<()> {
    for (name, value) in priority_class::ALL {
        let class = json!({ "metadata": { "name": name }, "value": value });
        ingest.applied(Kind::PriorityClass, class.to_string().as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kai_sim::{build, scenario};

    use super::*;

    const TWO: &str = "
title: Two pods wait
why: one of them is taken out
nodes: { n: { gpus: 1 } }
queues: { team: { quota: 1 } }
groups: { train: { queue: team, gpus: 1, pods: 2 } }
expect: |
  wait train
";

    #[test]
    fn pods_of_a_scenario_may_be_taken_out_again() {
        let scenario = scenario::parse(TWO).expect("it is a scenario");
        let world = build::build(&scenario).expect("it makes sense");
        let mut snapshot = of_world(world).expect("the classes can be read");
        let names = &snapshot.ingest.context.names;
        let (group, row) = names.groups.iter().next().expect("there is one");
        let uid = names.pods.key(*row.pods.last().expect("it has two pods"));
        let pod = json!({"metadata": {"namespace": NAMESPACE, "name": &**uid, "uid": &**uid}});
        snapshot.ingest.deleted(Kind::Pod, pod.to_string().as_bytes()).expect("it is a pod");
        assert_eq!(snapshot.ingest.context.names.groups[group].pods.len(), 1);
    }
}
