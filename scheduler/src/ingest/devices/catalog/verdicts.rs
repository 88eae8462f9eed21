//! Describes what is known of selectors and devices: each pair is asked once, and once more for each namespace that joins.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use kai_engine::Unselected;

use super::Site;
use crate::cel::{Answer, Described, Question, Verdict};

/// Devices and selectors that are kept beyond those in use before the rest is looked for.
const SLACK: usize = 256;

/// Verdicts, and what is asked.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    /// Devices that are alike are one.
    devices: HashSet<Arc<Described>>,
    known: HashMap<Arc<str>, Known>,
    /// Holds what is to be asked next.
    pub(super) questions: Vec<Question>,
    /// Entries after the last look for what nobody uses.
    tidied: usize,
}

/// Holds what is known of a selector.
#[derive(Debug, Default)]
struct Known {
    /// It is used for no device.
    refused: Option<Unselected>,
    /// By the address of a device that is kept: alike devices are one.
    by_device: BTreeMap<Device, bool>,
    asked: BTreeMap<Device, Asked>,
}

/// A question without its answer.
#[derive(Debug, Default)]
struct Asked {
    sites: BTreeSet<Site>,
    namespaces: BTreeSet<Arc<str>>,
}

/// A device by its address: it is kept for as long as something is known of it.
#[derive(Clone, Debug)]
struct Device(Arc<Described>);

impl Device {
    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Device {}

impl PartialOrd for Device {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Device {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.address().cmp(&other.address())
    }
}

impl Verdicts {
    /// The device that is kept for all that are alike.
    pub(super) fn described(&mut self, device: Described) -> Arc<Described> {
        if let Some(known) = self.devices.get(&device) {
            return Arc::clone(known);
        }
        let device = Arc::new(device);
        self.devices.insert(Arc::clone(&device));
        device
    }

    /// Tells whether a selector holds for a device. Where that is not known it does not, and is asked for each namespace; the
    /// site is told anew once it is.
    pub(super) fn holds(
        &mut self,
        expression: &Arc<str>,
        device: &Arc<Described>,
        site: Site,
        namespaces: &mut dyn Iterator<Item = &Arc<str>>,
    ) -> bool {
        let known = match self.known.get_mut(expression) {
            Some(known) => known,
            None => self.known.entry(Arc::clone(expression)).or_default(),
        };
        if known.refused.is_some() {
            return false;
        }
        let key = Device(Arc::clone(device));
        if let Some(holds) = known.by_device.get(&key) {
            return *holds;
        }
        let asked = known.asked.entry(key).or_default();
        asked.sites.insert(site);
        for namespace in namespaces {
            if asked.namespaces.insert(Arc::clone(namespace)) {
                self.questions.push(Question {
                    namespace: Arc::clone(namespace),
                    expression: Arc::clone(expression),
                    device: Arc::clone(device),
                });
            }
        }
        false
    }

    /// Takes a verdict in; the sites that it concerns come back.
    pub(super) fn answered(&mut self, answer: Answer) -> BTreeSet<Site> {
        let Some(known) = self.known.get_mut(&answer.expression) else { return BTreeSet::new() };
        let device = Device(answer.device);
        let refused = match &answer.verdict {
            Verdict::Holds | Verdict::Fails => None,
            Verdict::Costly => Some(Unselected::Costly),
            Verdict::Fault(fault) => {
                tracing::warn!(%fault, "a CEL selector cannot be used");
                Some(Unselected::Broken)
            }
        };
        if refused.is_none() {
            known.by_device.insert(device.clone(), answer.verdict == Verdict::Holds);
            return known.asked.remove(&device).map(|asked| asked.sites).unwrap_or_default();
        }
        known.refused = refused;
        known.by_device.clear();
        std::mem::take(&mut known.asked).into_values().flat_map(|asked| asked.sites).collect()
    }

    /// Says why claims with a selector get no devices.
    pub(super) fn unselected(&self, expression: &Arc<str>) -> Option<Unselected> {
        let known = self.known.get(expression)?;
        known.refused.or((!known.asked.is_empty()).then_some(Unselected::Undecided))
    }

    /// Tells whether there may be much that nobody uses.
    pub(super) fn is_large(&self) -> bool {
        self.devices.len() + self.known.len() > 2 * self.tidied + SLACK
    }

    /// Forgets selectors that are not in use, and devices that no slice has.
    pub(super) fn tidy(&mut self, used: &BTreeSet<Arc<str>>) {
        self.known.retain(|expression, _| used.contains(expression));
        let mut holders: HashMap<usize, usize> = HashMap::new();
        for known in self.known.values() {
            for device in known.by_device.keys().chain(known.asked.keys()) {
                *holders.entry(device.address()).or_default() += 1;
            }
        }
        let is_left = |device: &Arc<Described>| {
            let own = 1 + holders.get(&Arc::as_ptr(device).addr()).copied().unwrap_or(0);
            Arc::strong_count(device) > own
        };
        for known in self.known.values_mut() {
            known.by_device.retain(|device, _| is_left(&device.0));
            known.asked.retain(|device, _| is_left(&device.0));
        }
        self.devices.retain(is_left);
        self.tidied = self.devices.len() + self.known.len();
    }
}
