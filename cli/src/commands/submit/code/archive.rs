//! A folder as an archive small enough for a config map. The same files always make the same bytes.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use ignore::WalkBuilder;

use crate::cluster::queue::count;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// The most that a config map holds, with room for the rest of it.
const PACKED_BYTES_MAX: usize = (1 << 20) - (16 << 10);
/// More than this never packs into a config map, and is not read to find out.
const BYTES_MAX: u64 = 64 << 20;
/// Files that keep others out, besides those of git.
const IGNORE_FILE: &str = ".kaiignore";
/// Large files that are named.
const NAMED: usize = 3;

/// A packed folder.
#[derive(Debug)]
pub(super) struct Packed {
    files: usize,
    bytes: Vec<u8>,
}

/// A file that is packed.
struct Entry {
    path: PathBuf,
    name: PathBuf,
    size: u64,
    is_link: bool,
}

/// Packs the files of a folder that no ignore file keeps out.
///
/// # Errors
/// The folder cannot be read, holds nothing, or is too large.
pub(super) fn pack(dir: &Path, typed: &str) -> Result<Packed, Error> {
    let failed = |path: &Path, e: &dyn std::fmt::Display| {
        let what = format!("failed to read {}: {e}", path.display());
        Error::from(Problem::new(number::FILE, Exit::Failure, what).fix("--workdir with a folder"))
    };
    if !dir.is_dir() {
        let what = format!("--workdir {typed}: there is no such folder");
        return Err(Problem::new(number::FILE, Exit::NotFound, what).fix("--workdir DIR").into());
    }
    let entries = entries(dir).map_err(|e| failed(dir, &e))?;
    if entries.is_empty() {
        let what = format!("--workdir {typed}: the folder holds no file that is not ignored");
        return Err(Problem::new(number::FILE, Exit::Usage, what)
            .fix(format!("look at .gitignore and {IGNORE_FILE} there"))
            .into());
    }
    let total: u64 = entries.iter().map(|entry| entry.size).sum();
    if total > BYTES_MAX {
        return Err(too_large(typed, total, "", &entries).into());
    }
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    archive.follow_symlinks(false);
    archive.mode(tar::HeaderMode::Deterministic);
    for entry in &entries {
        archive
            .append_path_with_name(&entry.path, &entry.name)
            .map_err(|e| failed(&entry.path, &e))?;
    }
    let bytes = archive.into_inner().and_then(GzEncoder::finish).map_err(|e| failed(dir, &e))?;
    if bytes.len() > PACKED_BYTES_MAX {
        return Err(too_large(typed, bytes.len() as u64, " packed", &entries).into());
    }
    Ok(Packed { files: entries.iter().filter(|entry| !entry.is_link).count(), bytes })
}

/// The files below a folder in the order of their names.
fn entries(dir: &Path) -> Result<Vec<Entry>, io::Error> {
    let walk = WalkBuilder::new(dir)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .add_custom_ignore_filename(IGNORE_FILE)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp)
        .build();
    let mut entries = Vec::new();
    for entry in walk {
        let entry = entry.map_err(io::Error::other)?;
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { continue };
        // Sockets and the like are no code.
        if !kind.is_file() && !kind.is_symlink() {
            continue;
        }
        let name = entry.path().strip_prefix(dir).map_err(io::Error::other)?.to_owned();
        let size = entry.metadata().map_err(io::Error::other)?.len();
        let path = entry.path().to_owned();
        entries.push(Entry { path, name, size, is_link: kind.is_symlink() });
    }
    Ok(entries)
}

fn too_large(typed: &str, bytes: u64, how: &str, entries: &[Entry]) -> Problem {
    let what = format!("--workdir {typed} is {}{how}, and a config map holds 1 MiB", size(bytes));
    let mut largest: Vec<&Entry> = entries.iter().collect();
    largest.sort_by_key(|entry| std::cmp::Reverse(entry.size));
    let largest: Vec<String> = largest
        .iter()
        .take(NAMED)
        .map(|entry| format!("{} ({})", clean(&entry.name.display().to_string()), size(entry.size)))
        .collect();
    Problem::new(number::TOO_LARGE, Exit::Refused, what)
        .line(format!("the largest files: {}", largest.join(", ")))
        .fix(format!(
            "name what is not needed in {IGNORE_FILE}; or a repository: --git URL; or a claim: -m pvc://CLAIM:/PATH"
        ))
}

/// A size as people read it.
fn size(bytes: u64) -> String {
    let tenths = |unit: u64| {
        let tenths = bytes.saturating_mul(10) / unit;
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", tenths(1 << 10)),
        1_048_576.. => format!("{} MiB", tenths(1 << 20)),
    }
}

impl Packed {
    /// Says how much there is.
    pub(super) fn summary(&self) -> String {
        format!("{} · {} packed", count(self.files, "file"), size(self.bytes.len() as u64))
    }

    /// The archive as a config map keeps it.
    pub(super) fn base64(&self) -> String {
        STANDARD.encode(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn ignored_files_stay_out_and_the_same_files_make_the_same_bytes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it is ours");
            fs::write(path, text).expect("it is ours");
        };
        write("train.py", "print(1)");
        write("src/model.py", "print(2)");
        write("data/big.bin", "x");
        write("notes.txt", "x");
        write(".git/HEAD", "x");
        write(".gitignore", "data/\n");
        write(".kaiignore", "notes.txt\n");
        let packed = pack(folder.path(), ".").expect("it is small");
        let again = pack(folder.path(), ".").expect("it is small");
        assert_eq!(packed.bytes, again.bytes);
        let unpacked = flate2::read::GzDecoder::new(packed.bytes.as_slice());
        let mut archive = tar::Archive::new(unpacked);
        let names: Vec<String> = archive
            .entries()
            .expect("it is an archive")
            .map(|entry| {
                entry.expect("it is whole").path().expect("it has one").display().to_string()
            })
            .collect();
        assert_eq!(names, [".gitignore", ".kaiignore", "src/model.py", "train.py"]);
    }

    #[test]
    fn sizes_have_one_decimal() {
        assert_eq!([size(7), size(1536), size(3 << 20)], ["7 B", "1.5 KiB", "3.0 MiB"]);
    }
}
