//! Names and the engine's ids, both ways.

use std::collections::BTreeMap;

use kai_engine::{
    ClaimId, CounterId, DeviceClassId, DeviceId, GroupId, Lane, NodeId, PodId, QueueId,
    SliceDeviceId, Symbol, TopologyId, ids::Id,
};

/// Every name of a world. Ids are given in order of first mention and never reused.
#[derive(Clone, Debug, Default)]
pub struct Names {
    nodes: Table,
    queues: Table,
    groups: Table,
    pods: Table,
    topologies: Table,
    lanes: Table,
    symbols: Table,
    devices: Table,
    claims: Table,
    device_classes: Table,
    slice_devices: Table,
    counters: Table,
    /// Devices that a plan opened, by id.
    opened: BTreeMap<DeviceId, String>,
}

/// Names by table, in the order of their ids.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'n> {
    /// Nodes.
    pub nodes: &'n [String],
    /// Queues.
    pub queues: &'n [String],
    /// Pod groups.
    pub groups: &'n [String],
    /// Pods.
    pub pods: &'n [String],
    /// Topologies.
    pub topologies: &'n [String],
    /// Extended resources.
    pub resources: &'n [String],
    /// Texts, from symbol 1 on.
    pub symbols: &'n [String],
    /// Shared GPUs.
    pub devices: &'n [String],
    /// Resource claims.
    pub claims: &'n [String],
    /// Published devices.
    pub slice_devices: &'n [String],
}

#[derive(Clone, Debug, Default)]
struct Table {
    names: Vec<String>,
    rows: BTreeMap<String, u32>,
}

impl Table {
    fn row(&mut self, name: &str) -> u32 {
        if let Some(row) = self.rows.get(name) {
            return *row;
        }
        let row = u32::try_from(self.names.len()).expect("a world has fewer than 2^32 names");
        self.names.push(name.to_owned());
        self.rows.insert(name.to_owned(), row);
        row
    }

    fn name(&self, row: usize) -> &str {
        self.names.get(row).map_or("?", String::as_str)
    }
}

impl Names {
    /// The id of the node `name`.
    pub fn node(&mut self, name: &str) -> NodeId {
        NodeId::new(self.nodes.row(name))
    }

    /// The id of the queue `name`.
    pub fn queue(&mut self, name: &str) -> QueueId {
        QueueId::new(self.queues.row(name))
    }

    /// The id of the pod group `name`.
    pub fn group(&mut self, name: &str) -> GroupId {
        GroupId::new(self.groups.row(name))
    }

    /// The id of the pod `name`.
    pub fn pod(&mut self, name: &str) -> PodId {
        PodId::new(self.pods.row(name))
    }

    /// The id of the topology `name`.
    pub fn topology(&mut self, name: &str) -> TopologyId {
        TopologyId::new(self.topologies.row(name))
    }

    /// The lane of the extended resource `name`.
    pub fn lane(&mut self, name: &str) -> Lane {
        match name {
            "cpu" => Lane::CPU,
            "memory" => Lane::MEMORY,
            "nvidia.com/gpu" => Lane::GPU,
            "pods" => Lane::PODS,
            _ => {
                let row = u16::try_from(self.lanes.row(name)).expect("a world has few resources");
                Lane::new(Lane::FIRST_EXTENDED + row)
            }
        }
    }

    /// The symbol of `text`.
    pub fn symbol(&mut self, text: &str) -> Symbol {
        if text.is_empty() {
            return Symbol::EMPTY;
        }
        Symbol::new(self.symbols.row(text) + 1)
    }

    /// The id of the shared GPU `name`, such as `node0/1`.
    pub fn device(&mut self, name: &str) -> DeviceId {
        DeviceId::new(self.devices.row(name))
    }

    /// The id of the resource claim `name`.
    pub fn claim(&mut self, name: &str) -> ClaimId {
        ClaimId::new(self.claims.row(name))
    }

    /// The id of the device class `name`.
    pub fn device_class(&mut self, name: &str) -> DeviceClassId {
        DeviceClassId::new(self.device_classes.row(name))
    }

    /// The id of the published device `name`, such as `node0/gpu-0`.
    pub fn slice_device(&mut self, name: &str) -> SliceDeviceId {
        SliceDeviceId::new(self.slice_devices.row(name))
    }

    /// The id of the counter `name`.
    pub fn counter(&mut self, name: &str) -> CounterId {
        CounterId::new(self.counters.row(name))
    }

    /// The id of the counter `name`, where there is one.
    pub fn find_counter(&self, name: &str) -> Option<CounterId> {
        self.counters.rows.get(name).map(|row| CounterId::new(*row))
    }

    /// Names a device that a plan opened on `node`: the first number that is not in `taken`.
    pub fn name_opened(&mut self, device: DeviceId, node: NodeId, taken: &[DeviceId]) {
        if !device.is_opened() || self.opened.contains_key(&device) && taken.contains(&device) {
            return;
        }
        let name = (0..=taken.len())
            .map(|number| format!("{}/{number}", self.nodes.name(node.row())))
            .find(|name| taken.iter().all(|other| self.of_device(*other) != name))
            .expect("one number more than there are devices is free");
        self.opened.insert(device, name);
    }

    /// The id by which a new engine is told of a device: that of its name, where a plan opened it.
    pub fn known(&mut self, device: DeviceId) -> DeviceId {
        match self.opened.get(&device).cloned() {
            Some(name) => self.device(&name),
            None => device,
        }
    }

    /// Counts the pod groups that have been named.
    pub fn groups(&self) -> usize {
        self.groups.names.len()
    }

    /// Lists the names of each table, in the order of their ids.
    pub fn tables(&self) -> Tables<'_> {
        Tables {
            nodes: &self.nodes.names,
            queues: &self.queues.names,
            groups: &self.groups.names,
            pods: &self.pods.names,
            topologies: &self.topologies.names,
            resources: &self.lanes.names,
            symbols: &self.symbols.names,
            devices: &self.devices.names,
            claims: &self.claims.names,
            slice_devices: &self.slice_devices.names,
        }
    }

    /// The known node `name`.
    pub fn find_node(&self, name: &str) -> Option<NodeId> {
        self.nodes.rows.get(name).copied().map(NodeId::new)
    }

    /// The known queue `name`.
    pub fn find_queue(&self, name: &str) -> Option<QueueId> {
        self.queues.rows.get(name).copied().map(QueueId::new)
    }

    /// The known pod group `name`.
    pub fn find_group(&self, name: &str) -> Option<GroupId> {
        self.groups.rows.get(name).copied().map(GroupId::new)
    }

    /// The known pod `name`.
    pub fn find_pod(&self, name: &str) -> Option<PodId> {
        self.pods.rows.get(name).copied().map(PodId::new)
    }

    /// The name of `node`.
    pub fn of_node(&self, node: NodeId) -> &str {
        self.nodes.name(node.row())
    }

    /// The name of `queue`.
    pub fn of_queue(&self, queue: QueueId) -> &str {
        self.queues.name(queue.row())
    }

    /// The name of `group`.
    pub fn of_group(&self, group: GroupId) -> &str {
        self.groups.name(group.row())
    }

    /// The name of `pod`.
    pub fn of_pod(&self, pod: PodId) -> &str {
        self.pods.name(pod.row())
    }

    /// The name of `topology`.
    pub fn of_topology(&self, topology: TopologyId) -> &str {
        self.topologies.name(topology.row())
    }

    /// The text of `symbol`.
    pub fn of_symbol(&self, symbol: Symbol) -> &str {
        match symbol.number() {
            0 => "",
            number => self.symbols.name(number as usize - 1),
        }
    }

    /// The resource of `lane`.
    pub fn of_lane(&self, lane: Lane) -> &str {
        match lane {
            Lane::CPU => "cpu",
            Lane::MEMORY => "memory",
            Lane::GPU => "gpu",
            Lane::PODS => "pods",
            _ => self.lanes.name(usize::from(lane.number() - Lane::FIRST_EXTENDED)),
        }
    }

    /// The name of `claim`.
    pub fn of_claim(&self, claim: ClaimId) -> &str {
        self.claims.name(claim.row())
    }

    /// The name of a published `device`.
    pub fn of_slice_device(&self, device: SliceDeviceId) -> &str {
        self.slice_devices.name(device.row())
    }

    /// The name of `device`.
    pub fn of_device(&self, device: DeviceId) -> &str {
        if device.is_opened() {
            self.opened.get(&device).map_or("?", String::as_str)
        } else {
            self.devices.name(device.number() as usize)
        }
    }
}
