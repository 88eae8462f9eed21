//! Describes what devices there are and what selects them: `ResourceSlice`s and `DeviceClass`es, kept as far as matching needs.
//!
//! A *selection* is a device class with the selectors of a request. The engine knows each by a number, and each
//! device by the selections that have it. Selectors are asked elsewhere, each once of each device: what has no answer
//! yet is not selected, and what answers concern is told before the next cycle.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    charge::Charges,
    device::{Attribute, Device},
    held::Claims,
    share::qualified,
};
use crate::{
    cel::{Answer, Described},
    ingest::Context,
    names::{AskedFor, Names, Number, SpecialDevice},
};
use kai_engine::{
    CounterId, Delta, DeviceClass, DeviceClassId, Lane, NodeId, Reach, ReachId, Shares,
    SliceDevice, SliceDeviceId, Timestamp,
};

mod asking;
mod gpus;
mod selection;
mod verdicts;

pub(in crate::ingest) use super::device::Site;
use asking::Asking;
use gpus::GpuClasses;
pub(in crate::ingest) use gpus::is_gpu;
pub(super) use selection::Wish;
use selection::{IDLE_MAX, Selection, Selections};
use verdicts::Verdicts;

/// Classes, selections and slices.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Catalog {
    pub(in crate::ingest) classes: BTreeMap<Box<str>, Class>,
    pub(in crate::ingest) slices: BTreeMap<Box<str>, Slice>,
    by_site: BTreeMap<Site, BTreeSet<Box<str>>>,
    /// Slices by driver and pool.
    by_pool: BTreeMap<Pool, BTreeSet<Box<str>>>,
    selections: Selections,
    asking: Asking,
    /// Holds what is known of selectors and devices.
    verdicts: Verdicts,
    pub(super) gpu_classes: GpuClasses,
    /// Attributes that claims want alike, each with how often.
    matched: BTreeMap<Box<str>, u32>,
    /// Says where devices have to be told anew.
    stale: BTreeSet<Site>,
    /// Pools of which slices came or went.
    stale_pools: BTreeSet<Pool>,
    /// Holds what counters were told to hold.
    counters: BTreeMap<u32, i64>,
    /// Holds what was told of claims that more than their objects decides about.
    pub(super) claims: Claims,
    /// Holds the devices of selections that decide what claims are charged.
    pub(super) charges: Charges,
}

/// Driver and name of a pool.
type Pool = (Box<str>, Box<str>);

/// A device class.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::ingest) struct Class {
    pub(in crate::ingest) selectors: Vec<Box<str>>,
    /// The extended resource that it names, to serve it where no device plugin does, and no other class before it.
    pub(in crate::ingest) backs: Option<Lane>,
    /// True if it is the class of this resource that serves it.
    pub(in crate::ingest) serves: bool,
    /// The extended resource that has its name from the class.
    pub(in crate::ingest) implicit: Lane,
    pub(in crate::ingest) created: Timestamp,
    pub(in crate::ingest) generation: u32,
}

/// A device that a slice publishes at a site.
#[derive(Clone, Copy)]
struct Published<'p> {
    site: Site,
    slice: &'p Slice,
    device: &'p Device,
}

/// A slice of a pool.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Slice {
    pub(in crate::ingest) driver: Box<str>,
    pub(in crate::ingest) pool: Box<str>,
    /// `spec.pool.generation`; only the newest of a pool counts.
    pub(in crate::ingest) pool_generation: i64,
    /// Says how many slices the pool has at that generation; fewer make no pool.
    pub(in crate::ingest) pool_slices: usize,
    /// Each with who reaches it, and what selectors see of it.
    pub(in crate::ingest) devices: Vec<(Site, Device, Arc<Described>)>,
    /// Holds what counters of the pool hold, by set and counter, in thousandths.
    pub(in crate::ingest) counters: Vec<(Box<str>, i64)>,
    pub(in crate::ingest) generation: u32,
}

impl Slice {
    fn sites(&self) -> BTreeSet<Site> {
        self.devices.iter().map(|(site, ..)| *site).collect()
    }

    /// The single nodes that devices of it are of.
    pub(in crate::ingest) fn nodes(&self) -> Vec<u32> {
        let node = |site| match site {
            Site::Node(node) => Some(node),
            Site::Reach(_) => None,
        };
        self.sites().into_iter().filter_map(node).collect()
    }

    fn of_pool(&self) -> Pool {
        (self.driver.clone(), self.pool.clone())
    }
}

impl Catalog {
    /// The number of a device class with further selectors; a new one is matched before the next cycle.
    pub(in crate::ingest) fn selection(&mut self, class: &str, own: Wish) -> (DeviceClassId, bool) {
        let (number, is_new) = self.selections.number(class, own, self.classes.get(class));
        if is_new {
            self.match_anew();
        }
        (DeviceClassId::new(number), is_new)
    }

    /// Tells whether a claim of a namespace may ask for so much, whatever it is.
    pub(super) fn has_room(&self, namespace: &str, requests: usize, attributes: usize) -> bool {
        self.asking.has_room(namespace, requests, attributes)
    }

    /// Tells whether a claim would have too many things compared with every device.
    pub(super) fn is_over(
        &self,
        namespace: &str,
        wishes: impl Iterator<Item = (Box<str>, Wish)>,
        attributes: impl Iterator<Item = Box<str>>,
    ) -> bool {
        self.asking.is_over(namespace, wishes, attributes, &self.selections)
    }

    /// The number of what stands for a device class and is none, until it is handed back.
    pub(in crate::ingest) fn lend(&mut self) -> u32 {
        self.selections.lend()
    }

    /// Takes a number back that was lent.
    pub(in crate::ingest) fn hand_back(&mut self, class: DeviceClassId) {
        self.selections.hand_back(class.number());
    }

    /// From now on devices are told with their values of these attributes, and by and by no more with those of before.
    fn match_attributes(&mut self, now: &[Box<str>], before: &[Box<str>]) {
        for attribute in now {
            let count = self.matched.entry(attribute.clone()).or_insert_with(|| {
                self.stale.extend(self.by_site.keys());
                0
            });
            *count += 1;
        }
        for attribute in before {
            if let Some(count) = self.matched.get_mut(attribute) {
                *count -= 1;
            }
        }
        if self.matched.values().filter(|count| **count == 0).count() > IDLE_MAX {
            self.matched.retain(|_, count| *count > 0);
        }
    }

    /// Gives the selections of a class its selectors; says which there are.
    fn class_changed(&mut self, class: &str) -> Vec<(DeviceClassId, Option<DeviceClass>)> {
        let facts = self.classes.get(class);
        let told = |selection: &Selection| facts.map(|class| selection.told(class));
        let touched = self.selections.class_changed(class, facts).into_iter();
        let touched: Vec<_> =
            touched.map(|(number, one)| (DeviceClassId::new(number), told(one))).collect();
        if !touched.is_empty() {
            self.match_anew();
        }
        touched
    }

    pub(in crate::ingest) fn put(&mut self, name: &str, slice: Slice) {
        self.take(name);
        for site in slice.sites() {
            self.by_site.entry(site).or_default().insert(Box::from(name));
        }
        self.by_pool.entry(slice.of_pool()).or_default().insert(Box::from(name));
        let pool = slice.of_pool();
        self.slices.insert(Box::from(name), slice);
        self.pool_changed(pool);
    }

    /// Has the devices of all sites told anew.
    pub(super) fn match_anew(&mut self) {
        self.stale.extend(self.by_site.keys());
    }

    /// Takes a slice out.
    pub(in crate::ingest) fn take(&mut self, name: &str) -> Option<Slice> {
        let pool = self.slices.get(name)?.of_pool();
        self.pool_changed(pool.clone());
        let slice = self.slices.remove(name)?;
        for site in slice.sites() {
            leave(&mut self.by_site, &site, name);
        }
        leave(&mut self.by_pool, &pool, name);
        Some(slice)
    }

    /// Has all slices of a pool told anew: whether it is complete shows in each.
    fn pool_changed(&mut self, pool: Pool) {
        for name in self.by_pool.get(&pool).into_iter().flatten() {
            self.stale.extend(self.slices.get(name).iter().flat_map(|slice| slice.sites()));
        }
        self.stale_pools.insert(pool);
    }

    /// A device as selectors see it, which many devices share.
    pub(in crate::ingest) fn described(&mut self, device: Described) -> Arc<Described> {
        self.verdicts.described(device)
    }

    /// Takes verdicts in; the sites that waited for them are told anew.
    pub(in crate::ingest) fn answered(&mut self, answers: Vec<Answer>) {
        for answer in answers {
            self.stale.extend(self.verdicts.answered(answer));
        }
    }

    /// Forgets what is known of devices that are gone, and of selectors that nobody uses.
    fn tidy(&mut self) {
        if self.verdicts.is_large() {
            let used = self.selections.iter().flat_map(|(_, one)| one.expressions());
            self.verdicts.tidy(&used.cloned().collect());
        }
    }

    /// The slices of a pool at its newest generation; none while it is not complete.
    fn complete(&self, pool: &Pool) -> Option<Vec<&Slice>> {
        let names = self.by_pool.get(pool).into_iter().flatten();
        let all: Vec<&Slice> = names.filter_map(|name| self.slices.get(name)).collect();
        let newest = all.iter().map(|slice| slice.pool_generation).max()?;
        let current = all.into_iter().filter(|slice| slice.pool_generation == newest);
        let current: Vec<&Slice> = current.collect();
        current.iter().all(|slice| slice.pool_slices == current.len()).then_some(current)
    }

    /// The slices at a site that count: of complete pools, at their newest generation.
    fn current(&self, site: Site) -> Vec<&Slice> {
        let names = self.by_site.get(&site).into_iter().flatten();
        let slices = names.filter_map(|name| self.slices.get(name));
        let pools: BTreeSet<Pool> = slices.map(Slice::of_pool).collect();
        // Slices of a pool are in the order of their names.
        let current = pools.iter().filter_map(|pool| self.complete(pool)).flatten();
        current.filter(|slice| slice.devices.iter().any(|(of, ..)| *of == site)).collect()
    }
}

fn leave<K: Ord>(all: &mut BTreeMap<K, BTreeSet<Box<str>>>, key: &K, name: &str) {
    if let Some(names) = all.get_mut(key) {
        names.remove(name);
        if names.is_empty() {
            all.remove(key);
        }
    }
}

impl Catalog {
    /// A class came, changed or went: its selections are told, and matched anew.
    pub(in crate::ingest) fn tell_class(&mut self, context: &mut Context, class: &str) {
        self.selection(class, Wish::default());
        for (id, told) in self.class_changed(class) {
            context.deltas.push(match told {
                Some(told) => Delta::DeviceClass(id, told),
                None => Delta::DeviceClassGone(id),
            });
        }
    }

    /// The number of a selection; the engine hears of a new one.
    pub(in crate::ingest) fn tell_selection(
        &mut self,
        context: &mut Context,
        class: &str,
        own: Wish,
    ) -> DeviceClassId {
        let (id, is_new) = self.selection(class, own);
        if is_new && self.classes.contains_key(class) {
            context.deltas.push(Delta::DeviceClass(id, DeviceClass::default()));
        }
        id
    }

    /// Notes what a claim asks for from now on. What no claim asks for any more is let go by and by.
    pub(in crate::ingest) fn asks(
        &mut self,
        context: &mut Context,
        claim: u32,
        asked: Vec<AskedFor>,
        alike: Vec<Box<str>>,
    ) {
        let Context { names, deltas, .. } = context;
        let before = std::mem::replace(&mut names.claims[claim].alike, alike);
        let alike = &names.claims[claim].alike;
        self.match_attributes(alike, &before);
        let namespace =
            names.claims.key(claim).split_once('/').map_or("", |(namespace, _)| namespace);
        let namespace: Arc<str> = Arc::from(namespace);
        self.asking.enter(&namespace, &asked, alike);
        self.asking.leave(&namespace, &names.claims[claim].asked, &before);
        for one in &asked {
            if self.selections.enter(one.selection, &namespace) {
                self.match_anew();
            }
        }
        for one in std::mem::replace(&mut names.claims[claim].asked, asked) {
            self.selections.leave(one.selection, &namespace);
        }
        for (number, was_told) in self.selections.evict(&self.classes) {
            self.charges.forget(number);
            let gone = Delta::DeviceClassGone(DeviceClassId::new(number));
            deltas.extend(was_told.then_some(gone));
        }
    }

    /// Tells the devices of sites where something changed, and counters that hold something else.
    pub(in crate::ingest) fn flush(&mut self, context: &mut Context) {
        let pools = std::mem::take(&mut self.stale_pools);
        for pool in pools {
            self.tell_counters(context, &pool);
        }
        let stale = std::mem::take(&mut self.stale);
        if stale.is_empty() {
            return;
        }
        let mut verdicts = std::mem::take(&mut self.verdicts);
        for site in stale {
            let mut devices = Vec::new();
            let names = &mut context.names;
            for slice in self.current(site) {
                for (_, device, described) in slice.devices.iter().filter(|(of, ..)| *of == site) {
                    let is_selected = |selection: &Selection, verdicts: &mut Verdicts| {
                        selection.holds(described, site, verdicts)
                    };
                    let told = self.told(names, Published { site, slice, device }, |selection| {
                        is_selected(selection, &mut verdicts)
                    });
                    devices.push(told);
                }
            }
            self.charges.count(site, &devices);
            self.note_gpus(context, &devices);
            let Context { names, deltas, .. } = &mut *context;
            deltas.push(match site {
                Site::Node(node) => Delta::Slices(NodeId::new(node), devices),
                Site::Reach(reach) => {
                    let uid = uuid::Uuid::new_v5(
                        &uuid::Uuid::NAMESPACE_OID,
                        names.reaches.key(reach).as_bytes(),
                    );
                    let nodes = names.reaches[reach].terms.clone();
                    let told = Reach { uid: uid.as_u128(), nodes, devices };
                    Delta::Reach(ReachId::new(reach), Box::new(told))
                }
            });
        }
        context.questions.append(&mut verdicts.questions);
        self.verdicts = verdicts;
        self.charge_anew(context);
        self.tidy();
        let unselected = self.selections.unselected(&self.verdicts).into_iter();
        let told = unselected.filter_map(|(number, class)| {
            let told = self.selections.told(number, self.classes.get(&class)?);
            Some(Delta::DeviceClass(DeviceClassId::new(number), told))
        });
        context.deltas.extend(told);
    }

    /// Tells what the counters of a pool hold: the least, of one that is named twice.
    fn tell_counters(&mut self, context: &mut Context, pool: &Pool) {
        let Context { names, deltas, .. } = context;
        let mut told = std::mem::take(&mut self.counters);
        let slices = self.complete(pool).unwrap_or_default();
        let mut holds: BTreeMap<&str, i64> = BTreeMap::new();
        for (name, amount) in slices.into_iter().flat_map(|slice| &slice.counters) {
            holds.entry(name).and_modify(|least| *least = (*least).min(*amount)).or_insert(*amount);
        }
        for (name, amount) in holds {
            let id = names.counters.intern(&counter_key(pool, name));
            if told.insert(id, amount) != Some(amount) {
                deltas.push(Delta::Counter(CounterId::new(id), amount));
            }
        }
        self.counters = told;
    }
}

fn counter_key(pool: &Pool, counter: &str) -> String {
    let (driver, pool) = pool;
    format!("{driver}/{pool}/{counter}")
}

impl Catalog {
    /// A device as it is told: with everything that selects it.
    fn told(
        &self,
        names: &mut Names,
        published: Published<'_>,
        mut holds: impl FnMut(&Selection) -> bool,
    ) -> SliceDevice {
        let Published { site, slice, device } = published;
        // What each selection takes of its capacities.
        let mut selected: Vec<(DeviceClassId, Vec<i64>)> = Vec::new();
        for (number, selection) in self.selections.iter() {
            let is_of = device.is_tolerated(&selection.own.tolerations) && holds(selection);
            let taken = is_of.then(|| device.taken(&slice.driver, &selection.own.capacity));
            selected.extend(taken.flatten().map(|taken| (DeviceClassId::new(number), taken)));
        }
        let key = format!("{}/{}/{}", slice.driver, slice.pool, device.name);
        let row = names.slice_devices.intern(&key);
        names.slice_devices[row].special = device.special(site, &selected);
        let attribute = |names: &mut Names, name: &str| {
            let value = device.attribute(&slice.driver, name)?;
            Some((names.symbol(name), names.symbol(&value)))
        };
        let draws = device.draws.iter().map(|(counter, amount)| {
            let key = counter_key(&slice.of_pool(), counter);
            (CounterId::new(names.counters.intern(&key)), *amount)
        });
        SliceDevice {
            id: SliceDeviceId::new(row),
            gpu: is_gpu(&slice.driver),
            classes: selected.iter().map(|(class, _)| *class).collect(),
            draws: draws.collect(),
            attributes: self.matched.keys().filter_map(|name| attribute(names, name)).collect(),
            shares: device.is_shared.then(|| Box::new(device.shares(names, selected))),
            binds: device.binds,
        }
    }
}

impl Device {
    /// Works out what an allocation says of it besides its name.
    fn special(
        &self,
        site: Site,
        selected: &[(DeviceClassId, Vec<i64>)],
    ) -> Option<Box<SpecialDevice>> {
        let reach = match site {
            Site::Reach(reach) if !self.binds => Some(reach),
            Site::Reach(_) | Site::Node(_) => None,
        };
        let share = |(class, taken): &(DeviceClassId, Vec<i64>)| {
            let amounts = self.capacity.values().zip(taken);
            let amounts = amounts.map(|(capacity, taken)| (capacity.name.clone(), *taken));
            (class.number(), amounts.collect())
        };
        let shares = self.is_shared.then(|| selected.iter().map(share).collect());
        let [binding_conditions, binding_failure_conditions] = self.conditions.clone();
        let is_plain = reach.is_none() && shares.is_none() && binding_conditions.is_empty();
        let special =
            SpecialDevice { reach, binding_conditions, binding_failure_conditions, shares };
        (!is_plain).then(|| Box::new(special))
    }

    fn shares(&self, names: &mut Names, selected: Vec<(DeviceClassId, Vec<i64>)>) -> Shares {
        let capacity = self.capacity.iter().map(|((domain, name), capacity)| {
            (names.symbol(&format!("{domain}/{name}")), capacity.milli)
        });
        Shares {
            capacity: capacity.collect(),
            taken: selected.into_iter().map(|(class, taken)| (class, taken.into())).collect(),
        }
    }

    /// The value of a qualified attribute as text; a name without domain is the driver's.
    fn attribute(&self, driver: &str, name: &str) -> Option<String> {
        let value = self.attributes.get(&qualified(driver, name))?;
        Some(match value {
            Attribute::Bool(value) => format!("bool {value}"),
            Attribute::Int(value) => format!("int {value}"),
            Attribute::Text(value) => format!("string {value}"),
            Attribute::Version(value) => format!("version {value}"),
        })
    }
}

#[cfg(test)]
mod tests;
