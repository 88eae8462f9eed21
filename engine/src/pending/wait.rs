//! Groups that wait for room, and those that wait for something else.

use crate::{
    base::ids::{GroupId, QueueId},
    decided::plan::{Unready, Why},
    state::{State, tree::Tree},
};

/// Fate of a group that was touched.
pub(super) enum Wait {
    /// It waits for room in this queue.
    ForRoom(QueueId),
    /// It does not wait for room, for this reason.
    No(Why),
    /// There is nothing to say of it.
    Untold,
}

/// Says whether a group waits for room, and in which queue.
///
/// # Source
/// docs/behaviour.md 1.11, the filters of allocate; 12.4 for what is told first: a group with too few pods is told
/// nothing else.
pub(super) fn waits(state: &State, group: GroupId) -> Wait {
    let row = &state.groups()[group];
    let Some(facts) = &row.facts else { return Wait::Untold };
    let count = row.tree.count();
    if row.tree.is_malformed {
        return Wait::No(Why::Malformed);
    }
    if count.pending == 0 && count.gated == 0 {
        let why = if count.nominated > 0 { Why::Nominated } else { Why::Satisfied };
        return if count.used + count.succeeded > 0 { Wait::No(why) } else { Wait::Untold };
    }
    if !row.tree.is_ready() {
        return Wait::No(not_ready(state, group));
    }
    let queue = facts.queue.filter(|queue| state.queues().rows[*queue].attached);
    let Some(queue) = queue else { return Wait::No(Why::QueueMissing) };
    if state.queues().rows[queue].parts {
        return Wait::No(Why::QueueNotLeaf);
    }
    if facts.held {
        return Wait::No(Why::Held);
    }
    if count.pending == 0 {
        return Wait::No(Why::Gated);
    }
    Wait::ForRoom(queue)
}

/// Says that a group has too few pods, and where.
pub(crate) fn not_ready(state: &State, group: GroupId) -> Why {
    Why::NotReady(unready(&state.groups()[group].tree))
}

/// The sub-groups that have too few pods.
fn unready(tree: &Tree) -> Vec<Unready> {
    tree.leaves
        .iter()
        .filter(|leaf| !leaf.is_ready())
        .map(|leaf| Unready {
            sub_group: leaf.name,
            min: leaf.min,
            alive: leaf.alive() + leaf.count.succeeded,
            gated: leaf.count.gated,
        })
        .collect()
}
