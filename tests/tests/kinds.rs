//! Kinds of workload under their own definitions: manifests of kinds whose operators do not run here created, and pods
//! below them as their operators would make them grouped by the running podgrouper; what `submit` makes of every kind
//! rehearsed.
//!
//! A file of `kinds` tells what is created and what must come of it (form: `kai_tests::stage::scene`); the definitions
//! are those of `crds/workloads`. Every field of a manifest must be one that its kind has. Played on an embedded API
//! server and, where `KUBEBUILDER_ASSETS` names one, on a real kube-apiserver.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::resource::v1::DeviceClass;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kai_tests::{
    command_line::kai,
    control_plane::{ControlPlane, assets},
    live::Place,
    stage::{Stage, scene::Scene},
};
use kube::{Api, api::PostParams};
use kubectl_kai::Exit;

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

/// A server with the definitions of every kind.
async fn with_kinds(place: Place) -> Result<Stage> {
    let stage = Stage::at(place, &[]).await?;
    for (path, text) in files("crds/workloads", "json")? {
        let definition: CustomResourceDefinition =
            serde_json::from_str(&text).with_context(|| path.clone())?;
        stage.install(&definition).await.with_context(|| path.clone())?;
    }
    Ok(stage)
}

async fn play(place: Place) -> Result<()> {
    let mut stage = with_kinds(place).await?;
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

/// Rehearses on the server what `submit` makes of each line of `kinds/submit.txt`.
async fn rehearse(place: Place) -> Result<()> {
    let stage = with_kinds(place).await?;
    let class: DeviceClass = serde_json::from_value(
        serde_json::json!({"metadata": {"name": "gpu.example.com"}, "spec": {}}),
    )?;
    let classes: Api<DeviceClass> = Api::all(stage.client());
    classes.create(&PostParams::default(), &class).await?;
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("kinds/submit.txt"))?;
    let (mut rehearsed, mut failures) = (0, Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (flags, command) = line.split_once(" -- ").unwrap_or((line, ""));
        let fixed = "--image busybox -q default-queue --dry-run=server -o name";
        let words = format!("submit {flags} {fixed} -- {command}");
        let said = kai(stage.client(), "default", words.split_whitespace()).await;
        if said.exit != Exit::Ok {
            failures.push(format!("{line}\n{}{}", said.data, said.talk));
        }
        rehearsed += 1;
    }
    ensure!(failures.is_empty(), "{} of {rehearsed}:\n{}", failures.len(), failures.join("\n"));
    ensure!(rehearsed > 20, "only {rehearsed} lines were found");
    stage.end().await
}

#[tokio::test]
async fn what_submit_makes_is_taken_by_the_embedded_server() -> Result<()> {
    rehearse(Place::embedded().await?).await
}

#[tokio::test]
async fn what_submit_makes_is_taken_by_a_real_server() -> Result<()> {
    let Some(assets) = assets("kinds: a real kube-apiserver") else { return Ok(()) };
    let mut plane = ControlPlane::start(&assets, &[]).await?;
    plane.stop_controllers().await?;
    rehearse(Place::real(plane).await?).await
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
