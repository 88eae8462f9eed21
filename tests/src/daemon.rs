//! A process under test: started with a log, stopped gently, killed, or frozen.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// Time that a process may take to stop after SIGTERM before it is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);
/// Length of the end of a log that a failure shows.
const LOG_END_BYTES: usize = 10_000;

/// One running process; dropping it stops it.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    log: PathBuf,
}

impl Daemon {
    /// Starts `binary`; its output goes to `folder/logs/name`.
    pub fn start(folder: &Path, name: &str, binary: &Path, arguments: &[String]) -> Result<Self> {
        Self::start_in(folder, name, binary, arguments, &[])
    }

    /// The same with variables in its environment.
    pub fn start_in(
        folder: &Path,
        name: &str,
        binary: &Path,
        arguments: &[String],
        environment: &[(&str, &str)],
    ) -> Result<Self> {
        let log = folder.join("logs").join(name);
        fs::create_dir_all(folder.join("logs"))?;
        let file = File::options().create(true).append(true).open(&log)?;
        let child = Command::new(binary)
            .args(arguments)
            .env("HOME", folder)
            .env_remove("KUBECONFIG")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .with_context(|| format!("failed to start {}", binary.display()))?;
        Ok(Self { child, log })
    }

    /// Tells whether it has not exited yet.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// The end of its log.
    pub fn log_end(&self) -> Result<String> {
        let text = fs::read(&self.log)?;
        let from = text.len().saturating_sub(LOG_END_BYTES);
        Ok(String::from_utf8_lossy(&text[from..]).into_owned())
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.context("the process has no id")?, signal)?;
        Ok(())
    }

    /// Kills it without a chance to clean up, as a crash would.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to stop with SIGTERM and waits; kills it after fifteen seconds.
    pub fn stop(&mut self) -> Result<ExitStatus> {
        if let Some(status) = self.child.try_wait()? {
            return Ok(status);
        }
        self.signal(Signal::TERM)?;
        let end = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(20));
        }
        self.child.kill()?;
        Ok(self.child.wait()?)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A process that can't be stopped is no reason to fail a test that passed.
        let _ = self.stop();
    }
}

/// The path of one of the project's own binaries, built in this test's profile.
///
/// # Panics
///
/// When the build fails: nothing that uses it could be tested.
pub fn binary(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| build().expect("the project's binaries build"));
    let path = folder.join(name);
    assert!(path.exists(), "no {name} in {}", folder.display());
    path
}

fn build() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let folder =
        test.parent().and_then(Path::parent).context("a test lies in target/PROFILE/deps")?;
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "--workspace", "--bins", "--locked"]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    // What is said of the test's own package: build scripts of dependencies would run again for it, here and in the next
    // build.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    let status = command
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .env("CARGO_TARGET_DIR", folder.parent().context("target/PROFILE has a parent")?)
        .status()?;
    ensure!(status.success(), "cargo build failed with {status}");
    Ok(folder.to_path_buf())
}
