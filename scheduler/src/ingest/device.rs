//! A device that a slice publishes, and which of its taints requests put up with.

use std::collections::BTreeMap;

use super::share::Capacity;
pub(super) use crate::cel::Attribute;
use crate::cel::Described;

/// What a slice says of a device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Device {
    pub(super) name: Box<str>,
    /// By domain and name; a name without domain is the driver's.
    pub(super) attributes: BTreeMap<(Box<str>, Box<str>), Attribute>,
    pub(super) capacity: BTreeMap<(Box<str>, Box<str>), Capacity>,
    /// Key, value and effect of what keeps it from those that do not tolerate it.
    pub(super) taints: Vec<[Box<str>; 3]>,
    /// What it draws from counters of its pool, by set and counter, in thousandths.
    pub(super) draws: Vec<(Box<str>, i64)>,
    /// Claims may share it.
    pub(super) is_shared: bool,
    /// A claim that has it is bound to the node where it got it.
    pub(super) binds: bool,
    /// Conditions that have to hold before a pod with it is bound, and those of which none may.
    pub(super) conditions: [Vec<Box<str>>; 2],
}

/// What of a device's taints a request puts up with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Tolerated {
    /// Empty: every key.
    pub(super) key: Box<str>,
    /// None: every value.
    pub(super) value: Option<Box<str>>,
    /// Empty: every effect.
    pub(super) effect: Box<str>,
}

impl Device {
    /// What expressions see of it.
    pub(super) fn described(&self, driver: &str) -> Described {
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

    /// Whether a request with these tolerations may have it.
    pub(super) fn is_tolerated(&self, tolerations: &[Tolerated]) -> bool {
        let tolerates = |one: &Tolerated, [key, value, effect]: &[Box<str>; 3]| {
            (one.key.is_empty() || one.key == *key)
                && one.value.as_ref().is_none_or(|own| own == value)
                && (one.effect.is_empty() || one.effect == *effect)
        };
        self.taints.iter().all(|taint| tolerations.iter().any(|one| tolerates(one, taint)))
    }
}
