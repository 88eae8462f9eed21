//! Fair shares of GPUs, worked out by the engine's own rule from what the API holds.
//!
//! Past usage, which a scheduler may weigh in, is not in the API and counts as none.

use std::collections::BTreeMap;

use kai_api::shared_gpu::device_memory_mib;
use kai_engine::share::{Participant, divide};
use kai_engine::{GPU_MILLI, Limit, Timestamp};
use serde_json::Value;

use super::Use;
use crate::cluster::gpu::{self, Total};
use crate::cluster::json::text;
use crate::cluster::queue::{Amount, Queue, Queues};
use crate::cluster::{Call, Cluster, Resource, Select, names};
use crate::print::time;
use crate::workload::devices::is_reservation;

/// GPUs of the cluster: what there is to divide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Supply {
    /// Thousandths of devices on nodes that take pods, less what other schedulers' pods hold.
    gpu_milli: i64,
    /// The smallest memory of a device, by which shares of memory are counted.
    memory_mib: Option<u64>,
}

/// Reads nodes and the pods of other schedulers; `None` where the user may not.
pub(crate) async fn supply(cluster: &Cluster) -> Option<Supply> {
    let nodes = Resource::new("v1", "Node", "nodes").cluster_wide();
    let (call, everything) = (Call::new("list", &nodes), Select::default());
    let (nodes, pods) = futures::join!(cluster.list(&call, &everything), foreign(cluster, None));
    Some(supply_of(&nodes.ok()??, &pods?))
}

/// The pods of other schedulers that have not ended, of a namespace or of all; `None` where the user may not.
pub(crate) async fn foreign(cluster: &Cluster, namespace: Option<&str>) -> Option<Vec<Value>> {
    let pods = names::pods();
    let fields = format!(
        "spec.schedulerName!={},status.phase!=Succeeded,status.phase!=Failed",
        names::SCHEDULER
    );
    let call = Call::new("list", &pods).namespace(namespace);
    cluster.list(&call, &Select { fields: &fields, labels: "" }).await.ok()?
}

fn supply_of(nodes: &[Value], foreign: &[Value]) -> Supply {
    let mut supply = Supply { gpu_milli: 0, memory_mib: None };
    let mut left: BTreeMap<&str, i64> = BTreeMap::new();
    for node in nodes.iter().filter(|node| takes_pods(node)) {
        let left = left.entry(text(&node["metadata"]["name"])).or_default();
        for name in [names::GPU, names::AMD_GPU] {
            let devices = text(&node["status"]["allocatable"][name]).parse().unwrap_or(0_i64);
            let milli = devices.saturating_mul(GPU_MILLI);
            *left = left.saturating_add(milli);
        }
        let label = text(&node["metadata"]["labels"][kai_api::names::node::GPU_MEMORY]);
        if let Some(memory) = device_memory_mib(label).map(u64::from) {
            supply.memory_mib = Some(supply.memory_mib.map_or(memory, |least| least.min(memory)));
        }
    }
    // A device that is shared is held by its reservation pod for those who share it, who are in queues.
    for pod in foreign.iter().filter(|pod| !is_reservation(pod)) {
        if let Some(left) = left.get_mut(text(&pod["spec"]["nodeName"])) {
            // Who names a node without asking the scheduler may ask for more than it has: that is no other node's.
            let held = i64::try_from(Total::of_pod(pod).milli).unwrap_or(i64::MAX);
            *left = left.saturating_sub(held).max(0);
        }
    }
    supply.gpu_milli = left.values().fold(0, |sum: i64, left| sum.saturating_add(*left));
    supply
}

/// Tells whether the scheduler counts the node: it is open, ready and under no pressure.
fn takes_pods(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    let is = |kind: &str, status: &str| {
        conditions
            .into_iter()
            .flatten()
            .any(|c| text(&c["type"]) == kind && text(&c["status"]) == status)
    };
    let pressed = ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"]
        .iter()
        .any(|kind| is(kind, "True") || is(kind, "Unknown"));
    node["spec"]["unschedulable"] != true && is("Ready", "True") && !pressed
}

/// The fair share of every queue, in thousandths of devices; `uses` holds what each has and waits for, children included.
pub(crate) fn shares(
    queues: &Queues,
    uses: &BTreeMap<String, Use>,
    supply: Supply,
) -> BTreeMap<String, i64> {
    let mut shares = BTreeMap::new();
    let roots: Vec<&Queue> = queues.0.values().filter(|queue| queue.parent.is_none()).collect();
    let tree = Tree { queues, uses, supply };
    tree.divide_among(&roots, supply.gpu_milli, &mut shares);
    shares
}

/// Says how the queues beside one another divide what is above them.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    /// GPUs to divide, in thousandths: the share of the queue above, or all that nodes offer.
    pub(crate) amount_milli: i64,
    /// The queues, in the order of their names.
    pub(crate) rows: Vec<Divided>,
}

/// The part of one queue, in thousandths of GPUs.
#[derive(Clone, Debug)]
pub(crate) struct Divided {
    pub(crate) name: String,
    pub(crate) quota_milli: Option<i64>,
    pub(crate) limit_milli: Option<i64>,
    /// Holds what it holds and waits for.
    pub(crate) asked_milli: i64,
    /// Holds what it gets before anybody gets more than a quota.
    pub(crate) in_quota_milli: i64,
    /// Its weight for the rest, in thousandths.
    pub(crate) weight_milli: u64,
    pub(crate) priority: i32,
    pub(crate) share_milli: i64,
}

/// The division in which a queue takes part; none where there is no such queue.
pub(crate) fn division(
    queues: &Queues,
    uses: &BTreeMap<String, Use>,
    supply: Supply,
    name: &str,
) -> Option<Division> {
    let parent = &queues.0.get(name)?.parent;
    let shares = shares(queues, uses, supply);
    // Below a queue that is not there is nothing to divide.
    let up = parent.as_ref();
    let amount_milli = up.map_or(supply.gpu_milli, |up| shares.get(up).copied().unwrap_or(0));
    let tree = Tree { queues, uses, supply };
    let beside = queues.0.values().filter(|queue| queue.parent == *parent);
    let rows = beside.map(|queue| {
        let one = tree.participant(queue);
        let most = one.limit.amount().map_or(one.requested, |limit| limit.min(one.requested));
        Divided {
            name: queue.name.clone(),
            quota_milli: one.quota.amount(),
            limit_milli: one.limit.amount(),
            asked_milli: one.requested,
            in_quota_milli: one.quota.amount().unwrap_or(amount_milli).min(most),
            weight_milli: one.weight,
            priority: one.priority,
            share_milli: shares.get(&queue.name).copied().unwrap_or(0),
        }
    });
    Some(Division { amount_milli, rows: rows.collect() })
}

struct Tree<'a> {
    queues: &'a Queues,
    uses: &'a BTreeMap<String, Use>,
    supply: Supply,
}

impl Tree<'_> {
    fn divide_among(
        &self,
        siblings: &[&Queue],
        amount_milli: i64,
        shares: &mut BTreeMap<String, i64>,
    ) {
        let participants: Vec<Participant> =
            siblings.iter().map(|queue| self.participant(queue)).collect();
        let (divided, _) = divide(amount_milli, GPU_MILLI, 0, &participants);
        for (queue, share) in siblings.iter().zip(divided) {
            shares.insert(queue.name.clone(), share);
            let children: Vec<&Queue> =
                queue.children.iter().filter_map(|child| self.queues.0.get(child)).collect();
            if !children.is_empty() {
                self.divide_among(&children, share, shares);
            }
        }
    }

    fn participant(&self, queue: &Queue) -> Participant {
        let requested = self.uses.get(&queue.name).map_or(0, |used| {
            let mut asked = used.used.clone();
            asked.add(&used.pending, 1);
            let of_memory = self
                .supply
                .memory_mib
                .map_or(0, |memory_mib| asked.memory_mib.saturating_mul(1000) / memory_mib.max(1));
            i64::try_from(asked.milli.saturating_add(of_memory)).unwrap_or(i64::MAX)
        });
        let meta = &queue.object["metadata"];
        let uid: String = text(&meta["uid"]).chars().filter(char::is_ascii_hexdigit).collect();
        let created = time::of(&meta["creationTimestamp"]);
        Participant {
            quota: limit(queue.gpu.quota),
            limit: limit(queue.gpu.limit),
            weight: queue.gpu.weight.milli().unwrap_or(0),
            usage_micro: 0,
            requested,
            priority: queue.priority.and_then(|p| i32::try_from(p).ok()).unwrap_or(100),
            created: Timestamp(created.map_or(0, jiff::Timestamp::as_millisecond)),
            uid: u128::from_str_radix(&uid, 16).unwrap_or(0),
        }
    }
}

fn limit(amount: Amount) -> Limit {
    match amount.milli().and_then(|milli| i64::try_from(milli).ok()) {
        None => Limit::UNLIMITED,
        Some(milli) => Limit::of(milli),
    }
}

/// A share as a table shows it.
pub(crate) fn show(milli: i64) -> String {
    u64::try_from(milli).map_or_else(|_| "0".to_owned(), gpu::devices)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;

    use super::*;

    /// The API server leaves out those that hold no devices any more.
    #[tokio::test]
    async fn pods_of_other_schedulers_are_read_until_they_have_ended() {
        let asked = Arc::new(Mutex::new(String::new()));
        let told = Arc::clone(&asked);
        let service = tower::service_fn(move |request: Request<Body>| {
            *told.lock().expect("nobody panics with it") = request.uri().to_string();
            let none = json!({"metadata": {}, "items": []}).to_string();
            async { Ok::<_, kube::Error>(Response::new(Body::from(none.into_bytes()))) }
        });
        let cluster = Cluster::given(kube::Client::new(service, "default"), "default");
        assert_eq!(foreign(&cluster, None).await, Some(Vec::new()));
        let asked = asked.lock().expect("nobody panics with it");
        for left_out in ["spec.schedulerName", "status.phase"] {
            assert!(asked.contains(&format!("{left_out}%21%3D")), "{asked}");
        }
        for phase in ["Succeeded", "Failed"] {
            assert!(asked.contains(&format!("status.phase%21%3D{phase}")), "{asked}");
        }
    }

    #[test]
    fn quotas_first_then_weights_and_no_more_than_is_asked_for() {
        let queue = |name: &str, parent: &str, quota: i64| {
            json!({
                "metadata": {"name": name, "uid": "a"},
                "spec": {"parentQueue": parent, "resources":
                    {"gpu": {"quota": quota, "limit": -1, "overQuotaWeight": 1}}},
            })
        };
        let queues = Queues::read(vec![
            queue("research", "", 16),
            queue("team-a", "research", 8),
            queue("team-b", "research", 8),
            queue("prod", "", 16),
            queue("orphan", "nobody", 8),
        ]);
        let asks = |devices: u64| Use {
            pending: Total { milli: devices * 1000, ..Total::default() },
            ..Use::default()
        };
        let uses = [("research", 24), ("team-a", 20), ("team-b", 4), ("prod", 10)];
        let uses = uses.map(|(name, devices)| (name.to_owned(), asks(devices))).into();
        let node = json!({
            "metadata": {"name": "n", "labels": {}},
            "status": {"allocatable": {"nvidia.com/gpu": "8"},
                "conditions": [{"type": "Ready", "status": "True"}]},
        });
        let mut closed = node.clone();
        closed["metadata"]["name"] = json!("closed");
        closed["spec"]["unschedulable"] = json!(true);
        let mut plain = node.clone();
        plain["metadata"]["name"] = json!("plain");
        plain["status"]["allocatable"] = json!({});
        let nodes = [node.clone(), node.clone(), node.clone(), node, closed, plain];
        let foreign = json!({"spec": {"nodeName": "n", "containers":
            [{"resources": {"limits": {"nvidia.com/gpu": "2"}}}]}});
        let mut reservation = foreign.clone();
        reservation["metadata"] = json!({"namespace": "kai-resource-reservation",
            "labels": {"app": "kai-resource-reservation"}});
        // What is held of a node that is not counted is no part of it.
        let mut elsewhere = foreign.clone();
        elsewhere["spec"]["nodeName"] = json!("closed");
        let mut beyond = foreign.clone();
        beyond["spec"]["nodeName"] = json!("plain");
        let supply = supply_of(&nodes, &[foreign, elsewhere, beyond, reservation]);
        assert_eq!(supply.gpu_milli, 30_000);
        let shares: Vec<String> = shares(&queues, &uses, supply)
            .iter()
            .map(|(name, milli)| format!("{name} {}", show(*milli)))
            .collect();
        assert_eq!(shares, ["prod 10", "research 20", "team-a 16", "team-b 4"]);
        for (name, expect) in [
            ("prod", "30 for prod 10, research 20"),
            ("team-a", "20 for team-a 16, team-b 4"),
            ("orphan", "0 for orphan 0"),
        ] {
            let division = division(&queues, &uses, supply, name).expect("it is there");
            let rows = division.rows.iter();
            let rows: Vec<String> =
                rows.map(|row| format!("{} {}", row.name, show(row.share_milli))).collect();
            let said = format!("{} for {}", show(division.amount_milli), rows.join(", "));
            assert_eq!(said, expect);
        }
    }

    /// The scheduler divides what nodes offer on which it places pods.
    #[test]
    fn nodes_that_take_no_pods_are_not_divided() {
        for (ready, pressure, expect) in [
            ("True", None, 8_000),
            ("False", None, 0),
            ("Unknown", None, 0),
            ("True", Some(("MemoryPressure", "False")), 8_000),
            ("True", Some(("DiskPressure", "True")), 0),
            ("True", Some(("NetworkUnavailable", "Unknown")), 0),
        ] {
            let mut conditions = vec![json!({"type": "Ready", "status": ready})];
            conditions
                .extend(pressure.map(|(kind, status)| json!({"type": kind, "status": status})));
            let node = json!({"metadata": {"name": "n"}, "status":
                {"allocatable": {"nvidia.com/gpu": "8"}, "conditions": conditions}});
            let supply = supply_of(std::slice::from_ref(&node), &[]);
            assert_eq!(supply.gpu_milli, expect, "{node}");
        }
    }
}
