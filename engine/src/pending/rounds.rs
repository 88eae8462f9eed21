//! Turns of actions that evict, over cycles that are too short for all who wait.
//!
//! A search for victims may cost as much as placing a thousand pods, and whoever creates pods may make any number of
//! groups that need one each. So that the places of others are told meanwhile, a cycle stops after some steps, and the next one
//! goes on with those who had no turn: all have had theirs before one has another.

use std::collections::BTreeSet;

use crate::{
    base::ids::{ClassId, QueueId},
    decided::proof::EvictionKind,
};

/// A class of waiting groups of a queue.
type Pair = (QueueId, ClassId);

/// Rounds of the actions that evict, in the order of [`EvictionKind::ALL`].
#[derive(Clone, Default, Debug)]
pub(crate) struct Rounds([Round; EvictionKind::ALL.len()]);

/// A round of one action: none is under way where nobody had a turn.
#[derive(Clone, Default, Debug)]
struct Round {
    had: BTreeSet<Pair>,
    /// The epoch in which it began.
    epoch: u64,
}

impl Rounds {
    /// Tells whether a class has its turn now: it had none in this round, and had one in the round of the action before,
    /// which costs others less.
    pub(crate) fn is_due(&self, kind: EvictionKind, pair: Pair) -> bool {
        let at = kind as usize;
        let before = at.checked_sub(1).map(|before| &self.0[before].had);
        !self.0[at].had.contains(&pair)
            && before.is_none_or(|had| had.is_empty() || had.contains(&pair))
    }

    /// Tells whether a round goes on that an earlier cycle began.
    pub(crate) fn is_under_way(&self, kind: EvictionKind) -> bool {
        !self.0[kind as usize].had.is_empty()
    }

    /// Notes that a class has its turn, in this epoch.
    pub(crate) fn note(&mut self, kind: EvictionKind, pair: Pair, epoch: u64) {
        let round = &mut self.0[kind as usize];
        if round.had.is_empty() {
            round.epoch = epoch;
        }
        round.had.insert(pair);
    }

    /// Ends a round in which all had their turns, unless more are to come from the action before; tells whether something
    /// changed since it began.
    pub(crate) fn end(&mut self, kind: EvictionKind, epoch: u64) -> bool {
        let at = kind as usize;
        if at.checked_sub(1).is_some_and(|before| !self.0[before].had.is_empty()) {
            return false;
        }
        let round = &mut self.0[at];
        round.had.clear();
        round.epoch != epoch
    }
}
