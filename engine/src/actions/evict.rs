//! Lets groups in by evicting others: consolidate, reclaim, preempt.
//!
//! # Source
//! docs/behaviour.md 4 to 6.

use std::collections::BTreeSet;

use crate::{
    actions::{Cycle, allowance::Allowance, begin::Begin},
    base::{
        few::Few,
        few_map::FewMap,
        ids::{GroupId, PodId, QueueId},
        time::Timestamp,
    },
    cluster::Cluster,
    decided::{
        plan::{Eviction, QueueState, Why},
        proof::{EvictionKind, Proof, Shortage},
        steps::Progress,
    },
    evict::{
        Outcome, SearchState, VictimSearch,
        protected::Protected,
        queue_snapshot::QueueSnapshot,
        resume::{Recall, SearchKey},
        victims::Basis,
    },
    fit::pod_affinity,
    pending::{
        depth::DepthWindow,
        rounds::Pair,
        scheduling_order::{SchedulingOrder, Turn},
    },
    state::{State, tree::Member},
};

/// The part of a cycle's steps that one search may take at first: one of so many.
const SEARCHES_MIN: u64 = 64;

impl Cycle<'_> {
    /// Gives every waiting group its turn to evict others; of a class that failed the rest is not tried.
    ///
    /// No search delays another for long: each has its part of the cycle's steps. One that ran out of them comes after
    /// all others the next time and goes on where it stopped; where something changed meanwhile it begins anew, with
    /// twice as many. Those whom an earlier cycle left without a turn come first, and those last whose queue took its part
    /// of the steps before.
    pub(crate) fn evict(&mut self, kind: EvictionKind) {
        if kind == EvictionKind::Consolidate && self.config.consolidation_victims_max == Some(0) {
            return;
        }
        self.cluster.searches.settle(&self.cluster.pending.epoch);
        let front = self.front(kind);
        let left = self.cluster.pending.rounds.take_left_of(kind);
        let pending = &self.cluster.pending;
        let left: BTreeSet<_> = pending.pairs(left.into_iter()).collect();
        let goes_on = pending.rounds.is_evicting(kind);
        let pairs = pending.class_queues().map(|(queue, class, _)| (queue, class));
        let is_due = |pair: &(QueueId, _)| {
            self.config.action_steps_max.is_none() || pending.rounds.is_due(kind, *pair)
        };
        let pairs = pairs.filter(is_due);
        let (left, pairs): (Vec<_>, Vec<_>) = pairs.partition(|pair| left.contains(pair));
        let slow =
            |(queue, class): &(QueueId, _)| self.cluster.pending.patience(*queue, *class, kind) > 0;
        let (last, first): (Vec<_>, Vec<_>) = pairs.into_iter().partition(slow);
        let mut allowance = Allowance::new(self.config.action_steps_max);
        if goes_on {
            allowance.share([&left, &first, &last].into_iter().flatten().map(|(queue, _)| *queue));
        }
        for pairs in [left, first, last] {
            if !self.evict_for(kind, pairs, front.clone(), &mut allowance) {
                self.cluster.pending.rounds.leave_of(kind, allowance.resume().into_iter());
                return;
            }
        }
        let put_off = self.cluster.pending.pairs(allowance.resume().into_iter()).collect();
        if !self.evict_for(kind, put_off, front, &mut allowance) {
            return;
        }
        let Cluster { state, pending, .. } = &mut *self.cluster;
        let has_changed = pending.rounds.end(kind, pending.epoch.number());
        // Those who had their turns in earlier cycles were not asked again since.
        state.steps.spent |= goes_on && has_changed;
    }

    /// Gives groups of some class queues their turns; tells whether all had one before the steps were spent, or wait until
    /// other queues had theirs.
    fn evict_for(
        &mut self,
        kind: EvictionKind,
        pairs: Vec<Pair>,
        front: Option<DepthWindow>,
        allowance: &mut Allowance,
    ) -> bool {
        let Cluster { state, pending, .. } = &*self.cluster;
        let mut turns = SchedulingOrder::new(state, pending, pairs.into_iter(), front);
        while let Some(turn) = turns.next() {
            if self.cluster.state.steps.total() >= self.config.steps_max || allowance.is_spent() {
                if self.config.action_steps_max.is_some() {
                    self.cluster.pending.rounds.leave_of(kind, turns.heads());
                }
                self.cluster.state.steps.spent = true;
                return false;
            }
            if allowance.is_spent_by(turn.queue) {
                let Cluster { state, pending, .. } = &*self.cluster;
                allowance.put_off(turns.close(state, pending, turn));
                continue;
            }
            let begun = self.cluster.state.steps;
            self.evict_in_turn(kind, &mut turns, turn);
            allowance.take(turn.queue, &self.cluster.state.steps.since(&begun));
        }
        true
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
        let is_untried = self.is_untried(turn);
        if self.is_delayed(turn.group) || (is_untried && self.may_retract(turn.group)) {
            // The next of its class may be older, and out of its delay.
            turns.skip(&self.cluster.state, &self.cluster.pending, turn);
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
            turns.skip(&self.cluster.state, &self.cluster.pending, turn);
        } else {
            turns.done(&self.cluster.state, &self.cluster.pending, turn);
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
            !is_delayed && (preemptible || kind != EvictionKind::Consolidate)
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

    /// Tries to let one group in; says whether it did.
    fn search_victims(&mut self, kind: EvictionKind, turn: Turn) -> bool {
        if self.undecided.contains(&turn.group) {
            return false;
        }
        self.cluster.state.steps.groups += 1;
        let Cluster { searches, pending, .. } = &mut *self.cluster;
        if self.config.action_steps_max.is_some() {
            pending.rounds.note(kind, (turn.queue, turn.class), pending.epoch.number());
        }
        match searches.recall(&pending.epoch, SearchKey { group: turn.group, kind }, self.now) {
            Recall::Unknown if self.is_crowded_out(kind, turn) => {
                self.undecided.insert(turn.group);
                self.cluster.state.steps.spent = true;
                false
            }
            Recall::Unknown => match self.begin(kind, turn) {
                Begin::Search(search) => self.search(turn, search, true),
                Begin::Ineligible => {
                    self.note_proof(kind, turn, None);
                    false
                }
                Begin::Disproved(shortage) => {
                    self.note_proof(kind, turn, Some(shortage));
                    false
                }
            },
            Recall::Unfinished(search) => {
                search.ensure_feasible(&mut self.cluster.state);
                self.search(turn, *search, false)
            }
            Recall::Fruitless(until) => {
                self.wake_when_unsafe(until);
                false
            }
        }
    }

    /// Tells whether a search that ran out of its steps before would only take those of others: it begins anew in each
    /// cycle until one of those that are kept comes to its end.
    fn is_crowded_out(&self, kind: EvictionKind, turn: Turn) -> bool {
        let pending = &self.cluster.pending;
        self.cluster.searches.is_full() && pending.patience(turn.queue, turn.class, kind) > 0
    }

    /// Searches among victims within what one search may take, and takes what it finds into the plan.
    fn search(&mut self, turn: Turn, search: SearchState, is_new: bool) -> bool {
        let kind = search.kind;
        let patience = self.cluster.pending.patience(turn.queue, turn.class, kind);
        let steps_max =
            (self.config.steps_max / SEARCHES_MIN).max(1) << patience.min(SEARCHES_MIN.ilog2());
        // Where others left it fewer, that they did not suffice says nothing of how many it needs.
        let has_all =
            self.cluster.state.steps.total().saturating_add(steps_max) <= self.config.steps_max;
        let Cluster { state, pending, scratch, .. } = &mut *self.cluster;
        let basis = Basis { config: self.config, now: self.now, pending };
        let steps_end = state.steps.total().saturating_add(steps_max).min(self.config.steps_max);
        let mut search_victims = VictimSearch::new(basis, scratch, search, steps_end);
        let outcome = search_victims.run(state);
        let search = search_victims.search;
        let is_over = outcome != Outcome::Undecided;
        if is_over || (is_new && has_all) {
            self.cluster.pending.note_patience(turn.queue, turn.class, kind, !is_over);
        }
        let shortage = match outcome {
            Outcome::Nothing => self.left_out(kind, turn, &search),
            Outcome::Disproved(shortage) => Some(self.or_protected(shortage, &search)),
            Outcome::Found | Outcome::Undecided => None,
        };
        self.note_proof(kind, turn, shortage);
        match outcome {
            Outcome::Found => {
                self.cluster.state.steps.solved += 1;
                self.commit_evictions(kind, turn, &search.before);
                return true;
            }
            Outcome::Nothing | Outcome::Disproved(_) => self.is_fruitless(kind, turn, &search),
            Outcome::Undecided => {
                self.put_off(kind, turn, search);
                self.cluster.state.steps.spent = true;
            }
        }
        false
    }

    /// Gives what victims are judged by.
    fn basis(&self) -> Basis<'_> {
        Basis { config: self.config, now: self.now, pending: &self.cluster.pending }
    }

    /// Blames victims that are there and were left out, rather than the number of the others.
    fn left_out(&self, kind: EvictionKind, turn: Turn, search: &SearchState) -> Option<Shortage> {
        let many = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let barred = self.count_barred(kind, turn);
        if barred > 0 {
            return Some(Shortage::Others { barred: many(barred) });
        }
        let (state, filter) = (&self.cluster.state, search.filter(self.basis()));
        if let Some(guarded) = search.guarded(state, &filter) {
            return Some(Shortage::Disruptions { guarded: many(guarded) });
        }
        let Protected { groups, until, .. } = search.protected(state, &filter)?;
        Some(Shortage::Runtime { protected: many(groups), until })
    }

    /// Blames the minimum run time of groups that are left out, where what they hold would be enough for what counting
    /// showed to be too little.
    fn or_protected(&self, shortage: Shortage, search: &SearchState) -> Shortage {
        let gap_milli = match shortage {
            Shortage::Gpus { needed_milli, most_milli } => needed_milli - most_milli,
            Shortage::Pods { .. } => 1,
            Shortage::Apart { .. }
            | Shortage::Together { .. }
            | Shortage::Domains { .. }
            | Shortage::Runtime { .. }
            | Shortage::Disruptions { .. }
            | Shortage::Others { .. } => return shortage,
        };
        match search.protected(&self.cluster.state, &search.filter(self.basis())) {
            Some(Protected { groups, gpu_milli, until }) if gpu_milli >= gap_milli => {
                let protected = u32::try_from(groups).unwrap_or(u32::MAX);
                Shortage::Runtime { protected, until }
            }
            Some(_) | None => shortage,
        }
    }

    /// Counts the groups that this kind of eviction may take from, but that may not lose their places to this one
    /// again.
    fn count_barred(&self, kind: EvictionKind, turn: Turn) -> usize {
        self.cluster.pending.count_barred(&self.cluster.state, turn.group, |loser| {
            let is_of_queue = self.cluster.state.groups()[loser].queue() == Some(turn.queue);
            match kind {
                EvictionKind::Consolidate => true,
                EvictionKind::Preempt => is_of_queue,
                EvictionKind::Reclaim => !is_of_queue,
            }
        })
    }

    /// Remembers what counting showed of evictions for a group and others like it, or that it shows nothing.
    fn note_proof(&mut self, kind: EvictionKind, turn: Turn, shortage: Option<Shortage>) {
        self.cluster.state.steps.filtered += u64::from(shortage.is_some());
        let Turn { queue, class, .. } = turn;
        self.explained.extend(self.cluster.pending.note_proof(queue, class, kind, shortage));
        self.proofs.extend(shortage.map(|shortage| Proof { group: turn.group, kind, shortage }));
    }

    /// Remembers that a search found nothing, and what was said before it began.
    fn is_fruitless(&mut self, kind: EvictionKind, turn: Turn, search: &SearchState) {
        let until = search.until(&self.cluster.state, &search.filter(self.basis()));
        self.wake_when_unsafe(until);
        let epoch = &self.cluster.pending.epoch;
        self.cluster.searches.keep(epoch, SearchKey { group: turn.group, kind }, None, until);
        let why = &self.cluster.state.groups()[turn.group].why;
        if let Some(Why::Undecided { progress, before: Some(before) }) = why
            && matches!(**progress, Progress::Eviction { kind: of, .. } if of == kind)
        {
            let before = (**before).clone();
            self.say(turn.group, before);
        }
    }

    /// Keeps a search for the next cycle, where it goes on if so many are not kept yet, and says how far it is.
    fn put_off(&mut self, kind: EvictionKind, turn: Turn, search: SearchState) {
        self.undecided.insert(turn.group);
        let filter = search.filter(self.basis());
        let progress = Box::new(search.progress(&self.cluster.state, &filter));
        let until = search.until(&self.cluster.state, &filter);
        self.wake_when_unsafe(until);
        let before = self.cluster.state.groups()[turn.group].why.as_ref().and_then(Why::standing);
        let before = before.cloned().map(Box::new);
        self.say(turn.group, Why::Undecided { progress, before });
        let epoch = &self.cluster.pending.epoch;
        let at = SearchKey { group: turn.group, kind };
        self.cluster.searches.keep(epoch, at, Some(Box::new(search)), until);
    }

    /// Remembers when the first candidate is safe no more.
    fn wake_when_unsafe(&mut self, until: Option<Timestamp>) {
        if let Some(until) = until {
            self.wake_at(until);
        }
    }

    fn commit_evictions(&mut self, kind: EvictionKind, turn: Turn, before: &QueueSnapshot) {
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
                nominations.moves.entry(group).or_default().push(node);
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
