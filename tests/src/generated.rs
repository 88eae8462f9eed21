//! Files that have a source elsewhere in the repository: custom resource definitions, completions, the reference, pages
//! for man, and the picture in the README.

mod chart;
mod picture;
mod settings;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::control_plane::say;

/// A file, by its path in the repository, and what must be in it.
struct Generated {
    path: String,
    text: String,
}

/// Writes every file that differs from its source, and says which.
///
/// # Errors
///
/// When a file cannot be written.
pub fn write() -> Result<()> {
    for file in different() {
        let path = root().join(&file.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, &file.text)
            .with_context(|| format!("failed to write {}", path.display()))?;
        say(&format!("wrote {}", file.path));
    }
    Ok(())
}

/// Compares every file with its source.
///
/// # Errors
///
/// When files differ, with their paths.
pub fn check() -> Result<()> {
    let paths: Vec<String> = different().map(|file| file.path).collect();
    ensure!(paths.is_empty(), "not as generated: {paths:?}; run `cargo xtask generate`");
    Ok(())
}

fn different() -> impl Iterator<Item = Generated> {
    all().into_iter().filter(|file| {
        let path = root().join(&file.path);
        !fs::read_to_string(path).is_ok_and(|text| text == file.text)
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn all() -> Vec<Generated> {
    let mut files = Vec::new();
    for (name, text) in kai_api::crd::files() {
        files.push(Generated { path: format!("deploy/crds/{name}"), text });
    }
    let tree = kubectl_kai::command();
    for (name, text) in kubectl_kai::completion::files(&tree) {
        files.push(Generated { path: format!("completions/{name}"), text });
    }
    let text = kubectl_kai::pages::reference(&tree);
    files.push(Generated { path: "docs/reference.md".to_owned(), text });
    for (name, text) in kubectl_kai::pages::man(&tree) {
        files.push(Generated { path: format!("docs/man/{name}"), text });
    }
    files.extend(chart::files());
    files.push(picture::file());
    files.push(settings::file());
    files
}
