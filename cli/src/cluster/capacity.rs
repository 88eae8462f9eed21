//! Describes what the nodes have when nothing runs: what asks for more waits until other nodes come.

use std::collections::{BTreeMap, BTreeSet};

use kai_api::names::node::GPU_MEMORY;
use kai_api::quantity::Quantity;
use kai_api::shared_gpu::{Share, device_memory_mib};
use kai_engine::EmptyShape;
use kai_scheduler::message::{Need, larger_than_all_nodes, larger_than_nodes, split};
use serde_json::Value;

use super::gpu::{self, Total};
use super::json::text;
use super::{Call, Cluster, Resource, Select, names};
use crate::cluster::queue::count;

/// Says what GPUs are counted in.
const GPUS: &str = "GPUs";

/// Amounts of nodes or of a pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Amounts {
    gpu_milli: u64,
    cpu_milli: u64,
    memory_bytes: u64,
}

/// Holds what there is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capacity {
    nodes: usize,
    all: Amounts,
    /// The GPUs of each node, in thousandths.
    gpus_milli: Vec<u64>,
    /// The most of each that one node has.
    largest: Amounts,
    /// The memory of the largest GPU; 0 where no node tells.
    gpu_memory_mib: u64,
    /// The profiles of the MIG devices that there are.
    profiles: BTreeSet<String>,
    /// Holds the nodes, of which domains of a topology are made.
    objects: Vec<Value>,
}

impl Capacity {
    /// Reads the nodes: one request. `None` where the user may not, or where there is none yet.
    pub(crate) async fn read(cluster: &Cluster) -> Option<Self> {
        let nodes = Resource::new("v1", "Node", "nodes").cluster_wide();
        let nodes = cluster.list(&Call::new("list", &nodes), &Select::default()).await.ok()??;
        (!nodes.is_empty()).then(|| Self { objects: nodes.clone(), ..Self::of(nodes.iter()) })
    }

    fn of<'n>(nodes: impl Iterator<Item = &'n Value> + Clone) -> Self {
        let mut capacity = Self { nodes: nodes.clone().count(), ..Self::default() };
        for node in nodes {
            let there = &node["status"]["allocatable"];
            let gpus = milli(&there[names::GPU]).saturating_add(milli(&there[names::AMD_GPU]));
            let told = device_memory_mib(text(&node["metadata"]["labels"][GPU_MEMORY]))
                .map_or(0, Into::into);
            capacity.gpu_memory_mib = capacity.gpu_memory_mib.max(told);
            let names = there.as_object().into_iter().flat_map(|map| map.keys());
            let profiles = names.filter_map(|name| name.strip_prefix(names::MIG));
            capacity.profiles.extend(profiles.map(str::to_owned));
            let node = Amounts {
                gpu_milli: gpus,
                cpu_milli: milli(&there["cpu"]),
                memory_bytes: milli(&there["memory"]) / 1000,
            };
            capacity.gpus_milli.push(gpus);
            capacity.all = capacity.all.with(node, u64::saturating_add);
            capacity.largest = capacity.largest.with(node, u64::max);
        }
        capacity
    }

    /// Says why pods never start, of which so many have to start together, while no other node comes; none where they may.
    pub(crate) fn too_little(&self, pods: &[Value], together: usize) -> Option<String> {
        let mut each: Vec<Amounts> = pods.iter().map(of_pod).collect();
        let largest = self.largest;
        let parts = |pod: &Amounts| {
            [
                (pod.gpu_milli, largest.gpu_milli, gpu::devices as fn(u64) -> String, GPUS),
                (pod.cpu_milli, largest.cpu_milli, gpu::devices, "CPU cores"),
                (pod.memory_bytes, largest.memory_bytes, mebibytes, "MiB of memory"),
            ]
        };
        let too_much = each.iter().flat_map(parts).find(|(asked, most, ..)| asked > most);
        if let Some((asked, most, show, unit)) = too_much {
            let is_gang = together > 1;
            let whose = if is_gang { "each of its pods" } else { "it" };
            let amounts = [asked, most].map(|amount| format!("{} {unit}", show(amount)));
            let milli = |amount: u64| i64::try_from(amount).unwrap_or(i64::MAX);
            let pods =
                (unit == GPUS && !is_gang && most > 0).then(|| split(milli(asked), milli(most)));
            let [asked, most] = &amounts;
            return Some(larger_than_nodes(whose, [asked, most], pods));
        }
        if let Some(why) = pods.iter().find_map(|pod| self.no_device(pod)) {
            return Some(why);
        }
        // Whichever of them start, they ask for no less than the smallest do.
        each.sort_unstable_by_key(|pod| pod.gpu_milli);
        each.truncate(together);
        self.gang_too_large(&each)
    }

    /// Says why pods never start together within one domain of a level, which is a label of nodes; none where they may.
    pub(crate) fn too_little_in(
        &self,
        level: &str,
        pods: &[Value],
        together: usize,
    ) -> Option<String> {
        let mut domains: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for node in &self.objects {
            let domain = text(&node["metadata"]["labels"][level]);
            if !domain.is_empty() {
                domains.entry(domain).or_default().push(node);
            }
        }
        let domains = domains.values().map(|nodes| Self::of(nodes.iter().copied()));
        let domains: Vec<Self> = domains.collect();
        if domains.is_empty() {
            return Some(format!("it has to stay in one {level}, and no node has that label"));
        }
        if domains.iter().any(|domain| domain.too_little(pods, together).is_none()) {
            return None;
        }
        let mut each: Vec<u64> = pods.iter().map(|pod| of_pod(pod).gpu_milli).collect();
        each.sort_unstable();
        let asked = each.iter().take(together).fold(0, |sum: u64, one| sum.saturating_add(*one));
        let most = domains.iter().map(|domain| domain.all.gpu_milli).max().unwrap_or(0);
        let level = level.rsplit('/').next().unwrap_or(level);
        Some(if asked > most {
            let [asked, most] = [asked, most].map(gpu::devices);
            format!("it needs {asked} GPUs in one {level}, the largest has {most}")
        } else {
            let pods = count(together, "pod");
            format!("it needs room for {pods} in one {level}, and none has that when it is empty")
        })
    }

    /// Says why no device will do for a pod that asks for memory of one, or for MIG devices.
    fn no_device(&self, pod: &Value) -> Option<String> {
        let share = gpu::shared(pod).ok().flatten().map(|shared| shared.share);
        let most = self.gpu_memory_mib;
        match share {
            Some(Share::MemoryMib(mib)) if mib > most && most > 0 => {
                return Some(format!(
                    "it asks for {mib} MiB of one GPU, the largest has {most} MiB"
                ));
            }
            _ => {}
        }
        let asked = Total::of_pod(pod).mig;
        let (profile, number) = asked.iter().find(|(name, _)| !self.profiles.contains(*name))?;
        let there = match self.profiles.iter().cloned().collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => String::new(),
            profiles => format!("; there are: {profiles}"),
        };
        Some(format!("it asks for {number} {}{profile}, and no node has any{there}", names::MIG))
    }

    /// Says why pods never start together.
    fn gang_too_large(&self, pods: &[Amounts]) -> Option<String> {
        let least = pods.first()?.gpu_milli;
        let sum = gpu::sum(pods.iter().map(|pod| pod.gpu_milli));
        let hold = gpu::sum(self.gpus_milli.iter().filter_map(|gpus| gpus.checked_div(least)));
        let is_alike = pods.iter().all(|pod| pod.gpu_milli == least);
        let count_of = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let amount = |milli: u64| i64::try_from(milli).unwrap_or(i64::MAX);
        if is_alike && least > 0 && hold < pods.len() as u64 {
            let need = Need { pods: count_of(pods.len()), each_milli: amount(least) };
            let nodes = EmptyShape {
                gpu_milli: amount(self.all.gpu_milli),
                node_max_milli: amount(self.largest.gpu_milli),
                pods: u32::try_from(hold).unwrap_or(u32::MAX),
            };
            return Some(larger_than_all_nodes("it", need, nodes));
        }
        (sum > self.all.gpu_milli).then(|| {
            format!(
                "{} that start together ask for {} GPUs, and all {} have {}",
                count(pods.len(), "pod"),
                gpu::devices(sum),
                count(self.nodes, "node"),
                gpu::devices(self.all.gpu_milli)
            )
        })
    }
}

impl Amounts {
    fn with(self, other: Self, put: fn(u64, u64) -> u64) -> Self {
        Self {
            gpu_milli: put(self.gpu_milli, other.gpu_milli),
            cpu_milli: put(self.cpu_milli, other.cpu_milli),
            memory_bytes: put(self.memory_bytes, other.memory_bytes),
        }
    }
}

/// Returns what a pod asks for: the requests of its containers, which are their limits where they say nothing else.
fn of_pod(pod: &Value) -> Amounts {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    let sum = |name: &str| {
        let asked = containers.clone().map(|container| {
            let resources = &container["resources"];
            let request = &resources["requests"][name];
            milli(if request.is_null() { &resources["limits"][name] } else { request })
        });
        asked.fold(0, u64::saturating_add)
    };
    Amounts {
        gpu_milli: Total::of_pod(pod).milli,
        cpu_milli: sum("cpu"),
        memory_bytes: sum("memory") / 1000,
    }
}

/// An amount in thousandths; nothing where there is none.
fn milli(value: &Value) -> u64 {
    let text = if value.is_number() { value.to_string() } else { text(value).to_owned() };
    let quantity = text.parse::<Quantity>().ok();
    quantity.and_then(|quantity| u64::try_from(quantity.milli().ok()?).ok()).unwrap_or(0)
}

fn mebibytes(bytes: u64) -> String {
    bytes.div_ceil(1 << 20).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks what is said of so many pods with limits, of which some start together, on two nodes of 8 GPUs, 64 cores, 256Gi.
    fn check(pods: usize, limits: &Value, together: usize, expect: Option<&str>) {
        let node = json!({"status": {"allocatable": {"nvidia.com/gpu": "8", "cpu": "64",
            "memory": "256Gi", "nvidia.com/mig-1g.10gb": "7"}}});
        let capacity = Capacity::of([&node, &node].into_iter());
        let pod = json!({"spec": {"containers": [{"resources": {"limits": limits}}]}});
        let told = capacity.too_little(&vec![pod; pods], together);
        assert_eq!(told.as_deref(), expect, "{limits}");
    }

    #[test]
    fn what_no_node_and_what_not_all_nodes_have_is_told() {
        check(2, &json!({"nvidia.com/gpu": 8, "cpu": "64"}), 2, None);
        check(3, &json!({"nvidia.com/gpu": 8}), 2, None);
        check(
            3,
            &json!({"nvidia.com/gpu": 8}),
            3,
            Some("it needs 3 whole nodes at once, there are 2"),
        );
        check(
            4,
            &json!({"nvidia.com/gpu": 5}),
            3,
            Some("it needs 3 pods with 5 GPUs each at once, all nodes together would hold 2"),
        );
        check(
            1,
            &json!({"nvidia.com/gpu": "9"}),
            1,
            Some("it asks for 9 GPUs on one node, the largest has 8: two pods would do"),
        );
        check(
            1,
            &json!({"cpu": "5000"}),
            1,
            Some("it asks for 5000 CPU cores on one node, the largest has 64 CPU cores"),
        );
        check(
            1,
            &json!({"memory": "512Gi"}),
            1,
            Some(
                "it asks for 524288 MiB of memory on one node, the largest has 262144 MiB of memory",
            ),
        );
        check(
            1,
            &json!({"nvidia.com/mig-3g.40gb": "2"}),
            1,
            Some("it asks for 2 nvidia.com/mig-3g.40gb, and no node has any; there are: 1g.10gb"),
        );
        check(1, &json!({"nvidia.com/mig-1g.10gb": "1"}), 1, None);
    }

    #[test]
    fn what_no_domain_of_a_level_holds_is_told() {
        let node = |rack: &str, gpus: &str| {
            json!({"metadata": {"labels": {"example.com/rack": rack}},
                "status": {"allocatable": {"nvidia.com/gpu": gpus}}})
        };
        let objects = vec![node("a", "8"), node("a", "8"), node("b", "8"), node("b", "4")];
        let capacity = Capacity { objects, ..Capacity::default() };
        let check = |level: &str, [pods, gpus, together]: [usize; 3], expect: Option<&str>| {
            let limits = json!({ "nvidia.com/gpu": gpus });
            let pod = json!({"spec": {"containers": [{"resources": {"limits": limits}}]}});
            let told = capacity.too_little_in(level, &vec![pod; pods], together);
            assert_eq!(told.as_deref(), expect, "{pods} pods of {gpus} in one {level}");
        };
        let rack = "example.com/rack";
        check(rack, [2, 8, 2], None);
        check(rack, [3, 8, 2], None);
        check(rack, [3, 8, 3], Some("it needs 24 GPUs in one rack, the largest has 16"));
        let shape = "it needs room for 3 pods in one rack, and none has that when it is empty";
        check(rack, [3, 5, 3], Some(shape));
        let nowhere = "it has to stay in one example.com/row, and no node has that label";
        check("example.com/row", [1, 1, 1], Some(nowhere));
    }

    #[test]
    fn memory_that_no_gpu_has_is_told() {
        let check = |told: Option<&str>, mib: &str, expect: Option<&str>| {
            let node = json!({"metadata": {"labels": {"nvidia.com/gpu.memory": told}},
                "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
            let pod = json!({"metadata": {"annotations": {"gpu-memory": mib}}});
            let told = Capacity::of(std::iter::once(&node)).too_little(&[pod], 1);
            assert_eq!(told.as_deref(), expect, "{mib}");
        };
        check(Some("81559"), "8192", None);
        let larger = "it asks for 204800 MiB of one GPU, the largest has 81559 MiB";
        check(Some("81559"), "204800", Some(larger));
        check(None, "204800", None);
    }
}
