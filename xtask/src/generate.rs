//! `cargo xtask generate`: files that have a source elsewhere in the repository, written or compared with it.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};

use crate::repository::{self, say};

/// Choice between writing and comparing.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Fail when a file differs from its source instead of writing it
    #[arg(long)]
    check: bool,
}

/// A file and what must be in it.
struct Generated {
    path: String,
    text: String,
}

/// Writes every generated file, or fails when one differs.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut different = Vec::new();
    for file in generated() {
        let path = repository::root().join(&file.path);
        if fs::read_to_string(&path).is_ok_and(|text| text == file.text) {
            continue;
        }
        if arguments.check {
            different.push(file.path);
        } else {
            write(&path, &file.text)?;
            say(&format!("wrote {}", file.path));
        }
    }
    ensure!(different.is_empty(), "not as generated: {different:?}; run `cargo xtask generate`");
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("failed to write {}", path.display()))
}

fn generated() -> Vec<Generated> {
    let mut files = Vec::new();
    for (name, text) in kai_api::crd::files() {
        files.push(Generated { path: format!("deploy/crds/{name}"), text });
    }
    for (name, text) in kubectl_kai::completion::files(&kubectl_kai::command()) {
        files.push(Generated { path: format!("completions/{name}"), text });
    }
    let tree = kubectl_kai::command();
    let text = kubectl_kai::pages::reference(&tree);
    files.push(Generated { path: "docs/reference.md".to_owned(), text });
    for (name, text) in kubectl_kai::pages::man(&tree) {
        files.push(Generated { path: format!("docs/man/{name}"), text });
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_as_their_source_says() {
        if let Err(error) = run(&Arguments { check: true }) {
            panic!("{error:#}");
        }
    }
}
