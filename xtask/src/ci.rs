//! `cargo xtask ci`: what every change must pass, in the order that fails soonest.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result, ensure};

use crate::{
    bench,
    repository::{cargo, command, execute, root, say},
};

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
    cargo_with(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    let left_out = root().join("target/left-out.txt");
    fs::write(&left_out, "").with_context(|| format!("failed to write {}", left_out.display()))?;
    let mut tests = command(&cargo(), &["test", "--workspace", "--locked"]);
    execute(tests.env(LEFT_OUT, &left_out))?;
    let mut documentation = command(
        &cargo(),
        &["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"],
    );
    execute(documentation.env("RUSTDOCFLAGS", "-D warnings"))?;
    if arguments.without_bench {
        say("the benchmark gate is left out: --without-bench");
    } else {
        bench::run(&bench::Arguments::gate())?;
    }
    let lines = read_lines(&left_out)?;
    say(&summary(&lines));
    ensure!(lines.is_empty() || !arguments.complete, "suites were left out (--complete)");
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

fn cargo_with(arguments: &[&str]) -> Result<()> {
    execute(&mut command(&cargo(), arguments))
}
