//! Places that plans promised, and who waits for them to become free.
//!
//! Room that comes in a long time is promised to nobody, and neither is what is free beside it: a gang that had a pod of its
//! own user evicted would keep as much as it asks for, for as long as that pod takes to stop. Whoever had such a pod evicted
//! has no others evicted meanwhile, and has its turn before others once the room comes. What the pod holds counts with what
//! the queue claims from others until then: else each of its groups, made again or not, would have another evicted.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{
        ids::{GroupId, NodeId, PodId, QueueId},
        resources::Charge,
        time::Timestamp,
    },
    state::{State, rows::Phase, tree::Member},
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
    /// Pods that were evicted for others and are not gone.
    victims: BTreeMap<PodId, Beneficiary>,
    /// The part of these that takes long to leave, as of the beginning of the last plan.
    lingering: Lingering,
}

/// Holds for whom a pod was evicted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beneficiary {
    /// The group, as long as it waits for that.
    pub(crate) group: Option<GroupId>,
    /// Its queue.
    pub(crate) queue: QueueId,
    /// True if the group may be evicted itself.
    pub(crate) preemptible: bool,
}

/// Pods that were evicted for others and take long to leave.
#[derive(Clone, Default, Debug)]
struct Lingering {
    /// The groups that wait for some.
    groups: BTreeSet<GroupId>,
    /// Per queue with one for whose groups they were evicted, and per queue above it.
    queues: BTreeMap<QueueId, Awaited>,
}

/// Amounts that come to a queue in a long time, as others were evicted for its groups.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Awaited {
    /// Amounts of pods that are not of the queue itself: those of its own leave there anyway.
    pub(crate) held: Charge,
    /// Amounts of pods that were evicted for groups which cannot be evicted.
    pub(crate) fixed: Charge,
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
        self.victims.remove(&pod);
    }

    /// Notes for whom a pod is evicted.
    pub(crate) fn note_victim(&mut self, pod: PodId, whose: Beneficiary) {
        self.victims.insert(pod, whose);
    }

    /// Forgets that a pod was evicted, which stays.
    pub(crate) fn forget_victim(&mut self, pod: PodId) {
        self.victims.remove(&pod);
    }

    /// Has nobody wait any more for the pods that were evicted for a group.
    pub(crate) fn await_no_more(&mut self, group: GroupId) {
        for whose in self.victims.values_mut().filter(|whose| whose.group == Some(group)) {
            whose.group = None;
        }
        self.lingering.groups.remove(&group);
    }

    /// Forgets for which queue pods were evicted, as it is gone: its number may soon be another's.
    pub(crate) fn forget_queue(&mut self, queue: QueueId) {
        self.victims.retain(|_, whose| whose.queue != queue);
    }

    /// Tells whether a group waits for pods that were evicted for it and take long to leave.
    pub(crate) fn awaits(&self, group: GroupId) -> bool {
        self.lingering.groups.contains(&group)
    }

    /// Sums what comes to a queue in a long time, as others were evicted for its groups.
    pub(crate) fn awaited(&self, queue: QueueId) -> Awaited {
        self.lingering.queues.get(&queue).copied().unwrap_or_default()
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

impl State {
    /// Finds out which pods that were evicted for others take long to leave. A group that runs without them, and asks for no
    /// more, waits for them no more.
    ///
    /// # Cost
    /// In the pods that were evicted for others and are not gone, and in the queues above these.
    pub(crate) fn find_lingering(&mut self) {
        let mut victims = std::mem::take(&mut self.nominations.victims);
        let mut lingering = Lingering::default();
        for (pod, whose) in &mut victims {
            whose.group = whose.group.filter(|group| !self.has_all(*group));
            let status = &self.pods.status[*pod];
            if status.place.is_none() || status.phase != Phase::Lingering {
                continue;
            }
            lingering.groups.extend(whose.group);
            let charge = self.held(*pod);
            let own = self.pods[*pod].group().and_then(|group| self.groups[group].queue());
            let leaves_there =
                |at: QueueId| own.is_some_and(|own| self.queues.path(own).any(|one| one == at));
            for queue in self.queues.path(whose.queue) {
                let awaited = lingering.queues.entry(queue).or_default();
                if !leaves_there(queue) {
                    awaited.held += charge;
                }
                if !whose.preemptible {
                    awaited.fixed += charge;
                }
            }
        }
        self.nominations.victims = victims;
        self.nominations.lingering = lingering;
    }

    /// Tells whether a group runs and asks for no more.
    fn has_all(&self, group: GroupId) -> bool {
        let tree = &self.groups[group].tree;
        let count = tree.count();
        count.active > 0 && count.pending == 0 && tree.stands(Member::Set(0))
    }
}
