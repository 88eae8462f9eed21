//! Proofs by counting that no victims let a group in, so that no search is begun.
//!
//! Bounds from the coarsest to the finest: GPUs in all, pods per shape over all nodes, domains for pods that keep apart
//! (Hall's condition for one-each), the roomiest domain for pods that stay together, and domains for sub-groups that each
//! stay together. Each holds for every set of
//! victims, so what they refuse is refused for good until something changes.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    base::{
        few::Few,
        few_map::FewMap,
        id_set::IdSet,
        ids::{PodId, QueueId, Rank, ShapeId, Symbol, TopologyId},
        resources::{Charge, QueueLane},
    },
    decided::proof::{EvictionKind, Shortage},
    evict::{Capacity, Demand, KINDS_MAX, VictimSearch, queue_snapshot},
    fit::pod_affinity,
    pending::Pending,
    place::{
        capacity_bound,
        domain_bound::{DomainShortage, domain_bound},
    },
    queues::entitlement::{Reclaimer, excess},
    state::{State, slices::SliceRow, tree::Member},
    told::group::Level,
};

impl VictimSearch<'_> {
    /// Says why no victims help, where counting shows it.
    ///
    /// # Cost
    /// In the queues; in the victims only as far as it takes to see that there is room, unless pods keep apart or
    /// together.
    pub(super) fn disprove(&mut self, state: &mut State) -> Option<Shortage> {
        let coarse = self.short_of_gpus(state).or_else(|| self.short_of_nodes(state));
        let coarse = coarse.or_else(|| self.short_of_company(state));
        if coarse.is_some() || !self.is_choosy(state) {
            return coarse;
        }
        let emptied = self.emptied(state)?;
        self.short_of_domains(state, &emptied)
            .or_else(|| self.short_of_room_together(state, &emptied))
            .or_else(|| self.short_of_rooms(state, &emptied))
    }

    /// Counts the comparisons that may be made next: as many as the action has steps for, and no more than counting makes at
    /// once. Nothing bounds them where nothing bounds actions.
    fn comparisons_left(&self, state: &State) -> u64 {
        if !self.is_bounded() {
            return u64::MAX;
        }
        let end = self.steps_end.max(self.counting_end);
        state.steps.comparisons_until(end).min(COUNTED_AT_ONCE)
    }

    /// Takes pods of a victim away, as long as no more comparisons than `most` were made; tells whether all are gone.
    fn count_gone(&self, state: &State, tally: &mut Capacity, pods: &[PodId], most: u64) -> bool {
        pods.chunks(PODS_AT_ONCE).all(|pods| {
            tally.add(state, &self.search.demand, &self.search.nodes, pods);
            tally.compared <= most
        })
    }

    /// Tells whether pods of the group keep apart or have to stay together.
    fn is_choosy(&self, state: &State) -> bool {
        let apart = self.search.pods.iter().any(|pod| {
            !state.shapes()[state.pods()[*pod].shape].facts.pod_anti_affinity.is_empty()
        });
        let tree = &state.groups()[self.search.group].tree;
        let together = tree.sets.iter().map(|set| set.topology);
        let mut together = together.chain(tree.leaves.iter().map(|leaf| leaf.topology));
        apart || together.any(|one| one.is_some_and(|one| one.required.is_some()))
    }

    /// GPUs in all: what is free, and what other queues have to give.
    fn short_of_gpus(&self, state: &mut State) -> Option<Shortage> {
        let (needed_milli, mut most_milli) = capacity_bound::gpu_gap(state, &self.search.pods)?;
        match self.search.kind {
            EvictionKind::Consolidate if !may_take_less(state) => {}
            // Amounts that queues are charged for parts of GPUs are rounded, so that they bound nothing exactly.
            EvictionKind::Reclaim
                if state.nodes().index.shared.is_empty() && !may_hold_more(state) =>
            {
                most_milli += self.reclaimable_milli(state, needed_milli - most_milli)?;
            }
            EvictionKind::Consolidate | EvictionKind::Reclaim | EvictionKind::Preempt => {
                return None;
            }
        }
        (most_milli < needed_milli).then_some(Shortage::Gpus { needed_milli, most_milli })
    }

    /// The most GPUs that other queues lose before they are within their shares; nothing where it is not less than
    /// what is needed.
    ///
    /// # Cost
    /// In the queues; where it does not suffice, in the pods that may be evicted.
    fn reclaimable_milli(&self, state: &mut State, needed_milli: i64) -> Option<i64> {
        let facts = state.groups()[self.search.group].facts.as_ref()?;
        let memory = state.nodes().memory_min();
        let request = self
            .search
            .pods
            .iter()
            .fold(Charge::default(), |sum, pod| sum + state.ask(*pod, memory));
        let preemptible = facts.preemptible;
        let claim = Reclaimer { queue: facts.queue?, request, preemptible, mig: false };
        let at = &*state;
        let row = |queue: QueueId| queue_snapshot::holding(at, queue);
        // Per branch: what its victims hold, and what it loses before its last loss.
        let mut branches: FewMap<QueueId, (i64, i64)> = FewMap::default();
        for queue in self.search.victims.queues() {
            let held = row(queue);
            let (branch, excess) = excess(&row, &claim, queue, QueueLane::Gpu);
            let (held_milli, excess_milli) = branches.or_default(branch);
            *held_milli += held.allocated[QueueLane::Gpu] - held.protected[QueueLane::Gpu];
            *excess_milli = excess.unwrap_or(i64::MAX);
        }
        // The last loss begins within the excess, and losses are multiples of a unit.
        let most = |unit: i64, largest: i64| {
            branches.iter().fold(0, |sum: i64, (_, (held, excess))| {
                let lost = match *excess {
                    ..=0 => 0,
                    i64::MAX => *held,
                    excess => (excess - 1) / unit * unit + largest,
                };
                sum.saturating_add(lost.min(*held))
            })
        };
        if most(1, 1) >= needed_milli {
            return None;
        }
        let (mut unit, mut largest, mut compared) = (0, 0, 0);
        let compared_max = self.comparisons_left(state);
        let (filter, pending) = (self.filter(), self.basis.pending);
        let mut passed = 0;
        for group in self.search.victims.groups(state, &filter, &mut passed) {
            let mut block = 0;
            // As `evictable` lists them; there are many groups, of one pod mostly.
            for (_, leaf) in state.groups()[group].tree.leaves_with_pods() {
                compared += leaf.pods.len();
                for pod in leaf.pods.iter().filter(|pod| pending.is_evictable(state, **pod)) {
                    let milli = state.charge(*pod)[QueueLane::Gpu];
                    // Most pods ask for the same.
                    if milli != unit {
                        unit = gcd(unit, milli);
                    }
                    block += milli;
                }
            }
            largest = largest.max(block);
            if u64::from(count(compared)) > compared_max {
                break;
            }
        }
        let compared = u64::from(count(compared));
        state.steps.compared += compared + passed;
        // Where some were not looked at nothing is shown.
        (compared <= compared_max).then(|| most(unit.max(1), largest))
    }

    /// Pods per shape over all nodes. Nothing is shown where there are more victims and shapes than are counted.
    fn short_of_nodes(&mut self, state: &mut State) -> Option<Shortage> {
        let all = self.search.pods.len();
        let left = self.comparisons_left(state);
        let most = left.min(COUNTED_MAX);
        let mut tally = Capacity::new(state, &self.search.demand, &self.search.nodes, left);
        let mut short = self.search.demand.short(&tally.room, all);
        let filter = self.filter();
        if short.is_some() {
            self.search.victims.narrow(state, &filter);
        }
        let mut passed = 0;
        for group in self.search.victims.groups(state, &filter, &mut passed) {
            if short.is_none() {
                break;
            }
            let pods: Few<PodId> = evictable(state, self.basis.pending, group).collect();
            let is_counted = self.count_gone(state, &mut tally, &pods, most);
            short = self.search.demand.short(&tally.room, all).filter(|_| is_counted);
        }
        state.steps.compared += tally.compared + passed;
        short.map(|(needed, most)| Shortage::Pods { needed: count(needed), most: count(most) })
    }

    /// All nodes with every candidate gone; none where there are more of them than are counted.
    fn emptied(&mut self, state: &mut State) -> Option<Capacity> {
        let filter = self.filter();
        self.search.victims.narrow(state, &filter);
        let left = self.comparisons_left(state);
        let most = left.min(COUNTED_MAX);
        let mut tally = Capacity::new(state, &self.search.demand, &self.search.nodes, left);
        let mut passed = 0;
        for group in self.search.victims.groups(state, &filter, &mut passed) {
            let pods: Few<PodId> = evictable(state, self.basis.pending, group).collect();
            if !self.count_gone(state, &mut tally, &pods, most) {
                break;
            }
        }
        state.steps.compared += tally.compared + passed;
        (tally.compared <= most).then_some(tally)
    }

    /// Pods that keep away from each other take a domain each.
    ///
    /// # Cost
    /// In the terms of pods that are unlike, and in the nodes for each shape and topology key.
    fn short_of_domains(&self, state: &mut State, emptied: &Capacity) -> Option<Shortage> {
        let nodes = self.reachable(state, emptied);
        let left = self.comparisons_left(state);
        let mut kinds: BTreeMap<_, BTreeMap<Symbol, (PodId, usize)>> = BTreeMap::new();
        let mut firsts: Vec<PodId> = Vec::new();
        for pod in &self.search.pods {
            let facts = &state.pods()[*pod];
            let kind = kinds.entry((facts.shape, &facts.labels)).or_default();
            let (first, pods) = kind.entry(facts.namespace).or_insert((*pod, 0));
            *pods += 1;
            firsts.extend((first == pod).then_some(*pod));
        }
        let (mut known, mut compared) = (BTreeMap::new(), 0);
        let short = firsts.into_iter().find_map(|pod| {
            let facts = &state.pods()[pod];
            let alike = &kinds[&(facts.shape, &facts.labels)];
            state.shapes()[facts.shape].facts.pod_anti_affinity.iter().find_map(|term| {
                let excluded = alike.values();
                let excluded =
                    excluded.filter(|(other, _)| pod_affinity::matches(state, *other, term, pod));
                let needed: usize = excluded.map(|(_, pods)| pods).sum();
                compared += 1;
                if needed == 0 || u64::from(count(compared)) > left {
                    return None;
                }
                let key = term.topology_key;
                let most = known.entry((facts.shape, key)).or_insert_with(|| {
                    compared += NODE * nodes.len();
                    apart_most(state, emptied, &nodes, facts.shape, key)
                });
                let (needed, most) = (count(needed), count(*most));
                (needed > most).then_some(Shortage::Apart { key, needed, most })
            })
        });
        state.steps.compared += u64::from(count(compared));
        short
    }

    /// Pods that have to stay together fit into one domain.
    fn short_of_room_together(&self, state: &mut State, emptied: &Capacity) -> Option<Shortage> {
        let tree = &state.groups()[self.search.group].tree;
        let sets = (0..).zip(tree.sets.iter()).map(|(at, set)| (Member::Set(at), set.topology));
        let leaves = (0..).zip(&tree.leaves).map(|(at, leaf)| (Member::Leaf(at), leaf.topology));
        let required: Vec<(Vec<u16>, TopologyId, Level)> = sets
            .chain(leaves)
            .filter_map(|(member, constraint)| {
                let constraint = constraint?;
                Some((tree.leaves_below(member), constraint.topology, constraint.required?))
            })
            .collect();
        let nodes = self.reachable(state, emptied);
        let left = self.comparisons_left(state);
        let mut compared = 0;
        let short = required.into_iter().find_map(|(leaves, topology, level)| {
            compared += u64::from(count(self.search.pods.len().saturating_mul(leaves.len())));
            if compared > left {
                return None;
            }
            let below =
                |pod: &PodId| state.pods()[*pod].leaf.is_some_and(|leaf| leaves.contains(&leaf));
            let pods: Vec<PodId> = self.search.pods.iter().copied().filter(below).collect();
            let mut demand = Demand::new(state, &pods);
            if self.is_bounded() {
                demand = demand.hardest(state, KINDS_MAX);
            }
            compared += u64::from(count(NODE * nodes.len() * demand.shapes.len()));
            if compared > left {
                return None;
            }
            let room = |domain: &IdSet<Rank>, shape: ShapeId| -> usize {
                IdSet::all_of([domain, &nodes, state.nodes().index.feasible(shape)])
                    .map(|rank| emptied.on(state, shape, state.nodes().index.node(rank)))
                    .sum()
            };
            let domains = state.nodes().index.domains.get(topology)?.as_ref()?;
            let mut nearest: Option<(usize, usize)> = None;
            for domain in domains.of_level(level.0)? {
                let rooms: Vec<usize> =
                    demand.shapes.iter().map(|(shape, _)| room(domain, *shape)).collect();
                let short = demand.short(&rooms, pods.len())?;
                if nearest.is_none_or(|(_, most)| short.1 > most) {
                    nearest = Some(short);
                }
            }
            let (needed, most) = nearest?;
            let (needed, most) = (count(needed), count(most));
            Some(Shortage::Together { topology, level: level.0, needed, most })
        });
        if self.is_bounded() {
            state.steps.compared += compared.min(left);
        }
        short
    }

    /// Sub-groups that have to stay together, each by itself, find enough domains.
    fn short_of_rooms(&self, state: &mut State, emptied: &Capacity) -> Option<Shortage> {
        let nodes = self.reachable(state, emptied);
        let index = &state.nodes().index;
        let left = self.comparisons_left(state);
        let compared = Cell::new(0);
        let room = |shape, rank: Rank| {
            if compared.get() >= left {
                // Nodes that are not looked at are no shortage.
                return self.search.pods.len();
            }
            compared.set(compared.get() + u64::from(count(NODE)));
            if nodes.contains(rank) { emptied.on(state, shape, index.node(rank)) } else { 0 }
        };
        let domain_bound = domain_bound(state, self.search.group, &self.search.pods, room);
        if self.is_bounded() {
            state.steps.compared += compared.get();
        }
        let DomainShortage { topology, level, pods, needed, most } = domain_bound?;
        let [pods, needed, most] = [pods, needed, most].map(count);
        Some(Shortage::Domains { topology, level, pods, needed, most })
    }

    /// Pods that have to be near others: those are near no node that the pods may go to, and no victim brings any.
    ///
    /// # Cost
    /// Nothing where no pod has to; else in the candidates and in the nodes, for each of such pods that are unlike.
    fn short_of_company(&self, state: &mut State) -> Option<Shortage> {
        let mut known: BTreeSet<(ShapeId, Symbol)> = BTreeSet::new();
        let (mut compared, most) = (0, self.comparisons_left(state).min(COUNTED_MAX));
        let is_alone = self.search.pods.iter().any(|pod| {
            let facts = &state.pods()[*pod];
            if state.shapes()[facts.shape].facts.pod_affinity.is_empty()
                || !known.insert((facts.shape, facts.namespace))
                || compared > most
            {
                return false;
            }
            state.ensure_tally(*pod);
            self.is_alone(state, *pod, &mut compared)
        });
        state.steps.compared += compared;
        is_alone.then_some(Shortage::Company)
    }

    /// Tells whether a pod whose neighbours were counted can be near those that it has to be near on no node, whoever leaves.
    ///
    /// Where they stay, they are near the nodes that they are near now. What is placed with it, or placed again elsewhere, may
    /// come to be near any.
    fn is_alone(&self, state: &State, pod: PodId, compared: &mut u64) -> bool {
        let shape = state.pods()[pod].shape;
        let terms = &state.shapes()[shape].facts.pod_affinity;
        let is_meant = |other: &PodId| {
            terms.iter().all(|term| pod_affinity::matches(state, *other, term, pod))
        };
        let own = state.pods()[pod].namespace;
        // All pods of a group are of one namespace.
        let is_of_meant = |other: PodId| {
            let namespace = state.pods()[other].namespace;
            terms.iter().all(|term| state.means(term, own, namespace))
        };
        let filter = self.filter();
        let (mut passed, mut groups, mut looked) = (0, 0, 0);
        let comes_with_it = self.search.pods.iter().any(is_meant);
        let may_come = comes_with_it
            || self.search.victims.groups(state, &filter, &mut passed).any(|group| {
                let pods = &state.groups()[group].pods;
                groups += 1;
                if !pods.iter().next().is_some_and(|first| is_of_meant(*first)) {
                    return false;
                }
                looked += pods.len();
                pods.iter().any(is_meant)
            });
        let keys: BTreeSet<Symbol> = terms.iter().map(|term| term.topology_key).collect();
        let domains = |node| keys.iter().filter_map(move |key| state.topology_pair(node, *key));
        let near: BTreeSet<(Symbol, Symbol)> = state.tally().near().flat_map(domains).collect();
        let index = &state.nodes().index;
        let is_near = |rank: Rank| {
            keys.iter().all(|key| {
                let domain = state.topology_pair(index.node(rank), *key);
                domain.is_some_and(|domain| may_come || near.contains(&domain))
            })
        };
        let feasible = index.feasible(shape);
        *compared += passed + groups + state.tally().size();
        *compared += u64::from(count(NODE * (looked + self.search.pods.len() + feasible.len())));
        !feasible.iter().any(is_near)
    }

    /// Nodes that are of use, as they are or emptied.
    fn reachable(&self, state: &State, emptied: &Capacity) -> IdSet<Rank> {
        let mut nodes = self.search.nodes.clone();
        nodes.extend(emptied.ranks(state));
        nodes
    }
}

/// As [`capacity_bound::gpu_gap`], wherever pods are moved; none where some may take less elsewhere than they hold.
pub(crate) fn lasting_gpu_gap(state: &State, pods: &[PodId]) -> Option<(i64, i64)> {
    capacity_bound::gpu_gap(state, pods).filter(|_| !may_take_less(state))
}

/// Tells whether pods may take less of GPUs elsewhere than where they are.
fn may_take_less(state: &State) -> bool {
    let by_memory = || state.shapes().in_use().any(|(_, shape, _)| shape.gpu_mib > 0);
    let unlike = state.nodes().memory_sizes.len() > 1 && !state.nodes().index.shared.is_empty();
    may_hold_more(state) || (unlike && by_memory())
}

/// Tells whether pods may hold more GPUs than their queues are charged for: devices of claims, and whole ones for parts
/// of which nobody said where they are.
fn may_hold_more(state: &State) -> bool {
    let held = |row: &SliceRow| row.facts.gpu && row.held > 0;
    let mut slices = state.nodes().slices.iter();
    state.nodes().unassigned > 0
        || (state.nodes().claims_or_zones > 0 && slices.any(|(_, rows)| rows.iter().any(held)))
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Comparisons that looking for a node's domain and room costs.
const NODE: usize = 8;

/// Victims of unlike pods are counted in so many comparisons, which take some 100 ms: what more would show the search finds out
/// by itself, within its steps.
const COUNTED_MAX: u64 = 1 << 20;

/// So many comparisons are made at once where actions are bounded, though more steps are left: some 25 ms.
pub(super) const COUNTED_AT_ONCE: u64 = 1 << 18;
/// So many pods of one victim are counted before it is asked whether that was enough.
const PODS_AT_ONCE: usize = 64;

/// Counts the domains by a topology key that have room for a pod of a shape, each for one that keeps apart.
fn apart_most(
    state: &State,
    emptied: &Capacity,
    nodes: &IdSet<Rank>,
    shape: ShapeId,
    key: Symbol,
) -> usize {
    let mut domains: BTreeSet<(Symbol, Symbol)> = BTreeSet::new();
    // A node without the label is in no domain: it bounds nothing but itself.
    let mut loose = 0;
    for rank in state.nodes().index.feasible(shape).common(nodes) {
        let node = state.nodes().index.node(rank);
        let room = emptied.on(state, shape, node);
        match state.topology_pair(node, key) {
            Some(spot) if room > 0 => drop(domains.insert(spot)),
            Some(_) => {}
            None => loose += room,
        }
    }
    domains.len() + loose
}

/// A number of pods or domains, as proofs give it.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn evictable(
    state: &State,
    pending: &Pending,
    group: crate::GroupId,
) -> impl Iterator<Item = PodId> {
    let pods = state.groups()[group].tree.pods().copied();
    pods.filter(|pod| pending.is_evictable(state, *pod))
}
