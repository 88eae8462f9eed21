//! Files of the image: the program under each of its names, and what it needs of a system.
//!
//! The program is linked with this machine's C library, so that a reservation pod can open NVIDIA's management library,
//! which the container runtime puts beside it: a static program could not.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::repository::{capture, root};

/// Names of the program.
const PROGRAMS: [&str; 5] =
    ["kai-scheduler", "kai-podgrouper", "kai-reservation", "kubectl-kai", "kubectl_complete-kai"];
/// Libraries that NVIDIA's needs beside those of the program.
const FOR_NVML: [&str; 3] = ["libdl.so.2", "libpthread.so.0", "librt.so.1"];
/// Files that are taken from this machine where it has them: whom to trust, where NVIDIA's runtime puts libraries, and
/// the licences of what is copied.
const SYSTEM: [&str; 4] = [
    "etc/ssl/certs/ca-certificates.crt",
    "etc/debian_version",
    "usr/share/doc/libc6/copyright",
    "usr/share/doc/libgcc-s1/copyright",
];
const PASSWD: &str = "root:x:0:0:root:/:/sbin/nologin\nkai:x:10000:10000:kai:/:/sbin/nologin\n";
const GROUP: &str = "root:x:0:\nkai:x:10000:\n";
const NAMES: &str = "hosts: files dns\n";

/// A file of the image.
#[derive(Debug)]
pub(crate) enum Entry {
    File { bytes: Vec<u8>, mode: u32 },
    Link(PathBuf),
}

/// Files by their path, without the first slash.
pub(crate) type Files = BTreeMap<PathBuf, Entry>;

/// A library of this machine that goes into the image.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// Finds the libraries of a program, and those of NVIDIA's.
pub(super) fn libraries(program: &Path) -> Result<Vec<Library>> {
    let told = capture(Command::new("ldd").arg(program).env("LC_ALL", "C"))?;
    let mut paths = listed(&told);
    let is_c = |path: &&PathBuf| path.file_name().is_some_and(|name| name == "libc.so.6");
    let c = paths.iter().find(is_c).context("ldd names no libc.so.6: the image needs glibc")?;
    let beside: Vec<PathBuf> = FOR_NVML.iter().map(|name| c.with_file_name(name)).collect();
    paths.extend(beside);
    paths.sort();
    paths.dedup();
    let read = |path: PathBuf| {
        let bytes =
            fs::read(&path).with_context(|| format!("failed to read {}", path.display()))?;
        Ok(Library { path, bytes })
    };
    paths.into_iter().map(read).collect()
}

/// Reads what ldd prints: `NAME => PATH (ADDRESS)`, or the path of the loader alone.
fn listed(text: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        let words = line.split_whitespace();
        words.into_iter().find(|word| word.starts_with('/')).map(PathBuf::from)
    };
    text.lines().filter_map(path).collect()
}

/// Puts all files together.
pub(super) fn files(program: &Path, libraries: &[Library], sbom: &[u8]) -> Result<Files> {
    let mut files = Files::new();
    let bytes =
        fs::read(program).with_context(|| format!("failed to read {}", program.display()))?;
    files.insert("usr/local/bin/kai".into(), Entry::File { bytes, mode: 0o755 });
    for name in PROGRAMS {
        files.insert(Path::new("usr/local/bin").join(name), Entry::Link("kai".into()));
    }
    for library in libraries {
        let path = library.path.strip_prefix("/").context("ldd names absolute paths")?;
        files.insert(path.into(), Entry::File { bytes: library.bytes.clone(), mode: 0o755 });
    }
    let mut plain = |path: &str, bytes: &[u8]| {
        files.insert(path.into(), Entry::File { bytes: bytes.into(), mode: 0o644 });
    };
    for path in SYSTEM {
        if let Ok(bytes) = fs::read(Path::new("/").join(path)) {
            plain(path, &bytes);
        }
    }
    plain("etc/passwd", PASSWD.as_bytes());
    plain("etc/group", GROUP.as_bytes());
    plain("etc/nsswitch.conf", NAMES.as_bytes());
    plain("usr/share/doc/kai/LICENSE", &fs::read(root().join("LICENSE"))?);
    plain("usr/share/sbom/kai.cdx.json", sbom);
    ensure!(
        files.contains_key(Path::new("etc/ssl/certs/ca-certificates.crt")),
        "this machine has no /etc/ssl/certs/ca-certificates.crt: install its package ca-certificates"
    );
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ldd_is_read() {
        let text = "\tlinux-vdso.so.1 (0x00007ffe)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f)\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        let paths = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"];
        assert_eq!(listed(text), paths.map(PathBuf::from));
    }
}
