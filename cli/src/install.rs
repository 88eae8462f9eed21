//! `kubectl kai install`: puts the scheduler into a cluster.

use crate::{Context, Error, Exit, Problem, error::number};

/// Flags of `install`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the installation.
pub async fn run(_args: Args, _context: &mut Context) -> Result<Exit, Error> {
    Err(Problem::new(number::UNSUPPORTED, Exit::Failure, "install is not part of this build")
        .into())
}
