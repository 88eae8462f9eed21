//! A search for devices finds what one does that tries everything, in the same order.

use proptest::prelude::*;

use super::*;
use crate::{
    base::ids::{ClaimId, Column, CounterId, DeviceClassId, SliceDeviceId, Symbol},
    state::slices::CounterRow,
    told::claim::{DeviceMatch, Shares, SliceDevice},
};

const CAPACITY: Symbol = Symbol::new(9);

/// The first devices that do, of all ways to choose them.
fn first_of_all(offer: Offer<'_>, wants: &[Want], alikes: &[Alike]) -> Option<Vec<Claimed>> {
    let Some(at) = wants.iter().position(|want| want.instead) else {
        let mut looks = Looks::default();
        looks.begin();
        let slots = slots(offer, wants, &mut looks)?;
        let mut picked = Vec::new();
        let all = Everything { offer, wants, alikes, slots };
        return all.fill(&mut picked).then(|| {
            let pairs = all.slots.iter().zip(&picked);
            let mut claimed: Vec<Claimed> = pairs
                .map(|(want, at)| Claimed {
                    claim: wants[*want].claim,
                    request: wants[*want].request,
                    device: offer.row(*at).facts.id,
                })
                .collect();
            claimed.sort_by_key(|one| (one.claim, one.request));
            claimed
        });
    };
    let end = at + wants[at..].iter().take_while(|want| want.instead).count();
    (at - 1..end).find_map(|one| {
        let mut settled = wants.to_vec();
        settled[one].instead = false;
        settled.splice(at - 1..end, [settled[one]]);
        first_of_all(offer, &settled, alikes)
    })
}

struct Everything<'a> {
    offer: Offer<'a>,
    wants: &'a [Want],
    alikes: &'a [Alike],
    slots: Vec<usize>,
}

impl Everything<'_> {
    fn fill(&self, picked: &mut Vec<usize>) -> bool {
        let depth = picked.len();
        let Some(&want) = self.slots.get(depth) else { return true };
        let same = depth > 0 && self.slots[depth - 1] == want;
        let from = if same { picked[depth - 1] + 1 } else { 0 };
        (from..self.offer.len()).any(|at| {
            self.may(want, at, picked) && {
                picked.push(at);
                let does = self.fill(picked);
                if !does {
                    picked.pop();
                }
                does
            }
        })
    }

    fn may(&self, want: usize, at: usize, picked: &[usize]) -> bool {
        let (row, ask) = (self.offer.row(at), &self.wants[want]);
        let picks: Vec<Pick<'_>> = self
            .slots
            .iter()
            .zip(picked)
            .map(|(want, at)| Pick { want: &self.wants[*want], at: *at })
            .collect();
        let is_taken = picks.iter().any(|pick| pick.at == at && takes(pick.want, row));
        let value = |alike: &Alike, at: usize| self.offer.row(at).attribute(alike.of.attribute);
        let goes = |alike: &Alike| {
            let mine = value(alike, at);
            let mut covered = picks.iter().filter(|pick| alike.covers(pick.want));
            mine.is_some()
                && covered.all(|pick| (value(alike, pick.at) == mine) != alike.of.distinct)
        };
        row.is_of(ask.class)
            && (ask.admin || !is_taken)
            && self.offer.is_open(row, Pick { want: ask, at }, picks.iter().copied())
            && self.alikes.iter().filter(|alike| alike.covers(ask)).all(goes)
    }
}

/// A device: its classes, values, whether it is held, what it draws, and whether it is shared.
fn device() -> impl Strategy<Value = SliceRow> {
    let value = || prop_oneof![6 => (0..3_u32).prop_map(Some), 1 => Just(None)];
    let draw = prop_oneof![3 => Just(None), 1 => (1..4_i64).prop_map(Some)];
    (1..4_u32, value(), value(), 0..5_u32, draw, 0..6_u32).prop_map(
        |(classes, one, two, held, draw, share)| {
            let classes = (0..2).filter(|class| classes >> class & 1 == 1);
            let pair = |(name, value): (u32, Option<u32>)| {
                Some((Symbol::new(name), Symbol::new(100 + value?)))
            };
            let class = |class: u32| (DeviceClassId::new(class), Box::from([2 + i64::from(class)]));
            let shares = Shares {
                capacity: Box::new([(CAPACITY, 5)]),
                taken: [class(0), class(1)].into_iter().collect(),
            };
            let mut row = SliceRow::new(SliceDevice {
                attributes: [(1, one), (2, two)].into_iter().filter_map(pair).collect(),
                draws: draw.map(|amount| (CounterId::new(0), amount)).into_iter().collect(),
                shares: (share == 0).then(|| Box::new(shares)),
                ..SliceDevice::new(
                    SliceDeviceId::new(0),
                    false,
                    classes.map(DeviceClassId::new).collect(),
                )
            });
            row.held = u32::from(held == 0);
            row
        },
    )
}

fn ask() -> impl Strategy<Value = Want> {
    let count = prop_oneof![
        6 => Just(DeviceCount::Exactly(1)),
        3 => (1..4_u32).prop_map(DeviceCount::Exactly),
        1 => Just(DeviceCount::All { most: 4 }),
    ];
    (0..8_u32, 0..2_u32, count, 0..6_u32, 0..12_u32).prop_map(
        |(claim, class, count, instead, admin)| Want {
            claim: [None, Some(ClaimId::new(1))]
                .get(claim as usize)
                .copied()
                .unwrap_or(Some(ClaimId::new(0))),
            request: 0,
            class: DeviceClassId::new(class),
            count,
            instead: instead == 0,
            admin: admin == 0,
        },
    )
}

fn alike() -> impl Strategy<Value = Alike> {
    (0..6_u32, prop::collection::btree_set(0..6_u16, 0..4), 1..3_u32, any::<bool>()).prop_map(
        |(claim, requests, attribute, distinct)| Alike {
            claim: Some(ClaimId::new(u32::from(claim == 0))),
            of: DeviceMatch {
                requests: requests.into_iter().collect(),
                attribute: Symbol::new(attribute),
                distinct,
            },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_search_finds_what_one_does_that_tries_everything(
        mut devices in prop::collection::vec(device(), 1..8),
        mut wants in prop::collection::vec(ask(), 1..6),
        alikes in prop::collection::vec(alike(), 0..4),
        left in 0..8_i64,
    ) {
        for (id, device) in (0..).zip(&mut devices) {
            device.facts.id = SliceDeviceId::new(id);
        }
        let mut before = None;
        for (request, want) in (0..).zip(&mut wants) {
            want.request = request;
            // Alternatives are those of one claim, and the first want stands in for none.
            want.instead &= before == Some(want.claim);
            before = Some(want.claim);
        }
        let counters: Column<CounterId, CounterRow> =
            [CounterRow { capacity: left, drawn: 0, kept: 0 }].into_iter().collect();
        let offer = Offer::new(&devices, &[], &counters);
        let mut looks = Looks::default();
        let found = choose(offer, &wants, &alikes, &mut looks);
        // What was given up says nothing.
        prop_assume!(looks.given_up().is_none());
        prop_assert_eq!(found, first_of_all(offer, &wants, &alikes));
    }
}
