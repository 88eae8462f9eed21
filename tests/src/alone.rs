//! A scheduler alone with simulated nodes on an embedded API server, reached through whatever a test puts in its way. Under
//! tokio's paused clock minutes of waiting take no time.

use anyhow::Result;
use http::Method;
use jiff::Timestamp;
use kai_api::names::component;
use kai_daemon::clock::{self, Skew};
use kai_sandbox::nodes::{self, Nodes, Running};
use kube::Client;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    admission::{admitted_pod, settings},
    live::{Place, create_runtime_class},
    request::ask,
};

/// The path of pods.
pub const PODS: &str = "/api/v1/namespaces/default/pods";
/// The path of `PodGroup`s.
pub const GROUPS: &str = "/apis/scheduling.run.ai/v2alpha2/namespaces/default/podgroups";
const QUEUES: &str = "/apis/scheduling.run.ai/v2/queues";

/// A cluster.
#[expect(missing_debug_implementations, reason = "the client has none")]
pub struct Alone {
    place: Place,
    /// With all rights.
    pub client: Client,
    nodes: Running,
    scheduler: JoinHandle<Result<(), kai_scheduler::Error>>,
    stop: CancellationToken,
    /// The scheduler's clock, which can be set.
    pub skew: Skew,
}

impl Alone {
    /// Starts nodes, as `kubectl kai sandbox --nodes` takes them, a queue `q`, and a scheduler with these flags whose requests
    /// go through `way`.
    ///
    /// # Errors
    /// Where something does not start.
    pub async fn start(
        nodes: &str,
        flags: &[&str],
        way: impl FnOnce(Client) -> Client,
    ) -> Result<Self> {
        clock::follow_tokio(Timestamp::now());
        let place = Place::embedded().await?;
        let client = place.admin().await?;
        create_runtime_class(client.clone()).await?;
        let groups = nodes::group::parse(nodes)?;
        let specs = nodes::group::expand(&groups, 8);
        let options = nodes::Options { specs, run_seconds: 100_000, ..nodes::Options::default() };
        let nodes = Nodes::new(options).start(client.clone()).await?;
        let any = json!({ "quota": -1, "limit": -1, "overQuotaWeight": 1 });
        let queue = json!({ "apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": { "name": "q" },
            "spec": { "resources": { "gpu": any, "cpu": any, "memory": any } } });
        ask(&client, Method::POST, QUEUES, Some(&queue)).await?;
        let image = "--resource-reservation-pod-image=kai-scheduler";
        let words = ["kai-scheduler", "--listen-address=127.0.0.1:0", image];
        let words = words.iter().chain(flags).map(|word| String::from(*word).into());
        let args = kai_scheduler::Args::from_command_line(words)?;
        let stop = CancellationToken::new();
        let account = way(place.account(component::SCHEDULER).await?);
        let skew = Skew::default();
        let run = Box::pin(kai_scheduler::run(args, account, stop.clone()));
        let scheduler = tokio::spawn(clock::skewed(skew.clone(), run));
        Ok(Self { place, client, nodes, scheduler, stop, skew })
    }

    /// Makes a `PodGroup` of a priority class in the queue `q`.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn group(&self, name: &str, min_member: usize, class: &str) -> Result<()> {
        let spec = json!({ "minMember": min_member, "queue": "q", "priorityClassName": class });
        let group = json!({ "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup",
            "metadata": { "name": name }, "spec": spec });
        ask(&self.client, Method::POST, GROUPS, Some(&group)).await.map(drop)
    }

    /// Makes a pod of a group that asks for so many GPUs, or for a part of one, such as `0.5`, as admission leaves it.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn pod(&self, name: &str, group: &str, gpus: &str) -> Result<()> {
        let mut pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "name": name, "annotations": { "pod-group-name": group } },
            "spec": {
                "schedulerName": "kai-scheduler",
                "terminationGracePeriodSeconds": 0,
                "containers": [{ "name": "main", "image": "busybox" }],
            },
        });
        if gpus.contains('.') {
            pod["metadata"]["annotations"]["gpu-fraction"] = json!(gpus);
        } else {
            pod["spec"]["containers"][0]["resources"] =
                json!({ "limits": { "nvidia.com/gpu": gpus } });
        }
        let pod = admitted_pod(pod, "default", &settings(), name)?;
        ask(&self.client, Method::POST, PODS, Some(&pod)).await.map(drop)
    }

    /// Deletes a pod at once.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn delete(&self, name: &str) -> Result<()> {
        let body = json!({ "gracePeriodSeconds": 0 });
        ask(&self.client, Method::DELETE, &format!("{PODS}/{name}"), Some(&body)).await.map(drop)
    }

    /// The pods of all namespaces.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn pods(&self) -> Result<Vec<Value>> {
        let list = ask(&self.client, Method::GET, "/api/v1/pods", None).await?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    /// Tells whether a pod of the namespace `default` is bound and stays.
    ///
    /// # Errors
    /// What the API server says.
    pub async fn is_bound(&self, name: &str) -> Result<bool> {
        let pods = self.pods().await?;
        let is_meant = |pod: &&Value| {
            pod["metadata"]["name"] == name && pod["metadata"]["deletionTimestamp"].is_null()
        };
        Ok(pods.iter().find(is_meant).is_some_and(|pod| pod["spec"]["nodeName"].is_string()))
    }

    /// Stops all of it.
    ///
    /// # Errors
    /// Why the scheduler ended.
    pub async fn end(self) -> Result<()> {
        self.stop.cancel();
        self.scheduler.await??;
        self.nodes.remove().await;
        self.place.stop().await;
        Ok(())
    }
}
