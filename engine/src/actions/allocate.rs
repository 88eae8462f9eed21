//! Places pending groups in free room.
//!
//! # Source
//! docs/behaviour.md 1.12. Unlike KAI, room that was made by evicting is for whom it was made (14.3, Q48): else a
//! victim that is made again may go first by the order of queues, take its old place and be evicted again, for ever.

use std::collections::BTreeSet;

use crate::{
    actions::{Cycle, allowance::Allowance, commit},
    base::{
        few::Few,
        id_set::IdSet,
        ids::{GroupId, PodId, Rank},
        time::Millis,
    },
    cluster::Cluster,
    decided::{plan::Why, steps::Progress},
    fit::{best_node, pod_affinity},
    pending::{
        depth::DepthWindow,
        rounds::Pair,
        scheduling_order::{Parts, SchedulingOrder, Turn},
        wait,
    },
    place::{Attempt, Mode},
    state::{State, tree::Member, trial::Trial},
};

/// Time for which pods that are moved are expected back.
const EXPECTED: Millis = 60_000;

impl Cycle<'_> {
    /// Gives every waiting group its turns until it has no more to place or finds no room: first those whom an earlier
    /// cycle left without one, unless it ended as others got their places, then all others, and at last those whose queue, or whose namespace in it, took its part of the
    /// steps before, in the same order: who had a turn in this round has no other before all of it had theirs. Queues share
    /// the steps while a round goes on, and those who had no turn in the cycles before have one each at first: cycles that are
    /// long enough give turns in the order of queues alone.
    ///
    /// Who was turned down and may find room since has another turn once those had theirs. While a round goes on, who was
    /// nominated comes before all, so that nominations last.
    pub(crate) fn allocate(&mut self) {
        let mut failed = Allowance::new(self.config.action_steps_max);
        self.place_nominated_first(&mut failed);
        self.retractions.settled = self.changes.len();
        let depth = self.config.queue_depth.allocate;
        let mut front = depth.map(|depth| DepthWindow::new(&self.cluster.pending, depth, |_| true));
        if self.cluster.pending.rounds.is_under_way() {
            self.nominate_again(&mut front, &mut failed);
            self.cluster.pending.give_up_nominations();
        }
        let mut first = BTreeSet::new();
        if let Some(left) = self.cluster.pending.rounds.take_left() {
            let Cluster { state, pending, .. } = &mut *self.cluster;
            let asked = std::mem::take(pending.rounds.asked(None));
            failed.share(pending.sharers(state, pending.awake()), asked);
            first = if std::mem::take(pending.rounds.goes_by_order()) {
                pending.awake().collect()
            } else {
                pending.worth_a_try(left.into_iter())
            };
            front = self.allocate_to(first.iter().copied().collect(), front, &mut failed);
        }
        if !self.is_cut {
            let others = self.cluster.pending.awake().filter(|pair| !first.contains(pair));
            front = self.allocate_to(others.collect(), front, &mut failed);
        }
        while !self.is_cut
            && let Some(resumed) = failed.resume()
        {
            for groups in resumed {
                if !self.is_cut && !groups.is_empty() {
                    let pairs = self.cluster.pending.worth_a_try(groups.into_iter());
                    front = self.allocate_to(pairs.into_iter().collect(), front, &mut failed);
                }
            }
        }
        if self.is_cut {
            let rounds = &mut self.cluster.pending.rounds;
            // Those behind them had a turn in this round, or came since.
            let [put_off, _] = failed.take_put_off();
            rounds.leave(put_off.into_iter());
            *rounds.goes_by_order() = failed.is_taken_by_places();
            *rounds.asked(None) = failed.into_asked();
            // Who was nominated is so until somebody else takes the room: it would be for one cycle, and not for the next.
            self.nominate_again(&mut front, &mut Allowance::new(None));
        } else {
            self.cluster.pending.rounds.close();
        }
        if let (Some(front), Some(depth)) = (front, depth) {
            let Cluster { state, pending, .. } = &mut *self.cluster;
            pending.tell_behind(state, &front, depth, &mut self.said);
        }
    }

    /// Gives groups that the last plan nominated for places these turns alone, before all others.
    ///
    /// What else they wait for they are asked for in their order: it may be in vain, in each cycle in which they are nominated.
    /// So may it be for others of their classes.
    fn nominate_again(&mut self, front: &mut Option<DepthWindow>, failed: &mut Allowance) {
        let Cluster { state, pending, .. } = &*self.cluster;
        let mut owed = pending.owed(state, front.as_ref());
        let mut turns = SchedulingOrder::default();
        turns.open_groups(state, pending, &mut owed);
        while let Some(turn) = turns.next() {
            let begun = self.cluster.state.steps;
            if begun.total() >= self.config.steps_max || failed.is_spent() {
                self.cluster.state.steps.spent = true;
                self.is_cut = true;
                self.cluster.pending.rounds.leave(turns.heads());
                return;
            }
            let (mut placed, mut fails) = (0, false);
            while let Some(listing) = self.cluster.pending.listing(turn.group)
                && self.cluster.pending.owes(&self.cluster.state, turn.group)
            {
                self.cluster.state.steps.groups += 1;
                let Ok(pods) = self.try_group(turn.group, None) else {
                    fails = true;
                    break;
                };
                placed += pods;
                let now = self.relist(turn.group);
                if let Some(front) = front {
                    front.follow(listing, now.filter(|now| now.queue == listing.queue));
                }
            }
            if fails {
                failed.take(&self.cluster.state, turn, &begun);
            } else {
                failed.take_nominated(&self.cluster.state, &begun, placed);
            }
            turns.done(&self.cluster.state, &self.cluster.pending, turn);
        }
    }

    /// Gives groups of some class queues their turns, up to the one at which the steps of those that `failed` are spent; what
    /// is left of the groups that may have some.
    ///
    /// Of the first turn in which a group gets something only what is dear counts: such turns are bounded by the room that there
    /// is, and a cycle that fills the cluster is to do so at once, unless a pod costs as much as a turn in vain. Those in which
    /// it gets more count whole, as each costs what the group has of pods, which is their square for one that has thousands.
    fn allocate_to(
        &mut self,
        pairs: Vec<Pair>,
        front: Option<DepthWindow>,
        failed: &mut Allowance,
    ) -> Option<DepthWindow> {
        let Cluster { state, pending, .. } = &*self.cluster;
        let passed = pending.rounds.passed(pending);
        let mut turns = SchedulingOrder::new(state, pending, pairs.into_iter(), front, passed);
        // Each has a group that gets something, most of the time.
        self.changes.reserve(turns.queues());
        self.said.reserve(turns.queues());
        self.retractions.started.reserve(turns.queues());
        while let Some(turn) = turns.next() {
            let begun = self.cluster.state.steps;
            if self.is_cut || begun.total() >= self.config.steps_max || failed.is_spent() {
                self.cluster.state.steps.spent = true;
                self.is_cut = true;
                let Cluster { state, pending, .. } = &mut *self.cluster;
                let heads = turns.heads().filter(|group| !failed.is_behind(state, *group));
                pending.rounds.leave(heads);
                break;
            }
            if failed.defer(&self.cluster.state, &self.cluster.pending, &mut turns, turn) {
                continue;
            }
            self.cluster.state.steps.groups += 1;
            match self.try_group(turn.group, None) {
                Ok(placed) => {
                    let goes_on = self.seat_again(&mut turns, turn);
                    if !failed.is_again(turn.group, goes_on) {
                        failed.take_dear(&self.cluster.state, turn, &begun, placed);
                        continue;
                    }
                }
                Err(why) if self.is_passed(turn.group, &why) => {
                    // Others of its class may have labels that nobody minds.
                    let Cluster { state, pending, .. } = &mut *self.cluster;
                    pending.pass(state, turn.group, why, &mut self.said);
                    if !turns.skip(state, pending, turn) {
                        pending.sleep(turn.queue, turn.class);
                        self.end_turns(&mut turns, turn);
                    }
                }
                Err(why) => {
                    turns.done(&self.cluster.state, &self.cluster.pending, turn);
                    self.turn_down(turn, why);
                    self.end_turns(&mut turns, turn);
                }
            }
            failed.take(&self.cluster.state, turn, &begun);
        }
        let Parts { front, passed, deferred } = turns.into_parts();
        failed.put_off(&self.cluster.state, deferred);
        self.cluster.pending.rounds.pass(passed);
        front
    }

    /// Notes that all of a class queue had their turns: those whom an earlier cycle passed over are asked again in the next
    /// one where they may find room since.
    fn end_turns(&mut self, turns: &mut SchedulingOrder, turn: Turn) {
        turns.forget(turn);
        if self.cluster.pending.end_turns(turn.queue, turn.class) {
            self.cluster.state.steps.spent = true;
        }
    }

    /// Tells whether a group may find free room and had no turn to, as allocate stopped.
    pub(super) fn is_untried(&self, turn: Turn) -> bool {
        self.is_cut && self.cluster.pending.is_awake(turn.queue, turn.class)
    }

    /// Gives a group that would evict others the turn to find free room which allocate had no steps for; tells whether it
    /// found some.
    ///
    /// So it need not wait for the end of a round which others may make longer than a cycle each time.
    pub(super) fn catch_up(&mut self, turn: Turn) -> bool {
        self.cluster.state.steps.groups += 1;
        self.cluster.pending.rounds.catch_up(turn.group);
        let Err(why) = self.try_group(turn.group, None) else { return true };
        if self.is_passed(turn.group, &why) {
            let Cluster { state, pending, .. } = &mut *self.cluster;
            pending.pass(state, turn.group, why, &mut self.said);
        } else {
            self.turn_down(turn, why);
        }
        false
    }

    /// Gives groups that pods were evicted for, or that were moved, what they were nominated for, before anybody else.
    ///
    /// A claim lasts while the room is only coming, and until the first of the pods that were moved is back: one that
    /// lasted on would be used for other places, those that the group is evicted from for others among them. It is void
    /// once the group finds no room. While pods that were evicted for a group take long to leave it has its turn in its
    /// order, as it would keep others from what is free for as long.
    ///
    /// All of them have their turns, as others would take their room; what these cost is taken of the steps of the others.
    fn place_nominated_first(&mut self, failed: &mut Allowance) {
        for group in std::mem::take(&mut self.cluster.state.nominations.groups) {
            if self.cluster.state.nominations.awaits(group) {
                self.cluster.state.nominations.groups.push(group);
                continue;
            }
            if self.cluster.pending.listing(group).is_none() {
                if self.is_expected(group) {
                    self.cluster.state.nominations.groups.push(group);
                } else {
                    self.cluster.state.nominations.moves.remove(&group);
                }
                continue;
            }
            if self.is_back_too_late(group) {
                self.cluster.state.nominations.moves.remove(&group);
                continue;
            }
            let begun = self.cluster.state.steps;
            let mut placed = 0;
            loop {
                self.cluster.state.steps.groups += 1;
                let nominated = self.try_nominated(group);
                let found = nominated.or_else(|| self.try_group(group, None).ok());
                let Some(pods) = found else { break };
                placed += pods;
                let waits = self.relist(group).is_some();
                if !waits || !(self.is_expected(group) || self.is_owed(group)) {
                    break;
                }
            }
            failed.take_nominated(&self.cluster.state, &begun, placed);
            if placed > 0 && self.cluster.state.groups()[group].tree.count().nominated > 0 {
                self.cluster.state.nominations.groups.push(group);
            } else {
                self.cluster.state.nominations.moves.remove(&group);
            }
        }
    }

    /// Tells whether pods of a group that was moved are still to come back, and it is not too long ago.
    fn is_expected(&self, group: GroupId) -> bool {
        let moved = self.cluster.state.nominations.moves.get(&group);
        let moved = moved.filter(|moved| !moved.nodes.is_empty());
        let until = moved.map(|moved| moved.at.0.saturating_add(EXPECTED));
        until.is_some_and(|until| self.now.0 < until)
    }

    /// Tells whether pods of a group that was moved came back only when nobody expected them any more, and nothing else is
    /// owed to it.
    fn is_back_too_late(&self, group: GroupId) -> bool {
        let was_moved = self.cluster.state.nominations.moves.contains_key(&group);
        was_moved && !self.is_expected(group) && !self.is_owed(group)
    }

    /// Tells whether a pod of a group waits that the last plan nominated for a place.
    fn is_owed(&self, group: GroupId) -> bool {
        self.cluster.state.groups()[group]
            .pods
            .iter()
            .any(|pod| has_nomination(&self.cluster.state, *pod))
    }

    /// Places the next pods of a group on the nodes that they were nominated for, or are expected on after they were moved,
    /// where each of them was: what became free meanwhile where they would rather go was freed for others. Their number, where
    /// that could be done.
    fn try_nominated(&mut self, group: GroupId) -> Option<u64> {
        let cluster = &*self.cluster;
        let mut expected = best_node::expected(&cluster.state, group).into_iter();
        let kept = &cluster.state.nominations.nodes;
        let tree = &cluster.state.groups()[group].tree;
        let is_nominated = |pod: PodId| has_nomination(&cluster.state, pod);
        let own = if tree.can_fill(Member::Set(0), &is_nominated) {
            tree.to_place(&is_nominated)
        } else {
            Few::default()
        };
        let pods = if own.is_empty() { cluster.state.to_place(group) } else { own };
        // Nominations are the group's: a pod that was made again may go before the one that has one.
        let waits =
            |pod: &&PodId| cluster.state.pods().status[**pod].is_waiting() && !pods.contains(pod);
        let others = tree.pods().filter(waits);
        let mut spare = others.filter_map(|pod| kept.get(pod)).copied();
        let nominated = pods.iter().map(|pod| {
            let node = kept.get(pod).copied().or_else(|| expected.next());
            cluster.state.nodes().index.rank(node.or_else(|| spare.next())?)
        });
        let nodes: Option<IdSet<Rank>> = nominated.collect();
        drop(spare);
        let nodes = nodes.filter(|_| !pods.is_empty())?;
        self.try_pods(group, &pods, Some(&nodes)).ok()
    }

    /// Places the next pods of a group, on some nodes or on any, and counts them, or says why not.
    fn try_group(&mut self, group: GroupId, nodes: Option<&IdSet<Rank>>) -> Result<u64, Why> {
        let pods = self.cluster.state.to_place(group);
        if pods.is_empty() {
            return Err(wait::not_ready(&self.cluster.state, group));
        }
        self.try_pods(group, &pods, nodes)
    }

    /// Places some pods of a group; gives their number.
    fn try_pods(
        &mut self,
        group: GroupId,
        pods: &Few<PodId>,
        nodes: Option<&IdSet<Rank>>,
    ) -> Result<u64, Why> {
        let started = commit::has_started(&self.cluster.state, group);
        let mut attempt = Attempt::new(self.config, group, Mode::Real, pods);
        if nodes.is_none()
            && let Some(packings) =
                self.cluster.searches.recall_packings(&self.cluster.pending.epoch, group)
        {
            attempt.resume(packings);
        }
        let mut trial = Trial::new(&mut self.cluster.state);
        if let Err(why) = attempt.run(&mut trial, nodes) {
            drop(trial);
            if nodes.is_some() {
                return Err(why);
            }
            return Err(self.put_off_packing(group, attempt, why));
        }
        trial.keep();
        self.commit(&mut |_| None);
        let row = &self.cluster.state.groups()[group];
        if !started && row.tree.count().nominated == 0 {
            self.retractions.started.push((group, row.last_start));
            self.cluster.state.note_start(group, Some(self.now));
        }
        self.cluster.state.steps.solved += u64::from(!started);
        Ok(u64::try_from(pods.len()).unwrap_or(u64::MAX))
    }

    /// Tells whether a group that found no room says nothing of the others of its class; one that goes on is asked
    /// first again.
    fn is_passed(&mut self, group: GroupId, why: &Why) -> bool {
        pod_affinity::is_repelled(&mut self.cluster.state, group)
            && !matches!(why, Why::Undecided { .. })
    }

    /// Keeps what an attempt left to go on with for the next cycle, or has it begin anew then; says why the group waits until
    /// then.
    fn put_off_packing(&mut self, group: GroupId, attempt: Attempt<'_>, why: Why) -> Why {
        let Some((packings, progress)) = attempt.unfinished() else { return why };
        if let Some(queue) = self.cluster.state.groups()[group].queue() {
            let Cluster { searches, pending, .. } = &mut *self.cluster;
            searches.keep_packings(&pending.epoch, queue, group, packings);
        }
        self.cluster.state.steps.spent = true;
        Why::Undecided { progress: Box::new(progress), before: Some(Box::new(why)) }
    }

    /// Says why a group finds no room; its class is left alone until room may have come, or at once goes on.
    fn turn_down(&mut self, turn: Turn, why: Why) {
        if matches!(why, Why::Undecided { .. }) {
            self.say(turn.group, why);
            return;
        }
        let said = &self.cluster.state.groups()[turn.group].why;
        if let Some(Why::Undecided { progress, .. }) = said
            && matches!(**progress, Progress::Packing { .. })
        {
            self.say(turn.group, why.clone());
        }
        let Cluster { state, pending, .. } = &mut *self.cluster;
        pending.park(state, turn, &why, &mut self.said);
    }

    /// After a success: the group's next step, and the next group of its class, get their turns. Tells whether it has one.
    fn seat_again(&mut self, turns: &mut SchedulingOrder, turn: Turn) -> bool {
        let listing = self.relist(turn.group);
        let next = listing.map(|listing| listing.class);
        let Cluster { state, pending, .. } = &*self.cluster;
        turns.replace(state, pending, turn, std::iter::once(turn.class).chain(next));
        next.is_some()
    }
}

/// Tells whether a pod waits that the last plan nominated for a place.
fn has_nomination(state: &State, pod: PodId) -> bool {
    state.pods().status[pod].is_waiting() && state.nominations.nodes.contains_key(&pod)
}
