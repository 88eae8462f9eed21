//! Deaths of a daemon at each of its writes, in a story of `tests/live`, under tokio's paused clock.
//!
//! ```text
//! the story without a death ──► the writes of both daemons ──► each write x each moment ──► the story once more, with it
//! ```
//!
//! All that happens in a run follows from the story, so that a run with a death writes the same up to it as one without.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use kai_daemon::{chance, clock};
use kai_sandbox::server::{Change, Options, Server, Witness, Write};
use serde::Deserialize as _;

use crate::{
    admission::webhooks,
    break_point::{BreakPoint, MOMENTS, Moment, Then},
    live::{Deaths, Place, Program, Scenario, run_with},
    observer::Observed,
};

/// When every run begins: 2026-01-01T00:00:00Z.
const START_SECONDS: i64 = 1_767_225_600;
/// Decides names and pauses.
const SEED: u64 = 7;

/// A death.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Death {
    /// The daemon that dies.
    pub program: Program,
    /// The number of its write, from 0.
    pub write: usize,
    /// The moment of that write.
    pub moment: Moment,
}

/// Lists the deaths that a story has, by the writes of both daemons.
pub fn deaths(writes: &[Vec<String>; 2]) -> Vec<Death> {
    let programs = [Program::Scheduler, Program::Podgrouper];
    let all = programs.into_iter().zip(writes).flat_map(|(program, writes)| {
        let moments = move |write| MOMENTS.map(|moment| Death { program, write, moment });
        (0..writes.len()).flat_map(moments)
    });
    all.collect()
}

/// Tells a story with a death, or without one, in a thread of its own; the writes of the scheduler and of the podgrouper
/// until they died.
///
/// # Errors
/// What did not come true, and promises that were broken on the way.
pub fn play(story: &Arc<Scenario>, death: Option<Death>) -> Result<[Vec<String>; 2]> {
    let installed = installed()?;
    let story = Arc::clone(story);
    alone(SEED, async move {
        let observed = Arc::new(Mutex::new(Observed::default()));
        let server = installed.copy_without_port(&Options {
            witness: Some(witness(&observed)),
            webhooks: Some(webhooks()),
            ..Options::default()
        });
        let place = Place::Embedded(server);
        let writes = told(&story, &place, death).await?;
        place.stop().await;
        let findings = &observed.lock().unwrap_or_else(PoisonError::into_inner).findings;
        ensure!(findings.is_empty(), "{}", findings.join("\n"));
        Ok(writes)
    })
}

/// The server that all runs begin with: what is installed into it is half of the work of a run.
fn installed() -> Result<&'static Server> {
    static INSTALLED: LazyLock<Result<Server>> = LazyLock::new(|| {
        // No UID of it may come again in a run.
        alone(SEED + 1, async {
            let place = Place::within(Server::without_port(&Options::default())).await?;
            let Place::Embedded(server) = place else { bail!("it was made as an embedded one") };
            Ok(server)
        })
    });
    INSTALLED.as_ref().map_err(|error| anyhow!("{error:#}"))
}

/// Does work in a thread of its own, whose clock and luck are its own.
fn alone<T: Send + 'static>(
    seed: u64,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let thread = std::thread::Builder::new().stack_size(16 << 20).name("story".to_owned());
    let work = thread.spawn(move || {
        chance::seed(seed);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build()?;
        runtime.block_on(async {
            clock::follow_tokio(jiff::Timestamp::from_second(START_SECONDS)?);
            work.await
        })
    })?;
    work.join().map_err(|_| anyhow!("it panicked"))?
}

/// Tells a story with a death, or without one; the writes of the scheduler and of the podgrouper until they died.
///
/// # Errors
/// What did not come true.
pub async fn told(
    story: &Scenario,
    place: &Place,
    death: Option<Death>,
) -> Result<[Vec<String>; 2]> {
    let point = |program| match death {
        Some(death) if death.program == program => {
            BreakPoint::at(death.write, death.moment, Then::Dead)
        }
        Some(_) | None => BreakPoint::nowhere(),
    };
    let [scheduler, podgrouper] = [Program::Scheduler, Program::Podgrouper].map(point);
    let deaths = Deaths { scheduler, podgrouper };
    let told = run_with(story, place, &deaths).await;
    let writes = [deaths.scheduler.writes(), deaths.podgrouper.writes()];
    told.with_context(|| at(&writes, death)).map(|()| writes)
}

/// The write at which a daemon died, and the one before.
fn at(writes: &[Vec<String>; 2], death: Option<Death>) -> String {
    let Some(Death { program, write, moment }) = death else { return String::from("no death") };
    let of = &writes[usize::from(program == Program::Podgrouper)];
    let end = of.len().min(write + 1);
    let last = of[end.saturating_sub(2)..end].join(", then ");
    format!("{program:?} dies {moment:?} write {write} ({last})")
}

/// A witness that sees what no moment may show.
fn witness(observed: &Arc<Mutex<Observed>>) -> Witness {
    let observed = Arc::clone(observed);
    Witness(Arc::new(move |write: &Write<'_>| {
        let mut observed = observed.lock().unwrap_or_else(PoisonError::into_inner);
        match (write.plural, write.change) {
            ("pods", change) => {
                let Ok(pod) = Pod::deserialize(write.object) else { return };
                if change == Change::Deleted { observed.pod_gone(&pod) } else { observed.pod(&pod) }
            }
            ("nodes", Change::Added | Change::Modified) => {
                if let Ok(node) = Node::deserialize(write.object) {
                    observed.node(&node);
                }
            }
            _ => {}
        }
    }))
}
