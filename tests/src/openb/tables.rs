//! The tables of the trace and of its published results.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};

use super::LOADS_PERCENT;

/// One machine of the trace.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) name: String,
    pub(super) cpu_milli: i64,
    pub(super) memory_mib: i64,
    pub(super) gpus: u16,
    pub(super) model: String,
}

/// One pod of a workload.
#[derive(Clone, Debug)]
pub struct Task {
    pub(super) cpu_milli: i64,
    pub(super) memory_mib: i64,
    pub(super) gpus: u16,
    pub(super) gpu_milli: u32,
    pub(super) models: Vec<String>,
}

impl Task {
    pub(super) fn gpu_total_milli(&self) -> i64 {
        i64::from(self.gpus) * i64::from(self.gpu_milli)
    }
}

fn rows(path: &Path) -> Result<Vec<BTreeMap<String, String>>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().context("an empty table")?.split(',').collect();
    let row = |line: &str| {
        header
            .iter()
            .map(|name| (*name).to_owned())
            .zip(line.split(',').map(str::to_owned))
            .collect()
    };
    Ok(lines.map(row).collect())
}

fn number<T: std::str::FromStr>(row: &BTreeMap<String, String>, column: &str) -> Result<T> {
    let text = row.get(column).map_or("", String::as_str);
    text.parse().ok().with_context(|| format!("{column} is {text:?}"))
}

/// Reads `openb_node_list_gpu_node.csv`.
pub fn machines(path: &Path) -> Result<Vec<Machine>> {
    let read = |row: BTreeMap<String, String>| {
        Ok(Machine {
            name: row["sn"].clone(),
            cpu_milli: number(&row, "cpu_milli")?,
            memory_mib: number(&row, "memory_mib")?,
            gpus: number(&row, "gpu")?,
            model: row["model"].clone(),
        })
    };
    rows(path)?.into_iter().map(read).collect()
}

/// Reads an `openb_pod_list_*.csv`.
pub fn tasks(path: &Path) -> Result<Vec<Task>> {
    let read = |row: BTreeMap<String, String>| {
        let models = row.get("gpu_spec").map_or("", String::as_str);
        Ok(Task {
            cpu_milli: number(&row, "cpu_milli")?,
            memory_mib: number(&row, "memory_mib")?,
            gpus: number(&row, "num_gpu")?,
            gpu_milli: number(&row, "gpu_milli")?,
            models: models.split('|').filter(|one| !one.is_empty()).map(str::to_owned).collect(),
        })
    };
    rows(path)?.into_iter().map(read).collect()
}

/// Published mean allocation ratio per workload and policy at [`LOADS_PERCENT`].
pub type Published = BTreeMap<String, BTreeMap<String, [f64; 2]>>;

/// Reads `analysis_allo_discrete.csv`: one row a run, one column a percent of load.
pub fn published(path: &Path) -> Result<Published> {
    let mut sums: BTreeMap<(String, String), (f64, [f64; 2])> = BTreeMap::new();
    for row in rows(path)? {
        let sum = sums.entry((row["workload"].clone(), row["sc_policy"].clone())).or_default();
        sum.0 += 1.0;
        for (at, load) in LOADS_PERCENT.iter().enumerate() {
            sum.1[at] += number::<f64>(&row, &load.to_string())?;
        }
    }
    let mut table = Published::new();
    for ((workload, policy), (count, sum)) in sums {
        table.entry(workload).or_default().insert(policy, sum.map(|total| total / count));
    }
    Ok(table)
}
