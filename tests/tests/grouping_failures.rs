//! The podgrouper among failures: a file a situation, played on an embedded API server with faults in the way.
//!
//! `grouping/f*.yaml` are the failure matrix, `x*` differences from KAI v0.17 that a pure rule cannot show, `c*` crashes,
//! missing rights and broken watches. A file's form: `kai_tests::stage::scene`.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use kai_tests::stage::scene::Scene;

#[tokio::test(start_paused = true)]
async fn every_failure_ends_as_its_file_says() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("grouping");
    let only = std::env::var("KAI_TEST_SCENE").unwrap_or_default();
    let mut failures = Vec::new();
    let mut paths: Vec<_> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    ensure!(!paths.is_empty(), "no files in {}", folder.display());
    for path in paths.iter().filter(|path| path.to_string_lossy().contains(&only)) {
        let text = fs::read_to_string(path)?;
        let scene: Scene = serde_saphyr::from_str(&text)
            .with_context(|| format!("failed to read {}", path.display()))?;
        if let Err(error) = scene.play().await {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            failures.push(format!("{name} ({}): {error:#}", scene.what));
        }
    }
    ensure!(
        failures.is_empty(),
        "{} of {} files:\n{}",
        failures.len(),
        paths.len(),
        failures.join("\n")
    );
    Ok(())
}
