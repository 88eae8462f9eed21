//! Groups of which more would have to be asked for than may be in one pass: what was found out for them so far, and the queues
//! that wait for those which nobody summed up yet.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::queues::Accounts;
use super::totals::Totals;
use crate::store::Key;

/// So many nodes and claims are remembered for all groups together.
const FOUND_MAX: usize = 1 << 16;
/// Queues wait so long at most: what is asked for a group may fail for ever.
pub(super) const WAIT_MAX: Duration = Duration::from_mins(10);

/// All that was found out for a group by asking, as it was then. The cache may have let go of it, and remembers nothing of an
/// object that is not there.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Amounts that nodes offer; none of one that is not there.
    pub(super) nodes: HashMap<String, Option<Totals>>,
    /// Devices of the claims of the group's namespace; none of one that is not there.
    pub(super) claims: HashMap<String, Totals>,
}

impl Findings {
    pub(super) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    fn count(&self) -> usize {
        self.nodes.len() + self.claims.len()
    }
}

/// A group as the passes before left it.
#[derive(Debug, Default)]
pub(super) struct Begun {
    pub(super) findings: Findings,
    /// It changed since then, or something that was found did.
    pub(super) is_changed: bool,
    /// Nothing more may be remembered for it, so that it is summed up as it is.
    pub(super) is_last: bool,
}

/// The groups that are late.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// Those for which something was found.
    groups: BTreeMap<Key, Begun>,
    /// Number of nodes and claims that are remembered for them.
    found: usize,
}

impl Late {
    /// Notes that groups changed, or something that is asked for them.
    pub(super) fn note(&mut self, changed: &BTreeSet<Key>) {
        for key in changed {
            if let Some(group) = self.groups.get_mut(key) {
                group.is_changed = true;
            }
        }
    }

    /// Takes a group out for its turn, which is its last where no more may be remembered: then it makes room.
    pub(super) fn take(&mut self, key: &Key) -> Begun {
        let is_full = self.found >= FOUND_MAX;
        let Some(group) = self.groups.remove(key) else { return Begun::default() };
        self.found -= group.findings.count();
        Begun { is_last: is_full, ..group }
    }

    /// Keeps for its next turn what was found out for a group, while there is room.
    pub(super) fn put(&mut self, key: Key, group: Begun) {
        if !group.findings.is_empty() && self.found < FOUND_MAX {
            self.found += group.findings.count();
            self.groups.insert(key, group);
        }
    }
}

/// Groups that were there at the first pass and that nobody summed up since, each with its queue. Statuses of queues are those
/// that another process wrote, who knew them.
#[derive(Debug, Default)]
pub(super) struct Missing {
    groups: BTreeMap<Key, Arc<str>>,
    /// Time of the first pass.
    since: Option<Instant>,
    is_first: bool,
}

impl Missing {
    /// Notes that a pass begins.
    pub(super) fn begin(&mut self) {
        self.is_first = self.since.is_none();
        self.since.get_or_insert_with(Instant::now);
    }

    /// Tells whether a group that could not be summed up in this pass is one of them.
    pub(super) fn concerns(&self, key: &Key) -> bool {
        self.is_first || self.groups.contains_key(key)
    }

    /// Takes a group in, or notes that it is in another queue by now.
    pub(super) fn put(&mut self, key: Key, queue: Arc<str>) {
        self.groups.insert(key, queue);
    }

    /// Notes that a group was summed up.
    pub(super) fn remove(&mut self, key: &Key) {
        self.groups.remove(key);
    }

    /// Names the queues whose sums lack a group, with all above them.
    pub(super) fn queues(&mut self, accounts: &Accounts) -> BTreeSet<String> {
        if self.since.is_some_and(|since| since.elapsed() >= WAIT_MAX) {
            self.groups.clear();
        }
        let mut names = BTreeSet::new();
        for queue in self.groups.values() {
            accounts.add_line(queue, &mut names);
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of so many claims.
    fn found(count: usize) -> Begun {
        let claims = (0..count).map(|at| (at.to_string(), Totals::default())).collect();
        Begun { findings: Findings { claims, ..Findings::default() }, ..Begun::default() }
    }

    /// Groups that wait for room which none of them gives back would all be late for ever.
    #[test]
    fn a_group_for_which_nothing_more_may_be_remembered_has_its_last_turn() {
        let mut late = Late::default();
        let [large, small, next] = ["large", "small", "next"].map(|name| Key::new("n", name));
        late.put(large.clone(), found(FOUND_MAX - 1));
        assert!(!late.take(&large).is_last, "there is room");
        late.put(large.clone(), found(FOUND_MAX - 1));
        late.put(small.clone(), found(1));
        late.put(next.clone(), found(1));
        let next = late.take(&next);
        assert_eq!((next.findings.count(), next.is_last), (0, false), "it has begun nothing");
        let small = late.take(&small);
        assert_eq!((small.findings.count(), small.is_last), (1, true));
        assert!(!late.take(&large).is_last, "there is room by now");
        assert_eq!(late.found, 0);
    }
}
