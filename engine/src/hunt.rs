//! Finds victims whose room lets a group in.
//!
//! Sets of victims are tried in a trial: they are evicted, the group is placed, the victims are placed again where
//! they can be, and the result is judged. Two ways to pick sets: all that share a node with the latest candidate, for
//! pods that fit on one node; and the nodes that are cheapest to empty, for gangs.
//!
//! # Source
//! spec/scheduling.md 8.

mod pool;

use std::collections::{BTreeMap, BTreeSet};

use pool::{Pool, useful_nodes};

use crate::{
    cluster::{Cluster, Phase},
    cycle::{Config, Timestamp},
    entitlement::{Claim, Holding, may_take},
    ids::{Column, GroupId, NodeId, PodId, QueueId, Rank, ShapeId},
    idset::IdSet,
    order::GroupKey,
    placement::{Attempt, Mode},
    resources::{Charge, GPU_MILLI, Lane},
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

/// A search for victims for one group.
#[derive(Debug)]
pub(crate) struct Hunt<'a> {
    pub(crate) config: &'a Config,
    pub(crate) now: Timestamp,
    pub(crate) group: GroupId,
    pub(crate) aim: Aim,
    pub(crate) victims: Victims,
    /// The pods to place.
    pub(crate) pods: Vec<PodId>,
    /// Nodes that are of use as they are.
    nodes: IdSet<Rank>,
}

/// How sets of victims are picked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pick {
    OneNode,
    ManyNodes,
}

impl<'a> Hunt<'a> {
    pub(crate) fn new(
        cluster: &Cluster,
        (config, now): (&'a Config, Timestamp),
        group: GroupId,
        aim: Aim,
        victims: Victims,
    ) -> Self {
        let pods = cluster.to_place(group);
        let nodes = useful_nodes(cluster, group);
        Self { config, now, group, aim, victims, pods, nodes }
    }

    /// Finds victims, evicts them and promises their room; everything is kept in the log. Says whether it did.
    pub(crate) fn run(&self, cluster: &mut Cluster) -> bool {
        if self.pods.is_empty() || self.victims.is_empty() || self.is_hopeless(cluster) {
            return false;
        }
        [Pick::OneNode, Pick::ManyNodes].into_iter().any(|pick| self.pick(cluster, pick))
    }

    /// Widens the number of pods that find room, then goes for all of them with the victims found on the way.
    fn pick(&self, cluster: &mut Cluster, pick: Pick) -> bool {
        let all = self.pods.len();
        let mut found = Vec::new();
        let (mut good, mut bad) = (0, all + 1);
        let mut count = 1;
        while good < bad - 1 && cluster.steps.total() < self.config.steps_max {
            if let Some(victims) = self.find(cluster, pick, count, &found) {
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
        good > 0 && good < all && bad <= all && self.find(cluster, pick, all, &found).is_some()
    }

    /// The first set of victims that lets `count` pods in; when these are all, the trial is kept.
    fn find(
        &self,
        cluster: &mut Cluster,
        pick: Pick,
        count: usize,
        known: &[Batch],
    ) -> Option<Vec<Batch>> {
        if !known.is_empty() && self.simulate(cluster, count, known) {
            return Some(known.to_vec());
        }
        let mut queue = self.victims.clone();
        let known_pods: BTreeSet<PodId> =
            known.iter().flat_map(|batch| batch.pods.iter().copied()).collect();
        let mut pool = Pool::default();
        let mut tried = BTreeSet::new();
        while let Some(batch) = queue.next(cluster) {
            if batch.pods.iter().any(|pod| known_pods.contains(pod)) {
                continue;
            }
            pool.add(cluster, batch);
            let sets = match pick {
                Pick::OneNode => pool.by_node(cluster),
                Pick::ManyNodes => self.many_nodes(cluster, &pool, count, known),
            };
            for set in sets {
                if cluster.steps.total() >= self.config.steps_max {
                    return None;
                }
                if set.is_empty() || !tried.insert(set.clone()) {
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

    /// Tries one set of victims; when it lets all pods in, the trial is kept.
    fn simulate(&self, cluster: &mut Cluster, count: usize, victims: &[Batch]) -> bool {
        cluster.steps.scenarios += 1;
        let mut trial = Trial::new(cluster);
        let mut nodes = self.nodes.clone();
        let mut evicted = BTreeSet::new();
        for pod in victims.iter().flat_map(|batch| &batch.pods) {
            let node = trial.node(*pod).expect("a victim holds a place");
            nodes.extend(trial.nodes.index.rank(node));
            trial.evict(*pod);
            evicted.insert(*pod);
        }
        if !self.place_all(&mut trial, count, &evicted, &nodes)
            || !self.is_fair(&trial, count, victims)
        {
            return false;
        }
        if count == self.pods.len() {
            trial.keep();
        }
        true
    }

    /// Places the group and, where there is room, its victims, in the order in which they would wait.
    fn place_all(
        &self,
        trial: &mut Trial<'_>,
        count: usize,
        evicted: &BTreeSet<PodId>,
        nodes: &IdSet<Rank>,
    ) -> bool {
        let groups: BTreeSet<GroupId> =
            evicted.iter().filter_map(|pod| trial.pods[*pod].group()).chain([self.group]).collect();
        let mut waiting = Vec::new();
        for group in groups {
            let pods = if group == self.group {
                self.pods[..count].to_vec()
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
            waiting.push((queue, key, pods));
        }
        let mut turns = Turns::of_groups(
            trial,
            waiting.iter().map(|(queue, key, pods)| {
                (
                    *queue,
                    *key,
                    pods.iter().fold(Charge::default(), |sum, pod| {
                        sum + trial.ask(*pod, trial.nodes.memory_min())
                    }),
                )
            }),
        );
        let pods: BTreeMap<GroupId, Vec<PodId>> =
            waiting.into_iter().map(|(_, key, pods)| (key.group, pods)).collect();
        let mut failed: BTreeSet<Vec<ShapeId>> = BTreeSet::new();
        while let Some(turn) = turns.next() {
            let pods = &pods[&turn.group];
            let shapes: Vec<ShapeId> = pods.iter().map(|pod| trial.pods[*pod].shape).collect();
            let alike = failed.contains(&shapes);
            let mut nested = trial.nested();
            let placed = !alike
                && Attempt::new(self.config, turn.group, Mode::Promise, pods)
                    .run(&mut nested, Some(nodes))
                    .is_ok();
            if placed {
                nested.keep();
            } else {
                drop(nested);
                if turn.group == self.group {
                    return false;
                }
                failed.insert(shapes);
            }
            turns.done(trial, turn);
        }
        true
    }

    /// Whether the result is one that this kind of eviction may bring about.
    fn is_fair(&self, trial: &Trial<'_>, count: usize, victims: &[Batch]) -> bool {
        match &self.aim {
            Aim::Consolidate => victims.iter().flat_map(|batch| &batch.pods).all(|pod| {
                let state = &trial.pods.state[*pod];
                state.phase != Phase::Releasing || state.nominee.is_some()
            }),
            Aim::Preempt => Self::spares_young(trial, victims, |group| {
                trial.is_safe_from_peers(group, self.config, self.now).is_some()
            }),
            Aim::Reclaim(holdings) => {
                let queue =
                    trial.groups[self.group].queue().expect("a group that waits has a queue");
                let young =
                    |group| trial.is_safe_from(group, queue, self.config, self.now).is_some();
                Self::spares_young(trial, victims, young)
                    && self.may_reclaim(trial, count, victims, holdings)
            }
        }
    }

    /// Whether every victim that is safe for now keeps its minimum.
    ///
    /// # Source
    /// spec/scheduling.md 4.6.
    fn spares_young(trial: &Trial<'_>, victims: &[Batch], young: impl Fn(GroupId) -> bool) -> bool {
        let groups: BTreeSet<GroupId> = victims.iter().map(|batch| batch.group).collect();
        groups.into_iter().filter(|group| young(*group)).all(|group| {
            trial.groups[group].tree.leaves.iter().all(|leaf| {
                let lost = victims
                    .iter()
                    .filter(|batch| batch.group == group)
                    .flat_map(|batch| &batch.pods)
                    .filter(|pod| leaf.pods.contains(pod))
                    .count();
                (leaf.min as usize) + lost <= leaf.count.used as usize
            })
        })
    }

    /// # Source
    /// spec/scheduling.md 4.4; what a victim loses is split by what it spares and what it needs.
    fn may_reclaim(
        &self,
        trial: &Trial<'_>,
        count: usize,
        victims: &[Batch],
        holdings: &Column<QueueId, Option<Holding>>,
    ) -> bool {
        let memory = trial.nodes.memory_min();
        let request = self.pods[..count]
            .iter()
            .fold(Charge::default(), |sum, pod| sum + trial.ask(*pod, memory));
        let group = &trial.groups[self.group];
        let facts = group.facts.as_ref().expect("a group that waits is live");
        let claim = Claim {
            queue: facts.queue.expect("a group that waits has a queue"),
            request,
            preemptible: facts.preemptible,
        };
        let mut lost: Vec<(QueueId, Vec<Charge>)> = Vec::new();
        let mut groups: Vec<GroupId> = Vec::new();
        for batch in victims {
            if !groups.contains(&batch.group) {
                groups.push(batch.group);
            }
        }
        for group in groups {
            let pods: Vec<PodId> = victims
                .iter()
                .filter(|batch| batch.group == group)
                .flat_map(|batch| batch.pods.clone())
                .collect();
            let queue = trial.groups[group].queue().expect("a group that runs has a queue");
            let blocks = self.blocks(trial, group, &pods);
            match lost.iter_mut().find(|(other, _)| *other == queue) {
                Some((_, all)) => all.extend(blocks),
                None => lost.push((queue, blocks)),
            }
        }
        let row = |queue: QueueId| holdings[queue].expect("a queue of a live group is live");
        may_take(&row, &claim, &lost, self.config.saturation_multiplier_milli)
    }

    /// What a victim group loses: each pod beyond its minimum by itself, then the core as one.
    fn blocks(&self, trial: &Trial<'_>, group: GroupId, pods: &[PodId]) -> Vec<Charge> {
        let gone = |pod: &PodId| {
            let stays = trial.pods.state[*pod].is_active();
            !(stays && self.config.reclaim_may_relocate)
        };
        let mut blocks = Vec::new();
        let mut core = Charge::default();
        for leaf in &trial.groups[group].tree.leaves {
            let lost: Vec<PodId> =
                pods.iter().copied().filter(|pod| leaf.pods.contains(pod)).collect();
            for (at, pod) in lost.iter().enumerate() {
                let amount = if gone(pod) { trial.held(*pod) } else { Charge::default() };
                if at < leaf.min as usize {
                    core += amount;
                } else if !amount.is_zero() {
                    blocks.push(amount);
                }
            }
        }
        if !core.is_zero() {
            blocks.push(core);
        }
        blocks
    }

    /// Whether counting alone shows that no set of victims is enough: per shape, the pods that nodes could take
    /// if every candidate were gone.
    fn is_hopeless(&self, cluster: &mut Cluster) -> bool {
        let mut freed: BTreeMap<NodeId, BTreeMap<Lane, i64>> = BTreeMap::new();
        for group in self.victims.groups() {
            for pod in cluster.groups[group].tree.leaves.iter().flat_map(|leaf| &leaf.pods) {
                if let Some(node) = cluster.node_of(*pod).filter(|_| cluster.is_evictable(*pod)) {
                    let shape = &cluster.shapes[cluster.pods[*pod].shape];
                    let lanes = freed.entry(node).or_default();
                    for (lane, amount) in &shape.take {
                        *lanes.entry(*lane).or_default() += amount;
                    }
                    *lanes.entry(Lane::GPU).or_default() +=
                        i64::from(shape.shared) * GPU_MILLI + shape.named_milli;
                }
            }
        }
        let mut needs: BTreeMap<ShapeId, i64> = BTreeMap::new();
        for pod in &self.pods {
            *needs.entry(cluster.pods[*pod].shape).or_default() += 1;
        }
        needs.into_iter().any(|(shape, count)| {
            cluster.know(shape);
            let row = &cluster.shapes[shape];
            let index = &cluster.nodes.index;
            let mut room = 0;
            for rank in index.feasible(shape).iter() {
                let node = index.node(rank);
                let gone = freed.get(&node);
                if gone.is_none() && !self.nodes.contains(rank) {
                    continue;
                }
                room += row
                    .take
                    .iter()
                    .map(|(lane, amount)| {
                        let more = gone.and_then(|lanes| lanes.get(lane)).copied().unwrap_or(0);
                        (cluster.nodes.free(node, *lane) + more).max(0) / amount
                    })
                    .min()
                    .unwrap_or(0);
                if room >= count {
                    return false;
                }
            }
            true
        })
    }

    /// Sets of victims that empty the cheapest nodes: the fewest nodes that could do, then more and more.
    fn many_nodes(
        &self,
        cluster: &Cluster,
        pool: &Pool,
        count: usize,
        known: &[Batch],
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
        let mut baseline = 0;
        for rank in self.nodes.iter() {
            let node = cluster.nodes.index.node(rank);
            if !pool.by_node.contains_key(&node) {
                baseline += free(node);
            }
        }
        for (node, freed) in &freed {
            let useful =
                cluster.nodes.index.rank(*node).is_some_and(|rank| self.nodes.contains(rank));
            if !useful && !pool.by_node.contains_key(node) {
                baseline += freed;
            }
        }
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
