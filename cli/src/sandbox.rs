//! `kubectl kai sandbox`: the whole product in one process.

use crate::{Context, Error, Exit, Problem, error::number};

/// Flags of `sandbox`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the sandbox.
pub async fn run(_args: Args, _context: &mut Context) -> Result<Exit, Error> {
    Err(Problem::new(number::UNSUPPORTED, Exit::Failure, "the sandbox is not part of this build")
        .into())
}
