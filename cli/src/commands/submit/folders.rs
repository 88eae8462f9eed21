//! Folders behind `-f`: the manifests in them, in the order of their names.

use std::fs;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Deeper than folders of manifests are.
const DEPTH_MAX: u32 = 32;
/// More manifests than anybody submits at once.
const FILES_MAX: usize = 1000;

/// The paths with every folder replaced by the manifests in it, and in its folders where that is asked for.
///
/// # Errors
/// A folder cannot be read, or holds no manifest.
pub(super) fn expand(
    paths: &[PathBuf],
    recursive: bool,
    context: &Context,
) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let full = context.dir.join(path);
        if path == Path::new("-") || !full.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        let depth = if recursive { DEPTH_MAX } else { 0 };
        collect(&full, path, depth, &mut files)?;
        if files.len() == before {
            return Err(empty(&full, path, recursive));
        }
    }
    Ok(files)
}

/// Adds the manifests of a folder, named as the user named the folder.
fn collect(full: &Path, shown: &Path, depth: u32, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let failed = |e: std::io::Error| {
        let what = format!("failed to read the folder {}: {e}", clean(&shown.to_string_lossy()));
        Error::from(Problem::new(number::FILE, Exit::Failure, what))
    };
    let mut entries = fs::read_dir(full)
        .and_then(Iterator::collect::<Result<Vec<fs::DirEntry>, _>>)
        .map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let shown = shown.join(entry.file_name());
        // A link to a folder is not followed: it may lead back here.
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        if is_folder && depth > 0 {
            collect(&entry.path(), &shown, depth - 1, files)?;
        } else if !is_folder && is_manifest(&shown) && !entry.path().is_dir() {
            files.push(shown);
        }
        if files.len() > FILES_MAX {
            let what = format!("more than {FILES_MAX} manifests");
            return Err(Problem::new(number::FILE, Exit::Usage, what)
                .fix("submit the folders in it one by one")
                .into());
        }
    }
    Ok(())
}

/// Tells whether a file's name ends as a manifest's does.
pub(super) fn is_manifest(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str());
    matches!(end, Some("yaml" | "yml" | "json"))
}

fn empty(full: &Path, shown: &Path, recursive: bool) -> Error {
    let what = format!("{} holds no .yaml, .yml or .json file", clean(&shown.to_string_lossy()));
    let problem = Problem::new(number::NOTHING_TO_SCHEDULE, Exit::NotFound, what);
    let has_folders = fs::read_dir(full)
        .is_ok_and(|mut all| all.any(|entry| entry.is_ok_and(|entry| entry.path().is_dir())));
    if has_folders && !recursive {
        return problem.fix("look into its folders too: -R").into();
    }
    problem.fix("name the file itself: -f FILE").into()
}
