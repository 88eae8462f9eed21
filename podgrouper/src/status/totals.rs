//! Amounts of resources by name.

use std::collections::BTreeMap;

use kai_api::names::resource;
use kai_api::quantity::Quantity;
use serde_json::{Map, Value, json};

use crate::interner::Weigh;

/// Resources that queues are there for: a status always has them.
const MAIN: [&str; 5] =
    ["cpu", "memory", "ephemeral-storage", resource::NVIDIA_GPU, resource::AMD_GPU];
/// So many others a status has room for, and so many are kept of a list beside the instances of GPUs that it names: whoever
/// creates pods may name any number.
pub(super) const SHOWN_MAX: usize = 256;

/// Amounts by resource name; sums saturate instead of overflowing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Totals(BTreeMap<String, Quantity>);

/// Has tests count the names that are looked up as amounts are summed up.
fn note_step() {
    #[cfg(test)]
    tests::STEPS.set(tests::STEPS.get() + 1);
}

impl std::hash::Hash for Totals {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for (name, amount) in &self.0 {
            name.hash(state);
            amount.nano().hash(state);
        }
    }
}

impl Totals {
    /// Reads a resource list; an amount that is none is left out, and of very many resources the last.
    pub(crate) fn from_value(value: &Value) -> Self {
        let mut totals = Self::default();
        let (mut instances, mut others) = (0, 0);
        for (name, amount) in value.as_object().into_iter().flatten() {
            let is_instance = name.starts_with(resource::MIG_PREFIX);
            let count = if is_instance { &mut instances } else { &mut others };
            *count += usize::from(!MAIN.contains(&&**name));
            if *count > SHOWN_MAX && !MAIN.contains(&&**name) {
                continue;
            }
            let text = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
            if let Ok(amount) = Quantity::parse(&text) {
                totals.0.insert(name.clone(), amount);
            }
        }
        totals
    }

    pub(crate) fn get(&self, name: &str) -> Option<Quantity> {
        self.0.get(name).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Quantity)> {
        self.0.iter().map(|(name, amount)| (name.as_str(), *amount))
    }

    pub(crate) fn set(&mut self, name: &str, amount: Quantity) {
        self.0.insert(name.to_owned(), amount);
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub(crate) fn add_one(&mut self, name: &str, amount: Quantity) {
        note_step();
        let sum = self.0.entry(name.to_owned()).or_default();
        // Beyond 10^29 units the sum stays where it is.
        *sum = sum.checked_add(amount).unwrap_or(*sum);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            self.add_one(name, *amount);
        }
    }

    /// Adds of another what there is an amount of here too. What the other has beside that costs nothing.
    pub(super) fn add_to_own(&mut self, other: &Self) {
        for (name, sum) in &mut self.0 {
            note_step();
            if let Some(amount) = other.get(name) {
                *sum = sum.checked_add(amount).unwrap_or(*sum);
            }
        }
    }

    /// The larger amount of each resource.
    pub(crate) fn raise(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            note_step();
            let kept = self.0.entry(name.clone()).or_default();
            *kept = (*kept).max(*amount);
        }
    }

    /// Takes away of each resource as much as is wanted and there; gives what was taken.
    pub(super) fn take(&mut self, wanted: &Self) -> Self {
        let mut taken = Self::default();
        for (name, left) in &mut self.0 {
            let amount = wanted.get(name).unwrap_or_default().min(*left);
            if let Ok(rest) = left.checked_sub(amount)
                && !amount.is_negative()
                && !amount.is_zero()
            {
                *left = rest;
                taken.set(name, amount);
            }
        }
        taken
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// About so many bytes of memory are taken by it.
    pub(crate) fn bytes(&self) -> usize {
        let row = size_of::<(String, Quantity)>();
        self.0.keys().map(|name| row + name.len()).sum()
    }

    /// Tells whether a resource is one that counts however many there are.
    pub(crate) fn is_main(name: &str) -> bool {
        MAIN.contains(&name)
    }

    /// Leaves what counts however many there are, and instances of GPUs.
    pub(crate) fn of_devices(mut self) -> Self {
        self.0.retain(|name, _| Self::is_main(name) || name.starts_with(resource::MIG_PREFIX));
        self
    }

    /// Without resources of which there is nothing.
    pub(crate) fn without_zeros(mut self) -> Self {
        self.0.retain(|_, amount| !amount.is_zero());
        self
    }

    /// Leaves of very many resources as many as a status has room for: what queues are there for, and the first others.
    fn shown(&self) -> impl Iterator<Item = (&String, &Quantity)> {
        let mut others = 0;
        self.0.iter().filter(move |(name, _)| {
            others += usize::from(!Self::is_main(name));
            Self::is_main(name) || others <= SHOWN_MAX
        })
    }

    /// As a resource list, with 256 resources at most beside the usual ones.
    pub(crate) fn to_value(&self) -> Value {
        let row = |(name, amount): (&String, &Quantity)| (name.clone(), json!(amount.to_string()));
        Value::Object(self.shown().map(row).collect())
    }

    /// A merge patch that turns a stored resource list into this one; `None` when it is equal.
    pub(crate) fn patch(&self, stored: &Value) -> Option<Value> {
        let known = Self::from_value(stored);
        if self.shown().eq(&known.0) {
            return None;
        }
        let Value::Object(mut patch) = self.to_value() else { return None };
        let keys = stored.as_object().map(Map::keys).into_iter().flatten();
        for key in keys {
            patch.entry(key.clone()).or_insert(Value::Null);
        }
        Some(Value::Object(patch))
    }
}

/// An amount so many times; `None` when it does not fit.
pub(crate) fn times(amount: Quantity, count: i64) -> Option<Quantity> {
    let nano = amount.nano().checked_mul(i128::from(count))?;
    Quantity::parse(&format!("{nano}n")).ok()
}

/// Amounts that a `PodGroup` or a queue asks for and has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Sums {
    pub(crate) requested: Totals,
    pub(crate) allocated: Totals,
    pub(crate) non_preemptible: Totals,
}

impl Weigh for Sums {
    fn weight(&self) -> usize {
        let all = [&self.requested, &self.allocated, &self.non_preemptible];
        all.into_iter().map(Totals::bytes).sum()
    }
}

impl Sums {
    /// Reads what a status says.
    pub(crate) fn from_value(status: &Value) -> Self {
        let read = |key: &str| Totals::from_value(&status[key]);
        Self {
            requested: read("requested"),
            allocated: read("allocated"),
            non_preemptible: read("allocatedNonPreemptible"),
        }
    }

    #[cfg(test)]
    pub(crate) fn add(&mut self, other: &Self) {
        self.requested.add(&other.requested);
        self.allocated.add(&other.allocated);
        self.non_preemptible.add(&other.non_preemptible);
    }

    /// A merge patch of the three lists below a stored status; `None` when it is equal.
    pub(crate) fn patch(&self, stored: &Value) -> Option<Map<String, Value>> {
        let rows = [
            ("requested", &self.requested),
            ("allocated", &self.allocated),
            ("allocatedNonPreemptible", &self.non_preemptible),
        ];
        let mut patch = Map::new();
        for (key, totals) in rows {
            if let Some(value) = totals.patch(&stored[key]) {
                patch.insert(key.to_owned(), value);
            }
        }
        (!patch.is_empty()).then_some(patch)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Names that were looked up on this thread as amounts were summed up.
        pub(crate) static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn a_status_has_room_for_so_many_resources() {
        let mut totals = Totals::default();
        for number in 0..1_000 {
            totals.add_one(&format!("a.example/{number:04}"), Quantity::from_value(1));
        }
        totals.add_one(resource::NVIDIA_GPU, Quantity::from_value(8));
        let shown = totals.to_value();
        assert_eq!(shown.as_object().map(Map::len), Some(SHOWN_MAX + 1));
        assert_eq!(shown[resource::NVIDIA_GPU], "8");
        assert_eq!(totals.patch(&shown), None, "what is shown is not written again");
    }

    #[test]
    fn a_resource_that_is_gone_is_taken_out_of_a_status() {
        let of = |value: Value| Totals::from_value(&value);
        let stored = json!({"cpu": "2", "nvidia.com/gpu": "1"});
        let patch = of(json!({"cpu": "2"})).patch(&stored);
        assert_eq!(patch, Some(json!({"cpu": "2", "nvidia.com/gpu": null})));
    }

    #[test]
    fn so_many_resources_of_a_list_are_kept() {
        let mut list: Map<String, Value> =
            (0..1_000).map(|number| (format!("a.example/{number:04}"), json!("1"))).collect();
        list.extend(
            [("nvidia.com/mig-1g.5gb", "2"), (resource::NVIDIA_GPU, "8")]
                .map(|(name, amount)| (name.to_owned(), json!(amount))),
        );
        let totals = Totals::from_value(&Value::Object(list));
        assert_eq!(totals.iter().count(), SHOWN_MAX + 2);
        assert_eq!(totals.get(resource::NVIDIA_GPU), Some(Quantity::from_value(8)));
        assert_eq!(totals.get("nvidia.com/mig-1g.5gb"), Some(Quantity::from_value(2)));
    }
}
