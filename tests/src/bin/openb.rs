//! `openb DIR`: how much of the GPUs of Alibaba's openb trace the engine allocates, beside published results.
//!
//! DIR is `alibaba-gpu-2023-openb` as the FGD authors publish it: `csv/` and `fgd-expected/analysis/expected_results/`.

use std::{io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::Parser;
use kai_tests::openb::{
    LOADS_PERCENT, Ranking, replay,
    tables::{machines, published, tasks},
};

/// The policy that ours must not fall below.
const BEST_FIT: &str = "BestFit";

#[derive(Parser)]
struct Arguments {
    /// The folder of the trace
    folder: PathBuf,
    /// Number of orders of arrival
    #[arg(long, default_value_t = 10)]
    seeds: u64,
    /// Only workloads whose name contains this
    #[arg(long, default_value = "")]
    workload: String,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            kai_tests::control_plane::say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Tells whether placement by fragments fell nowhere below best-fit, told of the workload or not.
fn run(arguments: &Arguments) -> Result<bool> {
    let folder = &arguments.folder;
    let machines = machines(&folder.join("csv/openb_node_list_gpu_node.csv"))?;
    let results = "fgd-expected/analysis/expected_results/analysis_allo_discrete.csv";
    let table = published(&folder.join(results))?;
    let mut good = true;
    for (workload, policies) in table.iter().filter(|(name, _)| name.contains(&arguments.workload))
    {
        let tasks = tasks(&folder.join(format!("csv/{workload}.csv")))?;
        for ranking in Ranking::ALL {
            let ours = mean(arguments.seeds, |seed| replay(&machines, &tasks, ranking, seed))?;
            print(workload, ranking.name(), ours)?;
            let best_fit = policies.iter().find(|(name, _)| name.contains(BEST_FIT));
            good &= ranking == Ranking::Pack
                || best_fit.is_none_or(|(_, theirs)| {
                    ours.iter().zip(theirs).all(|(a, b)| a + 0.005 >= *b)
                });
        }
        for (policy, ratios) in policies {
            print(workload, policy, *ratios)?;
        }
    }
    Ok(good)
}

/// The mean over seeds at the loads that are compared.
fn mean(seeds: u64, replay: impl Fn(u64) -> Result<Vec<f64>>) -> Result<[f64; 2]> {
    let mut sums = [0.0; 2];
    for seed in 42..42 + seeds {
        let ratios = replay(seed)?;
        for (sum, load) in sums.iter_mut().zip(LOADS_PERCENT) {
            *sum += ratios[load];
        }
    }
    let runs = f64::from(u32::try_from(seeds).context("too many seeds")?);
    Ok(sums.map(|sum| sum / runs))
}

fn print(workload: &str, policy: &str, [full, over]: [f64; 2]) -> Result<()> {
    let line =
        format!("{workload:<28} {policy:<16} {full:>6.2} % at 100 %   {over:>6.2} % at 130 %");
    writeln!(std::io::stdout(), "{line}").context("failed to write to stdout")
}
