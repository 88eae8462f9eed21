//! Counts what is left for each want while devices are picked, so that a search turns back before it ends in nothing.

use crate::{
    base::ids::Symbol,
    fit::devices::{
        masks::{self, Masks},
        offer::Offer,
        want::{Alike, Want, takes},
    },
    state::slices::SliceRow,
};

/// Number of words of sets that are gone through in the time of a look.
const WORDS_A_LOOK: usize = 4;

/// Prospects of the wants of an attempt: the devices that are left for them. Nothing that would do is refused: amounts that devices share are not counted.
#[derive(Debug)]
pub(super) struct Prospects {
    kinds: Vec<Kind>,
    /// Per want its kind.
    kind: Vec<usize>,
    /// Devices that one of a kind may have where nothing else is picked.
    open: Masks,
    /// Those of them that are left.
    left: Masks,
    conditions: Vec<Condition>,
    /// Devices that a condition allows.
    allowed: Masks,
    attributes: Vec<Attribute>,
    /// Devices that no want has to itself; all devices.
    free: Masks,
    is_exclusive: bool,
    /// Number of words that were gone through and are not counted as looks yet.
    words: usize,
}

/// The devices that no want has to itself, and all of them, whoever has them.
const FREE: usize = 0;
const ALL: usize = 1;

/// Wants of one claim that are interchangeable: they ask for as many of the same devices, under the same conditions.
#[derive(Debug)]
struct Kind {
    like: Want,
    covering: Vec<usize>,
    /// Number of devices that each of them needs.
    each: usize,
    /// Number of devices that are missing.
    rest: usize,
}

/// A condition on the values of an attribute.
#[derive(Debug)]
struct Condition {
    distinct: bool,
    attribute: usize,
    /// The kinds that it covers.
    kinds: Vec<usize>,
    /// Values of what was picked.
    picked: Vec<Symbol>,
}

/// An attribute: its values, and the devices that have each.
#[derive(Debug)]
struct Attribute {
    name: Symbol,
    values: Vec<Symbol>,
    devices: Masks,
}

impl Attribute {
    fn new(offer: Offer<'_>, name: Symbol) -> Self {
        let value = |(at, row): (usize, &SliceRow)| Some((row.attribute(name)?, at));
        let mut pairs: Vec<(Symbol, usize)> = offer.iter().enumerate().filter_map(value).collect();
        pairs.sort_unstable();
        let mut values: Vec<Symbol> = pairs.iter().map(|(value, _)| *value).collect();
        values.dedup();
        let mut devices = Masks::new(values.len(), offer.len());
        for (at, same) in pairs.chunk_by(|(a, _), (b, _)| a == b).enumerate() {
            for (_, device) in same {
                devices.insert(at, *device);
            }
        }
        Self { name, values, devices }
    }
}

impl Prospects {
    /// Begins with no device that is open.
    ///
    /// # Cost
    /// In the number of wants times that of kinds, and of devices times that of attributes.
    pub(super) fn new(
        offer: Offer<'_>,
        wants: &[Want],
        covering: &[Vec<usize>],
        alikes: &[Alike],
    ) -> Self {
        let mut kinds: Vec<Kind> = Vec::new();
        let mut kind = Vec::with_capacity(wants.len());
        for (want, covering) in wants.iter().zip(covering) {
            let is_alike = |kind: &Kind| kind.like.is_like(want) && kind.covering == *covering;
            let at = kinds.iter().position(is_alike).unwrap_or(kinds.len());
            if at == kinds.len() {
                let (like, covering) = (*want, covering.clone());
                kinds.push(Kind { like, covering, each: 0, rest: 0 });
            }
            kind.push(at);
        }
        let mut attributes: Vec<Attribute> = Vec::new();
        let mut conditions = Vec::with_capacity(alikes.len());
        for (at, alike) in alikes.iter().enumerate() {
            let (name, distinct) = (alike.of.attribute, alike.of.distinct);
            let known = attributes.iter().position(|attribute| attribute.name == name);
            let attribute = known.unwrap_or(attributes.len());
            if known.is_none() {
                attributes.push(Attribute::new(offer, name));
            }
            let covered = kinds.iter().enumerate().filter(|(_, kind)| kind.covering.contains(&at));
            let kinds = covered.map(|(kind, _)| kind).collect();
            conditions.push(Condition { distinct, attribute, kinds, picked: Vec::new() });
        }
        let devices = offer.len();
        let mut free = Masks::new(2, devices);
        for at in 0..devices {
            free.insert(FREE, at);
            free.insert(ALL, at);
        }
        Self {
            open: Masks::new(kinds.len(), devices),
            left: Masks::new(kinds.len(), devices),
            allowed: Masks::new(conditions.len(), devices),
            is_exclusive: offer.is_exclusive(wants),
            words: 0,
            kinds,
            kind,
            conditions,
            attributes,
            free,
        }
    }

    /// Tells whether a want is the first of those that are interchangeable with it.
    pub(super) fn is_first(&self, want: usize) -> bool {
        self.twin(want).is_none()
    }

    /// Has a want, and those that are interchangeable with it, that may have a device.
    pub(super) fn open(&mut self, want: usize, at: usize) {
        self.open.insert(self.kind[want], at);
    }

    /// Has a want need a device more.
    pub(super) fn expect(&mut self, want: usize) {
        let is_first = self.is_first(want);
        let kind = &mut self.kinds[self.kind[want]];
        kind.rest += 1;
        kind.each += usize::from(is_first);
    }

    /// Tells whether no device goes to two wants.
    pub(super) fn is_exclusive(&self) -> bool {
        self.is_exclusive
    }

    /// The want before this one that is interchangeable with it.
    pub(super) fn twin(&self, want: usize) -> Option<usize> {
        self.kind[..want].iter().rposition(|kind| *kind == self.kind[want])
    }

    /// Takes in that a want has a device.
    pub(super) fn pick(&mut self, want: usize, at: usize, row: &SliceRow) {
        let kind = &mut self.kinds[self.kind[want]];
        kind.rest -= 1;
        if takes(&kind.like, row) {
            self.free.remove(FREE, at);
        }
        for alike in &kind.covering {
            let condition = &mut self.conditions[*alike];
            condition.picked.extend(row.attribute(self.attributes[condition.attribute].name));
        }
    }

    /// Takes back that a want has the device that was picked last.
    pub(super) fn put_back(&mut self, want: usize, at: usize, row: &SliceRow) {
        let kind = &mut self.kinds[self.kind[want]];
        kind.rest += 1;
        if takes(&kind.like, row) {
            self.free.insert(FREE, at);
        }
        for alike in &kind.covering {
            // It has a value: else the condition would have refused it.
            self.conditions[*alike].picked.pop();
        }
    }

    /// Tells whether what is left may do for all wants, after this was picked last for one.
    ///
    /// # Cost
    /// In the number of kinds times that of values of the attributes, and the square of the number of kinds.
    pub(super) fn is_viable(&mut self, last: Option<(usize, usize)>) -> bool {
        self.words += self.kinds.len();
        (0..self.conditions.len()).all(|condition| self.allow(condition))
            && (0..self.kinds.len()).all(|kind| self.leave(kind))
            && self.goes_up(last)
            && (!self.is_exclusive || self.covers())
    }

    /// Gives the cost of the answers since this was asked last, in looks.
    pub(super) fn take_cost(&mut self) -> usize {
        1 + std::mem::take(&mut self.words) / WORDS_A_LOOK
    }

    /// Number of devices that must be left for a kind.
    fn needs(&self, kind: &Kind) -> usize {
        if self.is_exclusive { kind.rest } else { kind.rest.min(kind.each) }
    }

    /// The devices that one of a kind may have as far as others have them not to themselves.
    fn untaken(&self, kind: &Kind) -> &[u64] {
        self.free.of(if kind.like.admin { ALL } else { FREE })
    }

    /// Finds the devices that a condition allows; says whether it can be met.
    fn allow(&mut self, at: usize) -> bool {
        let condition = &self.conditions[at];
        let missing = || condition.kinds.iter().filter(|kind| self.kinds[**kind].rest > 0);
        let rest: usize = missing().map(|kind| self.kinds[*kind].rest).sum();
        if rest == 0 {
            return true;
        }
        let attribute = &self.attributes[condition.attribute];
        let mut allowed = vec![0; self.allowed.of(at).len()];
        let (mut values, mut words) = (0, 0);
        for (of, value) in attribute.values.iter().enumerate() {
            let is_picked = condition.picked.contains(value);
            let does = if condition.distinct { !is_picked } else { is_picked };
            words += 1 + condition.picked.len() / 4;
            if !does && (condition.distinct || !condition.picked.is_empty()) {
                continue;
            }
            let devices = attribute.devices.of(of);
            let has = |kind: &usize| {
                let (kind, open) = (&self.kinds[*kind], self.open.of(*kind));
                let needs = if condition.distinct { 1 } else { self.needs(kind) };
                masks::count([open, self.untaken(kind), devices]) >= needs
            };
            words += devices.len() * (1 + condition.kinds.len());
            let does = if condition.distinct { missing().any(has) } else { missing().all(has) };
            if does {
                values += 1;
                masks::add(&mut allowed, devices);
            }
        }
        let least = if condition.distinct { rest } else { 1 };
        self.allowed.of_mut(at).copy_from_slice(&allowed);
        self.words += words;
        values >= least
    }

    /// Finds what is left for a kind; says whether it is enough.
    fn leave(&mut self, at: usize) -> bool {
        let kind = &self.kinds[at];
        let left = self.left.of_mut(at);
        left.copy_from_slice(self.open.of(at));
        if kind.rest == 0 {
            return true;
        }
        masks::keep(left, self.free.of(if kind.like.admin { ALL } else { FREE }));
        for condition in &kind.covering {
            masks::keep(left, self.allowed.of(*condition));
        }
        self.words += left.len() * (3 + kind.covering.len());
        masks::count([self.left.of(at)]) >= self.needs(kind)
    }

    /// Tells whether enough is left behind the device that was picked last, for wants of which each has devices behind
    /// those of the one before.
    fn goes_up(&mut self, last: Option<(usize, usize)>) -> bool {
        let Some((want, at)) = last.filter(|_| self.is_exclusive) else { return true };
        let kind = self.kind[want];
        let left = self.left.of(kind);
        self.words += left.len();
        masks::count_after(left, at) >= self.kinds[kind].rest
    }

    /// Tells whether the devices of each kind are enough for it and for all that can have none but these.
    fn covers(&mut self) -> bool {
        let (kinds, left) = (&self.kinds, &self.left);
        let missing = || kinds.iter().enumerate().filter(|(_, kind)| kind.rest > 0);
        missing().all(|(at, _)| {
            let own = left.of(at);
            self.words += own.len() * (1 + kinds.len());
            let within = missing().filter(|(other, _)| masks::is_within(left.of(*other), own));
            within.map(|(_, kind)| kind.rest).sum::<usize>() <= masks::count([own])
        })
    }
}
