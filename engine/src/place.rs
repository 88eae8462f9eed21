//! Places a group's next pods, all or none.
//!
//! # Source
//! docs/behaviour.md 1.13.

pub(crate) mod assign;
pub(crate) mod capacity_bound;
pub(crate) mod domain_bound;
mod nesting;
pub(crate) mod repack;
pub(crate) mod split;

use crate::{
    base::{
        id_set::IdSet,
        ids::{GroupId, PodId, Rank},
        resources::{Charge, GPU_MILLI},
    },
    config::Config,
    decided::{plan::Why, steps::Progress},
    fit::{
        best_node::{Found, best_node, best_node_of_tiers},
        filter::Choice,
        why::{self, Unplaced},
    },
    place::{
        assign::Assignment,
        nesting::Nesting,
        repack::Repacking,
        split::{Together, split},
    },
    queues::limits,
    state::{State, device, looks::Looks, tree::Member, trial::Trial},
};

/// Way in which placed pods take room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// For real: idle room is taken, pods are nominated for room to come.
    Real,
    /// To see whether it would fit: every pod is nominated.
    Nominate,
}

/// Nodes that pods may go to, and those that they rather go to.
#[derive(Clone, Copy, Debug)]
struct Area<'a> {
    nodes: Option<&'a IdSet<Rank>>,
    /// From the most preferred nodes to the least, all of them among `nodes`.
    tiers: Option<&'a [IdSet<Rank>]>,
}

/// The part of each tier that is among some nodes, where there is one.
fn within(tiers: &[IdSet<Rank>], nodes: &IdSet<Rank>) -> Vec<IdSet<Rank>> {
    let part = |tier: &IdSet<Rank>| {
        let mut tier = tier.clone();
        tier.intersect(nodes);
        tier
    };
    tiers.iter().map(part).filter(|tier| !tier.is_empty()).collect()
}

/// An attempt to place one group.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    pub(crate) config: &'a Config,
    pub(crate) group: GroupId,
    pub(crate) mode: Mode,
    /// The pods to place, in order.
    pub(crate) pods: &'a [PodId],
    /// Number of them that found a place so far.
    placed: u32,
    /// Their places in `pods`, leaf by leaf; none for a group without sub-groups.
    by_leaf: Vec<(u16, usize)>,
    /// True if some of them ask for GPU memory, so that what they cost depends on their nodes.
    by_memory: bool,
    /// Domains within domains that were tried.
    nesting: Nesting,
    /// Searches for another way; most attempts need none.
    others: Option<Box<Others>>,
}

/// Searches for another way to place a group.
#[derive(Clone, Default, Debug)]
pub(crate) struct Others {
    /// Other nodes.
    repacking: Repacking,
    /// Other domains.
    assignment: Assignment,
}

/// The reason why a leaf could not be placed.
#[derive(Debug)]
enum Stuck {
    /// This pod found no node.
    NoRoom(PodId),
    Why(Why),
}

impl<'a> Attempt<'a> {
    pub(crate) fn new(config: &'a Config, group: GroupId, mode: Mode, pods: &'a [PodId]) -> Self {
        let (by_leaf, nesting) = (Vec::new(), Nesting::default());
        let by_memory = false;
        Self { config, group, mode, pods, placed: 0, by_leaf, by_memory, nesting, others: None }
    }

    /// Goes on with searches for another way that an earlier attempt on the same cluster left.
    pub(crate) fn resume(&mut self, others: Box<Others>) {
        self.others = Some(others);
    }

    /// The searches for another way, where one is left to go on with, and how far the first of these is.
    pub(crate) fn unfinished(self) -> Option<(Box<Others>, Progress)> {
        let mut others = self.others?;
        let packing = others.repacking.progress();
        let progress = packing.or_else(|| others.assignment.progress())?;
        others.repacking.end_turn();
        Some((others, progress))
    }

    /// Places the pods in a trial, or says why not; the caller drops the trial then.
    pub(crate) fn run(
        &mut self,
        trial: &mut Trial<'_>,
        nodes: Option<&IdSet<Rank>>,
    ) -> Result<(), Why> {
        self.by_memory =
            self.pods.iter().any(|pod| trial.shapes()[trial.pods()[*pod].shape].gpu_mib > 0);
        limits::affords(trial, self.group, self.ask(trial))?;
        trial.state().looks = Looks::default();
        trial.state().wished = 0;
        if trial.groups()[self.group].tree.only_leaf().is_none() {
            let leaf = |(at, pod): (usize, &PodId)| trial.pods()[*pod].leaf.map(|leaf| (leaf, at));
            self.by_leaf = self.pods.iter().enumerate().filter_map(leaf).collect();
            self.by_leaf.sort_unstable();
        }
        let mut nested = trial.nested();
        match self.place_in_order(&mut nested, nodes) {
            Ok(()) => nested.keep(),
            Err(why) => {
                drop(nested);
                let free = trial.groups()[self.group].tree.is_free(Member::Set(0));
                let pods = self.pods;
                let found = if free {
                    self.repack(trial, pods, nodes, 1)
                } else {
                    self.assign(trial, nodes)
                };
                if !found {
                    return Err(why);
                }
            }
        }
        if self.mode == Mode::Real {
            self.postpone(trial);
        }
        Ok(())
    }

    fn place_in_order(
        &mut self,
        trial: &mut Trial<'_>,
        nodes: Option<&IdSet<Rank>>,
    ) -> Result<(), Why> {
        let area = Area { nodes, tiers: None };
        self.nesting.begin(trial.mark());
        match trial.groups()[self.group].tree.only_leaf() {
            Some(leaf) => self.place_leaf(trial, leaf, &area),
            None => self.place_set(trial, 0, &area),
        }
    }

    /// Sums what the pods cost, GPU memory counted against the largest devices there are.
    fn ask(&self, trial: &Trial<'_>) -> Charge {
        let largest = if self.by_memory { trial.nodes().memory_max() } else { None };
        self.pods.iter().fold(Charge::default(), |sum, pod| sum + trial.ask(*pod, largest))
    }

    /// Places what a set has to place, in one of the node sets that its constraint leaves.
    fn place_set(&mut self, trial: &mut Trial<'_>, set: u16, area: &Area<'_>) -> Result<(), Why> {
        self.in_domains(trial, Member::Set(set), area)
    }

    /// Places a member in one of the node sets that its constraint leaves; without constraint there is one.
    fn in_domains(
        &mut self,
        trial: &mut Trial<'_>,
        member: Member,
        area: &Area<'_>,
    ) -> Result<(), Why> {
        let (sub_group, constraint) = trial.groups()[self.group].tree.constraint(member);
        if constraint.is_none() {
            return self.place_member(trial, member, area);
        }
        let leaves = trial.groups()[self.group].tree.leaves_below(member);
        let pods = self.pods_of(&leaves);
        let Some(constraint) = constraint.filter(|_| !pods.is_empty()) else {
            return self.place_member(trial, member, area);
        };
        // What it finds follows from its nodes, and from what is preferred around it where it prefers no level itself.
        let is_bound = constraint.preferred.is_some() || area.tiers.is_none();
        let nodes = area.nodes.filter(|_| is_bound && self.nesting.is_at_start(trial.mark()));
        if let Some(why) = nodes.and_then(|nodes| self.nesting.failure(member, nodes)) {
            return Err(why.clone());
        }
        let taken = ranks_of(trial, self.group, &leaves);
        let together = Together { sub_group, constraint, pods: &pods, taken: &taken };
        let placed = self.in_one_of(trial, member, &together, area);
        if let (Err(why), Some(nodes)) = (&placed, nodes) {
            self.nesting.note_failure(member, nodes, why);
        }
        placed
    }

    /// Tries the node sets that a constraint leaves one after the other; once too many were tried, the widest alone.
    fn in_one_of(
        &mut self,
        trial: &mut Trial<'_>,
        member: Member,
        together: &Together<'_>,
        area: &Area<'_>,
    ) -> Result<(), Why> {
        let split = split(trial.state(), together, area.nodes)?;
        let free = trial.groups()[self.group].tree.is_free_below(member);
        let placed = self.placed;
        let mut whys: Vec<Why> = Vec::new();
        for at in 0..split.len() {
            let left = split.len() - at;
            if left > 1 && self.nesting.is_spent() {
                continue;
            }
            let Some(nodes) = split.nodes(trial, at) else { break };
            let tiers: Option<Vec<IdSet<Rank>>> =
                split.tiers.as_deref().or(area.tiers).map(|tiers| within(tiers, &nodes));
            let mut nested = trial.nested();
            let inner = Area { nodes: Some(&nodes), tiers: tiers.as_deref() };
            self.nesting.enter();
            let found = self.place_member(&mut nested, member, &inner);
            self.nesting.leave();
            match found {
                Ok(()) => {
                    nested.keep();
                    return Ok(());
                }
                Err(why) => whys.push(why),
            }
            drop(nested);
            if free && self.repack(trial, together.pods, Some(&nodes), left) {
                return Ok(());
            }
            self.placed = placed;
        }
        let last = whys.pop().expect("a split leaves at least one set of nodes");
        Err(last.after(whys))
    }

    fn place_member(
        &mut self,
        trial: &mut Trial<'_>,
        member: Member,
        area: &Area<'_>,
    ) -> Result<(), Why> {
        let set = match member {
            Member::Leaf(leaf) => return self.place_leaf(trial, leaf, area),
            Member::Set(set) => set,
        };
        for member in trial.groups()[self.group].tree.ordered(set) {
            match member {
                Member::Set(inner) => self.place_set(trial, inner, area)?,
                Member::Leaf(_) => self.in_domains(trial, member, area)?,
            }
        }
        Ok(())
    }

    fn place_leaf(&mut self, trial: &mut Trial<'_>, leaf: u16, area: &Area<'_>) -> Result<(), Why> {
        let before = self.placed;
        self.seat(trial, leaf, area).map_err(|stuck| match (stuck, self.mode) {
            (Stuck::Why(why), _) => why,
            (Stuck::NoRoom(pod), Mode::Real) => {
                let unplaced = Unplaced {
                    pod,
                    at: self.placed,
                    placed: self.placed - before,
                    area: area.nodes,
                    names_nodes: self.config.names_nodes,
                };
                why::no_room(trial.state(), &unplaced)
            }
            // Nobody asks a simulation why.
            (Stuck::NoRoom(_), Mode::Nominate) => Why::Satisfied,
        })
    }

    /// Places the pods of a leaf in an area, each on the best node.
    fn seat(&mut self, trial: &mut Trial<'_>, leaf: u16, area: &Area<'_>) -> Result<(), Stuck> {
        if self.by_leaf.is_empty() {
            for pod in self.pods {
                if trial.pods()[*pod].leaf == Some(leaf) {
                    self.seat_pod(trial, *pod, area)?;
                }
            }
            return Ok(());
        }
        for pod in self.pods_of(&[leaf]) {
            self.seat_pod(trial, pod, area)?;
        }
        Ok(())
    }

    /// Places one pod in an area, on the best node.
    fn seat_pod(
        &mut self,
        trial: &mut Trial<'_>,
        pod: PodId,
        area: &Area<'_>,
    ) -> Result<(), Stuck> {
        let found = self.find(trial, pod, area).ok_or(Stuck::NoRoom(pod))?;
        self.is_affordable(trial, pod, &found).map_err(Stuck::Why)?;
        if trial.pods().status[pod].phase.leaves() && can_stay(trial, pod, &found) {
            trial.spare(pod);
        } else {
            self.put(trial, pod, found);
        }
        self.placed += 1;
        Ok(())
    }

    /// The pods to place of some leaves, in order.
    ///
    /// # Cost
    /// In their number and that of the leaves.
    fn pods_of(&self, leaves: &[u16]) -> Vec<PodId> {
        let of_leaf = |leaf: u16| {
            let from = self.by_leaf.partition_point(|(one, _)| *one < leaf);
            let here = self.by_leaf[from..].iter().take_while(move |(one, _)| *one == leaf);
            here.map(|(_, at)| *at)
        };
        let mut places: Vec<usize> = leaves.iter().flat_map(|leaf| of_leaf(*leaf)).collect();
        places.sort_unstable();
        places.into_iter().map(|at| self.pods[at]).collect()
    }

    /// Tells whether the queues may still take a pod, where what pods before it cost depended on their nodes.
    fn is_affordable(&self, trial: &Trial<'_>, pod: PodId, found: &Found) -> Result<(), Why> {
        if !self.by_memory {
            return Ok(());
        }
        let shape = &trial.shapes()[trial.pods()[pod].shape];
        let memory_mib = trial.nodes().gpus(found.place.node).memory_mib;
        limits::affords(trial, self.group, shape.charge_on(memory_mib))
    }

    /// The best node in an area; of those that are equal by what the pod itself asks for, in the most preferred domain.
    fn find(&self, trial: &mut Trial<'_>, pod: PodId, area: &Area<'_>) -> Option<Found> {
        let devices = Choice::By(self.config.device_placement);
        trial.state().looks.forget();
        let Some(tiers) = area.tiers else {
            return best_node(trial.state(), pod, area.nodes, devices);
        };
        best_node_of_tiers(trial.state(), pod, area.nodes, tiers, devices)
    }

    /// A gang that needs room to come waits as a whole: placements become nominations. So do those of any group for which
    /// its queues have no room before others have left.
    ///
    /// # Source
    /// docs/behaviour.md 1.12, `shouldPipeline`.
    fn postpone(&self, trial: &mut Trial<'_>) {
        let waits = trial.groups()[self.group].tree.leaves_with_pods().any(|(_, leaf)| {
            leaf.count.nominated > 0 && leaf.count.active - leaf.count.nominated < leaf.min
        });
        let is_placed = |trial: &Trial<'_>, pod: PodId| {
            let status = &trial.pods().status[pod];
            status.place.is_some() && status.nominee.is_none()
        };
        let given = || {
            let placed = self.pods.iter().copied().filter(|pod| is_placed(trial, *pod));
            placed.fold(Charge::default(), |sum, pod| sum + charge_of(trial, pod))
        };
        if !waits && !limits::waits_for_leaving(trial, self.group, given) {
            return;
        }
        for pod in self.pods {
            if is_placed(trial, *pod) {
                trial.postpone(*pod);
            }
        }
    }
}

/// Sums what a pod that has a place costs its queues there.
fn charge_of(state: &State, pod: PodId) -> Charge {
    let place = state.pods().status[pod].place.as_ref();
    let memory_mib = place.map_or(0, |place| state.nodes().gpus(place.node).memory_mib);
    state.shapes()[state.pods()[pod].shape].charge_on(memory_mib)
}

/// Nodes where active pods of some leaves are.
fn ranks_of(state: &State, group: GroupId, leaves: &[u16]) -> IdSet<Rank> {
    let tree = &state.groups()[group].tree;
    leaves
        .iter()
        .flat_map(|leaf| &tree.leaves[usize::from(*leaf)].pods)
        .filter(|pod| state.pods().status[**pod].is_active())
        .filter_map(|pod| {
            let status = &state.pods().status[*pod];
            state.nodes().index.rank(status.nominee.as_ref().or(status.place.as_ref())?.node)
        })
        .collect()
}

/// Tells whether an evicted pod that was offered a place may as well stay where it is.
fn can_stay(state: &State, pod: PodId, offer: &Found) -> bool {
    let Some(place) = state.pods().status[pod].place.as_ref() else { return false };
    if place.node != offer.place.node {
        return false;
    }
    if let Some(reserved) = &place.reserved
        && state.is_nominated(place.node, reserved)
    {
        return false;
    }
    let gpus = state.nodes().gpus(place.node);
    let Some(part) = device::part(&state.shapes()[state.pods()[pod].shape].facts.gpu, gpus) else {
        return true;
    };
    if offer.opened == 0 && offer.place.devices.iter().any(|id| !place.devices.contains(id)) {
        // It can share with others: that is what frees its own device.
        return false;
    }
    let capacity = device::capacity(gpus);
    let mut whole = state.nodes().plugin_gpus(place.node).1 / GPU_MILLI;
    state.nodes().devices.get(place.node).is_some_and(|devices| {
        place.devices.iter().all(|id| {
            let Some(device) = devices.iter().find(|device| device.id == *id) else {
                return false;
            };
            // A device that only leaving pods use counts as a whole one to come: nobody else may have it yet.
            whole -= i64::from(device.is_leaving());
            whole >= 0 && capacity - device.held + device.leaving - device.nominated >= part
        })
    })
}
