//! `PriorityClass`.

use std::collections::HashMap;

use serde::Deserialize;

use crate::server::wire::Meta;

/// Priority classes by name.
#[derive(Debug, Default)]
pub(super) struct Priorities {
    /// The full list in which it was seen last, and its value.
    classes: HashMap<Box<str>, (u32, i32)>,
    /// The class for work that names none.
    global_default: Option<(Box<str>, i32)>,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wire<'a> {
    #[serde(borrow)]
    pub(super) metadata: Meta<'a>,
    #[serde(default)]
    value: i32,
    #[serde(default)]
    global_default: bool,
}

impl Priorities {
    /// Looks up the priority of a class by the rule of the contract: its value, else the global default's, else 50.
    ///
    /// # Source
    /// docs/contract.md 2.5.
    pub(super) fn value(&self, class: &str) -> i32 {
        let global = self.global_default.as_ref().map(|(_, value)| *value);
        let own = self.classes.get(class).map(|(_, value)| *value);
        own.or(global).unwrap_or(kai_api::names::priority_class::FALLBACK)
    }

    /// Looks up the value of a class; none where it is not there.
    pub(super) fn known(&self, class: &str) -> Option<i32> {
        self.classes.get(class).map(|(_, value)| *value)
    }

    /// Takes a class in.
    pub(super) fn apply(&mut self, wire: &Wire<'_>, generation: u32) {
        let name = &*wire.metadata.name;
        self.classes.insert(Box::from(name), (generation, wire.value));
        if wire.global_default {
            self.global_default = Some((Box::from(name), wire.value));
        } else if self.is_default(name) {
            self.global_default = None;
        }
    }

    /// Takes the class of this name out.
    pub(super) fn remove(&mut self, name: &str) {
        self.classes.remove(name);
        if self.is_default(name) {
            self.global_default = None;
        }
    }

    /// Takes out the classes that were not in the full list that is complete now.
    pub(super) fn end(&mut self, generation: u32) {
        self.classes.retain(|_, (seen, _)| *seen == generation);
        let is_gone = |(name, _): &(Box<str>, i32)| !self.classes.contains_key(name);
        if self.global_default.as_ref().is_some_and(is_gone) {
            self.global_default = None;
        }
    }

    fn is_default(&self, name: &str) -> bool {
        self.global_default.as_ref().is_some_and(|(known, _)| **known == *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_that_is_missing_has_the_global_default_else_fifty() {
        let mut priorities = Priorities::default();
        assert_eq!(priorities.value("train"), 50);
        priorities.global_default = Some((Box::from("std"), 10));
        assert_eq!(priorities.value("train"), 10);
        priorities.classes.insert(Box::from("train"), (1, 70));
        assert_eq!(priorities.value("train"), 70);
    }
}
