//! Kinds whose rule is the default or next to it (`docs/grouping.md` 7.9, 7.15).

use crate::desired::Desired;
use crate::facts::Stop;
use crate::group::{Case, base};
use crate::object;

const SPARK_APP: &str = "spark-app-name";
const SPARK_SELECTOR: &str = "spark-app-selector";

/// One `PodGroup` for the whole workload, one pod at least.
pub(crate) fn default(case: &Case<'_>) -> Result<Desired, Stop> {
    base(case, case.owners)
}

/// A bare pod, or a Spark driver and its executors under the application's selector.
pub(crate) fn pod(case: &Case<'_>) -> Result<Desired, Stop> {
    let mut desired = base(case, &[])?;
    if let (Some(_), Some(selector)) = (case.pod.label(SPARK_APP), case.pod.label(SPARK_SELECTOR)) {
        selector.clone_into(&mut desired.name);
    }
    Ok(desired)
}

/// An Azure ML job: as many pods as its environment says it has nodes.
pub(crate) fn aml_job(case: &Case<'_>) -> Result<Desired, Stop> {
    const PATH: &str = "spec.job.options.envs.AZUREML_NODE_COUNT";
    let mut desired = base(case, &[])?;
    desired.min_member = object::int(case.top.value(), PATH)?
        .ok_or_else(|| Stop::bad(format!("{PATH} is not set")))?;
    Ok(desired)
}
