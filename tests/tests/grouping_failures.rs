//! The podgrouper among failures: a file a situation, played with faults in the way on an embedded API server and, where
//! `KUBEBUILDER_ASSETS` names one, on a real kube-apiserver.
//!
//! `grouping/f*.yaml` are the failure matrix, `x*` differences from KAI v0.17 that a pure rule cannot show, `c*` crashes,
//! missing rights, missing definitions and broken watches. A file's form: `kai_tests::stage::scene`.

use std::{fs, path::Path, thread, time::Duration};

use anyhow::{Context, Result, ensure};
use kai_tests::{
    control_plane::{ControlPlane, assets, say},
    live::Place,
    stage::scene::Scene,
};

/// Scenes that wait longer than this are played on a real API server only where `KAI_TEST_SCENE` names them: there, a
/// minute takes a minute.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Number of control planes that scenes are played on at once.
const LANES: usize = 3;

/// The scenes that were asked for, by the names of their files.
fn scenes() -> Result<Vec<(String, Scene)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("grouping");
    let mut scenes = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let scene = serde_saphyr::from_str(&fs::read_to_string(&path)?)
            .with_context(|| format!("failed to read {}", path.display()))?;
        scenes.push((name, scene));
    }
    scenes.sort_by(|(left, _), (right, _)| left.cmp(right));
    if let Some(parts) = chosen() {
        scenes.retain(|(name, _)| parts.split(',').any(|part| name.contains(part)));
    }
    ensure!(!scenes.is_empty(), "no files in {}", folder.display());
    Ok(scenes)
}

/// Parts of names, divided by commas; an empty one is in every name.
fn chosen() -> Option<String> {
    std::env::var("KAI_TEST_SCENE").ok()
}

fn report(failures: &[String], count: usize) -> Result<()> {
    ensure!(failures.is_empty(), "{} of {count} files:\n{}", failures.len(), failures.join("\n"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn every_failure_ends_as_its_file_says() -> Result<()> {
    let scenes = scenes()?;
    let mut failures = Vec::new();
    for (name, scene) in &scenes {
        if let Err(error) = scene.play().await {
            failures.push(format!("{name} ({}): {error:#}", scene.what));
        }
    }
    report(&failures, scenes.len())
}

#[test]
fn failures_end_so_on_a_real_server() -> Result<()> {
    let Some(assets) = assets("grouping_failures: a real kube-apiserver") else { return Ok(()) };
    let scenes = scenes()?;
    let is_left_out = |scene: &Scene| -> Result<bool> {
        let is_long = scene.wait()? > WAIT_MAX && chosen().is_none();
        Ok(is_long || scene.is_embedded_only().is_some())
    };
    let (mut played, mut left_out) = (Vec::new(), Vec::new());
    for (name, scene) in &scenes {
        if is_left_out(scene)? {
            left_out.push(name.as_str());
        } else {
            played.push((name.as_str(), scene));
        }
    }
    // Scenes mostly wait. Each stage hears its own thread's log.
    let lanes: Vec<Vec<_>> =
        (0..LANES).map(|lane| played.iter().skip(lane).step_by(LANES).copied().collect()).collect();
    let failures = thread::scope(|scope| -> Result<Vec<String>> {
        let running: Vec<_> =
            lanes.iter().map(|lane| scope.spawn(|| play_lane(&assets, lane))).collect();
        let mut failures = Vec::new();
        for lane in running {
            failures.extend(lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(failures)
    })?;
    if !left_out.is_empty() {
        say(&format!(
            "grouping_failures: not on the real kube-apiserver, for they wait long (KAI_TEST_SCENE names them) or cannot be: {}",
            left_out.join(", ")
        ));
    }
    report(&failures, played.len())
}

/// Plays scenes one after the other on a control plane of their own; returns what did not end as it should.
fn play_lane(assets: &Path, scenes: &[(&str, &Scene)]) -> Result<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut plane = ControlPlane::start(assets, &[]).await?;
        plane.stop_controllers().await?;
        let mut place = Place::real(plane).await?;
        let mut failures = Vec::new();
        for (name, scene) in scenes {
            let (back, result) = scene.play_at(place).await.with_context(|| (*name).to_owned())?;
            place = back;
            if let Err(error) = result {
                failures.push(format!("{name} ({}): {error:#}", scene.what));
            }
        }
        place.stop().await;
        Ok(failures)
    })
}
