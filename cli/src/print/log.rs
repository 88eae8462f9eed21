//! Describes what the program does, for somebody who looks for a fault (`-v`): a line an event on stderr.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::time::uptime;
use tracing_subscriber::prelude::*;

/// Starts to log for this process. Requests are told without headers and bodies, where tokens and secrets stand; so what
/// libraries log at the level of a trace, and h2's frames, never show.
pub(super) fn start(verbose: u8, color: bool) {
    let targets = match verbose {
        0 => return,
        1 => Targets::new().with_target(env!("CARGO_CRATE_NAME"), LevelFilter::DEBUG),
        _ => Targets::new().with_default(LevelFilter::DEBUG).with_target("h2", LevelFilter::INFO),
    };
    let lines = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(color)
        .with_timer(uptime())
        .with_target(verbose > 1);
    // It has started already where a command runs another one.
    let _ = tracing_subscriber::registry().with(lines).with(targets).try_init();
}
