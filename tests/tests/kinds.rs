//! Kinds whose operators do not run here: their definitions installed, manifests of them created, and pods below them
//! as their operators would make them grouped by the running podgrouper.
//!
//! A file of `kinds` tells what is created and what must come of it (form: `kai_tests::stage::scene`); the definitions
//! are those of `crds/workloads`. Every field of a manifest must be one that its kind has. Played on an embedded API
//! server and, where `KUBEBUILDER_ASSETS` names one, on a real kube-apiserver.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kai_tests::{
    control_plane::{ControlPlane, assets},
    live::Place,
    stage::{Stage, scene::Scene},
};

/// The files of a folder beside this crate's manifest, in the order of their names.
fn files(folder: &str, extension: &str) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            files.push((path.display().to_string(), fs::read_to_string(&path)?));
        }
    }
    ensure!(!files.is_empty(), "no files in {folder}");
    files.sort();
    Ok(files)
}

async fn play(place: Place) -> Result<()> {
    let mut stage = Stage::at(place, &[]).await?;
    for (path, text) in files("crds/workloads", "json")? {
        let definition: CustomResourceDefinition =
            serde_json::from_str(&text).with_context(|| path.clone())?;
        stage.install(&definition).await.with_context(|| path.clone())?;
    }
    let mut failures = Vec::new();
    for (path, text) in files("kinds", "yaml")? {
        let scene: Scene = serde_saphyr::from_str(&text).with_context(|| path.clone())?;
        if let Err(error) = scene.act(&mut stage).await {
            failures.push(format!("{path} ({}): {error:#}", scene.what));
        }
        stage.stop_podgrouper().await;
    }
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    stage.end().await
}

#[tokio::test(start_paused = true)]
async fn their_pods_are_grouped_on_the_embedded_server() -> Result<()> {
    play(Place::embedded().await?).await
}

#[tokio::test]
async fn their_pods_are_grouped_on_a_real_server() -> Result<()> {
    let Some(assets) = assets("kinds: a real kube-apiserver") else { return Ok(()) };
    let mut plane = ControlPlane::start(&assets, &[]).await?;
    plane.stop_controllers().await?;
    play(Place::real(plane).await?).await
}
