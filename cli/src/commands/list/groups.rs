//! `list --group-by`: sums for each queue, user or kind.

use std::collections::BTreeMap;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::cluster::gpu::Total;
use crate::print::report::{Body, Report, Row, Table};
use crate::print::table::{Cell, Column};
use crate::workload::{Phase, Workload};

/// Says what workloads are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Their queue.
    Queue,
    /// Who submitted them.
    User,
    /// Their kind.
    Kind,
}

/// Workloads that have something in common.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Group {
    /// The queue, user or kind; empty where it is not known.
    name: String,
    /// Says how many workloads there are.
    workloads: usize,
    /// Says how many of them wait for nodes.
    pending: usize,
    /// Says how many of them run.
    running: usize,
    /// Says how many of them have ended.
    ended: usize,
    /// GPUs that they wait for, as text.
    gpu_pending: String,
    /// The same in thousandths of devices.
    gpu_pending_milli: u64,
    /// GPUs that they hold, as text.
    gpu_held: String,
    /// The same in thousandths of devices.
    gpu_held_milli: u64,
}

/// Counts and amounts of some workloads.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) workloads: usize,
    pub(super) pending: usize,
    pub(super) running: usize,
    pub(super) ended: usize,
    /// GPUs of what wants to run and has no node.
    pub(super) waits: Total,
    /// GPUs that work holds which has not ended.
    pub(super) holds: Total,
    /// GPUs that ended work still holds.
    pub(super) left: Total,
}

/// Amounts that one workload adds to sums.
#[derive(Clone, Debug)]
pub(super) struct Amounts {
    pub(super) phase: Phase,
    /// GPUs that it asks for; of work that has ended, those that it still holds.
    pub(super) asked: Total,
    pub(super) held: Total,
}

impl Amounts {
    /// Works them out.
    pub(super) fn of(workload: &Workload) -> Self {
        let (phase, held) = (workload.phase(), workload.gpus_held());
        // Work that has ended asks for nothing; what it still holds is worth a look.
        let asked = if phase.is_over() { held.clone() } else { workload.gpus() };
        Self { phase, asked, held }
    }
}

impl Sums {
    /// Adds a workload.
    pub(super) fn add(&mut self, amounts: &Amounts) {
        let Amounts { phase, asked, held } = amounts;
        self.workloads += 1;
        if phase.is_over() {
            self.ended += 1;
            self.left.add(held, 1);
            return;
        }
        self.pending += usize::from(phase.is_queued());
        let runs = matches!(phase, Phase::Running | Phase::Starting | Phase::Degraded);
        self.running += usize::from(runs);
        if *phase != Phase::Suspended {
            self.waits.add(&asked.less(held), 1);
        }
        self.holds.add(held, 1);
    }
}

/// A line for each group, the one that holds most first.
pub(crate) fn report(by: By, workloads: &[Workload]) -> Report {
    let mut groups: BTreeMap<String, Sums> = BTreeMap::new();
    for workload in workloads {
        let name = match by {
            By::Queue => workload.queue.clone(),
            By::User => workload.user().unwrap_or_default().to_owned(),
            By::Kind => workload.resource.kind.to_lowercase(),
        };
        groups.entry(name).or_default().add(&Amounts::of(workload));
    }
    let title = match by {
        By::Queue => "QUEUE",
        By::User => "USER",
        By::Kind => "KIND",
    };
    let columns = [title, "WORKLOADS", "PENDING", "RUNNING", "ENDED", "GPU PENDING", "GPU HELD"];
    let rows = groups.iter().map(|(name, sums)| Row::new(name.clone(), cells(name, sums)));
    let table = Table { columns: columns.map(Column::new).into(), rows: rows.collect() };
    let items: Vec<Group> = groups.iter().map(|(name, sums)| group(name, sums)).collect();
    Report::new("WorkloadGroupList", json!({ "items": items }), Body::Table(table))
}

fn held(sums: &Sums) -> Total {
    let mut held = sums.holds.clone();
    held.add(&sums.left, 1);
    held
}

fn cells(name: &str, sums: &Sums) -> Vec<Cell> {
    let gpus = |total: &Total| {
        let shown = if total.is_zero() { "-".to_owned() } else { total.to_string() };
        Cell::ranked(shown, i64::try_from(total.milli).ok())
    };
    vec![
        if name.is_empty() { "-".into() } else { name.into() },
        sums.workloads.to_string().into(),
        sums.pending.to_string().into(),
        sums.running.to_string().into(),
        sums.ended.to_string().into(),
        gpus(&sums.waits),
        gpus(&held(sums)),
    ]
}

fn group(name: &str, sums: &Sums) -> Group {
    let held = held(sums);
    Group {
        name: name.to_owned(),
        workloads: sums.workloads,
        pending: sums.pending,
        running: sums.running,
        ended: sums.ended,
        gpu_pending: sums.waits.to_string(),
        gpu_pending_milli: sums.waits.milli,
        gpu_held: held.to_string(),
        gpu_held_milli: held.milli,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// A pod with 8 GPUs that is a workload of its own.
    fn workload(phase: &str, node: &str, queue: &str, user: &str) -> Workload {
        let limits = json!({"limits": {"nvidia.com/gpu": "8"}});
        let pod = json!({"metadata": {"name": "p", "labels": {"user": user}},
            "spec": {"nodeName": node, "containers": [{"resources": limits}]},
            "status": {"phase": phase}});
        let mut workload = Workload::of_pod(&pod);
        workload.queue = queue.to_owned();
        workload.object = Some(pod.clone());
        workload.pods = vec![pod];
        workload
    }

    /// The rows as text and as data.
    fn rows(by: By) -> (Vec<String>, Value) {
        let workloads = [
            workload("Running", "n", "a", "ana"),
            workload("Pending", "", "a", "bo"),
            workload("Pending", "", "a", "bo"),
            workload("Pending", "", "b", "bo"),
            workload("Succeeded", "n", "b", "ana"),
        ];
        let report = report(by, &workloads);
        let Body::Table(table) = &report.body else { panic!("groups are a table") };
        let row = |row: &Row| {
            let cells: Vec<&str> = row.cells.iter().map(|cell| cell.text.as_str()).collect();
            cells.join(" ")
        };
        (table.rows.iter().map(row).collect(), report.data["items"].clone())
    }

    #[test]
    fn each_queue_user_and_kind_has_its_own_numbers() {
        let (queues, items) = rows(By::Queue);
        assert_eq!(queues, ["a 3 2 1 0 16 8", "b 2 1 0 1 8 -"]);
        assert_eq!(
            items[0],
            json!({"name": "a", "workloads": 3, "pending": 2, "running": 1, "ended": 0,
                "gpuPending": "16", "gpuPendingMilli": 16_000, "gpuHeld": "8", "gpuHeldMilli": 8_000})
        );
        assert_eq!(rows(By::User).0, ["ana 2 0 1 1 - 8", "bo 3 3 0 0 24 -"]);
        assert_eq!(rows(By::Kind).0, ["pod 5 3 1 1 24 8"]);
    }
}
