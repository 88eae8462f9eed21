//! Groups that wait as well while a set of victims is tried: they get nothing, but whose turn it is depends on them.
//!
//! # Source
//! docs/behaviour.md 8.5: the order is the pending order over every group that waits; those that are neither a victim
//! nor the one for whom room is made are taken off and passed over.

use crate::{
    base::{
        few::Few,
        ids::{GroupId, PodId, QueueId, ShapeId},
        resources::Charge,
    },
    pending::{Pending, front::Fronts},
    queues::share,
    state::{State, group_key::GroupKey},
};

/// A group that waits, in which queue, with what it asks for.
pub(super) type WaitingGroup = (QueueId, GroupKey, Charge);

/// Adds the groups whose turns come between those of `taking`, as far as they matter.
///
/// Only the queues of these are looked at, and the first groups that wait in each. One that asks for no more than
/// another whose turn comes right before changes nothing. One that asks for more than the whole cluster offers is no
/// reason to leave its queue without what it is due.
///
/// # Cost
/// In the number of `taking`, and in that of their queues times a bound.
pub(super) fn add_other_pending(
    state: &State,
    pending: &Pending,
    fronts: &mut Fronts,
    taking: &mut Vec<WaitingGroup>,
) {
    let total = share::total(state);
    taking.sort_unstable_by_key(|(queue, key, _)| (*queue, *key));
    let mut between = Vec::new();
    for of_queue in taking.chunk_by(|(left, ..), (right, ..)| left == right) {
        let (queue, last, _) = of_queue[of_queue.len() - 1];
        let mut at = 0;
        if pending.first(queue).is_none_or(|first| first >= last) {
            continue;
        }
        let front = fronts.of(pending, queue).iter();
        let mut before: Option<Charge> = None;
        for (key, class) in front.take_while(|(key, _)| *key < last) {
            let passed = of_queue[at..].iter().take_while(|(_, taking, _)| taking < key).count();
            if passed > 0 {
                before = None;
                at += passed;
            }
            let ask = pending.class_ask(state, *class);
            let covers = |before: Charge| before.0.iter().zip(ask.0).all(|(b, ask)| *b >= ask);
            let hopeless = ask.0.iter().zip(total.0).any(|(ask, total)| *ask > total);
            let takes = || of_queue.iter().any(|(_, taking, _)| taking.group == key.group);
            if hopeless || before.is_some_and(covers) || takes() {
                continue;
            }
            before = Some(ask);
            between.push((queue, *key, ask));
        }
    }
    taking.extend(between);
}

/// A group that waits, with what some of its pods ask for.
pub(super) fn waiting(state: &State, group: GroupId, pods: &[PodId]) -> WaitingGroup {
    let memory_min = state.nodes().memory_min();
    let key = GroupKey::of(state, group).expect("a group that runs or waits is live");
    let queue = state.groups()[group].queue().expect("a group that runs or waits has a queue");
    let ask = |sum: Charge, pod: &PodId| sum + state.ask(*pod, memory_min);
    (queue, key, pods.iter().fold(Charge::default(), ask))
}

/// Names what decides whether some pods of a group find room, where nothing but their shapes and the queue does; groups
/// for which it is the same stand in for each other.
pub(super) fn kind_of(
    state: &State,
    group: GroupId,
    pods: &[PodId],
) -> Option<(QueueId, Few<ShapeId>)> {
    let row = &state.groups()[group];
    let plain = |pod: &PodId| {
        let facts = &state.pods()[*pod];
        !facts.has_claims && !state.shapes()[facts.shape].has_pod_affinity()
    };
    let alike = state.anti_affinity().is_empty() && row.tree.only_leaf().is_some();
    let shapes = || pods.iter().map(|pod| state.pods()[*pod].shape).collect();
    (alike && pods.iter().all(plain)).then(|| Some((row.queue()?, shapes()))).flatten()
}
