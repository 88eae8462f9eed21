//! Picks devices of a node for requests: a search with backtracking over few devices.

use crate::{
    claim::{Claimed, DeviceCount, DeviceMatch, SliceRow},
    ids::{ClaimId, DeviceClassId, Symbol},
};

/// How many devices one search may look at before it gives up.
const LOOKS_MAX: u32 = 20_000;

/// One request that needs devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Want {
    pub(crate) claim: Option<ClaimId>,
    pub(crate) request: u16,
    pub(crate) class: DeviceClassId,
    pub(crate) count: DeviceCount,
    /// Whether it is an alternative to the one before it.
    pub(crate) instead: bool,
}

/// What values of an attribute the devices of some requests of a claim must have.
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
pub(crate) fn choose(
    devices: &[SliceRow],
    usable: &dyn Fn(&SliceRow) -> bool,
    wants: &[Want],
    alikes: &[Alike],
) -> Option<Vec<Claimed>> {
    let mut search = Search { devices, usable, alikes, looks: 0 };
    search.settle(wants, &mut Vec::with_capacity(wants.len()))
}

/// What all attempts have in common.
struct Search<'a> {
    devices: &'a [SliceRow],
    usable: &'a dyn Fn(&SliceRow) -> bool,
    alikes: &'a [Alike],
    looks: u32,
}

impl Search<'_> {
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
        let devices = self.devices;
        let slots = slots(devices, wants)?;
        let mut choice = Choice {
            wants,
            slots,
            taken: vec![false; devices.len()],
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
                    device: devices[*device].facts.id,
                })
                .collect();
            claimed.sort_by_key(|claimed| (claimed.claim, claimed.request));
            claimed
        })
    }
}

/// One entry a device to find: the want it is for. None where there are too few devices.
fn slots(devices: &[SliceRow], wants: &[Want]) -> Option<Vec<usize>> {
    let mut slots = Vec::new();
    // Those that leave no choice come first.
    for (at, want) in wants.iter().enumerate() {
        if want.count == DeviceCount::All {
            let all = devices.iter().filter(|row| row.is_of(want.class)).count();
            if all == 0 {
                return None;
            }
            slots.extend(std::iter::repeat_n(at, all));
        }
    }
    for (at, want) in wants.iter().enumerate() {
        if let DeviceCount::Exactly(count) = want.count {
            let count = usize::try_from(count).ok()?;
            if count + slots.len() > devices.len() {
                return None;
            }
            slots.extend(std::iter::repeat_n(at, count));
        }
    }
    Some(slots)
}

/// One attempt, with one of the alternatives of each want.
struct Choice<'s, 'a> {
    search: &'s mut Search<'a>,
    wants: &'s [Want],
    /// One entry a device to find: the want it is for.
    slots: Vec<usize>,
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
        let devices = self.search.devices;
        for (at, row) in devices.iter().enumerate().skip(from) {
            self.search.looks += 1;
            if self.search.looks > LOOKS_MAX {
                return false;
            }
            let is_of = row.is_of(self.wants[want].class);
            if self.taken[at] || !is_of || !(self.search.usable)(row) {
                continue;
            }
            if !self.agrees(want, row, depth) {
                continue;
            }
            self.taken[at] = true;
            self.picked.push(at);
            if self.fill() {
                return true;
            }
            self.picked.pop();
            self.taken[at] = false;
            self.forget(depth);
        }
        false
    }

    /// Whether a device goes with the values that were chosen before; chooses where none was.
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

    /// Whether a device that was picked already has this value.
    fn has(&self, alike: &Alike, value: Symbol) -> bool {
        let mut picked = self.slots.iter().zip(&self.picked);
        picked.any(|(want, at)| {
            let device = &self.search.devices[*at];
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
        claim::{DeviceCount, DeviceMatch, SliceDevice, SliceRow},
        ids::{DeviceClassId, SliceDeviceId, Symbol},
    };

    /// Devices as `classes/value`, `!` in front of one that is taken; wants as `class*count`, `|` in front of one that
    /// stands in for the one before. Values may have to be alike (true) or distinct (false).
    fn check(devices: &[&str], wants: &[&str], alike: Option<bool>, expect: Option<&[u32]>) {
        let class = |letter: char| DeviceClassId::new(u32::from(letter));
        let rows: Vec<SliceRow> = (0..)
            .zip(devices)
            .map(|(id, text)| {
                let (classes, value) = text.split_once('/').unwrap_or((text, "x"));
                let mut row = SliceRow::new(SliceDevice {
                    id: SliceDeviceId::new(id),
                    gpu: true,
                    classes: classes.trim_start_matches('!').chars().map(class).collect(),
                    attributes: Box::new([(
                        Symbol::new(1),
                        Symbol::new(u32::from(value.as_bytes()[0])),
                    )]),
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
                    claim: None,
                    request,
                    class: class(plain.chars().next().expect("a want has a class")),
                    count: match &plain[2..] {
                        "all" => DeviceCount::All,
                        count => DeviceCount::Exactly(count.parse().expect("a want has a count")),
                    },
                    instead: text.starts_with('|'),
                }
            })
            .collect();
        let attribute = Symbol::new(1);
        let of = |alike: bool| DeviceMatch { requests: Vec::new(), attribute, distinct: !alike };
        let alikes: Vec<Alike> =
            alike.map(|alike| Alike { claim: None, of: of(alike) }).into_iter().collect();
        let found = choose(&rows, &|row| row.held == 0, &wants, &alikes);
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
