//! Who lost a place to whom since the last news.
//!
//! Entitlements by quota, by share and by priority can contradict each other, so that groups could evict each other in
//! turn for ever. A group that does not hold any more what it got by evicting another has lost that room again, though
//! nobody but the scheduler did anything meanwhile: it does not evict the same one for it a second time. So each pair of
//! groups evicts at most once for each pod of the one that gains, and with demand that stands still evictions end. What
//! anybody else does is news, and begins anew.
//!
//! # Source
//! The peer has no such rule and goes round: spec/scheduling.md 4 to 6 look at one cycle.

use std::collections::BTreeMap;

use crate::{
    agenda::Agenda,
    cluster::{Cluster, Phase},
    cycle::Timestamp,
    few::Few,
    ids::GroupId,
};

/// What was lost since the last news.
#[derive(Clone, Default, Debug)]
pub(crate) struct Losses {
    /// By the group that pods were evicted for.
    by_winner: BTreeMap<GroupId, Vec<Loss>>,
    /// How many of the pods that a group lost have not come back.
    away: BTreeMap<GroupId, usize>,
}

/// What was lost to a group in one plan.
#[derive(Clone, Debug)]
struct Loss {
    /// When.
    at: Timestamp,
    /// The groups that lost pods, in order.
    losers: Few<GroupId>,
    /// How many pods the winner held or was promised places for then; none once it lost some.
    held: Option<u32>,
}

/// How far a pod is, and of which group it is.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Stand {
    pub(crate) phase: Phase,
    pub(crate) group: Option<GroupId>,
}

impl Stand {
    /// Whether a pod comes from `before` to here without anybody's doing but the scheduler's, who had it bound or
    /// evicted.
    fn follows(self, before: Self) -> bool {
        use Phase::{
            Absent, Binding, Bound, Failed, Gated, Pending, Releasing, Running, Stuck, Succeeded,
        };
        // What is nobody's yet and nowhere is of no concern to anybody.
        let waits_alone =
            |at: Self| at.group.is_none() && matches!(at.phase, Absent | Gated | Pending);
        self.phase == before.phase
            || (waits_alone(self) && waits_alone(before))
            || match self.phase {
                Bound => before.phase == Binding,
                Running => matches!(before.phase, Binding | Bound),
                Succeeded | Failed | Absent => {
                    matches!(before.phase, Releasing | Stuck | Succeeded | Failed)
                }
                Gated | Pending | Binding | Releasing | Stuck => false,
            }
    }
}

impl Agenda {
    /// Forgets who lost to whom where a pod came to a stand by somebody else's doing than the scheduler's. That a pod
    /// is made again which was evicted is no such thing.
    pub(crate) fn note_news(&mut self, before: Stand, now: Stand) {
        let is_known = match now.group {
            Some(group) if before.group != now.group => self.losses.comes_back(group),
            Some(_) | None => now.follows(before),
        };
        if !is_known {
            self.forget_losses();
        }
    }

    /// Says that something happened that was not decided here: who lost a place to whom before it counts no more.
    pub(crate) fn forget_losses(&mut self) {
        if self.losses.forget() {
            self.searches.upset();
        }
    }
}

impl Losses {
    /// Forgets all; says whether there was anything.
    pub(crate) fn forget(&mut self) -> bool {
        let any = !(self.by_winner.is_empty() && self.away.is_empty());
        *self = Self::default();
        any
    }

    /// Forgets what was lost before the plan of `now`.
    pub(crate) fn forget_before(&mut self, now: Timestamp) {
        self.by_winner.retain(|_, losses| {
            losses.retain(|loss| loss.at == now);
            !losses.is_empty()
        });
    }

    /// Notes that groups, in order, lost pods in the plan of `at` to one that holds so many then.
    pub(crate) fn note(
        &mut self,
        winner: GroupId,
        (losers, at): (Few<GroupId>, Timestamp),
        held: u32,
    ) {
        self.by_winner.entry(winner).or_default().push(Loss { at, losers, held: Some(held) });
    }

    /// Notes that a pod of a group was evicted: what the group got by evictions it has not got any more.
    pub(crate) fn leaves(&mut self, group: GroupId) {
        *self.away.entry(group).or_default() += 1;
        for loss in self.by_winner.get_mut(&group).into_iter().flatten() {
            loss.held = None;
        }
    }

    /// Whether a new pod of a group is there instead of one that was evicted; counts it.
    pub(crate) fn comes_back(&mut self, group: GroupId) -> bool {
        let Some(away) = self.away.get_mut(&group).filter(|away| **away > 0) else { return false };
        *away -= 1;
        true
    }

    /// The groups that lost pods to one which holds so many now, and less than then.
    fn barred(&self, winner: GroupId, held: u32) -> impl Iterator<Item = &[GroupId]> {
        let losses = self.by_winner.get(&winner).into_iter().flatten();
        let is_lost = move |loss: &&Loss| loss.held.is_none_or(|then| held < then);
        losses.filter(is_lost).map(|loss| &*loss.losers)
    }
}

impl Cluster {
    /// Whether a group evicted another since the last news, and lost again what it got by that.
    ///
    /// # Cost
    /// In how often pods were evicted for the first since then.
    pub(crate) fn is_barred(&self, winner: GroupId, loser: GroupId) -> bool {
        self.barred(winner).any(|losers| losers.binary_search(&loser).is_ok())
    }

    /// How many groups a group may not evict again before there is news, of those that run and that pass `loser`.
    pub(crate) fn count_barred(&self, winner: GroupId, loser: impl Fn(GroupId) -> bool) -> usize {
        let losers = self.barred(winner).flatten().copied();
        let losers: Few<GroupId> =
            losers.filter(|group| self.agenda.running.contains(*group) && loser(*group)).collect();
        losers.in_order().len()
    }

    fn barred(&self, winner: GroupId) -> impl Iterator<Item = &[GroupId]> {
        self.agenda.losses.barred(winner, self.groups[winner].tree.count().active)
    }
}
