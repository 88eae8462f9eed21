//! Checks which devices are given, by what they are and what is asked for.

use super::{Alike, Want, choose};
use crate::{
    base::ids::{ClaimId, Column, CounterId, DeviceClassId, SliceDeviceId, Symbol},
    fit::devices::offer::Offer,
    state::{
        looks::Looks,
        slices::{CounterRow, SliceRow},
    },
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
    let found = choose(Offer::new(&rows, &[], &counters), &wants, &alikes, &mut Looks::default());
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
        let now = ids(choose(offer, wants, &[], &mut Looks::default()));
        now.or_else(|| ids(choose(offer.later(&[]), wants, &[], &mut Looks::default())))
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
        let found = choose(Offer::new(&rows, &[], &counters), wants, &[], &mut Looks::default());
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
        let found = choose(Offer::new(&rows, &[], &counters), wants, &[], &mut Looks::default());
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
