//! Bounds the domains that members of a group try within domains of each other.
//!
//! A member chooses among the domains within the one that was chosen for what it is part of, and so does what is within the
//! member: there are far more chains of such choices than domains. Most say nothing new. A member that found no room on some
//! nodes finds none there again as long as nothing of the group has a place; and an attempt that tried too many domains takes
//! the widest of each choice alone, so that levels which are only preferred give way.
//!
//! # Source
//! docs/behaviour.md 1.13.

use std::collections::BTreeMap;

use crate::{
    base::{id_set::IdSet, ids::Rank},
    decided::plan::Why,
    state::tree::Member,
};

/// So many domains within others one attempt tries.
const WITHIN_MAX: usize = 4_096;

/// A member and the nodes on which it failed: how many they are, and the first of them.
type FailureKey = (Member, usize, Option<Rank>);

/// Domains within domains, as an attempt tried them.
#[derive(Default, Debug)]
pub(super) struct Nesting {
    /// Place in the log at which the attempt began.
    begun: usize,
    /// Number of members that are tried on a domain, each but the first within that of another.
    depth: usize,
    /// Number of domains within others that were tried.
    tried: usize,
    /// Sets of nodes within a domain that had no room for a member while nothing of the group had a place, and why.
    failed: BTreeMap<FailureKey, Vec<(IdSet<Rank>, Why)>>,
}

impl Nesting {
    /// Begins an attempt at a place in the log.
    pub(super) fn begin(&mut self, mark: usize) {
        self.begun = mark;
    }

    /// Tells whether nothing of the group has a place, where the log has come to `mark`.
    pub(super) fn is_at_start(&self, mark: usize) -> bool {
        mark == self.begun
    }

    /// Counts a domain that a member is tried on.
    pub(super) fn enter(&mut self) {
        self.tried += usize::from(self.depth > 0);
        self.depth += 1;
    }

    /// Leaves the domain that was entered last.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Tells whether so many domains were tried that of each choice only the widest is left.
    pub(super) fn is_spent(&self) -> bool {
        self.tried >= WITHIN_MAX
    }

    /// Gives the reason why a member found no room on some nodes, where that is known.
    pub(super) fn failure(&self, member: Member, nodes: &IdSet<Rank>) -> Option<&Why> {
        let failed = self.failed.get(&key(member, nodes))?;
        failed.iter().find(|(others, _)| others == nodes).map(|(_, why)| why)
    }

    /// Notes that a member found no room on some nodes; outside of all domains it is tried once.
    pub(super) fn note_failure(&mut self, member: Member, nodes: &IdSet<Rank>, why: &Why) {
        if self.depth > 0 {
            let failed = self.failed.entry(key(member, nodes)).or_default();
            failed.push((nodes.clone(), why.clone()));
        }
    }
}

fn key(member: Member, nodes: &IdSet<Rank>) -> FailureKey {
    (member, nodes.len(), nodes.iter().next())
}
