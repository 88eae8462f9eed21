//! The queue tree: sums of a queue and of everything below it, kept up to date by what changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::orphans::{Orphan, orphans};
use super::tally::{Change, Tally};
use super::totals::Sums;
use crate::object::Object;
use crate::store::Key;

/// A queue, with what its status says.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) object: Arc<Object>,
    parent: String,
    pub(super) children: Vec<String>,
    pub(super) orphan: Option<Orphan>,
    /// The queue above it, whose sums hold those of this one; none for a root, an orphan, and within a circle.
    heir: Option<String>,
    tally: Tally,
}

impl Account {
    fn of(object: Arc<Object>) -> Self {
        let parent = parent_of(&object).to_owned();
        let (children, tally) = (Vec::new(), Tally::default());
        Self { object, parent, children, orphan: None, heir: None, tally }
    }

    /// Gives the sums of the queue's own `PodGroup`s and those of all queues below it, at any depth.
    pub(super) fn sums(&self) -> Sums {
        self.tally.shown()
    }

    /// Gives the sums that its status has.
    pub(super) fn told(&self) -> Sums {
        Sums::from_value(&self.object.value()["status"])
    }
}

/// The sums of all queues.
///
/// A queue that is its own ancestor counts its own and its other children's, and nothing twice.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// Sums of each `PodGroup`, with the queue that they are counted in. That one need not be there.
    groups: BTreeMap<Key, (Arc<str>, Arc<Sums>)>,
    queues: BTreeMap<String, Account>,
    /// Names of queues of which something changed since they were taken.
    changed: BTreeSet<String>,
}

impl Accounts {
    /// Has a group count at a queue, and not any more as it did before.
    ///
    /// Cost: the resources of the group times the height of the tree, where something changed.
    pub(super) fn put(&mut self, key: Key, queue: Arc<str>, sums: Arc<Sums>) {
        let row = (queue, sums);
        let before = self.groups.insert(key, row.clone());
        if before.as_ref() == Some(&row) {
            return;
        }
        if let Some((queue, sums)) = before {
            self.count(&queue, &sums, Change::Taken);
        }
        self.count(&row.0, &row.1, Change::Added);
    }

    /// Has a group count nowhere.
    pub(super) fn remove(&mut self, key: &Key) {
        if let Some((queue, sums)) = self.groups.remove(key) {
            self.count(&queue, &sums, Change::Taken);
        }
    }

    fn count(&mut self, queue: &str, sums: &Sums, change: Change) {
        let mut next = Some(queue.to_owned());
        while let Some(name) = next {
            let Some(account) = self.queues.get_mut(&name) else { return };
            account.tally.count(sums, change);
            let heir = account.heir.clone();
            self.changed.insert(name);
            next = heir;
        }
    }

    /// Takes in the queues that there are by now.
    ///
    /// Cost: a look at each; the groups times the height of the tree where a queue came, went or has another parent.
    pub(super) fn see(&mut self, queues: BTreeMap<String, Arc<Object>>) {
        let is_known = |(name, object): (&String, &Arc<Object>)| {
            self.queues.get(name).is_some_and(|known| {
                Arc::ptr_eq(&known.object, object) || known.parent == parent_of(object)
            })
        };
        if self.queues.len() != queues.len() || !queues.iter().all(is_known) {
            self.plant(queues);
            return;
        }
        // Both have the same names.
        for (account, (name, object)) in self.queues.values_mut().zip(queues) {
            if !Arc::ptr_eq(&account.object, &object) {
                account.object = object;
                self.changed.insert(name);
            }
        }
    }

    /// Makes another tree, and all sums anew.
    fn plant(&mut self, queues: BTreeMap<String, Arc<Object>>) {
        self.change_all();
        self.queues =
            queues.into_iter().map(|(name, object)| (name, Account::of(object))).collect();
        self.change_all();
        let parents: BTreeMap<String, String> =
            self.queues.iter().map(|(name, row)| (name.clone(), row.parent.clone())).collect();
        for (name, parent) in &parents {
            if let Some(row) = self.queues.get_mut(parent) {
                row.children.push(name.clone());
            }
        }
        for (name, orphan) in orphans(&parents) {
            if let Some(row) = self.queues.get_mut(name) {
                row.orphan = Some(orphan);
            }
        }
        for (name, heir) in heirs(&parents) {
            if let Some(row) = self.queues.get_mut(name) {
                row.heir = Some(heir.to_owned());
            }
        }
        let groups = std::mem::take(&mut self.groups);
        for (queue, sums) in groups.values() {
            self.count(queue, sums, Change::Added);
        }
        self.groups = groups;
    }

    /// Has all queues looked at.
    pub(super) fn change_all(&mut self) {
        self.changed.extend(self.queues.keys().cloned());
    }

    /// Has a queue looked at again.
    pub(super) fn change(&mut self, name: &str) {
        self.changed.insert(name.to_owned());
    }

    /// Gives the names of queues of which something changed since the last call; of some there is no account any more.
    pub(super) fn take_changed(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.changed)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Account> {
        self.queues.get(name)
    }

    /// Adds a queue to `names`, with those above it whose sums hold its own.
    pub(super) fn add_line(&self, queue: &str, names: &mut BTreeSet<String>) {
        let mut next = Some(queue);
        while let Some(name) = next {
            let Some(account) = self.queues.get(name) else { return };
            if !names.insert(name.to_owned()) {
                return;
            }
            next = account.heir.as_deref();
        }
    }
}

fn parent_of(queue: &Object) -> &str {
    queue.value()["spec"]["parentQueue"].as_str().unwrap_or_default()
}

/// Queues whose sums count at their parent as well, each with this: all below another, but those within a circle.
///
/// `parents` holds every queue with the name of its parent, empty for a root. Cost: queues plus edges.
fn heirs(parents: &BTreeMap<String, String>) -> BTreeMap<&str, &str> {
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    for parent in parents.values().filter(|parent| parents.contains_key(*parent)) {
        *waiting.entry(parent).or_default() += 1;
    }
    // Leaves first; a queue is handed up once all its children were. Circles are never complete.
    let mut ready: BTreeSet<&str> =
        parents.keys().map(String::as_str).filter(|name| !waiting.contains_key(name)).collect();
    let mut heirs = BTreeMap::new();
    while let Some(name) = ready.pop_first() {
        let Some(parent) = parents.get(name) else { continue };
        let Some(left) = waiting.get_mut(parent.as_str()) else { continue };
        heirs.insert(name, parent.as_str());
        *left -= 1;
        if *left == 0 {
            ready.insert(parent);
        }
    }
    heirs
}

#[cfg(test)]
mod tests {
    use kai_api::quantity::Quantity;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn sums(cpu: i64) -> Sums {
        let mut sums = Sums::default();
        sums.requested.add_one("cpu", Quantity::from_value(cpu));
        sums
    }

    fn queue(name: &str, parent: &str) -> Arc<Object> {
        let spec = json!({"parentQueue": parent});
        Arc::new(Object::new(json!({"metadata": {"name": name}, "spec": spec})))
    }

    fn tree(edges: &[(&str, &str)]) -> BTreeMap<String, Arc<Object>> {
        edges.iter().map(|(name, parent)| ((*name).to_owned(), queue(name, parent))).collect()
    }

    fn put(accounts: &mut Accounts, group: &str, queue: &str, cpu: i64) {
        accounts.put(Key::new("n", group), queue.into(), Arc::new(sums(cpu)));
    }

    fn requested(accounts: &Accounts, name: &str) -> Value {
        accounts.queues[name].sums().requested.to_value()
    }

    #[test]
    fn sums_climb_through_all_levels_and_circles_end() {
        let edges =
            [("a", ""), ("b", "a"), ("c", "b"), ("d", "a"), ("x", "y"), ("y", "x"), ("z", "x")];
        let mut accounts = Accounts::default();
        for name in ["a", "c", "d", "x", "z", "gone"] {
            put(&mut accounts, name, name, 1);
        }
        accounts.see(tree(&edges));
        assert_eq!(requested(&accounts, "a"), json!({"cpu": "3"}));
        assert_eq!(requested(&accounts, "b"), json!({"cpu": "1"}));
        assert_eq!(requested(&accounts, "x"), json!({"cpu": "2"}));
        assert_eq!(requested(&accounts, "y"), json!({}));
        assert_eq!(accounts.queues["a"].children, ["b", "d"]);
        assert_eq!(accounts.queues["z"].orphan, Some(Orphan::Circle("x".to_owned())));
    }

    /// A tenant whose pods change all the time has the queues of others looked at no more than they change.
    #[test]
    fn the_queues_are_named_of_which_something_changed() {
        let mut accounts = Accounts::default();
        let mut queues = tree(&[("a", ""), ("b", "a"), ("c", "a"), ("d", "")]);
        accounts.see(queues.clone());
        let mut check = |expect: &[&str], change: &mut dyn FnMut(&mut Accounts)| {
            change(&mut accounts);
            let names = accounts.take_changed();
            assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), expect);
        };
        check(&["a", "b", "c", "d"], &mut |_| {});
        check(&["a", "b"], &mut |accounts| put(accounts, "g", "b", 1));
        check(&[], &mut |accounts| put(accounts, "g", "b", 1));
        check(&["a", "b", "c"], &mut |accounts| put(accounts, "g", "c", 1));
        check(&["a", "c"], &mut |accounts| accounts.remove(&Key::new("n", "g")));
        check(&[], &mut |accounts| accounts.remove(&Key::new("n", "g")));
        queues.insert("d".to_owned(), queue("d", ""));
        check(&["d"], &mut |accounts| accounts.see(queues.clone()));
        queues.remove("d");
        check(&["a", "b", "c", "d"], &mut |accounts| accounts.see(queues.clone()));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Put { group: u8, queue: u8, cpu: i64, gpus: i64 },
        Remove { group: u8 },
        Hang { queue: u8, parent: u8 },
        Cut { queue: u8 },
    }

    fn step() -> impl Strategy<Value = Step> {
        let (group, queue) = (0..8_u8, 0..6_u8);
        prop_oneof![
            4 => (group.clone(), queue.clone(), 0..4_i64, 0..2_i64)
                .prop_map(|(group, queue, cpu, gpus)| Step::Put { group, queue, cpu, gpus }),
            1 => group.prop_map(|group| Step::Remove { group }),
            2 => (queue.clone(), queue.clone())
                .prop_map(|(queue, parent)| Step::Hang { queue, parent }),
            1 => queue.prop_map(|queue| Step::Cut { queue }),
        ]
    }

    /// The sums of a queue from scratch: a group counts at its own queue, and at all that are reached from there without
    /// leaving a circle.
    fn from_scratch(
        parents: &BTreeMap<String, String>,
        groups: &BTreeMap<u8, (String, Sums)>,
    ) -> BTreeMap<String, Sums> {
        let is_in_circle = |name: &String| {
            let mut at = &parents[name];
            for _ in 0..parents.len() {
                if at == name {
                    return true;
                }
                let Some(above) = parents.get(at) else { return false };
                at = above;
            }
            false
        };
        let mut all: BTreeMap<String, Sums> =
            parents.keys().map(|name| (name.clone(), Sums::default())).collect();
        for (queue, sums) in groups.values() {
            let mut at = queue;
            while let Some(row) = all.get_mut(at) {
                row.add(sums);
                if is_in_circle(at) {
                    break;
                }
                at = &parents[at];
            }
        }
        all
    }

    proptest! {
        /// However groups and queues come, change and go, the sums are those of what is there.
        #[test]
        fn kept_sums_are_those_from_scratch(steps in prop::collection::vec(step(), 1..60)) {
            let (mut accounts, mut groups) = (Accounts::default(), BTreeMap::new());
            let (mut parents, mut queues) = (BTreeMap::new(), BTreeMap::new());
            for step in steps {
                match step {
                    Step::Put { group, queue, cpu, gpus } => {
                        let (name, mut sums) = (queue.to_string(), sums(cpu));
                        if gpus > 0 {
                            sums.allocated.add_one("nvidia.com/gpu", Quantity::from_value(gpus));
                        }
                        let key = Key::new("n", &group.to_string());
                        accounts.put(key, name.as_str().into(), Arc::new(sums.clone()));
                        groups.insert(group, (name, sums));
                    }
                    Step::Remove { group } => {
                        accounts.remove(&Key::new("n", &group.to_string()));
                        groups.remove(&group);
                    }
                    Step::Hang { queue: name, parent } => {
                        // Zero stands for no parent.
                        let parent = if parent == 0 { String::new() } else { parent.to_string() };
                        let name = name.to_string();
                        queues.insert(name.clone(), queue(&name, &parent));
                        parents.insert(name, parent);
                    }
                    Step::Cut { queue } => {
                        queues.remove(&queue.to_string());
                        parents.remove(&queue.to_string());
                    }
                }
                accounts.see(queues.clone());
                let kept: BTreeMap<String, Sums> =
                    accounts.queues.iter().map(|(name, row)| (name.clone(), row.sums())).collect();
                prop_assert_eq!(kept, from_scratch(&parents, &groups));
            }
        }
    }
}
