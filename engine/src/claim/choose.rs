//! Picks devices of a node for requests: a search with backtracking over few devices.

use crate::{
    claim::{Claimed, DeviceCount, SliceRow},
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
}

/// Requests whose devices must have the same value of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Alike {
    /// Positions among the wants.
    pub(crate) wants: Vec<usize>,
    pub(crate) attribute: Symbol,
}

struct Choice<'a> {
    devices: &'a [SliceRow],
    usable: &'a dyn Fn(&SliceRow) -> bool,
    wants: &'a [Want],
    alikes: &'a [Alike],
    /// One entry a device to find: the want it is for.
    slots: Vec<usize>,
    taken: Vec<bool>,
    picked: Vec<usize>,
    /// Per attribute: the value that all must have, with the depth at which it was chosen.
    values: Vec<Option<(Symbol, usize)>>,
    looks: u32,
}

/// Devices for all wants, the first in the order of the node that do; none where there are none.
///
/// # Cost
/// The number of devices where no two wants compete; at most 20,000 looks.
pub(crate) fn choose(
    devices: &[SliceRow],
    usable: &dyn Fn(&SliceRow) -> bool,
    wants: &[Want],
    alikes: &[Alike],
) -> Option<Vec<Claimed>> {
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
    let mut choice = Choice {
        devices,
        usable,
        wants,
        alikes,
        slots,
        taken: vec![false; devices.len()],
        picked: Vec::new(),
        values: vec![None; alikes.len()],
        looks: 0,
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

impl Choice<'_> {
    /// Fills the slots from the next one on.
    fn fill(&mut self) -> bool {
        let depth = self.picked.len();
        let Some(&want) = self.slots.get(depth) else { return true };
        // Devices of one want are interchangeable: they are tried in ascending order only.
        let same = depth > 0 && self.slots[depth - 1] == want;
        let from = if same { self.picked[depth - 1] + 1 } else { 0 };
        for at in from..self.devices.len() {
            self.looks += 1;
            if self.looks > LOOKS_MAX {
                return false;
            }
            let row = &self.devices[at];
            if self.taken[at] || !row.is_of(self.wants[want].class) || !(self.usable)(row) {
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

    /// Whether a device has the values that were chosen before; chooses where none was.
    fn agrees(&mut self, want: usize, row: &SliceRow, depth: usize) -> bool {
        for (at, alike) in self.alikes.iter().enumerate() {
            if !alike.wants.contains(&want) {
                continue;
            }
            let value = row.attribute(alike.attribute);
            let agrees = match (self.values[at], value) {
                (_, None) => false,
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
        claim::{DeviceCount, SliceDevice, SliceRow},
        ids::{DeviceClassId, SliceDeviceId, Symbol},
    };

    /// Devices as `classes/value`, `!` in front of one that is taken; wants as `class*count`.
    fn check(devices: &[&str], wants: &[&str], alike: bool, expect: Option<&[u32]>) {
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
            .map(|(request, text)| Want {
                claim: None,
                request,
                class: class(text.chars().next().expect("a want has a class")),
                count: match &text[2..] {
                    "all" => DeviceCount::All,
                    count => DeviceCount::Exactly(count.parse().expect("a want has a count")),
                },
            })
            .collect();
        let alikes: Vec<Alike> = alike
            .then(|| Alike { wants: (0..wants.len()).collect(), attribute: Symbol::new(1) })
            .into_iter()
            .collect();
        let found = choose(&rows, &|row| row.held == 0, &wants, &alikes);
        let found = found.map(|claimed| claimed.iter().map(|one| one.device).collect::<Vec<_>>());
        let expect = expect.map(|ids| ids.iter().copied().map(SliceDeviceId::new).collect());
        assert_eq!(found, expect, "{devices:?} {wants:?}");
    }

    #[test]
    fn devices_are_chosen_for_all_requests_or_for_none() {
        check(&["a", "a"], &["a*1"], false, Some(&[0]));
        check(&["!a", "a"], &["a*1"], false, Some(&[1]));
        check(&["a", "a"], &["a*3"], false, None);
        check(&["a", "b"], &["b*1"], false, Some(&[1]));
        // The first request leaves the only device that the second can have.
        check(&["ab", "a"], &["a*1", "b*1"], false, Some(&[1, 0]));
        check(&["a", "a", "b"], &["a*all"], false, Some(&[0, 1]));
        check(&["a", "!a"], &["a*all"], false, None);
        check(&["b"], &["a*all"], false, None);
        // Two of one value, where the first device has none like it.
        check(&["a/x", "a/y", "a/y"], &["a*2"], true, Some(&[1, 2]));
        check(&["a/x", "b/y", "b/x"], &["a*1", "b*1"], true, Some(&[0, 2]));
        check(&["a/x", "b/y"], &["a*1", "b*1"], true, None);
    }
}
