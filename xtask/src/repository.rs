//! Finds the repository, what it tracks, and how a task runs a command in it.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root").to_path_buf()
}

/// One file that belongs to the repository.
pub(crate) struct File {
    /// Path below the root, with `/`.
    pub(crate) path: String,
    /// Its text; `None` when it is not UTF-8.
    pub(crate) text: Option<String>,
}

/// Every file that git tracks or would track, sorted by path.
///
/// Without git (a source archive) it walks the folders and leaves out `target` and dot folders.
pub(crate) fn files() -> Result<Vec<File>> {
    let root = root();
    let mut paths = tracked(&root).unwrap_or_else(|| walk(&root));
    paths.sort();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let full = root.join(&path);
        if full.is_file() {
            let bytes = fs::read(&full).with_context(|| format!("failed to read {path}"))?;
            files.push(File { path, text: String::from_utf8(bytes).ok() });
        }
    }
    ensure!(files.len() > 10, "found only {} files below {}", files.len(), root.display());
    Ok(files)
}

fn tracked(root: &Path) -> Option<Vec<String>> {
    let listing = ["--cached", "--others", "--exclude-standard", "-z"];
    let output =
        Command::new("git").arg("ls-files").args(listing).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output
        .status
        .success()
        .then(|| text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn walk(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if name == "target" || name == ".git" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(relative) = path.strip_prefix(root) {
                found.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found
}

/// A command that runs in the root, without what cargo told this task of its own package: some build scripts run again
/// where that is another than in the build before, and all that depends on them is built again.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// The cargo that runs this task.
pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

/// Runs a command with its output shown; an error names the command when it fails.
pub(crate) fn execute(command: &mut Command) -> Result<()> {
    let text = shown(command);
    say(&format!("$ {text}"));
    let status = command.status().with_context(|| format!("failed to start `{text}`"))?;
    ensure!(status.success(), "`{text}` failed with {status}");
    Ok(())
}

/// Runs cargo with its output shown; an error names the command when it fails.
pub(crate) fn cargo_with(arguments: &[&str]) -> Result<()> {
    execute(&mut command(&cargo(), arguments))
}

/// Runs a command and returns what it printed to stdout.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let text = shown(command);
    let output = command
        .stderr(Stdio::piped())
        .output()
        .with_context(|| format!("failed to start `{text}`"))?;
    if !output.status.success() {
        bail!(
            "`{text}` failed with {}:\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{text}` printed no UTF-8"))
}

fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Prints a line for the person who runs the task.
pub(crate) fn say(line: &str) {
    // A closed terminal is no reason to stop a task.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints a line of results.
pub(crate) fn print(line: &str) -> Result<()> {
    writeln!(std::io::stdout(), "{line}").context("failed to write to stdout")
}
