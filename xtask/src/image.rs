//! `cargo xtask image`: an image of all programs, from this machine alone: no Docker, no root, no network.
//!
//! ```text
//!  cargo build --bin kai ─► contents (files) ─► archive (layer, config, manifest) ─► FILE
//!  cargo metadata ────────► sbom ────────────┘
//! ```
//!
//! The same commit gives the same bytes on the same machine: files have no time, no owner, and one order.

pub(crate) mod archive;
pub(crate) mod contents;
mod sbom;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::repository::{capture, cargo, command, execute, print, root, say};

/// The image that the manifests in `deploy/` name, without its tag.
const REPOSITORY: &str = "ghcr.io/kubectl-kai/kai-scheduler";

/// Says where the image goes, and how it is built.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The archive to write, which `docker load`, `ctr images import` and `kubectl kai install --image-archive` read
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Cargo profile to build with; `dev` is ready sooner, and larger
    #[arg(long, default_value = "dist")]
    profile: String,
    /// Name of the image in the archive
    #[arg(long, value_name = "IMAGE", default_value_t = format!("{REPOSITORY}:{}", env!("CARGO_PKG_VERSION")))]
    name: String,
}

/// Holds what an image says of itself beside its files.
struct About {
    /// Name with tag.
    name: String,
    /// The commit, with `-dirty` where the sources differ from it.
    revision: Option<String>,
    /// When the commit was made.
    created: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let (_, tag) = arguments.name.rsplit_once(':').unwrap_or_default();
    ensure!(!tag.is_empty() && !tag.contains('/'), "--name {} has no :TAG", arguments.name);
    let program = stripped(&build("kai-programs", "kai", &arguments.profile)?)?;
    let libraries = contents::libraries(&program)?;
    let sbom = sbom::write(&libraries)?;
    let files = contents::files(&program, &libraries, &sbom)?;
    let about = about(&arguments.name)?;
    let is_final = arguments.profile != "dev";
    let image = archive::pack(&files, &about, is_final)?;
    let output = &arguments.output;
    let wrote = |path: &Path| format!("failed to write {}", path.display());
    fs::write(output, &image.bytes).with_context(|| wrote(output))?;
    let beside = PathBuf::from(format!("{}.cdx.json", output.display()));
    fs::write(&beside, &sbom).with_context(|| wrote(&beside))?;
    let megabytes = image.bytes.len().div_ceil(100_000);
    say(&format!(
        "wrote {} ({}.{} MB) and {}",
        output.display(),
        megabytes / 10,
        megabytes % 10,
        beside.display()
    ));
    print(&format!("{}@{}", arguments.name, image.digest))
}

/// Builds a program. What is handed out names no folder of this machine.
pub(crate) fn build(package: &str, program: &str, profile: &str) -> Result<PathBuf> {
    let mut build = command(&cargo(), &["build", "--locked", "--quiet", "--bin", program]);
    build.args(["--profile", profile]);
    if profile == "dev" {
        // With the features that tests have, so that what they have built is not built again.
        build.arg("--workspace");
    } else {
        build.args(["--package", package]);
        let home = capture(&mut command("rustc", &["--print", "sysroot"]))?;
        let home = home.trim();
        let registry = std::env::var("CARGO_HOME")
            .or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"));
        let registry = registry.context("neither CARGO_HOME nor HOME is set")?;
        let flags = [
            format!("--remap-path-prefix={registry}=/cargo"),
            format!("--remap-path-prefix={home}=/rust"),
            format!("--remap-path-prefix={}=/source", root().display()),
        ];
        build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    }
    execute(&mut build)?;
    let folder = if profile == "dev" { "debug" } else { profile };
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(root().join(target).join(folder).join(program))
}

/// Copies a program without names of symbols, which would be a third of it.
pub(crate) fn stripped(program: &Path) -> Result<PathBuf> {
    let output = program.with_extension("stripped");
    let mut strip = Command::new("strip");
    execute(strip.arg("--strip-all").arg("-o").arg(&output).arg(program))?;
    Ok(output)
}

/// Asks git which commit this is; a source archive has none.
fn about(name: &str) -> Result<About> {
    let name = name.to_owned();
    let mut log =
        command("git", &["log", "-1", "--format=%H %cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"]);
    let Ok(text) = capture(log.env("TZ", "UTC")) else {
        return Ok(About { name, revision: None, created: None });
    };
    let (commit, time) = text.trim().split_once(' ').context("git log prints two words")?;
    let changed = capture(&mut command("git", &["status", "--porcelain", "--untracked-files=no"]))?;
    let dirty = if changed.is_empty() { "" } else { "-dirty" };
    Ok(About { name, revision: Some(format!("{commit}{dirty}")), created: Some(time.to_owned()) })
}

#[cfg(test)]
#[expect(clippy::panic_in_result_fn, reason = "a test asserts, and hands on what it cannot do")]
mod tests {
    use super::*;

    #[test]
    fn the_manifests_name_the_image() -> Result<()> {
        for file in ["deploy/scheduler.yaml", "deploy/podgrouper.yaml"] {
            let text = fs::read_to_string(root().join(file))?;
            let name = format!("image: {REPOSITORY}:{}\n", env!("CARGO_PKG_VERSION"));
            assert!(text.contains(&name), "{file} names another image than {name}");
        }
        Ok(())
    }
}
