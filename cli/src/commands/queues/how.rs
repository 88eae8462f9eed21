//! Tells whether a change of queues is asked about, and made: the flags that `set`, `hold`, `release` and `move` share.

use crate::print::error::{Exit, Problem, number};

/// Flags of a change.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct How {
    /// Ask nothing
    #[arg(short, long)]
    pub(super) yes: bool,
    /// Only show the plan (client), or let the server check it too (server)
    #[arg(long, value_name = "MODE", default_value = "none", num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    dry_run: String,
}

/// Says how far a change goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// It is made.
    Made,
    /// It is shown.
    Shown,
    /// It is shown, and the server is asked whether it would take it.
    Checked,
}

impl How {
    /// Says how far the change goes.
    ///
    /// # Errors
    /// `--dry-run` has another value.
    pub(super) fn reach(&self) -> Result<Reach, Problem> {
        reach(&self.dry_run)
    }
}

/// Reads the value of `--dry-run`.
///
/// # Errors
/// It is none of the three.
pub(super) fn reach(mode: &str) -> Result<Reach, Problem> {
    match mode {
        "none" => Ok(Reach::Made),
        "client" => Ok(Reach::Shown),
        "server" => Ok(Reach::Checked),
        other => {
            let what = format!("--dry-run={other} is not known");
            Err(Problem::new(number::VALUE, Exit::Usage, what).fix("one of none, client, server"))
        }
    }
}
