//! Finds victims whose room lets a group in.
//!
//! Sets of victims are tried in a trial: they are evicted, the group is placed, the victims are placed again where
//! they can be, and the result is judged. Two ways to pick sets: all that share a node with the latest candidate, for
//! pods that fit on one node; and the nodes that are cheapest to empty, for gangs.
//!
//! # Source
//! spec/scheduling.md 8.

mod bystanders;
mod fair;
mod pool;
mod proof;
mod tally;

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use pool::{Pool, useful_nodes};
use tally::{Demand, Tally};

use crate::{
    cluster::Cluster,
    cycle::{Config, Timestamp},
    entitlement::Holding,
    few::Few,
    ids::{Column, GroupId, NodeId, PodId, QueueId, Rank, ShapeId},
    idset::IdSet,
    order::GroupKey,
    placement::{Attempt, Mode},
    proof::Shortage,
    resources::{Charge, Lane},
    trial::Trial,
    turns::Turns,
    victims::{Batch, Victims},
};

/// What the evictions are for, and so what they have to satisfy.
#[derive(Debug)]
pub(crate) enum Aim {
    /// Take back what the queue is entitled to; with the queues' numbers before.
    Reclaim(Column<QueueId, Option<Holding>>),
    /// Go before lower priority in the same queue.
    Preempt,
    /// Move pods together.
    Consolidate,
}

impl Aim {
    /// The queues' numbers before anything was evicted, where they count.
    pub(crate) fn holdings(&self) -> Option<&Column<QueueId, Option<Holding>>> {
        match self {
            Self::Reclaim(holdings) => Some(holdings),
            Self::Preempt | Self::Consolidate => None,
        }
    }
}

/// What became of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Victims were found and evicted, and their room promised; it is kept in the log.
    Found,
    /// There are no such victims.
    Nothing,
    /// Counting shows that there cannot be.
    Disproved(Shortage),
    /// The steps it may take ran out.
    Undecided,
}

/// A search for victims for one group.
#[derive(Debug)]
pub(crate) struct Hunt<'a> {
    pub(crate) config: &'a Config,
    pub(crate) now: Timestamp,
    pub(crate) group: GroupId,
    pub(crate) aim: Aim,
    victims: Victims<'a>,
    /// The victims drawn so far, in order.
    order: Vec<Rc<Batch>>,
    /// The pods to place.
    pub(crate) pods: Few<PodId>,
    demand: Demand,
    /// Nodes that are of use as they are.
    nodes: IdSet<Rank>,
    /// What is free or coming free of GPUs on them, in milli-devices. Filled as asked.
    free_milli: Option<i64>,
    /// At how many steps of the cycle it ends.
    steps_end: u64,
}

/// How sets of victims are picked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pick {
    OneNode,
    ManyNodes,
}

impl<'a> Hunt<'a> {
    /// A search that may take so many steps.
    pub(crate) fn new(
        cluster: &mut Cluster,
        (config, now): (&'a Config, Timestamp),
        (group, aim): (GroupId, Aim),
        victims: Victims<'a>,
        steps_max: u64,
    ) -> Self {
        let pods = cluster.to_place(group);
        let nodes = useful_nodes(cluster, group);
        let demand = Demand::new(cluster, &pods);
        let steps_end = cluster.steps.total().saturating_add(steps_max).min(config.steps_max);
        let order = Vec::new();
        let free_milli = None;
        Self { config, now, group, aim, victims, order, pods, demand, nodes, free_milli, steps_end }
    }

    /// Finds victims, evicts them and promises their room.
    pub(crate) fn run(&mut self, cluster: &mut Cluster) -> Outcome {
        if self.pods.is_empty() || self.victims.is_empty() {
            return Outcome::Nothing;
        }
        if let Some(shortage) = self.disprove(cluster) {
            return Outcome::Disproved(shortage);
        }
        let base = Tally::new(cluster, &self.demand, &self.nodes);
        if [Pick::OneNode, Pick::ManyNodes].into_iter().any(|pick| self.pick(cluster, pick, &base))
        {
            Outcome::Found
        } else if self.is_spent(cluster) {
            Outcome::Undecided
        } else {
            Outcome::Nothing
        }
    }

    fn is_spent(&self, cluster: &Cluster) -> bool {
        cluster.steps.total() >= self.steps_end
    }

    /// Widens the number of pods that find room, then goes for all of them with the victims found on the way.
    fn pick(&mut self, cluster: &mut Cluster, pick: Pick, base: &Tally) -> bool {
        let all = self.pods.len();
        let mut found = Vec::new();
        let (mut good, mut bad) = (0, all + 1);
        let mut count = 1;
        while good < bad - 1 && !self.is_spent(cluster) {
            if let Some(victims) = self.find(cluster, (pick, count), &found, base) {
                found = victims;
                good = count;
                if good == all {
                    return true;
                }
            } else {
                bad = count;
            }
            count = if bad > all { (good * 2).min(all) } else { usize::midpoint(good, bad) };
            if bad <= all && good == 0 {
                return false;
            }
        }
        good > 0
            && good < all
            && bad <= all
            && self.find(cluster, (pick, all), &found, base).is_some()
    }

    /// The victim at a place in the order, drawn where it was not before.
    fn drawn(&mut self, cluster: &mut Cluster, at: usize) -> Option<Rc<Batch>> {
        if at == self.order.len() {
            let batch = self.victims.next(cluster)?;
            self.order.push(Rc::new(batch));
        }
        self.order.get(at).cloned()
    }

    /// The first set of victims that lets `count` pods in; when these are all, the trial is kept.
    ///
    /// What counting refuses is not tried: neither a set, nor any set of what came up so far.
    fn find(
        &mut self,
        cluster: &mut Cluster,
        (pick, count): (Pick, usize),
        known: &[Rc<Batch>],
        base: &Tally,
    ) -> Option<Vec<Rc<Batch>>> {
        let known_pods: Vec<PodId> =
            known.iter().flat_map(|batch| batch.pods.iter().copied()).collect();
        let mut held = base.clone();
        held.add(cluster, &self.demand, &self.nodes, &known_pods);
        if !known.is_empty()
            && self.demand.short(&held.room, count).is_none()
            && self.simulate(cluster, count, known)
        {
            return Some(known.to_vec());
        }
        if pick == Pick::OneNode && self.is_beyond_one(cluster, &held, count) {
            return None;
        }
        let known_pods: BTreeSet<PodId> = known_pods.into_iter().collect();
        let mut pool = Pool::default();
        let mut tally = held.clone();
        let mut tried = BTreeSet::new();
        for at in 0.. {
            let batch = self.drawn(cluster, at)?;
            cluster.steps.victims += 1;
            if self.is_spent(cluster) {
                return None;
            }
            if batch.pods.iter().any(|pod| known_pods.contains(pod)) {
                continue;
            }
            tally.add(cluster, &self.demand, &self.nodes, &batch.pods);
            pool.add(cluster, batch);
            if self.demand.short(&tally.room, count).is_some() {
                continue;
            }
            if pick == Pick::OneNode && self.is_short_there(cluster, (&held, &tally), &pool, count)
            {
                continue;
            }
            let sets = match pick {
                Pick::OneNode => pool.by_node(cluster),
                Pick::ManyNodes => self.many_nodes(cluster, &pool, count, known),
            };
            for set in sets {
                if self.is_spent(cluster) {
                    return None;
                }
                let pods: Vec<PodId> =
                    set.iter().flat_map(|at| &pool.batches[*at].pods).copied().collect();
                let room = held.with(cluster, &self.demand, &self.nodes, &pods);
                if set.is_empty()
                    || self.demand.short(&room, count).is_some()
                    || !tried.insert(set.clone())
                {
                    continue;
                }
                let mut victims = known.to_vec();
                victims.extend(set.iter().map(|at| pool.batches[*at].clone()));
                if self.simulate(cluster, count, &victims) {
                    return Some(victims);
                }
            }
        }
        None
    }

    /// Whether no node whatsoever would hold enough besides `held`: victims that are alone reach no further than one.
    fn is_beyond_one(&self, cluster: &mut Cluster, held: &Tally, count: usize) -> bool {
        if !cluster.agenda.runs_singles() || cluster.shapes.loose {
            return false;
        }
        let largest = cluster.nodes.largest().to_vec();
        let most = |(at, room): (usize, &usize)| {
            let shape = &cluster.shapes[self.demand.shapes[at].0];
            let fit = |(lane, amount): &(Lane, i64)| {
                let backed = cluster.claims.backs.contains_key(lane);
                let most = largest.get(lane.row()).copied().unwrap_or(0);
                if backed { i64::MAX } else { most / amount }
            };
            let most = shape.take.iter().map(fit).min().unwrap_or(0);
            room.saturating_add(usize::try_from(most).unwrap_or(0))
        };
        let room: Few<usize> = held.room.iter().enumerate().map(most).collect();
        self.demand.short(&room, count).is_some()
    }

    /// Whether the node of the latest candidate would hold too few besides `held`, with all candidates there gone.
    fn is_short_there(
        &self,
        cluster: &Cluster,
        (held, gone): (&Tally, &Tally),
        pool: &Pool,
        count: usize,
    ) -> bool {
        let Some(pod) = pool.batches.last().and_then(|batch| batch.pods.first()) else {
            return false;
        };
        let Some(node) = cluster.node_of(*pod).filter(|_| !pool.spread) else { return false };
        let room: Few<usize> = (0..)
            .zip(&held.room)
            .map(|(at, room): (usize, _)| room + gone.on(cluster, self.demand.shapes[at].0, node))
            .collect();
        self.demand.short(&room, count).is_some()
    }

    /// Tries one set of victims; when it lets all pods in, the trial is kept.
    fn simulate(&mut self, cluster: &mut Cluster, count: usize, victims: &[Rc<Batch>]) -> bool {
        cluster.steps.scenarios += 1;
        let mut trial = Trial::new(cluster);
        let mut evicted = BTreeSet::new();
        // Where they leave is of use too, as long as they are gone.
        let mut vacated: Few<Rank> = Few::default();
        for pod in victims.iter().flat_map(|batch| &batch.pods) {
            let node = trial.node(*pod).expect("a victim holds a place");
            if let Some(rank) = trial.nodes.index.rank(node)
                && self.nodes.insert(rank)
            {
                vacated.push(rank);
            }
            trial.evict(*pod);
            evicted.insert(*pod);
        }
        let placed = self.place_all(&mut trial, count, &evicted);
        for rank in &vacated {
            self.nodes.remove(*rank);
        }
        if !placed || !self.is_fair(&trial, count, victims) {
            return false;
        }
        if count == self.pods.len() {
            trial.keep();
        }
        true
    }

    /// Places the group and, where there is room, its victims, in the order in which they would wait.
    fn place_all(&self, trial: &mut Trial<'_>, count: usize, evicted: &BTreeSet<PodId>) -> bool {
        let losers = evicted.iter().filter_map(|pod| trial.pods[*pod].group());
        let mut groups: Vec<GroupId> = losers.chain([self.group]).collect();
        groups.sort_unstable();
        groups.dedup();
        let memory_min = trial.nodes.memory_min();
        let mut waiting = Vec::with_capacity(groups.len());
        let mut lists: BTreeMap<GroupId, Few<PodId>> = BTreeMap::new();
        for group in groups {
            let pods = if group == self.group {
                self.pods[..count].iter().copied().collect()
            } else {
                let state = &trial.pods.state;
                trial.groups[group].tree.to_place(&|pod| {
                    state[pod].is_waiting()
                        || (evicted.contains(&pod) && state[pod].nominee.is_none())
                })
            };
            let key = GroupKey::of(trial, group).expect("a group that runs or waits is live");
            let queue =
                trial.groups[group].queue().expect("a group that runs or waits has a queue");
            let ask = |sum: Charge, pod: &PodId| sum + trial.ask(*pod, memory_min);
            waiting.push((queue, key, pods.iter().fold(Charge::default(), ask)));
            lists.insert(group, pods);
        }
        let bystanders = trial.cluster().bystanders(&mut waiting);
        waiting.extend(bystanders);
        let mut turns = Turns::of_groups(trial, waiting.into_iter());
        let mut failed: BTreeSet<(QueueId, Vec<ShapeId>)> = BTreeSet::new();
        while let Some(turn) = turns.next() {
            let Some(pods) = lists.get(&turn.group) else {
                turns.done(trial, turn);
                continue;
            };
            let kind = trial.kind_of(turn.group, pods);
            let mut nested = trial.nested();
            let placed = !kind.as_ref().is_some_and(|kind| failed.contains(kind))
                && Attempt::new(self.config, turn.group, Mode::Promise, pods)
                    .run(&mut nested, Some(&self.nodes))
                    .is_ok();
            if placed {
                nested.keep();
            } else {
                drop(nested);
                if turn.group == self.group {
                    return false;
                }
                failed.extend(kind);
            }
            turns.done(trial, turn);
        }
        true
    }

    /// Sets of victims that empty the cheapest nodes: the fewest nodes that could do, then more and more.
    fn many_nodes(
        &mut self,
        cluster: &Cluster,
        pool: &Pool,
        count: usize,
        known: &[Rc<Batch>],
    ) -> Vec<Vec<usize>> {
        let quota = |pod: &PodId| cluster.shapes[cluster.pods[*pod].shape].charge.0[2];
        let needs: Vec<i64> = self.pods[..count].iter().map(quota).collect();
        let least = needs.iter().copied().min().unwrap_or(0);
        let mut freed: BTreeMap<NodeId, i64> = BTreeMap::new();
        for pod in known.iter().flat_map(|batch| &batch.pods) {
            *freed.entry(cluster.node_of(*pod).expect("a victim holds a place")).or_default() +=
                cluster.charge(*pod).0[2];
        }
        let free = |node: NodeId| cluster.free_gpu(node) + freed.get(&node).copied().unwrap_or(0);
        // What there is without the nodes of candidates.
        let mut baseline = *self.free_milli.get_or_insert_with(|| {
            let node = |rank| cluster.free_gpu(cluster.nodes.index.node(rank));
            self.nodes.iter().map(node).sum()
        });
        for node in pool.by_node.keys() {
            let rank = cluster.nodes.index.rank(*node);
            if rank.is_some_and(|rank| self.nodes.contains(rank)) {
                baseline -= cluster.free_gpu(*node);
            }
        }
        let elsewhere = freed.iter().filter(|(node, _)| !pool.by_node.contains_key(node));
        baseline += elsewhere.map(|(_, freed)| freed).sum::<i64>();
        let remaining = (needs.iter().sum::<i64>() - baseline).max(0);
        let mut nodes: Vec<(i64, usize, NodeId)> = pool
            .by_node
            .iter()
            .map(|(node, (first, _, amount))| (free(*node) + amount, *first, *node))
            .filter(|(capacity, _, _)| *capacity >= least)
            .collect();
        nodes.sort_unstable();
        let mut sum = 0;
        let mut fewest = 0;
        while sum < remaining {
            let Some((capacity, _, _)) = nodes.get(fewest) else { return Vec::new() };
            sum += capacity;
            fewest += 1;
        }
        let mut sizes = vec![fewest];
        let mut more = 1;
        while *sizes.last().expect("there is a first") < nodes.len() {
            sizes.push((fewest + more).min(nodes.len()));
            more *= 2;
        }
        sizes
            .into_iter()
            .map(|size| {
                let set: BTreeSet<usize> = nodes[..size]
                    .iter()
                    .flat_map(|(_, _, node)| pool.by_node[node].1.iter().copied())
                    .collect();
                set.into_iter().collect()
            })
            .collect()
    }
}
