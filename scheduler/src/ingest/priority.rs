//! `PriorityClass`.

use std::collections::HashMap;

use serde::Deserialize;

use crate::server::wire::Meta;

/// Priority classes by name.
#[derive(Debug, Default)]
pub(super) struct Priorities {
    classes: HashMap<Box<str>, Class>,
    /// The value for work that names none: the least of several defaults, as Kubernetes has it.
    global_default: Option<i32>,
}

#[derive(Debug)]
struct Class {
    /// The full list in which it was seen last.
    seen: u32,
    value: i32,
    is_default: bool,
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
        let known = self.known(class).or(self.global_default);
        known.unwrap_or(kai_api::names::priority_class::FALLBACK)
    }

    /// Looks up the value of a class; none where it is not there.
    pub(super) fn known(&self, class: &str) -> Option<i32> {
        self.classes.get(class).map(|class| class.value)
    }

    /// Tells whether it is known what a class is worth: no class is the default, or the fallback.
    pub(super) fn is_known(&self, class: &str) -> bool {
        class.is_empty() || self.classes.contains_key(class)
    }

    /// Takes a class in.
    pub(super) fn apply(&mut self, wire: &Wire<'_>, generation: u32) {
        let class = Class { seen: generation, value: wire.value, is_default: wire.global_default };
        self.classes.insert(Box::from(&*wire.metadata.name), class);
        self.choose_default();
    }

    /// Takes the class of this name out.
    pub(super) fn remove(&mut self, name: &str) {
        self.classes.remove(name);
        self.choose_default();
    }

    /// Takes out the classes that were not in the full list that is complete now.
    pub(super) fn end(&mut self, generation: u32) {
        self.classes.retain(|_, class| class.seen == generation);
        self.choose_default();
    }

    fn choose_default(&mut self) {
        let defaults = self.classes.values().filter(|class| class.is_default);
        self.global_default = defaults.map(|class| class.value).min();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(priorities: &mut Priorities, name: &str, value: i32, is_default: bool) {
        let text = serde_json::json!({
            "metadata": {"name": name}, "value": value, "globalDefault": is_default,
        });
        let text = text.to_string();
        priorities.apply(&serde_json::from_str(&text).expect("it is a class"), 1);
    }

    #[test]
    fn a_class_that_is_missing_has_the_global_default_else_fifty() {
        let mut priorities = Priorities::default();
        assert_eq!(priorities.value("train"), 50);
        told(&mut priorities, "std", 10, true);
        assert_eq!(priorities.value("train"), 10);
        told(&mut priorities, "train", 70, false);
        assert_eq!(priorities.value("train"), 70);
        priorities.end(2);
        assert_eq!(priorities.value("train"), 50);
    }

    /// Whatever order they come in, the least of them is the default, and the other one is when it goes.
    #[test]
    fn the_least_of_several_defaults_counts() {
        for names in [["low", "high"], ["high", "low"]] {
            let mut priorities = Priorities::default();
            for name in names {
                told(&mut priorities, name, if name == "low" { 20 } else { 90 }, true);
            }
            assert_eq!(priorities.value("train"), 20);
            priorities.remove("low");
            assert_eq!(priorities.value("train"), 90);
        }
    }
}
