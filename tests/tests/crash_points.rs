//! Every story of `tests/live`, told anew for each death that a daemon can die in it: before a write, after it, and with its
//! answer lost.
//!
//! A change is judged by a part of them, the same each time; `KAI_CRASH_EVERY=1` tells all but for most of those of
//! [`SELDOM`], and `KAI_LIVE=part` those of the stories whose name holds it. Of those on the embedded API server one in
//! [`EVERY_REAL`] is told on a real kube-apiserver too, or as `KAI_CRASH_EVERY_REAL` says: there a minute takes a minute.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Context, Result};
use kai_tests::{
    break_point::MOMENTS,
    control_plane::{ControlPlane, assets},
    crash::{Death, deaths, play, told},
    live::{Place, Program, Scenario},
};

/// Of so many deaths one is told, where the variable says nothing else.
const EVERY: u64 = 60;

/// Of so many one is told on a real API server.
const EVERY_REAL: u64 = 700;

/// After so many deaths a line says how many were told.
const SAID_EVERY: usize = 250;

/// Real servers at once; on each of them one story after the other is told.
const SERVERS: usize = 3;

#[derive(Debug)]
struct Story {
    name: String,
    scenario: Arc<Scenario>,
}

/// Stories that are not told here, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "a-device-that-is-lost",
        "it takes away the second device, and which one a pod gets is another one after a death",
    ),
    (
        "attack-claims-of-bound-pods",
        "which devices a pod holds whose claim is gone is written nowhere, and a scheduler that starts anew does not know",
    ),
    (
        "attack-promises-of-bound-pods",
        "that a group could be evicted when it started is written nowhere, and a scheduler that starts anew believes its object",
    ),
    (
        "attack-shares-while-a-bind-waits",
        "what a pod asked for when it was given a GPU is written nowhere until it is bound, and a scheduler that starts anew plans with what it asks for now",
    ),
    (
        "attack-flood-of-annotations",
        "its deaths are those of one pod a hundred times, and each run of it takes seconds",
    ),
    (
        "attack-paths-in-annotations",
        "its deaths are those of one pod a thousand times, and each run of it takes seconds",
    ),
    (
        "attack-volumes-that-nobody-makes",
        "its deaths are those of one pod six hundred times, and each run of it takes half a minute",
    ),
    (
        "attack-victims-put-on-nodes",
        "its deaths are those of one pod a hundred times, and each run of it takes seconds",
    ),
    (
        "attack-hopeless-groups-of-three-queues",
        "its deaths are those of one pod a hundred times, and each run of it takes seconds",
    ),
    (
        "attack-amounts-of-pods-put-on-nodes",
        "its tenant puts a pod where there is no room for it, which is what deaths are judged by",
    ),
    (
        "attack-crowds-put-on-one-node",
        "its tenant puts pods where there is no room for them, which is what deaths are judged by",
    ),
];

/// Stories of whose deaths only one in so many is told where all are, and why.
const SELDOM: &[(&str, u64, &str)] = &[(
    "attack-jobs-make-pods-again",
    20,
    "its deaths are those of one Job sixty times: a third of all, and four fifths of the time for them",
)];

/// All stories that are told.
fn stories() -> Result<Vec<Story>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("live");
    let part = std::env::var("KAI_LIVE").unwrap_or_default();
    let mut all = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let scenario: Scenario =
            serde_saphyr::from_str(&fs::read_to_string(&path)?).with_context(|| name.clone())?;
        let is_left_out = LEFT_OUT.iter().any(|(left_out, _)| *left_out == name);
        if name.contains(&part) && !is_left_out {
            all.push(Story { name, scenario: Arc::new(scenario) });
        }
    }
    all.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(all)
}

/// Does all pieces of work on as many threads as there are cores, in order.
fn each<'w, T: Sync>(work: &'w [T], of: impl Fn(&'w T) + Sync) {
    let next = AtomicUsize::new(0);
    let lanes = thread::available_parallelism().map_or(2, Into::into);
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                while let Some(one) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    of(one);
                }
            });
        }
    });
}

/// Finds the deaths of all stories, by telling each without one.
fn find<'s>(stories: &'s [Story], fail: &(impl Fn(String) + Sync)) -> Vec<(&'s Story, Death)> {
    let found = Mutex::new(Vec::new());
    each(stories, |story| match play(&story.scenario, None) {
        Ok(writes) => {
            found.lock().unwrap_or_else(PoisonError::into_inner).push((story, writes));
        }
        Err(error) => fail(format!("{} without a death: {error:#}", story.name)),
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by(|(left, _), (right, _)| left.name.cmp(&right.name));
    let all = found
        .iter()
        .flat_map(|(story, writes)| deaths(writes).into_iter().map(move |death| (*story, death)));
    all.collect()
}

/// One in so many, as a variable says, or else `default`. Which these are does not hang on how many there are of a story:
/// a write more of one leaves the choice of all others as it was.
fn one_in<'s>(
    variable: &str,
    default: u64,
    all: &[(&'s Story, Death)],
) -> Result<Vec<(&'s Story, Death)>> {
    let every = std::env::var(variable).map_or(Ok(default), |text| text.parse())?.max(1);
    let is_chosen = |(story, death): &&(&Story, Death)| {
        let mut hasher = DefaultHasher::new();
        (&story.name, format!("{death:?}")).hash(&mut hasher);
        let seldom = SELDOM.iter().find(|(name, ..)| *name == story.name);
        hasher.finish().is_multiple_of(every * seldom.map_or(1, |(_, every, _)| *every))
    };
    Ok(all.iter().filter(is_chosen).copied().collect())
}

#[test]
fn a_death_at_any_write_changes_nothing() -> Result<()> {
    let stories = stories()?;
    assert!(!stories.is_empty(), "no story has that name and needs the daemons alone");
    let failures = Mutex::new(Vec::new());
    let fail = |text: String| {
        println!("{text}");
        failures.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    };
    let all = find(&stories, &fail);
    assert!(!all.is_empty(), "no daemon writes anything");
    let chosen = one_in("KAI_CRASH_EVERY", EVERY, &all)?;
    println!("{} of {} deaths in {} stories", chosen.len(), all.len(), stories.len());
    let told = AtomicUsize::new(0);
    each(&chosen, |(story, death)| {
        if let Err(error) = play(&story.scenario, Some(*death)) {
            fail(format!("{}: {error:#}", story.name));
        }
        let told = told.fetch_add(1, Ordering::Relaxed) + 1;
        if told.is_multiple_of(SAID_EVERY) {
            println!("{told} of {}", chosen.len());
        }
    });
    if let Some(assets) = assets("crash_points: a real kube-apiserver") {
        let chosen = one_in("KAI_CRASH_EVERY_REAL", EVERY_REAL, &all)?;
        println!("{} of them on a real API server", chosen.len());
        on_real(&assets, &chosen, &fail)?;
    }
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(failures.is_empty(), "{} runs failed:\n{}", failures.len(), failures.join("\n"));
    Ok(())
}

/// When a group was evicted is on its object although the scheduler dies as soon as its pod was deleted.
#[test]
fn an_eviction_is_said_before_a_pod_goes() -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("live/reclaim.yaml");
    let story: Arc<Scenario> = Arc::new(serde_saphyr::from_str(&fs::read_to_string(path)?)?);
    let [writes, _] = play(&story, None)?;
    let is_eviction = |write: &String| write.starts_with("DELETE") && write.contains("/pods/");
    let write = writes.iter().position(is_eviction).context("nobody is evicted")?;
    let program = Program::Scheduler;
    for moment in MOMENTS {
        play(&story, Some(Death { program, write, moment }))?;
    }
    Ok(())
}

/// Tells stories with their deaths on real API servers, each of which takes the next one that is left.
fn on_real(
    assets: &Path,
    chosen: &[(&Story, Death)],
    fail: &(impl Fn(String) + Sync),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let lanes = thread::scope(|scope| {
        let lane = || -> Result<()> {
            let runtime = tokio::runtime::Runtime::new()?;
            runtime.block_on(async {
                let place = Place::real(ControlPlane::start(assets, &[]).await?).await?;
                while let Some((story, death)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = told(&story.scenario, &place, Some(*death)).await {
                        fail(format!("{} on a real API server: {error:#}", story.name));
                    }
                    place.clear().await?;
                }
                place.stop().await;
                Ok(())
            })
        };
        let lanes: Vec<_> = (0..SERVERS).map(|_| scope.spawn(lane)).collect();
        let join = |lane: thread::ScopedJoinHandle<'_, Result<()>>| {
            lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        lanes.into_iter().map(join).collect::<Vec<_>>()
    });
    lanes.into_iter().collect()
}
