//! 500 pods of mixed size, and a scheduler that is killed 20 times while they come, go and end.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{env, time::Duration};

use anyhow::{Context, Result};
use kai_api::names::component;
use kai_sim::generate::Seed;
use kai_tests::observer::Observer;
use kube::Client;
use tokio::time::sleep;

use crate::world::{Goal, Killable, Setup, Share, Wanted, World};

const PODS: usize = 500;
/// Number of times that the scheduler is killed while pods come and go, and while all end.
const KILLS: [usize; 2] = [14, 6];
/// Milliseconds between two kills.
const BETWEEN: [u64; 2] = [100, 700];
const CONVERGE_MAX: Duration = Duration::from_mins(3);
/// Drawn from where `KAI_SEED` names no other.
const SEED: u64 = 20;

/// Gangs of one to four pods, each of which asks for a share of one or two devices; about two thirds of all memory.
fn wanted(seed: &mut Seed) -> Vec<Wanted> {
    let shares = [10, 20, 25, 30, 50, 60, 75].map(Share::Hundredths);
    let shares: Vec<Share> =
        shares.into_iter().chain([2_000, 8_192, 20_000, 40_000].map(Share::Mib)).collect();
    let mut pods = Vec::new();
    let mut gang = 0;
    while pods.len() < PODS {
        gang += 1;
        for member in 0..=seed.below(4) {
            pods.push(Wanted {
                name: format!("gang-{gang}-{member}"),
                group: format!("gang-{gang}"),
                share: *seed.pick(&shares),
                devices: if seed.one_in(8) { 2 } else { 1 },
                has_claim: false,
            });
        }
    }
    pods.truncate(PODS);
    pods
}

/// Kills the scheduler again and again; `between` happens before each kill.
async fn kill(
    client: &Client,
    mut scheduler: Killable,
    pauses: &[Duration],
    between: impl AsyncFn(usize) -> Result<()>,
) -> Result<Killable> {
    for (number, pause) in pauses.iter().enumerate() {
        sleep(*pause).await;
        between(number).await?;
        scheduler.kill();
        scheduler = Killable::start(client.clone())?;
    }
    Ok(scheduler)
}

#[tokio::test(flavor = "multi_thread")]
async fn devices_are_shared_rightly_while_the_scheduler_is_killed_again_and_again() -> Result<()> {
    let number = env::var("KAI_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(SEED);
    let mut seed = Seed::new(number);
    let pods = wanted(&mut seed);
    let setup = Setup {
        nodes: "40xH100:8",
        reservation_millis: 50..=500,
        wanted: pods,
        converge_max: CONVERGE_MAX,
    };
    let world = World::start(setup).await?;
    let observer = Observer::start(world.admin()).await?;
    let result = play(&world, &mut seed).await.with_context(|| format!("KAI_SEED={number}"));
    let seen = observer.finish().await?;
    world.stop().await?;
    result?;
    assert_eq!(seen.findings, [""; 0], "KAI_SEED={number}");
    assert!(seen.binds() >= PODS, "{} pods were bound", seen.binds());
    Ok(())
}

async fn play(world: &World, seed: &mut Seed) -> Result<()> {
    let client = world.place.account(component::SCHEDULER).await?;
    let mut pauses = |count| -> Vec<Duration> {
        let [least, most] = BETWEEN;
        (0..count).map(|_| Duration::from_millis(least + seed.below(most - least))).collect()
    };
    let [coming, ending] = KILLS.map(&mut pauses);
    let gangs: Vec<String> = world.gangs().into_keys().map(String::from).collect();
    let leaving: Vec<String> = coming.iter().map(|_| seed.pick(&gangs).clone()).collect();
    let scheduler = Killable::start(client.clone())?;
    let leave = async |number: usize| {
        let gang = format!("{}-", leaving[number]);
        world.delete(|name| name.starts_with(&gang)).await
    };
    let scheduler = tokio::select! {
        scheduler = kill(&client, scheduler, &coming, leave) => scheduler?,
        failed = world.keep_creating() => return failed,
    };
    world.wait_for("all run", Goal::AllRun).await?;
    let delete =
        async |number: usize| if number == 0 { world.delete(|_| true).await } else { Ok(()) };
    let scheduler = kill(&client, scheduler, &ending, delete).await?;
    world.wait_for("nothing is left", Goal::NothingLeft).await?;
    drop(scheduler);
    Ok(())
}
