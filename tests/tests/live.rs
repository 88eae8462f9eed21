//! Every story of `tests/live`, on the embedded API server and, where there is one, on a real kube-apiserver.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, future::try_join_all, stream};
use kai_tests::{
    control_plane::{ControlPlane, assets},
    live::{Place, Scenario, run},
};

/// Stories told at once, each in a cluster of its own; they mostly wait.
const AT_ONCE: usize = 4;
/// Real servers at once; on each of them one story after the other is told.
const SERVERS: usize = 2;

/// Says how long each expectation took, where `RUST_LOG` asks for it.
fn init_log() {
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    // A second test finds it set.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init();
}

/// All files in the order of their names.
fn scenarios() -> Result<Vec<(String, Scenario)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("live");
    let mut all = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        let scenario = serde_saphyr::from_str(&text).with_context(|| name.clone())?;
        all.push((name, scenario));
    }
    all.sort_by(|(left, _), (right, _)| left.cmp(right));
    assert!(all.iter().any(|(name, _)| is_chosen(name)), "no stories in {}", folder.display());
    Ok(all)
}

/// Only those whose name holds this are told, where it is set.
fn is_chosen(name: &str) -> bool {
    std::env::var("KAI_LIVE").map_or(true, |part| name.contains(&part))
}

fn report(failures: &[String]) {
    assert!(failures.is_empty(), "{} stories failed:\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn stories_come_true_on_the_embedded_server() -> Result<()> {
    init_log();
    let all = scenarios()?;
    let chosen = all.iter().filter(|(name, _)| is_chosen(name));
    let told = chosen.map(|(name, scenario)| async move {
        let place = Place::embedded().await?;
        let result = run(scenario, &place).await;
        place.stop().await;
        anyhow::Ok(result.err().map(|error| format!("{name} ({}): {error:#}", scenario.about)))
    });
    let failures: Vec<Option<String>> =
        stream::iter(told).buffer_unordered(AT_ONCE).try_collect().await?;
    report(&failures.into_iter().flatten().collect::<Vec<_>>());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn stories_come_true_on_a_real_server() -> Result<()> {
    init_log();
    let Some(assets) = assets("live: a real kube-apiserver") else { return Ok(()) };
    let all = scenarios()?;
    let left = Mutex::new(all.iter().filter(|(name, _)| is_chosen(name)));
    let failures = try_join_all((0..SERVERS).map(|_| tell_left(&assets, &left))).await?;
    report(&failures.concat());
    Ok(())
}

/// Tells stories that nobody has told yet on a server of its own, one after the other; those that failed.
async fn tell_left<'a>(
    assets: &Path,
    left: &Mutex<impl Iterator<Item = &'a (String, Scenario)>>,
) -> Result<Vec<String>> {
    let place = Place::real(ControlPlane::start(assets, &[]).await?).await?;
    let mut failures = Vec::new();
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    while let Some((name, scenario)) = next() {
        if let Err(error) = run(scenario, &place).await {
            failures.push(format!("{name} ({}): {error:#}", scenario.about));
        }
        place.clear().await?;
    }
    place.stop().await;
    Ok(failures)
}
