//! A whole cluster from a seed, in one thread and without sockets: the scheduler, the podgrouper, the stand-ins of kubelets
//! and operators and the users against the embedded API server, under tokio's paused clock, which advances by itself.
//!
//! ```text
//! users, kubelets, operators ──► Link ──► Server (embedded) ──► Witness: hash of all writes, promises after each
//! scheduler, podgrouper ───────► Link ──┘
//!                                  └─ how long each request takes, and what goes wrong with it, drawn from the seed
//! ```
//!
//! All that happens follows from the seed: two runs of one seed write the same objects at the same moments, to the byte.

mod accounts;
mod admission;
mod claims;
mod conduct;
mod crowd;
mod definitions;
mod devices;
mod fault;
mod gangs;
mod grouping;
mod haste;
mod holders;
mod judge;
mod link;
mod load;
mod meddle;
mod mixed;
mod neighbours;
mod nics;
mod node_faults;
mod parts;
mod places;
mod promises;
mod queue_tree;
mod recent;
mod refusal;
mod shown;
pub mod shrink;
mod verdicts;
mod victims;
mod weather;

use std::{
    collections::BTreeSet,
    fs::File,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use kai_daemon::{chance, clock};
use kai_sandbox::server::{Options, Server, Witness};
use kai_sim::generate::Seed;
use tokio::time::{Instant, sleep};

use crate::live::Place;
use holders::Holders;
use judge::Judge;
use load::Users;
use parts::Parts;
pub use weather::Happened;

/// When every simulation begins: 2026-01-01T00:00:00Z.
const START_SECONDS: i64 = 1_767_225_600;
/// Silence after which a cluster counts as at rest: more than five of the scheduler's rounds, and long enough for a daemon to
/// notice that a connection died, and to hear of what it missed.
const REST: Duration = Duration::from_secs(150);
/// Time that a cluster without faults and without news may take to come to rest, beside ten times that of its work.
const REST_WITHIN: Duration = Duration::from_hours(6);
const RUNS_WITHIN: u32 = 10;

/// Size and length of a simulation.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a load or a kind of faults of its own")]
pub struct Settings {
    /// Decides all that is drawn.
    pub seed: u64,
    /// Time for which users go on.
    pub length: Duration,
    /// The number of nodes, with 8 GPUs each.
    pub nodes: u32,
    /// About so many pods are there at a time.
    pub pods: u64,
    /// Time for which work runs on average.
    pub run: Duration,
    /// True if requests, daemons and nodes fail.
    pub has_faults: bool,
    /// Of the faults that are drawn one in so many happens.
    pub one_fault_in: u64,
    /// All that goes wrong; none: whatever the seed says.
    pub only: Option<Vec<Happened>>,
    /// True if Jobs are of more kinds: elastic, apart, together, with volumes or claims of devices.
    pub is_mixed: bool,
    /// True if more work comes than there is room for, and administrators change queues.
    pub is_crowded: bool,
    /// True if users write to an object at the very moment at which a daemon does, and connections break under way.
    pub has_meddlers: bool,
    /// True if two schedulers of one name run, whose clocks are apart, and answers come late for minutes.
    pub has_two_leaders: bool,
    /// File in which each write becomes a line.
    pub trace: Option<PathBuf>,
}

/// Outcome of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Follows from every write that the API server took in, and its moment.
    pub hash: u64,
    /// The number of those writes.
    pub writes: u64,
    /// The number of pods that were bound.
    pub binds: usize,
    /// Everything that went wrong, in the order of its places.
    pub faults: Vec<Happened>,
    /// The schedulers that bound something.
    pub binders: BTreeSet<String>,
    /// Time that passed in the cluster.
    pub simulated: Duration,
    /// Promises that were broken.
    pub findings: Vec<String>,
}

/// Simulates a cluster. It runs in a thread of its own, whose clock and luck are the simulation's.
///
/// # Errors
/// When the cluster cannot be set up, or does not come to rest.
pub fn run(settings: Settings) -> Result<Report> {
    let thread = std::thread::Builder::new().stack_size(16 << 20).name("simulation".to_owned());
    let work = thread.spawn(move || {
        chance::seed(settings.seed);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build()?;
        runtime.block_on(simulate(settings))
    })?;
    work.join().map_err(|_| anyhow::anyhow!("the simulation panicked"))?
}

async fn simulate(settings: Settings) -> Result<Report> {
    clock::follow_tokio(jiff::Timestamp::from_second(START_SECONDS)?);
    let began = Instant::now();
    let file = settings.trace.as_ref().map(File::create).transpose()?;
    let judge = Arc::new(Mutex::new(Judge::new(began, file, settings.has_faults)));
    let holders = Arc::new(Holders::default());
    let witness = {
        let (judge, holders) = (Arc::clone(&judge), Arc::clone(&holders));
        Witness(Arc::new(move |write| {
            if write.plural == "leases" {
                holders.wrote(write);
            }
            judge.lock().unwrap_or_else(PoisonError::into_inner).wrote(write);
        }))
    };
    let server = Server::without_port(&Options { witness: Some(witness), ..Options::default() });
    let place = Place::within(server).await?;
    let seed = Seed::new(settings.seed);
    let mut parts = Parts::start(&place, &seed, &settings, holders).await?;
    let mut users = Users::new(parts.user_client(), seed.split(1), &settings);
    users.prepare().await?;
    let end = Instant::now() + settings.length;
    let findings = || locked(&judge).findings();
    while Instant::now() < end && findings().is_empty() && parts.is_well() {
        parts.tend(&place).await?;
        users.act().await.context("a user")?;
    }
    parts.heal(&place).await?;
    users.settle().await?;
    locked(&judge).stand_still(1 + usize::from(settings.has_two_leaders));
    if findings().is_empty() {
        let within = REST_WITHIN + RUNS_WITHIN * settings.run;
        rest(&judge, &mut parts, &place, within).await?;
    }
    if findings().is_empty() {
        restart(&judge, &mut parts, &place).await?;
    }
    let simulated = began.elapsed();
    let stuck = users.stuck().await?;
    let mut judge = locked(&judge);
    // What broke a promise stopped in the middle of everything.
    if judge.findings().is_empty() && parts.ended().is_empty() {
        judge.at_rest();
        for job in stuck {
            judge.find(format!("at rest: {job} fits and has not ended"));
        }
    }
    let (hash, writes) = judge.trace();
    // What happens to two processes at one moment has no order that is the same each time.
    let mut faults = parts.happened();
    faults.sort_unstable();
    Ok(Report {
        hash,
        writes,
        binds: judge.binds(),
        faults,
        binders: parts.binders(),
        simulated,
        findings: [judge.findings(), parts.ended().to_vec(), parts.findings()].concat(),
    })
}

/// Waits until nothing runs and nothing is written any more; a daemon that ends meanwhile is started again.
async fn rest(
    judge: &Mutex<Judge>,
    parts: &mut Parts,
    place: &Place,
    within: Duration,
) -> Result<()> {
    let until = Instant::now() + within;
    while !locked(judge).is_at_rest(REST) && locked(judge).findings().is_empty() {
        ensure!(
            Instant::now() < until,
            "the cluster does not come to rest: last {}",
            locked(judge).last_write()
        );
        parts.revive(place).await?;
        sleep(Duration::from_secs(10)).await;
    }
    Ok(())
}

/// Starts all daemons again where everything is at rest: what they say of it stands there already (L2, L7). A new process
/// says events again, counts time up to its start into the day's record, and writes numbers beside the sentence of an
/// explanation, which are written anew only with something else.
async fn restart(judge: &Mutex<Judge>, parts: &mut Parts, place: &Place) -> Result<()> {
    let before = Instant::now();
    locked(judge).expect_a_restart();
    parts.restart(place).await?;
    sleep(2 * REST).await;
    let mut judge = locked(judge);
    if judge.silence() < before.elapsed() {
        let text = format!("at rest: a restart is followed by {}", judge.last_write());
        judge.find(text);
    }
    Ok(())
}

fn locked(judge: &Mutex<Judge>) -> std::sync::MutexGuard<'_, Judge> {
    judge.lock().unwrap_or_else(PoisonError::into_inner)
}
