//! Volumes that are there: which a claim may get, and from which nodes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use kai_engine::{Holds, Requirement, Symbol};

use super::{Claim, Form, Volume, Volumes};
use crate::{
    ingest::selector::selects,
    names::{Names, VOLUME},
};

/// So many wishes are remembered: whoever makes claims may make any number.
const WISHES_MAX: usize = 4096;

/// Holds what has to hold for a node: one of these; none, and every node will do.
type Terms = Option<Vec<Vec<Requirement>>>;

/// Holds what a claim asks of a volume: those that ask alike may get the same ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wish {
    pub(super) form: Form,
    /// Holds what has to hold for its labels.
    pub(super) selector: Vec<Requirement>,
}

impl Wish {
    /// Tells whether a volume will do.
    pub(super) fn is_met_by(&self, volume: &Volume, names: &Names) -> bool {
        self.form.is_met_by(&volume.form) && selects(&self.selector, &volume.labels, names)
    }
}

/// A claim that is to get a volume.
#[derive(Clone, Copy)]
pub(super) struct Seeker<'c> {
    /// Namespace and name.
    pub(super) key: &'c str,
    pub(super) claim: &'c Claim,
    /// The volume that a plan reserved for it.
    pub(super) meant: Option<&'c str>,
}

/// Volumes that are nobody's.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// Says who reaches volumes, by class.
    reaches: HashMap<Box<str>, BTreeSet<u32>>,
    /// Size and name of each by who reaches it, the smallest first.
    by_reach: BTreeMap<u32, BTreeSet<(i64, Box<str>)>>,
    /// From which nodes one that will do can be used, as long as nothing changes: claims of a template ask alike.
    nodes: BTreeMap<Wish, Terms>,
    /// Says who reaches volumes of which some came or went since they were told.
    pub(super) stale: BTreeSet<u32>,
    /// Names those that came or went since then.
    pub(super) changed: BTreeSet<Box<str>>,
}

impl Open {
    /// A volume comes in, or goes.
    fn list(&mut self, name: &str, volume: &Volume, comes: bool) {
        let Some(reach) = volume.reach.filter(|_| volume.is_open()) else { return };
        self.nodes.retain(|wish, _| wish.form.class != volume.form.class);
        self.stale.insert(reach);
        self.changed.insert(Box::from(name));
        let key = (volume.form.bytes, Box::from(name));
        if comes {
            self.reaches.entry(volume.form.class.clone()).or_default().insert(reach);
            self.by_reach.entry(reach).or_default().insert(key);
        } else if let Some(names) = self.by_reach.get_mut(&reach) {
            names.remove(&key);
        }
    }

    /// Lists who reaches volumes of a class, or did once.
    pub(super) fn reaches_of(&self, class: &str) -> impl Iterator<Item = u32> {
        self.reaches.get(class).into_iter().flatten().copied()
    }

    /// Has those that reach volumes of a class told anew.
    pub(super) fn set_stale(&mut self, class: &str) {
        let reaches: Vec<u32> = self.reaches_of(class).collect();
        self.stale.extend(reaches);
    }

    /// The names of the volumes of a class.
    pub(super) fn of_class(&self, class: &str) -> impl Iterator<Item = &str> {
        self.reaches_of(class).flat_map(|reach| self.of_reach(reach))
    }

    /// The names of the volumes that some nodes reach, the smallest first.
    pub(super) fn of_reach(&self, reach: u32) -> impl Iterator<Item = &str> {
        self.by_reach.get(&reach).into_iter().flatten().map(|(_, name)| &**name)
    }

    /// Finds from which nodes a volume that will do can be used.
    ///
    /// # Cost
    /// In the volumes of the class, once until something changes.
    pub(super) fn nodes(
        &mut self,
        wish: &Wish,
        rows: &HashMap<Box<str>, Volume>,
        names: &Names,
    ) -> &Terms {
        if !self.nodes.contains_key(wish) {
            if self.nodes.len() >= WISHES_MAX {
                self.nodes.clear();
            }
            let does = |name: &str| rows.get(name).filter(|one| wish.is_met_by(one, names));
            let of_reach = |reach: u32| self.of_reach(reach).find_map(does);
            let found: Vec<&Volume> =
                self.reaches_of(&wish.form.class).filter_map(of_reach).collect();
            self.nodes.insert(wish.clone(), joined(found));
        }
        &self.nodes[wish]
    }
}

impl Volumes {
    /// The volumes that name a claim, or that a bind under way gives to it: where there are any, it gets no other.
    ///
    /// # Source
    /// Kubernetes' `FindMatchingVolume`: a volume that is bound to the claim is the only one that matches it.
    pub(super) fn own<'v>(
        &'v self,
        key: &'v str,
        claim: &'v Claim,
    ) -> impl Iterator<Item = (&'v str, &'v Volume)> {
        let names = self.named.get(key).into_iter().flatten();
        let rows = names.filter_map(|name| Some((&**name, self.rows.get(name)?)));
        rows.filter(move |(_, volume)| {
            let names_it = |(of, uid): &(Box<str>, Box<str>)| {
                **of == *key && (uid.is_empty() || *uid == claim.uid)
            };
            let is_its_own = match &volume.given {
                Some(given) => **given == *key,
                None => volume.claim.as_ref().is_some_and(names_it),
            };
            is_its_own && volume.is_usable && claim.wish.form.is_met_by(&volume.form)
        })
    }

    /// The volume that a claim gets on a node: the one that is meant for it, else the smallest that will do.
    pub(super) fn best(
        &self,
        seeker: Seeker<'_>,
        names: &Names,
        on_node: &dyn Fn(&Volume) -> bool,
    ) -> Option<Box<str>> {
        let Seeker { key, claim, meant } = seeker;
        let size = |(name, volume): &(&str, &Volume)| -> (i64, Box<str>) {
            (volume.form.bytes, Box::from(*name))
        };
        let mut own = self.own(key, claim).peekable();
        if own.peek().is_some() {
            let best = own.filter(|(_, volume)| on_node(volume)).min_by_key(size);
            return best.map(|(name, _)| Box::from(name));
        }
        if let Some(name) = meant.filter(|name| self.rows.get(*name).is_some_and(Volume::is_open)) {
            return Some(Box::from(name));
        }
        let all = self.open.of_class(&claim.wish.form.class);
        let all = all.filter_map(|name| Some((name, self.rows.get(name)?)));
        let does = |volume: &Volume| on_node(volume) && claim.wish.is_met_by(volume, names);
        all.filter(|(_, volume)| does(volume)).min_by_key(size).map(|(name, _)| Box::from(name))
    }

    /// Takes a claim out; says whether it was there.
    pub(super) fn forget_claim(&mut self, key: &str) -> bool {
        let Some(claim) = self.claims.remove(key) else { return false };
        if let Some(naming) = self.naming.get_mut(&claim.volume) {
            naming.remove(key);
            if naming.is_empty() {
                self.naming.remove(&claim.volume);
            }
        }
        true
    }

    /// A volume comes in.
    pub(super) fn put(&mut self, name: &str, volume: Volume) {
        self.rows.insert(Box::from(name), volume);
        self.list(name, true);
    }

    /// Takes a volume out.
    pub(super) fn take(&mut self, name: &str) -> Option<Volume> {
        self.list(name, false);
        self.rows.remove(name)
    }

    /// A bind under way gives a volume to a claim from now on.
    pub(super) fn give(&mut self, name: &str, claim: &str) {
        self.set_given(name, Some(Box::from(claim)));
    }

    /// A bind gives a volume to a claim no more, if it did.
    pub(super) fn take_back(&mut self, name: &str, claim: &str) {
        let given = self.rows.get(name).and_then(|volume| volume.given.as_deref());
        if given == Some(claim) {
            self.set_given(name, None);
        }
    }

    /// No bind gives a volume to a claim any more.
    pub(super) fn take_all_back(&mut self, claim: &str) {
        for name in self.named.get(claim).cloned().unwrap_or_default() {
            self.take_back(&name, claim);
        }
    }

    fn set_given(&mut self, name: &str, given: Option<Box<str>>) {
        self.list(name, false);
        if let Some(volume) = self.rows.get_mut(name) {
            volume.given = given;
        }
        self.list(name, true);
    }

    /// Lists a volume with those that are nobody's and with the claims that it names, or takes it from there.
    fn list(&mut self, name: &str, comes: bool) {
        let Some(volume) = self.rows.get(name) else { return };
        self.open.list(name, volume, comes);
        let named = volume.claim.iter().map(|(claim, _)| claim).chain(&volume.given);
        for claim in named {
            if comes {
                self.named.entry(claim.clone()).or_default().insert(Box::from(name));
            } else if let Some(names) = self.named.get_mut(claim) {
                names.remove(name);
                if names.is_empty() {
                    self.named.remove(claim);
                }
            }
        }
    }
}

/// Finds from which nodes one of some volumes can be used.
pub(super) fn joined<'v>(volumes: impl IntoIterator<Item = &'v Volume>) -> Terms {
    let mut terms: Vec<Vec<Requirement>> = Vec::new();
    // Volumes that are local to thousands of nodes name each by a term.
    let mut known: HashMap<Symbol, (usize, HashSet<Symbol>)> = HashMap::new();
    for term in volumes.into_iter().map(|volume| volume.terms.as_ref()) {
        for term in term? {
            let [Requirement { key, holds: Holds::In(values) }] = term.as_slice() else {
                terms.push(term.clone());
                continue;
            };
            let (at, seen) = known.entry(*key).or_insert_with(|| {
                terms.push(vec![Requirement { key: *key, holds: Holds::In(Vec::new()) }]);
                (terms.len() - 1, HashSet::new())
            });
            if let [Requirement { holds: Holds::In(all), .. }] = terms[*at].as_mut_slice() {
                all.extend(values.iter().copied().filter(|value| seen.insert(*value)));
            }
        }
    }
    Some(terms)
}

/// Adds a term; terms that name values of one label are one term.
pub(super) fn join(terms: &mut Vec<Vec<Requirement>>, term: &[Requirement]) {
    if let [Requirement { key, holds: Holds::In(values) }] = term {
        for known in terms.iter_mut() {
            if let [Requirement { key: same, holds: Holds::In(all) }] = known.as_mut_slice()
                && same == key
            {
                let new = values.iter().filter(|value| !all.contains(value)).copied();
                let new: Vec<_> = new.collect();
                all.extend(new);
                return;
            }
        }
    }
    terms.push(term.to_vec());
}

/// The number of those who reach volumes of a class with such terms; none where no node can.
pub(super) fn reach(names: &mut Names, class: &str, terms: &Terms) -> Option<u32> {
    if terms.as_ref().is_some_and(Vec::is_empty) {
        return None;
    }
    let terms = terms.clone().unwrap_or_default();
    let reach = names.reaches.intern(&format!("{VOLUME}{class}:{}", written(&terms, names)));
    names.reaches[reach].terms = terms;
    Some(reach)
}

/// Terms as text: the same in every process.
fn written(terms: &[Vec<Requirement>], names: &Names) -> String {
    let texts = |values: &[Symbol]| {
        values.iter().map(|value| names.text(*value)).collect::<Vec<_>>().join(",")
    };
    let one = |one: &Requirement| {
        let holds = match &one.holds {
            Holds::In(values) => format!(" in {}", texts(values)),
            Holds::NotIn(values) => format!(" not in {}", texts(values)),
            Holds::Exists => String::from(" exists"),
            Holds::Absent => String::from(" absent"),
            Holds::Above(number) => format!(" above {number}"),
            Holds::Below(number) => format!(" below {number}"),
        };
        format!("{}{holds}", names.text(one.key))
    };
    let term = |term: &Vec<Requirement>| term.iter().map(one).collect::<Vec<_>>().join(" and ");
    terms.iter().map(term).collect::<Vec<_>>().join(" or ")
}
