//! Changes of a plan, in numbers, become tasks, in names.

use std::{collections::HashMap, sync::Arc};

use kai_api::{
    names::{annotation, event, label, node, value},
    quantity::Quantity,
};
use kai_engine::{
    Change, ClaimId, Claimed, DeviceId, Eviction, GPU_MILLI, Grant, Lane, Reserved, Timestamp,
    ZoneAmount,
};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::{
    actuate::{
        Backed, Bind, ClaimGrant, Event, Evict, EvictionStamp, ExtendedGrant, ShareGrant, Target,
        Task,
    },
    message::eviction,
    names::{Names, Number},
    serve::metrics::Metrics,
};

mod allocation;
mod group_writes;

use allocation::{allocation, device_names};
pub use group_writes::{GroupWrites, ReadGroup};

/// Holds what turning changes into tasks needs besides the names.
#[derive(Debug)]
pub struct Dispatch {
    /// The pool as messages name it.
    pub pool: String,
    /// The label of the pool and its value, where the shard has one.
    pub pool_label: Option<(Box<str>, Box<str>)>,
    /// Says who says events.
    pub component: Arc<str>,
    /// Say on a pod that it is about to be evicted.
    pub announces_evictions: bool,
    /// Have the API server judge evictions by budgets of disruptions.
    pub asks_budgets: bool,
    /// Says where evictions are counted.
    pub metrics: Metrics,
    /// The version of `resource.k8s.io` that is written.
    pub devices_version: &'static str,
    /// Pods are told how much memory of a shared GPU is theirs, for HAMi-core to hold them to it.
    pub has_hami_core: bool,
    /// Devices are named as the Container Device Interface does.
    pub has_cdi: watch::Receiver<bool>,
}

/// A pod on its node, both by number.
#[derive(Clone, Copy, Debug)]
struct Seat {
    pod: u32,
    node: u32,
}

impl Dispatch {
    /// Serves a pool whose pods have no label of it, with everything off that can be switched on, and devices written as
    /// `resource.k8s.io/v1`.
    pub fn new(pool: &str, component: &str, metrics: Metrics) -> Self {
        Self {
            pool: String::from(pool),
            pool_label: None,
            component: Arc::from(component),
            announces_evictions: false,
            asks_budgets: false,
            metrics,
            devices_version: "v1",
            has_hami_core: false,
            has_cdi: watch::channel(false).1,
        }
    }

    /// The tasks of a plan of this moment, in its order.
    pub fn tasks(&self, changes: &[Change], now: Timestamp, names: &mut Names) -> Vec<Task> {
        let mut tasks = Vec::with_capacity(changes.len());
        let evicted = evicted_by_group(changes, now, names);
        for change in changes {
            match change {
                Change::Place { pod, node, devices, grant, reserved } => {
                    let (pod, node) = (pod.number(), node.number());
                    let claims = self.claims(pod, node, reserved.as_deref(), names);
                    let zones = reserved.as_deref().and_then(|one| zones(node, &one.zones, names));
                    let zones = zones.or_else(|| names.pods[pod].says_zones.then(String::new));
                    let bind = self.bind(Seat { pod, node }, devices, *grant, names);
                    let extended = reserved.as_deref();
                    let extended = extended.and_then(|one| self.extended(node, one, names));
                    tasks.extend(self.unlimited(&bind, names).map(Task::Event));
                    tasks.push(Task::Bind(Bind { claims, extended, zones, ..bind }));
                }
                Change::Nominate { pod, node, .. } => {
                    let (pod, node) = (pod.number(), node.number());
                    tasks.extend(self.nominate(pod, node, names).map(Task::Event));
                }
                Change::Evict { pod, reason, .. } => {
                    tasks.extend(self.evict(pod.number(), reason, &evicted, names));
                }
            }
        }
        tasks
    }

    fn bind(&self, seat: Seat, devices: &[DeviceId], grant: Grant, names: &mut Names) -> Bind {
        let Seat { pod, node } = seat;
        let groups: Vec<Arc<str>> =
            devices.iter().map(|device| names.device_name(*device)).collect();
        let share = self.share(seat, &groups, grant, names);
        let node = Box::from(&**names.nodes.key(node));
        let uid = Box::from(&**names.pods.key(pod));
        let group = names.pods[pod].group;
        let queue = group.map(|group| names.queue_of_group(group));
        let queue = queue.filter(|queue| !queue.is_empty()).map(Box::from);
        let is_preemptible = group.is_some_and(|group| names.groups[group].is_preemptible);
        let row = &mut names.pods[pod];
        // A condition of it that is not written yet will not be, and may have to be said again.
        row.edit(|extras| (extras.nominated, extras.said) = (None, None));
        let mut labels = gpu_labels(&groups, &row.gpu_labels);
        if let Some((key, pool)) = &self.pool_label
            && !row.has_pool_label
        {
            labels.push((key.clone(), Some(pool.clone())));
        }
        Bind {
            pod,
            uid,
            namespace: Box::from(&*row.namespace),
            name: row.name.clone(),
            node,
            received: match grant {
                Grant::Regular { .. } => value::RECEIVED_REGULAR,
                Grant::Fraction { .. } => value::RECEIVED_FRACTION,
                Grant::Mig => value::RECEIVED_MIG,
            },
            queue,
            is_preemptible,
            labels,
            claims: Vec::new(),
            volumes: Vec::new(),
            extended: None,
            zones: None,
            share,
        }
    }

    /// The shares of GPUs that a pod gets; their devices are told it once they are known.
    fn share(
        &self,
        seat: Seat,
        groups: &[Arc<str>],
        grant: Grant,
        names: &Names,
    ) -> Option<Box<ShareGrant>> {
        let Grant::Fraction { portion_micro, .. } = grant else { return None };
        let device_mib = names.nodes.row(seat.node).map_or(0, |row| u64::from(row.gpu_memory_mib));
        let memory_mib = device_mib * u64::from(portion_micro) / 1_000_000;
        Some(Box::new(ShareGrant {
            devices: groups.iter().filter_map(|group| names.devices.find(group)).collect(),
            uuids: Vec::new(),
            portion_micro,
            memory_mib: (self.has_hami_core && memory_mib > 0).then_some(memory_mib),
            has_cdi: *self.has_cdi.borrow(),
            maps: names.pods[seat.pod].maps.as_deref().cloned(),
        }))
    }

    /// Warns where HAMi-core is to hold a pod to its share, and how many MiB that is cannot be said.
    ///
    /// # Source
    /// docs/contract.md 4.4 and 10.1, D30.
    fn unlimited(&self, bind: &Bind, names: &Names) -> Option<Event> {
        let share = bind.share.as_ref()?;
        if !self.has_hami_core || share.memory_mib.is_some() {
            return None;
        }
        self.metrics.unlimited.inc();
        let message = format!(
            "Nothing keeps pod {}/{} to its share of the memory of its GPU: node {} has no label {} with the MiB of a GPU, or \
             the share is less than one",
            bind.namespace,
            bind.name,
            bind.node,
            node::GPU_MEMORY
        );
        let mut said = self.event(pod_target(bind.pod, names), event::NO_MEMORY_LIMIT, message);
        said.is_warning = true;
        Some(said)
    }

    /// Works out what each claim of a pod is to hold.
    fn claims(
        &self,
        pod: u32,
        node: u32,
        reserved: Option<&Reserved>,
        names: &Names,
    ) -> Vec<ClaimGrant> {
        let grant = |claim: &u32| {
            let id = ClaimId::new(*claim);
            let (namespace, name) = names.of_claim(id).split_once('/').unwrap_or_default();
            let held = reserved.into_iter().flat_map(|reserved| &reserved.claims);
            let held: Vec<&Claimed> = held.filter(|one| one.claim == Some(id)).collect();
            let row = &names.claims[*claim];
            // A kubelet waits for the allocation of a claim that asks for nothing as well.
            let is_empty = row.asked.is_empty() && !row.is_allocated;
            ClaimGrant {
                path: format!(
                    "/apis/resource.k8s.io/{}/namespaces/{namespace}/resourceclaims/{name}",
                    self.devices_version
                )
                .into(),
                uid: row.uid.clone(),
                allocation: (!held.is_empty() || is_empty)
                    .then(|| allocation(*claim, Seat { pod, node }, &held, names)),
            }
        };
        names.pods[pod].claims.iter().map(grant).collect()
    }

    /// Works out what stands in for a pod's extended resources, where a claim has yet to be made for them.
    fn extended(
        &self,
        node: u32,
        reserved: &Reserved,
        names: &Names,
    ) -> Option<Box<ExtendedGrant>> {
        let mut backed: Vec<Backed> = Vec::new();
        for claimed in reserved.claims.iter().filter(|claimed| claimed.claim.is_none()) {
            let lane = Lane::new(claimed.request);
            let resource = names.lane_name(lane);
            if backed.last().is_none_or(|last| *last.resource != *resource) {
                let class = names.backing.get(&lane).cloned().unwrap_or_default();
                let config = names.device_configs.get(&class).cloned().unwrap_or_default();
                backed.push(Backed {
                    resource: Box::from(resource),
                    class,
                    config,
                    devices: Vec::new(),
                });
            }
            let device = device_names(claimed.device, names).map(Box::from);
            backed.last_mut().expect("one was pushed").devices.push(device);
        }
        let node = Box::from(&**names.nodes.key(node));
        let version = self.devices_version;
        (!backed.is_empty()).then(|| Box::new(ExtendedGrant { version, node, backed }))
    }

    /// Said once for each node that a pod is nominated to.
    fn nominate(&self, pod: u32, node: u32, names: &mut Names) -> Option<Event> {
        if names.pods[pod].edit(|extras| extras.nominated.replace(node)) == Some(node) {
            return None;
        }
        let target = pod_target(pod, names);
        let message = format!(
            "Pod {}/{} was pipelined to node {}",
            target.namespace,
            target.name,
            names.nodes.key(node)
        );
        Some(self.event(target, event::PIPELINED, message))
    }

    fn evict(
        &self,
        pod: u32,
        reason: &Eviction,
        evicted: &HashMap<u32, EvictedGroup>,
        names: &Names,
    ) -> Vec<Task> {
        let mut tasks = Vec::with_capacity(2);
        let target = pod_target(pod, names);
        let message = eviction(reason, &format!("{}/{}", target.namespace, target.name), names);
        let group = names.pods[pod].group;
        let of_group = group.and_then(|group| evicted.get(&group));
        if let Some(group) = group {
            let (namespace, name) = names.group_name(group);
            let uid = &*names.groups[group].uid;
            let labels = [name, namespace, uid, &self.pool, action(reason)];
            self.metrics.evicted.count(labels);
            let target = group_target(group, names);
            let mut said = self.event(target, event::EVICT, message.clone());
            said.annotations = annotations(reason, of_group.map(|all| all.pods), names);
            tasks.push(Task::Event(said));
        }
        // A group without an object has nothing to write it on, and no UID to guard the write with.
        let is_there = group.is_some_and(|group| names.groups[group].presence.is_there);
        tasks.push(Task::Evict(Evict {
            pod,
            uid: target.uid,
            namespace: target.namespace,
            name: target.name,
            condition: self.announces_evictions.then_some(message),
            asks_budgets: self.asks_budgets,
            stamp: of_group.filter(|_| is_there).map(|all| Arc::clone(&all.stamp)),
        }));
        tasks
    }

    /// A normal event.
    pub fn event(&self, target: Target, reason: &'static str, message: String) -> Event {
        let component = Arc::clone(&self.component);
        Event { target, is_warning: false, reason, message, annotations: Vec::new(), component }
    }
}

/// Amounts of a node's zones as the pod's annotation holds them; none where there are none.
fn zones(node: u32, held: &[ZoneAmount], names: &Names) -> Option<String> {
    let known = &names.nodes.row(node)?.zones;
    let amounts = |zone: usize| -> Map<String, Value> {
        let of_zone = held.iter().filter(|one| usize::from(one.zone) == zone);
        of_zone
            .map(|one| {
                let amount = match one.lane {
                    Lane::CPU => Quantity::from_milli(one.amount),
                    Lane::GPU => Quantity::from_value(one.amount / GPU_MILLI),
                    _ => Quantity::from_value(one.amount),
                };
                (String::from(names.lane_name(one.lane)), json!(amount.to_string()))
            })
            .collect()
    };
    let zones: Vec<Value> = (0..)
        .zip(known)
        .map(|(at, name)| (name, amounts(at)))
        .filter(|(_, amounts)| !amounts.is_empty())
        .map(|(name, amounts)| json!({ "zone": name, "amount": amounts }))
        .collect();
    (!zones.is_empty()).then(|| json!(zones).to_string())
}

/// The labels of shared GPUs: those to set, and those of an earlier attempt to remove.
fn gpu_labels(groups: &[Arc<str>], present: &[Box<str>]) -> Vec<LabelChange> {
    let mut labels = group_labels(groups);
    for key in present {
        if !labels.iter().any(|(wanted, _)| wanted == key) {
            labels.push((key.clone(), None));
        }
    }
    labels
}

/// A label's key, and its value or that it goes.
type LabelChange = (Box<str>, Option<Box<str>>);

/// The labels of a pod that shares GPUs: one device has the plain key, several have a key each.
/// Source: docs/contract.md 4.5.
fn group_labels<T: AsRef<str>>(groups: &[T]) -> Vec<LabelChange> {
    let plain = |group: &T| Some(Box::from(group.as_ref()));
    if let [only] = groups {
        return vec![(Box::from(label::GPU_GROUP), plain(only))];
    }
    let keyed = |group: &T| {
        let key = format!("{}{}", label::GPU_GROUP_PREFIX, group.as_ref());
        (key.into_boxed_str(), plain(group))
    };
    groups.iter().map(keyed).collect()
}

/// Holds what a plan evicts of a group.
#[derive(Debug)]
struct EvictedGroup {
    pods: usize,
    stamp: Arc<EvictionStamp>,
}

fn evicted_by_group(
    changes: &[Change],
    now: Timestamp,
    names: &Names,
) -> HashMap<u32, EvictedGroup> {
    let mut all = HashMap::new();
    for change in changes {
        if let Change::Evict { pod, .. } = change
            && let Some(group) = names.pods[pod.number()].group
        {
            let begin = || {
                let stamp = Arc::new(EvictionStamp::new(group_target(group, names), now.0));
                EvictedGroup { pods: 0, stamp }
            };
            all.entry(group).or_insert_with(begin).pods += 1;
        }
    }
    all
}

/// The action behind an eviction, as metrics and annotations name it.
fn action(reason: &Eviction) -> &'static str {
    match reason {
        Eviction::Reclaim { .. } => "reclaim",
        Eviction::Preempt { .. } => "preempt",
        Eviction::Consolidate { .. } => "consolidation",
        Eviction::Stale { .. } => "stalegangeviction",
    }
}

fn annotations(
    reason: &Eviction,
    evicted: Option<usize>,
    names: &Names,
) -> Vec<(&'static str, String)> {
    let mut all = vec![
        (annotation::EVICTED_PODS, evicted.unwrap_or(1).to_string()),
        (annotation::EVICTOR_ACTION, String::from(action(reason))),
    ];
    if let Some(group) = reason.for_group() {
        let (namespace, name) = names.group_name(group.number());
        all.push((annotation::EVICTOR_NAMESPACE, String::from(namespace)));
        all.push((annotation::EVICTOR_NAME, String::from(name)));
    }
    all
}

/// A pod as events name it.
pub fn pod_target(pod: u32, names: &Names) -> Target {
    let row = &names.pods[pod];
    Target {
        kind: "Pod",
        namespace: Box::from(&*row.namespace),
        name: row.name.clone(),
        uid: Box::from(&**names.pods.key(pod)),
    }
}

/// A group as events name it.
pub fn group_target(group: u32, names: &Names) -> Target {
    let (namespace, name) = names.group_name(group);
    Target {
        kind: "PodGroup",
        namespace: Box::from(namespace),
        name: Box::from(name),
        uid: names.groups[group].uid.clone(),
    }
}

#[cfg(test)]
mod tests {
    use kai_engine::{NodeId, PodId};

    use super::*;

    #[test]
    fn one_device_has_the_plain_key_and_old_keys_go() {
        let group = |name: &str| Arc::<str>::from(name);
        let present = [Box::from("runai-gpu-group"), Box::from("runai-gpu-group/x")];
        assert_eq!(
            gpu_labels(&[group("a")], &present),
            [
                (Box::from("runai-gpu-group"), Some(Box::from("a"))),
                (Box::from("runai-gpu-group/x"), None),
            ]
        );
        assert_eq!(
            gpu_labels(&[group("a"), group("b")], &[]),
            [
                (Box::from("runai-gpu-group/a"), Some(Box::from("a"))),
                (Box::from("runai-gpu-group/b"), Some(Box::from("b"))),
            ]
        );
        assert!(gpu_labels(&[], &[]).is_empty());
    }

    /// Others tell by it of which pool a pod is; to one that has it nothing is written before its bind.
    #[test]
    fn a_pod_gets_the_label_of_its_pool_with_its_bind() {
        let dispatch = Dispatch {
            pool_label: Some((Box::from("pool"), Box::from("blue"))),
            ..Dispatch::new("blue", "kai-scheduler", Metrics::new("kai"))
        };
        let mut names = Names::new();
        let (pod, node) = (names.pods.intern("p"), names.nodes.intern("n1"));
        let labels = |names: &mut Names| {
            dispatch.bind(Seat { pod, node }, &[], Grant::Regular { count: 0 }, names).labels
        };
        assert_eq!(labels(&mut names), [(Box::from("pool"), Some(Box::from("blue")))]);
        names.pods[pod].has_pool_label = true;
        assert!(labels(&mut names).is_empty());
    }

    /// They are read back as quantities of resources after a restart.
    #[test]
    fn amounts_of_zones_are_written_as_quantities() {
        let mut names = Names::new();
        let node = names.nodes.intern("n1");
        names.nodes[node].zones = vec![Box::from("node-0"), Box::from("node-1")];
        let held = [
            ZoneAmount { zone: 1, lane: Lane::CPU, amount: 1_500 },
            ZoneAmount { zone: 1, lane: Lane::MEMORY, amount: 1 << 30 },
            ZoneAmount { zone: 1, lane: Lane::GPU, amount: 2 * GPU_MILLI },
        ];
        let written = zones(node, &held, &names).expect("it holds some");
        let amount = json!({"cpu": "1500m", "memory": "1073741824", "nvidia.com/gpu": "2"});
        let expect = json!([{"zone": "node-1", "amount": amount}]);
        assert_eq!(serde_json::from_str::<Value>(&written).ok(), Some(expect));
        assert_eq!(zones(node, &[], &names), None);
    }

    /// It is no record of anybody then.
    #[test]
    fn a_bind_writes_over_the_zones_that_a_pod_said_itself() {
        let dispatch = Dispatch::new("", "kai-scheduler", Metrics::new("kai"));
        let mut names = Names::new();
        let (pod, node) = (names.pods.intern("p"), names.nodes.intern("n1"));
        let place = Change::Place {
            pod: PodId::new(pod),
            node: NodeId::new(node),
            devices: Box::default(),
            reserved: None,
            grant: Grant::Regular { count: 0 },
        };
        for (says_zones, expect) in [(false, None), (true, Some(""))] {
            names.pods[pod].edit(|extras| extras.says_zones = says_zones);
            let tasks = dispatch.tasks(std::slice::from_ref(&place), Timestamp(0), &mut names);
            let [Task::Bind(bind)] = &tasks[..] else { panic!("{tasks:?}") };
            assert_eq!(bind.zones.as_deref(), expect);
        }
    }
}
