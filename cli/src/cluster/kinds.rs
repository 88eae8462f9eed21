//! The kinds of workload that are known by name: where their pod templates are, how their pods are found, how long
//! their names may be. One row a kind; everything else about them is derived from the objects themselves.
//!
//! An unknown kind works as well, with its pod templates found by their shape.

use serde_json::Value;

use crate::cluster::Resource;

/// Says where a kind keeps the size of its gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gang {
    /// Annotation `kai.scheduler/batch-min-member` of the object, or of the Job that a `CronJob` makes.
    Annotation,
    /// `spec.runPolicy.schedulingPolicy.minAvailable`; MPI counts its launcher too.
    SchedulingPolicy,
    /// `minReplicas` of the worker group.
    RayReplicas,
    /// The same annotation on the template of a replicated job, where it counts the pods of one replica.
    ReplicatedJob,
    /// Nowhere: all pods of a group start together.
    Whole,
    /// Nowhere: each pod starts alone.
    None,
}

/// Says how a kind is stopped without being deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspend {
    /// A boolean at this pointer.
    Field(&'static str),
    /// `spec.replicas` to zero, the old number kept in an annotation.
    Scale,
    /// An annotation: of `KServe` one that says `true`, of others one that is there.
    Annotation(&'static str),
    /// It cannot be.
    Never,
}

/// Says how a template sits in its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A pod template: `metadata` and `spec`.
    Template,
    /// A pod spec, labels and annotations on the object itself.
    Bare,
    /// A pod spec with `labels` and `annotations` among its fields.
    Inline,
    /// Spark's own words for a pod: `cores`, `memory`, `gpu`, `labels` and `annotations` side by side.
    Spark,
    /// A clique: `labels`, `annotations`, and `spec.podSpec`.
    Clique,
    /// The spec of an Argo workflow.
    Argo,
    /// The pod itself.
    Pod,
}

/// A known kind.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Holds what `submit` calls it; empty when only `-f` takes it.
    pub(crate) noun: &'static str,
    pub(crate) group: &'static str,
    /// Versions that this program understands, the best first.
    pub(crate) versions: &'static [&'static str],
    pub(crate) name: &'static str,
    pub(crate) plural: &'static str,
    /// Paths of its pod templates, `*` for any key or index; none where another object holds them.
    pub(crate) sites: &'static [(&'static str, Shape)],
    /// Label of its pods whose value is its name.
    pub(crate) pod_label: &'static str,
    /// The longest name whose derived names are still legal.
    pub(crate) name_max: usize,
    pub(crate) gang: Gang,
    pub(crate) suspend: Suspend,
}

/// Tells whether an annotation stops the object that has it.
pub(crate) fn is_stopped(object: &Value, key: &str) -> bool {
    match object["metadata"]["annotations"][key].as_str() {
        Some(value) if is_boolean(key) => value.eq_ignore_ascii_case("true"),
        value => value.is_some(),
    }
}

/// Tells whether such an annotation is a boolean, as that of `KServe`, and no time.
pub(crate) fn is_boolean(key: &str) -> bool {
    key.ends_with("/stop")
}

impl Kind {
    /// Tells whether an object of this kind runs to an end, rather than until it is stopped.
    pub(crate) fn ends(&self) -> bool {
        !matches!(
            self.name,
            "Deployment"
                | "StatefulSet"
                | "LeaderWorkerSet"
                | "Service"
                | "InferenceService"
                | "RayService"
                | "RayCluster"
                | "Notebook"
                | "PodCliqueSet"
        )
    }

    /// Tells whether it only holds the templates that other objects make pods of.
    pub(crate) fn is_blueprint(&self) -> bool {
        self.name == "TrainingRuntime"
    }

    /// The kind in a version of it.
    pub(crate) fn resource(&self, version: &str) -> Resource {
        let api_version = if self.group.is_empty() {
            version.to_owned()
        } else {
            format!("{}/{version}", self.group)
        };
        Resource::new(&api_version, self.name, self.plural)
    }

    /// The kind in the best version of it.
    pub(crate) fn best(&self) -> Resource {
        self.resource(self.versions[0])
    }
}

const SPEC_SUSPEND: Suspend = Suspend::Field("/spec/suspend");
const RUN_POLICY: Suspend = Suspend::Field("/spec/runPolicy/suspend");
const TRAINING_NAME: &str = "training.kubeflow.org/job-name";

macro_rules! kinds {
    ($($noun:literal $group:literal [$($version:literal),+] $kind:literal $plural:literal
       { $($path:literal: $shape:ident),* } $label:expr, $max:literal, $gang:ident, $suspend:expr;)+) => {
        &[$(Kind {
            noun: $noun, group: $group, versions: &[$($version),+], name: $kind, plural: $plural,
            sites: &[$(($path, Shape::$shape)),*], pod_label: $label, name_max: $max, gang: Gang::$gang,
            suspend: $suspend,
        }),+]
    };
}

/// Every known kind, after `docs/workloads.md` 1.2, 11.2, 11.3 and 12.1.
pub(crate) const KINDS: &[Kind] = kinds! {
    "job" "batch" ["v1"] "Job" "jobs"
        { "spec.template": Template } "batch.kubernetes.io/job-name", 63, Annotation, SPEC_SUSPEND;
    "cronjob" "batch" ["v1"] "CronJob" "cronjobs"
        { "spec.jobTemplate.spec.template": Template } "", 52, Annotation, SPEC_SUSPEND;
    "pod" "" ["v1"] "Pod" "pods" { "": Pod } "", 253, None, Suspend::Never;
    "pytorch" "kubeflow.org" ["v1"] "PyTorchJob" "pytorchjobs"
        { "spec.pytorchReplicaSpecs.*.template": Template } TRAINING_NAME, 54, SchedulingPolicy, RUN_POLICY;
    "tensorflow" "kubeflow.org" ["v1"] "TFJob" "tfjobs"
        { "spec.tfReplicaSpecs.*.template": Template } TRAINING_NAME, 51, SchedulingPolicy, RUN_POLICY;
    "xgboost" "kubeflow.org" ["v1"] "XGBoostJob" "xgboostjobs"
        { "spec.xgbReplicaSpecs.*.template": Template } TRAINING_NAME, 54, SchedulingPolicy, RUN_POLICY;
    "jax" "kubeflow.org" ["v1"] "JAXJob" "jaxjobs"
        { "spec.jaxReplicaSpecs.*.template": Template } TRAINING_NAME, 54, SchedulingPolicy, RUN_POLICY;
    "paddle" "kubeflow.org" ["v1"] "PaddleJob" "paddlejobs"
        { "spec.paddleReplicaSpecs.*.template": Template } TRAINING_NAME, 54, SchedulingPolicy, RUN_POLICY;
    "mpi" "kubeflow.org" ["v2beta1", "v1"] "MPIJob" "mpijobs"
        { "spec.mpiReplicaSpecs.*.template": Template } TRAINING_NAME, 54, SchedulingPolicy, RUN_POLICY;
    "notebook" "kubeflow.org" ["v1", "v1beta1"] "Notebook" "notebooks"
        { "spec.template.spec": Bare } "notebook-name", 52, None, Suspend::Annotation("kubeflow-resource-stopped");
    "trainjob" "trainer.kubeflow.org" ["v1alpha1"] "TrainJob" "trainjobs"
        { } "jobset.sigs.k8s.io/jobset-name", 50, None, SPEC_SUSPEND;
    "" "trainer.kubeflow.org" ["v1alpha1"] "TrainingRuntime" "trainingruntimes"
        { "spec.template.spec.replicatedJobs.*.template.spec.template": Template } "", 63, ReplicatedJob, Suspend::Never;
    "ray" "ray.io" ["v1"] "RayJob" "rayjobs"
        { "spec.rayClusterSpec.headGroupSpec.template": Template,
          "spec.rayClusterSpec.workerGroupSpecs.*.template": Template } "ray.io/originated-from-cr-name", 47, RayReplicas, SPEC_SUSPEND;
    "raycluster" "ray.io" ["v1"] "RayCluster" "rayclusters"
        { "spec.headGroupSpec.template": Template,
          "spec.workerGroupSpecs.*.template": Template } "ray.io/cluster", 53, RayReplicas, SPEC_SUSPEND;
    "rayservice" "ray.io" ["v1"] "RayService" "rayservices"
        { "spec.rayClusterConfig.headGroupSpec.template": Template,
          "spec.rayClusterConfig.workerGroupSpecs.*.template": Template } "ray.io/originated-from-cr-name", 47, RayReplicas, SPEC_SUSPEND;
    "" "ray.io" ["v1"] "RayCronJob" "raycronjobs"
        { "spec.jobTemplate.rayClusterSpec.headGroupSpec.template": Template,
          "spec.jobTemplate.rayClusterSpec.workerGroupSpecs.*.template": Template } "", 36, None, SPEC_SUSPEND;
    "argo" "argoproj.io" ["v1alpha1"] "Workflow" "workflows"
        { "spec": Argo } "workflows.argoproj.io/workflow", 63, None, SPEC_SUSPEND;
    "" "argoproj.io" ["v1alpha1"] "CronWorkflow" "cronworkflows"
        { "spec.workflowSpec": Argo } "", 52, None, SPEC_SUSPEND;
    "jobset" "jobset.x-k8s.io" ["v1alpha2"] "JobSet" "jobsets"
        { "spec.replicatedJobs.*.template.spec.template": Template } "jobset.sigs.k8s.io/jobset-name", 50, ReplicatedJob, SPEC_SUSPEND;
    "lws" "leaderworkerset.x-k8s.io" ["v1"] "LeaderWorkerSet" "leaderworkersets"
        { "spec.leaderWorkerTemplate.leaderTemplate": Template,
          "spec.leaderWorkerTemplate.workerTemplate": Template } "leaderworkerset.sigs.k8s.io/name", 55, Whole, Suspend::Scale;
    "spark" "sparkoperator.k8s.io" ["v1beta2"] "SparkApplication" "sparkapplications"
        { "spec.driver": Spark, "spec.executor": Spark } "sparkoperator.k8s.io/app-name", 63, None, SPEC_SUSPEND;
    "" "sparkoperator.k8s.io" ["v1beta2"] "ScheduledSparkApplication" "scheduledsparkapplications"
        { "spec.template.driver": Spark, "spec.template.executor": Spark } "", 43, None, SPEC_SUSPEND;
    "deployment" "apps" ["v1"] "Deployment" "deployments" { "spec.template": Template } "", 63, None, Suspend::Scale;
    "statefulset" "apps" ["v1"] "StatefulSet" "statefulsets" { "spec.template": Template } "", 52, None, Suspend::Scale;
    "" "apps" ["v1"] "ReplicaSet" "replicasets" { "spec.template": Template } "", 63, None, Suspend::Scale;
    "" "apps" ["v1"] "DaemonSet" "daemonsets" { "spec.template": Template } "", 63, None, Suspend::Never;
    "" "serving.knative.dev" ["v1"] "Service" "services"
        { "spec.template": Template } "serving.knative.dev/service", 63, None, Suspend::Never;
    "" "serving.kserve.io" ["v1beta1"] "InferenceService" "inferenceservices"
        { "spec.predictor": Inline, "spec.transformer": Inline, "spec.explainer": Inline }
        "serving.kserve.io/inferenceservice", 53, None, Suspend::Annotation("serving.kserve.io/stop");
    "" "grove.io" ["v1alpha1"] "PodCliqueSet" "podcliquesets"
        { "spec.template.cliques.*": Clique } "app.kubernetes.io/part-of", 45, None, Suspend::Scale;
};

/// The kind of an object, whatever its version.
pub(crate) fn find(api_version: &str, kind: &str) -> Option<&'static Kind> {
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    KINDS.iter().find(|known| known.group == group && known.name == kind)
}

/// Other words for nouns: short ones, and those of kubectl.
const ALIASES: &[(&str, &str)] = &[
    ("cron", "cronjob"),
    ("deploy", "deployment"),
    ("rayjob", "ray"),
    ("sts", "statefulset"),
    ("tf", "tensorflow"),
    ("train", "trainjob"),
    ("workflow", "argo"),
];

/// The kind that a user means by a word: a noun of `submit`, a kind, its plural, with or without the group.
pub(crate) fn named(word: &str) -> Option<&'static Kind> {
    let word = word.to_lowercase();
    let noun = ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, noun)| (*noun).to_owned());
    let word = noun.unwrap_or(word);
    let bare = word.split('.').next().unwrap_or(&word);
    KINDS.iter().find(|known| {
        let full = format!("{}.{}", known.name.to_lowercase(), known.group);
        known.noun == word && !known.noun.is_empty()
            || full == word
            || (bare == word && (known.name.to_lowercase() == word || known.plural == word))
    })
}

/// The nouns of `submit`.
pub(crate) fn nouns() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.noun).filter(|noun| !noun.is_empty())
}
