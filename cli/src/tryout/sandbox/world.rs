//! A whole cluster in this process, put together from the same parts as a real one.

use std::sync::Arc;

use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kai_api::topology::{Topology, TopologyLevel, TopologySpec};
use kai_sandbox::daemons::{self, DaemonError, Daemons};
use kai_sandbox::nodes::object::RACK_LABEL;
use kai_sandbox::nodes::{self, Nodes};
use kai_sandbox::operators;
use kai_sandbox::server::{self, LogQuery, Server};
use kube::api::{Api, ObjectMeta, PostParams};

use super::Plan;
use crate::commands::install;
use crate::print::error::{Error, Exit, Problem, number, sentence};

/// The name of the Topology of the simulated racks.
const TOPOLOGY: &str = "sandbox";
/// The name of the runtime class of containers with GPUs.
const RUNTIME_CLASS: &str = "nvidia";

/// A running cluster.
#[derive(Debug)]
pub(crate) struct World {
    server: Server,
    nodes: nodes::Running,
    logs: nodes::Logs,
    operators: operators::Running,
    daemons: Daemons,
}

impl World {
    /// Starts the API server, installs the product into it, adds nodes and operators, and starts
    /// the daemons.
    ///
    /// # Errors
    /// What could not be started; parts that run already end with the process.
    pub(crate) async fn start(plan: &Plan) -> Result<Self, Error> {
        let nodes = Nodes::new(nodes::Options {
            specs: plan.specs.clone(),
            pace: plan.pace,
            run_seconds: plan.run_seconds,
            ..nodes::Options::default()
        });
        let logs = nodes.logs();
        let (texts, inside) = (logs.clone(), nodes.inside());
        let source = move |query: &LogQuery| {
            texts.read(&query.namespace, &query.pod, &query.container, query.previous)
        };
        let options = server::Options {
            port: plan.port,
            logs: Some(Arc::new(source)),
            streams: Some(Arc::new(move |place, wanted| inside.open(place, wanted))),
            ..server::Options::default()
        };
        let server = Server::start(options).await.map_err(failed)?;
        let client = server.client();
        let operators = plan.operators.clone().alone();
        let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
        for definition in operators::definitions(&operators) {
            definitions.create(&PostParams::default(), &definition).await.map_err(failed)?;
        }
        let install = install::Options { wait: false, ..install::Options::without_daemons() };
        install::apply(client.clone(), &install, &mut |_| {}).await?;
        let topologies: Api<Topology> = Api::all(client.clone());
        topologies.create(&PostParams::default(), &topology()).await.map_err(failed)?;
        let classes: Api<RuntimeClass> = Api::all(client.clone());
        classes.create(&PostParams::default(), &runtime_class()).await.map_err(failed)?;
        let mut daemons = daemons::start(&server).map_err(failed)?;
        let nodes = nodes.start(client.clone()).await.map_err(failed)?;
        let operators =
            operators::start(client.clone(), &operators, plan.pace).await.map_err(failed)?;
        daemons.admit(&client).await.map_err(failed)?;
        Ok(Self { server, nodes, logs, operators, daemons })
    }

    /// The API server's URL.
    pub(crate) fn url(&self) -> &str {
        self.server.url()
    }

    /// A kubeconfig for the administrator.
    pub(crate) fn kubeconfig(&self) -> String {
        self.server.kubeconfig()
    }

    /// The administrator's client.
    pub(crate) fn client(&self) -> kube::Client {
        self.server.client()
    }

    /// Returns what containers on the simulated nodes see.
    pub(crate) fn logs(&self) -> &nodes::Logs {
        &self.logs
    }

    /// Waits until a daemon has ended by itself.
    pub(crate) async fn ended(&mut self) -> Error {
        let error: DaemonError = self.daemons.ended().await;
        let what = format!("the sandbox ended: {}", sentence(&error));
        Problem::new(number::OTHER, Exit::Failure, what).into()
    }

    /// Stops everything, the last started first.
    pub(crate) async fn stop(self) {
        self.operators.stop().await;
        self.nodes.stop().await;
        self.daemons.stop().await;
        self.server.stop().await;
    }
}

/// The runtime class that NVIDIA's GPU operator makes on a real cluster, and that pods which share GPUs run in.
fn runtime_class() -> RuntimeClass {
    RuntimeClass {
        metadata: ObjectMeta { name: Some(RUNTIME_CLASS.to_owned()), ..ObjectMeta::default() },
        handler: RUNTIME_CLASS.to_owned(),
        ..RuntimeClass::default()
    }
}

/// The racks and zones of the simulated nodes.
fn topology() -> Topology {
    let level =
        |label: &str| TopologyLevel { node_label: label.to_owned(), ..TopologyLevel::default() };
    Topology {
        metadata: ObjectMeta { name: Some(TOPOLOGY.to_owned()), ..ObjectMeta::default() },
        spec: TopologySpec {
            levels: ["topology.kubernetes.io/zone", RACK_LABEL, "kubernetes.io/hostname"]
                .map(level)
                .into(),
        },
    }
}

fn failed(error: impl std::error::Error) -> Error {
    let what = format!("failed to start the sandbox: {}", sentence(&error));
    Problem::new(number::OTHER, Exit::Failure, what).into()
}
