//! Table of the rule that groups each kind: a row a kind (`docs/grouping.md` 5.1).

pub(crate) mod batch;
pub(crate) mod grove;
pub(crate) mod jobset;
pub(crate) mod karta;
pub mod kubeflow;
pub(crate) mod lws;
pub(crate) mod mpi;
pub(crate) mod pytorch;
pub(crate) mod ray;
mod segments;
pub(crate) mod serving;
mod simple;
pub(crate) mod skip;
mod templates;

use crate::facts::Part;
use crate::group::Rule;
use crate::object::Gvk;

/// One kind and its rule.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// API group, empty for the core group.
    pub group: &'static str,
    /// API version; `*` stands for any that has no row of its own.
    pub version: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// The rule.
    pub rule: Rule,
    /// The part of an object of the kind, as a top owner, that the rule reads.
    pub part: Part,
}

/// A kind whose rule reads the metadata of the top owner alone.
const fn row(group: &'static str, version: &'static str, kind: &'static str, rule: Rule) -> Row {
    Row { group, version, kind, rule, part: Part::Metadata }
}

/// A kind whose rule reads what else the top owner says.
const fn whole(group: &'static str, version: &'static str, kind: &'static str, rule: Rule) -> Row {
    Row { group, version, kind, rule, part: Part::Whole }
}

/// Every kind with a rule of its own; all others get the default rule.
pub const TABLE: &[Row] = &[
    row("", "v1", "Pod", simple::pod),
    whole("amlarc.azureml.com", "v1alpha1", "AmlJob", simple::aml_job),
    row("apps", "v1", "Deployment", serving::deployment),
    row("apps", "v1", "ReplicaSet", simple::default),
    row("apps", "v1", "StatefulSet", simple::default),
    row("argoproj.io", "v1alpha1", "Workflow", skip::skip_top_owner),
    row("batch", "v1", "CronJob", batch::cron_job),
    row("batch", "v1", "Job", batch::job),
    row("egx.nvidia.io", "v1", "SPOTRequest", serving::spot_request),
    row("grove.io", "v1alpha1", "PodCliqueSet", grove::pod_gang),
    row("grove.io", "v1alpha1", "PodGangSet", grove::pod_gang),
    whole("jobset.x-k8s.io", "v1alpha2", "JobSet", jobset::job_set),
    whole("kubeflow.org", "v1", "JAXJob", kubeflow::jax_job),
    whole("kubeflow.org", "v1", "MPIJob", mpi::mpi_job),
    whole("kubeflow.org", "v1", "PaddleJob", kubeflow::paddle_job),
    whole("kubeflow.org", "v1", "PyTorchJob", pytorch::pytorch_job),
    whole("kubeflow.org", "v1", "TFJob", kubeflow::tf_job),
    whole("kubeflow.org", "v1", "XGBoostJob", kubeflow::xgboost_job),
    row("kubeflow.org", "v1alpha1", "ScheduledWorkflow", simple::default),
    row("kubeflow.org", "v1beta1", "Notebook", serving::notebook),
    whole("kubeflow.org", "v2beta1", "MPIJob", mpi::mpi_job),
    row("kubevirt.io", "v1", "VirtualMachineInstance", simple::default),
    whole("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", lws::leader_worker_set),
    row("machinelearning.seldon.io", "v1", "SeldonDeployment", simple::default),
    row("machinelearning.seldon.io", "v1alpha2", "SeldonDeployment", simple::default),
    row("nvidia.com", "*", "DynamoGraphDeployment", skip::skip_top_owner),
    whole("ray.io", "v1", "RayCluster", ray::ray_cluster),
    whole("ray.io", "v1", "RayJob", ray::ray_job),
    whole("ray.io", "v1", "RayService", ray::ray_service),
    whole("ray.io", "v1alpha1", "RayCluster", ray::ray_cluster),
    whole("ray.io", "v1alpha1", "RayJob", ray::ray_job),
    whole("ray.io", "v1alpha1", "RayService", ray::ray_service),
    row("run.ai", "*", "DistributedInferenceWorkload", skip::skip_top_owner),
    row("run.ai", "*", "DistributedWorkload", skip::skip_top_owner),
    row("run.ai", "*", "InferenceWorkload", skip::skip_top_owner),
    row("run.ai", "*", "InteractiveWorkload", skip::skip_top_owner),
    row("run.ai", "*", "TrainingWorkload", skip::skip_top_owner),
    whole("run.ai", "v1", "RunaiJob", batch::runai_job),
    row("serving.knative.dev", "v1", "Service", serving::knative_service),
    row("tekton.dev", "v1", "PipelineRun", simple::default),
    row("tekton.dev", "v1", "TaskRun", simple::default),
    row("trainer.kubeflow.org", "v1alpha1", "TrainJob", skip::skip_top_owner),
    row("workspace.devfile.io", "v1alpha2", "DevWorkspace", simple::default),
];

/// The row of exactly this group, version and kind.
pub(crate) fn exact<'a>(table: &'a [Row], gvk: &Gvk) -> Option<&'a Row> {
    let same =
        |row: &&Row| row.group == gvk.group && row.version == gvk.version && row.kind == gvk.kind;
    table.iter().find(same)
}

/// The row of a kind: its own, else that of its group and kind for any version.
pub fn find<'a>(table: &'a [Row], gvk: &Gvk) -> Option<&'a Row> {
    let any = Gvk { version: "*".to_owned(), ..gvk.clone() };
    exact(table, gvk).or_else(|| exact(table, &any))
}
