//! Begins a search for victims, where the group may evict anybody and counting does not show that it is in vain.

use crate::{
    actions::Cycle,
    base::{
        few::Few,
        ids::{GroupId, PodId, QueueId},
        resources::Charge,
    },
    cluster::Cluster,
    decided::proof::{EvictionKind, Shortage},
    evict::{
        Aim, SearchState, disprove, queue_snapshot,
        victims::{Basis, Rule, VictimFilter, Victims},
    },
    pending::scheduling_order::Turn,
    queues::{
        entitlement::{Reclaimer, entitled, may_give},
        limits,
    },
};

/// Outcome of looking whether a search for victims is worth its steps.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most searches end where they began, and a box costs more than a move"
)]
pub(super) enum Begin {
    /// The group may evict nobody in this way.
    Ineligible,
    /// Counting shows that evictions do not help.
    Disproved(Shortage),
    /// It has to be tried.
    Search(SearchState),
}

impl Cycle<'_> {
    /// Begins the search for victims for a group whose turn it is.
    pub(super) fn begin(&mut self, kind: EvictionKind, turn: Turn) -> Begin {
        match kind {
            EvictionKind::Consolidate => self.begin_consolidation(turn.group),
            EvictionKind::Preempt => self.begin_preemption(turn),
            EvictionKind::Reclaim => self.begin_reclaim(turn),
        }
    }

    /// # Source
    /// docs/behaviour.md 6.
    fn begin_consolidation(&mut self, group: GroupId) -> Begin {
        let (_, preemptible) = self.terms(group);
        if !preemptible {
            return Begin::Ineligible;
        }
        let pods = self.cluster.state.to_place(group);
        if let Some((needed_milli, most_milli)) =
            disprove::lasting_gpu_gap(&self.cluster.state, &pods)
        {
            return Begin::Disproved(Shortage::Gpus { needed_milli, most_milli });
        }
        self.offer();
        let aim = self.aim(group, EvictionKind::Consolidate, Rule::Anyone);
        let (config, now) = (self.config, self.now);
        let Cluster { state, pending, .. } = &mut *self.cluster;
        let filter = VictimFilter { basis: Basis { config, now, pending }, group, rule: aim.rule };
        let mut victims = Victims::new(state, &filter, |_| true);
        if let Some(most) = config.consolidation_victims_max {
            victims = victims.limit(state, &filter, most as usize);
        }
        Begin::Search(SearchState::new(state, aim, Few::default(), victims))
    }

    /// # Source
    /// docs/behaviour.md 5.
    fn begin_preemption(&mut self, turn: Turn) -> Begin {
        let group = turn.group;
        let (priority, preemptible) = self.terms(group);
        if !preemptible {
            // GPU memory counts against the largest GPUs there are, as in every check of bounds.
            let state = &self.cluster.state;
            let largest = state.nodes().memory_max();
            let ask = |sum, pod: &PodId| sum + state.ask(*pod, largest);
            let request = state.to_place(group).iter().fold(Charge::default(), ask);
            if !limits::within_quota(state, group, request) {
                return Begin::Ineligible;
            }
        }
        self.offer();
        let aim = self.aim(group, EvictionKind::Preempt, Rule::Below(priority));
        self.search_in(aim, Few::One([turn.queue]))
    }

    /// # Source
    /// docs/behaviour.md 4.
    fn begin_reclaim(&mut self, turn: Turn) -> Begin {
        let group = turn.group;
        let (_, preemptible) = self.terms(group);
        let state = &self.cluster.state;
        let request = self.cluster.pending.class_ask(state, turn.class);
        let row = |queue: QueueId| queue_snapshot::holding(state, queue);
        let claim = Reclaimer { queue: turn.queue, request, preemptible, mig: false };
        if !entitled(&row, &claim) {
            return Begin::Ineligible;
        }
        self.offer();
        let Cluster { state, pending, .. } = &*self.cluster;
        let row = |queue: QueueId| queue_snapshot::holding(state, queue);
        let others = |queue: QueueId| queue != turn.queue && may_give(&row, &claim, queue);
        let running = pending.running.iter().map(|(id, _)| id);
        let givers: Few<QueueId> = running.filter(|id| others(*id)).collect();
        let aim = self.aim(group, EvictionKind::Reclaim, Rule::SafeFrom(turn.queue));
        self.search_in(aim, givers)
    }

    /// The purpose of a search, with what bounds it.
    fn aim(&self, group: GroupId, kind: EvictionKind, rule: Rule) -> Aim {
        Aim { group, kind, rule, is_bounded: self.config.action_steps_max.is_some() }
    }

    /// Begins a search among the groups of some queues, which are in order.
    fn search_in(&mut self, aim: Aim, queues: Few<QueueId>) -> Begin {
        let (config, now) = (self.config, self.now);
        let Cluster { state, pending, .. } = &mut *self.cluster;
        let basis = Basis { config, now, pending };
        let filter = VictimFilter { basis, group: aim.group, rule: aim.rule };
        let gives = |queue: QueueId| queues.binary_search(&queue).is_ok();
        let victims = Victims::new(state, &filter, gives);
        Begin::Search(SearchState::new(state, aim, queues, victims))
    }

    /// The priority of a group that waits, and whether it may be evicted itself.
    fn terms(&self, group: GroupId) -> (i32, bool) {
        let facts = self.cluster.state.groups()[group].facts.as_ref();
        let facts = facts.expect("a group that waits is live");
        (facts.priority, facts.preemptible)
    }
}
