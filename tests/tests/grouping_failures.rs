//! The podgrouper among failures: a file a situation, played with faults in the way on an embedded API server and, where
//! `KUBEBUILDER_ASSETS` names one, on a real kube-apiserver.
//!
//! `grouping/f*.yaml` are the failure matrix, `x*` differences from KAI v0.17 that a pure rule cannot show, `c*` crashes,
//! missing rights, missing definitions and broken watches. A file's form: `kai_tests::stage::scene`.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use kai_tests::{
    control_plane::{ControlPlane, assets, say},
    live::Place,
    stage::scene::Scene,
};

/// Scenes that wait longer than this are played on a real API server only where `KAI_TEST_SCENE` names them: there, a
/// minute takes a minute.
const WAIT_MAX: Duration = Duration::from_secs(10);

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

#[tokio::test]
async fn failures_end_so_on_a_real_server() -> Result<()> {
    let Some(assets) = assets("grouping_failures: a real kube-apiserver") else { return Ok(()) };
    let scenes = scenes()?;
    let mut plane = ControlPlane::start(&assets, &[]).await?;
    plane.stop_controllers().await?;
    let mut place = Place::real(plane).await?;
    let (mut failures, mut left_out) = (Vec::new(), Vec::new());
    for (name, scene) in &scenes {
        let is_long = scene.wait()? > WAIT_MAX && chosen().is_none();
        if is_long || scene.is_embedded_only().is_some() {
            left_out.push(name.as_str());
            continue;
        }
        let (back, result) = scene.play_at(place).await.with_context(|| name.clone())?;
        place = back;
        if let Err(error) = result {
            failures.push(format!("{name} ({}): {error:#}", scene.what));
        }
    }
    place.stop().await;
    if !left_out.is_empty() {
        say(&format!(
            "grouping_failures: not on the real kube-apiserver, for they wait long (KAI_TEST_SCENE names them) or cannot be: {}",
            left_out.join(", ")
        ));
    }
    report(&failures, scenes.len())
}
