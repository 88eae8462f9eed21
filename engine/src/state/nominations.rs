//! Places that plans promised, and who waits for them to become free.

use std::collections::BTreeMap;

use crate::{
    base::{
        ids::{GroupId, NodeId, PodId},
        time::Timestamp,
    },
    told::pod::Place,
};

/// Nominations of plans.
#[derive(Clone, Default, Debug)]
pub(crate) struct Nominations {
    /// Nominations of the last plan: void once anything changes.
    pub(crate) places: BTreeMap<PodId, Place>,
    /// Nodes that the plan before nominated pods to which still wait: they go there rather than elsewhere.
    pub(crate) nodes: BTreeMap<PodId, NodeId>,
    /// Groups of which pods were moved.
    pub(crate) moves: BTreeMap<GroupId, Moved>,
    /// Groups that pods were evicted for or that were moved, and that have not got the room yet, in the order of the
    /// evictions.
    pub(crate) groups: Vec<GroupId>,
}

/// Holds what is known of a group of which pods were moved.
#[derive(Clone, Debug)]
pub(crate) struct Moved {
    /// Nodes that its pods are to go to: what comes back are other pods.
    pub(crate) nodes: Vec<NodeId>,
    /// When the last of them was evicted. What the group's object says of evictions is not asked: its user may write it.
    pub(crate) at: Timestamp,
}

impl Nominations {
    /// Remembers that a pod of a group is to come back on a node.
    pub(crate) fn note_move(&mut self, group: GroupId, node: NodeId, at: Timestamp) {
        let moved = self.moves.entry(group).or_insert(Moved { nodes: Vec::new(), at });
        moved.nodes.push(node);
        moved.at = at;
    }

    /// Forgets a pod that is gone: its number may soon be another's.
    pub(crate) fn forget_pod(&mut self, pod: PodId) {
        self.places.remove(&pod);
        self.nodes.remove(&pod);
    }

    /// Forgets what a group was promised.
    pub(crate) fn forget_group(&mut self, group: GroupId) {
        self.moves.remove(&group);
        self.groups.retain(|other| *other != group);
    }

    /// Has a group come to its place before others, after those that have to already.
    pub(crate) fn queue(&mut self, group: GroupId) {
        if !self.groups.contains(&group) {
            self.groups.push(group);
        }
    }

    /// Counts a pod of a group that is moved as one that has come to a node, or is nominated for it; once.
    pub(crate) fn arrive(&mut self, pod: PodId, group: GroupId, node: NodeId) {
        if self.nodes.get(&pod) == Some(&node) {
            return;
        }
        let Some(Moved { nodes, .. }) = self.moves.get_mut(&group) else { return };
        if let Some(at) = nodes.iter().position(|expected| *expected == node) {
            nodes.remove(at);
        }
    }
}
