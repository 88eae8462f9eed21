//! Shared GPUs while something dies between any two writes: afterwards every pod sees the device that its labels name, no
//! device is given twice, and nothing is left once all are gone.
//!
//! The writes are found by a run in which nothing dies. Then something dies at each of them: before it, after it, or with
//! its answer lost; the scheduler, the API server, the reservation pods, or a node.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Result, bail, ensure};
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kai_sandbox::nodes::{self, Logs, Nodes, VISIBLE_DEVICES, fault::FAULTS};
use kai_tests::{
    break_point::{BreakPoint, MOMENTS, Moment, Then},
    live::{Admission, Place, start_admission},
};
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

/// Where reservation pods are.
const RESERVATIONS: &str = "kai-resource-reservation";
/// How long all may take to agree again.
const CONVERGE_MAX: Duration = Duration::from_mins(1);
/// Runs at once; they mostly wait.
const AT_ONCE: usize = 8;
/// How long the API server is away.
const AWAY: Duration = Duration::from_millis(700);

/// Who dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Victim {
    Scheduler,
    ApiServer,
    Reservations,
    Node,
}

const VICTIMS: [Victim; 4] =
    [Victim::Scheduler, Victim::ApiServer, Victim::Reservations, Victim::Node];

/// A scheduler with a runtime of its own, which can be taken away from under it.
struct Killable {
    runtime: Option<Runtime>,
}

impl Killable {
    fn start(client: Client) -> Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let words = [
            "kai-scheduler",
            "--listen-address=127.0.0.1:0",
            "--plugin-server-port=0",
            "--resource-reservation-pod-image=kai-scheduler",
            "--resource-reservation-allocation-timeout=3s",
        ];
        let args = kai_scheduler::Args::from_command_line(words.map(Into::into))?;
        runtime.spawn(kai_scheduler::run(args, client, CancellationToken::new()));
        Ok(Self { runtime: Some(runtime) })
    }

    fn kill(mut self) {
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

/// A cluster of two nodes with two GPUs each.
struct World {
    place: Place,
    admin: Client,
    nodes: nodes::Running,
    logs: Logs,
    admission: Admission,
}

impl World {
    async fn start() -> Result<Self> {
        let place = Place::embedded().await?;
        let admin = place.admin().await?;
        let admission = start_admission(&place).await?;
        let options = nodes::Options {
            specs: nodes::group::expand(&nodes::group::parse("2xH100:2")?, 2),
            run_seconds: 100_000,
            ..nodes::Options::default()
        };
        let nodes = Nodes::new(options);
        let logs = nodes.logs();
        let nodes = nodes.start(admin.clone()).await?;
        let world = Self { place, admin, nodes, logs, admission };
        world.create_queue().await?;
        Ok(world)
    }

    async fn stop(self) -> Result<()> {
        let stopped = self.admission.stop(&self.place).await;
        self.nodes.remove().await;
        self.place.stop().await;
        stopped
    }

    async fn create_queue(&self) -> Result<()> {
        let any = json!({"quota": -1, "limit": -1, "overQuotaWeight": 1});
        let queue = json!({
            "apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "q"},
            "spec": {"resources": {"gpu": any, "cpu": any, "memory": any}},
        });
        let queues: Api<kai_api::queue::Queue> = Api::all(self.admin.clone());
        queues.create(&PostParams::default(), &serde_json::from_value(queue)?).await?;
        for group in ["pair", "one"] {
            let body = json!({
                "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
                "metadata": {"name": group, "namespace": "default"},
                "spec": {"queue": "q", "minMember": if group == "pair" { 2 } else { 1 }},
            });
            let groups: Api<kai_api::pod_group::PodGroup> =
                Api::default_namespaced(self.admin.clone());
            groups.create(&PostParams::default(), &serde_json::from_value(body)?).await?;
        }
        Ok(())
    }

    fn pods(&self) -> Api<Pod> {
        Api::default_namespaced(self.admin.clone())
    }

    fn reservations(&self) -> Api<Pod> {
        Api::namespaced(self.admin.clone(), RESERVATIONS)
    }

    /// Makes the pods that are not there, as their controller would.
    /// A refusal is told: it is tried again, as by a controller.
    async fn create_missing(&self) -> Result<Option<String>> {
        let mut refusal = None;
        let wanted = [
            ("pair-0", "pair", "0.5", 1),
            ("pair-1", "pair", "0.6", 2),
            ("one-0", "one", "0.5", 1),
        ];
        for (name, group, fraction, devices) in wanted {
            if self.pods().get_opt(name).await?.is_some() {
                continue;
            }
            let pod = json!({
                "metadata": {"name": name, "annotations": {
                    "pod-group-name": group, "gpu-fraction": fraction,
                    "gpu-fraction-num-devices": devices.to_string(),
                }},
                "spec": {
                    "schedulerName": "kai-scheduler", "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": 0,
                    "containers": [{"name": "main", "image": "busybox"}],
                },
            });
            match self.pods().create(&PostParams::default(), &serde_json::from_value(pod)?).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => refusal = Some(format!("failed to create {name}: {error}")),
            }
        }
        Ok(refusal)
    }

    /// What is not as it should be while all pods are wanted; empty: they all run on the devices that they name.
    async fn differences(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut devices = BTreeMap::new();
        for pod in self.reservations().list(&ListParams::default()).await? {
            let group = pod.labels().get("runai-gpu-group").cloned().unwrap_or_default();
            let uuid = pod.annotations().get("run.ai/reserve_for_gpu_index").cloned();
            if devices.insert(group.clone(), uuid.unwrap_or_default()).is_some() {
                found.push(format!("two reservation pods of {group}"));
            }
        }
        let pods = self.pods().list(&ListParams::default()).await?.items;
        if pods.len() < 3 {
            found.push(format!("{} of 3 pods", pods.len()));
        }
        let mut used = BTreeMap::<String, i64>::new();
        for pod in &pods {
            let name = pod.name_any();
            let phase = pod.status.as_ref().and_then(|status| status.phase.clone());
            if phase.as_deref() != Some("Running") {
                let conditions = pod.status.as_ref().and_then(|status| status.conditions.clone());
                let words: Vec<String> = conditions
                    .into_iter()
                    .flatten()
                    .filter_map(|condition| condition.message)
                    .collect();
                found.push(format!("{name} is {phase:?}: {}", words.join("; ")));
                continue;
            }
            let groups = groups(pod);
            let uuids: Vec<&str> =
                groups.iter().filter_map(|group| devices.get(group)).map(String::as_str).collect();
            for uuid in &uuids {
                *used.entry((*uuid).to_owned()).or_default() += thousandths(pod);
            }
            let seen = self.logs.environment("default", &name, "main").unwrap_or_default();
            let seen = seen.iter().rev().find(|(key, _)| key == VISIBLE_DEVICES);
            let mut seen: Vec<&str> =
                seen.map(|(_, value)| value.split(',').collect()).unwrap_or_default();
            let mut named = uuids.clone();
            seen.sort_unstable();
            named.sort_unstable();
            if groups.is_empty() || seen != named || named.len() != groups.len() {
                found.push(format!(
                    "{name} names {groups:?}, which are {named:?}, and sees {seen:?}"
                ));
            }
        }
        found.extend(
            used.iter()
                .filter(|(_, held)| **held > 1000)
                .map(|(uuid, held)| format!("{uuid} holds {held}/1000")),
        );
        let unused =
            devices.keys().filter(|group| !pods.iter().any(|pod| groups(pod).contains(group)));
        found.extend(unused.map(|group| format!("the reservation of {group} has no user")));
        Ok(found)
    }

    /// What is left although no pod is wanted.
    async fn leftovers(&self) -> Result<Vec<String>> {
        let all = ListParams::default();
        let pods = self.pods().list(&all).await?.items;
        let reservations = self.reservations().list(&all).await?.items;
        let maps: Api<ConfigMap> = Api::default_namespaced(self.admin.clone());
        let maps = maps.list(&all).await?.items;
        let maps =
            maps.into_iter().map(|map| map.name_any()).filter(|name| name.contains("shared-gpu"));
        let pods = pods.iter().chain(&reservations).map(ResourceExt::name_any);
        Ok(pods.chain(maps).collect())
    }

    async fn wait_for(&self, what: &str, goal: Goal) -> Result<()> {
        let end = Instant::now() + CONVERGE_MAX;
        loop {
            let found = match goal {
                Goal::AllRun => {
                    let refusal = self.create_missing().await?;
                    let mut found = self.differences().await?;
                    found.extend(refusal);
                    found
                }
                Goal::NothingLeft => self.leftovers().await?,
            };
            if found.is_empty() {
                return Ok(());
            }
            ensure!(
                Instant::now() < end,
                "{what}: not within {CONVERGE_MAX:?}:\n  {}",
                found.join("\n  ")
            );
            sleep(Duration::from_millis(30)).await;
        }
    }

    async fn delete_all(&self) -> Result<()> {
        for pod in self.pods().list(&ListParams::default()).await? {
            self.pods().delete(&pod.name_any(), &DeleteParams::default().grace_period(0)).await?;
        }
        Ok(())
    }

    /// What dies besides the scheduler.
    async fn strike(&self, victim: Victim) -> Result<()> {
        let now = DeleteParams::default().grace_period(0);
        match victim {
            Victim::Scheduler | Victim::ApiServer => {}
            Victim::Reservations => {
                for pod in self.reservations().list(&ListParams::default()).await? {
                    let _ = self.reservations().delete(&pod.name_any(), &now).await;
                }
            }
            Victim::Node => {
                self.mark_node(json!("dead")).await?;
                // As the garbage collection of pods does for a node that is out of service.
                let everywhere: Api<Pod> = Api::all(self.admin.clone());
                for pod in everywhere.list(&ListParams::default()).await? {
                    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
                    if node.as_deref() == Some("node-1") {
                        let namespace = pod.namespace().unwrap_or_default();
                        let pods: Api<Pod> = Api::namespaced(self.admin.clone(), &namespace);
                        let _ = pods.delete(&pod.name_any(), &now).await;
                    }
                }
            }
        }
        Ok(())
    }

    async fn mark_node(&self, fault: Value) -> Result<()> {
        let nodes: Api<Node> = Api::all(self.admin.clone());
        let patch = json!({"metadata": {"annotations": {FAULTS: fault}}});
        nodes.patch("node-1", &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Goal {
    AllRun,
    NothingLeft,
}

/// The groups of devices that a pod's labels name.
fn groups(pod: &Pod) -> Vec<String> {
    let labels = pod.labels().iter();
    let named = labels.filter(|(key, _)| key.starts_with("runai-gpu-group"));
    named.map(|(_, group)| group.clone()).collect()
}

/// The share of each device, in thousandths.
fn thousandths(pod: &Pod) -> i64 {
    match pod.annotations().get("gpu-fraction").map(String::as_str) {
        Some("0.5") => 500,
        Some("0.6") => 600,
        _ => 0,
    }
}

/// Runs pods and takes them away again, with one break on the way; the writes of the scheduler that broke.
async fn run(point: &BreakPoint, victim: Victim) -> Result<Vec<String>> {
    let world = World::start().await?;
    let result = play(&world, point, victim).await;
    world.stop().await?;
    result.map(|()| point.writes())
}

async fn play(world: &World, point: &BreakPoint, victim: Victim) -> Result<()> {
    let account = world.place.account(kai_api::names::component::SCHEDULER).await?;
    let mut scheduler = Some(Killable::start(point.client(account.clone()))?);
    let story = async {
        world.wait_for("all run", Goal::AllRun).await?;
        world.delete_all().await?;
        world.wait_for("nothing is left", Goal::NothingLeft).await
    };
    tokio::pin!(story);
    tokio::select! {
        told = &mut story => return told,
        () = point.broke() => {}
    }
    if victim == Victim::Scheduler {
        if let Some(dead) = scheduler.take() {
            dead.kill();
        }
        scheduler = Some(Killable::start(account)?);
    }
    world.strike(victim).await?;
    story.await?;
    world.mark_node(Value::Null).await?;
    // What recovers may not bring anything back.
    sleep(Duration::from_millis(200)).await;
    let left = world.leftovers().await?;
    drop(scheduler);
    if !left.is_empty() {
        bail!("left behind: {}", left.join(", "));
    }
    Ok(())
}

/// Only deaths of these are run, where the variable is set: one of the names, in any case.
fn is_chosen(victim: Victim) -> bool {
    let chosen = std::env::var("KAI_VICTIM").unwrap_or_default();
    chosen.is_empty() || format!("{victim:?}").eq_ignore_ascii_case(&chosen)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_dies_between_two_writes_all_agrees_afterwards() -> Result<()> {
    let writes = run(&BreakPoint::nowhere(), Victim::ApiServer).await?;
    for needle in ["kai-resource-reservation/pods", "/configmaps", "/binding", "DELETE"] {
        assert!(writes.iter().any(|write| write.contains(needle)), "no {needle} in {writes:?}");
    }
    let count = writes.len();
    let cases = (0..count).flat_map(|number| {
        let of = move |victim| MOMENTS.into_iter().map(move |moment| (number, moment, victim));
        VICTIMS.into_iter().filter(|victim| is_chosen(*victim)).flat_map(of)
    });
    let victims = VICTIMS.into_iter().filter(|victim| is_chosen(*victim)).count();
    let total = count * MOMENTS.len() * victims;
    println!("{total} deaths at {count} writes");
    let runs = stream::iter(cases).map(|(number, moment, victim)| async move {
        let then = match victim {
            Victim::Scheduler => Then::Dead,
            Victim::ApiServer => Then::Away(AWAY),
            Victim::Reservations | Victim::Node => Then::Alive,
        };
        let moment: Moment = moment;
        let point = BreakPoint::at(number, moment, then);
        let result = run(&point, victim).await;
        result.err().map(|error| {
            let write = point.writes().get(number).cloned().unwrap_or_default();
            let text = format!("{victim:?} dies {moment:?} write {number} ({write}): {error:#}");
            println!("{text}");
            text
        })
    });
    let failures: Vec<String> =
        runs.buffer_unordered(AT_ONCE).filter_map(async |failure| failure).collect().await;
    let shown = failures.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {total} runs did not agree:\n{shown}", failures.len());
    Ok(())
}
