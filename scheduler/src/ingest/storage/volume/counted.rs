//! Volumes that are there, as the engine counts them: a claim that waits for its first consumer and for which nobody
//! makes a volume is a claim of one device, and each free volume is a device that the nodes of its affinity reach. So
//! no plan gives one volume to two claims.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kai_engine::{
    Claim, ClaimId, Delta, DeviceClass, DeviceClassId, DeviceCount, DeviceRequest, Reach, ReachId,
    Reserved, SliceDevice, SliceDeviceId, Unsupported,
};

use super::{
    Needs, Volumes,
    asking::{Asking, namespace_of},
    open::Wish,
};
use crate::{
    ingest::{Context, devices::catalog::Catalog},
    names::{Names, Number, VOLUME},
};

/// Holds what the engine was told of volumes.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Counted {
    /// By namespace and name.
    claims: HashMap<Box<str>, Told>,
    /// Holds what claims ask for, and how many ask for it.
    wishes: BTreeMap<Wish, (DeviceClassId, u32)>,
    /// Counts the same by namespace.
    pub(super) asking: Asking,
    /// Holds the wishes that a free volume meets, in ascending order, where that was found out since it came.
    met: HashMap<Box<str>, Vec<DeviceClassId>>,
    /// Says who was told to reach volumes.
    reaches: BTreeSet<u32>,
    /// Claims that may have to be told anew, or of other users.
    pub(in crate::ingest) due: BTreeSet<Box<str>>,
    /// Claims that are gone while pods may still be told with them, by namespace.
    leaving: BTreeMap<Box<str>, BTreeSet<Box<str>>>,
}

/// A claim as it was told.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Told {
    id: ClaimId,
    wish: Wish,
    /// One pod has it to itself.
    own: bool,
    /// The claims of its namespace ask for too many different volumes: it gets none.
    is_over: bool,
}

impl Volumes {
    /// Tells whether a claim gets one of the volumes that are nobody's, and nothing else.
    fn is_counted(&self, key: &str) -> bool {
        let Some(claim) = self.claims.get(key) else { return false };
        let waits = !(claim.is_bound || claim.is_lost || claim.is_deleted)
            && claim.volume.is_empty()
            && claim.selected_node.is_none();
        let class = self.classes.get(&claim.wish.form.class);
        waits
            && class.is_some_and(|class| class.waits && !class.provisions())
            && self.own(key, claim).next().is_none()
    }
}

impl Counted {
    /// One claim more asks for something, and whether nobody did before.
    fn enter(&mut self, wish: &Wish, number: impl FnOnce() -> u32) -> (DeviceClassId, bool) {
        if let Some((class, claims)) = self.wishes.get_mut(wish) {
            *claims += 1;
            return (*class, false);
        }
        let class = DeviceClassId::new(number());
        self.wishes.insert(wish.clone(), (class, 1));
        (class, true)
    }

    /// One claim less does; what nobody asks for any more comes back.
    fn leave(&mut self, wish: &Wish) -> Option<DeviceClassId> {
        let (class, claims) = self.wishes.get_mut(wish)?;
        *claims -= 1;
        let gone = (*claims == 0).then_some(*class);
        if gone.is_some() {
            self.wishes.remove(wish);
        }
        gone
    }

    /// Tells whether the claims of a claim's namespace ask for too many different volumes for this one to get any.
    pub(super) fn is_over(&self, key: &str) -> bool {
        self.claims.get(key).is_some_and(|told| told.is_over)
    }
}

fn key_of(claim: &str) -> String {
    format!("{VOLUME}{claim}")
}

impl Needs {
    /// Says how the engine knows a claim that is counted; none where it is not.
    pub(in crate::ingest) fn counted_claim(&self, names: &mut Names, key: &str) -> Option<ClaimId> {
        let is_counted = self.volumes.is_counted(key);
        is_counted.then(|| ClaimId::new(names.claims.intern(&key_of(key))))
    }

    /// Tells what changed of claims that pods use and of free volumes. The pods come before.
    ///
    /// # Cost
    /// In the claims that changed, in the volumes that are reached as those are that came or went, and in all of a storage
    /// class where a claim asks for something new of it; a volume and a wish are compared once. Claims that are gone while pods
    /// are late cost nothing until no pod of their namespace is.
    pub(in crate::ingest) fn flush_counted(
        &mut self,
        context: &mut Context,
        catalog: &mut Catalog,
    ) {
        let mut gone: Vec<DeviceClassId> = Vec::new();
        let Self { counted: Counted { due, leaving, .. }, late, .. } = self;
        leaving.retain(|namespace, claims| {
            let waits = late.has_of(namespace);
            if !waits {
                due.append(claims);
            }
            waits
        });
        // Where a claim goes, another one of its namespace may come to be due.
        while let Some(key) = self.counted.due.pop_first() {
            gone.extend(self.tell_claim(context, catalog, &key));
        }
        if !gone.is_empty() {
            gone.sort_unstable();
            for met in self.counted.met.values_mut() {
                met.retain(|class| gone.binary_search(class).is_err());
            }
        }
        self.tell_volumes(context);
        for class in gone {
            context.deltas.push(Delta::DeviceClassGone(class));
            catalog.hand_back(class);
        }
    }

    /// Tells of a claim; what nobody asks for any more comes back.
    fn tell_claim(
        &mut self,
        context: &mut Context,
        catalog: &mut Catalog,
        key: &str,
    ) -> Option<DeviceClassId> {
        let wanted = self.wanted(&mut context.names, key);
        let told = self.counted.claims.get(key).cloned();
        self.refuse(key, told.as_ref(), wanted.as_ref());
        if let Some(now) = wanted.as_ref().filter(|now| told.as_ref() != Some(now)) {
            let facts = if now.is_over {
                Claim { unsupported: Some(Unsupported::TooManyVolumes), ..Claim::default() }
            } else {
                let request = self.request(context, catalog, key, &now.wish);
                Claim { requests: vec![request], ..Claim::default() }
            };
            let facts = Claim { own: now.own, volume: true, ..facts };
            context.deltas.push(Delta::Claim(now.id, Box::new(facts)));
            self.counted.claims.insert(Box::from(key), now.clone());
        }
        let told = told.filter(|told| wanted.as_ref() != Some(told));
        if let Some(told) = told.as_ref().filter(|_| wanted.is_none()) {
            self.counted.claims.remove(key);
            context.deltas.push(Delta::ClaimGone(told.id));
        }
        if !self.volumes.claims.contains_key(key)
            && let Some(id) = context.names.claims.find(&key_of(key))
        {
            let (namespace, leaving) = (namespace_of(key), &mut self.counted.leaving);
            let is_used = self.claim_users.contains_key(key);
            if is_used && self.late.has_of(namespace) {
                // No other claim is to get its number meanwhile.
                leaving.entry(Box::from(namespace)).or_default().insert(Box::from(key));
            } else {
                // No pod is told with it any more: its users are gone, or all of them were looked at again.
                if let Some(claims) = leaving.get_mut(namespace) {
                    claims.remove(key);
                }
                context.names.claims.remove(id);
            }
        }
        let told = told?;
        let gone = self.request_no_more(key, &told);
        self.counted.due.extend(self.counted.asking.next(namespace_of(key)));
        gone
    }

    /// Notes whether a claim is refused, and has its pods looked at again where that changed.
    fn refuse(&mut self, key: &str, told: Option<&Told>, wanted: Option<&Told>) {
        let was_over = told.filter(|told| told.is_over);
        let is_over = wanted.filter(|wanted| wanted.is_over);
        if let Some(told) = was_over {
            self.counted.asking.forget(key, &told.wish);
        }
        if let Some(wanted) = is_over {
            self.counted.asking.refuse(key, &wanted.wish);
        }
        if was_over.is_some() != is_over.is_some() {
            self.due.extend(self.claim_users.get(key).into_iter().flatten());
        }
    }

    /// The request of one claim more that asks for something.
    fn request(
        &mut self,
        context: &mut Context,
        catalog: &mut Catalog,
        key: &str,
        wish: &Wish,
    ) -> DeviceRequest {
        let (class, is_new) = self.counted.enter(wish, || catalog.lend());
        if is_new {
            context.deltas.push(Delta::DeviceClass(class, DeviceClass::default()));
            self.compare(wish, class, &context.names);
            self.volumes.open.set_stale(&wish.form.class);
        }
        let alike = self.counted.asking.enter(namespace_of(key), wish);
        self.counted.due.extend(alike);
        let count = DeviceCount::Exactly(1);
        DeviceRequest { class, count, instead: false, gpu: false, mixed: false, admin: false }
    }

    /// One claim less asks for what it was told to; what nobody asks for any more comes back.
    fn request_no_more(&mut self, key: &str, told: &Told) -> Option<DeviceClassId> {
        if told.is_over {
            return None;
        }
        self.counted.asking.leave(namespace_of(key), &told.wish);
        let class = self.counted.leave(&told.wish)?;
        self.volumes.open.set_stale(&told.wish.form.class);
        Some(class)
    }

    /// Compares what a claim asks for first with the volumes that the other wishes were compared with.
    fn compare(&mut self, wish: &Wish, class: DeviceClassId, names: &Names) {
        for name in self.volumes.open.of_class(&wish.form.class) {
            if let Some(met) = self.counted.met.get_mut(name)
                && let Some(volume) = self.volumes.rows.get(name)
                && wish.is_met_by(volume, names)
                && let Err(at) = met.binary_search(&class)
            {
                met.insert(at, class);
            }
        }
    }

    /// A claim as it is to be told; none where it is not counted, or no pod uses it.
    fn wanted(&self, names: &mut Names, key: &str) -> Option<Told> {
        let own = self.claim_users.get(key)?.len() < 2;
        let id = self.counted_claim(names, key)?;
        let wish = self.volumes.claims.get(key)?.wish.clone();
        let is_over = !self.counted.asking.has_room(namespace_of(key), &wish);
        Some(Told { id, wish, own, is_over })
    }

    /// Tells of free volumes that some claim may get, the smallest first, where some came or went.
    fn tell_volumes(&mut self, context: &mut Context) {
        let Context { names, deltas, .. } = context;
        let Counted { met, wishes, reaches, .. } = &mut self.counted;
        for name in std::mem::take(&mut self.volumes.open.changed) {
            met.remove(&name);
        }
        for reach in std::mem::take(&mut self.volumes.open.stale) {
            let volumes = &self.volumes;
            let mut devices = Vec::new();
            for name in volumes.open.of_reach(reach) {
                let Some(volume) = volumes.rows.get(name) else { continue };
                if !met.contains_key(name) {
                    let of = wishes.iter().filter(|(wish, _)| wish.is_met_by(volume, names));
                    let mut of: Vec<DeviceClassId> = of.map(|(_, (class, _))| *class).collect();
                    of.sort_unstable();
                    met.insert(Box::from(name), of);
                }
                let of = &met[name];
                if !of.is_empty() {
                    let id = SliceDeviceId::new(names.slice_devices.intern(&key_of(name)));
                    devices.push(SliceDevice::new(id, false, of.clone().into()));
                }
            }
            let was_told =
                if devices.is_empty() { reaches.remove(&reach) } else { !reaches.insert(reach) };
            if was_told || !devices.is_empty() {
                let key = names.reaches.key(reach);
                let uid = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, key.as_bytes()).as_u128();
                let nodes = names.reaches[reach].terms.clone();
                deltas.push(Delta::Reach(
                    ReachId::new(reach),
                    Box::new(Reach { uid, nodes, devices }),
                ));
            }
        }
    }
}

/// The volume that a plan reserved for a claim.
pub(super) fn reserved<'n>(
    names: &'n Names,
    key: &str,
    reserved: Option<&Reserved>,
) -> Option<&'n str> {
    let id = ClaimId::new(names.claims.find(&key_of(key))?);
    let claimed = reserved?.claims.iter().find(|claimed| claimed.claim == Some(id))?;
    names.slice_devices.key(claimed.device.number()).strip_prefix(VOLUME)
}
