//! Searches for victims in the turn of a group: begun, gone on with, and what they came to.

use crate::{
    actions::{Cycle, begin::Begin},
    base::{ids::GroupId, time::Timestamp},
    cluster::Cluster,
    decided::{
        plan::Why,
        proof::{EvictionKind, Proof, Shortage},
        steps::Progress,
    },
    evict::{
        Outcome, SearchState, VictimSearch,
        protected::Protected,
        resume::{Recall, SearchKey, Stopped},
        victims::Basis,
    },
    pending::{Listing, scheduling_order::Turn},
    state::State,
};

/// The part of a cycle's steps that one search may take at first: one of so many.
const SEARCHES_MIN: u64 = 64;
/// Steps that one search may take at first where actions are bounded: those of one action, or so many if these are more. What
/// is counted before it begins may take as many, whatever is left.
const SEARCH_STEPS_MIN: u64 = 2_000;

/// Origin of a search.
#[derive(Debug)]
enum Origin {
    /// It begins.
    New,
    /// It goes on where it stopped.
    Kept,
    /// It begins with what stands of one that stopped before there were news.
    Dated(Box<SearchState>),
}

impl Cycle<'_> {
    /// Tries to let one group in; says whether it did.
    pub(super) fn search_victims(&mut self, kind: EvictionKind, turn: Turn) -> bool {
        if self.undecided.contains(&turn.group) {
            return false;
        }
        self.cluster.state.steps.groups += 1;
        let Cluster { searches, pending, .. } = &mut *self.cluster;
        if self.config.action_steps_max.is_some() {
            pending.rounds.note(kind, (turn.queue, turn.class), pending.epoch.number());
        }
        let at = SearchKey { group: turn.group, kind };
        let known =
            searches.recall(&pending.epoch, at, self.now, self.config.action_steps_max.is_some());
        let is_anew = matches!(known, Recall::Unknown);
        let waits = is_anew && (self.is_crowded_out(kind, turn) || self.rests(kind, turn));
        match known {
            Recall::Unknown if waits => {
                self.undecided.insert(turn.group);
                self.cluster.state.steps.spent = true;
                false
            }
            // Who goes on for the same group comes first: both would take turns from each other.
            Recall::Unknown if self.is_second(kind, turn) => false,
            Recall::Unknown => self.begin_search(kind, turn, Origin::New),
            Recall::Dated(search) => self.begin_search(kind, turn, Origin::Dated(search)),
            Recall::Unfinished(search) => {
                search.ensure_feasible(&mut self.cluster.state);
                self.search(turn, *search, Origin::Kept)
            }
            Recall::Fruitless(until) => {
                self.wake_when_unsafe(until);
                false
            }
        }
    }

    /// Begins a search, where the group may evict anybody and counting does not show that it is in vain.
    fn begin_search(&mut self, kind: EvictionKind, turn: Turn, origin: Origin) -> bool {
        let shortage = match self.begin(kind, turn) {
            Begin::Search(search) => return self.search(turn, search, origin),
            Begin::Ineligible => None,
            Begin::Disproved(shortage) => Some(shortage),
        };
        self.note_proof(kind, turn, shortage);
        self.say_before(kind, turn.group);
        false
    }

    /// Tells whether actions are bounded, so that searches go on over news.
    pub(super) fn is_bounded(&self) -> bool {
        self.config.action_steps_max.is_some()
    }

    /// Tells whether a search that would begin anew since it proved nothing waits for one of another kind to end.
    fn is_second(&self, kind: EvictionKind, turn: Turn) -> bool {
        let Cluster { searches, pending, .. } = &*self.cluster;
        pending.is_unsure(turn.queue, turn.class, kind)
            && searches.goes_on_otherwise(SearchKey { group: turn.group, kind })
    }

    /// Tells whether a search that ran out of its steps before would only take those of others: it would begin anew in each
    /// cycle until one of those that are kept comes to its end. Queues share the places of those that are kept.
    fn is_crowded_out(&self, kind: EvictionKind, turn: Turn) -> bool {
        let Cluster { searches, pending, .. } = &*self.cluster;
        pending.patience(turn.queue, turn.class, kind) > 0 && searches.is_full_for(turn.queue)
    }

    /// Tells whether a search that ended over news passes over this turn, so that those of others come in between. All of its
    /// class queue passes over theirs in the same cycle, and in one in which a search of it ran out of steps.
    fn rests(&mut self, kind: EvictionKind, turn: Turn) -> bool {
        if !self.is_bounded() {
            return false;
        }
        let at = (turn.queue, turn.class, kind);
        let is_known = self.resting.contains(&at);
        let rests = is_known || self.cluster.pending.rests(turn.queue, turn.class, kind);
        if rests {
            self.resting.insert(at);
        }
        rests
    }

    /// The most steps that a search may take: its part of those of a cycle, and no more than is left of those of its action; and
    /// whether those whose turns came before left less than half of it. Where nothing bounds actions it may take twice as many for
    /// each time that it ran out of them.
    fn search_steps_max(&self, kind: EvictionKind, turn: Turn) -> (u64, bool) {
        let part = (self.config.steps_max / SEARCHES_MIN).max(1);
        let Some(of_action) = self.config.action_steps_max else {
            let patience = self.cluster.pending.patience(turn.queue, turn.class, kind);
            let steps_max = part.saturating_mul(1 << patience).min(self.config.steps_max.max(1));
            return (steps_max, false);
        };
        let of_action = of_action.max(SEARCH_STEPS_MIN);
        let steps_max = part.min(of_action);
        let left = |at: u64| of_action.saturating_sub(at.saturating_sub(self.begun));
        // What it takes in its own turn before it begins is nobody else's.
        let is_left_few = left(self.turned) < steps_max / 2;
        (steps_max.min(left(self.cluster.state.steps.total())).max(1), is_left_few)
    }

    /// Searches among victims within what one search may take, and takes what it finds into the plan.
    fn search(&mut self, turn: Turn, search: SearchState, origin: Origin) -> bool {
        let kind = search.kind;
        let (steps_max, is_left_few) = self.search_steps_max(kind, turn);
        // Where others left it fewer, that they did not suffice says nothing of how many it needs.
        let has_all = !is_left_few
            && self.cluster.state.steps.total().saturating_add(steps_max) <= self.config.steps_max;
        let Cluster { state, pending, scratch, .. } = &mut *self.cluster;
        let basis = Basis { config: self.config, now: self.now, pending };
        let begun = state.steps.total();
        let steps_end = begun.saturating_add(steps_max).min(self.config.steps_max);
        let counting_end = begun.saturating_add(SEARCH_STEPS_MIN);
        let mut search_victims = VictimSearch::new(basis, scratch, search, steps_end, counting_end);
        let is_new = matches!(origin, Origin::New);
        if let Origin::Dated(before) = origin {
            search_victims.take_up(state, *before);
        }
        let outcome = search_victims.run(state);
        let search = search_victims.search;
        // What was tried before the news may do by now.
        let is_unsure = outcome == Outcome::Nothing && search.is_dated;
        if is_unsure {
            self.cluster.pending.note_unsure(turn.queue, turn.class, kind);
        } else if outcome != Outcome::Undecided {
            self.cluster.pending.end_patience(turn.queue, turn.class, kind);
        } else {
            self.resting.insert((turn.queue, turn.class, kind));
            // One that began with few goes on without having counted.
            let is_uncounted = || self.cluster.pending.patience(turn.queue, turn.class, kind) == 0;
            if is_new || (self.is_bounded() && is_uncounted()) {
                self.cluster.pending.note_cut_off(turn.queue, turn.class, kind, has_all);
            }
            if is_left_few {
                // It comes before the others the next time.
                self.cluster.pending.rounds.leave_of(kind, std::iter::once(turn.group));
            }
        }
        let shortage = match outcome {
            Outcome::Nothing if is_unsure => None,
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
            Outcome::Nothing if is_unsure => self.cluster.state.steps.spent = true,
            Outcome::Nothing | Outcome::Disproved(_) => self.is_fruitless(kind, turn, &search),
            Outcome::Undecided => {
                self.put_off(kind, turn, search);
                self.cluster.state.steps.spent = true;
            }
        }
        false
    }

    /// Gives the state, and what else victims are judged by.
    fn basis(&mut self) -> (&mut State, Basis<'_>) {
        let Cluster { state, pending, .. } = &mut *self.cluster;
        (state, Basis { config: self.config, now: self.now, pending })
    }

    /// Blames victims that are there and were left out, rather than the number of the others.
    fn left_out(
        &mut self,
        kind: EvictionKind,
        turn: Turn,
        search: &SearchState,
    ) -> Option<Shortage> {
        let many = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let barred = self.count_barred(kind, turn);
        if barred > 0 {
            return Some(Shortage::Others { barred: many(barred) });
        }
        let (state, basis) = self.basis();
        let filter = search.filter(basis);
        if let Some(guarded) = search.guarded(state, &filter) {
            return Some(Shortage::Disruptions { guarded: many(guarded) });
        }
        let Protected { groups, until, .. } = search.protected(state, &filter)?;
        Some(Shortage::Runtime { protected: many(groups), until })
    }

    /// Blames the minimum run time of groups that are left out, where what they hold would be enough for what counting
    /// showed to be too little.
    fn or_protected(&mut self, shortage: Shortage, search: &SearchState) -> Shortage {
        let gap_milli = match shortage {
            Shortage::Gpus { needed_milli, most_milli } => needed_milli - most_milli,
            Shortage::Pods { .. } => 1,
            Shortage::Apart { .. }
            | Shortage::Together { .. }
            | Shortage::Domains { .. }
            | Shortage::Company
            | Shortage::Runtime { .. }
            | Shortage::Disruptions { .. }
            | Shortage::Others { .. } => return shortage,
        };
        let (state, basis) = self.basis();
        match search.protected(state, &search.filter(basis)) {
            Some(Protected { groups, gpu_milli, until }) if gpu_milli >= gap_milli => {
                let protected = u32::try_from(groups).unwrap_or(u32::MAX);
                Shortage::Runtime { protected, until }
            }
            Some(_) | None => shortage,
        }
    }

    /// Counts the groups that this kind of eviction may take from, but that may not lose their places to this one
    /// again.
    pub(super) fn count_barred(&self, kind: EvictionKind, turn: Turn) -> usize {
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

    /// Remembers that a search found nothing, and says what was said before it began.
    fn is_fruitless(&mut self, kind: EvictionKind, turn: Turn, search: &SearchState) {
        let (state, basis) = self.basis();
        let until = search.until(state, &search.filter(basis));
        self.wake_when_unsafe(until);
        let epoch = &self.cluster.pending.epoch;
        self.cluster.searches.keep_fruitless(epoch, SearchKey { group: turn.group, kind }, until);
        self.say_before(kind, turn.group);
    }

    /// Says of a group what was said before a search for it began that was to go on, and does not.
    fn say_before(&mut self, kind: EvictionKind, group: GroupId) {
        let why = &self.cluster.state.groups()[group].why;
        if let Some(Why::Undecided { progress, before: Some(before) }) = why
            && matches!(**progress, Progress::Eviction { kind: of, .. } if of == kind)
        {
            let before = (**before).clone();
            self.say(group, before);
        }
    }

    /// Keeps a search for the next cycle, where it goes on if so many are not kept yet, and says how far it is.
    fn put_off(&mut self, kind: EvictionKind, turn: Turn, search: SearchState) {
        self.undecided.insert(turn.group);
        let (state, basis) = self.basis();
        let filter = search.filter(basis);
        let progress = Box::new(search.progress(state, &filter));
        let until = search.until(state, &filter);
        self.wake_when_unsafe(until);
        let before = self.cluster.state.groups()[turn.group].why.as_ref().and_then(Why::standing);
        let before = before.cloned().map(Box::new);
        self.say(turn.group, Why::Undecided { progress, before });
        let epoch = &self.cluster.pending.epoch;
        let at = SearchKey { group: turn.group, kind };
        let listing = Listing { queue: turn.queue, class: turn.class, key: turn.key };
        let stopped = Stopped { listing, until, search: Box::new(search) };
        let go_on = self.config.action_steps_max.is_some();
        self.cluster.searches.keep(epoch, at, stopped, go_on);
    }

    /// Remembers when the first candidate is safe no more.
    fn wake_when_unsafe(&mut self, until: Option<Timestamp>) {
        if let Some(until) = until {
            self.wake_at(until);
        }
    }
}
