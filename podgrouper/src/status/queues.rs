//! The queue tree: sums of a queue and of everything below it.

use std::collections::{BTreeMap, BTreeSet};

use super::totals::Sums;

/// Sums that the status of a queue says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QueueSums {
    pub(crate) children: Vec<String>,
    pub(crate) sums: Sums,
}

/// Sums of every queue: its own `PodGroup`s and those of all queues below it, at any depth.
///
/// `parents` holds every queue with the name of its parent, empty for a root. A queue that is its
/// own ancestor counts its own and its other children's, and nothing twice. Cost: queues plus edges.
pub(crate) fn roll_up(
    parents: &BTreeMap<String, String>,
    own: &BTreeMap<String, Sums>,
) -> BTreeMap<String, QueueSums> {
    let mut all: BTreeMap<String, QueueSums> = parents
        .keys()
        .map(|name| {
            let sums = own.get(name).cloned().unwrap_or_default();
            (name.clone(), QueueSums { children: Vec::new(), sums })
        })
        .collect();
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, parent) in parents {
        if let Some(row) = all.get_mut(parent) {
            row.children.push(name.clone());
            *waiting.entry(parent).or_default() += 1;
        }
    }
    // Leaves first; a queue is handed up once all its children were. Circles are never complete.
    let mut ready: BTreeSet<&str> =
        parents.keys().map(String::as_str).filter(|name| !waiting.contains_key(name)).collect();
    while let Some(name) = ready.pop_first() {
        let Some(parent) = parents.get(name) else { continue };
        let Some(sums) = all.get(name).map(|row| row.sums.clone()) else { continue };
        let Some(row) = all.get_mut(parent) else { continue };
        row.sums.add(&sums);
        let Some(left) = waiting.get_mut(parent.as_str()) else { continue };
        *left -= 1;
        if *left == 0 {
            ready.insert(parent);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kai_api::quantity::Quantity;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::totals::Sums;
    use super::roll_up;

    fn sums(cpu: i64) -> Sums {
        let mut sums = Sums::default();
        sums.requested.add_one("cpu", Quantity::from_value(cpu));
        sums
    }

    #[test]
    fn sums_climb_through_all_levels_and_circles_end() {
        let edges =
            [("a", ""), ("b", "a"), ("c", "b"), ("d", "a"), ("x", "y"), ("y", "x"), ("z", "x")];
        let parents: BTreeMap<String, String> =
            edges.iter().map(|(name, parent)| ((*name).to_owned(), (*parent).to_owned())).collect();
        let own = ["a", "c", "d", "x", "z", "gone"].map(|name| (name.to_owned(), sums(1)));
        let all = roll_up(&parents, &own.into_iter().collect());
        let cpu = |name: &str| all[name].sums.requested.to_value();
        assert_eq!(cpu("a"), json!({"cpu": "3"}));
        assert_eq!(cpu("b"), json!({"cpu": "1"}));
        assert_eq!(cpu("x"), json!({"cpu": "2"}));
        assert_eq!(cpu("y"), json!({}));
        assert_eq!(all["a"].children, ["b", "d"]);
    }

    proptest! {
        /// In a forest the roots together hold what all queues hold.
        #[test]
        fn nothing_is_lost_and_nothing_counts_twice(
            above in prop::collection::vec(any::<prop::sample::Index>(), 1..40)
        ) {
            let name = |index: usize| format!("q{index:02}");
            let mut parents = BTreeMap::new();
            let mut own = BTreeMap::new();
            for (index, pick) in above.iter().enumerate() {
                let parent = pick.index(index + 1);
                let parent = if parent == index { String::new() } else { name(parent) };
                parents.insert(name(index), parent);
                own.insert(name(index), sums(1));
            }
            let all = roll_up(&parents, &own);
            let mut total = Sums::default();
            for (queue, parent) in &parents {
                if parent.is_empty() {
                    total.add(&all[queue].sums);
                }
            }
            let count = i64::try_from(above.len()).expect("fewer than 40");
            prop_assert_eq!(total.requested.to_value(), sums(count).requested.to_value());
        }
    }
}
