//! A daemon as a process: its log, its signals, and how it says why it ends.

use std::error::Error;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// The client logs each request that fails, without its address and however often; whoever asked says it once a change.
const QUIET_CLIENT: &str = "kube_client::client::builder=off";

/// Makes a filter from `directives`, without the lines that the client writes of each request.
pub fn filter(directives: &str) -> EnvFilter {
    EnvFilter::new(format!("{directives},{QUIET_CLIENT}"))
}

/// Logs to standard error from now on, one JSON object a line where `json` says so.
///
/// # Panics
/// Where the process logs already.
pub fn log(filter: EnvFilter, json: bool) {
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if json { lines.json().init() } else { lines.init() }
}

/// Makes a token that SIGTERM and SIGINT cancel. A signal that cannot be listened for is logged, and ends the process as
/// it would without us.
pub fn stop_on_signals() -> CancellationToken {
    let stop = CancellationToken::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        match signal(kind) {
            Ok(mut signals) => {
                let stop = stop.clone();
                tokio::spawn(async move {
                    signals.recv().await;
                    tracing::info!("stopping");
                    stop.cancel();
                });
            }
            Err(error) => tracing::warn!(%error, "failed to listen for a signal"),
        }
    }
    stop
}

/// Prints an error with its causes, outermost first; a cause that the text has already is left out.
pub fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
