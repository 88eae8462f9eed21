//! A device that a slice publishes, and which of its taints requests put up with.

use std::collections::BTreeMap;

use super::share::{Capacity, qualified};
pub(in crate::ingest) use crate::cel::Attribute;
use crate::cel::Described;

/// Says who reaches devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ingest) enum Site {
    /// One node.
    Node(u32),
    /// The nodes of a selector.
    Reach(u32),
}

/// Holds what a slice says of a device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::ingest) struct Device {
    pub(in crate::ingest) name: Box<str>,
    /// By domain and name; a name without domain is the driver's.
    pub(in crate::ingest) attributes: BTreeMap<(Box<str>, Box<str>), Attribute>,
    pub(in crate::ingest) capacity: BTreeMap<(Box<str>, Box<str>), Capacity>,
    /// Key, value and effect of what keeps it from those that do not tolerate it.
    pub(in crate::ingest) taints: Vec<[Box<str>; 3]>,
    /// Holds what it draws from counters of its pool, by set and counter, in thousandths.
    pub(in crate::ingest) draws: Vec<(Box<str>, i64)>,
    /// Claims may share it.
    pub(in crate::ingest) is_shared: bool,
    /// A claim that has it is bound to the node where it got it.
    pub(in crate::ingest) binds: bool,
    /// Conditions that have to hold before a pod with it is bound, and those of which none may.
    pub(in crate::ingest) conditions: [Vec<Box<str>>; 2],
}

/// Holds what of a device's taints a request puts up with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::ingest) struct Tolerated {
    /// Empty: every key.
    pub(in crate::ingest) key: Box<str>,
    /// None: every value.
    pub(in crate::ingest) value: Option<Box<str>>,
    /// Empty: every effect.
    pub(in crate::ingest) effect: Box<str>,
}

impl Device {
    /// Works out what expressions see of it.
    pub(in crate::ingest) fn described(&self, driver: &str) -> Described {
        let attributes = self.attributes.iter();
        let attributes =
            attributes.map(|((domain, name), value)| (domain.clone(), name.clone(), value.clone()));
        let capacity = self.capacity.iter();
        let capacity = capacity
            .map(|((domain, name), amount)| (domain.clone(), name.clone(), amount.text.clone()));
        Described {
            driver: Box::from(driver),
            attributes: attributes.collect(),
            capacity: capacity.collect(),
        }
    }

    /// Tells whether a request with these tolerations may have it.
    pub(in crate::ingest) fn is_tolerated(&self, tolerations: &[Tolerated]) -> bool {
        let tolerates = |one: &Tolerated, [key, value, effect]: &[Box<str>; 3]| {
            (one.key.is_empty() || one.key == *key)
                && one.value.as_ref().is_none_or(|own| own == value)
                && (one.effect.is_empty() || one.effect == *effect)
        };
        self.taints.iter().all(|taint| tolerations.iter().any(|one| tolerates(one, taint)))
    }

    /// Works out what a request takes of each capacity that asks for these amounts; none where the device does not have them.
    pub(in crate::ingest) fn taken(
        &self,
        driver: &str,
        asked: &[(Box<str>, i64)],
    ) -> Option<Vec<i64>> {
        let asked: Vec<_> =
            asked.iter().map(|(name, amount)| (qualified(driver, name), *amount)).collect();
        if asked.iter().any(|(name, _)| !self.capacity.contains_key(name)) {
            return None;
        }
        let amount = |name| asked.iter().find(|(of, _)| of == name).map(|(_, amount)| *amount);
        self.capacity.iter().map(|(name, capacity)| capacity.taken(amount(name))).collect()
    }
}
