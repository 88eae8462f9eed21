//! A cluster of one process: `kubectl kai sandbox`, as a user starts it.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result};

/// A cluster that ends with the test.
#[derive(Debug)]
pub struct Sandbox {
    child: Child,
    kubeconfig: PathBuf,
    /// Holds its kubeconfig, which a killed one cannot clean up.
    _folder: tempfile::TempDir,
}

impl Sandbox {
    /// Starts one by this program, with these nodes, and with further flags of `kubectl kai sandbox`.
    ///
    /// # Errors
    ///
    /// When it does not start, or does not say where its kubeconfig is.
    pub fn start(program: &Path, nodes: &str, flags: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut child = Command::new(program)
            .args(["sandbox", "--nodes", nodes])
            .args(flags)
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("failed to start kubectl-kai")?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("its output is piped")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let path = line.trim().strip_prefix("export KUBECONFIG=").context("it did not start")?;
        Ok(Self { child, kubeconfig: path.into(), _folder: folder })
    }

    /// Gives the file with which kubectl reaches it.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _gone = self.child.kill().and_then(|()| self.child.wait());
    }
}
