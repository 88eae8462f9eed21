//! `kubectl kai sandbox --demo`: the product's story, told by the real thing.
//!
//! ```text
//!  world (API server, nodes, operators, daemons)
//!    |            \--watch--> watcher -> witness (pure: places, promises) -> screen
//!    \<-- the CLI's own code <-- story: chapter by chapter, each waits for what it tells
//! ```
//!
//! Nothing is canned: times, places and reasons are those of the run, and a chapter that does not
//! come out as told ends the story with its name and exit code 1.

mod chapters;
mod queues;
mod screen;
mod stage;
mod text;
mod watcher;
mod witness;

use std::time::Instant;

use kai_sandbox::nodes::Logs;
use tempfile::TempDir;

use crate::context::{Context, Run};
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::Style;
use crate::tryout::sandbox::{Plan, World, headline, interrupted, stay};
use queues::{QUEUES, create};
use screen::Screen;
use stage::{Shell, Stage, Stop};
use watcher::Watcher;
use witness::Witness;

/// Tells the story.
///
/// # Errors
/// When the sandbox cannot start or nobody reads the output any more.
pub(crate) async fn run(plan: Plan, context: &mut Context, run: Run) -> Result<Exit, Error> {
    let begun = Instant::now();
    let mut world = World::start(&plan).await?;
    let cluster = Cluster {
        client: world.client(),
        url: world.url().to_owned(),
        logs: world.logs().clone(),
        run,
    };
    let result = tokio::select! {
        result = tell(&cluster, &plan, begun, context) => result,
        exit = interrupted() => exit.map(|_| Exit::Interrupted),
        error = world.ended() => Err(error),
    };
    let result = match result {
        Ok(exit) if plan.keep && exit != Exit::Interrupted => {
            // The exit code is the story's, however long the cluster is looked at afterwards.
            stay(&mut world, &plan, context).await.map(|_| exit)
        }
        other => other,
    };
    world.stop().await;
    result
}

/// Holds what the story is told of, and what types its commands.
struct Cluster {
    client: kube::Client,
    url: String,
    logs: Logs,
    run: Run,
}

async fn tell(
    cluster: &Cluster,
    plan: &Plan,
    begun: Instant,
    context: &mut Context,
) -> Result<Exit, Error> {
    let Cluster { client, url, logs, run } = cluster;
    let folder = folder()?;
    for row in &QUEUES {
        create(client, row).await?;
    }
    let (watcher, watching) =
        Watcher::start(client.clone(), Witness::new(&plan.specs), logs.clone());
    let screen = Screen::new(&context.out);
    let mut stage =
        Stage::new(client.clone(), folder.path(), watcher, screen, Shell { context, run: *run });
    stage.say(&Style::Bold.paint(&headline(url, plan)))?;
    stage.say(
        "Queues: research (16 GPUs: team-a 8, team-b 8), prod (16 GPUs). Nothing outside this \
         process is changed.",
    )?;
    stage.note(&format!("Up in {} ms.", begun.elapsed().as_millis()))?;
    let result = chapters::all(&mut stage).await;
    watching.abort();
    match result {
        Ok(()) => {
            stage.close()?;
            let words = last_words(&stage.watcher.now(), plan.keep);
            stage.last(&words)?;
            Ok(Exit::Ok)
        }
        Err(Stop::Error(error)) => Err(error),
        Err(Stop::Missed { chapter, what }) => {
            stage.close()?;
            context.out.talk(&format!("chapter {chapter} did not come out as told: {what}"));
            Err(Error::Quiet(Exit::Failure))
        }
    }
}

fn last_words(witness: &Witness, keep: bool) -> String {
    let Witness { pods_seen, binds, checks, .. } = witness;
    let next = if keep {
        "Next: kubectl kai describe big, kubectl kai queues. On a real cluster: kubectl kai install"
    } else {
        "Next: kubectl kai sandbox --demo --keep, then try kubectl kai describe big.\n\
         On a real cluster: kubectl kai install"
    };
    format!(
        "{} workloads, {pods_seen} pods, {binds} binds; no gang ever half-placed, no GPU over-committed\n\
         (checked from outside on each of {checks} events).\n{next}",
        chapters::WORKLOADS
    )
}

/// Says where the story's files are; gone when dropped.
fn folder() -> Result<TempDir, Error> {
    let fail = |error: std::io::Error| {
        Problem::new(
            number::FILE,
            Exit::Failure,
            format!("failed to write to a temporary folder: {error}"),
        )
    };
    let folder = tempfile::Builder::new().prefix("kubectl-kai-").tempdir().map_err(fail)?;
    std::fs::write(folder.path().join("etl.yaml"), include_str!("demo/etl.yaml")).map_err(fail)?;
    Ok(folder)
}
