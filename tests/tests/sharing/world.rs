//! A small cluster on the embedded API server, a scheduler in it that can be killed, and what is right and wrong there as
//! seen from outside: by the pods, the config maps and what containers see.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kai_api::names::{annotation, label, namespace};
use kai_sandbox::nodes::{self, Logs, Nodes, VISIBLE_DEVICES, fault::FAULTS};
use kai_tests::live::{Admission, Place, start_admission};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::{
    runtime::{Builder, Runtime},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::claims::CLAIM;

/// Requests that a test has under way at once.
const REQUESTS: usize = 16;
/// MiB of memory of each simulated GPU.
const DEVICE_MIB: i64 = 81_559;
/// All of a GPU, in the unit in which shares are summed up.
const WHOLE_PPM: i64 = 1_000_000;

/// A scheduler with a runtime of its own, which can be taken away from under it.
pub(crate) struct Killable {
    runtime: Option<Runtime>,
}

impl Killable {
    /// Starts one that writes with a client.
    pub(crate) fn start(client: Client) -> Result<Self> {
        Self::start_with(client, &["--resource-reservation-pod-image=kai-scheduler"])
    }

    /// The same with further flags.
    pub(crate) fn start_with(client: Client, flags: &[&str]) -> Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let words = [
            "kai-scheduler",
            "--listen-address=127.0.0.1:0",
            "--plugin-server-port=0",
            "--resource-reservation-allocation-timeout=3s",
        ];
        let words = words.iter().chain(flags).map(Into::into);
        let args = kai_scheduler::Args::from_command_line(words)?;
        runtime.spawn(kai_scheduler::run(args, client, CancellationToken::new()));
        Ok(Self { runtime: Some(runtime) })
    }

    /// Ends it between two instructions, whatever it is doing.
    pub(crate) fn kill(mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Killable {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A pod that is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Its name.
    pub(crate) name: String,
    /// Its `PodGroup`.
    pub(crate) group: String,
    /// Share that it asks for.
    pub(crate) share: Share,
    /// Of how many devices.
    pub(crate) devices: usize,
    /// It also asks for the devices of [`CLAIM`](crate::claims::CLAIM).
    pub(crate) has_claim: bool,
}

/// Request of a pod for each of its devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Share {
    /// A part, in hundredths.
    Hundredths(i64),
    /// An amount of memory.
    Mib(i64),
}

impl Share {
    /// The part of a device, in millionths; rounded down, so that no rounding looks like too much.
    fn ppm(self) -> i64 {
        match self {
            Self::Hundredths(part) => part * (WHOLE_PPM / 100),
            Self::Mib(mib) => mib * WHOLE_PPM / DEVICE_MIB,
        }
    }

    fn annotation(self) -> (&'static str, String) {
        match self {
            Self::Hundredths(part) => (annotation::GPU_FRACTION, format!("0.{part:02}")),
            Self::Mib(mib) => (annotation::GPU_MEMORY, mib.to_string()),
        }
    }
}

impl Wanted {
    /// The pod as its controller makes it.
    pub(crate) fn body(&self) -> Value {
        let (key, value) = self.share.annotation();
        let mut pod = json!({
            "metadata": {"name": self.name, "annotations": {
                "pod-group-name": self.group, key: value,
                "gpu-fraction-num-devices": self.devices.to_string(),
            }},
            "spec": {
                "schedulerName": "kai-scheduler", "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "main", "image": "busybox"}],
            },
        });
        if self.has_claim {
            pod["spec"]["resourceClaims"] = json!([{"name": "link", "resourceClaimName": CLAIM}]);
        }
        pod
    }
}

/// The nodes of a world, and the pods that are wanted in it.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    /// As `sandbox --nodes` takes them.
    pub(crate) nodes: &'a str,
    /// Time that reservation pods take to say their device.
    pub(crate) reservation_millis: std::ops::RangeInclusive<u64>,
    /// The pods; those of a group are a gang.
    pub(crate) wanted: Vec<Wanted>,
    /// Time that all may take to agree.
    pub(crate) converge_max: Duration,
}

/// A cluster with simulated nodes.
pub(crate) struct World {
    /// Place where it runs.
    pub(crate) place: Place,
    admin: Client,
    nodes: nodes::Running,
    logs: Logs,
    admission: Admission,
    pub(crate) wanted: BTreeMap<String, Wanted>,
    converge_max: Duration,
}

/// Goal that a test waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// All pods that are wanted run on the devices that they name.
    AllRun,
    /// Nothing of the pods is left.
    NothingLeft,
}

impl World {
    /// Starts nodes and admission, and creates queue and groups.
    pub(crate) async fn start(setup: Setup<'_>) -> Result<Self> {
        let place = Place::embedded().await?;
        let admin = place.admin().await?;
        let admission = start_admission(&place).await?;
        let groups = nodes::group::parse(setup.nodes)?;
        let options = nodes::Options {
            specs: nodes::group::expand(&groups, 8),
            run_seconds: 1_000_000,
            reservation_millis: setup.reservation_millis,
            ..nodes::Options::default()
        };
        let nodes = Nodes::new(options);
        let logs = nodes.logs();
        let nodes = nodes.start(admin.clone()).await?;
        let wanted = setup.wanted.into_iter().map(|pod| (pod.name.clone(), pod)).collect();
        let converge_max = setup.converge_max;
        let world = Self { place, admin, nodes, logs, admission, wanted, converge_max };
        world.create_groups().await?;
        if world.wanted.values().any(|pod| pod.has_claim) {
            world.create_claim().await?;
        }
        Ok(world)
    }

    /// Takes all down.
    pub(crate) async fn stop(self) -> Result<()> {
        let stopped = self.admission.stop(&self.place).await;
        self.nodes.remove().await;
        self.place.stop().await;
        stopped
    }

    async fn create_groups(&self) -> Result<()> {
        let any = json!({"quota": -1, "limit": -1, "overQuotaWeight": 1});
        let queue = json!({
            "apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "q"},
            "spec": {"resources": {"gpu": any, "cpu": any, "memory": any}},
        });
        let queues: Api<kai_api::queue::Queue> = Api::all(self.admin.clone());
        queues.create(&PostParams::default(), &serde_json::from_value(queue)?).await?;
        for (group, size) in self.gangs() {
            let body = json!({
                "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
                "metadata": {"name": group, "namespace": "default"},
                "spec": {"queue": "q", "minMember": size},
            });
            let groups: Api<kai_api::pod_group::PodGroup> =
                Api::default_namespaced(self.admin.clone());
            groups.create(&PostParams::default(), &serde_json::from_value(body)?).await?;
        }
        Ok(())
    }

    /// The size of each group.
    pub(crate) fn gangs(&self) -> BTreeMap<&str, usize> {
        let mut gangs = BTreeMap::new();
        for pod in self.wanted.values() {
            *gangs.entry(pod.group.as_str()).or_default() += 1;
        }
        gangs
    }

    /// A client that may do anything.
    pub(crate) fn admin(&self) -> Client {
        self.admin.clone()
    }

    /// The pods that are wanted.
    pub(crate) fn pods(&self) -> Api<Pod> {
        Api::default_namespaced(self.admin.clone())
    }

    fn reservations(&self) -> Api<Pod> {
        Api::namespaced(self.admin.clone(), namespace::RESERVATION)
    }

    /// Makes the pods that are not there, as their controller would.
    /// A refusal is told: it is tried again, as by a controller.
    pub(crate) async fn create_missing(&self, there: &[Pod]) -> Option<String> {
        let there: std::collections::BTreeSet<String> =
            there.iter().map(ResourceExt::name_any).collect();
        let missing = self.wanted.values().filter(|pod| !there.contains(&pod.name));
        let made = stream::iter(missing).map(async |wanted| {
            let pod = serde_json::from_value(wanted.body()).ok()?;
            match self.pods().create(&PostParams::default(), &pod).await {
                Ok(_) => None,
                Err(kube::Error::Api(status)) if status.code == 409 => None,
                Err(error) => Some(format!("failed to create {}: {error}", wanted.name)),
            }
        });
        made.buffer_unordered(REQUESTS)
            .filter_map(async |refusal| refusal)
            .collect::<Vec<_>>()
            .await
            .pop()
    }

    /// Lists what is not as it should be while all pods are wanted; empty: they all run on the devices that they name.
    async fn differences(&self, pods: &[Pod]) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let (mut devices, mut states) = (BTreeMap::new(), BTreeMap::new());
        for pod in self.reservations().list(&ListParams::default()).await? {
            let group = pod.labels().get(label::GPU_GROUP).cloned().unwrap_or_default();
            let uuid = pod.annotations().get(annotation::RESERVED_GPU).cloned();
            states.insert(group.clone(), describe(&pod));
            if devices.insert(group.clone(), uuid.unwrap_or_default()).is_some() {
                found.push(format!("two reservation pods of {group}"));
            }
        }
        if pods.len() < self.wanted.len() {
            found.push(format!("{} of {} pods", pods.len(), self.wanted.len()));
        }
        let mut used = BTreeMap::<String, i64>::new();
        for pod in pods {
            if let Err(words) = self.judge(pod, &devices, &mut used) {
                found.push(words);
            }
        }
        let over = used.iter().filter(|(_, held)| **held > WHOLE_PPM);
        found.extend(over.map(|(uuid, held)| format!("{uuid} holds {held} of {WHOLE_PPM}")));
        found.extend(self.without_claim(pods).await?);
        let unused =
            devices.keys().filter(|group| !pods.iter().any(|pod| groups(pod).contains(group)));
        found.extend(
            unused
                .map(|group| format!("the reservation of {group} has no user: {}", states[group])),
        );
        Ok(found)
    }

    /// Adds what a pod holds, or says why it does not run on the devices that its labels name.
    fn judge(
        &self,
        pod: &Pod,
        devices: &BTreeMap<String, String>,
        used: &mut BTreeMap<String, i64>,
    ) -> Result<(), String> {
        let name = pod.name_any();
        let phase = pod.status.as_ref().and_then(|status| status.phase.clone());
        if phase.as_deref() != Some("Running") {
            let conditions = pod.status.as_ref().and_then(|status| status.conditions.clone());
            let words = conditions.into_iter().flatten().filter_map(|condition| condition.message);
            let words: Vec<String> = words.chain(waits_for(pod)).collect();
            return Err(format!("{name} is {phase:?}: {}", words.join("; ")));
        }
        let groups = groups(pod);
        let named: Vec<&str> =
            groups.iter().filter_map(|group| devices.get(group)).map(String::as_str).collect();
        let wanted = self.wanted.get(&name).ok_or_else(|| format!("{name} is not wanted"))?;
        for uuid in &named {
            *used.entry((*uuid).to_owned()).or_default() += wanted.share.ppm();
        }
        let seen = self.logs.environment("default", &name, "main").unwrap_or_default();
        let seen = seen.iter().rev().find(|(key, _)| key == VISIBLE_DEVICES);
        let mut seen: Vec<&str> =
            seen.map(|(_, value)| value.split(',').collect()).unwrap_or_default();
        let mut sorted = named.clone();
        seen.sort_unstable();
        sorted.sort_unstable();
        if groups.len() == wanted.devices && seen == sorted && sorted.len() == groups.len() {
            return Ok(());
        }
        Err(format!("{name} names {groups:?}, which are {sorted:?}, and sees {seen:?}"))
    }

    /// Lists what is left although no pod is wanted.
    pub(crate) async fn leftovers(&self) -> Result<Vec<String>> {
        let all = ListParams::default();
        let pods = self.pods().list(&all).await?.items;
        let reservations = self.reservations().list(&all).await?.items;
        let maps: Api<ConfigMap> = Api::default_namespaced(self.admin.clone());
        let maps = maps.list(&all).await?.items;
        let maps =
            maps.into_iter().map(|map| map.name_any()).filter(|name| name.contains("shared-gpu"));
        let pods = pods.iter().chain(&reservations).map(ResourceExt::name_any);
        Ok(pods.chain(maps).chain(self.held_claims().await?).collect())
    }

    /// Lists what is not yet as a test wants it, after what its controllers do about it.
    async fn missing(&self, goal: Goal) -> Result<Vec<String>> {
        self.release_claims().await?;
        match goal {
            Goal::AllRun => {
                let pods = self.pods().list(&ListParams::default()).await?.items;
                let refusal = self.create_missing(&pods).await;
                let mut found = self.differences(&pods).await?;
                found.extend(refusal);
                Ok(found)
            }
            Goal::NothingLeft => self.leftovers().await,
        }
    }

    /// Makes pods that are missing, until it cannot see which are.
    pub(crate) async fn keep_creating(&self) -> Result<()> {
        loop {
            let pods = self.pods().list(&ListParams::default()).await?.items;
            self.create_missing(&pods).await;
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// Waits for a goal, and makes pods that are missing on the way.
    pub(crate) async fn wait_for(&self, what: &str, goal: Goal) -> Result<()> {
        let end = Instant::now() + self.converge_max;
        loop {
            let found = self.missing(goal).await?;
            if found.is_empty() {
                return Ok(());
            }
            ensure!(
                Instant::now() < end,
                "{what}: not within {:?}, {} findings:\n  {}",
                self.converge_max,
                found.len(),
                found[..found.len().min(20)].join("\n  ")
            );
            // One look at many pods is work for the server, which the daemons wait for.
            let pause = 60 + u64::try_from(self.wanted.len()).unwrap_or_default();
            sleep(Duration::from_millis(pause)).await;
        }
    }

    /// Deletes the pods whose name a test chooses.
    pub(crate) async fn delete(&self, chosen: impl Fn(&str) -> bool) -> Result<()> {
        let pods = self.pods().list(&ListParams::default()).await?.items;
        let names = pods.iter().map(ResourceExt::name_any).filter(|name| chosen(name));
        let now = DeleteParams::default().grace_period(0);
        let deleted = stream::iter(names.collect::<Vec<_>>()).map(async |name| {
            match self.pods().delete(&name, &now).await {
                Ok(_) => Ok(()),
                Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
                Err(error) => Err(error),
            }
        });
        Ok(deleted.buffer_unordered(REQUESTS).try_collect().await?)
    }

    /// Deletes all reservation pods.
    pub(crate) async fn delete_reservations(&self) -> Result<()> {
        let now = DeleteParams::default().grace_period(0);
        for pod in self.reservations().list(&ListParams::default()).await? {
            let _ = self.reservations().delete(&pod.name_any(), &now).await;
        }
        Ok(())
    }

    /// Has a node die, and takes its pods away, as the garbage collection of pods does for a node that is out of service.
    pub(crate) async fn kill_node(&self, name: &str) -> Result<()> {
        self.mark_node(name, json!("dead")).await?;
        let now = DeleteParams::default().grace_period(0);
        let everywhere: Api<Pod> = Api::all(self.admin.clone());
        for pod in everywhere.list(&ListParams::default()).await? {
            let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
            if node.as_deref() == Some(name) {
                let namespace = pod.namespace().unwrap_or_default();
                let pods: Api<Pod> = Api::namespaced(self.admin.clone(), &namespace);
                let _ = pods.delete(&pod.name_any(), &now).await;
            }
        }
        Ok(())
    }

    /// Gives a simulated node a fault, or takes it away.
    pub(crate) async fn mark_node(&self, name: &str, fault: Value) -> Result<()> {
        let nodes: Api<Node> = Api::all(self.admin.clone());
        let patch = json!({"metadata": {"annotations": {FAULTS: fault}}});
        nodes.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }
}

/// Says where a reservation pod is, and how far.
fn describe(pod: &Pod) -> String {
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
    let status = pod.status.clone().unwrap_or_default();
    let words = [node.map(Into::into), status.phase, status.reason, status.message];
    words.into_iter().flatten().collect::<Vec<String>>().join(", ")
}

/// Reads what the kubelet says that a pod's containers wait for.
fn waits_for(pod: &Pod) -> Vec<String> {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.clone());
    let waiting = statuses.into_iter().flatten().filter_map(|one| one.state?.waiting);
    waiting.map(|one| format!("{:?} {:?}", one.reason, one.message)).collect()
}

/// The groups of devices that a pod's labels name.
fn groups(pod: &Pod) -> Vec<String> {
    let labels = pod.labels().iter();
    let named = labels.filter(|(key, _)| key.starts_with(label::GPU_GROUP));
    named.map(|(_, group)| group.clone()).collect()
}
