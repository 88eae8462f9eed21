//! `schedulerParams`: the part of the command line that a snapshot carries. Source: docs/contract.md 8.3.

use std::time::Duration;

use kai_api::duration::GoDuration;
use serde_json::{Map, Value, json};

use super::lenient::Lenient;
use crate::Args;

/// The command line that `schedulerParams` stand for. What is left out is zero, as KAI writes it; a name or a threshold
/// of which zero means nothing is the default's, since older files lack some.
///
/// # Errors
/// A value has the wrong type; the sentence names its key.
pub(super) fn read(json: &[u8]) -> Result<Args, String> {
    let mut given = Lenient::read(json)?;
    let mut args = Args::default();
    set_text(&mut args.scheduler_name, &mut given, "schedulerName")?;
    set_text(&mut args.queue_label_key, &mut given, "queueLabelKey")?;
    args.restrict_node_scheduling = given.flag("restrictSchedulingNodes")?;
    args.schedule_csi_storage = given.flag("scheduleCSIStorage")?;
    args.full_hierarchy_fairness = given.flag("fullHierarchyFairness")?;
    args.allow_consolidating_reclaim = given.flag("allowConsolidatingReclaim")?;
    args.detailed_fit_errors = given.flag("detailedFitErrors")?;
    args.update_pod_eviction_condition = given.flag("updatePodEvictionCondition")?;
    let victims = given.number("maxNumberConsolidationPreemptees")?.unwrap_or(0);
    // More than fits is no limit to any cluster.
    args.max_consolidation_preemptees =
        i32::try_from(victims).unwrap_or(if victims < 0 { -1 } else { i32::MAX });
    let grace = given.number("globalDefaultStalenessGracePeriod")?.unwrap_or(0);
    args.default_staleness_grace_period = GoDuration::from_nanos(grace);
    set_duration(&mut args.schedule_period, &mut given, "schedulePeriod")?;
    set_duration(&mut args.stuck_in_releasing_threshold, &mut given, "stuckInReleasingThreshold")?;
    let pool = given.object("partitionParams")?;
    args.nodepool_label_key = String::new();
    args.partition_label_value = String::new();
    if let Some(mut pool) = pool {
        args.nodepool_label_key = pool.text("NodePoolLabelKey")?;
        args.partition_label_value = pool.text("NodePoolLabelValue")?;
    }
    args.respect_disruption_budgets = given.flag("respectDisruptionBudgets")?;
    set_text(&mut args.cpu_worker_node_label_key, &mut given, "cpuWorkerNodeLabelKey")?;
    set_text(&mut args.gpu_worker_node_label_key, &mut given, "gpuWorkerNodeLabelKey")?;
    set_text(&mut args.mig_worker_node_label_key, &mut given, "migWorkerNodeLabelKey")?;
    set_text(&mut args.resource_reservation_app_label, &mut given, "resourceReservationAppLabel")?;
    let namespace = &mut args.sharing.resource_reservation_namespace;
    set_text(namespace, &mut given, "resourceReservationNamespace")?;
    Ok(args)
}

fn set_text(slot: &mut String, given: &mut Lenient, key: &str) -> Result<(), String> {
    let text = given.text(key)?;
    if !text.is_empty() {
        *slot = text;
    }
    Ok(())
}

fn set_duration(slot: &mut Duration, given: &mut Lenient, key: &str) -> Result<(), String> {
    let Some(nanos) = given.number(key)?.filter(|nanos| *nanos != 0) else { return Ok(()) };
    let nanos = u64::try_from(nanos)
        .map_err(|_| format!("{key}: nanoseconds were expected, found {nanos}"))?;
    *slot = Duration::from_nanos(nanos);
    Ok(())
}

/// A command line as `schedulerParams`. Zero values are written too: who leaves them out means the same, and a reader need
/// not know that. Keys that KAI does not have stand there only where they differ from the default.
pub fn write(args: &Args) -> Value {
    let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let mut params = json!({
        "schedulerName": args.scheduler_name,
        "restrictSchedulingNodes": args.restrict_node_scheduling,
        "partitionParams": {
            "NodePoolLabelKey": args.nodepool_label_key,
            "NodePoolLabelValue": args.partition_label_value,
        },
        "maxNumberConsolidationPreemptees": args.max_consolidation_preemptees,
        "scheduleCSIStorage": args.schedule_csi_storage,
        "useSchedulingSignatures": true,
        "fullHierarchyFairness": args.full_hierarchy_fairness,
        "allowConsolidatingReclaim": args.allow_consolidating_reclaim,
        "numOfStatusRecordingWorkers": 5,
        "globalDefaultStalenessGracePeriod": args.default_staleness_grace_period.nanos(),
        "schedulePeriod": nanos(args.schedule_period),
        "stuckInReleasingThreshold": nanos(args.stuck_in_releasing_threshold),
        "detailedFitErrors": args.detailed_fit_errors,
        "updatePodEvictionCondition": args.update_pod_eviction_condition,
        "queueLabelKey": args.queue_label_key,
    });
    if let Value::Object(params) = &mut params {
        own(params, args);
    }
    params
}

/// Adds what else of a command line decides what objects mean.
fn own(params: &mut Map<String, Value>, args: &Args) {
    let usual = Args::default();
    if args.respect_disruption_budgets {
        params.insert(String::from("respectDisruptionBudgets"), json!(true));
    }
    let reservations = |args: &Args| args.sharing.resource_reservation_namespace.clone();
    let texts = [
        (
            "cpuWorkerNodeLabelKey",
            &args.cpu_worker_node_label_key,
            &usual.cpu_worker_node_label_key,
        ),
        (
            "gpuWorkerNodeLabelKey",
            &args.gpu_worker_node_label_key,
            &usual.gpu_worker_node_label_key,
        ),
        (
            "migWorkerNodeLabelKey",
            &args.mig_worker_node_label_key,
            &usual.mig_worker_node_label_key,
        ),
        (
            "resourceReservationAppLabel",
            &args.resource_reservation_app_label,
            &usual.resource_reservation_app_label,
        ),
        ("resourceReservationNamespace", &reservations(args), &reservations(&usual)),
    ];
    for (key, text, usual) in texts {
        if text != usual {
            params.insert(String::from(key), json!(text));
        }
    }
}
