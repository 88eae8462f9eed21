//! Files that `cargo xtask dist` writes: the same bytes again, checksums that hold, and installers that take no others.
//!
//! A script stands for the program, so that nothing is built.

#![expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
};

use anyhow::{Context, Result, ensure};
use kai_tests::{
    control_plane::{leave_out, tool},
    daemon::binary,
};

const SUITE: &str = "dist: packages of the command line";

/// Packs a script that says what the program would.
fn pack(folder: &Path) -> Result<()> {
    let program = folder.join("program");
    fs::write(&program, "#!/bin/sh\necho it runs \"$@\"\n")?;
    let mut pack = Command::new(binary("xtask"));
    pack.args(["dist", "--output"]).arg(folder.join("dist")).arg("--program").arg(&program);
    said(&mut pack).map(drop)
}

/// Gives what a command prints on stdout, when it ends well.
fn said(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("failed to start {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// The file whose name ends so.
fn find(folder: &Path, end: &str) -> Result<std::path::PathBuf> {
    let entries = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found = entries.filter(|path| path.to_string_lossy().ends_with(end));
    found.next().with_context(|| format!("no {end} in {}", folder.display()))
}

/// Runs the installer, which finds the archive in the folder.
fn install(dist: &Path, into: &Path) -> Result<Output> {
    let mut sh = Command::new("sh");
    sh.arg(dist.join("install.sh")).arg(into);
    sh.env("KAI_URL", format!("file://{}", dist.display()));
    sh.output().context("sh starts")
}

#[test]
fn the_same_program_gives_the_same_bytes() -> Result<()> {
    let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
    for folder in &folders {
        pack(folder.path())?;
    }
    let [one, other] = folders.each_ref().map(|folder| folder.path().join("dist"));
    said(Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&one))?;
    let mut count = 0;
    for entry in fs::read_dir(&one)? {
        let name = entry?.file_name();
        assert!(fs::read(one.join(&name))? == fs::read(other.join(&name))?, "{}", name.display());
        count += 1;
    }
    assert_eq!(count, 5);
    Ok(())
}

#[test]
fn the_installer_takes_what_was_published_and_nothing_else() -> Result<()> {
    let folder = tempfile::tempdir()?;
    pack(folder.path())?;
    let (dist, into) = (folder.path().join("dist"), folder.path().join("bin"));
    let archive = find(&dist, ".tar.gz")?;
    let good = fs::read(&archive)?;
    let mut bad = good.clone();
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    fs::write(&archive, bad)?;
    let refused = install(&dist, &into)?;
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("is not what was published; nothing was installed"), "{told}");
    assert!(!into.exists());
    fs::write(&archive, good)?;
    let output = install(&dist, &into)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said(Command::new(into.join("kubectl-kai")).arg("list"))?, "it runs list\n");
    let mode = fs::metadata(into.join("kubectl_complete-kai"))?.permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(fs::read_dir(&into)?.count(), 2);
    Ok(())
}

#[test]
fn dpkg_unpacks_the_package() -> Result<()> {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        leave_out(SUITE, "needs dpkg-deb");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    pack(folder.path())?;
    let package = find(&folder.path().join("dist"), ".deb")?;
    let fields = said(Command::new("dpkg-deb").arg("--field").arg(&package))?;
    assert!(fields.contains("Package: kubectl-kai\n"), "{fields}");
    let unpacked = folder.path().join("root");
    said(Command::new("dpkg-deb").arg("--extract").arg(&package).arg(&unpacked))?;
    assert_eq!(said(&mut Command::new(unpacked.join("usr/bin/kubectl-kai")))?, "it runs\n");
    for path in [
        "usr/bin/kubectl_complete-kai",
        "usr/share/man/man1/kubectl-kai.1.gz",
        "usr/share/bash-completion/completions/kubectl-kai",
        "usr/share/doc/kubectl-kai/copyright",
    ] {
        assert!(unpacked.join(path).is_file(), "{path}");
    }
    Ok(())
}

#[test]
fn krew_installs_the_manifest() -> Result<()> {
    let Some(krew) = tool(SUITE, "krew")? else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    pack(folder.path())?;
    let (dist, home) = (folder.path().join("dist"), folder.path().join("krew"));
    let manifest = format!("--manifest={}", dist.join("kai.yaml").display());
    let archive = format!("--archive={}", find(&dist, ".tar.gz")?.display());
    said(Command::new(krew).args(["install", &manifest, &archive]).env("KREW_ROOT", &home))?;
    assert_eq!(said(Command::new(home.join("bin/kubectl-kai")).arg("top"))?, "it runs top\n");
    Ok(())
}
