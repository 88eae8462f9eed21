//! A cluster in virtual time: what the API server would hold, the engine beside it, and plans carried out on both.

use std::collections::{BTreeMap, BTreeSet};

use kai_engine::{
    Allocation, Budget, BudgetId, Change, Claim, ClaimId, Cluster, Config, CounterId, Delta,
    DeviceClass, DeviceClassId, DeviceId, GpuRequest, Group, GroupId, Holds, Label, Lane, LaneKind,
    Millis, NamespaceSelectorId, Node, NodeId, Numa, Owner, Place, Plan, Pod, PodId, PodState,
    Queue, QueueId, Reach, ReachId, Requirement, Reserved, Shape, SliceDevice, SliceDeviceId,
    Symbol, Timestamp, Topology, TopologyId, plan,
};

use crate::names::Names;

/// Time when every world starts: 2020-01-01, so that ages never reach below zero.
pub const START: Timestamp = Timestamp(1_577_836_800_000);

/// Time that carrying out a plan takes.
const CYCLE: Millis = 1000;

/// A cluster in virtual time.
#[derive(Clone, Debug)]
pub struct World {
    /// Names of everything.
    pub names: Names,
    /// Choices of the operator.
    pub config: Config,
    /// The time.
    pub now: Timestamp,
    /// Objects that the API server holds.
    pub facts: Facts,
    /// The engine.
    pub cluster: Cluster,
}

/// Objects that the API server holds: the truth that the engine is told of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Meanings of lanes.
    pub lanes: BTreeMap<Lane, LaneKind>,
    /// Topologies.
    pub topologies: BTreeMap<TopologyId, Topology>,
    /// Spellings of the values of labels that name domains.
    pub spellings: BTreeMap<Symbol, Box<[u8]>>,
    /// Nodes.
    pub nodes: BTreeMap<NodeId, Node>,
    /// Queues.
    pub queues: BTreeMap<QueueId, Queue>,
    /// Pod groups.
    pub groups: BTreeMap<GroupId, Group>,
    /// Budgets of disruptions.
    pub budgets: BTreeMap<BudgetId, Budget>,
    /// Selectors of namespaces: true for a namespace that one means.
    pub namespaces: BTreeMap<(NamespaceSelectorId, Symbol), bool>,
    /// True if the API server serves no resource claims.
    pub are_claims_off: bool,
    /// Resource claims.
    pub claims: BTreeMap<ClaimId, Claim>,
    /// Device classes.
    pub device_classes: BTreeMap<DeviceClassId, DeviceClass>,
    /// Devices that resource slices publish, by node.
    pub slices: BTreeMap<NodeId, Vec<SliceDevice>>,
    /// Number of GPUs that may not be opened for sharing, by node.
    pub set_aside: BTreeMap<NodeId, u16>,
    /// Devices that several nodes reach.
    pub reaches: BTreeMap<ReachId, Reach>,
    /// Amounts of the counters that devices draw from.
    pub counters: BTreeMap<CounterId, i64>,
    /// NUMA zones, by node.
    pub zones: BTreeMap<NodeId, Numa>,
    /// Pods.
    pub pods: BTreeMap<PodId, Pod>,
}

/// Fate of a pod that was told to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evicted {
    /// Its controller makes it again at once: it waits under the same name.
    Recreated,
    /// It is gone for good.
    Gone,
}

impl Default for World {
    fn default() -> Self {
        Self {
            names: Names::default(),
            config: Config::default(),
            now: START,
            facts: Facts::default(),
            cluster: Cluster::default(),
        }
    }
}

impl World {
    /// Tells the API server and the engine.
    pub fn tell(&mut self, delta: Delta) {
        self.facts.take(&delta);
        self.cluster.apply(delta);
    }

    /// A label of a node. How its value is written is told where a topology has the key as a level: topologies come
    /// before nodes.
    pub fn label(&mut self, key: &str, value: &str) -> Label {
        let label = Label {
            key: self.names.symbol(key),
            value: self.names.symbol(value),
            number: value.parse().ok(),
        };
        if self.facts.topologies.values().any(|topology| topology.levels.contains(&label.key)) {
            self.tell(Delta::Spelling(label.value, value.as_bytes().into()));
        }
        label
    }

    /// Decides one cycle. Devices that the plan opens get names.
    pub fn plan(&mut self) -> Plan {
        let plan = plan(&mut self.cluster, &self.config, self.now);
        let mut held: BTreeMap<NodeId, Vec<DeviceId>> = BTreeMap::new();
        for place in self.facts.pods.values().filter_map(|pod| pod.state.place()) {
            held.entry(place.node).or_default().extend(place.devices.iter());
        }
        for change in &plan.changes {
            match change {
                Change::Place { node, devices, .. } | Change::Nominate { node, devices, .. } => {
                    let held = held.entry(*node).or_default();
                    for device in devices {
                        self.names.name_opened(*device, *node, held);
                        held.push(*device);
                    }
                }
                Change::Evict { .. } => {}
            }
        }
        plan
    }

    /// Carries a plan out to its end: what was bound runs, what was evicted has left. Takes a second.
    pub fn carry_out(&mut self, plan: &Plan, evicted: Evicted) {
        self.now.0 += CYCLE;
        for change in &plan.changes {
            match change {
                Change::Place { pod, node, devices, reserved, .. } => {
                    if let Some(reserved) = reserved {
                        self.allocate(*pod, *node, reserved);
                    }
                    let reserved = reserved.clone();
                    let place = Place { node: *node, devices: devices.clone(), reserved };
                    self.cluster.apply(Delta::Bound(*pod));
                    if let Some(mut facts) = self.facts.pods.get(pod).cloned() {
                        facts.state = PodState::Running(place);
                        self.tell(Delta::Pod(*pod, Box::new(facts)));
                    }
                }
                Change::Evict { pod, .. } => self.evict(*pod, evicted),
                Change::Nominate { .. } => {}
            }
        }
        self.keep_reservations();
        for (id, budget) in self.facts.budgets.clone() {
            // What left is there again, or is no more: as many may leave as before.
            self.cluster.apply(Delta::Budget(id, Box::new(budget)));
        }
        self.mark();
    }

    /// Each shared GPU that somebody uses has a reservation pod, and no other has one.
    ///
    /// # Source
    /// docs/contract.md 4.5 and 4.6.
    fn keep_reservations(&mut self) {
        let mut used: BTreeSet<(NodeId, DeviceId)> = BTreeSet::new();
        let mut kept: BTreeSet<(NodeId, DeviceId)> = BTreeSet::new();
        for pod in self.facts.pods.values() {
            let of = if pod.owner == Owner::Reservation { &mut kept } else { &mut used };
            let place = pod.state.place();
            of.extend(
                place.iter().flat_map(|place| place.devices.iter().map(|id| (place.node, *id))),
            );
        }
        let idle: Vec<PodId> = self
            .facts
            .pods
            .iter()
            .filter(|(_, pod)| pod.owner == Owner::Reservation)
            .filter_map(|(id, pod)| Some((*id, pod.state.place()?)))
            .filter(|(_, place)| !place.devices.is_empty())
            .filter(|(_, place)| !place.devices.iter().any(|id| used.contains(&(place.node, *id))))
            .map(|(id, _)| id)
            .collect();
        for id in idle {
            self.tell(Delta::PodGone(id));
        }
        for (node, device) in used.difference(&kept) {
            let name = format!("reservation of {}", self.names.of_device(*device));
            let id = self.names.pod(&name);
            let place = Place { node: *node, devices: [*device].into(), reserved: None };
            let pod = Pod {
                owner: Owner::Reservation,
                shape: Shape { gpu: GpuRequest::Whole(1), ..Shape::default() },
                state: PodState::Running(place),
                created: self.now,
                ..Pod::default()
            };
            self.tell(Delta::Pod(id, Box::new(pod)));
        }
    }

    /// Writes on groups when they started, lost pods or broke, as the engine has it.
    fn mark(&mut self) {
        for (group, facts) in &mut self.facts.groups {
            facts.last_start = self.cluster.last_start(*group);
            facts.last_eviction = self.cluster.last_eviction(*group);
            facts.stale_since = self.cluster.stale_since(*group);
        }
    }

    /// Writes the devices that a pod got into its claims; those for extended resources are made.
    pub fn allocate(&mut self, pod: PodId, node: NodeId, reserved: &Reserved) {
        let mut given: BTreeMap<Option<ClaimId>, Vec<(u16, SliceDeviceId)>> = BTreeMap::new();
        for claimed in &reserved.claims {
            given.entry(claimed.claim).or_default().push((claimed.request, claimed.device));
        }
        for (claim, devices) in given {
            let allocation = self.facts.allocation(node, devices);
            let (id, mut facts) = if let Some(id) = claim {
                (id, self.facts.claims.get(&id).cloned().unwrap_or_default())
            } else {
                let id = self.names.claim(&format!("{}-extended", self.names.of_pod(pod)));
                if let Some(facts) = self.facts.pods.get_mut(&pod) {
                    facts.claims.push(id);
                }
                (id, Claim { own: true, synthetic: true, ..Claim::default() })
            };
            if facts.allocation.is_none() {
                facts.allocation = Some(allocation);
                self.tell(Delta::Claim(id, Box::new(facts)));
            }
        }
    }

    /// Takes the devices back of claims that no pod with a place has any more; made claims are gone.
    pub fn deallocate(&mut self, pod: PodId) {
        let Some(facts) = self.facts.pods.get_mut(&pod) else { return };
        let claims = facts.claims.clone();
        let made = |id: &ClaimId| self.facts.claims.get(id).is_some_and(|claim| claim.synthetic);
        facts.claims.retain(|id| !made(id));
        for id in claims {
            if self.facts.claims.get(&id).is_some_and(|claim| claim.synthetic) {
                self.tell(Delta::ClaimGone(id));
                continue;
            }
            let held = self.facts.pods.iter().any(|(other, facts)| {
                *other != pod && facts.claims.contains(&id) && facts.state.place().is_some()
            });
            if let Some(mut facts) = self.facts.claims.get(&id).filter(|_| !held).cloned() {
                facts.allocation = None;
                self.tell(Delta::Claim(id, Box::new(facts)));
            }
        }
    }

    fn evict(&mut self, pod: PodId, evicted: Evicted) {
        let Some(mut facts) = self.facts.pods.get(&pod).cloned() else { return };
        self.cluster.apply(Delta::Evicted(pod));
        if let Some(place) = facts.state.place().cloned() {
            facts.state = PodState::Releasing(place);
            self.tell(Delta::Pod(pod, Box::new(facts.clone())));
        }
        self.deallocate(pod);
        if let Some(rest) = self.facts.pods.get(&pod) {
            facts.claims.clone_from(&rest.claims);
        }
        self.tell(Delta::PodGone(pod));
        match evicted {
            Evicted::Recreated => {
                facts.state = PodState::Pending;
                self.tell(Delta::Pod(pod, Box::new(facts)));
            }
            Evicted::Gone => {}
        }
    }

    /// The same world with an engine that was told everything anew. Devices that a plan opened are now known by name.
    #[must_use]
    pub fn restarted(&self) -> Self {
        let mut world = self.clone();
        for pod in world.facts.pods.values_mut() {
            if let Some(place) = pod.state.place_mut() {
                for device in &mut place.devices {
                    *device = world.names.known(*device);
                }
            }
        }
        world.retold(world.facts.deltas())
    }

    /// The same world with an engine that was told just this.
    #[must_use]
    pub fn retold(&self, deltas: impl IntoIterator<Item = Delta>) -> Self {
        let mut cluster = Cluster::default();
        for delta in deltas {
            cluster.apply(delta);
        }
        Self { cluster, ..self.clone() }
    }
}

impl Facts {
    fn take(&mut self, delta: &Delta) {
        match delta {
            Delta::Lane(lane, kind) => drop(self.lanes.insert(*lane, *kind)),
            Delta::Topology(id, facts) => drop(self.topologies.insert(*id, (**facts).clone())),
            Delta::TopologyGone(id) => drop(self.topologies.remove(id)),
            Delta::Spelling(value, text) => drop(self.spellings.insert(*value, text.clone())),
            Delta::Node(id, facts) => drop(self.nodes.insert(*id, (**facts).clone())),
            Delta::NodeGone(id) => {
                self.nodes.remove(id);
                self.set_aside.remove(id);
            }
            Delta::SetAside(id, gpus) => drop(self.set_aside.insert(*id, *gpus)),
            Delta::Queue(id, facts) => drop(self.queues.insert(*id, (**facts).clone())),
            Delta::QueueGone(id) => drop(self.queues.remove(id)),
            Delta::Group(id, facts) => drop(self.groups.insert(*id, (**facts).clone())),
            Delta::GroupGone(id) => drop(self.groups.remove(id)),
            Delta::Pod(id, facts) => drop(self.pods.insert(*id, (**facts).clone())),
            Delta::PodGone(id) => drop(self.pods.remove(id)),
            Delta::Budget(id, facts) => drop(self.budgets.insert(*id, (**facts).clone())),
            Delta::BudgetGone(id) => drop(self.budgets.remove(id)),
            Delta::NamespaceSelector(selector, namespace, is_selected) => {
                self.namespaces.insert((*selector, *namespace), *is_selected);
            }
            Delta::ClaimsServed(are_served) => self.are_claims_off = !are_served,
            Delta::Claim(id, facts) => drop(self.claims.insert(*id, (**facts).clone())),
            Delta::ClaimGone(id) => drop(self.claims.remove(id)),
            Delta::DeviceClass(id, facts) => drop(self.device_classes.insert(*id, *facts)),
            Delta::DeviceClassGone(id) => drop(self.device_classes.remove(id)),
            Delta::Slices(id, devices) => drop(self.slices.insert(*id, devices.clone())),
            Delta::Reach(id, facts) => drop(self.reaches.insert(*id, (**facts).clone())),
            Delta::Counter(id, amount) => drop(self.counters.insert(*id, *amount)),
            Delta::Zones(id, Some(numa)) => drop(self.zones.insert(*id, (**numa).clone())),
            Delta::Zones(id, None) => drop(self.zones.remove(id)),
            Delta::Bound(_)
            | Delta::BindFailed(_)
            | Delta::Evicted(_)
            | Delta::EvictFailed(_)
            | Delta::EvictWithdrawn(_) => {}
        }
    }

    /// Everything, as deltas in an order of dependence.
    pub fn deltas(&self) -> Vec<Delta> {
        let lanes = self.lanes.iter().map(|(lane, kind)| Delta::Lane(*lane, *kind));
        let topologies =
            self.topologies.iter().map(|(id, facts)| Delta::Topology(*id, Box::new(facts.clone())));
        let spellings =
            self.spellings.iter().map(|(value, text)| Delta::Spelling(*value, text.clone()));
        let nodes = self.nodes.iter().map(|(id, facts)| Delta::Node(*id, Box::new(facts.clone())));
        let queues =
            self.queues.iter().map(|(id, facts)| Delta::Queue(*id, Box::new(facts.clone())));
        let groups =
            self.groups.iter().map(|(id, facts)| Delta::Group(*id, Box::new(facts.clone())));
        let pods = self.pods.iter().map(|(id, facts)| Delta::Pod(*id, Box::new(facts.clone())));
        let namespaces = self.namespaces.iter().map(|((selector, namespace), is_selected)| {
            Delta::NamespaceSelector(*selector, *namespace, *is_selected)
        });
        let labels = topologies.chain(spellings).chain(namespaces);
        let budgets =
            self.budgets.iter().map(|(id, facts)| Delta::Budget(*id, Box::new(facts.clone())));
        let aside = self.set_aside.iter().map(|(id, gpus)| Delta::SetAside(*id, *gpus));
        let objects = lanes.chain(labels).chain(nodes).chain(aside).chain(queues).chain(groups);
        objects.chain(self.devices()).chain(budgets).chain(pods).collect()
    }

    fn devices(&self) -> impl Iterator<Item = Delta> {
        let classes = self.device_classes.iter().map(|(id, facts)| Delta::DeviceClass(*id, *facts));
        let slices = self.slices.iter().map(|(id, facts)| Delta::Slices(*id, facts.clone()));
        let reaches =
            self.reaches.iter().map(|(id, facts)| Delta::Reach(*id, Box::new(facts.clone())));
        let counters = self.counters.iter().map(|(id, amount)| Delta::Counter(*id, *amount));
        let slices = slices.chain(reaches).chain(counters);
        let zones =
            self.zones.iter().map(|(id, facts)| Delta::Zones(*id, Some(Box::new(facts.clone()))));
        let claims =
            self.claims.iter().map(|(id, facts)| Delta::Claim(*id, Box::new(facts.clone())));
        let off = self.are_claims_off.then_some(Delta::ClaimsServed(false));
        off.into_iter().chain(classes).chain(slices).chain(zones).chain(claims)
    }

    /// The devices that a claim may get on a node: its own, then those of several nodes.
    pub fn devices_from(&self, node: NodeId) -> impl Iterator<Item = &SliceDevice> + Clone {
        let own = self.slices.get(&node).into_iter().flatten();
        let reached = self.reaches.values().filter(move |reach| self.is_within(node, &reach.nodes));
        own.chain(reached.flat_map(|reach| &reach.devices))
    }

    /// Gives a claim devices on a node: it is bound to it but where other nodes reach all of them.
    pub fn allocation(&self, node: NodeId, devices: Vec<(u16, SliceDeviceId)>) -> Allocation {
        let reached = |device: &SliceDeviceId| {
            let is_it = |one: &&SliceDevice| one.id == *device && !one.binds;
            self.reaches.values().find(|reach| reach.devices.iter().any(|one| is_it(&one)))
        };
        let reaches: Option<Vec<&Reach>> =
            devices.iter().map(|(_, device)| reached(device)).collect();
        let bound = reaches.as_ref().is_none_or(Vec::is_empty).then_some(node);
        // Scenarios name one term a reach: what holds for all of them is one term too.
        let terms = reaches.into_iter().flatten().flat_map(|reach| reach.nodes.iter().flatten());
        let term: BTreeSet<Requirement> = terms.cloned().collect();
        let within = match bound {
            None if !term.is_empty() => vec![term.into_iter().collect()],
            None | Some(_) => Vec::new(),
        };
        Allocation { node: bound, within, devices, consumed: Vec::new() }
    }

    /// Tells whether a node has the labels of one of these terms; no terms, every node.
    pub(crate) fn is_within(&self, node: NodeId, terms: &[Vec<Requirement>]) -> bool {
        let Some(facts) = self.nodes.get(&node) else { return false };
        let has = |one: &Requirement| {
            let label = facts.labels.iter().find(|label| label.key == one.key);
            match &one.holds {
                Holds::In(values) => label.is_some_and(|label| values.contains(&label.value)),
                Holds::NotIn(_)
                | Holds::Exists
                | Holds::Absent
                | Holds::Above(_)
                | Holds::Below(_) => false,
            }
        };
        terms.is_empty() || terms.iter().any(|term| term.iter().all(has))
    }
}
