//! Places that groups lost to others since the last news.
//!
//! Entitlements by quota, by share and by priority can contradict each other, so that groups could evict each other in
//! turn for ever. A group that does not hold any more what it got by evicting another has lost that room again, though
//! nobody but the scheduler did anything meanwhile: it does not evict the same one for it a second time. So each pair of
//! groups evicts at most once for each pod of the one that gains, and with demand that stands still evictions end. What
//! anybody else does is news, and begins anew.
//!
//! # Source
//! docs/behaviour.md 4.4, K8. KAI has no such rule: it looks at one cycle, and goes round.

use crate::{
    base::{
        few::Few,
        ids::{Column, GroupId},
        time::Timestamp,
    },
    pending::Pending,
    state::State,
};

/// Places that were lost since the last news.
#[derive(Clone, Default, Debug)]
pub(crate) struct EvictionHistory {
    /// In the order in which it was.
    all: Vec<PastEviction>,
    rows: Column<GroupId, Row>,
    /// Groups whose rows hold anything.
    used: Vec<GroupId>,
}

/// Losses of one group, and losses to it.
#[derive(Clone, Copy, Default, Debug)]
struct Row {
    /// The last loss to it: its place in `all`, counted from 1.
    last: u32,
    /// Number of the pods that it lost which have not come back.
    away: u32,
}

/// Groups that lost places to a group in one plan.
#[derive(Clone, Debug)]
struct PastEviction {
    /// The groups that lost pods, in order.
    losers: Few<GroupId>,
    /// Time of the plan.
    at: Timestamp,
    /// Number of pods that the winner held or was nominated for then; none once it lost some.
    held: Option<u32>,
    /// The one before to the same group, counted from 1.
    before: u32,
}

impl EvictionHistory {
    /// Forgets all; says whether there was anything.
    pub(crate) fn forget(&mut self) -> bool {
        let any = !self.used.is_empty();
        for group in self.used.drain(..) {
            self.rows[group] = Row::default();
        }
        self.all.clear();
        any
    }

    /// Forgets what was lost before the plan of `now`.
    pub(crate) fn forget_before(&mut self, now: Timestamp) {
        for loss in self.all.iter_mut().filter(|loss| loss.at != now) {
            loss.losers.clear();
        }
    }

    /// Notes that groups, in order, lost pods in the plan of `at` to one that holds so many then.
    pub(crate) fn note(&mut self, winner: GroupId, losers: Few<GroupId>, at: Timestamp, held: u32) {
        let place = u32::try_from(self.all.len() + 1).expect("fewer evictions than 2^32");
        let before = std::mem::replace(&mut self.row(winner).last, place);
        self.all.push(PastEviction { losers, at, held: Some(held), before });
    }

    /// Notes that a pod of a group was evicted: what the group got by evictions it has not got any more.
    pub(crate) fn leaves(&mut self, group: GroupId) {
        let row = self.row(group);
        row.away += 1;
        let mut place = row.last;
        while let Some(loss) = at(place).and_then(|at| self.all.get_mut(at)) {
            loss.held = None;
            place = loss.before;
        }
    }

    /// Tells whether a new pod of a group is there instead of one that was evicted; counts it.
    pub(super) fn comes_back(&mut self, group: GroupId) -> bool {
        let row = self.rows.get_mut(group).filter(|row| row.away > 0);
        row.map(|row| row.away -= 1).is_some()
    }

    /// The row of a group that is to hold something.
    fn row(&mut self, group: GroupId) -> &mut Row {
        let row = self.rows.slot(group);
        if (row.last, row.away) == (0, 0) {
            self.used.push(group);
        }
        row
    }

    /// Lists what groups lost to one, the latest first.
    fn to(&self, winner: GroupId) -> impl Iterator<Item = &PastEviction> {
        let before = |place: u32| at(place).and_then(|at| self.all.get(at));
        let last = self.rows.get(winner).map_or(0, |row| row.last);
        std::iter::successors(before(last), move |loss| before(loss.before))
    }
}

/// The place of a loss from that which is counted from 1; none from 0.
fn at(place: u32) -> Option<usize> {
    place.checked_sub(1).map(|at| at as usize)
}

impl Pending {
    /// Tells whether a group evicted another since the last news, and lost again what it got by that.
    ///
    /// # Cost
    /// In how often pods were evicted for the first since then.
    #[inline]
    pub(crate) fn is_barred(&self, state: &State, winner: GroupId, loser: GroupId) -> bool {
        let is_of = |losers: &[GroupId]| losers.binary_search(&loser).is_ok();
        !self.eviction_history.all.is_empty() && self.barred(state, winner).any(is_of)
    }

    /// Counts the groups that a group may not evict again before there is news, of those that run and that pass
    /// `loser`.
    pub(crate) fn count_barred(
        &self,
        state: &State,
        winner: GroupId,
        loser: impl Fn(GroupId) -> bool,
    ) -> usize {
        let losers = self.barred(state, winner).flatten().copied();
        let losers: Few<GroupId> =
            losers.filter(|group| self.running.contains(*group) && loser(*group)).collect();
        losers.in_order().len()
    }

    /// The groups that lost pods to one which lost again what it got by that.
    fn barred(&self, state: &State, winner: GroupId) -> impl Iterator<Item = &[GroupId]> {
        let is_lost = move |loss: &&PastEviction| {
            loss.held.is_none_or(|held| state.groups()[winner].tree.count().active < held)
        };
        self.eviction_history.to(winner).filter(is_lost).map(|loss| &*loss.losers)
    }
}
