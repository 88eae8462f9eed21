//! The devices that a claim may be given on a node: its own, and those of several nodes that it reaches.

use crate::{
    base::ids::{Column, CounterId, NodeId, SliceDeviceId},
    decided::when::When,
    fit::devices::want::Want,
    state::{
        State,
        slices::{CounterRow, SliceRow},
    },
};
use std::collections::BTreeSet;

/// Devices in the order in which they are given away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer<'c> {
    own: &'c [SliceRow],
    reached: &'c [&'c SliceRow],
    counters: &'c Column<CounterId, CounterRow>,
    when: When,
    /// Devices of pods that leave which stay with their claims, with the wants that these are for.
    stays: &'c [(Want, SliceDeviceId)],
}

/// A device of an offer that a search picked, and for which want.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pick<'w> {
    pub(crate) want: &'w Want,
    pub(crate) at: usize,
}

impl<'c> Offer<'c> {
    pub(crate) fn new(
        own: &'c [SliceRow],
        reached: &'c [&'c SliceRow],
        counters: &'c Column<CounterId, CounterRow>,
    ) -> Self {
        Self { own, reached, counters, when: When::Now, stays: &[] }
    }

    /// The same devices once all that leave have left, but for those that stay with their claims.
    pub(crate) fn later(self, stays: &'c [(Want, SliceDeviceId)]) -> Self {
        Self { when: When::Later, stays, ..self }
    }

    /// Tells whether, once all that leave have left, anything can be had that cannot now.
    pub(crate) fn differs(&self) -> bool {
        let draws = |row: &SliceRow| {
            let left = |(counter, _): &(CounterId, i64)| {
                let row = self.counters.get(*counter);
                row.is_some_and(|row| row.left(When::Now) != row.left(When::Later))
            };
            row.facts.draws.iter().any(left)
        };
        !self.stays.is_empty() || self.iter().any(|row| row.leaving > 0 || draws(row))
    }

    /// The devices that stay with their claims, as if they had been picked.
    pub(crate) fn stays(&self) -> impl Iterator<Item = Pick<'c>> {
        self.stays.iter().filter_map(|(want, device)| {
            let at = self.iter().position(|row| row.facts.id == *device)?;
            Some(Pick { want, at })
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.own.len() + self.reached.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'c SliceRow> + use<'c> {
        self.own.iter().chain(self.reached.iter().copied())
    }

    pub(crate) fn row(&self, at: usize) -> &'c SliceRow {
        self.own.get(at).unwrap_or_else(|| self.reached[at - self.own.len()])
    }

    /// Tells whether each device goes to one want at most.
    pub(crate) fn is_exclusive(&self, wants: &[Want]) -> bool {
        !wants.iter().any(|want| want.admin) && self.iter().all(|row| row.facts.shares.is_none())
    }

    /// Tells whether a device that a claim has to itself, and that draws from no counter, is nobody's.
    pub(crate) fn is_plainly_open(&self, row: &SliceRow) -> bool {
        row.is_open(self.when)
    }

    /// Tells whether a device, whose row this is, may be picked beside what was picked before.
    pub(crate) fn is_open<'w>(
        &self,
        row: &SliceRow,
        pick: Pick<'w>,
        picks: impl Iterator<Item = Pick<'w>> + Clone,
    ) -> bool {
        let Pick { want, at } = pick;
        // Whoever has it may look at it; but one claim names a device once in either way.
        let mut mine = picks.clone().filter(|pick| pick.at == at && pick.want.claim == want.claim);
        if mine.any(|pick| want.admin || pick.want.admin) {
            return false;
        }
        if want.admin {
            return true;
        }
        if want.claim.is_none() && (at >= self.own.len() || row.facts.shares.is_some()) {
            // What stands in for an extended resource is a whole device of the node.
            return false;
        }
        let picks = picks.filter(|pick| !pick.want.admin);
        let has_room = match &row.facts.shares {
            None => row.is_open(self.when),
            Some(_) => self.has_share(row, pick, picks.clone()),
        };
        has_room && self.has_counters(row, at, &picks)
    }

    /// Tells whether enough is left of a device that claims share. One request has a share of it once.
    fn has_share<'w>(
        &self,
        row: &SliceRow,
        Pick { want, at }: Pick<'w>,
        picks: impl Iterator<Item = Pick<'w>> + Clone,
    ) -> bool {
        let Some(shares) = &row.facts.shares else { return false };
        let here = picks.filter(|other| other.at == at);
        let is_same =
            |other: Pick<'_>| (other.want.claim, other.want.request) == (want.claim, want.request);
        if here.clone().any(is_same) {
            return false;
        }
        (0..).zip(&shares.capacity).all(|(of, (_, capacity))| {
            let takes =
                |want: &Want| shares.taken_by(want.class).map_or(*capacity, |taken| taken[of]);
            let picked: i64 = here.clone().map(|pick| takes(pick.want)).sum();
            capacity - row.shared(of, self.when) - picked >= takes(want)
        })
    }

    /// Tells whether the counters that a device draws from hold enough; one in use draws already.
    fn has_counters<'w>(
        &self,
        row: &SliceRow,
        at: usize,
        picks: &(impl Iterator<Item = Pick<'w>> + Clone),
    ) -> bool {
        if row.facts.draws.is_empty()
            || !row.is_open(self.when)
            || picks.clone().any(|pick| pick.at == at)
        {
            return true;
        }
        row.facts.draws.iter().all(|(counter, amount)| {
            let left = self.counters.get(*counter).map_or(0, |row| row.left(self.when));
            // A device that several wants share draws once.
            let picked: BTreeSet<usize> = picks.clone().map(|pick| pick.at).collect();
            let rows =
                picked.into_iter().map(|at| self.row(at)).filter(|row| row.is_open(self.when));
            let draws = rows.flat_map(|row| &row.facts.draws).filter(|(of, _)| of == counter);
            left - draws.map(|(_, amount)| *amount).sum::<i64>() >= *amount
        })
    }
}

/// The devices of several nodes that a node reaches, in the order in which they are given away.
pub(crate) fn reached_devices(state: &State, node: NodeId) -> Vec<&SliceRow> {
    let reached = state.nodes().reached.get(node).map_or(&[][..], Vec::as_slice);
    reached.iter().flat_map(|reach| state.claims().reaches.own(*reach)).collect()
}
