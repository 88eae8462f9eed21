//! `cargo xtask ci`: what every change must pass, in the order that fails soonest.

use std::{
    collections::BTreeSet,
    env, fs,
    path::Path,
    process::{Child, Stdio},
};

use anyhow::{Context, Result, ensure};

use crate::repository::{cargo, cargo_with, command, execute, print, root, say};

/// Parts to leave out.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Leave out `cargo deny` (it needs `cargo install cargo-deny`)
    #[arg(long)]
    without_deny: bool,
    /// Leave out the benchmark gate (it needs valgrind)
    #[arg(long)]
    without_bench: bool,
    /// Fail where a suite was left out for want of a control plane, of operators or of a file
    #[arg(long)]
    complete: bool,
}

/// The variable that names the file to which a suite that is left out adds a line.
const LEFT_OUT: &str = "KAI_TEST_LEFT_OUT";

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    cargo_with(&["fmt", "--all", "--check"])?;
    if arguments.without_deny {
        say("cargo deny is left out: --without-deny");
    } else {
        cargo_with(&["deny", "--all-features", "check", "bans", "licenses", "sources"])?;
    }
    // Seconds that look at the tree itself, and would be the last of an hour in their turn.
    cargo_with(&["test", "--package", "xtask", "--locked"])?;
    cargo_with(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    let gate = if arguments.without_bench {
        say("the benchmark gate is left out: --without-bench");
        None
    } else {
        Some(start_gate()?)
    };
    let left_out = root().join("target/left-out.txt");
    fs::write(&left_out, "").with_context(|| format!("failed to write {}", left_out.display()))?;
    // Whoever waits for an hour is told of every suite that fails, and not of the first alone.
    let mut tests = command(&cargo(), &["test", "--workspace", "--locked", "--no-fail-fast"]);
    execute(tests.env(LEFT_OUT, &left_out))?;
    let mut documentation = command(
        &cargo(),
        &["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"],
    );
    execute(documentation.env("RUSTDOCFLAGS", "-D warnings"))?;
    if let Some(gate) = gate {
        say("the benchmark gate, which ran beside the tests:");
        finish_gate(gate)?;
    }
    let lines = read_lines(&left_out)?;
    say(&summary(&lines));
    ensure!(lines.is_empty() || !arguments.complete, "suites were left out (--complete)");
    Ok(())
}

/// Starts the benchmark gate in what the machine has left beside the tests: what it gates does not depend on the load,
/// and many tests wait.
///
/// Its programs are built in another folder than tests are, so neither waits for the other.
fn start_gate() -> Result<Gate> {
    let program = env::current_exe().context("this program has a path")?;
    let mut gate = command("nice", &["-n", "19", &program.to_string_lossy(), "bench", "--gate"]);
    let gate = gate.stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(Gate(Some(gate.spawn().context("failed to start the benchmark gate")?)))
}

/// The benchmark gate while it runs; it ends where nobody waits for it.
struct Gate(Option<Child>);

impl Drop for Gate {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // It may have ended by itself.
            let _gone = child.kill().and_then(|()| child.wait());
        }
    }
}

/// Waits for the gate and shows what it said.
fn finish_gate(mut gate: Gate) -> Result<()> {
    let child = gate.0.take().context("it was started")?;
    let output = child.wait_with_output().context("the benchmark gate was started here")?;
    print(String::from_utf8_lossy(&output.stdout).trim_end())?;
    say(String::from_utf8_lossy(&output.stderr).trim_end());
    ensure!(output.status.success(), "the benchmark gate failed");
    Ok(())
}

/// The lines of the suites that were left out, each once: several tests of a suite say the same.
fn read_lines(file: &Path) -> Result<BTreeSet<String>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("failed to read {}", file.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn summary(lines: &BTreeSet<String>) -> String {
    let mut text = format!("suites left out: {}", lines.len());
    for line in lines {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}
