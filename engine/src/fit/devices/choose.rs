//! Picks devices of a node for requests: a search with backtracking over few devices, within a budget.

use crate::{
    base::{
        few_map::FewMap,
        ids::{ClaimId, Symbol},
    },
    fit::devices::{
        offer::{Offer, Pick},
        prospects::Prospects,
        want::{Alike, Want, takes},
    },
    state::{looks::Looks, slices::SliceRow},
    told::claim::{CLAIM_DEVICES_MAX, Claimed, DeviceCount},
};

/// Finds devices for all wants, the first in the order of the node that do; none where there are none, or where the looks ran
/// out before any were found. Of alternatives the first that can be had is taken, those of earlier wants first.
///
/// Devices are picked one after the other first, with nothing taken back, which does where no two wants compete. Where it
/// does not, counting may show that nothing does; else what was picked is taken back step by step, with the same counting
/// after each pick.
///
/// # Cost
/// The number of wants times devices where no two wants compete, or too few devices are free; else what [`Looks`] allow.
pub(crate) fn choose(
    offer: Offer<'_>,
    wants: &[Want],
    alikes: &[Alike],
    looks: &mut Looks,
) -> Option<Vec<Claimed>> {
    looks.begin();
    let admin = wants.iter().any(|want| want.admin);
    let alternatives = wants.iter().any(|want| want.instead);
    let mut search = DeviceSearch { offer, alikes, admin, alternatives, looks };
    let found = search.settle(wants, &mut Vec::with_capacity(wants.len()));
    if found.is_none() && looks.are_out() {
        let constrained = alikes.iter().find_map(|alike| alike.claim);
        looks.give_up(constrained.or_else(|| wants.iter().find_map(|want| want.claim)));
    }
    found
}

/// Everything that all attempts have in common.
struct DeviceSearch<'a> {
    offer: Offer<'a>,
    alikes: &'a [Alike],
    /// True if some want may have devices whoever has them.
    admin: bool,
    /// True if some want stands in for another.
    alternatives: bool,
    looks: &'a mut Looks,
}

impl DeviceSearch<'_> {
    /// Settles on one of the alternatives of each want that is left, then tries those that were settled on.
    fn settle(&mut self, left: &[Want], settled: &mut Vec<Want>) -> Option<Vec<Claimed>> {
        if !self.alternatives {
            return self.attempt(left);
        }
        if left.is_empty() {
            return self.attempt(settled);
        }
        let count = 1 + left[1..].iter().take_while(|want| want.instead).count();
        for want in &left[..count] {
            if !self.looks.descend(1 + self.offer.len()) {
                return None;
            }
            if !self.may_have(want) {
                continue;
            }
            settled.push(*want);
            let found = self.settle(&left[count..], settled);
            settled.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Tells whether enough devices are open for a want where nothing else is picked.
    fn may_have(&self, want: &Want) -> bool {
        let stays: Vec<Pick<'_>> = self.offer.stays().collect();
        let of = self.offer.iter().enumerate().filter(|(_, row)| row.is_of(want.class));
        let (mut all, mut open) = (0, 0);
        for (at, row) in of {
            let pick = Pick { want, at };
            all += 1;
            open += u32::from(self.offer.is_open(row, pick, stays.iter().copied()));
        }
        match want.count {
            DeviceCount::Exactly(count) => open >= count,
            DeviceCount::All { .. } => all > 0 && open == all,
        }
    }

    fn attempt(&mut self, wants: &[Want]) -> Option<Vec<Claimed>> {
        let slots = slots(self.offer, wants, self.looks)?;
        // Whom a condition covers is asked once for each pair.
        if !self.looks.descend(wants.len() * self.alikes.len() / 8) {
            return None;
        }
        let mut choice = Choice::new(self, wants, slots);
        if choice.fill() {
            return Some(choice.claimed());
        }
        if choice.is_hopeless
            || !choice.search.looks.may_count(wants.len() * choice.search.offer.len())
        {
            return None;
        }
        choice.look_ahead();
        choice.prospects.as_ref()?;
        choice.fill().then(|| choice.claimed())
    }
}

/// One entry a device to find: the want it is for. None where there are too few devices, a claim would get more than one may
/// have, or the looks ran out.
fn slots(offer: Offer<'_>, wants: &[Want], looks: &mut Looks) -> Option<Vec<usize>> {
    let mut slots = Slots::default();
    // Those that leave no choice come first.
    for (at, want) in wants.iter().enumerate() {
        if matches!(want.count, DeviceCount::All { .. }) {
            if !looks.descend(offer.len()) {
                return None;
            }
            let all = offer.iter().filter(|row| row.is_of(want.class)).count();
            if all == 0 || !slots.add(at, want, all) {
                return None;
            }
        }
    }
    for (at, want) in wants.iter().enumerate() {
        if let DeviceCount::Exactly(count) = want.count {
            let count = usize::try_from(count).ok()?;
            let most = offer.len();
            if count > most || (count + slots.of.len() > most && offer.is_exclusive(wants)) {
                return None;
            }
            if !slots.add(at, want, count) {
                return None;
            }
        }
    }
    Some(slots.of)
}

/// Wants of the devices to find, one entry a device, and how many there are for each claim.
#[derive(Default)]
struct Slots {
    of: Vec<usize>,
    counts: FewMap<Option<ClaimId>, usize>,
}

impl Slots {
    /// Adds devices for a want; says whether its claim may have as many.
    fn add(&mut self, at: usize, want: &Want, count: usize) -> bool {
        let sum = self.counts.or_default(want.claim);
        *sum += count;
        let may = *sum <= CLAIM_DEVICES_MAX as usize;
        if may {
            self.of.extend(std::iter::repeat_n(at, count));
        }
        may
    }
}

/// One attempt, with one of the alternatives of each want.
struct Choice<'s, 'a, 'w> {
    search: &'s mut DeviceSearch<'a>,
    wants: &'w [Want],
    /// Per want the conditions that cover it; empty where there are no conditions.
    covering: Vec<Vec<usize>>,
    /// One entry a device to find: the want it is for.
    slots: Vec<usize>,
    /// Devices that other claims of the pod keep.
    stays: Vec<Pick<'a>>,
    taken: Vec<bool>,
    picked: Vec<usize>,
    /// Per attribute that must be alike: the value that all must have, with the depth at which it was chosen.
    values: Vec<Option<(Symbol, usize)>>,
    /// Prospects of what is left for wants; none while nothing is taken back.
    prospects: Option<Box<Prospects>>,
    /// True if nothing more is to be tried.
    is_over: bool,
    /// True if no device does for the first slot.
    is_hopeless: bool,
}

impl<'s, 'a, 'w> Choice<'s, 'a, 'w> {
    fn new(search: &'s mut DeviceSearch<'a>, wants: &'w [Want], slots: Vec<usize>) -> Self {
        let offer = search.offer;
        let stays: Vec<Pick<'_>> = offer.stays().collect();
        let mut taken = vec![false; offer.len()];
        for Pick { want, at } in &stays {
            taken[*at] |= takes(want, offer.row(*at));
        }
        let of = |want: &Want| {
            let covers = search.alikes.iter().enumerate().filter(|(_, alike)| alike.covers(want));
            covers.map(|(at, _)| at).collect()
        };
        let constrained = if search.alikes.is_empty() { &[][..] } else { wants };
        Self {
            covering: constrained.iter().map(of).collect(),
            values: vec![None; search.alikes.len()],
            search,
            wants,
            slots,
            stays,
            taken,
            picked: Vec::new(),
            prospects: None,
            is_over: false,
            is_hopeless: false,
        }
    }

    /// The devices that were picked.
    fn claimed(&self) -> Vec<Claimed> {
        let mut claimed: Vec<Claimed> = self
            .slots
            .iter()
            .zip(&self.picked)
            .map(|(want, device)| Claimed {
                claim: self.wants[*want].claim,
                request: self.wants[*want].request,
                device: self.search.offer.row(*device).facts.id,
            })
            .collect();
        claimed.sort_by_key(|claimed| (claimed.claim, claimed.request));
        claimed
    }

    /// Counts what is left for each want, unless that shows that the devices do not do.
    fn look_ahead(&mut self) {
        let offer = self.search.offer;
        self.covering.resize(self.wants.len(), Vec::new());
        let mut prospects = Prospects::new(offer, self.wants, &self.covering, self.search.alikes);
        for (want, ask) in self.wants.iter().enumerate() {
            if !prospects.is_first(want) {
                continue;
            }
            if !self.search.looks.descend(offer.len()) {
                return;
            }
            let is_open = |at: usize, row: &SliceRow| {
                let value = |of: &usize| row.attribute(self.search.alikes[*of].of.attribute);
                row.is_of(ask.class)
                    && self.is_open(ask, at, row)
                    && self.covering[want].iter().all(|of| value(of).is_some())
            };
            for (at, _) in offer.iter().enumerate().filter(|(at, row)| is_open(*at, row)) {
                prospects.open(want, at);
            }
        }
        for want in &self.slots {
            prospects.expect(*want);
        }
        let is_viable = prospects.is_viable(None);
        if self.search.looks.descend(prospects.take_cost()) && is_viable {
            self.is_over = false;
            self.prospects = Some(Box::new(prospects));
        }
    }

    /// Fills the slots from the next one on.
    fn fill(&mut self) -> bool {
        let depth = self.picked.len();
        let Some(&want) = self.slots.get(depth) else { return true };
        let offer = self.search.offer;
        let ask = &self.wants[want];
        for (at, row) in offer.iter().enumerate().skip(self.from(depth, want)) {
            let is_of = row.is_of(ask.class);
            if !self.look(if is_of { self.weight(row) } else { 1 }) {
                return false;
            }
            if !is_of || !self.is_open(ask, at, row) {
                continue;
            }
            if !self.agrees(want, row, depth) {
                continue;
            }
            let is_taken = takes(ask, row);
            self.taken[at] |= is_taken;
            self.picked.push(at);
            if self.is_viable(want, at) && self.fill() {
                return true;
            }
            if let Some(prospects) = &mut self.prospects {
                prospects.put_back(want, at, row);
            }
            self.picked.pop();
            self.taken[at] &= !is_taken;
            self.forget(depth);
            if self.is_over {
                return false;
            }
        }
        if self.prospects.is_none() {
            // Nothing is taken back before what is left was counted.
            self.is_over = true;
            self.is_hopeless = depth == 0;
        }
        false
    }

    /// Gives the first device that is looked at for a slot. Devices of one want are interchangeable, and those of wants
    /// that are alike: they are tried in ascending order only, in which the first that do come first.
    fn from(&self, depth: usize, want: usize) -> usize {
        if depth > 0 && self.slots[depth - 1] == want {
            return self.picked[depth - 1] + 1;
        }
        let Some(prospects) = &self.prospects else { return self.first_as_before(depth, want) };
        let Some(twin) = prospects.twin(want) else { return 0 };
        let mut of = self.slots.iter().zip(&self.picked).filter(|(of, _)| **of == twin);
        // Where a device may go to both, the two may begin with the same.
        let from = if prospects.is_exclusive() {
            of.next_back().map(|(_, at)| at + 1)
        } else {
            of.next().map(|(_, at)| *at)
        };
        from.unwrap_or(0)
    }

    /// Gives the first device that is looked at for a want while nothing is taken back: what was refused to one just before
    /// that is like it is refused to it.
    fn first_as_before(&self, depth: usize, want: usize) -> usize {
        let Some(before) = depth.checked_sub(1).map(|last| self.slots[last]) else { return 0 };
        let is_like = self.wants[before].is_like(&self.wants[want])
            && self.covering.get(before) == self.covering.get(want);
        let first = self.slots.iter().position(|of| *of == before).filter(|_| is_like);
        first.map_or(0, |first| self.picked[first])
    }

    /// Counts a look, of so many plain ones; says whether it may be made.
    #[inline]
    fn look(&mut self, weight: usize) -> bool {
        let looks = &mut *self.search.looks;
        let may = match self.prospects {
            None => looks.descend(weight),
            Some(_) => looks.search(weight),
        };
        self.is_over |= !may;
        may
    }

    /// Says what a look at a device costs, in looks at one that is nobody's or somebody's.
    fn weight(&self, row: &SliceRow) -> usize {
        if row.is_plain() && !self.search.admin {
            return 1;
        }
        1 + (self.picked.len() + self.stays.len()) * (1 + row.facts.draws.len())
    }

    /// Notes what was picked last; tells whether what is left may do for all other wants.
    fn is_viable(&mut self, want: usize, at: usize) -> bool {
        let Some(prospects) = &mut self.prospects else { return true };
        let row = self.search.offer.row(at);
        prospects.pick(want, at, row);
        let is_viable = prospects.is_viable(Some((want, at)));
        let cost = prospects.take_cost();
        self.look(cost) && is_viable
    }

    /// Tells whether a device may be picked beside what was picked before.
    #[inline]
    fn is_open(&self, ask: &Want, at: usize, row: &SliceRow) -> bool {
        if row.is_plain() && !ask.admin && ask.claim.is_some() && !self.search.admin {
            return !self.taken[at] && self.search.offer.is_plainly_open(row);
        }
        let wants = self.wants;
        let picks = self.slots.iter().zip(&self.picked);
        let picks = picks.map(|(want, at)| Pick { want: &wants[*want], at: *at });
        let picks = picks.chain(self.stays.iter().copied());
        let pick = Pick { want: ask, at };
        (ask.admin || !self.taken[at]) && self.search.offer.is_open(row, pick, picks)
    }

    /// Tells whether a device goes with the values that were chosen before; chooses where none was.
    fn agrees(&mut self, want: usize, row: &SliceRow, depth: usize) -> bool {
        for of in 0..self.covering.get(want).map_or(0, Vec::len) {
            let at = self.covering[want][of];
            let alike = &self.search.alikes[at];
            let value = row.attribute(alike.of.attribute);
            let agrees = match (self.values[at], value) {
                (_, None) => false,
                (_, Some(value)) if alike.of.distinct => !self.has(at, value),
                (Some((chosen, _)), Some(value)) => chosen == value,
                (None, Some(value)) => {
                    self.values[at] = Some((value, depth));
                    true
                }
            };
            let cost = if alike.of.distinct { 1 + self.picked.len() / 4 } else { 1 };
            if !agrees || !self.look(cost) {
                self.forget(depth);
                return false;
            }
        }
        true
    }

    /// Tells whether a device that was picked already has this value.
    fn has(&self, alike: usize, value: Symbol) -> bool {
        let attribute = self.search.alikes[alike].of.attribute;
        let mut picked = self.slots.iter().zip(&self.picked);
        picked.any(|(want, at)| {
            let device = self.search.offer.row(*at);
            self.covering[*want].contains(&alike) && device.attribute(attribute) == Some(value)
        })
    }

    /// Takes back what was chosen at a depth.
    fn forget(&mut self, depth: usize) {
        for value in &mut self.values {
            if value.is_some_and(|(_, at)| at == depth) {
                *value = None;
            }
        }
    }
}

#[cfg(test)]
mod sound;
#[cfg(test)]
mod tests;
