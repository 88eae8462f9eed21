//! Everything that the engine knows: the state, who waits, and searches that go on.

use crate::{
    base::{
        ids::{BudgetId, ClaimId, GroupId, NodeId, PodId, QueueId, Symbol, TopologyId},
        resources::Charge,
    },
    config::Config,
    decided::{
        plan::{Misfit, QueueState, Why},
        proof::{EvictionKind, Shortage},
    },
    evict::{Scratch, resume::ResumableSearches},
    fit::devices::standing,
    pending::Pending,
    state::{Stage, State, changes::Kind, tree::Leaf},
    told::{
        budget::Budget,
        claim::Claim,
        delta::Delta,
        group::{Group, Topology},
        node::Node,
        pod::{Owner, Place, Pod},
        queue::Queue,
        requirement::Requirement,
    },
};

/// Everything that the engine knows, kept across cycles.
///
/// Facts and what follows from them are the state, which knows none of the others; who waits is worked out from it, and
/// searches from both. What changed goes the same way, see [`Cluster::absorb`].
#[derive(Clone, Default, Debug)]
pub struct Cluster {
    pub(crate) state: State,
    /// Groups that wait, in their order.
    pub(crate) pending: Pending,
    /// Searches for victims and for other ways to place a group that go on, and those that are over.
    pub(crate) searches: ResumableSearches,
    /// Room for searches to work in.
    pub(crate) scratch: Scratch,
    /// Configuration of the last plan.
    pub(crate) config: Option<Config>,
}

impl PartialEq for Cluster {
    /// Equal facts and derived columns; what is remembered of decisions does not count.
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl Cluster {
    /// Takes one piece of news in. Telling the same again changes nothing.
    ///
    /// # Cost
    /// In the size of the object and, for a node or a group whose facts changed, in the number of its pods.
    ///
    /// # Panics
    /// When an outcome names a pod that was never told.
    pub fn apply(&mut self, delta: Delta) {
        self.state.apply(delta);
    }

    /// Turns what changed in the state into what is to be decided anew: the one place where that is done.
    ///
    /// # Cost
    /// In the groups of which something changed; nothing worth counting where nothing was told.
    #[inline]
    pub(crate) fn absorb(&mut self) {
        if !self.state.changes().is_empty() {
            self.absorb_changes();
        }
    }

    /// As [`absorb`](Self::absorb), where something changed; apart, so that an idle cycle does not pay for it.
    #[inline(never)]
    fn absorb_changes(&mut self) {
        let changes = self.state.changes();
        if changes.has(Kind::Told) {
            self.searches.forget(changes.touched.iter());
        }
        self.pending.absorb(changes);
    }

    /// Derives every derived column again and says which differ from the facts; empty is good.
    ///
    /// # Cost
    /// That of building the cluster anew. It is for tests, for the start, and for once in a thousand cycles.
    pub fn check(&self) -> Vec<String> {
        self.state.check()
    }

    /// Repeats what was said last of a group, where something was.
    pub fn verdict(&self, group: GroupId) -> Option<&Why> {
        self.state.verdict(group)
    }

    /// Has verdicts say the numbers of the last plan where the reason stays, which alone is no news to a plan: those of so
    /// many groups at most, the rest when this is asked again. The groups whose numbers are others since.
    pub fn renumber(&mut self, most: usize) -> Vec<GroupId> {
        self.pending.renumber(&mut self.state, most)
    }

    /// Lists the kinds of eviction of which counting shows that they do not help a group that waits, as of the last plan
    /// that asked, with what there is too little of.
    pub fn proofs(&self, group: GroupId) -> impl Iterator<Item = (EvictionKind, Shortage)> {
        self.pending.proofs(group)
    }

    /// Sums up a queue, as of the last plan; one that was never told has zeros.
    pub fn queue_state(&self, queue: QueueId) -> QueueState {
        self.state.queue_state(queue)
    }

    /// Lists a queue and those above it, the lowest first.
    pub fn queue_path(&self, queue: QueueId) -> impl Iterator<Item = QueueId> {
        self.state.queues().path(queue)
    }

    /// Sums what the pods of a group ask for that are placed next, parts of GPUs by memory aside.
    pub fn ask(&self, group: GroupId) -> Charge {
        let there = self.state.groups().get(group).is_some();
        let pods = there.then(|| self.state.to_place(group));
        let pods = pods.iter().flat_map(|pods| pods.iter());
        pods.fold(Charge::default(), |sum, pod| sum + self.state.ask(*pod, None))
    }

    /// Gives the facts of a group as it was told last; none where it is not there.
    pub fn group(&self, group: GroupId) -> Option<&Group> {
        self.state.groups().get(group)?.facts.as_deref()
    }

    /// Gives the facts of a node as it was told last; none where it is not there.
    pub fn node(&self, node: NodeId) -> Option<&Node> {
        self.state.nodes().facts.get(node)?.as_deref()
    }

    /// Gives the facts of a queue as it was told last; none where it is not there.
    pub fn queue(&self, queue: QueueId) -> Option<&Queue> {
        self.state.queues().rows.get(queue)?.facts.as_deref()
    }

    /// Gives the facts of a pod as it was told last, but that it waits for a place; none where it is not there.
    ///
    /// # Cost
    /// In the size of its facts, which are put together anew.
    pub fn pod_waiting(&self, pod: PodId) -> Option<Pod> {
        self.state.pod_waiting(pod)
    }

    /// The facts of a pod as it was told last; none where it is not known.
    pub fn pod_told(&self, pod: PodId) -> Option<Pod> {
        self.state.pod_told(pod)
    }

    /// Gives what a pod asks for of GPUs, as it was told last; none where it is not known.
    pub fn gpu_request(&self, pod: PodId) -> Option<&crate::GpuRequest> {
        let facts = self.state.pods().facts.get(pod)?.as_ref()?;
        Some(&self.state.shapes()[facts.shape].facts.gpu)
    }

    /// Finds the place that a pod holds, or was given.
    pub fn place_of(&self, pod: PodId) -> Option<&Place> {
        self.state.pods().status.get(pod)?.place.as_ref()
    }

    /// Finds the place that is kept for a pod until others have left.
    pub fn nominee_of(&self, pod: PodId) -> Option<&Place> {
        self.state.pods().status.get(pod)?.nominee.as_ref()
    }

    /// Lists the pods that name a group, by id; those that have ended are among them.
    pub fn pods_of(&self, group: GroupId) -> impl Iterator<Item = PodId> {
        self.state.groups().get(group).into_iter().flat_map(|row| row.pods.iter().copied())
    }

    /// Lists the groups that there are, by id.
    pub fn groups(&self) -> impl Iterator<Item = (GroupId, &Group)> {
        let rows = self.state.groups().iter();
        rows.filter_map(|(id, row)| Some((id, &**row.facts.as_ref()?)))
    }

    /// Lists the pods that there are, of whatever scheduler, by id.
    pub fn pods(&self) -> impl Iterator<Item = (PodId, Owner)> {
        let rows = self.state.pods().facts.iter();
        rows.filter_map(|(id, row)| Some((id, row.as_ref()?.owner)))
    }

    /// Lists the nodes that there are, by id.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        let rows = self.state.nodes().facts.iter();
        rows.filter_map(|(id, row)| Some((id, row.as_deref()?)))
    }

    /// Says when a group last started to run, as told or as planned since.
    pub fn last_start(&self, group: GroupId) -> Option<crate::Timestamp> {
        self.state.groups().get(group)?.last_start
    }

    /// Says when a pod of a group was last evicted, as told or as planned since.
    pub fn last_eviction(&self, group: GroupId) -> Option<crate::Timestamp> {
        self.state.groups().get(group)?.last_eviction
    }

    /// Says since when a group runs below its minimum, as told or as seen since.
    pub fn stale_since(&self, group: GroupId) -> Option<crate::Timestamp> {
        self.state.groups().get(group)?.stale_since
    }

    /// Gives the facts of a resource claim as it was told last; none where it is not there.
    pub fn claim(&self, claim: ClaimId) -> Option<&Claim> {
        self.state.claims().facts(claim)
    }

    /// Tells whether a claim was given devices and none of its pods has a place.
    pub fn is_claim_idle(&self, claim: ClaimId) -> bool {
        self.state.claims().is_alone(claim)
    }

    /// Lists the budgets of disruptions that there are, as they were told last.
    pub fn budgets(&self) -> impl Iterator<Item = (BudgetId, &Budget)> {
        self.state.budgets().facts()
    }

    /// Lists the topologies that there are, by id.
    pub fn topologies(&self) -> impl Iterator<Item = (TopologyId, &Topology)> {
        self.state.topologies()
    }

    /// Lists the sub-groups of a group that hold pods: name, how many pods it needs, how many hold a place and are not
    /// leaving.
    pub fn sub_groups(&self, group: GroupId) -> impl Iterator<Item = (Symbol, u32, u32)> {
        let leaves = self.state.groups().get(group).map_or(&[][..], |row| &row.tree.leaves);
        leaves.iter().map(|leaf| (leaf.name, leaf.min, leaf.count.active))
    }

    /// Tells whether pods of a group hold places and stay, as many as each of its sub-groups needs. Room that is kept for
    /// a pod until others have left is none that it holds.
    pub fn runs(&self, group: GroupId) -> bool {
        let Some(row) = self.state.groups().get(group) else { return false };
        let held = |leaf: &Leaf| leaf.count.active.saturating_sub(leaf.count.nominated);
        !row.tree.has_vacant()
            && row.tree.leaves_with_pods().all(|(_, leaf)| held(leaf) >= leaf.min)
            && row.tree.leaves_with_pods().any(|(_, leaf)| held(leaf) > 0)
    }

    /// Tells whether a pod was told to stop, and what it holds will come free.
    pub fn is_leaving(&self, pod: PodId) -> bool {
        let status = self.state.pods().status.get(pod);
        status.is_some_and(|status| status.phase.leaves())
    }

    /// Lists the pods of a group that name a sub-group which it does not have, with that name.
    pub fn strays(&self, group: GroupId) -> impl Iterator<Item = (PodId, Symbol)> {
        let groups = self.state.groups();
        let row = groups.get(group).filter(|row| !row.tree.is_malformed);
        let named = row.into_iter().flat_map(|row| row.pods.iter());
        let pods = self.state.pods();
        named.filter(|pod| pods[**pod].leaf.is_none()).map(|pod| (*pod, pods[*pod].sub_group))
    }

    /// Says where a pod stands, as of the last plan; [`Stage::Ended`] where it is not known.
    pub fn stage(&self, pod: PodId) -> Stage {
        self.state.stage(pod)
    }

    /// Says when the next plan is due though nothing was told: a grace or a delay ends. That may be at once, where the
    /// last plan left something to go on with.
    pub fn wake(&self) -> Option<crate::Timestamp> {
        self.pending.wake
    }

    /// Finds the node that a pod holds a place on, or was given.
    pub fn node_of(&self, pod: PodId) -> Option<NodeId> {
        self.state.node_of(pod)
    }

    /// Tells whether one of these terms holds for the labels of a node; never where it is not there.
    pub fn meets(&self, node: NodeId, terms: &[Vec<Requirement>]) -> bool {
        self.state.meets(node, terms)
    }

    /// Says what a node offers of a lane, and what of that nobody holds; the latter is negative on an over-committed
    /// node.
    pub fn node_amounts(&self, node: NodeId, lane: crate::Lane) -> (i64, i64) {
        self.state.node_amounts(node, lane)
    }

    /// Tells whether no shared GPU of a node is given out beyond its memory.
    pub fn devices_fit(&self, node: NodeId) -> bool {
        self.state.devices_fit(node)
    }

    /// Judges whether a pod may be considered at all, given its resource claims.
    ///
    /// # Errors
    /// The first claim that keeps it out, and why.
    ///
    /// # Panics
    /// When the pod was never told.
    pub fn admission(&self, pod: PodId) -> Result<(), Misfit> {
        standing::pod_claims(&self.state, pod).map(drop)
    }

    /// Lists groups that wait, each with its queue, in the order in which allocate would give them their turns if none of
    /// them got anything, as of the last plan.
    ///
    /// # Cost
    /// In the number of groups that wait.
    pub fn order(&self) -> Vec<(QueueId, GroupId)> {
        self.pending.order(&self.state)
    }
}
