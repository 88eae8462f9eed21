//! Something dies at each write of the scheduler.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::time::Duration;

use anyhow::{Result, bail};
use futures::{StreamExt, stream};
use kai_tests::break_point::{BreakPoint, MOMENTS, Then};
use serde_json::Value;
use tokio::time::sleep;

use crate::world::{Goal, Killable, Setup, Share, Wanted, World};

/// Time that all may take to agree again.
const CONVERGE_MAX: Duration = Duration::from_mins(1);
/// Runs at once; they mostly wait.
const AT_ONCE: usize = 16;
/// Time for which the API server is away.
const AWAY: Duration = Duration::from_millis(700);

/// The one that dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Victim {
    Scheduler,
    ApiServer,
    Reservations,
    Node,
}

const VICTIMS: [Victim; 4] =
    [Victim::Scheduler, Victim::ApiServer, Victim::Reservations, Victim::Node];

/// A gang of two, a single pod that has a claim besides, and one node with two GPUs more than they need.
fn setup() -> Setup<'static> {
    let pod = |name: &str, group: &str, hundredths, devices| Wanted {
        name: name.into(),
        group: group.into(),
        share: Share::Hundredths(hundredths),
        devices,
        has_claim: name == "one-0",
    };
    Setup {
        nodes: "3xH100:2",
        reservation_millis: 20..=20,
        wanted: vec![
            pod("pair-0", "pair", 50, 1),
            pod("pair-1", "pair", 60, 2),
            pod("one-0", "one", 50, 1),
        ],
        converge_max: CONVERGE_MAX,
    }
}

/// Has something die besides the scheduler.
async fn strike(world: &World, victim: Victim) -> Result<()> {
    match victim {
        Victim::Scheduler | Victim::ApiServer => Ok(()),
        Victim::Reservations => world.delete_reservations().await,
        Victim::Node => world.kill_node("node-1").await,
    }
}

/// Runs pods and takes them away again, with one break on the way; the writes of the scheduler that broke.
async fn run(point: &BreakPoint, victim: Victim) -> Result<Vec<String>> {
    let world = World::start(setup()).await?;
    let result = play(&world, point, victim).await;
    world.stop().await?;
    result.map(|()| point.writes())
}

async fn play(world: &World, point: &BreakPoint, victim: Victim) -> Result<()> {
    // The first bind of the gang was begun by another scheduler, which is gone.
    world.leave_bind_request("pair-0").await?;
    let account = world.place.account(kai_api::names::component::SCHEDULER).await?;
    let mut scheduler = Some(Killable::start(point.client(account.clone()))?);
    let story = async {
        world.wait_for("all run", Goal::AllRun).await?;
        world.delete(|_| true).await?;
        world.wait_for("nothing is left", Goal::NothingLeft).await
    };
    tokio::pin!(story);
    tokio::select! {
        told = &mut story => return told,
        () = point.broke() => {}
    }
    if victim == Victim::Scheduler {
        if let Some(dead) = scheduler.take() {
            dead.kill();
        }
        scheduler = Some(Killable::start(account)?);
    }
    strike(world, victim).await?;
    story.await?;
    world.mark_node("node-1", Value::Null).await?;
    // What recovers may not bring anything back.
    sleep(Duration::from_millis(200)).await;
    let left = world.leftovers().await?;
    drop(scheduler);
    if !left.is_empty() {
        bail!("left behind: {}", left.join(", "));
    }
    Ok(())
}

/// Only deaths of these are run, where the variable is set: one of the names, in any case.
fn is_chosen(victim: Victim) -> bool {
    let chosen = std::env::var("KAI_VICTIM").unwrap_or_default();
    chosen.is_empty() || format!("{victim:?}").eq_ignore_ascii_case(&chosen)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_dies_between_two_writes_all_agrees_afterwards() -> Result<()> {
    let writes = run(&BreakPoint::nowhere(), Victim::ApiServer).await?;
    for needle in [
        "kai-resource-reservation/pods",
        "/configmaps",
        "/resourceclaims",
        "/binding",
        "/bindrequests",
        "DELETE",
    ] {
        assert!(writes.iter().any(|write| write.contains(needle)), "no {needle} in {writes:?}");
    }
    let count = writes.len();
    let mut cases = Vec::new();
    for number in 0..count {
        for victim in VICTIMS.into_iter().filter(|victim| is_chosen(*victim)) {
            cases.extend(MOMENTS.map(|moment| (number, moment, victim)));
        }
    }
    let total = cases.len();
    println!("{total} deaths at {count} writes");
    let runs = stream::iter(cases).map(|(number, moment, victim)| async move {
        let then = match victim {
            Victim::Scheduler => Then::Dead,
            Victim::ApiServer => Then::Away(AWAY),
            Victim::Reservations | Victim::Node => Then::Alive,
        };
        let point = BreakPoint::at(number, moment, then);
        let result = run(&point, victim).await;
        result.err().map(|error| {
            let write = point.writes().get(number).cloned().unwrap_or_default();
            let text = format!("{victim:?} dies {moment:?} write {number} ({write}): {error:#}");
            println!("{text}");
            text
        })
    });
    let failures: Vec<String> =
        runs.buffer_unordered(AT_ONCE).filter_map(async |failure| failure).collect().await;
    let shown = failures.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {total} runs did not agree:\n{shown}", failures.len());
    Ok(())
}
