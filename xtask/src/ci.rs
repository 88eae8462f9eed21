//! `cargo xtask ci`: what every change must pass, in the order that fails soonest.

use anyhow::Result;

use crate::{
    bench,
    repository::{cargo, command, execute, say},
};

/// Which parts to leave out.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Leave out `cargo deny` (it needs `cargo install cargo-deny`)
    #[arg(long)]
    without_deny: bool,
    /// Leave out the benchmark gate (it needs valgrind)
    #[arg(long)]
    without_bench: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    cargo_with(&["fmt", "--all", "--check"])?;
    if arguments.without_deny {
        say("cargo deny is left out: --without-deny");
    } else {
        cargo_with(&["deny", "--all-features", "check", "bans", "licenses", "sources"])?;
    }
    cargo_with(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    cargo_with(&["test", "--workspace", "--locked"])?;
    let mut documentation = command(
        &cargo(),
        &["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"],
    );
    execute(documentation.env("RUSTDOCFLAGS", "-D warnings"))?;
    if arguments.without_bench {
        say("the benchmark gate is left out: --without-bench");
        return Ok(());
    }
    bench::run(&bench::Arguments::gate())
}

fn cargo_with(arguments: &[&str]) -> Result<()> {
    execute(&mut command(&cargo(), arguments))
}
