//! Another try for a gang of unlike pods, or of pods that want to be near each other: the hardest to place first, going
//! back where one gets stuck.
//!
//! One pod after the other at its best node places nearly every gang. Where pods differ it may fail though a way
//! exists: a pod that may go anywhere takes the one node of another, or large pods leave gaps that the small don't
//! fill (docs/behaviour.md 14.3, Q33). The search is bounded by counted steps: in a cycle, after which it goes on in the
//! next one where it stopped as long as nothing changed, and in all, so that it may still miss a way.

use std::{
    cmp::{Ordering, Reverse},
    collections::BTreeMap,
};

use crate::{
    base::{
        id_set::IdSet,
        ids::{DeviceId, PodId, Rank},
        resources::{Lane, QueueLane},
    },
    decided::{steps::Progress, when::When},
    fit::{
        best_node::{Found, best_node},
        filter::{self, Choice, Fill},
    },
    place::{Attempt, Mode, capacity_bound},
    state::{device::Device, trial::Trial},
    told::{placement::Placement, pod::Place},
};

/// Number of places that one search may try in a cycle besides one for each pod.
pub(super) const STEPS: usize = 256;

/// Number of these that all searches of an attempt may try together: each of them looks in another domain.
const TURN_STEPS: usize = 4 * STEPS;

/// Number of places that searches which go on may try in all.
const STEPS_MAX: u64 = 1 << 16;

/// Number of ways to share its GPUs that it tries on a node, those that share the fullest first.
const WAYS_MAX: usize = 64;

/// The point where a search stopped.
#[derive(Clone, Debug)]
struct Packing {
    /// Choices left to the pods that have a place, and the place.
    placed: Vec<(Choices, Found)>,
    next: Choices,
    tries: u64,
}

/// Searches for other nodes for a group, in the order in which they come up: one for each domain that fails.
///
/// One alone is kept, the first that stopped. Those after it have one try, and begin anew once it is over: where they
/// stopped would be as much to keep for each domain as there are pods.
#[derive(Clone, Default, Debug)]
pub(super) struct Repacking {
    /// Number of the first of them that came to their ends and found nothing.
    over: usize,
    /// The first that stopped, and its number.
    stopped: Option<(usize, Packing)>,
    /// True if an earlier turn left it.
    goes_on: bool,
    /// Number of those that came up in this turn.
    came: usize,
    /// Number of places that they tried in this turn besides one for each pod.
    more: usize,
    /// Number of places that those which were kept tried, in all turns.
    tries: u64,
}

/// The turn of a search.
struct Turn {
    /// Its number.
    at: usize,
    /// Number of pods that it is for.
    pods: usize,
    /// The point to go on from.
    before: Option<Packing>,
    /// Number of places that it may try in this turn, and how many of them are left.
    steps_max: usize,
    steps: usize,
    /// Number of places that it may try in all.
    tries_max: u64,
}

impl Repacking {
    /// Tells how far the one is that goes on.
    pub(super) fn progress(&self) -> Option<Progress> {
        let progress = Progress::Packing { tries: self.tries, tries_max: STEPS_MAX };
        self.stopped.is_some().then_some(progress)
    }

    /// Ends the turn of all of them.
    pub(super) fn end_turn(&mut self) {
        self.goes_on = self.stopped.is_some();
        (self.came, self.more) = (0, 0);
    }

    /// Begins the next one, for so many pods, and gives it its part of the steps: `left` searches share them, it included.
    /// None where it is over, or waits for one before it.
    fn begin(&mut self, pods: usize, left: usize) -> Option<Turn> {
        let at = self.came;
        self.came += 1;
        if at < self.over {
            return None;
        }
        let first = self.stopped.as_ref().filter(|_| self.goes_on).map(|(first, _)| at.cmp(first));
        let before = match first {
            Some(Ordering::Greater) => return None,
            Some(Ordering::Equal) => self.stopped.take().map(|(_, packing)| packing),
            Some(Ordering::Less) | None => None,
        };
        let rest = TURN_STEPS.saturating_sub(self.more);
        let part = if before.is_some() { rest } else { rest / left.max(1) };
        let steps = pods + part.min(STEPS);
        let tried = before.as_ref().map_or(0, |before| before.tries);
        let share = (STEPS_MAX / left.max(1) as u64).max((pods + STEPS) as u64);
        let tries_max = share.min(tried + STEPS_MAX.saturating_sub(self.tries));
        Some(Turn { at, pods, before, steps_max: steps, steps, tries_max })
    }

    /// Notes the outcome of a turn.
    fn end(&mut self, turn: &Turn, packed: Packed) {
        let tried = turn.steps_max - turn.steps;
        self.more += tried.saturating_sub(turn.pods);
        match packed {
            Packed::Found => {}
            Packed::Nothing => self.over += usize::from(turn.at == self.over),
            Packed::Stopped(packing) => {
                if self.stopped.as_ref().is_none_or(|(first, _)| turn.at < *first) {
                    self.tries += tried as u64;
                    self.stopped = Some((turn.at, packing));
                }
            }
        }
    }
}

/// Outcome of a search.
enum Packed {
    Found,
    /// There is no way, or none was found in all the steps.
    Nothing,
    Stopped(Packing),
}

/// The choices left for one pod.
#[derive(Clone, Debug)]
struct Choices {
    pod: PodId,
    /// Place in the log of what was tried before it was placed.
    mark: usize,
    /// Nodes that were not tried.
    nodes: IdSet<Rank>,
    /// The last node that was tried, where other shared GPUs of it are to be tried as well.
    open: Option<Open>,
}

/// A node on which a pod may share other GPUs.
#[derive(Clone, Debug)]
struct Open {
    rank: Rank,
    /// Fills of those that it had first, whatever their numbers: a search that goes on finds others.
    first: Vec<Fill>,
    /// Number of choices that were tried.
    tried: usize,
}

impl Choices {
    fn new(trial: &mut Trial<'_>, pod: PodId, nodes: Option<&IdSet<Rank>>) -> Self {
        Self { pod, mark: trial.mark(), nodes: all(trial, pod, nodes), open: None }
    }

    /// The next place: with other shared GPUs of the last node, then the best of the nodes that were not tried.
    fn next(&mut self, trial: &mut Trial<'_>, placement: Placement) -> Option<Found> {
        let state = trial.state();
        while let Some(open) = &mut self.open {
            let node = IdSet::from_iter([open.rank]);
            let choice = Choice::Nth(open.tried);
            open.tried += 1;
            let found = best_node(state, self.pod, Some(&node), choice);
            match found.filter(|_| open.tried <= WAYS_MAX) {
                Some(found)
                    if filter::shared_fills(state, self.pod, &found.place) == open.first => {}
                Some(found) => return Some(found),
                None => self.open = None,
            }
        }
        let found = best_node(state, self.pod, Some(&self.nodes), Choice::By(placement))?;
        let rank = state.nodes().index.rank(found.place.node).expect("a found node has a rank");
        self.nodes.remove(rank);
        let shares = !found.place.devices.is_empty();
        self.open = shares.then(|| Open {
            rank,
            first: filter::shared_fills(state, self.pod, &found.place),
            tried: 0,
        });
        Some(found)
    }
}

impl Attempt<'_> {
    /// Places all of `pods` on `nodes`, by any order and at any of them; says whether it did.
    ///
    /// `left` sets of nodes are tried one after the other, these included.
    ///
    /// # Cost
    /// At most 256 places more than there are pods, and 1,024 more in all searches of an attempt; each found by up to three
    /// searches for a node.
    pub(super) fn repack(
        &mut self,
        trial: &mut Trial<'_>,
        pods: &[PodId],
        nodes: Option<&IdSet<Rank>>,
        left: usize,
    ) -> bool {
        if !self.is_worth_repacking(trial, pods)
            || capacity_bound::gpu_gap(trial.state(), pods).is_some()
        {
            return false;
        }
        let repacking = &mut self.others.get_or_insert_default().repacking;
        let Some(mut turn) = repacking.begin(pods.len(), left) else { return false };
        let pods = hardest_first(trial, pods);
        let mut nested = trial.nested();
        let packed = self.search(&mut nested, &pods, nodes, &mut turn);
        let is_found = matches!(packed, Packed::Found);
        if is_found {
            nested.keep();
        }
        self.others.get_or_insert_default().repacking.end(&turn, packed);
        is_found
    }

    fn search(
        &self,
        trial: &mut Trial<'_>,
        pods: &[PodId],
        nodes: Option<&IdSet<Rank>>,
        turn: &mut Turn,
    ) -> Packed {
        let Some(first) = pods.first() else { return Packed::Found };
        let before = turn.before.take();
        let tried = before.as_ref().map_or(0, |before| before.tries);
        let before = before.and_then(|before| self.go_on(trial, before));
        let Packing { mut placed, next, mut tries } = before.unwrap_or_else(|| Packing {
            placed: Vec::with_capacity(pods.len()),
            next: Choices::new(trial, *first, nodes),
            // One that cannot go on begins anew, but not for ever.
            tries: tried,
        });
        let mut next = Some(next);
        while let Some(mut choices) = next.take().or_else(|| Some(placed.pop()?.0)) {
            trial.rewind(choices.mark);
            if tries >= turn.tries_max {
                return Packed::Nothing;
            }
            if turn.steps == 0 {
                return Packed::Stopped(Packing { placed, next: choices, tries });
            }
            turn.steps -= 1;
            tries += 1;
            let Some(found) = choices.next(trial, self.config.device_placement) else { continue };
            let pod = choices.pod;
            placed.push((choices, found.clone()));
            if self.is_affordable(trial, pod, &found).is_err() {
                continue;
            }
            self.put(trial, pod, found);
            match pods.get(placed.len()) {
                Some(pod) => next = Some(Choices::new(trial, *pod, nodes)),
                None => return Packed::Found,
            }
        }
        Packed::Nothing
    }

    /// Places what had a place when a search stopped; nothing where that shared a GPU of a nomination that was made anew.
    fn go_on(&self, trial: &mut Trial<'_>, mut before: Packing) -> Option<Packing> {
        if !renumber(trial, before.placed.iter_mut().map(|(_, found)| found)) {
            return None;
        }
        for (choices, found) in &mut before.placed {
            choices.mark = trial.mark();
            self.put(trial, choices.pod, found.clone());
        }
        before.next.mark = trial.mark();
        Some(before)
    }

    /// Tells whether another order or other devices may make a difference: only for pods that wait for real.
    fn is_worth_repacking(&self, trial: &Trial<'_>, pods: &[PodId]) -> bool {
        let shape = |pod: &PodId| trial.pods()[*pod].shape;
        let alike = pods.windows(2).all(|pair| shape(&pair[0]) == shape(&pair[1]));
        let parts = pods.iter().any(|pod| trial.shapes()[shape(pod)].shared > 1);
        // Where the first one goes says where the others may.
        let tied = pods.iter().any(|pod| !trial.shapes()[shape(pod)].facts.pod_affinity.is_empty());
        self.mode == Mode::Real && pods.len() > 1 && (!alike || parts || tied)
    }

    pub(super) fn put(&self, trial: &mut Trial<'_>, pod: PodId, found: Found) {
        if self.mode == Mode::Real && found.room == When::Now {
            trial.place(pod, found.place, found.opened);
        } else {
            trial.nominate(pod, found.place, found.opened);
        }
    }
}

/// Gives GPUs that these open the numbers that they would have now; says whether all others that they share are there.
fn renumber<'f>(trial: &Trial<'_>, placed: impl Iterator<Item = &'f mut Found>) -> bool {
    let mut numbers: BTreeMap<DeviceId, DeviceId> = BTreeMap::new();
    let mut next = trial.opened();
    for Found { place: Place { node, devices, .. }, opened, .. } in placed {
        let shared = devices.len() - *opened as usize;
        for (at, device) in devices.iter_mut().enumerate() {
            if at >= shared {
                let number = DeviceId::opened(next);
                next += 1;
                numbers.insert(*device, number);
                *device = number;
            } else if let Some(number) = numbers.get(device) {
                *device = *number;
            } else {
                let devices = trial.nodes().devices.get(*node);
                let is_there = |ledger: &Vec<Device>| ledger.iter().any(|one| one.id == *device);
                if !devices.is_some_and(is_there) {
                    return false;
                }
            }
        }
    }
    true
}

/// The nodes that a pod may go to among some.
fn all(trial: &mut Trial<'_>, pod: PodId, nodes: Option<&IdSet<Rank>>) -> IdSet<Rank> {
    let shape = trial.pods()[pod].shape;
    trial.state().ensure_feasible(shape);
    let mut all = trial.nodes().index.feasible(shape).clone();
    if let Some(nodes) = nodes {
        all.intersect(nodes);
    }
    all
}

/// Pods with the fewest nodes first, then the largest.
fn hardest_first(trial: &mut Trial<'_>, pods: &[PodId]) -> Vec<PodId> {
    let mut pods = pods.to_vec();
    pods.sort_by_cached_key(|pod| {
        let nodes = all(trial, *pod, None).len();
        let shape = &trial.shapes()[trial.pods()[*pod].shape];
        let gpus = shape.charge[QueueLane::Gpu].max(filter::part_micro(trial, shape) / 1000);
        (nodes, shape.shared > 0, Reverse(gpus), Reverse(shape.amount(Lane::CPU)))
    });
    pods
}
