//! `PersistentVolumeClaim`, `PersistentVolume` and `StorageClass`: from which nodes a claim's volume can be used, and
//! which volume an unbound claim gets on a node.
//!
//! # Source
//! docs/behaviour.md 10.2, check 6: the filter `VolumeBinding` of the Kubernetes scheduler, whose rules for matching,
//! for classes that wait for their first consumer and for topologies are those of the API's volume documentation.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kai_engine::{Holds, Missing, Requirement, Storage as Counted, Symbol, VolumeNodes};

use super::{Mount, Needs, Needy};
use crate::{
    actuate::SELECTED_NODE,
    ingest::{
        Context, Kind,
        selector::{NAME_KEY, node_terms, topology_term},
    },
};

mod asking;
pub(in crate::ingest) mod capacity;
pub(in crate::ingest) mod counted;
mod grant;
mod open;
mod wire;

use capacity::{Capacities, Need, Room};
use open::{Open, Wish, join, joined};
use wire::{WireClaim, WireClass, WireVolume, bytes, mode, modes, name, pairs};

/// The claim has its volume, and both know.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// The class of a claim or volume, in an old form that still counts before the field.
const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
/// The provisioner of classes for which nobody makes volumes.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// So many labels and values may a claim's selector name: each claim that asks in words of its own is compared with each free
/// volume of its class.
const WISHED_NAMES_MAX: usize = 64;

/// So many owners of a claim are kept: it is asked for the pod that it was made for, which is the only one.
const OWNERS_MAX: usize = 16;

/// Holds what has to be the same of a claim and its volume, and what may not be less.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    class: Box<str>,
    modes: Vec<Box<str>>,
    /// `Filesystem` or `Block`.
    volume_mode: Box<str>,
    bytes: i64,
}

/// Holds what is kept of a claim.
#[derive(Debug, Default, PartialEq, Eq)]
struct Claim {
    generation: u32,
    uid: Box<str>,
    wish: Wish,
    volume: Box<str>,
    is_bound: bool,
    is_lost: bool,
    is_deleted: bool,
    selected_node: Option<Box<str>>,
    /// The UIDs of its owners.
    owners: Vec<Box<str>>,
}

/// Holds what is kept of a volume.
#[derive(Debug, Default)]
struct Volume {
    generation: u32,
    form: Form,
    labels: Vec<(Box<str>, Box<str>)>,
    /// The claim that it is or will be bound to: namespace and name, and its UID where it is known.
    claim: Option<(Box<str>, Box<str>)>,
    /// The claim that a bind under way gives it to.
    given: Option<Box<str>>,
    /// Nobody has it yet, or had it before.
    is_free: bool,
    /// The claim that it names may have it.
    is_usable: bool,
    /// From where it can be used; none: from everywhere.
    terms: Option<Vec<Vec<Requirement>>>,
    /// Says who reaches it and others of its class, by number, where it may become any claim's; none: nobody.
    reach: Option<u32>,
}

impl Volume {
    /// Tells whether any claim may have it.
    fn is_open(&self) -> bool {
        self.is_free && self.claim.is_none() && self.given.is_none()
    }
}

/// Holds what is kept of a storage class.
#[derive(Debug, Default)]
struct Class {
    generation: u32,
    /// Claims get their volume when a pod needs it.
    waits: bool,
    /// Says who makes volumes; nobody where it is empty.
    driver: Box<str>,
    /// Says where volumes can be made; none: everywhere.
    terms: Vec<Vec<Requirement>>,
}

/// Sums of what claims without a volume need, by class.
pub(in crate::ingest) type Lacks = BTreeMap<Box<str>, Need>;

/// Claims, volumes and classes.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Volumes {
    /// By namespace and name.
    claims: HashMap<Box<str>, Claim>,
    /// Volumes by name.
    rows: HashMap<Box<str>, Volume>,
    classes: HashMap<Box<str>, Class>,
    /// Volumes that any claim may get.
    open: Open,
    /// Volumes by the claim that they name, or that a bind under way gives them to.
    named: HashMap<Box<str>, BTreeSet<Box<str>>>,
    /// Claims by the volume that they name.
    naming: HashMap<Box<str>, BTreeSet<Box<str>>>,
    /// Says where drivers have room for volumes.
    capacities: Capacities,
}

impl Volumes {
    /// Tells whether a claim is there and has no volume yet.
    pub(in crate::ingest) fn is_unbound(&self, claim: &str) -> bool {
        self.claims.get(claim).is_some_and(|claim| !claim.is_bound)
    }

    /// Forgets what nobody will ask again soon.
    pub(in crate::ingest) fn flushed(&mut self) {
        self.capacities.clear_rooms();
    }

    /// Works out what a pod's claims that have no volume yet need, by class. One that was told its node has its room there.
    ///
    /// A claim that could get a volume which is there counts as well: on a node where it gets that one, a pod may be
    /// refused that would fit.
    pub(in crate::ingest) fn lacks(&self, mounts: &[Mount]) -> Lacks {
        let mut lacks = Lacks::new();
        let claims = mounts.iter().filter_map(|mount| self.claims.get(&mount.claim));
        let waits = |claim: &&Claim| claim.volume.is_empty() && claim.selected_node.is_none();
        for claim in claims.filter(waits) {
            lacks.entry(claim.wish.form.class.clone()).or_default().add(claim.wish.form.bytes);
        }
        lacks
    }
}

impl Class {
    fn provisions(&self) -> bool {
        !self.driver.is_empty()
    }

    /// Works out where volumes can be made, given where there is room; none: everywhere.
    fn made_where(&self, room: Room) -> Option<Vec<Vec<Requirement>>> {
        match room {
            Room::Anywhere if self.terms.is_empty() => None,
            Room::Anywhere => Some(self.terms.clone()),
            Room::Within { within, .. } if self.terms.is_empty() => Some(within),
            Room::Within { within, .. } => {
                let both = |term: &Vec<Requirement>| -> Vec<Vec<Requirement>> {
                    within.iter().map(|one| [term.as_slice(), one].concat()).collect()
                };
                Some(self.terms.iter().flat_map(both).collect())
            }
        }
    }
}

impl Form {
    fn is_met_by(&self, volume: &Self) -> bool {
        self.class == volume.class
            && self.volume_mode == volume.volume_mode
            && self.bytes <= volume.bytes
            && self.modes.iter().all(|mode| volume.modes.contains(mode))
    }
}

impl Needs {
    /// Finds from which nodes the volume of a mount can be used, one of those of `needy`, which lack so much together; none:
    /// from every node.
    pub(in crate::ingest) fn nodes(
        &mut self,
        context: &mut Context,
        mount: &Mount,
        needy: &Needy,
        lacks: &Lacks,
    ) -> Result<Option<VolumeNodes>, Missing> {
        let name = mount.claim.split_once('/').map_or(&*mount.claim, |(_, name)| name);
        let symbol = context.names.symbol(name);
        let volumes = &mut self.volumes;
        let Some(claim) = volumes.claims.get(&mount.claim) else {
            return Err(if mount.ephemeral {
                Missing::Ephemeral(symbol)
            } else {
                Missing::Claim(symbol)
            });
        };
        if claim.is_lost {
            let volume = claim.volume.clone();
            return Err(Missing::Lost(symbol, context.names.symbol(&volume)));
        }
        if claim.is_deleted {
            return Err(Missing::Deleted(symbol));
        }
        if mount.ephemeral && !claim.owners.iter().any(|owner| **owner == *needy.uid) {
            return Err(Missing::NotOwned(symbol));
        }
        if claim.is_bound {
            // A volume that is not there can be used from nowhere.
            let terms = match volumes.rows.get(&claim.volume) {
                Some(volume) => volume.terms.clone(),
                None => Some(Vec::new()),
            };
            return Ok(terms.map(|terms| VolumeNodes { terms, bound: true, storage: None }));
        }
        let class = volumes.classes.get(&claim.wish.form.class).filter(|class| class.waits);
        let Some(class) = class.filter(|_| claim.volume.is_empty()) else {
            return Err(Missing::Unbound);
        };
        // It gets no volume, so that it need not be compared with any.
        if self.counted.is_over(&mount.claim) {
            return Ok(None);
        }
        if let Some(node) = claim.selected_node.clone() {
            let key = context.names.symbol(NAME_KEY);
            let holds = Holds::In(vec![context.names.symbol(&node)]);
            let terms = vec![vec![Requirement { key, holds }]];
            return Ok(Some(VolumeNodes { terms, bound: false, storage: None }));
        }
        let mut own = volumes.own(&mount.claim, claim).map(|(_, volume)| volume).peekable();
        if own.peek().is_some() {
            let nodes = |terms| VolumeNodes { terms, bound: false, storage: None };
            return Ok(joined(own).map(nodes));
        }
        drop(own);
        let (mut terms, mut storage) = (Vec::new(), None);
        if class.provisions() {
            let need = lacks.get(&claim.wish.form.class).copied().unwrap_or_default();
            let name = &*claim.wish.form.class;
            let room = volumes.capacities.room(name, &class.driver, need, &needy.refers.mounts);
            if let Room::Within { offered, .. } = &room {
                let (allowed, offered) = (class.terms.clone(), offered.clone());
                let class = context.names.symbol(&claim.wish.form.class);
                storage = Some(Box::new(Counted { class, allowed, offered }));
            }
            match class.made_where(room) {
                None => return Ok(None),
                Some(made) => terms = made,
            }
        }
        match volumes.open.nodes(&claim.wish, &volumes.rows, &context.names) {
            None => return Ok(None),
            Some(open) => open.iter().for_each(|term| join(&mut terms, term)),
        }
        Ok(Some(VolumeNodes { terms, bound: false, storage }))
    }

    pub(in crate::ingest) fn apply_claim(
        &mut self,
        context: &mut Context,
        wire: &WireClaim<'_>,
    ) -> String {
        let meta = &wire.metadata;
        let spec = &wire.spec;
        let class = spec.storage_class_name.as_deref().unwrap_or_default();
        let annotations = &meta.annotations;
        // One that names too much selects nothing.
        let nothing = || vec![Requirement { key: Symbol::EMPTY, holds: Holds::In(Vec::new()) }];
        let selector = spec.selector.as_ref().map_or_else(Vec::new, |selector| {
            selector.bounded(&mut context.names, WISHED_NAMES_MAX).unwrap_or_else(nothing)
        });
        let form = Form {
            class: name(annotations.value(BETA_CLASS).unwrap_or(class)),
            modes: modes(&spec.access_modes),
            volume_mode: mode(&spec.volume_mode),
            bytes: bytes(&spec.resources.requests),
        };
        let owners = meta.owner_references.iter().take(OWNERS_MAX);
        let claim = Claim {
            generation: context.generation(Kind::PersistentVolumeClaim),
            uid: Box::from(&*meta.uid),
            wish: Wish { form, selector },
            volume: name(&spec.volume_name),
            is_bound: !spec.volume_name.is_empty() && annotations.value(BIND_COMPLETED).is_some(),
            is_lost: &*wire.status.phase == "Lost",
            is_deleted: meta.deletion_timestamp.is_some(),
            selected_node: annotations.value(SELECTED_NODE).map(name),
            owners: owners.map(|owner| name(&owner.uid)).collect(),
        };
        let key: Box<str> = format!("{}/{}", &*meta.namespace, &*meta.name).into();
        if let Some(known) = self.volumes.claims.get_mut(&key) {
            known.generation = claim.generation;
            if *known == claim {
                return meta.resource_version.to_string();
            }
            if known.uid != claim.uid {
                self.remove_claim(&key);
            }
        }
        self.claim_changed(&key);
        let Volumes { claims, capacities, .. } = &mut self.volumes;
        let was_told = claims.get(&key).is_some_and(|known| known.selected_node.is_some());
        let is_given_up = was_told && claim.selected_node.is_none();
        if claim.is_bound || is_given_up {
            if capacities.forget(&key) {
                self.offers_changed();
            }
        } else if claim.selected_node.is_some() {
            capacities.tell(&key);
        }
        self.volumes.forget_claim(&key);
        if !claim.volume.is_empty() {
            let naming = self.volumes.naming.entry(claim.volume.clone()).or_default();
            naming.insert(key.clone());
        }
        self.volumes.claims.insert(key, claim);
        meta.resource_version.to_string()
    }

    pub(in crate::ingest) fn remove_claim(&mut self, key: &str) {
        let volumes = &mut self.volumes;
        let has_own = volumes.named.contains_key(key);
        volumes.take_all_back(key);
        if volumes.capacities.forget(key) | has_own {
            self.offers_changed();
        }
        if self.volumes.forget_claim(key) {
            self.claim_changed(key);
        }
    }

    pub(in crate::ingest) fn apply_volume(
        &mut self,
        context: &mut Context,
        wire: &WireVolume<'_>,
    ) -> String {
        let meta = &wire.metadata;
        let spec = &wire.spec;
        let claim = spec.claim_ref.as_ref().map(|claim| {
            let key: Box<str> = format!("{}/{}", &*claim.namespace, &*claim.name).into();
            (key, Box::from(&*claim.uid))
        });
        // What a bind gives it to may not show yet; once it names a claim it says so itself.
        let known = self.volumes.rows.get(&*meta.name);
        let given = known.and_then(|known| known.given.clone()).filter(|_| claim.is_none());
        self.remove_volume(&meta.name);
        let class = meta.annotations.value(BETA_CLASS).unwrap_or(&spec.storage_class_name);
        let required = spec.node_affinity.as_ref().and_then(|affinity| affinity.required.as_ref());
        let terms = required.map(|required| node_terms(&mut context.names, required));
        let (phase, stays) = (&*wire.status.phase, meta.deletion_timestamp.is_none());
        let is_free = stays && matches!(phase, "" | "Pending" | "Available");
        let is_anyones = is_free && claim.is_none();
        let volume = Volume {
            generation: context.generation(Kind::PersistentVolume),
            form: Form {
                class: Box::from(class),
                modes: modes(&spec.access_modes),
                volume_mode: mode(&spec.volume_mode),
                bytes: bytes(&spec.capacity),
            },
            labels: pairs(&meta.labels),
            claim,
            given,
            is_free,
            is_usable: is_free || (stays && phase == "Bound"),
            reach: is_anyones.then(|| open::reach(&mut context.names, class, &terms)).flatten(),
            terms,
        };
        if volume.is_open() {
            self.offers_changed();
        }
        if let Some((claim, _)) = &volume.claim {
            self.claim_changed(claim);
        }
        self.claims_naming_changed(&meta.name);
        self.volumes.put(&meta.name, volume);
        meta.resource_version.to_string()
    }

    pub(in crate::ingest) fn remove_volume(&mut self, name: &str) {
        let Some(volume) = self.volumes.take(name) else { return };
        if volume.is_open() {
            self.offers_changed();
        }
        for claim in volume.claim.iter().map(|(claim, _)| claim).chain(&volume.given) {
            self.claim_changed(claim);
        }
        self.claims_naming_changed(name);
    }

    /// Has those claims looked at again that name a volume, whether or not it names one of them by now.
    fn claims_naming_changed(&mut self, volume: &str) {
        let naming = self.volumes.naming.get(volume).into_iter().flatten();
        let used = naming.filter(|claim| self.claim_users.contains_key(*claim));
        for claim in used.cloned().collect::<Vec<_>>() {
            self.claim_changed(&claim);
        }
    }

    pub(in crate::ingest) fn apply_class(
        &mut self,
        context: &mut Context,
        wire: &WireClass<'_>,
    ) -> String {
        let terms = wire
            .allowed_topologies
            .iter()
            .map(|term| topology_term(&mut context.names, term))
            .collect();
        let class = Class {
            generation: context.generation(Kind::StorageClass),
            waits: wire.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer"),
            driver: match &*wire.provisioner {
                NO_PROVISIONER => Box::default(),
                driver => Box::from(driver),
            },
            terms,
        };
        self.volumes.classes.insert(Box::from(&*wire.metadata.name), class);
        self.class_changed(&wire.metadata.name);
        wire.metadata.resource_version.to_string()
    }

    pub(in crate::ingest) fn remove_class(&mut self, name: &str) {
        if self.volumes.classes.remove(name).is_some() {
            self.class_changed(name);
        }
    }

    fn class_changed(&mut self, name: &str) {
        let Self { volumes, counted, .. } = self;
        let of_it = volumes.claims.iter().filter(|(_, claim)| *claim.wish.form.class == *name);
        counted.due.extend(of_it.map(|(key, _)| key.clone()));
        self.offers_changed();
    }

    /// Takes out the claims that were not in the full list that is complete now.
    pub(in crate::ingest) fn end_claims(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::PersistentVolumeClaim);
        for name in unseen(&self.volumes.claims, |claim| claim.generation != generation) {
            self.remove_claim(&name);
        }
    }

    /// Takes out the volumes that were not in the full list that is complete now.
    pub(in crate::ingest) fn end_volumes(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::PersistentVolume);
        for name in unseen(&self.volumes.rows, |volume| volume.generation != generation) {
            self.remove_volume(&name);
        }
    }

    /// Takes out the storage classes that were not in the full list that is complete now.
    pub(in crate::ingest) fn end_classes(&mut self, context: &mut Context) {
        let generation = context.generation(Kind::StorageClass);
        for name in unseen(&self.volumes.classes, |class| class.generation != generation) {
            self.remove_class(&name);
        }
    }
}

/// The names of rows that a full list did not have.
fn unseen<R>(rows: &HashMap<Box<str>, R>, is_unseen: impl Fn(&R) -> bool) -> Vec<Box<str>> {
    let unseen = rows.iter().filter(|(_, row)| is_unseen(row));
    unseen.map(|(name, _)| name.clone()).collect()
}
