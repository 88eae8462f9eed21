//! `cargo xtask dist`: what users download: an archive of the command line, a Debian package, a manifest for krew, and an
//! installer, with the checksums of all.
//!
//! ```text
//!  cargo build --bin kubectl-kai ─┐
//!  completions/, docs/man/ ───────┴► archive ─► checksum ─► kai.yaml, install.sh
//!                                 └► deb
//! ```
//!
//! The same commit gives the same bytes on the same machine, as for the image.

mod deb;

use std::{
    env::consts::{ARCH, OS},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    image::{
        archive::{compress, hash, tar},
        build,
        contents::{Entry, Files},
        stripped,
    },
    repository::{print, root, say},
};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Address at which releases are kept.
const PROJECT: &str = "https://github.com/kubectl-kai/kubectl-kai";
const SUMMARY: &str = "Submit AI workloads to a shared GPU cluster, and see why they wait";
const INSTALLER: &str = include_str!("dist/install.sh");

/// Says where the files go, and what is packed.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder to write into; it is made where it is missing
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
    /// A built kubectl-kai, packed as it is; without it, it is built and stripped
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Address of the folder from which users will download
    #[arg(long, value_name = "URL", default_value_t = format!("{PROJECT}/releases/download/v{VERSION}"))]
    url: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = match &arguments.program {
        Some(program) => program.clone(),
        None => stripped(&build("kubectl-kai", "kubectl-kai", "dist")?)?,
    };
    let files = files(&program)?;
    let platform = Platform::here()?;
    let archive = compress(&tar(&files)?, true)?;
    let name = format!("kubectl-kai-{VERSION}-{OS}-{}.tar.gz", platform.go);
    let sum = hash(&archive);
    let about = deb::About { version: VERSION, architecture: platform.go, summary: SUMMARY };
    let written = [
        (format!("kubectl-kai_{VERSION}_{}.deb", platform.go), deb::pack(&files, &about)?),
        ("install.sh".to_owned(), installer(&arguments.url, &name, &sum).into_bytes()),
        ("kai.yaml".to_owned(), krew(&arguments.url, &name, &sum, &platform).into_bytes()),
        (name, archive),
    ];
    let output = &arguments.output;
    fs::create_dir_all(output).with_context(|| format!("failed to make {}", output.display()))?;
    let write = |name: &str, bytes: &[u8]| {
        let path = output.join(name);
        fs::write(&path, bytes).with_context(|| format!("failed to write {}", path.display()))
    };
    for (name, bytes) in &written {
        write(name, bytes)?;
    }
    let sums: Vec<String> =
        written.iter().map(|(name, bytes)| format!("{}  {name}\n", hash(bytes))).collect();
    let sums = sums.concat();
    write("SHA256SUMS", sums.as_bytes())?;
    say(&format!("wrote {} files to {}", written.len() + 1, output.display()));
    print(sums.trim_end())
}

/// This machine as others name it.
struct Platform {
    /// As Go, and so krew and Debian, name the architecture.
    go: &'static str,
}

impl Platform {
    fn here() -> Result<Self> {
        ensure!(OS == "linux", "archives are made on Linux");
        match ARCH {
            "x86_64" => Ok(Self { go: "amd64" }),
            "aarch64" => Ok(Self { go: "arm64" }),
            other => anyhow::bail!("there is no archive for {other}"),
        }
    }
}

/// The files of the archive: the program and its completion for kubectl, the licence, completions of shells, and pages
/// for man.
fn files(program: &Path) -> Result<Files> {
    let mut files = Files::new();
    let mut put = |name: &Path, from: &Path, mode: u32| -> Result<()> {
        let bytes = fs::read(from).with_context(|| format!("failed to read {}", from.display()))?;
        files.insert(name.to_owned(), Entry::File { bytes, mode });
        Ok(())
    };
    put(Path::new("kubectl-kai"), program, 0o755)?;
    put(Path::new("LICENSE"), &root().join("LICENSE"), 0o644)?;
    for (folder, from) in [("completions", "completions"), ("man", "docs/man")] {
        let from = root().join(from);
        let entries = fs::read_dir(&from).with_context(|| format!("no {}", from.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            if name == "kubectl_complete-kai" {
                put(Path::new(&name), &entry.path(), 0o755)?;
            } else {
                put(&Path::new(folder).join(&name), &entry.path(), 0o644)?;
            }
        }
    }
    Ok(files)
}

/// The installer, which knows the checksum of the one archive that it unpacks.
fn installer(url: &str, archive: &str, sum: &str) -> String {
    [
        ("@VERSION@", VERSION),
        ("@URL@", url),
        ("@SYSTEM@", &format!("Linux-{ARCH}")),
        ("@ARCHIVE@", archive),
        ("@SUM@", sum),
    ]
    .iter()
    .fold(INSTALLER.to_owned(), |text, (mark, value)| text.replace(mark, value))
}

/// The manifest for krew.
fn krew(url: &str, archive: &str, sum: &str, platform: &Platform) -> String {
    format!(
        "apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\nmetadata:\n  name: kai\nspec:\n  \
        version: v{VERSION}\n  homepage: {PROJECT}\n  shortDescription: Submit AI workloads, see why they wait\n  \
        description: |\n    {SUMMARY}.\n    It installs its scheduler, and works with KAI Scheduler.\n  \
        caveats: |\n    kubectl kai sandbox is a cluster to try it in.\n    TAB: kubectl kai completion install\n  \
        platforms:\n  - selector:\n      matchLabels:\n        os: {OS}\n        arch: {}\n    \
        uri: {url}/{archive}\n    sha256: {sum}\n    bin: kubectl-kai\n    files:\n    \
        - from: kubectl-kai\n      to: .\n    - from: LICENSE\n      to: .\n",
        platform.go
    )
}
