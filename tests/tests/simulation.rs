//! Simulated clusters: a seed decides all that happens, and no promise is broken by any of them.

use std::time::Duration;

use kai_tests::simulation::{Report, Settings, run};

fn simulate(seed: u64, has_faults: bool) -> Report {
    let length = Duration::from_mins(10);
    let settings = Settings { seed, length, nodes: 4, pods: 20, has_faults, trace: None };
    run(settings).unwrap_or_else(|error| panic!("seed {seed}: {error:#}"))
}

#[test]
fn two_runs_of_a_seed_are_one_history() {
    for has_faults in [false, true] {
        let first = simulate(1, has_faults);
        assert_eq!(first, simulate(1, has_faults));
        assert_ne!(first.hash, simulate(2, has_faults).hash);
        assert!(first.binds > 5, "{first:?}");
    }
}

#[test]
fn no_seed_breaks_a_promise() {
    for seed in 100..108 {
        let report = simulate(seed, true);
        assert_eq!(report.findings, [""; 0], "seed {seed}");
    }
}
