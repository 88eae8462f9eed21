//! Takes into the tables what the outside tells.

pub(crate) mod pod;
pub(crate) mod queue;
pub(crate) mod zones;

use std::sync::Arc;

use crate::{
    base::{
        ids::{GroupId, NodeId, PodId, Symbol, TopologyId},
        resources::{Charge, Lane, LaneKind},
    },
    state::{
        State,
        changes::PodProgress,
        rows::{GroupFacts, Nodes, Phase, PodStatus, Told},
        shape,
        tree::Tree,
    },
    told::{
        delta::Delta,
        group::{Group, Topology},
        node::Node,
    },
};

impl State {
    /// Takes one piece of news in. Telling the same again changes nothing.
    ///
    /// # Cost
    /// In the size of the object and, for a node or a group whose facts changed, in the number of its pods.
    ///
    /// # Panics
    /// When an outcome names a pod that was never told.
    pub(crate) fn apply(&mut self, delta: Delta) {
        assert!(self.log.is_empty(), "news come while nothing is tried");
        self.tallies.clear();
        match delta {
            Delta::Node(id, node) => self.node_told(id, Some(Arc::from(node))),
            Delta::NodeGone(id) => self.node_told(id, None),
            Delta::Queue(id, queue) => self.queue_told(id, Some(queue)),
            Delta::QueueGone(id) => self.queue_told(id, None),
            Delta::Group(id, group) => self.group_told(id, Some(group)),
            Delta::GroupGone(id) => self.group_told(id, None),
            Delta::Pod(id, pod) => self.take_pod(id, *pod),
            Delta::PodGone(id) => self.pod_gone(id),
            Delta::Topology(id, topology) => self.topology_told(id, Some(topology)),
            Delta::TopologyGone(id) => self.topology_told(id, None),
            Delta::Spelling(value, text) => self.spelling_told(value, text),
            Delta::Budget(id, budget) => self.budget_told(id, Some(budget)),
            Delta::BudgetGone(id) => self.budget_told(id, None),
            Delta::NamespaceSelector(selector, namespace, is_selected) => {
                self.namespace_selector_told(selector, namespace, is_selected);
            }
            Delta::ClaimsServed(are_served) => self.claims_served_told(are_served),
            Delta::Claim(id, claim) => self.claim_told(id, Some(claim)),
            Delta::ClaimGone(id) => self.claim_told(id, None),
            Delta::DeviceClass(id, class) => self.class_told(id, Some(class)),
            Delta::DeviceClassGone(id) => self.class_told(id, None),
            Delta::Slices(id, devices) => self.slices_told(id, devices),
            Delta::Reach(id, reach) => self.reach_told(id, *reach),
            Delta::Counter(id, capacity) => self.counter_told(id, capacity),
            Delta::Zones(id, numa) => self.zones_told(id, numa),
            Delta::SetAside(id, gpus) => self.set_aside_told(id, gpus),
            Delta::Lane(lane, kind) => self.lane_told(lane, kind),
            Delta::Bound(pod) => self.outcome(pod, |state, _| {
                if state.phase == Phase::Binding {
                    state.phase = Phase::Bound;
                }
            }),
            Delta::BindFailed(pod) => self.outcome(pod, |state, _| {
                if state.phase == Phase::Binding {
                    *state = PodStatus { phase: Phase::Pending, ..PodStatus::default() };
                }
            }),
            Delta::Evicted(pod) => self.outcome(pod, |state, _| {
                if state.phase == Phase::Evicting {
                    state.phase = Phase::Releasing;
                }
            }),
            Delta::EvictFailed(pod) => {
                self.exhaust_budgets(pod);
                self.stays(pod);
            }
            Delta::EvictWithdrawn(pod) => {
                self.budgets.give_back(pod);
                self.stays(pod);
            }
        }
    }

    /// Takes in that a pod which a plan evicted runs on.
    fn stays(&mut self, pod: PodId) {
        self.nominations.forget_victim(pod);
        self.outcome(pod, |state, told| {
            if state.phase == Phase::Evicting {
                // Nobody is evicted whose bind is not confirmed, though that it is bound may be told later.
                state.phase = if told.phase.is_active() { told.phase } else { Phase::Bound };
            }
        });
    }

    fn outcome(&mut self, pod: PodId, change: impl FnOnce(&mut PodStatus, &Told)) {
        let mut state = self.pods.status[pod].clone();
        change(&mut state, &self.pods[pod].told);
        if state != self.pods.status[pod] {
            self.move_pod(pod, state);
        }
    }

    /// Changes the state of a pod from outside: its group is looked at again, and room may have come.
    fn move_pod(&mut self, pod: PodId, state: PodStatus) {
        let is_active = state.phase.is_active();
        let was = self.set_status(pod, state);
        let (phase, group) = (self.pods.status[pod].phase, self.pods[pod].group());
        let was_at = PodProgress { phase: was.phase, group };
        self.changes.progress(was_at, PodProgress { phase, group });
        // What its queue asks for changes with that.
        self.queues.moved |= was.phase.is_active() != is_active;
        self.changes.grow_room();
        if let Some(group) = self.pods[pod].group() {
            self.changes.touch(group);
        }
    }

    fn node_told(&mut self, id: NodeId, node: Option<Arc<Node>>) {
        if *self.nodes.facts.slot(id) == node {
            return;
        }
        if node.is_none() {
            self.nodes.index.stale = true;
            *self.nodes.set_aside.slot(id) = 0;
        }
        let pods = self.nodes.pods.slot(id).clone();
        for pod in &pods {
            self.give(*pod);
        }
        let old = std::mem::replace(&mut self.nodes.facts[id], node);
        if let Some(old) = &old {
            self.nodes.offer(id, old, &self.lanes, -1);
        }
        if let Some(new) = self.nodes.facts[id].take() {
            self.nodes.offer(id, &new, &self.lanes, 1);
            self.nodes.facts[id] = Some(new);
        }
        let is_as_labelled =
            |old: &Node| self.nodes.facts[id].as_ref().is_some_and(|new| new.labels == old.labels);
        if !old.as_deref().is_some_and(is_as_labelled) {
            self.shapes.keys.label(old.as_deref(), self.nodes.facts[id].as_deref());
            self.nodes.index.labelled.clear();
            self.reach_from(id);
        }
        for pod in &pods {
            self.take(*pod);
        }
        self.share_out(id);
        self.queues.moved = true;
        self.node_indexed(id, old.as_deref());
        self.changes.grow_room_from_outside();
    }

    fn set_aside_told(&mut self, id: NodeId, gpus: u16) {
        if std::mem::replace(self.nodes.set_aside.slot(id), gpus) != gpus {
            self.changes.grow_room_from_outside();
        }
    }

    fn topology_told(&mut self, id: TopologyId, topology: Option<Box<Topology>>) {
        let row = self.topologies.slot(id);
        if *row == topology {
            return;
        }
        self.nodes.index.stale = true;
        *row = topology;
        self.changes.grow_room_from_outside();
    }

    fn spelling_told(&mut self, value: Symbol, text: Box<[u8]>) {
        if self.spellings.get(&value) == Some(&text) {
            return;
        }
        self.spellings.insert(value, text);
        if !self.topologies.is_empty() {
            // Domains may go in another order.
            self.nodes.index.stale = true;
            self.changes.grow_room_from_outside();
        }
    }

    fn group_told(&mut self, id: GroupId, group: Option<Box<Group>>) {
        let row = self.groups.slot(id);
        if row.facts.as_deref() == group.as_deref() {
            return;
        }
        if let Some(group) = &group {
            row.last_start = row.last_start.max(group.last_start);
            row.last_eviction = row.last_eviction.max(group.last_eviction);
            row.stale_since = row.stale_since.or(group.stale_since);
        } else {
            (row.last_start, row.last_eviction, row.stale_since, row.why) =
                (None, None, None, None);
            self.nominations.forget_group(id);
            self.nominations.await_no_more(id);
        }
        self.changes.touch(id);
        let group = group.map(|group| GroupFacts::new(id, group));
        if let (Some(old), Some(new)) = (&mut row.facts, &group)
            && decides_alike(old, new)
        {
            old.clone_from(new);
            return;
        }
        self.changes.come_from_outside();
        let mut pods: Vec<PodId> = row.pods.iter().copied().collect();
        for pod in &pods {
            self.give(*pod);
        }
        // Each is seated behind the others: in an order of their user's choice all might move for each.
        pods.sort_by_key(|pod| self.pods[*pod].turn());
        let row = &mut self.groups[id];
        if let Some(queue) = row.queue() {
            self.queues.below(queue).groups.remove(&id);
        }
        row.tree = group.as_ref().map(|group| Tree::new(&group.structure)).unwrap_or_default();
        row.facts = group;
        if let Some(queue) = row.queue() {
            self.queues.below(queue).groups.insert(id);
        }
        for pod in &pods {
            self.seat(*pod, id);
            self.take(*pod);
        }
        self.queues.moved = true;
        if pods.iter().any(|pod| self.pods.status[*pod].is_somewhere()) {
            self.changes.grow_room();
        } else {
            self.changes.wake();
        }
    }

    pub(crate) fn release(&mut self, shape: crate::base::ids::ShapeId) {
        let spread = self.shapes[shape].facts.spread.clone();
        if self.shapes.release(shape) {
            self.stop_counting(shape, &spread);
            self.nodes.index.forget(shape);
        }
    }

    /// Adds what every live node offers to amounts that hold nothing yet.
    pub(crate) fn offer_anew(&mut self) {
        (self.nodes.total, self.nodes.unlabelled_gpu) = (Charge::default(), 0);
        self.nodes.supply.clear();
        self.nodes.memory_sizes.clear();
        let nodes = self.nodes.told();
        for (id, node) in &nodes {
            self.nodes.offer(*id, node, &self.lanes, 1);
        }
    }

    /// Takes in what a lane is.
    ///
    /// # Cost
    /// In the number of pods and nodes, where one may have named the lane before; else next to nothing: pods name lanes, and
    /// a user may have one name thousands.
    fn lane_told(&mut self, lane: Lane, kind: LaneKind) {
        let at = lane.row();
        if self.lanes.get(at).copied().unwrap_or_default() == kind {
            return;
        }
        let is_new = !self.nodes.idle.reaches(lane) && !self.shapes.reaches(lane);
        if is_new {
            self.set_lane(lane, kind);
        } else {
            self.set_lane_in_use(lane, kind);
        }
        self.nodes.index.stale = true;
        self.queues.moved = true;
        self.changes.grow_room_from_outside();
    }

    fn set_lane_in_use(&mut self, lane: Lane, kind: LaneKind) {
        let pods = self.pods.told();
        for pod in &pods {
            self.give(*pod);
        }
        let nodes = self.nodes.told();
        for (id, node) in &nodes {
            self.nodes.offer(*id, node, &self.lanes, -1);
        }
        self.set_lane(lane, kind);
        self.shapes.recharge(&self.lanes);
        for (id, node) in &nodes {
            self.nodes.offer(*id, node, &self.lanes, 1);
        }
        for pod in &pods {
            self.take(*pod);
        }
        self.share_out_all();
    }

    fn set_lane(&mut self, lane: Lane, kind: LaneKind) {
        let at = lane.row();
        if self.lanes.len() <= at {
            self.lanes.resize(at + 1, LaneKind::Plain);
        }
        self.lanes[at] = kind;
        let is_mig = shape::mig_milli(&self.lanes, lane) > 0;
        match (self.nodes.mig_lanes.binary_search(&lane), is_mig) {
            (Err(place), true) => self.nodes.mig_lanes.insert(place, lane),
            (Ok(place), false) => drop(self.nodes.mig_lanes.remove(place)),
            (Ok(_), true) | (Err(_), false) => {}
        }
    }
}

/// Tells whether two tellings of a group differ in nothing but times.
fn decides_alike(old: &Group, new: &Group) -> bool {
    let times = |group: &Group| Group {
        last_start: None,
        last_eviction: None,
        stale_since: None,
        ..group.clone()
    };
    times(old) == times(new)
}

impl Nodes {
    /// Adds (`sign` 1) or takes back (-1) what a node offers.
    pub(crate) fn offer(&mut self, id: NodeId, node: &Node, lanes: &[LaneKind], sign: i64) {
        for (lane, amount) in node.allocatable.iter() {
            self.idle.add(id, lane, sign * amount);
        }
        self.idle.add(id, Lane::GPU, sign * self.slice_gpus(id));
        let mut offered = Charge::default();
        if node.blocked.is_none() {
            offered = self.offer_of(id, node, lanes).scaled(sign);
        }
        self.change_supply(id, |supply| supply.offer(offered, sign > 0 && !node.worker.gpu));
        if node.gpus.memory_known {
            let count = self.memory_sizes.entry(node.gpus.memory_mib).or_default();
            *count = count
                .checked_add_signed(if sign > 0 { 1 } else { -1 })
                .expect("a size is counted while in use");
            if *count == 0 {
                self.memory_sizes.remove(&node.gpus.memory_mib);
            }
        }
    }
}

impl PodStatus {
    /// Decides what to believe when this is told: a plan that was made stands until news go further.
    fn advance(self, told: &Told) -> Self {
        let placed = self.phase == Phase::Binding && told.phase == Phase::Pending;
        let evicted = self.phase.leaves() && told.phase.is_active();
        if placed || evicted { Self { nominee: None, ..self } } else { told.status() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::time::Timestamp,
        told::pod::{Place, Pod, PodState, Shape, Spread},
    };

    /// Says how often pods on a node are counted again as a lane is told, of which one of them asks for the first extended one.
    fn counted_again(lane: Lane) -> u64 {
        let mut state = State::default();
        state.apply(Delta::Node(NodeId::new(0), Box::default()));
        let spread = Spread {
            topology_key: Symbol::EMPTY,
            skew_max: 1,
            domains_min: 1,
            namespace: Symbol::EMPTY,
            selector: Vec::new(),
            honors_selection: true,
            honors_taints: false,
            required: true,
        };
        let request = [(Lane::new(Lane::FIRST_EXTENDED), 1)].into_iter().collect();
        let running = PodState::Running(Place::on(NodeId::new(0)));
        let wish = Shape { spread: vec![spread], ..Shape::default() };
        let plain = Shape { request, ..Shape::default() };
        for (id, shape, pod) in [(0, wish, PodState::Pending), (1, plain, running)] {
            let pod = Pod { shape, state: pod, ..Pod::default() };
            state.apply(Delta::Pod(PodId::new(id), Box::new(pod)));
        }
        let before = state.steps.compared;
        state.apply(Delta::Lane(lane, LaneKind::Mig { gpus: 1 }));
        assert_eq!(state.check(), Vec::<String>::new());
        state.steps.compared - before
    }

    /// A user may have pods name thousands of MIG profiles that nobody has.
    #[test]
    fn a_lane_that_nobody_named_has_no_pod_counted_again() {
        assert_eq!(counted_again(Lane::new(Lane::FIRST_EXTENDED + 1)), 0);
        assert!(counted_again(Lane::new(Lane::FIRST_EXTENDED)) > 0);
    }

    /// A group whose number another had did not start, lost no pod and was promised nothing.
    #[test]
    fn a_number_that_is_used_again_has_no_past() {
        let (mut state, id) = (State::default(), GroupId::new(0));
        let past = Some(Timestamp(1));
        let (last_start, last_eviction, stale_since) = (past, past, past);
        let old = Group { last_start, last_eviction, stale_since, ..Group::default() };
        state.apply(Delta::Group(id, Box::new(old)));
        state.nominations.queue(id);
        state.apply(Delta::GroupGone(id));
        state.apply(Delta::Group(id, Box::default()));
        let row = &state.groups[id];
        assert_eq!([row.last_start, row.last_eviction, row.stale_since], [None; 3]);
        assert!(state.nominations.groups.is_empty(), "{:?}", state.nominations.groups);
    }

    /// News of a group may be from before it started again: its minimum runtime goes by what is known here.
    #[test]
    fn news_from_before_a_start_do_not_undo_it() {
        let (mut state, id) = (State::default(), GroupId::new(0));
        let told = |priority| {
            let last_start = Some(Timestamp(1));
            Delta::Group(id, Box::new(Group { priority, last_start, ..Group::default() }))
        };
        state.apply(told(0));
        state.note_start(id, Some(Timestamp(2)));
        state.apply(told(1));
        assert_eq!(state.groups[id].last_start, Some(Timestamp(2)));
    }
}
