//! Device classes with the selectors of requests, each under a number.
//!
//! What no claim asks for any more is kept for a while, as claims of a template come and go; then its number is given to
//! another one, so that claims with ever new selectors cost no more than those that are there.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use kai_engine::{DeviceClass, Unselected};

use super::{Class, Site, Verdicts};
use crate::{cel::Described, ingest::devices::device::Tolerated};

/// Selections that are kept although nobody asks for them; attributes too.
pub(super) const IDLE_MAX: usize = 32;

/// Holds what a request wants of devices of a class.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub(in crate::ingest) struct Wish {
    pub(in crate::ingest) selectors: Vec<Box<str>>,
    pub(in crate::ingest) tolerations: Vec<Tolerated>,
    /// Says how much of which capacities, in thousandths.
    pub(in crate::ingest) capacity: Vec<(Box<str>, i64)>,
}

/// A device class with the selectors of a request.
#[derive(Debug)]
pub(super) struct Selection {
    class: Box<str>,
    pub(super) own: Wish,
    /// The selectors of the class; none while it does not exist.
    class_selectors: Option<Vec<Arc<str>>>,
    /// Its own.
    selectors: Vec<Arc<str>>,
    /// Says how many requests of claims ask for it, by their namespaces.
    claims: BTreeMap<Arc<str>, u32>,
    /// Says why no claim may have devices of it, as the engine was told.
    unselected: Option<Unselected>,
    /// Its turn to be let go, where nobody asks for it.
    turn: Option<u64>,
}

/// All selections.
#[derive(Debug, Default)]
pub(super) struct Selections {
    /// By number; none where the number is free.
    rows: Vec<Option<Selection>>,
    by_key: HashMap<(Box<str>, Wish), u32>,
    free: Vec<u32>,
    /// Numbers that were lent for what is no selection, and came back.
    lent: Vec<u32>,
    /// Those that nobody asks for, the one that was left first first.
    idle: BTreeMap<u64, u32>,
    turns: u64,
}

impl Selection {
    /// Only the class as it is serves an extended resource.
    pub(super) fn told(&self, class: &Class) -> DeviceClass {
        let is_class = self.own == Wish::default();
        DeviceClass {
            backs: class.backs.filter(|_| is_class && class.serves),
            implicit: is_class.then_some(class.implicit),
            unselected: self.unselected,
        }
    }

    fn of_class(&mut self, class: Option<&Class>) {
        let texts = |class: &Class| class.selectors.iter().map(|text| Arc::from(&**text)).collect();
        self.class_selectors = class.map(texts);
    }

    /// All of its selectors.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Arc<str>> {
        self.class_selectors.iter().flatten().chain(&self.selectors)
    }

    /// Tells whether it has a device, by what is known; what is not is asked, one selector after the other: those of the class
    /// for the cluster, its own for each namespace whose claims have them.
    pub(super) fn holds(
        &self,
        device: &Arc<Described>,
        site: Site,
        verdicts: &mut Verdicts,
    ) -> bool {
        let Some(of_class) = &self.class_selectors else { return false };
        let cluster = Arc::from("");
        let mut all_hold = true;
        for expression in of_class {
            all_hold =
                all_hold && verdicts.holds(expression, device, site, &mut [&cluster].into_iter());
        }
        for expression in &self.selectors {
            all_hold =
                all_hold && verdicts.holds(expression, device, site, &mut self.claims.keys());
        }
        all_hold
    }
}

impl Selections {
    /// The number of a device class with further selectors, and whether it is new.
    pub(super) fn number(&mut self, class: &str, own: Wish, facts: Option<&Class>) -> (u32, bool) {
        let key = (Box::from(class), own.clone());
        if let Some(number) = self.by_key.get(&key) {
            return (*number, false);
        }
        let mut selection = Selection {
            class: Box::from(class),
            class_selectors: None,
            selectors: own.selectors.iter().map(|text| Arc::from(&**text)).collect(),
            own,
            claims: BTreeMap::new(),
            unselected: None,
            turn: None,
        };
        selection.of_class(facts);
        let number = self.free.pop().unwrap_or_else(|| self.another());
        self.rows[number as usize] = Some(selection);
        self.by_key.insert(key, number);
        (number, true)
    }

    /// The number of a device class with further selectors, where it has one.
    pub(super) fn find(&self, class: &str, own: &Wish) -> Option<u32> {
        self.by_key.get(&(Box::from(class), own.clone())).copied()
    }

    /// A number that is no selection's, and never was: devices that a selection had may be known by its number yet.
    pub(super) fn lend(&mut self) -> u32 {
        self.lent.pop().unwrap_or_else(|| self.another())
    }

    /// Takes a number back that was lent.
    pub(super) fn hand_back(&mut self, number: u32) {
        self.lent.push(number);
    }

    fn another(&mut self) -> u32 {
        self.rows.push(None);
        u32::try_from(self.rows.len() - 1).expect("there are fewer than 2^32 selections")
    }

    /// Gives those of a class its selectors; all of them come back.
    pub(super) fn class_changed(
        &mut self,
        class: &str,
        facts: Option<&Class>,
    ) -> Vec<(u32, &Selection)> {
        let mut touched = Vec::new();
        for (number, row) in (0..).zip(&mut self.rows) {
            if let Some(selection) = row
                && *selection.class == *class
            {
                selection.of_class(facts);
                touched.push((number, &*selection));
            }
        }
        touched
    }

    /// Every number in use with its selection.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Selection)> {
        (0..).zip(&self.rows).filter_map(|(number, row)| Some((number, row.as_ref()?)))
    }

    /// One request more asks for a selection; whether it is the first of its namespace.
    pub(super) fn enter(&mut self, number: u32, namespace: &Arc<str>) -> bool {
        let selection = self.row(number);
        let count = selection.claims.entry(Arc::clone(namespace)).or_default();
        *count += 1;
        let is_first = *count == 1;
        if let Some(turn) = selection.turn.take() {
            self.idle.remove(&turn);
        }
        is_first && !self.row(number).selectors.is_empty()
    }

    /// One request less does.
    pub(super) fn leave(&mut self, number: u32, namespace: &str) {
        let turn = self.turns;
        let selection = self.row(number);
        if let Some(count) = selection.claims.get_mut(namespace) {
            *count -= 1;
            if *count == 0 {
                selection.claims.remove(namespace);
            }
        }
        if selection.claims.is_empty() && selection.turn.is_none() {
            selection.turn = Some(turn);
            self.idle.insert(turn, number);
            self.turns += 1;
        }
    }

    /// Selections whose claims have to wait for another reason than before, or for none, with their classes.
    pub(super) fn unselected(&mut self, verdicts: &Verdicts) -> Vec<(u32, Box<str>)> {
        let mut changed = Vec::new();
        for (number, row) in (0..).zip(&mut self.rows) {
            let Some(selection) = row else { continue };
            let unselected =
                selection.expressions().filter_map(|text| verdicts.unselected(text)).max();
            if selection.class_selectors.is_some() && selection.unselected != unselected {
                selection.unselected = unselected;
                changed.push((number, selection.class.clone()));
            }
        }
        changed
    }

    /// The name of the class that a selection is, without further selectors.
    pub(super) fn as_class(&self, number: u32) -> Option<&str> {
        let row = self.rows.get(number as usize)?.as_ref()?;
        (row.own == Wish::default()).then_some(&*row.class)
    }

    /// A selection in use, as it is told.
    pub(super) fn told(&mut self, number: u32, class: &Class) -> DeviceClass {
        self.row(number).told(class)
    }

    /// Lets go of what nobody asked for the longest, where there is too much of it. Their numbers come back, each with whether
    /// it was told. A class itself stays for as long as it exists: it may serve an extended resource.
    pub(super) fn evict(&mut self, classes: &BTreeMap<Box<str>, Class>) -> Vec<(u32, bool)> {
        let mut gone = Vec::new();
        while self.idle.len() > IDLE_MAX
            && let Some((_, number)) = self.idle.pop_first()
        {
            let exists = classes.contains_key(&self.row(number).class);
            if exists && self.row(number).own == Wish::default() {
                self.row(number).turn = None;
                continue;
            }
            if let Some(Selection { class, own, .. }) = self.rows[number as usize].take() {
                self.by_key.remove(&(class, own));
                self.free.push(number);
                gone.push((number, exists));
            }
        }
        gone
    }

    fn row(&mut self, number: u32) -> &mut Selection {
        let row = self.rows[number as usize].as_mut();
        row.expect("a number that a claim asks for is in use")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_lent_was_never_a_selections() {
        let mut selections = Selections::default();
        for class in 0..=IDLE_MAX {
            let (number, _) = selections.number(&class.to_string(), Wish::default(), None);
            selections.enter(number, &Arc::from("ml"));
            selections.leave(number, "ml");
        }
        let known = selections.rows.len();
        selections.evict(&BTreeMap::new());
        assert_eq!(selections.free, [0]);
        let lent = selections.lend();
        assert_eq!(lent as usize, known);
        selections.hand_back(lent);
        assert_eq!(selections.number("a", Wish::default(), None).0, 0);
        assert_eq!(selections.number("b", Wish::default(), None).0 as usize, known + 1);
        assert_eq!(selections.lend(), lent);
    }
}
