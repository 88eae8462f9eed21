//! Outcomes of the scheduler's writes, and what it says became of them: each file of `tests/outcomes` is a kind of
//! write, with what goes wrong and what somebody else does meanwhile. The clock is tokio's: pauses take no time.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use http::Method;
use kai_api::names::component;
use kai_daemon::lease::{Lease, Manner, Mode};
use kai_scheduler::{
    actuate::{Actuator, Bind, Evict, GroupChange, GroupPatch, Outcome, PodCondition, Task},
    serve::metrics::Metrics,
};
use kai_tests::{
    live::Place,
    request::ask,
    stage::{Fault, Tape},
};
use kube::Client;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

const PODS: &str = "/api/v1/namespaces/default/pods";
const GROUPS: &str = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kai-scheduler/leases/kai-scheduler";
/// Time that a write may take, with all of its repetitions.
const PATIENCE: Duration = Duration::from_mins(10);

/// A file.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    write: Write,
    cases: Vec<Case>,
}

/// The pod `p` is bound to the node `n1`, evicted or told something; or the `PodGroup` `g` is.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Write {
    Bind,
    /// With labels, which are written before.
    BindWithLabels,
    Evict,
    EvictWithinBudgets,
    Group,
    Condition,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Case {
    about: String,
    /// Moves of somebody else before.
    #[serde(default)]
    before: Vec<Move>,
    #[serde(default)]
    faults: Vec<Fault>,
    /// Moves of somebody else while a request without an answer waits; then all faults are taken away.
    #[serde(default)]
    meanwhile: Vec<Move>,
    expect: Expect,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Move {
    /// The pod is bound, to the node that is meant or to another.
    BindHere,
    BindElsewhere,
    Delete,
    /// Another pod of the name takes its place.
    Replace,
    /// The `PodGroup` has another version.
    Change,
    /// Another scheduler holds the Lease.
    TakeLease,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Expect {
    outcome: String,
    /// Part of the reason.
    #[serde(default)]
    reason: String,
    /// The node of the pod that has the name in the end; none: no pod has it. Empty: it has no node.
    #[serde(default)]
    node: Option<String>,
    /// The number of requests for the write itself, but for those before it.
    writes: usize,
}

async fn create_pod(client: &Client) -> Result<Value> {
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": "p" },
        "spec": {
            "schedulerName": "kai-scheduler",
            "terminationGracePeriodSeconds": 0,
            "containers": [{ "name": "c", "image": "i" }],
        },
    });
    ask(client, Method::POST, PODS, Some(&pod)).await
}

async fn bind_to(client: &Client, node: &str) -> Result<()> {
    let body = json!({ "apiVersion": "v1", "kind": "Binding", "metadata": { "name": "p" },
        "target": { "apiVersion": "v1", "kind": "Node", "name": node } });
    ask(client, Method::POST, &format!("{PODS}/p/binding"), Some(&body)).await.map(drop)
}

async fn delete(client: &Client) -> Result<()> {
    let body = json!({ "gracePeriodSeconds": 0 });
    ask(client, Method::DELETE, &format!("{PODS}/p"), Some(&body)).await.map(drop)
}

impl Move {
    async fn make(self, client: &Client) -> Result<()> {
        match self {
            Self::BindHere => bind_to(client, "n1").await,
            Self::BindElsewhere => bind_to(client, "n2").await,
            Self::Delete => delete(client).await,
            Self::Replace => {
                delete(client).await?;
                create_pod(client).await.map(drop)
            }
            Self::Change => {
                let body = json!({ "metadata": { "annotations": { "theirs": "1" } } });
                ask(client, Method::PATCH, &format!("{GROUPS}/g"), Some(&body)).await.map(drop)
            }
            Self::TakeLease => {
                let body = json!({ "spec": { "holderIdentity": "another" } });
                ask(client, Method::PATCH, LEASE, Some(&body)).await.map(drop)
            }
        }
    }
}

fn text(object: &Value, pointer: &str) -> Box<str> {
    Box::from(object.pointer(pointer).and_then(Value::as_str).unwrap_or_default())
}

impl Write {
    /// The task of the scheduler, from the objects as they are at first.
    fn task(self, pod: &Value, group: &Value) -> Task {
        let (namespace, name, uid) =
            (Box::from("default"), Box::from("p"), text(pod, "/metadata/uid"));
        match self {
            Self::Bind | Self::BindWithLabels => Task::Bind(Bind {
                uid,
                labels: (self == Self::BindWithLabels)
                    .then(|| (Box::from("a"), Some(Box::from("b"))))
                    .into_iter()
                    .collect(),
                ..Bind::without_grants(namespace, name, Box::from("n1"))
            }),
            Self::Evict | Self::EvictWithinBudgets => Task::Evict(Evict {
                pod: 0,
                uid,
                namespace,
                name,
                condition: None,
                asks_budgets: self == Self::EvictWithinBudgets,
                stamp: None,
            }),
            Self::Group => Task::Group(GroupPatch {
                group: 0,
                uid: text(group, "/metadata/uid"),
                namespace,
                name: Box::from("g"),
                version: text(group, "/metadata/resourceVersion"),
                change: GroupChange::Annotations(vec![("ours", Some(String::from("1")))]),
            }),
            Self::Condition => Task::Pod(PodCondition {
                pod: 0,
                uid,
                namespace,
                name,
                kind: "PodScheduled",
                is_true: false,
                reason: "Unschedulable",
                message: "no node has room".into(),
            }),
        }
    }

    /// The request that is the write itself.
    fn request(self) -> String {
        match self {
            Self::Bind | Self::BindWithLabels => format!("POST {PODS}/p/binding"),
            Self::Evict => format!("DELETE {PODS}/p"),
            Self::EvictWithinBudgets => format!("POST {PODS}/p/eviction"),
            Self::Group => format!("PATCH {GROUPS}/g"),
            Self::Condition => format!("PATCH {PODS}/p/status"),
        }
    }
}

/// An outcome in a word, and its reason.
fn said(outcome: &Outcome) -> (&'static str, &str) {
    match outcome {
        Outcome::Bound(..) => ("bound", ""),
        Outcome::BindFailed { reason, .. } => ("not bound", reason),
        Outcome::Evicted(..) => ("evicted", ""),
        Outcome::EvictFailed(_, _, reason) => ("not evicted", reason),
        Outcome::Group { settled: true, version: Some(_), .. } | Outcome::Pod(_, _, true) => {
            ("written", "")
        }
        Outcome::Group { settled: true, version: None, .. } => ("left to the watch", ""),
        Outcome::Group { settled: false, .. } | Outcome::Pod(_, _, false) => ("not written", ""),
        Outcome::Lost => ("the Lease is lost", ""),
        Outcome::Shared(_) => ("shared", ""),
    }
}

async fn check(write: Write, case: &Case) -> Result<()> {
    let place = Place::embedded().await?;
    let admin = place.admin().await?;
    let pod = create_pod(&admin).await?;
    let group = json!({ "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": { "name": "g" },
        "spec": { "minMember": 1, "queue": "q" } });
    let group = ask(&admin, Method::POST, GROUPS, Some(&group)).await?;
    let tape = Tape::default();
    let client = tape.record(place.account(component::SCHEDULER).await?);
    let lease = Lease::new(client.clone(), "kai-scheduler", "kai-scheduler", Mode::Handover);
    let stop = CancellationToken::new();
    let guard = lease.acquire(Manner::Newest, &stop).await.context("nobody stops it")?;
    for one in &case.before {
        one.make(&admin).await?;
    }
    // What was confirmed a while ago is confirmed again.
    sleep(Duration::from_secs(1)).await;
    for fault in &case.faults {
        tape.add(fault.clone());
    }
    let (outcomes_in, mut outcomes) = mpsc::unbounded_channel();
    let (tasks, tasks_out) = mpsc::unbounded_channel();
    let actuator = Actuator::new(client, guard, Metrics::new("kai"), outcomes_in);
    tasks.send(vec![write.task(&pod, &group)])?;
    let running = tokio::spawn(actuator.run(tasks_out, stop));
    if !case.meanwhile.is_empty() {
        sleep(Duration::from_secs(1)).await;
        for one in &case.meanwhile {
            one.make(&admin).await?;
        }
        tape.clear_faults();
    }
    let outcome = timeout(PATIENCE, outcomes.recv()).await.context("nothing is said of it")?;
    let outcome = outcome.context("the actuator ended")?;
    running.abort();
    let expect = &case.expect;
    let (word, reason) = said(&outcome);
    ensure!(word == expect.outcome && reason.contains(&expect.reason), "{outcome:?}");
    let writes = tape.calls().iter().filter(|call| call.to_string() == write.request()).count();
    ensure!(writes == expect.writes, "{writes} requests:\n{:#?}", tape.calls());
    let pods = ask(&admin, Method::GET, PODS, None).await?;
    let node = pods.pointer("/items/0").map(|pod| text(pod, "/spec/nodeName"));
    ensure!(node.as_deref() == expect.node.as_deref(), "the pod: {pods}");
    let conditions = &pods["items"][0]["status"]["conditions"];
    let is_told = conditions.to_string().contains("no node has room");
    ensure!(
        !is_told || (write == Write::Condition && word == "written"),
        "the pod is told {conditions}"
    );
    place.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_write_says_what_became_of_it() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("outcomes");
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file: File =
            serde_saphyr::from_str(&fs::read_to_string(&path)?).with_context(|| name.clone())?;
        for case in &file.cases {
            count += 1;
            if let Err(error) = check(file.write, case).await {
                failures.push(format!("{name}: {}: {error:#}", case.about));
            }
        }
    }
    ensure!(count > 30, "{count} cases in {}", folder.display());
    if !failures.is_empty() {
        bail!("{} of {count} cases:\n{}", failures.len(), failures.join("\n"));
    }
    Ok(())
}
