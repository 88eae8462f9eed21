//! Simulated clusters: a seed decides all that happens, and no promise is broken by any of them.

use std::{
    fs,
    num::NonZero,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use kai_tests::simulation::{Happened, Report, Settings, run, shrink::Kept};

fn settings(seed: u64, has_faults: bool) -> Settings {
    Settings {
        seed,
        length: Duration::from_mins(20),
        nodes: 4,
        pods: 60,
        run: Duration::from_mins(10),
        has_faults,
        one_fault_in: 1,
        only: None,
        is_mixed: false,
        is_crowded: false,
        has_meddlers: false,
        has_two_leaders: false,
        trace: None,
    }
}

fn simulate(settings: Settings) -> Report {
    let seed = settings.seed;
    run(settings).unwrap_or_else(|error| panic!("seed {seed}: {error:#}"))
}

#[test]
fn two_runs_of_a_seed_are_one_history() {
    for has_faults in [false, true] {
        let first = simulate(settings(1, has_faults));
        assert_eq!(first, simulate(settings(1, has_faults)));
        assert_ne!(first.hash, simulate(settings(2, has_faults)).hash);
        assert!(first.binds > 5, "{first:?}");
    }
}

/// It ends all watches at one moment: they end in one order.
#[test]
fn a_restart_of_the_api_server_has_one_history() {
    let restart = Happened { at: String::from("server/12"), fault: String::from("restart") };
    let settings = || Settings { only: Some(vec![restart.clone()]), ..settings(4, true) };
    let first = simulate(settings());
    assert_eq!(first.faults, std::slice::from_ref(&restart));
    assert_eq!(first, simulate(settings()));
}

/// All that went wrong goes wrong again where only that may, so that fewer faults can be looked for.
#[test]
fn kept_faults_make_the_same_history() {
    let first = simulate(settings(3, true));
    let again = simulate(Settings { only: Some(first.faults.clone()), ..settings(3, true) });
    assert!(first.faults.len() > 20, "{} faults", first.faults.len());
    assert_eq!(first, again);
}

/// Users who write at the moment of a daemon's write are drawn and kept as other faults are.
#[test]
fn crowds_and_meddlers_make_one_history() {
    let length = Duration::from_mins(10);
    let of = |seed: u64, only: Option<Vec<Happened>>| {
        let settings = settings(seed, true);
        Settings { length, is_crowded: true, has_meddlers: true, only, ..settings }
    };
    // Which of them a seed draws changes with every request that a daemon makes more or less.
    let mut firsts = (5..15).map(|seed| (seed, simulate(of(seed, None))));
    let is_whole = |(_, first): &(u64, Report)| {
        let has = |kind: &str| first.faults.iter().any(|one| one.fault == kind);
        ["broken", "deleted", "edited"].into_iter().all(has)
    };
    let (seed, first) = firsts.find(is_whole).expect("one of ten seeds has all three");
    assert_eq!(first, simulate(of(seed, Some(first.faults.clone()))));
}

/// Volumes and claims of pods are made in one order each time.
#[test]
fn jobs_of_more_kinds_have_one_history() {
    let mixed = || Settings { is_mixed: true, ..settings(6, true) };
    let first = simulate(mixed());
    assert_eq!(first, simulate(mixed()));
    assert!(first.binds > 5, "{first:?}");
}

/// Long enough for watches that begin anew, whose objects once came in the order of a hash table.
#[test]
fn two_runs_of_an_hour_are_one_history() {
    let hour = || Settings { length: Duration::from_hours(1), ..settings(4, true) };
    assert_eq!(simulate(hour()), simulate(hour()));
}

/// Seeds of every run.
const SEEDS: std::ops::Range<u64> = 100..400;
/// One in so many of them has two leaders.
const TWO_LEADERS_IN: u64 = 10;
/// One in so many of them has Jobs of more kinds.
const MIXED_IN: u64 = 2;
/// One in so many of them has more work than there is room for, and queues that change.
const CROWDED_IN: u64 = 3;
/// One in so many of them has users who write at the very moment at which daemons do.
const MEDDLERS_IN: u64 = 4;

#[test]
fn no_seed_breaks_a_promise() {
    let next = AtomicU64::new(SEEDS.start);
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let found = Mutex::new(Vec::new());
    let work = || {
        while let Some(seed) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| SEEDS.contains(seed))
        {
            let has_two_leaders = seed.is_multiple_of(TWO_LEADERS_IN);
            let length = Duration::from_mins(if has_two_leaders { 12 } else { 6 });
            let is_mixed = seed.is_multiple_of(MIXED_IN);
            let is_crowded = seed.is_multiple_of(CROWDED_IN);
            let has_meddlers = seed.is_multiple_of(MEDDLERS_IN);
            let report = run(Settings {
                length,
                is_mixed,
                is_crowded,
                has_meddlers,
                has_two_leaders,
                ..settings(seed, true)
            });
            let findings = match report {
                Ok(report) => report.findings,
                Err(error) => vec![format!("{error:#}")],
            };
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.extend(findings.iter().map(|finding| format!("seed {seed}: {finding}")));
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    assert_eq!(found.into_inner().expect("no thread panics"), [""; 0]);
}

/// All is judged most strictly while nothing goes wrong: gangs in part, minimum runtimes, reservations, accounts of queues.
#[test]
fn a_crowd_without_faults_breaks_no_promise() {
    for seed in 10..20 {
        let settings = Settings { is_mixed: true, is_crowded: true, ..settings(seed, false) };
        let report = simulate(settings);
        assert_eq!(report.findings, [""; 0], "seed {seed}");
        assert!(report.binds > 5, "{report:?}");
    }
}

/// Both bind, by turns, although one's clock is half a minute ahead and answers come 20 s late for minutes.
#[test]
fn two_leaders_break_no_promise() {
    let length = Duration::from_mins(30);
    for seed in [2, 3] {
        let report = simulate(Settings { length, has_two_leaders: true, ..settings(seed, true) });
        assert_eq!(report.findings, [""; 0], "seed {seed}");
        assert_eq!(report.binders.len(), 2, "seed {seed}: {:?}", report.binders);
    }
}

/// Histories that broke a promise once, with the fewest faults that did it; there may be none.
#[test]
fn what_was_found_is_not_broken_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("simulations");
    let files = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files {
        let kept: Kept = serde_saphyr::from_str(&fs::read_to_string(&file).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let report = simulate(kept.settings());
        assert_eq!(report.findings, [""; 0], "{}: {}", file.display(), kept.about);
    }
}
