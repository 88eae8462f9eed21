//! Lets groups in by evicting others: consolidate, reclaim, preempt.
//!
//! # Source
//! spec/scheduling.md 4 to 6.

use std::cell::Cell;

use crate::{
    cluster::Cluster,
    cycle::{Cycle, Timestamp},
    entitlement::{Claim, Holding, entitled, may_give},
    hunt::{Aim, Hunt},
    ids::{Column, GroupId, PodId, QueueId},
    plan::{Eviction, Why},
    turns::{Turn, Turns},
    victims::Victims,
};

/// Which kind of eviction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Consolidate,
    Reclaim,
    Preempt,
}

impl Cycle<'_> {
    /// Gives every waiting group its turn to evict others; of a class that failed the rest is not tried.
    pub(crate) fn evict(&mut self, kind: Kind) {
        if kind == Kind::Consolidate && self.config.consolidation_victims_max == Some(0) {
            return;
        }
        let pairs: Vec<_> =
            self.cluster.agenda.pairs().map(|(queue, class, _)| (queue, class)).collect();
        let mut turns = Turns::new(self.cluster, pairs.into_iter());
        while let Some(turn) = turns.next() {
            if self.cluster.steps.total() >= self.config.steps_max {
                self.cluster.steps.spent = true;
                self.cluster.agenda.changed = true;
                return;
            }
            let listing = self.cluster.agenda.listing(turn.group);
            let listing = listing.filter(|listing| listing.queue == turn.queue);
            if listing.is_none_or(|now| (now.class, now.key) != (turn.class, turn.key)) {
                // A plan of this action took pods of it, so that it waits for something else now.
                turns.replace(self.cluster, turn, listing.map(|listing| listing.class));
                continue;
            }
            if self.is_delayed(turn.group) {
                // The next of its class may be older, and out of its delay.
                turns.skip(self.cluster, turn);
                continue;
            }
            if self.hunt(kind, turn) {
                self.cluster.agenda.claims.push(turn.group);
                self.cluster.relist(turn.group, &mut self.said);
                turns.replace(self.cluster, turn, [turn.class]);
            } else {
                turns.done(self.cluster, turn);
            }
        }
    }

    /// Whether a group may not evict yet; remembers when it may.
    fn is_delayed(&mut self, group: GroupId) -> bool {
        let row = &self.cluster.groups[group];
        let Some(facts) = &row.facts else { return true };
        if facts.preemption_delay <= 0 {
            return false;
        }
        let from = row.last_eviction.unwrap_or(facts.created).max(facts.created);
        let until = Timestamp(from.0.saturating_add(facts.preemption_delay));
        let delayed = self.now < until;
        if delayed {
            self.wake_at(until);
            if let Some(Why::NoRoom(no_room)) = self.cluster.groups[group].why.clone() {
                self.cluster.say(group, Why::Delayed { until, no_room }, &mut self.said);
            }
        }
        delayed
    }

    /// Remembers that something changes by time alone.
    pub(crate) fn wake_at(&mut self, at: Timestamp) {
        let wake = &mut self.cluster.agenda.wake;
        *wake = Some(wake.map_or(at, |before| before.min(at)));
    }

    /// Tries to let one group in; says whether it did.
    fn hunt(&mut self, kind: Kind, turn: Turn) -> bool {
        self.cluster.steps.groups += 1;
        let group = turn.group;
        let facts = self.cluster.groups[group].facts.as_ref().expect("a group that waits is live");
        let (priority, preemptible) = (facts.priority, facts.preemptible);
        let ask = self.cluster.class_ask(turn.class);
        let safety = Cell::new(None);
        let (aim, victims) = match kind {
            Kind::Consolidate => {
                if !preemptible {
                    return false;
                }
                let mut victims = Victims::new(self.cluster, |_| true, |other| other != group);
                if let Some(most) = self.config.consolidation_victims_max {
                    victims.limit(self.cluster, most as usize);
                }
                (Aim::Consolidate, victims)
            }
            Kind::Preempt => {
                if !self.cluster.within_quota(group, ask) {
                    return false;
                }
                let victims = Victims::new(
                    self.cluster,
                    |queue| queue == turn.queue,
                    |other| {
                        other != group
                            && self.cluster.priority(other) < priority
                            && self.is_prey(other, None, &safety)
                    },
                );
                (Aim::Preempt, victims)
            }
            Kind::Reclaim => {
                let holdings = self.cluster.holdings();
                let row =
                    |queue: QueueId| holdings[queue].expect("a queue of a live group is live");
                let claim = Claim { queue: turn.queue, request: ask, preemptible };
                if !entitled(&row, &claim) {
                    return false;
                }
                let victims = Victims::new(
                    self.cluster,
                    |queue| queue != turn.queue && may_give(&row, &claim, queue),
                    |other| self.is_prey(other, Some(turn.queue), &safety),
                );
                (Aim::Reclaim(holdings), victims)
            }
        };
        let hunt = Hunt::new(self.cluster, (self.config, self.now), group, aim, victims);
        let found = hunt.run(self.cluster);
        if found {
            self.cluster.steps.solved += 1;
            self.commit_evictions(kind, turn);
        } else if let Some(until) = safety.get() {
            self.wake_at(until);
        }
        found
    }

    /// Whether a running group may be a victim: one that is safe for now may only where it can spare pods.
    ///
    /// `safety` is set to when the first of those asked about is safe no more.
    fn is_prey(
        &self,
        group: GroupId,
        reclaimer: Option<QueueId>,
        safety: &Cell<Option<Timestamp>>,
    ) -> bool {
        let cluster = &*self.cluster;
        let safe = match reclaimer {
            Some(queue) => cluster.is_safe_from(group, queue, self.config, self.now),
            None => cluster.is_safe_from_peers(group, self.config, self.now),
        };
        safety.set(safety.get().into_iter().chain(safe).min());
        safe.is_none() || cluster.groups[group].tree.is_elastic()
    }

    fn commit_evictions(&mut self, kind: Kind, turn: Turn) {
        let for_group = turn.group;
        let victims: Vec<(PodId, GroupId)> = self.cluster.evicted_in_log();
        let mut reasons = std::collections::BTreeMap::new();
        for (pod, group) in victims {
            let reason = match kind {
                Kind::Consolidate => Eviction::Consolidate { for_group },
                Kind::Preempt => Eviction::Preempt { for_group },
                Kind::Reclaim => {
                    let queue =
                        self.cluster.groups[group].queue().expect("a group that runs has a queue");
                    let (from, to) = self.cluster.disputants(queue, turn.queue);
                    let state = |queue| Box::new(self.cluster.queue_state(queue));
                    Eviction::Reclaim { for_group, from: state(from), to: state(to) }
                }
            };
            reasons.insert(pod, (group, reason));
        }
        self.commit(&|pod| reasons.get(&pod).map(|(_, reason)| reason.clone()));
        let groups: std::collections::BTreeSet<GroupId> =
            reasons.values().map(|(group, _)| *group).collect();
        for group in groups {
            self.cluster.relist(group, &mut self.said);
        }
    }
}

impl Cluster {
    fn priority(&self, group: GroupId) -> i32 {
        self.groups[group].facts.as_ref().map_or(0, |facts| facts.priority)
    }

    /// Pods that the log evicts, with their groups.
    fn evicted_in_log(&self) -> Vec<(PodId, GroupId)> {
        self.log
            .iter()
            .filter(|op| op.was.phase.is_active())
            .filter_map(|op| Some((op.pod, self.pods[op.pod].group()?)))
            .collect()
    }

    /// The queues that a message quotes: the leaves where they are siblings, else the queues above them.
    ///
    /// # Source
    /// spec/scheduling.md 4.8.
    fn disputants(&self, from: QueueId, to: QueueId) -> (QueueId, QueueId) {
        let up = |queue: QueueId| self.queues.rows[queue].up;
        if up(from) == up(to) {
            (from, to)
        } else {
            (up(from).unwrap_or(from), up(to).unwrap_or(to))
        }
    }

    /// The numbers of all live queues.
    fn holdings(&self) -> Column<QueueId, Option<Holding>> {
        self.queues
            .rows
            .iter()
            .map(|(_, row)| {
                let facts = row.facts.as_ref()?;
                Some(Holding {
                    parent: row.up,
                    quota: facts.quota,
                    limit: facts.limit,
                    share: row.share,
                    allocated: row.used,
                    protected: row.fixed,
                    priority: facts.priority,
                    created: facts.created,
                    uid: facts.uid,
                })
            })
            .collect()
    }
}
