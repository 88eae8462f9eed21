//! A cluster for tests: `kubectl kai sandbox` as a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

/// A cluster that ends with the test.
pub(crate) struct Sandbox {
    child: Child,
    /// Says where it keeps its kubeconfig; a killed one cannot clean up.
    _folder: tempfile::TempDir,
}

impl Sandbox {
    /// Starts one with these nodes, and gives its kubeconfig.
    pub(crate) fn start(nodes: &str) -> (Self, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_kubectl-kai"))
            .args(["sandbox", "--nodes", nodes, "--pace", "10"])
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("built with the tests");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it prints where its kubeconfig is");
        let path = line.trim().strip_prefix("export KUBECONFIG=").expect("it started").to_owned();
        (Self { child, _folder: folder }, path)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // It may have ended by itself, which the session has told.
        let _gone = self.child.kill().and_then(|()| self.child.wait());
    }
}
