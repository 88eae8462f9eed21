//! Amounts that one pod asks for and has.

use std::collections::HashMap;
use std::sync::Arc;

use kai_api::names::{annotation, resource, value};
use kai_api::quantity::Quantity;
use serde_json::{Map, Value};

use super::totals::{Totals, times};
use super::unplanned::Unplanned;
use crate::interner::Weigh;

/// So many claims of a pod are looked up; one of this scheduler with more waits.
const CLAIMS_MAX: usize = 256;

/// So many resources beside the usual ones may all containers of a pod name together; one of this scheduler with more waits.
const POD_NAMES_MAX: usize = 512;

/// Part of a device by memory, which only the node's device can turn into a fraction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct MemoryShare {
    pub(crate) mib: i64,
    pub(crate) devices: i64,
    pub(crate) node: String,
}

/// A pod's part in the status of its `PodGroup`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Usage {
    /// Amounts that an active pod asks for.
    pub(crate) requested: Totals,
    /// Amounts of it that the pod has, but for `memory_share` and claims; at most those, where it is `unplanned`.
    pub(crate) allocated: Totals,
    /// Part of a device that the pod has by memory.
    pub(crate) memory_share: Option<MemoryShare>,
    /// Names of the pod's resource claims.
    pub(crate) claims: Vec<String>,
    /// True if the pod has what it asks for.
    pub(crate) is_allocated: bool,
    /// The pod, where it was put on its node past the scheduler.
    pub(crate) unplanned: Option<Arc<Unplanned>>,
}

impl Weigh for Usage {
    fn weight(&self) -> usize {
        let claims = self.claims.iter().map(String::len).sum::<usize>();
        let unplanned = self.unplanned.as_ref().map_or(0, |pod| pod.bytes());
        self.requested.bytes() + self.allocated.bytes() + claims + unplanned
    }
}

impl Usage {
    /// Reads a pod; one that is neither pending nor running uses nothing.
    pub(crate) fn of(pod: &Value) -> Self {
        let phase = pod["status"]["phase"].as_str().unwrap_or("Pending");
        if !matches!(phase, "Pending" | "Running") {
            return Self::default();
        }
        Self::given(pod, phase == "Running" || is_scheduled(pod))
    }

    /// Reads what a pod has from its bind on until it ends, whether it has ended or not.
    pub(crate) fn while_bound(pod: &Value) -> Self {
        Self::given(pod, true)
    }

    /// Tells whether the pod has GPUs, or claims that may be some.
    pub(crate) fn has_devices(&self) -> bool {
        let is_gpu = |name: &str| {
            [resource::NVIDIA_GPU, resource::AMD_GPU].contains(&name)
                || name.starts_with(resource::MIG_PREFIX)
        };
        self.memory_share.is_some()
            || !self.claims.is_empty()
            || self.allocated.iter().any(|(name, amount)| is_gpu(name) && !amount.is_zero())
    }

    fn given(pod: &Value, is_allocated: bool) -> Self {
        let requests = request(&pod["spec"], &Given::of(&pod["status"]));
        let mut usage = Self {
            requested: requests.clone(),
            allocated: if is_allocated { requests } else { Totals::default() },
            memory_share: None,
            claims: claims(pod),
            is_allocated,
            unplanned: Unplanned::of(pod),
        };
        usage.add_share(pod);
        usage
    }

    fn add_share(&mut self, pod: &Value) {
        let read = |key: &str| pod["metadata"]["annotations"][key].as_str();
        let devices = read(annotation::GPU_FRACTION_DEVICES)
            .and_then(|text| text.parse::<i64>().ok())
            .filter(|devices| *devices > 0)
            .unwrap_or(1);
        let has_share = self.is_allocated
            && read(annotation::RECEIVED_RESOURCE_TYPE) == Some(value::RECEIVED_FRACTION);
        if let Some(fraction) = read(annotation::GPU_FRACTION).and_then(fraction)
            && let Some(share) = times(fraction, devices)
        {
            self.requested.add_one(resource::NVIDIA_GPU, share);
            if has_share {
                self.allocated.add_one(resource::NVIDIA_GPU, share);
            }
            return;
        }
        let memory = read(annotation::GPU_MEMORY).and_then(|text| text.parse::<i64>().ok());
        if let Some(mib) = memory.filter(|mib| *mib > 0)
            && let Some(amount) = times(Quantity::from_value(mib), devices)
        {
            self.requested.add_one(resource::SHARED_GPU_MEMORY, amount);
            let node = pod["spec"]["nodeName"].as_str().unwrap_or_default().to_owned();
            self.memory_share =
                (has_share && !node.is_empty()).then_some(MemoryShare { mib, devices, node });
        }
    }
}

fn rows<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn fraction(text: &str) -> Option<Quantity> {
    Quantity::parse(text).ok().filter(|amount| !amount.is_negative() && !amount.is_zero())
}

fn is_scheduled(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.is_some_and(|rows| {
        rows.iter().any(|row| row["type"] == "PodScheduled" && row["status"] == "True")
    })
}

/// Sums what the pod takes of a node: its containers and sidecars together, or an init container with the sidecars
/// before it where that is more; and the overhead. Requests of the pod itself win.
pub(crate) fn effective_request(spec: &Value) -> Totals {
    request(spec, &Given::default())
}

fn request(spec: &Value, given: &Given<'_>) -> Totals {
    let rows = |key: &str| spec[key].as_array().map_or(&[][..], Vec::as_slice);
    let is_overlong = is_overlong(rows("initContainers").iter().chain(rows("containers")));
    let requests = |container: &Value| {
        let own = given.requests(container);
        if is_overlong { own.of_devices() } else { own }
    };
    let (mut sidecars, mut peak) = (Totals::default(), Totals::default());
    // The most of those that run beside the same sidecars: these are added once, however many there are. What none of those
    // names is left out until all sidecars are there, which have no less of it: sidecars and others may come by turns.
    let mut alone = Totals::default();
    for container in rows("initContainers") {
        let own = requests(container);
        if container["restartPolicy"] == "Always" {
            let mut together = std::mem::take(&mut alone);
            if !together.is_empty() {
                together.add_to_own(&sidecars);
                peak.raise(&together);
            }
            sidecars.add(&own);
        } else {
            alone.raise(&own);
        }
    }
    alone.add(&sidecars);
    peak.raise(&alone);
    let mut total = sidecars;
    for container in rows("containers") {
        total.add(&requests(container));
    }
    total.raise(&peak);
    for (name, amount) in given.whole(spec).iter() {
        total.set(name, amount);
    }
    total.add(&Totals::from_value(&spec["overhead"]));
    total.without_zeros()
}

/// Tells whether the containers of a pod name more resources than are counted, as the scheduler has it: of such a pod what
/// queues are there for counts, and instances of GPUs.
fn is_overlong<'v>(containers: impl Iterator<Item = &'v Value>) -> bool {
    let requests = containers.filter_map(|one| one["resources"]["requests"].as_object());
    let mut names = requests.flat_map(Map::keys).filter(|name| !Totals::is_main(name));
    names.nth(POD_NAMES_MAX).is_some()
}

/// Resources of which a pod may get more or less while it runs.
const RESIZED: [&str; 2] = [resource::CPU, resource::MEMORY];

/// Holds what the kubelet of a pod has given it and its containers, which differs from what they ask for while they are resized.
#[derive(Default)]
struct Given<'a> {
    /// By the name of the container, where they say what it was given.
    statuses: HashMap<&'a str, &'a Value>,
    /// Of the pod as a whole, where it says that.
    whole: Option<&'a Value>,
    /// It will never give what they ask for.
    is_infeasible: bool,
}

impl<'a> Given<'a> {
    fn of(status: &'a Value) -> Self {
        let rows = |key: &str| status[key].as_array().into_iter().flatten();
        let is_infeasible =
            |row: &Value| row["type"] == "PodResizePending" && row["reason"] == "Infeasible";
        let all = rows("initContainerStatuses").chain(rows("containerStatuses"));
        let said = all.filter(|status| status["resources"].is_object());
        Self {
            statuses: said.filter_map(|one| Some((one["name"].as_str()?, one))).collect(),
            whole: Some(status).filter(|status| status["resources"].is_object()),
            is_infeasible: rows("conditions").any(is_infeasible),
        }
    }

    /// Works out what a container takes, as the scheduler counts it. Source: docs/behaviour.md 2.2.
    fn requests(&self, container: &Value) -> Totals {
        let mut own = Totals::from_value(&container["resources"]["requests"]);
        let name = container["name"].as_str();
        if let Some(status) = name.and_then(|name| self.statuses.get(name)) {
            self.resize(&mut own, &RESIZED, status);
        }
        own
    }

    /// Works out what the pod takes of what it asks for as a whole, as the scheduler counts it.
    fn whole(&self, spec: &Value) -> Totals {
        let mut own = Totals::from_value(&spec["resources"]["requests"]);
        if let Some(status) = self.whole {
            let is_named = |name: &&str| own.get(name).is_some_and(|amount| !amount.is_zero());
            let named: Vec<&str> = RESIZED.into_iter().filter(is_named).collect();
            self.resize(&mut own, &named, status);
        }
        own.without_zeros()
    }

    /// Makes of what is asked for of some resources what is taken, where this status says what was given.
    fn resize(&self, own: &mut Totals, names: &[&str], status: &Value) {
        let mut all = Totals::from_value(&status["resources"]["requests"]);
        all.raise(&Totals::from_value(&status["allocatedResources"]));
        for name in names {
            let given = all.get(name).unwrap_or_default();
            if self.is_infeasible || given > own.get(name).unwrap_or_default() {
                own.set(name, given);
            }
        }
    }
}

/// Names of the claims of a pod, as many as a pod of this scheduler may have.
fn claims(pod: &Value) -> Vec<String> {
    let mut made: HashMap<&str, &str> = HashMap::new();
    for row in rows(&pod["status"], "resourceClaimStatuses") {
        if let (Some(name), Some(claim)) = (row["name"].as_str(), row["resourceClaimName"].as_str())
        {
            made.entry(name).or_insert(claim);
        }
    }
    let name = |entry: &Value| {
        let made = || made.get(entry["name"].as_str()?).copied();
        entry["resourceClaimName"].as_str().or_else(made).map(str::to_owned)
    };
    rows(&pod["spec"], "resourceClaims").iter().filter_map(name).take(CLAIMS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use kai_api::quantity::Quantity;
    use serde_json::{Value, json};

    use super::super::totals::tests::STEPS;
    use super::{MemoryShare, Usage};

    fn check(pod: &Value, requested: Value, allocated: Value) {
        let usage = Usage::of(pod);
        assert_eq!(
            (usage.requested.to_value(), usage.allocated.to_value()),
            (requested, allocated)
        );
    }

    fn container(cpu: &str) -> Value {
        json!({"resources": {"requests": {"cpu": cpu}}})
    }

    fn sidecar(requests: &Value) -> Value {
        json!({"restartPolicy": "Always", "resources": {"requests": requests}})
    }

    /// A container has what is taken from it until its kubelet has done so, and sidecars are containers.
    #[test]
    fn what_shrinks_counts_until_its_kubelet_has_taken_it_back() {
        let named = |name: &str| {
            let mut own = container("1");
            own["name"] = json!(name);
            own
        };
        let mut sidecar = named("s");
        sidecar["restartPolicy"] = json!("Always");
        let pod = json!({"spec": {"containers": [named("c")], "initContainers": [sidecar]},
            "status": {"phase": "Running",
                "containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "2"},
                    "resources": {"requests": {"cpu": "1"}}}],
                "initContainerStatuses": [{"name": "s", "resources": {"requests": {"cpu": "3"}}}]}});
        check(&pod, json!({"cpu": "5"}), json!({"cpu": "5"}));
    }

    /// A pod may be put on a node past the scheduler with as many claims as an object has room for, each of which is asked for.
    #[test]
    fn of_very_many_claims_the_first_are_looked_up() {
        let entry =
            |at: usize| json!({"name": format!("c-{at}"), "resourceClaimTemplateName": "t"});
        let status = |at: usize| json!({"name": format!("c-{at}"), "resourceClaimName": format!("p-c-{at}")});
        let entries: Vec<Value> = (0..20_000).map(entry).collect();
        let statuses: Vec<Value> = (0..20_000).rev().map(status).collect();
        let pod = json!({"spec": {"resourceClaims": entries},
            "status": {"phase": "Running", "resourceClaimStatuses": statuses}});
        let claims = Usage::of(&pod).claims;
        assert_eq!((claims.len(), claims[1].as_str()), (256, "p-c-1"));
    }

    /// Sidecars are added once for all that run beside the same ones, and of a pod that names very many resources those
    /// alone count that queues are there for.
    #[test]
    fn a_pod_that_names_very_many_resources_costs_no_more_than_it_names() {
        let named = |container: usize, count: usize| -> Value {
            let name = |at: usize| (format!("a.b/{container}-{at}"), json!("1"));
            let mut requests: serde_json::Map<String, Value> = (0..count).map(name).collect();
            requests.insert("nvidia.com/gpu".to_owned(), json!("1"));
            json!({"restartPolicy": "Always", "resources": {"requests": requests}})
        };
        let pod = |sidecars: usize, count: usize| {
            let mut all: Vec<Value> = (0..sidecars).map(|at| named(at, count)).collect();
            all.extend(vec![container("1"); 2_000]);
            json!({"spec": {"initContainers": all}})
        };
        let few = Usage::of(&pod(2, 256)).requested;
        assert_eq!(few.iter().count(), 514);
        let many = Usage::of(&pod(20, 256)).requested;
        assert_eq!(many.to_value(), json!({"cpu": "1", "nvidia.com/gpu": "20"}));
    }

    /// Whoever has sidecars and others come by turns would have all sidecars added once for each of the others.
    #[test]
    fn sidecars_that_come_by_turns_with_others_cost_what_they_name() {
        const SIDECARS: usize = 16;
        const NAMES: usize = 250;
        const TURNS: usize = 1_000;
        let named = |container: usize| {
            let name = |at: usize| (format!("nvidia.com/mig-{container}-{at}"), json!("1"));
            sidecar(&Value::Object((0..NAMES).map(name).collect()))
        };
        let mut all: Vec<Value> = (0..SIDECARS).map(named).collect();
        for _ in 0..TURNS {
            all.extend([container("1"), sidecar(&json!({}))]);
        }
        let pod = json!({"spec": {"initContainers": all, "containers": [container("500m")]}});
        STEPS.set(0);
        let requested = Usage::of(&pod).requested;
        let steps = STEPS.get();
        assert_eq!(requested.iter().count(), SIDECARS * NAMES + 1);
        for name in ["cpu", "nvidia.com/mig-0-0", "nvidia.com/mig-15-249"] {
            assert_eq!(requested.get(name), Some(Quantity::from_value(1)), "{name}");
        }
        let written = SIDECARS * NAMES + TURNS;
        assert!(steps <= 5 * written, "{steps} for {written} names");
    }

    /// Sidecars count for whoever runs beside them, with what they have of a resource at that time.
    #[test]
    fn an_init_container_between_sidecars_has_those_before_it_beside_it() {
        let plain = |requests: Value| json!({"resources": {"requests": requests}});
        let pod = json!({"spec": {"initContainers": [
            sidecar(&json!({"cpu": "1", "memory": "1k"})),
            plain(json!({"cpu": "4", "nvidia.com/gpu": "1"})),
            sidecar(&json!({"cpu": "1"})),
            plain(json!({"memory": "2k"})),
            sidecar(&json!({"nvidia.com/gpu": "2"})),
        ], "containers": [container("2")]}});
        check(&pod, json!({"cpu": "5", "memory": "3k", "nvidia.com/gpu": "2"}), json!({}));
    }

    /// Records are kept of what has devices.
    #[test]
    fn gpus_and_instances_of_them_are_devices() {
        let table = [
            ("nvidia.com/gpu", "1", true),
            ("amd.com/gpu", "1", true),
            ("nvidia.com/mig-1g.5gb", "1", true),
            ("nvidia.com/gpu", "0", false),
            ("cpu", "1", false),
        ];
        for (name, amount, expect) in table {
            let container = json!({"resources": {"requests": {name: amount}}});
            let usage = Usage::while_bound(&json!({"spec": {"containers": [container]}}));
            assert_eq!(usage.has_devices(), expect, "{name}: {amount}");
        }
    }

    #[test]
    fn an_init_container_counts_with_the_sidecars_before_it() {
        let mut sidecar = container("200m");
        sidecar["restartPolicy"] = json!("Always");
        let pod = json!({"status": {"phase": "Running"}, "spec": {
            "initContainers": [sidecar, container("1")], "containers": [container("500m")],
            "overhead": {"cpu": "10m"}}});
        check(&pod, json!({"cpu": "1210m"}), json!({"cpu": "1210m"}));
    }

    #[test]
    fn a_sidecar_that_starts_later_is_not_beside_an_init_container() {
        let mut sidecar = container("200m");
        sidecar["restartPolicy"] = json!("Always");
        let pod = json!({"status": {"phase": "Running"}, "spec": {
            "initContainers": [container("1"), sidecar], "containers": [container("500m")]}});
        check(&pod, json!({"cpu": "1"}), json!({"cpu": "1"}));
    }

    #[test]
    fn what_the_pod_itself_asks_for_stands_for_its_containers() {
        let pod = json!({"status": {"phase": "Running"}, "spec": {
            "resources": {"requests": {"cpu": "3", "memory": "1k"}},
            "containers": [container("1"), container("1")], "overhead": {"cpu": "10m"}}});
        let whole = json!({"cpu": "3010m", "memory": "1k"});
        check(&pod, whole.clone(), whole);
    }

    #[test]
    fn memory_of_gpus_is_asked_for_and_becomes_a_part_on_its_node() {
        let annotations = json!({"gpu-memory": "1000", "gpu-fraction-num-devices": "2"});
        let mut pod = json!({"metadata": {"annotations": annotations},
            "status": {"phase": "Pending"}, "spec": {"containers": [], "nodeName": "n"}});
        let asked = json!({"run.ai/gpu.memory": "2k"});
        check(&pod, asked.clone(), json!({}));
        assert_eq!(Usage::of(&pod).memory_share, None);
        pod["status"]["phase"] = json!("Running");
        assert_eq!(Usage::of(&pod).memory_share, None, "it received nothing yet");
        pod["metadata"]["annotations"]["received-resource-type"] = json!("Fraction");
        let share = MemoryShare { mib: 1000, devices: 2, node: "n".to_owned() };
        assert_eq!(Usage::of(&pod).memory_share, Some(share));
        check(&pod, asked, json!({}));
    }

    /// A pod that came past admission would take off its queue's account what others hold.
    #[test]
    fn nobody_has_less_than_nothing() {
        for (key, share, devices, expect) in [
            ("gpu-fraction", "-0.5", "1", json!({})),
            ("gpu-memory", "-1000", "1", json!({})),
            ("gpu-fraction", "0.5", "-3", json!({"nvidia.com/gpu": "500m"})),
            ("gpu-memory", "1000", "-3", json!({"run.ai/gpu.memory": "1k"})),
        ] {
            let mut annotations = json!({"gpu-fraction-num-devices": devices});
            annotations[key] = json!(share);
            let pod = json!({"metadata": {"annotations": annotations},
                "status": {"phase": "Running"}, "spec": {"containers": []}});
            let requested = Usage::of(&pod).requested.to_value();
            assert_eq!(requested, expect, "{key}: {share} of {devices}");
        }
    }

    #[test]
    fn what_is_resized_counts_as_its_kubelet_gives_it() {
        let pod = |asked: &str, given: &str, reason: &str| {
            let mut own = container(asked);
            own["name"] = json!("c");
            json!({"spec": {"containers": [own]}, "status": {"phase": "Running",
                "conditions": [{"type": "PodResizePending", "status": "True", "reason": reason}],
                "containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": given}}}]}})
        };
        for (asked, given, reason, counts) in
            [("4", "1", "Deferred", "4"), ("1", "4", "", "4"), ("400", "1", "Infeasible", "1")]
        {
            check(&pod(asked, given, reason), json!({"cpu": counts}), json!({"cpu": counts}));
        }
    }

    /// A kubelet says what the containers have together of what the pod does not ask for as a whole.
    #[test]
    fn what_a_pod_asks_for_as_a_whole_counts_as_its_kubelet_gives_it() {
        for (asked, given, counts) in [
            (json!({"cpu": "2"}), json!({"cpu": "4", "memory": "5"}), "4"),
            (json!({"cpu": "4"}), json!({"cpu": "2"}), "4"),
            (json!({"memory": "5"}), json!({"cpu": "4", "memory": "5"}), "1"),
            (json!({}), json!({"cpu": "4"}), "1"),
        ] {
            let pod = json!({
                "spec": {"containers": [container("1")], "resources": {"requests": asked}},
                "status": {"phase": "Running", "resources": {"requests": given}},
            });
            let requested = Usage::of(&pod).requested;
            assert_eq!(requested.to_value()["cpu"], counts, "{asked} {given}");
        }
    }

    #[test]
    fn a_finished_pod_uses_nothing_and_a_waiting_one_has_nothing() {
        let spec = json!({"containers": [container("1")]});
        check(&json!({"status": {"phase": "Succeeded"}, "spec": spec}), json!({}), json!({}));
        check(
            &json!({"status": {"phase": "Pending"}, "spec": spec}),
            json!({"cpu": "1"}),
            json!({}),
        );
        let bound =
            json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]});
        check(&json!({"status": bound, "spec": spec}), json!({"cpu": "1"}), json!({"cpu": "1"}));
    }

    #[test]
    fn a_fraction_counts_on_each_device_and_only_once_received() {
        let annotations = json!({"gpu-fraction": "0.25", "gpu-fraction-num-devices": "3"});
        let mut pod = json!({"metadata": {"annotations": annotations},
            "status": {"phase": "Running"}, "spec": {"containers": []}});
        check(&pod, json!({"nvidia.com/gpu": "750m"}), json!({}));
        pod["metadata"]["annotations"]["received-resource-type"] = json!("Fraction");
        check(&pod, json!({"nvidia.com/gpu": "750m"}), json!({"nvidia.com/gpu": "750m"}));
    }
}
