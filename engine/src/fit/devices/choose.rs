//! Picks devices of a node for requests: a search with backtracking over few devices.

use crate::{
    base::ids::{ClaimId, Symbol},
    fit::devices::{
        offer::{Offer, Pick},
        want::Want,
    },
    state::slices::SliceRow,
    told::claim::{Claimed, DeviceCount, DeviceMatch},
};

/// Number of devices that one search may look at before it gives up.
const LOOKS_MAX: u32 = 20_000;

/// A condition on the values of an attribute that the devices of some requests of a claim must have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Alike {
    pub(crate) claim: Option<ClaimId>,
    pub(crate) of: DeviceMatch,
}

impl Alike {
    fn covers(&self, want: &Want) -> bool {
        let requests = &self.of.requests;
        want.claim == self.claim && (requests.is_empty() || requests.contains(&want.request))
    }
}

/// Devices for all wants, the first in the order of the node that do; none where there are none. Of alternatives the
/// first that can be had is taken, those of earlier wants first.
///
/// # Cost
/// The number of devices where no two wants compete; at most 20,000 looks.
pub(crate) fn choose(offer: Offer<'_>, wants: &[Want], alikes: &[Alike]) -> Option<Vec<Claimed>> {
    let admin = wants.iter().any(|want| want.admin);
    let mut search = DeviceSearch { offer, alikes, admin, looks: 0 };
    search.settle(wants, &mut Vec::with_capacity(wants.len()))
}

/// Everything that all attempts have in common.
struct DeviceSearch<'a> {
    offer: Offer<'a>,
    alikes: &'a [Alike],
    /// True if some want may have devices whoever has them.
    admin: bool,
    looks: u32,
}

impl DeviceSearch<'_> {
    /// Settles on one of the alternatives of each want that is left, then tries those that were settled on.
    fn settle(&mut self, left: &[Want], settled: &mut Vec<Want>) -> Option<Vec<Claimed>> {
        if left.is_empty() {
            return self.attempt(settled);
        }
        let count = 1 + left[1..].iter().take_while(|want| want.instead).count();
        for want in &left[..count] {
            self.looks += 1;
            if self.looks > LOOKS_MAX {
                return None;
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

    fn attempt(&mut self, wants: &[Want]) -> Option<Vec<Claimed>> {
        let offer = self.offer;
        let slots = slots(offer, wants)?;
        let stays: Vec<Pick<'_>> = offer.stays().collect();
        let mut taken = vec![false; offer.len()];
        for Pick { want, at } in &stays {
            taken[*at] |= takes(want, offer.row(*at));
        }
        let mut choice = Choice {
            wants,
            slots,
            stays,
            taken,
            picked: Vec::new(),
            values: vec![None; self.alikes.len()],
            search: self,
        };
        choice.fill().then(|| {
            let mut claimed: Vec<Claimed> = choice
                .slots
                .iter()
                .zip(&choice.picked)
                .map(|(want, device)| Claimed {
                    claim: wants[*want].claim,
                    request: wants[*want].request,
                    device: offer.row(*device).facts.id,
                })
                .collect();
            claimed.sort_by_key(|claimed| (claimed.claim, claimed.request));
            claimed
        })
    }
}

/// One entry a device to find: the want it is for. None where there are too few devices.
fn slots(offer: Offer<'_>, wants: &[Want]) -> Option<Vec<usize>> {
    let mut slots = Vec::new();
    // Those that leave no choice come first.
    for (at, want) in wants.iter().enumerate() {
        if matches!(want.count, DeviceCount::All { .. }) {
            let all = offer.iter().filter(|row| row.is_of(want.class)).count();
            if all == 0 {
                return None;
            }
            slots.extend(std::iter::repeat_n(at, all));
        }
    }
    for (at, want) in wants.iter().enumerate() {
        if let DeviceCount::Exactly(count) = want.count {
            let count = usize::try_from(count).ok()?;
            let most = offer.len();
            if count > most || (count + slots.len() > most && offer.is_exclusive(wants)) {
                return None;
            }
            slots.extend(std::iter::repeat_n(at, count));
        }
    }
    Some(slots)
}

/// Tells whether nobody else may have a device beside a want.
fn takes(want: &Want, row: &SliceRow) -> bool {
    !want.admin && row.facts.shares.is_none()
}

/// One attempt, with one of the alternatives of each want.
struct Choice<'s, 'a> {
    search: &'s mut DeviceSearch<'a>,
    wants: &'s [Want],
    /// One entry a device to find: the want it is for.
    slots: Vec<usize>,
    /// Devices that other claims of the pod keep.
    stays: Vec<Pick<'a>>,
    taken: Vec<bool>,
    picked: Vec<usize>,
    /// Per attribute that must be alike: the value that all must have, with the depth at which it was chosen.
    values: Vec<Option<(Symbol, usize)>>,
}

impl Choice<'_, '_> {
    /// Fills the slots from the next one on.
    fn fill(&mut self) -> bool {
        let depth = self.picked.len();
        let Some(&want) = self.slots.get(depth) else { return true };
        // Devices of one want are interchangeable: they are tried in ascending order only.
        let same = depth > 0 && self.slots[depth - 1] == want;
        let from = if same { self.picked[depth - 1] + 1 } else { 0 };
        let offer = self.search.offer;
        let ask = &self.wants[want];
        for (at, row) in offer.iter().enumerate().skip(from) {
            self.search.looks += 1;
            if self.search.looks > LOOKS_MAX {
                return false;
            }
            if !row.is_of(ask.class) || !self.is_open(ask, at, row) {
                continue;
            }
            if !self.agrees(want, row, depth) {
                continue;
            }
            let is_taken = takes(ask, row);
            self.taken[at] |= is_taken;
            self.picked.push(at);
            if self.fill() {
                return true;
            }
            self.picked.pop();
            self.taken[at] &= !is_taken;
            self.forget(depth);
        }
        false
    }

    /// Tells whether a device may be picked beside what was picked before.
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
        let alikes = self.search.alikes;
        for (at, alike) in alikes.iter().enumerate() {
            if !alike.covers(&self.wants[want]) {
                continue;
            }
            let value = row.attribute(alike.of.attribute);
            let agrees = match (self.values[at], value) {
                (_, None) => false,
                (_, Some(value)) if alike.of.distinct => !self.has(alike, value),
                (Some((chosen, _)), Some(value)) => chosen == value,
                (None, Some(value)) => {
                    self.values[at] = Some((value, depth));
                    true
                }
            };
            if !agrees {
                self.forget(depth);
                return false;
            }
        }
        true
    }

    /// Tells whether a device that was picked already has this value.
    fn has(&self, alike: &Alike, value: Symbol) -> bool {
        let mut picked = self.slots.iter().zip(&self.picked);
        picked.any(|(want, at)| {
            let device = self.search.offer.row(*at);
            alike.covers(&self.wants[*want]) && device.attribute(alike.of.attribute) == Some(value)
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
mod tests {
    use super::{Alike, Want, choose};
    use crate::{
        base::ids::{ClaimId, Column, CounterId, DeviceClassId, SliceDeviceId, Symbol},
        fit::devices::offer::Offer,
        state::slices::{CounterRow, SliceRow},
        told::claim::{Claimed, DeviceCount, DeviceMatch, Shares, SliceDevice},
    };

    /// Devices as `classes/value`, `!` in front of one that is taken; wants as `class*count`, `|` in front of one that
    /// stands in for the one before. Values may have to be alike (true) or distinct (false).
    fn check(devices: &[&str], wants: &[&str], alike: Option<bool>, expect: Option<&[u32]>) {
        let class = |letter: char| DeviceClassId::new(u32::from(letter));
        let rows: Vec<SliceRow> = (0..)
            .zip(devices)
            .map(|(id, text)| {
                let (classes, value) = text.split_once('/').unwrap_or((text, "x"));
                let classes = classes.trim_start_matches('!').chars().map(class).collect();
                let value = Symbol::new(u32::from(value.as_bytes()[0]));
                let mut row = SliceRow::new(SliceDevice {
                    attributes: Box::new([(Symbol::new(1), value)]),
                    ..SliceDevice::new(SliceDeviceId::new(id), true, classes)
                });
                row.held = u32::from(text.starts_with('!'));
                row
            })
            .collect();
        let wants: Vec<Want> = (0..)
            .zip(wants)
            .map(|(request, text)| {
                let plain = text.trim_start_matches('|');
                Want {
                    claim: Some(ClaimId::new(0)),
                    request,
                    class: class(plain.chars().next().expect("a want has a class")),
                    count: match &plain[2..] {
                        "all" => DeviceCount::All { most: 2 },
                        count => DeviceCount::Exactly(count.parse().expect("a want has a count")),
                    },
                    instead: text.starts_with('|'),
                    admin: false,
                }
            })
            .collect();
        let attribute = Symbol::new(1);
        let of = |alike: bool| DeviceMatch { requests: Vec::new(), attribute, distinct: !alike };
        let alikes: Vec<Alike> =
            alike.map(|alike| Alike { claim: wants[0].claim, of: of(alike) }).into_iter().collect();
        let counters = Column::default();
        let found = choose(Offer::new(&rows, &[], &counters), &wants, &alikes);
        let found = found.map(|claimed| claimed.iter().map(|one| one.device).collect::<Vec<_>>());
        let expect = expect.map(|ids| ids.iter().copied().map(SliceDeviceId::new).collect());
        assert_eq!(found, expect, "{devices:?} {wants:?}");
    }

    #[test]
    fn devices_are_chosen_for_all_requests_or_for_none() {
        check(&["a", "a"], &["a*1"], None, Some(&[0]));
        check(&["!a", "a"], &["a*1"], None, Some(&[1]));
        check(&["a", "a"], &["a*3"], None, None);
        check(&["a", "b"], &["b*1"], None, Some(&[1]));
        // The first request leaves the only device that the second can have.
        check(&["ab", "a"], &["a*1", "b*1"], None, Some(&[1, 0]));
        check(&["a", "a", "b"], &["a*all"], None, Some(&[0, 1]));
        check(&["a", "!a"], &["a*all"], None, None);
        check(&["b"], &["a*all"], None, None);
        // Two of one value, where the first device has none like it.
        check(&["a/x", "a/y", "a/y"], &["a*2"], Some(true), Some(&[1, 2]));
        check(&["a/x", "b/y", "b/x"], &["a*1", "b*1"], Some(true), Some(&[0, 2]));
        check(&["a/x", "b/y"], &["a*1", "b*1"], Some(true), None);
    }

    /// A device of class `a`.
    fn device(id: u32) -> SliceDevice {
        SliceDevice::new(SliceDeviceId::new(id), false, Box::new([DeviceClassId::new(0)]))
    }

    /// A want of one device of class `a` for a claim.
    fn want(claim: u32, request: u16) -> Want {
        Want {
            claim: Some(ClaimId::new(claim)),
            request,
            class: DeviceClassId::new(0),
            count: DeviceCount::Exactly(1),
            instead: false,
            admin: false,
        }
    }

    fn ids(found: Option<Vec<Claimed>>) -> Option<Vec<u32>> {
        let id = |one: &Claimed| (0..9).find(|id| SliceDeviceId::new(*id) == one.device);
        found.map(|found| found.iter().filter_map(id).collect())
    }

    #[test]
    fn devices_that_draw_from_one_counter_are_had_while_it_holds_enough() {
        let draws = |amount| Box::from([(CounterId::new(0), amount)]);
        let whole = SliceRow::new(SliceDevice { draws: draws(4), ..device(0) });
        let half = |id| SliceRow::new(SliceDevice { draws: draws(2), ..device(id) });
        let rows = [whole, half(1), half(2), half(3)];
        let given = |drawn, kept, wants: &[Want]| {
            let counter = CounterRow { capacity: 4, drawn, kept };
            let counters: Column<CounterId, CounterRow> = [counter].into_iter().collect();
            let offer = Offer::new(&rows, &[], &counters);
            let now = ids(choose(offer, wants, &[]));
            now.or_else(|| ids(choose(offer.later(&[]), wants, &[])))
        };
        assert_eq!(given(0, 0, &[want(0, 0)]), Some(vec![0]));
        assert_eq!(given(0, 0, &[want(0, 0), want(0, 1)]), Some(vec![1, 2]));
        assert_eq!(given(0, 0, &[want(0, 0), want(0, 1), want(0, 2)]), None);
        assert_eq!(given(2, 2, &[want(0, 0)]), Some(vec![1]));
        assert_eq!(given(3, 3, &[want(0, 0)]), None);
        assert_eq!(given(4, 0, &[want(0, 0)]), Some(vec![0]), "once what leaves has left");
    }

    #[test]
    fn claims_share_a_device_while_it_has_enough_for_all() {
        let shares = |amount| Shares {
            capacity: Box::new([(Symbol::new(1), 10)]),
            taken: Box::new([(DeviceClassId::new(0), Box::new([amount]))]),
        };
        let check = |amount, wants: &[Want], expect: Option<&[u32]>| {
            let row = |id| {
                let shares = Some(Box::new(shares(amount)));
                SliceRow::new(SliceDevice { shares, ..device(id) })
            };
            let rows = [row(0), row(1)];
            let counters = Column::default();
            let found = choose(Offer::new(&rows, &[], &counters), wants, &[]);
            assert_eq!(ids(found).as_deref(), expect, "{amount} {wants:?}");
        };
        check(5, &[want(0, 0), want(1, 0), want(2, 0)], Some(&[0, 0, 1]));
        check(6, &[want(0, 0), want(1, 0)], Some(&[0, 1]));
        check(6, &[want(0, 0), want(1, 0), want(2, 0)], None);
        check(11, &[want(0, 0)], None);
        // Two devices of one request are two devices; two requests may share one.
        let two = Want { count: DeviceCount::Exactly(2), ..want(0, 0) };
        check(2, &[two], Some(&[0, 1]));
        check(2, &[want(0, 0), want(0, 1)], Some(&[0, 0]));
        // What stands in for an extended resource is a whole device.
        check(2, &[Want { claim: None, ..want(0, 0) }], None);
    }

    #[test]
    fn access_to_devices_takes_none() {
        let mut taken = SliceRow::new(device(0));
        taken.held = 1;
        let rows = [taken, SliceRow::new(device(1))];
        let admin = |count| Want { count, admin: true, ..want(0, 0) };
        let check = |wants: &[Want], expect: Option<&[u32]>| {
            let counters = Column::default();
            let found = choose(Offer::new(&rows, &[], &counters), wants, &[]);
            assert_eq!(ids(found).as_deref(), expect, "{wants:?}");
        };
        check(&[admin(DeviceCount::Exactly(1))], Some(&[0]));
        check(&[admin(DeviceCount::All { most: 2 })], Some(&[0, 1]));
        check(&[admin(DeviceCount::Exactly(3))], None);
        // Another claim has what this one looks at; the same one may not have it twice.
        check(&[admin(DeviceCount::All { most: 2 }), want(1, 0)], Some(&[0, 1, 1]));
        check(&[admin(DeviceCount::All { most: 2 }), want(0, 1)], None);
    }

    #[test]
    fn values_may_have_to_differ() {
        check(&["a/x", "a/x", "a/y"], &["a*2"], Some(false), Some(&[0, 2]));
        check(&["a/x", "a/x"], &["a*2"], Some(false), None);
        check(&["a/x", "b/x", "b/y"], &["a*1", "b*1"], Some(false), Some(&[0, 2]));
    }

    #[test]
    fn the_first_alternative_that_can_be_had_is_taken() {
        check(&["a", "b"], &["a*1", "|b*1"], None, Some(&[0]));
        check(&["!a", "b"], &["a*1", "|b*1"], None, Some(&[1]));
        check(&["!a", "b", "b"], &["a*1", "|b*3", "|b*2"], None, Some(&[1, 2]));
        check(&["!a", "!b"], &["a*1", "|b*1"], None, None);
        // The earlier request has its best, the later one makes do.
        check(&["a", "b"], &["a*1", "|b*1", "a*1", "|b*1"], None, Some(&[0, 1]));
        check(&["b", "b"], &["a*1", "|b*1", "a*1", "|b*1"], None, Some(&[0, 1]));
    }
}
