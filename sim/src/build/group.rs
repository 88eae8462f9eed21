//! Pod groups and their pods.

use kai_engine::{
    Constraint, Delta, Group, GroupId, Level, Min, Owner, Place, Pod, PodPriority, PodRank,
    PodState, Reserved, Shape, Structure, SubGroup, Symbol, Timestamp, ZoneAmount,
};

use super::{Result, ago, pod::shape};
use crate::{
    scenario::{self, PodSet, Scenario, ScenarioError, Set},
    world::World,
};

/// Distance in age between two groups of a scenario, in seconds.
const APART: i64 = 60;
/// The most pods of a world, so that `pods: 4000000000` is an error and not an outage.
const PODS_MAX: usize = 1_000_000;

pub(super) fn tell(world: &mut World, scenario: &Scenario) -> Result<()> {
    let count = scenario.groups.len();
    // In a world that has groups already these are the youngest: all of them are made now.
    let (known, apart) = (world.names.groups(), if world.names.groups() == 0 { APART } else { 0 });
    for (index, (name, group)) in scenario.groups.iter().enumerate() {
        let age = i64::try_from(count - index).unwrap_or(i64::MAX).saturating_mul(apart);
        let maker = Maker { key: format!("groups.{name}"), name, group, age };
        maker.tell(world, (known + index) as u128)?;
    }
    Ok(())
}

struct Maker<'a> {
    key: String,
    name: &'a str,
    group: &'a scenario::Group,
    age: i64,
}

impl Maker<'_> {
    fn tell(&self, world: &mut World, uid: u128) -> Result<()> {
        let group = self.group;
        let id = world.names.group(self.name);
        let now = world.now;
        let known = world.facts.groups.get(&id).map(|known| (known.created, known.uid));
        let (created, uid) = known.unwrap_or((ago(now, self.age), uid));
        let created = group.age.map_or(created, |age| ago(now, age.0));
        let queue = world.names.find_queue(&group.queue);
        if !queue.is_some_and(|queue| world.facts.queues.contains_key(&queue))
            && !group.queue.starts_with("missing")
            && self.owner(id) == Owner::Group(id)
        {
            let what = format!(
                "there is no queue `{}`; one that is meant to be missing starts with `missing`",
                group.queue
            );
            return Err(ScenarioError::value(format!("{}.queue", self.key), what));
        }
        let priority = group.priority.unwrap_or(50);
        let structure = self.structure(world)?;
        if self.owner(id) == Owner::Group(id) {
            let facts = Group {
                queue: Some(world.names.queue(&group.queue)),
                priority,
                preemptible: group.preemptible.unwrap_or(priority < 100),
                created,
                uid,
                structure,
                preemption_delay: group.delay.map_or(0, |delay| delay.0 * 1000),
                staleness_grace: group.grace.map(|grace| grace.0 * 1000),
                last_start: group.started.map(|span| ago(now, span.0)),
                last_eviction: group.evicted.map(|span| ago(now, span.0)),
                stale_since: group.stale.map(|span| ago(now, span.0)),
                held: group.held,
            };
            world.tell(Delta::Group(id, Box::new(facts)));
        }
        let mut pods = Vec::new();
        let top = Stem { name: self.name, key: &self.key, sub_group: Symbol::EMPTY };
        collect(top, &group.set, &group.pod, &mut pods);
        subgroup_pods(world, top, &group.set, &mut pods);
        let mut ages = Ages { created, uid: uid << 32 };
        for set in pods {
            self.tell_pods(world, id, &set, &mut ages)?;
        }
        Ok(())
    }

    /// Tells whose its pods are.
    fn owner(&self, group: GroupId) -> Owner {
        if self.group.reservation {
            Owner::Reservation
        } else if self.group.foreign {
            Owner::Foreign
        } else {
            Owner::Group(group)
        }
    }

    fn tell_pods(
        &self,
        world: &mut World,
        group: GroupId,
        set: &Pods<'_>,
        ages: &mut Ages,
    ) -> Result<()> {
        if world.facts.pods.len().saturating_add(set.count as usize) > PODS_MAX {
            let what = format!("there are at most {PODS_MAX} pods in a scenario");
            return Err(ScenarioError::value(format!("{}.pods", set.key), what));
        }
        let places = places(world, &format!("{}.on", set.key), &set.pod.on, set.count)?;
        let shape = shape(world, &set.key, set.pod, self.group.namespace.as_deref())?;
        let namespace = world.names.symbol(self.group.namespace.as_deref().unwrap_or("default"));
        let labels = super::pairs(&mut world.names, &set.pod.labels);
        let nominated = set.pod.nominated.as_deref().map(|node| world.names.node(node));
        for index in 0..set.count {
            let name =
                if set.count == 1 { set.stem.clone() } else { format!("{}-{index}", set.stem) };
            let mut place = places.get(index as usize).cloned();
            if let (Some(place), Some(zone)) = (&mut place, set.pod.zones.get(index as usize)) {
                place.reserved = Some(Box::new(seen_on(*zone, &shape)));
            }
            let id = world.names.pod(&name);
            let state = state(&format!("{}.state", set.key), set.pod.state.as_deref(), place)?;
            let claims = super::claim::of_pod(world, &set.key, &name, set.pod, &state)?;
            let facts = Pod {
                owner: self.owner(group),
                sub_group: set.sub_group,
                shape: shape.clone(),
                state,
                rank: PodRank {
                    priority: set
                        .pod
                        .rank
                        .map_or(PodPriority::None, |rank| PodPriority::Given(i64::from(rank))),
                    ..PodRank::default()
                },
                created: ages.created,
                uid: ages.uid,
                nominated,
                namespace,
                labels: labels.clone(),
                claims,
                unplanned: set.pod.unplanned,
            };
            ages.uid += 1;
            world.tell(Delta::Pod(id, Box::new(facts)));
        }
        Ok(())
    }

    fn structure(&self, world: &mut World) -> Result<Structure> {
        let set = &self.group.set;
        let topology = constraint(world, &self.key, set)?;
        if set.subgroups.is_empty() {
            if set.min_subgroups.is_some_and(|min| min > 1) {
                return Ok(Structure::Malformed);
            }
            return Ok(Structure::Flat { min: set.min.unwrap_or_else(|| all_pods(set)), topology });
        }
        let mut flat: Vec<Flat<'_>> = Vec::new();
        flatten(&self.key, set, None, &mut flat);
        let mut order: Vec<usize> = (0..flat.len()).collect();
        order.sort_by_key(|row| flat[*row].name);
        if order.windows(2).any(|pair| flat[pair[0]].name == flat[pair[1]].name) {
            return Ok(Structure::Malformed);
        }
        let position = |row: usize| order.iter().position(|other| *other == row);
        let mut sub_groups = Vec::new();
        for row in &order {
            let entry = &flat[*row];
            let parent =
                entry.parent.and_then(position).map(|at| u16::try_from(at).unwrap_or(u16::MAX));
            let below = &entry.set.set;
            let min = if below.subgroups.is_empty() {
                Min::Pods(below.min.unwrap_or_else(|| all_pods(below)))
            } else {
                Min::Members(below.min_subgroups)
            };
            let topology = constraint(world, &entry.key, below)?;
            sub_groups.push(SubGroup {
                name: world.names.symbol(entry.name),
                parent,
                min,
                topology,
            });
        }
        Ok(Structure::Tree { min: set.min_subgroups, topology, sub_groups })
    }
}

/// The constraint of a set, where it has one.
fn constraint(world: &mut World, key: &str, set: &Set) -> Result<Option<Constraint>> {
    if set.required.is_none() && set.preferred.is_none() && set.topology.is_none() {
        return Ok(None);
    }
    let mut known = world.facts.topologies.keys();
    let topology = match (&set.topology, known.next(), known.next()) {
        (Some(name), ..) => world.names.topology(name),
        (None, Some(only), None) => *only,
        (None, ..) => {
            return Err(ScenarioError::value(
                format!("{key}.topology"),
                "is missing, and there is not exactly one topology to mean",
            ));
        }
    };
    let mut level =
        |level: &Option<String>| level.as_deref().map(|level| Level(world.names.symbol(level)));
    let (required, preferred) = (level(&set.required), level(&set.preferred));
    Ok(Some(Constraint { topology, required, preferred }))
}

/// The set that pods are of.
#[derive(Clone, Copy)]
struct Stem<'a> {
    /// The beginning of the pods' names.
    name: &'a str,
    /// The place in the file: `groups.a.subgroups.b`.
    key: &'a str,
    sub_group: Symbol,
}

/// The pods that `set` holds itself.
fn collect<'p>(stem: Stem<'_>, set: &'p Set, pod: &'p scenario::Pod, into: &mut Vec<Pods<'p>>) {
    let count = own_pods(set);
    if count > 0 {
        let (name, key, sub_group) = (stem.name.to_owned(), stem.key.to_owned(), stem.sub_group);
        into.push(Pods { stem: name, key, sub_group, count, pod });
    }
    for (name, member) in set.members.iter() {
        into.push(Pods {
            stem: format!("{}-{name}", stem.name),
            key: format!("{}.members.{name}", stem.key),
            sub_group: stem.sub_group,
            count: member.set.pods.unwrap_or(1),
            pod: &member.pod,
        });
    }
}

fn subgroup_pods<'p>(world: &mut World, stem: Stem<'_>, set: &'p Set, into: &mut Vec<Pods<'p>>) {
    for (name, below) in set.subgroups.iter() {
        let sub_group = world.names.symbol(name);
        let (name, key) =
            (format!("{}-{name}", stem.name), format!("{}.subgroups.{name}", stem.key));
        let stem = Stem { name: &name, key: &key, sub_group };
        if below.set.subgroups.is_empty() {
            collect(stem, &below.set, &below.pod, into);
        }
        subgroup_pods(world, stem, &below.set, into);
    }
}

/// Time when the next pod of a group was made, and its UID.
struct Ages {
    created: Timestamp,
    uid: u128,
}

/// Equal pods of one podset.
struct Pods<'a> {
    stem: String,
    key: String,
    sub_group: Symbol,
    count: u32,
    pod: &'a scenario::Pod,
}

struct Flat<'a> {
    name: &'a str,
    key: String,
    parent: Option<usize>,
    set: &'a PodSet,
}

fn flatten<'a>(key: &str, set: &'a Set, parent: Option<usize>, into: &mut Vec<Flat<'a>>) {
    for (name, below) in set.subgroups.iter() {
        let key = format!("{key}.subgroups.{name}");
        into.push(Flat { name, key: key.clone(), parent, set: below });
        let row = into.len() - 1;
        flatten(&key, &below.set, Some(row), into);
    }
}

/// Pods that are alike.
fn own_pods(set: &Set) -> u32 {
    let default = u32::from(set.members.is_empty() && set.subgroups.is_empty());
    set.pods.unwrap_or(default)
}

/// All pods of a leaf.
fn all_pods(set: &Set) -> u32 {
    let of_members = set.members.iter().map(|(_, member)| member.set.pods.unwrap_or(1));
    of_members.fold(own_pods(set), u32::saturating_add)
}

/// The places of `text`: one alone is for all pods, several are for as many.
fn places(world: &mut World, key: &str, text: &str, pods: u32) -> Result<Vec<Place>> {
    let mut places = Vec::new();
    let tokens: Vec<&str> = text.split_whitespace().collect();
    for token in &tokens {
        let wrong = |what: &str| ScenarioError::value(key, format!("`{token}`: {what}"));
        let (place, times) = match token.split_once('*') {
            None => (*token, if tokens.len() == 1 { pods } else { 1 }),
            Some((place, times)) => {
                (place, times.parse().map_err(|_| wrong("write node0*2 for two pods on node0"))?)
            }
        };
        let (node, devices) =
            place.split_once('/').map_or((place, ""), |(node, devices)| (node, devices));
        let id = world.names.find_node(node).ok_or_else(|| wrong("there is no such node"))?;
        let devices = devices.split('+').filter(|device| !device.is_empty());
        let devices =
            devices.map(|device| world.names.device(&format!("{node}/{device}"))).collect();
        let place = Place { node: id, devices, reserved: None };
        places.extend(std::iter::repeat_n(place, times as usize));
    }
    if places.len() > pods as usize {
        return Err(ScenarioError::value(key, format!("{} places for {pods} pods", places.len())));
    }
    Ok(places)
}

/// Works out what a pod that was seen on a NUMA zone holds of it.
fn seen_on(zone: u16, shape: &Shape) -> Reserved {
    let asked = shape.alignment.iter().flat_map(|alignment| alignment.pod.iter());
    let zones = asked.map(|(lane, amount)| ZoneAmount { zone, lane, amount }).collect();
    Reserved { zones, ..Reserved::default() }
}

fn state(key: &str, text: Option<&str>, place: Option<Place>) -> Result<PodState> {
    let wrong = |what: &str| Err(ScenarioError::value(key, what));
    match (text, place) {
        (
            None | Some("pending" | "bound" | "running" | "releasing" | "lingering" | "stuck"),
            None,
        ) => Ok(PodState::Pending),
        (None | Some("running"), Some(place)) => Ok(PodState::Running(place)),
        (Some("bound"), Some(place)) => Ok(PodState::Bound(place)),
        (Some("releasing"), Some(place)) => Ok(PodState::Releasing(place)),
        (Some("lingering"), Some(place)) => Ok(PodState::Lingering(place)),
        (Some("stuck"), Some(place)) => Ok(PodState::Stuck(place)),
        (Some("gated"), None) => Ok(PodState::Gated),
        (Some("succeeded"), _) => Ok(PodState::Succeeded),
        (Some("failed"), _) => Ok(PodState::Failed),
        (Some("pending" | "gated"), Some(_)) => wrong("a pod that waits is on no node"),
        (Some(other), _) => wrong(&format!(
            "`{other}` is none of pending, gated, bound, running, releasing, lingering, stuck, \
             succeeded, failed"
        )),
    }
}
