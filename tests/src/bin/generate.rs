//! `generate [--check]`: files that have a source elsewhere in the repository, written or compared with it.
//!
//! `cargo xtask generate` runs it. It is no part of xtask, so that xtask builds in seconds.

use std::process::ExitCode;

use clap::Parser;
use kai_tests::{control_plane::say, generated};

#[derive(Parser)]
struct Arguments {
    /// Fail when a file differs from its source instead of writing it
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    let outcome = if Arguments::parse().check { generated::check() } else { generated::write() };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
