//! Levels of topologies: which labels of nodes they are, and how the values of those are written.

use std::collections::BTreeSet;

use kai_engine::{Delta, Symbol};

use crate::names::Names;

/// Labels of nodes: which of them are levels of topologies, and with what values they are there.
#[derive(Default, Debug)]
pub(super) struct Levels {
    keys: BTreeSet<Symbol>,
    /// Keys with values.
    values: BTreeSet<(Symbol, Symbol)>,
}

impl Levels {
    /// Notes that a node has this label; where its key is a level, the way its value is written is told.
    pub(super) fn labelled(&mut self, key: Symbol, value: Symbol, names: &Names) -> Option<Delta> {
        let is_told = self.values.insert((key, value)) && self.keys.contains(&key);
        is_told.then(|| spelling(value, names))
    }

    /// Notes that a label is a level; the way the values are written that nodes have of it is told.
    pub(super) fn insert(&mut self, key: Symbol, names: &Names) -> Vec<Delta> {
        if !self.keys.insert(key) {
            return Vec::new();
        }
        let of_key = self.values.range((key, Symbol::EMPTY)..).take_while(|(of, _)| *of == key);
        of_key.map(|(_, value)| spelling(*value, names)).collect()
    }
}

fn spelling(value: Symbol, names: &Names) -> Delta {
    Delta::Spelling(value, Box::from(names.text(value).as_bytes()))
}
