//! Lets groups in by evicting others: consolidate, reclaim, preempt.
//!
//! # Source
//! docs/behaviour.md 4 to 6.

use std::collections::BTreeSet;

use crate::{
    actions::{Cycle, allowance::Allowance},
    base::{
        few::Few,
        few_map::FewMap,
        ids::{GroupId, PodId, QueueId},
        time::Timestamp,
    },
    cluster::Cluster,
    decided::{
        plan::{Eviction, QueueState, Why},
        proof::EvictionKind,
    },
    evict::{queue_snapshot::QueueSnapshot, resume::SearchKey},
    fit::pod_affinity,
    pending::{
        depth::DepthWindow,
        rounds::{Pair, Passed},
        scheduling_order::{Parts, SchedulingOrder, Turn},
    },
    state::{State, nominations::Beneficiary, tree::Member},
};

impl Cycle<'_> {
    /// Gives every waiting group its turn to evict others; of a class that failed the rest is not tried.
    ///
    /// No search delays another for long: each has its part of the cycle's steps. One that ran out of them comes after
    /// all others the next time and goes on where it stopped, over news too where actions are bounded; where they are not it
    /// begins anew after a change, with twice as many. Those whom an earlier cycle left without a turn come first, and those last
    /// whose queue, or whose namespace in it, took its part of the steps before; where namespaces had no turn in the cycles
    /// before, each of them has one at first.
    pub(crate) fn evict(&mut self, kind: EvictionKind) {
        if kind == EvictionKind::Consolidate && self.config.consolidation_victims_max == Some(0) {
            return;
        }
        self.begun = self.cluster.state.steps.total();
        self.cluster.searches.settle(&self.cluster.pending, self.is_bounded());
        let goes_on = self.cluster.pending.rounds.is_evicting(kind);
        let wake = self.cluster.pending.wake.take();
        let is_over = self.evict_in_round(kind, goes_on);
        let Cluster { state, pending, searches, .. } = &mut *self.cluster;
        // Those who had their turns in earlier cycles of the round were not asked again since.
        let until = pending.rounds.note_wake(kind, pending.wake);
        pending.wake = [wake, until].into_iter().flatten().min();
        if self.config.action_steps_max.is_none() {
            pending.rounds.pass_of(kind, Passed::new());
        }
        if is_over
            && let Some(has_changed) = pending.rounds.end(kind, pending.epoch.number(), self.now)
        {
            state.steps.spent |= goes_on && has_changed;
            if self.config.action_steps_max.is_some() {
                searches.end_round(kind);
            }
        }
    }

    /// Gives groups their turns in a round, which goes on if an earlier cycle began it; tells whether all of them had theirs.
    fn evict_in_round(&mut self, kind: EvictionKind, goes_on: bool) -> bool {
        let front = self.front(kind);
        let left = self.cluster.pending.rounds.take_left_of(kind);
        let pending = &self.cluster.pending;
        let left: BTreeSet<_> = pending.pairs(left.into_iter()).collect();
        let pairs = pending.class_queues().map(|(queue, class, _)| (queue, class));
        let is_due = |pair: &(QueueId, _)| {
            self.config.action_steps_max.is_none()
                || left.contains(pair)
                || pending.rounds.is_due(kind, *pair)
        };
        let mut pairs: Vec<Pair> = pairs.filter(is_due).collect();
        let mut allowance = Allowance::new(self.config.action_steps_max);
        let Cluster { state, pending, .. } = &mut *self.cluster;
        let asked = std::mem::take(pending.rounds.asked(Some(kind)));
        if goes_on {
            allowance.share(pending.sharers(state, pairs.iter().copied()), asked);
        }
        loop {
            let (first, others): (Vec<_>, Vec<_>) =
                pairs.into_iter().partition(|pair| left.contains(pair));
            let slow = |(queue, class): &(QueueId, _)| {
                self.cluster.pending.patience(*queue, *class, kind) > 0
            };
            let (last, others): (Vec<_>, Vec<_>) = others.into_iter().partition(slow);
            for pairs in [first, others, last] {
                if !self.evict_for(kind, pairs, front.clone(), &mut allowance) {
                    let rounds = &mut self.cluster.pending.rounds;
                    rounds.leave_of(kind, allowance.take_put_off().into_iter().flatten());
                    *rounds.asked(Some(kind)) = allowance.into_asked();
                    return false;
                }
            }
            let Some(put_off) = allowance.resume() else { break };
            let put_off = self.cluster.pending.pairs(put_off.into_iter().flatten());
            let put_off: BTreeSet<_> = put_off.collect();
            pairs = put_off.into_iter().collect();
        }
        !self.cluster.pending.rounds.leaves_some(kind)
    }

    /// Gives groups of some class queues their turns; tells whether all had one before the steps were spent, or wait until
    /// other queues, or others in their queue, had theirs.
    fn evict_for(
        &mut self,
        kind: EvictionKind,
        pairs: Vec<Pair>,
        front: Option<DepthWindow>,
        allowance: &mut Allowance,
    ) -> bool {
        let Cluster { state, pending, .. } = &*self.cluster;
        let passed = pending.rounds.passed_of(kind, pending);
        let mut turns = SchedulingOrder::new(state, pending, pairs.into_iter(), front, passed);
        let mut is_over = true;
        while let Some(turn) = turns.next() {
            if self.cluster.state.steps.total() >= self.config.steps_max || allowance.is_spent() {
                if self.config.action_steps_max.is_some() {
                    self.cluster.pending.rounds.leave_of(kind, turns.heads());
                }
                self.cluster.state.steps.spent = true;
                is_over = false;
                break;
            }
            if allowance.defer(&self.cluster.state, &self.cluster.pending, &mut turns, turn) {
                continue;
            }
            let begun = self.cluster.state.steps;
            self.turned = begun.total();
            self.evict_in_turn(kind, &mut turns, turn);
            allowance.take(&self.cluster.state, turn, &begun);
        }
        let Parts { passed, deferred, .. } = turns.into_parts();
        allowance.put_off(&self.cluster.state, deferred);
        self.cluster.pending.rounds.pass_of(kind, passed);
        is_over
    }

    /// Gives one group its turn, where it is listed as it was when turns began.
    fn evict_in_turn(&mut self, kind: EvictionKind, turns: &mut SchedulingOrder, turn: Turn) {
        let listing = self.cluster.pending.listing(turn.group);
        let listing = listing.filter(|listing| listing.queue == turn.queue);
        if listing.is_none_or(|now| (now.class, now.key) != (turn.class, turn.key)) {
            // A plan of this action took pods of it, so that it waits for something else now.
            let Cluster { state, pending, .. } = &*self.cluster;
            turns.replace(state, pending, turn, listing.map(|listing| listing.class));
            return;
        }
        self.cluster.searches.note_turn(SearchKey { group: turn.group, kind });
        let is_untried = self.is_untried(turn);
        if self.is_delayed(turn.group)
            || self.cluster.state.nominations.awaits(turn.group)
            || (is_untried && self.may_retract(turn.group))
        {
            // The next of its class may be older, and out of its delay, or nobody was evicted for it yet.
            self.pass_over(turns, turn);
            return;
        }
        if (is_untried && self.catch_up(turn)) || self.search_victims(kind, turn) {
            self.relist(turn.group);
            let Cluster { state, pending, .. } = &*self.cluster;
            turns.replace(state, pending, turn, [turn.class]);
        } else if pod_affinity::is_repelled(&mut self.cluster.state, turn.group)
            || self.count_barred(kind, turn) > 0
        {
            // What keeps it out need not keep out others of its class.
            self.pass_over(turns, turn);
        } else {
            turns.done(&self.cluster.state, &self.cluster.pending, turn);
            turns.forget(turn);
        }
    }

    /// Gives the next group of the same class its turn.
    fn pass_over(&self, turns: &mut SchedulingOrder, turn: Turn) {
        if !turns.skip(&self.cluster.state, &self.cluster.pending, turn) {
            turns.forget(turn);
        }
    }

    /// The groups that the action looks at, where their number is bounded.
    fn front(&mut self, kind: EvictionKind) -> Option<DepthWindow> {
        let depth = self.config.queue_depth.of(kind)?;
        let (cluster, now) = (&*self.cluster, self.now);
        let mut delayed = Vec::new();
        let front = DepthWindow::new(&cluster.pending, depth, |group| {
            let facts = cluster.state.groups()[group].facts.as_ref();
            let preemptible = facts.is_some_and(|facts| facts.preemptible);
            let is_delayed = delayed_until(&cluster.state, group).is_some_and(|until| now < until);
            delayed.extend(is_delayed.then_some(group));
            let waits = is_delayed || cluster.state.nominations.awaits(group);
            !waits && (preemptible || kind != EvictionKind::Consolidate)
        });
        for group in delayed {
            self.is_delayed(group);
        }
        Some(front)
    }

    /// Tells whether a group may not evict yet; remembers when it may, and says so beside why the group waits.
    fn is_delayed(&mut self, group: GroupId) -> bool {
        let until = delayed_until(&self.cluster.state, group).filter(|until| self.now < *until);
        let known = self.cluster.state.groups()[group].why.as_ref();
        let was_delayed = matches!(known, Some(Why::Delayed { .. }));
        if until.is_none() && !was_delayed {
            return false;
        }
        let why = match known.cloned() {
            Some(Why::Delayed { why, .. }) => Some(why),
            other => other.map(Box::new),
        };
        let next = match until {
            Some(until) => {
                self.wake_at(until);
                why.map(|why| Why::Delayed { until, why })
            }
            None => why.map(|why| *why),
        };
        if let Some(next) = next {
            self.say(group, next);
        }
        until.is_some()
    }

    /// Remembers that something changes by time alone.
    pub(crate) fn wake_at(&mut self, at: Timestamp) {
        let wake = &mut self.cluster.pending.wake;
        *wake = Some(wake.map_or(at, |before| before.min(at)));
    }

    pub(super) fn commit_evictions(
        &mut self,
        kind: EvictionKind,
        turn: Turn,
        before: &QueueSnapshot,
    ) {
        let for_group = turn.group;
        let mut reasons = FewMap::default();
        // In the order of the log, which no number decides.
        let mut victims: Few<(PodId, GroupId)> = Few::default();
        for (pod, group) in evicted_in_log(&self.cluster.state) {
            if reasons.get(pod).is_some() {
                continue;
            }
            let reason = match kind {
                EvictionKind::Consolidate => Eviction::Consolidate { for_group },
                EvictionKind::Preempt => Eviction::Preempt { for_group },
                EvictionKind::Reclaim => {
                    let queue = self.cluster.state.groups()[group]
                        .queue()
                        .expect("a group that runs has a queue");
                    let (from, to) = disputants(&self.cluster.state, queue, turn.queue);
                    let told = |queue| Box::new(self.state_before(queue, before));
                    Eviction::Reclaim { for_group, from: told(from), to: told(to) }
                }
            };
            reasons.or_insert_with(pod, || Some(reason));
            victims.push((pod, group));
        }
        let told = self.changes.len();
        self.commit(&mut |pod| reasons.get_mut(pod).and_then(Option::take));
        self.cluster.state.nominations.groups.push(for_group);
        self.note_victims(turn, &victims);
        // Where all who were to leave found their places again nobody comes to tell of room.
        let leaves = |pod: PodId| self.cluster.state.pods().status[pod].phase.leaves();
        self.due |= self.changes.len() > told && !victims.iter().any(|(pod, _)| leaves(*pod));
        let mut groups: FewMap<GroupId, ()> = FewMap::default();
        let mut losers: Few<GroupId> = Few::default();
        for (pod, group) in &victims {
            groups.or_insert_with(*group, || losers.push(*group));
            if !self.is_retracted(*pod) {
                self.cluster.pending.eviction_history.leaves(*group);
            }
        }
        for group in &losers {
            self.forgo(*group);
        }
        self.expect_back(&victims);
        for group in &losers {
            self.keep_together(*group);
            self.relist(*group);
        }
        if self.has_retracted() {
            let evicted =
                |(pod, group): &(PodId, GroupId)| (!self.is_retracted(*pod)).then_some(*group);
            losers = victims.iter().filter_map(evicted).collect();
        }
        let held = self.cluster.state.groups()[for_group].tree.count().active;
        self.cluster.pending.eviction_history.note(for_group, losers.in_order(), self.now, held);
    }
}

impl Cycle<'_> {
    /// Remembers for whom the victims that leave were evicted.
    fn note_victims(&mut self, turn: Turn, victims: &[(PodId, GroupId)]) {
        let state = &mut self.cluster.state;
        let facts = state.groups()[turn.group].facts.as_ref();
        let preemptible = facts.is_none_or(|facts| facts.preemptible);
        let whose = Beneficiary { group: Some(turn.group), queue: turn.queue, preemptible };
        for (pod, _) in victims {
            if state.pods().status[*pod].phase.leaves() {
                state.nominations.note_victim(*pod, whose);
            }
        }
    }

    /// A group has no claim to what it was nominated for where that, with what it is left, makes no minimum.
    fn forgo(&mut self, group: GroupId) {
        let state = &mut self.cluster.state;
        let tree = &state.groups()[group].tree;
        let is_owed = tree.count().nominated > 0 || state.nominations.moves.contains_key(&group);
        if is_owed && !tree.is_satisfied(Member::Set(0)) {
            state.nominations.forget_group(group);
        }
    }

    /// Remembers where groups that are moved are to go: nobody was to end without a place.
    fn expect_back(&mut self, victims: &[(PodId, GroupId)]) {
        for &(pod, group) in victims {
            let Some(place) = &self.cluster.state.pods().status[pod].nominee else { continue };
            let node = place.node;
            let comes_anew = !self.is_retracted(pod);
            let nominations = &mut self.cluster.state.nominations;
            if comes_anew {
                nominations.note_move(group, node, self.now);
            }
            nominations.queue(group);
        }
    }

    fn state_before(&self, queue: QueueId, before: &QueueSnapshot) -> QueueState {
        let now = self.cluster.state.queue_state(queue);
        match before.get(queue) {
            None => now,
            Some(held) => QueueState {
                allocated: held.allocated,
                allocated_non_preemptible: held.protected,
                ..now
            },
        }
    }
}

/// Until when a live group may not evict; none where it never had to wait.
///
/// # Source
/// docs/behaviour.md 4.7.
fn delayed_until(state: &State, group: GroupId) -> Option<Timestamp> {
    let row = &state.groups()[group];
    let facts = row.facts.as_ref().filter(|facts| facts.preemption_delay > 0)?;
    let from = row.last_eviction.unwrap_or(facts.created).max(facts.created);
    Some(Timestamp(from.0.saturating_add(facts.preemption_delay)))
}

/// Pods that the log evicts, with their groups.
fn evicted_in_log(state: &State) -> Few<(PodId, GroupId)> {
    state
        .log()
        .iter()
        .filter(|op| op.was.phase.is_active())
        .filter_map(|op| Some((op.pod, state.pods()[op.pod].group()?)))
        .collect()
}

/// The queues that a message quotes: the leaves where they are siblings, else the queues above them.
///
/// # Source
/// docs/behaviour.md 4.8.
fn disputants(state: &State, from: QueueId, to: QueueId) -> (QueueId, QueueId) {
    let up = |queue: QueueId| state.queues().rows[queue].up;
    if up(from) == up(to) { (from, to) } else { (up(from).unwrap_or(from), up(to).unwrap_or(to)) }
}
