//! Stand-ins for workload operators: they make the pods that the real ones would make.
//!
//! ```text
//! watch each kind ──> store (objects, children by owner) ──> queue of UIDs
//!                                                              │
//!                 row.reconcile(object, children) ──> actions ──> POST, DELETE, PUT status
//! ```
//!
//! A kind is a row of [`ROWS`] and a pure function; the loop around them is `drive`. Names of
//! children follow from their owner, so that a repeated reconcile creates nothing twice. Ordinary
//! API clients: the same code serves the embedded server and any cluster where the real operator is
//! not installed. What a stand-in leaves out is said in its own module.

mod action;
mod apps;
mod argo;
mod batch;
mod binder;
mod condition;
mod cron;
mod dra;
mod drive;
mod follow;
mod jobset;
mod lws;
mod notebook;
mod offspring;
mod ray;
mod rayjob;
mod spark;
mod storage;
mod template;
mod trainer;
mod training;

use std::collections::HashSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use thiserror::Error;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use dra::{NIC_DRIVER, NICS_OF_NODE};
pub use offspring::{is_known, offspring};

use action::{Action, View};

/// A kind of object that a stand-in watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// API version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// Its plural, as in URLs.
    pub plural: &'static str,
    /// True if its status is a subresource.
    pub status: bool,
}

/// A stand-in for one controller: the kind it is for, what it makes, and how.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The operator's name, as `--operators` takes it; several rows may share one.
    pub operator: &'static str,
    /// The kind that it reconciles.
    pub kind: Kind,
    /// The kinds that it makes.
    pub makes: &'static [Kind],
    /// The kinds that it reads besides.
    pub reads: &'static [Kind],
    /// Decides what to do for one object, from it and the objects that it controls.
    reconcile: fn(&View<'_>) -> Vec<Action>,
}

impl Row {
    /// Decides what to do for one object. One that its operator could not read is left alone, as a server that checks it
    /// would never have stored it.
    fn actions(&self, view: &View<'_>) -> Vec<Action> {
        if template::is_sound(view.spec()) { (self.reconcile)(view) } else { Vec::new() }
    }
}

const POD: Kind = Kind { group: "", version: "v1", kind: "Pod", plural: "pods", status: true };
const JOB: Kind = Kind { group: "batch", version: "v1", kind: "Job", plural: "jobs", status: true };
const CRON_JOB: Kind =
    Kind { group: "batch", version: "v1", kind: "CronJob", plural: "cronjobs", status: true };
const DEPLOYMENT: Kind = apps_kind("Deployment", "deployments");
const REPLICA_SET: Kind = apps_kind("ReplicaSet", "replicasets");
const STATEFUL_SET: Kind = apps_kind("StatefulSet", "statefulsets");
const RAY_CLUSTER: Kind = Kind {
    group: "ray.io",
    version: "v1",
    kind: "RayCluster",
    plural: "rayclusters",
    status: true,
};
const RAY_JOB: Kind =
    Kind { group: "ray.io", version: "v1", kind: "RayJob", plural: "rayjobs", status: true };
const WORKFLOW: Kind = Kind {
    group: "argoproj.io",
    version: "v1alpha1",
    kind: "Workflow",
    plural: "workflows",
    status: false,
};
const NOTEBOOK: Kind = kubeflow("Notebook", "notebooks");
const JOB_SET: Kind = Kind {
    group: "jobset.x-k8s.io",
    version: "v1alpha2",
    kind: "JobSet",
    plural: "jobsets",
    status: true,
};
const LEADER_WORKER_SET: Kind = Kind {
    group: "leaderworkerset.x-k8s.io",
    version: "v1",
    kind: "LeaderWorkerSet",
    plural: "leaderworkersets",
    status: true,
};
const SPARK_APPLICATION: Kind = Kind {
    group: "sparkoperator.k8s.io",
    version: "v1beta2",
    kind: "SparkApplication",
    plural: "sparkapplications",
    status: true,
};
const TRAIN_JOB: Kind = trainer("TrainJob", "trainjobs");
const TRAINING_RUNTIME: Kind = trainer("TrainingRuntime", "trainingruntimes");
const CLUSTER_TRAINING_RUNTIME: Kind = trainer("ClusterTrainingRuntime", "clustertrainingruntimes");

const fn trainer(kind: &'static str, plural: &'static str) -> Kind {
    Kind { group: "trainer.kubeflow.org", version: "v1alpha1", kind, plural, status: true }
}

const fn apps_kind(kind: &'static str, plural: &'static str) -> Kind {
    Kind { group: "apps", version: "v1", kind, plural, status: true }
}

const fn kubeflow(kind: &'static str, plural: &'static str) -> Kind {
    Kind { group: "kubeflow.org", version: "v1", kind, plural, status: true }
}

/// A stand-in that is about one object and what it makes.
const fn row(
    operator: &'static str,
    kind: Kind,
    makes: &'static [Kind],
    reconcile: fn(&View<'_>) -> Vec<Action>,
) -> Row {
    Row { operator, kind, makes, reads: &[], reconcile }
}

const fn training(kind: &'static str, plural: &'static str) -> Row {
    row("training", kubeflow(kind, plural), &[POD], training::reconcile)
}

/// All stand-ins. The first five play kube-controller-manager and are for servers without one.
pub const ROWS: &[Row] = &[
    row(CORE, JOB, &[POD], batch::reconcile),
    row(CORE, CRON_JOB, &[JOB], cron::reconcile),
    row(CORE, DEPLOYMENT, &[REPLICA_SET], apps::deployment),
    row(CORE, REPLICA_SET, &[POD], apps::replica_set),
    row(CORE, STATEFUL_SET, &[POD], apps::stateful_set),
    row("ray", RAY_CLUSTER, &[POD], ray::reconcile),
    row("ray", RAY_JOB, &[RAY_CLUSTER, JOB], rayjob::reconcile),
    training("PyTorchJob", "pytorchjobs"),
    training("TFJob", "tfjobs"),
    training("MPIJob", "mpijobs"),
    training("XGBoostJob", "xgboostjobs"),
    training("JAXJob", "jaxjobs"),
    training("PaddleJob", "paddlejobs"),
    row("argo", WORKFLOW, &[POD], argo::reconcile),
    row("notebook", NOTEBOOK, &[STATEFUL_SET], notebook::reconcile),
    row("jobset", JOB_SET, &[JOB], jobset::reconcile),
    row("lws", LEADER_WORKER_SET, &[POD], lws::reconcile),
    row("spark", SPARK_APPLICATION, &[POD], spark::reconcile),
    // The program of a driver, which makes executors.
    row("spark", POD, &[POD], spark::drive),
    Row {
        reads: &[TRAINING_RUNTIME, CLUSTER_TRAINING_RUNTIME],
        ..row("trainer", TRAIN_JOB, &[JOB_SET], trainer::reconcile)
    },
];

/// The name of the rows that play kube-controller-manager.
const CORE: &str = "core";

/// The name under which the stand-in for kube-scheduler is chosen; it is no row, since what it
/// decides is not about one object and its children.
const SCHEDULER: &str = "scheduler";

/// The name under which the stand-in for storage is chosen, which is about several kinds at once.
const STORAGE: &str = "storage";

/// The name under which the stand-in for dynamic resource allocation is chosen, which is about several kinds at once too.
const DRA: &str = "dra";

/// The CRDs of the kinds in [`ROWS`] that are not built in, by operator: YAML streams with names,
/// versions and columns of the real ones, and schemas that keep every field.
const CRDS: &[(&str, &str)] = &[
    ("ray", include_str!("../crds/ray.yaml")),
    ("training", include_str!("../crds/training.yaml")),
    ("argo", include_str!("../crds/argo.yaml")),
    ("notebook", include_str!("../crds/notebook.yaml")),
    ("jobset", include_str!("../crds/jobset.yaml")),
    ("lws", include_str!("../crds/lws.yaml")),
    ("spark", include_str!("../crds/spark.yaml")),
    ("trainer", include_str!("../crds/trainer.yaml")),
];

/// The CRDs that the chosen stand-ins need.
///
/// # Panics
/// Never: the definitions are part of the program, and a test reads them all.
pub fn definitions(choice: &Choice) -> Vec<CustomResourceDefinition> {
    let wanted = |operator: &str| match choice {
        Choice::None => false,
        Choice::Workloads | Choice::All => true,
        Choice::Named(names) => names.contains(&operator),
    };
    let streams = CRDS.iter().filter(|(operator, _)| wanted(operator));
    streams
        .flat_map(|(_, text)| {
            serde_saphyr::from_multiple::<CustomResourceDefinition>(text)
                .expect("the definitions in this program are definitions")
        })
        .collect()
}

/// Stand-ins to run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Choice {
    /// None.
    None,
    /// Those for workload operators whose kinds are served: what a cluster with its own
    /// kube-controller-manager and kube-scheduler can take.
    #[default]
    Workloads,
    /// All whose kinds are served, for an API server that has nothing beside it.
    All,
    /// These, by name, whatever else runs.
    Named(Vec<&'static str>),
}

/// The reason why `--operators` was not understood, or the stand-ins could not start.
#[derive(Debug, Error)]
pub enum OperatorsError {
    /// No row has this name.
    #[error("--operators: {name:?} is unknown; known are {}, all and none", names().join(", "))]
    Unknown {
        /// The name as typed.
        name: String,
    },
    /// The API could not be asked what it serves.
    #[error("failed to find out which kinds the API serves")]
    Discovery(#[source] Box<kube::Error>),
    /// A named operator's kind is not served.
    #[error(
        "--operators: {operator} needs the CRD {plural}.{group}, which the cluster does not have"
    )]
    Missing {
        /// The operator.
        operator: &'static str,
        /// The plural of the kind.
        plural: &'static str,
        /// Its group.
        group: &'static str,
    },
}

/// The names that `--operators` takes.
pub fn names() -> Vec<&'static str> {
    let mut seen = HashSet::new();
    let operators = ROWS.iter().map(|row| row.operator).chain([SCHEDULER, STORAGE, DRA]);
    operators.filter(|name| seen.insert(*name)).collect()
}

/// Reads the value of `--operators`: `all` (workload operators, see [`Choice::Workloads`]), `none`,
/// or names separated by commas.
///
/// # Errors
/// Names the part that is unknown.
pub fn parse(text: &str) -> Result<Choice, OperatorsError> {
    match text.trim() {
        "" | "none" => return Ok(Choice::None),
        "all" => return Ok(Choice::Workloads),
        _ => {}
    }
    let known = names();
    let named = text.split(',').map(str::trim).map(|name| {
        let found = known.iter().find(|known| **known == name);
        found.copied().ok_or_else(|| OperatorsError::Unknown { name: name.to_owned() })
    });
    Ok(Choice::Named(named.collect::<Result<_, _>>()?))
}

/// Stand-ins that run until [`Running::stop`].
#[derive(Debug)]
pub struct Running {
    /// The kinds that are looked after, e.g. `RayJob`.
    pub kinds: Vec<&'static str>,
    cancel: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

/// Starts the chosen stand-ins. Simulated time runs `pace` times faster than the clock.
///
/// # Errors
/// When the API cannot be asked, or a named operator's kind is not served.
pub async fn start(client: Client, choice: &Choice, pace: u32) -> Result<Running, OperatorsError> {
    let cancel = CancellationToken::new();
    let chosen = drive::choose(&client, choice).await?;
    let kinds = chosen.rows.iter().map(|row| row.kind.kind).collect();
    let mut tasks = Vec::new();
    if !chosen.rows.is_empty() {
        tasks.push(tokio::spawn(drive::run(client.clone(), chosen.rows, pace, cancel.clone())));
    }
    if chosen.scheduler {
        tasks.push(tokio::spawn(binder::run(client.clone(), cancel.clone())));
    }
    if chosen.storage {
        tasks.push(tokio::spawn(storage::run(client.clone(), cancel.clone())));
    }
    if chosen.dra {
        tasks.push(tokio::spawn(dra::run(client, cancel.clone())));
    }
    Ok(Running { kinds, cancel, tasks })
}

impl Running {
    /// Stops the stand-ins; what they made stays.
    pub async fn stop(self) {
        self.cancel.cancel();
        for task in self.tasks {
            // A task that panicked has said so on its own; the others still have to end.
            let _ended = task.await;
        }
    }
}

impl Choice {
    /// The same for an API server that has no controllers of its own: `core`, `scheduler`, `storage` and
    /// `dra` join whatever was chosen.
    #[must_use]
    pub fn alone(self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Workloads | Self::All => Self::All,
            Self::Named(mut names) => {
                names.extend([CORE, SCHEDULER, STORAGE, DRA]);
                Self::Named(names)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_defined_once() {
        let defined: Vec<String> =
            definitions(&Choice::All).into_iter().filter_map(|one| one.metadata.name).collect();
        for row in ROWS.iter().filter(|row| row.kind.group.contains('.')) {
            let name = format!("{}.{}", row.kind.plural, row.kind.group);
            assert_eq!(defined.iter().filter(|one| **one == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn choices() {
        let check = |text: &str, expect: &str| {
            let got =
                parse(text).map_or_else(|error| error.to_string(), |choice| format!("{choice:?}"));
            assert_eq!(got, expect, "--operators {text}");
        };
        check("none", "None");
        check("all", "Workloads");
        check("ray, argo", "Named([\"ray\", \"argo\"])");
        check(
            "flink",
            "--operators: \"flink\" is unknown; known are core, ray, training, argo, notebook, jobset, lws, spark, trainer, scheduler, storage, dra, all and none",
        );
    }
}
