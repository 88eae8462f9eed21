//! Device classes with the selectors of requests, each under a number.
//!
//! What no claim asks for any more is kept for a while, as claims of a template come and go; then its number is given to
//! another one, so that claims with ever new selectors cost no more than those that are there.

use std::collections::{BTreeMap, HashMap};

use kai_engine::DeviceClass;

use super::Class;
use crate::ingest::selector::{Selector, Tolerated};

/// Selections that are kept although nobody asks for them; attributes too.
pub(super) const IDLE_MAX: usize = 32;

/// What a request wants of devices of a class.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub(in crate::ingest) struct Wish {
    pub(in crate::ingest) selectors: Vec<Box<str>>,
    pub(in crate::ingest) tolerations: Vec<Tolerated>,
    /// How much of which capacities, in thousandths.
    pub(in crate::ingest) capacity: Vec<(Box<str>, i64)>,
}

/// A device class with the selectors of a request.
#[derive(Debug)]
pub(super) struct Selection {
    class: Box<str>,
    pub(super) own: Wish,
    /// Those of the class and its own; none while the class does not exist.
    pub(super) selector: Option<Selector>,
    /// How many requests of claims ask for it.
    claims: u32,
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
        DeviceClass { backs: (self.own == Wish::default()).then_some(class.backs) }
    }

    fn compile(&mut self, class: Option<&Class>) {
        self.selector = class.map(|class| {
            let all = class.selectors.iter().chain(&self.own.selectors).map(|text| &**text);
            let selector = Selector::compile(all);
            if let Some(fault) = &selector.fault {
                tracing::warn!(class = &*self.class, fault, "a CEL selector cannot be used");
            }
            selector
        });
    }
}

impl Selections {
    /// The number of a device class with further selectors, and whether it is new.
    pub(super) fn number(&mut self, class: &str, own: Wish, facts: Option<&Class>) -> (u32, bool) {
        let key = (Box::from(class), own.clone());
        if let Some(number) = self.by_key.get(&key) {
            return (*number, false);
        }
        let mut selection =
            Selection { class: Box::from(class), own, selector: None, claims: 0, turn: None };
        selection.compile(facts);
        let number = self.free.pop().unwrap_or_else(|| self.another());
        self.rows[number as usize] = Some(selection);
        self.by_key.insert(key, number);
        (number, true)
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

    /// Compiles those of a class anew; all of them come back.
    pub(super) fn recompile(
        &mut self,
        class: &str,
        facts: Option<&Class>,
    ) -> Vec<(u32, &Selection)> {
        let mut touched = Vec::new();
        for (number, row) in (0..).zip(&mut self.rows) {
            if let Some(selection) = row
                && *selection.class == *class
            {
                selection.compile(facts);
                touched.push((number, &*selection));
            }
        }
        touched
    }

    /// Every number in use with its selection.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Selection)> {
        (0..).zip(&self.rows).filter_map(|(number, row)| Some((number, row.as_ref()?)))
    }

    /// One request more asks for a selection.
    pub(super) fn enter(&mut self, number: u32) {
        let selection = self.row(number);
        selection.claims += 1;
        if let Some(turn) = selection.turn.take() {
            self.idle.remove(&turn);
        }
    }

    /// One request less does.
    pub(super) fn leave(&mut self, number: u32) {
        let turn = self.turns;
        let selection = self.row(number);
        selection.claims -= 1;
        if selection.claims == 0 {
            selection.turn = Some(turn);
            self.idle.insert(turn, number);
            self.turns += 1;
        }
    }

    /// Lets go of what nobody asked for the longest, where there is too much of it. The numbers of those that were told
    /// come back. A class itself stays for as long as it exists: it may serve an extended resource.
    pub(super) fn evict(&mut self, classes: &BTreeMap<Box<str>, Class>) -> Vec<u32> {
        let mut told = Vec::new();
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
                told.extend(exists.then_some(number));
            }
        }
        told
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
            selections.enter(number);
            selections.leave(number);
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
