//! Devices that resource slices publish, with the counts of who has them, and counters that they draw from.

use crate::{
    base::{
        ids::{ClaimId, DeviceClassId, Symbol},
        resources::GPU_MILLI,
    },
    decided::when::When,
    state::booking::Booking,
    told::claim::{Claim, Claimed, SliceDevice},
};

/// A published device and who has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SliceRow {
    pub(crate) facts: SliceDevice,
    /// Number of pods that hold it, leaving ones included. Derived.
    pub(crate) held: u32,
    /// Number of them that are leaving. Derived.
    pub(crate) leaving: u32,
    /// Number of nominated pods that it is kept for. Derived.
    pub(crate) nominated: u32,
    /// Of a device that claims share: who has what of it, by claim and request. Derived.
    pub(crate) shares: Vec<ShareRow>,
}

/// Part of a device that claims share which a request of a claim has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShareRow {
    of: (Option<ClaimId>, u16),
    /// Per capacity of the device.
    amounts: Box<[i64]>,
    held: u32,
    leaving: u32,
    nominated: u32,
}

/// A counter that devices draw from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CounterRow {
    pub(crate) capacity: i64,
    /// Amount that devices draw which somebody has or was nominated for. Derived.
    pub(crate) drawn: i64,
    /// The part of it that is still drawn once all that leave have left. Derived.
    pub(crate) kept: i64,
}

impl CounterRow {
    /// Gives what is left of it.
    pub(crate) fn left(&self, when: When) -> i64 {
        self.capacity
            - match when {
                When::Now => self.drawn,
                When::Later => self.kept,
            }
    }
}

impl ShareRow {
    fn is_gone(&self) -> bool {
        self.held == 0 && self.nominated == 0
    }

    fn is_kept(&self, when: When) -> bool {
        self.nominated > 0
            || match when {
                When::Now => self.held > 0,
                When::Later => self.held > self.leaving,
            }
    }
}

impl SliceRow {
    pub(crate) fn new(facts: SliceDevice) -> Self {
        Self { facts, held: 0, leaving: 0, nominated: 0, shares: Vec::new() }
    }

    /// Tells whether a device is told as it was, but for what selects it.
    pub(crate) fn is_but_for_classes(&self, told: &SliceDevice) -> bool {
        let SliceDevice { id, gpu, classes: _, attributes, draws, shares, binds } = told;
        let known = &self.facts;
        (known.id, known.gpu, known.binds) == (*id, *gpu, *binds)
            && (&known.attributes, &known.draws, &known.shares) == (attributes, draws, shares)
    }

    /// Tells whether a selection has it.
    pub(crate) fn is_of(&self, class: DeviceClassId) -> bool {
        self.facts.classes.binary_search(&class).is_ok()
    }

    /// Its value of an attribute.
    pub(crate) fn attribute(&self, attribute: Symbol) -> Option<Symbol> {
        let of = |(key, _): &&(Symbol, Symbol)| *key == attribute;
        self.facts.attributes.iter().find(of).map(|(_, value)| *value)
    }

    /// Tells whether nobody has it, nor will.
    pub(crate) fn is_free(&self) -> bool {
        self.held == 0 && self.nominated == 0
    }

    /// Tells whether it is free, or will be, and is kept for nobody.
    pub(crate) fn comes_free(&self) -> bool {
        self.held == self.leaving && self.nominated == 0
    }

    /// Tells whether it is nobody's, now or once all that leave have left.
    pub(crate) fn is_open(&self, when: When) -> bool {
        match when {
            When::Now => self.is_free(),
            When::Later => self.comes_free(),
        }
    }

    /// Tells whether it is one that a claim has to itself and that draws from no counter.
    pub(crate) fn is_plain(&self) -> bool {
        self.facts.shares.is_none() && self.facts.draws.is_empty()
    }

    /// Sums what claims have of one of its capacities.
    pub(crate) fn shared(&self, capacity: usize, when: When) -> i64 {
        let kept = self.shares.iter().filter(|share| share.is_kept(when));
        kept.map(|share| share.amounts[capacity]).fold(0, i64::saturating_add)
    }

    /// Gives what it takes of its node's idle GPUs, in milli-devices.
    pub(super) fn idle_milli(&self) -> i64 {
        if self.facts.gpu && self.held > 0 { -GPU_MILLI } else { 0 }
    }

    /// Gives what it adds to its node's releasing GPUs, in milli-devices.
    pub(super) fn releasing_milli(&self) -> i64 {
        if !self.facts.gpu {
            0
        } else if self.held > 0 && self.held == self.leaving && self.nominated == 0 {
            GPU_MILLI
        } else if self.held == 0 && self.nominated > 0 {
            -GPU_MILLI
        } else {
            0
        }
    }

    /// Counts a holder, or one less.
    pub(super) fn count(&mut self, entry: Booking) {
        entry.count(&mut self.held, &mut self.leaving, &mut self.nominated);
    }

    /// Counts a holder of a claim's share, or one less; with the facts of the claim, where it is known.
    pub(super) fn count_share(&mut self, claim: Option<&Claim>, claimed: &Claimed, entry: Booking) {
        let of = (claimed.claim, claimed.request);
        let at = match self.shares.binary_search_by_key(&of, |share| share.of) {
            Ok(at) => at,
            Err(at) => {
                let amounts = self.amounts(claim, claimed);
                let share = ShareRow { of, amounts, held: 0, leaving: 0, nominated: 0 };
                self.shares.insert(at, share);
                at
            }
        };
        let share = &mut self.shares[at];
        entry.count(&mut share.held, &mut share.leaving, &mut share.nominated);
        if share.is_gone() {
            self.shares.remove(at);
        }
    }

    /// Gives what a claim has of it: what it was told to have, else what its request makes of it.
    fn amounts(&self, claim: Option<&Claim>, claimed: &Claimed) -> Box<[i64]> {
        let Some(shares) = &self.facts.shares else { return Box::default() };
        let told = claim.and_then(|claim| claim.allocation.as_ref()).and_then(|given| {
            let is_it = |one: &&crate::told::claim::Consumed| {
                one.request == claimed.request && one.device == claimed.device
            };
            given.consumed.iter().find(is_it)
        });
        if let Some(told) = told {
            let amount = |(name, _): &(Symbol, i64)| {
                let of = told.amounts.iter().find(|(told, _)| told == name);
                of.map_or(0, |(_, amount)| *amount)
            };
            return shares.capacity.iter().map(amount).collect();
        }
        let request = claim.and_then(|claim| claim.requests.get(usize::from(claimed.request)));
        let taken = request.and_then(|request| shares.taken_by(request.class));
        let whole = || shares.capacity.iter().map(|(_, amount)| *amount).collect();
        taken.map_or_else(whole, Box::from)
    }
}
