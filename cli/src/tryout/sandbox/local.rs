//! `sandbox` alone: the cluster stays up until Ctrl-C, with a kubeconfig for it.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{Plan, World, interrupted};
use crate::cluster::queue::count;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};

/// Runs until Ctrl-C or SIGTERM, or until a daemon ends by itself.
pub(crate) async fn run(plan: Plan, context: &mut Context) -> Result<Exit, Error> {
    let mut world = World::start(&plan).await?;
    let result = stay(&mut world, &plan, context).await;
    world.stop().await;
    result
}

/// Tells how to reach the cluster, and waits.
pub(crate) async fn stay(
    world: &mut World,
    plan: &Plan,
    context: &mut Context,
) -> Result<Exit, Error> {
    let (_folder, path) = kubeconfig(world)?;
    context.out.talk(&headline(world.url(), plan));
    context.out.talk("The next commands, in another terminal:");
    context.out.data(&format!("export KUBECONFIG={}", path.display()))?;
    for command in [
        "kubectl get nodes",
        "kubectl kai queues",
        "kubectl kai submit job hello --gpu 1 --image busybox -- sleep 60",
        "kubectl kai list",
    ] {
        context.out.talk(command);
    }
    context.out.talk("Ctrl-C stops the cluster and removes every trace of it.");
    tokio::select! {
        exit = interrupted() => exit,
        error = world.ended() => Err(error),
    }
}

/// The kubeconfig in a folder of its own that goes when it is dropped; for the user's eyes only.
fn kubeconfig(world: &World) -> Result<(TempDir, PathBuf), Error> {
    let fail = |error: std::io::Error| {
        Problem::new(
            number::FILE,
            Exit::Failure,
            format!("failed to write the kubeconfig: {error}"),
        )
        .fix("make room in the temporary folder, or name another one in TMPDIR")
    };
    let folder = tempfile::Builder::new().prefix("kubectl-kai-").tempdir().map_err(fail)?;
    let path = folder.path().join("kubeconfig");
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(fail)?;
    file.write_all(world.kubeconfig().as_bytes()).map_err(fail)?;
    Ok((folder, path))
}

/// One paragraph about what is there.
pub(crate) fn headline(url: &str, plan: &Plan) -> String {
    let address = url.strip_prefix("https://").unwrap_or(url);
    let gpus: u32 = plan.specs.iter().map(|spec| spec.gpus).sum();
    let mut racks: Vec<u32> = plan.specs.iter().map(|spec| spec.rack).collect();
    racks.dedup();
    let mut text = format!("A cluster in this process: API server on {address},\n{}", nodes(plan));
    write!(text, " ({})", count(gpus, "GPU")).expect("a String takes all writes");
    match racks.as_slice() {
        [] | [_] => {}
        [first, .., last] => {
            write!(text, ", racks r{first} to r{last}").expect("a String takes all writes");
        }
    }
    let pace = match plan.pace {
        1 => "at the clock's pace".to_owned(),
        pace => format!("{pace}x faster than the clock"),
    };
    write!(text, ". Work is simulated, {pace}.").expect("a String takes all writes");
    text
}

/// `4 nodes x 8 H100`, for each group of equal nodes.
fn nodes(plan: &Plan) -> String {
    let mut groups: Vec<(String, usize)> = Vec::new();
    for spec in &plan.specs {
        let what = match spec.model {
            Some(model) => match &spec.mig {
                Some(mig) => {
                    format!("x {} {} ({} x {} each)", spec.gpus, model.name, mig.each, mig.profile)
                }
                None => format!("x {} {}", spec.gpus, model.name),
            },
            None => format!("x {} cores", spec.cores),
        };
        match groups.last_mut() {
            Some((last, count)) if *last == what => *count += 1,
            _ => groups.push((what, 1)),
        }
    }
    let texts: Vec<String> = groups
        .into_iter()
        .map(|(what, count)| {
            format!("{count} {} {what}", if count == 1 { "node" } else { "nodes" })
        })
        .collect();
    if texts.is_empty() { "no nodes".to_owned() } else { texts.join(", ") }
}
