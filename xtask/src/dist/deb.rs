//! Writes a package for Debian and its relatives.
//!
//! A package is an `ar` of two tars. What would write it otherwise (cargo-deb, dpkg-deb) is one program more to install,
//! builds again what is there, or writes the time of day into it.

use std::{path::Path, path::PathBuf};

use anyhow::{Context, Result};

use crate::image::{
    archive::{compress, tar},
    contents::{Entry, Files},
};

/// Says what the package is.
pub(super) struct About<'a> {
    pub(super) version: &'a str,
    /// The architecture as Debian names it.
    pub(super) architecture: &'a str,
    pub(super) summary: &'a str,
}

/// Packs files by their path in the archive of the command line: where each belongs on a Debian system is said here.
pub(super) fn pack(files: &Files, about: &About<'_>) -> Result<Vec<u8>> {
    let mut installed = Files::new();
    let mut size = 0;
    for (path, entry) in files {
        let Entry::File { bytes, mode } = entry else { continue };
        let Some(place) = place(path) else { continue };
        let is_page = place.starts_with("usr/share/man");
        let bytes = if is_page { compress(bytes, true)? } else { bytes.clone() };
        size += bytes.len();
        installed.insert(place, Entry::File { bytes, mode: *mode });
    }
    let program = files.get(Path::new("kubectl-kai")).context("there is no kubectl-kai")?;
    let libc = match program {
        Entry::File { bytes, .. } => libc_version(bytes),
        Entry::Link(_) => None,
    };
    let libc = libc.map_or_else(String::new, |minor| format!(" (>= 2.{minor})"));
    let control = format!(
        "Package: kubectl-kai\nVersion: {}\nArchitecture: {}\n\
        Maintainer: kubectl-kai authors <kubectl-kai@users.noreply.github.com>\n\
        Installed-Size: {}\nDepends: libc6{libc}, libgcc-s1\nSection: admin\nPriority: optional\n\
        Description: {}\n",
        about.version,
        about.architecture,
        size.div_ceil(1024),
        about.summary,
    );
    let mut said = Files::new();
    said.insert("control".into(), Entry::File { bytes: control.into_bytes(), mode: 0o644 });
    let mut package = b"!<arch>\n".to_vec();
    member(&mut package, "debian-binary", b"2.0\n");
    member(&mut package, "control.tar.gz", &compress(&tar(&said)?, true)?);
    member(&mut package, "data.tar.gz", &compress(&tar(&installed)?, true)?);
    Ok(package)
}

/// Says where a file of the archive belongs; none where Debian has no place for it.
fn place(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let text = match path.to_str()? {
        "kubectl-kai" | "kubectl_complete-kai" => format!("usr/bin/{name}"),
        "LICENSE" => "usr/share/doc/kubectl-kai/copyright".to_owned(),
        "completions/kubectl-kai.bash" => {
            "usr/share/bash-completion/completions/kubectl-kai".to_owned()
        }
        "completions/_kubectl-kai" => format!("usr/share/zsh/vendor-completions/{name}"),
        "completions/kubectl-kai.fish" => format!("usr/share/fish/vendor_completions.d/{name}"),
        page if page.starts_with("man/") => format!("usr/share/man/man1/{name}.gz"),
        _ => return None,
    };
    Some(text.into())
}

/// The newest minor version 2.N of glibc whose symbols a program names.
fn libc_version(program: &[u8]) -> Option<u32> {
    const MARK: &[u8] = b"GLIBC_2.";
    let minor = |at: usize| -> Option<u32> {
        let digits: Vec<u8> =
            program[at..].iter().copied().take_while(u8::is_ascii_digit).take(3).collect();
        String::from_utf8(digits).ok()?.parse().ok()
    };
    let marks = program.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK);
    marks.filter_map(|(at, _)| minor(at + MARK.len())).max()
}

/// Adds a file of nobody and of no time to an `ar`.
fn member(archive: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    let head = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, bytes.len());
    archive.extend_from_slice(head.as_bytes());
    archive.extend_from_slice(bytes);
    if bytes.len() % 2 == 1 {
        archive.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_symbol_says_which_libc_it_takes() {
        for (program, expect) in [
            ("", None),
            ("GLIBC_2.17\0GLIBC_2.34\0GLIBC_2.4\0", Some(34)),
            ("GLIBC_PRIVATE\0GLIBC_2.", None),
        ] {
            assert_eq!(libc_version(program.as_bytes()), expect, "{program}");
        }
    }

    #[test]
    fn members_begin_at_even_places() {
        let mut archive = Vec::new();
        member(&mut archive, "a", b"odd");
        assert_eq!(archive.len(), 64);
        assert!(archive.ends_with(b"`\nodd\n"));
    }
}
