//! A daemon as a process: its log, its signals, and how it says why it ends.

use std::cell::Cell;
use std::error::Error;
use std::panic::{self, AssertUnwindSafe};

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

thread_local! {
    /// The panic of what runs now on this thread is somebody's to catch.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Has a panic on any thread end the process from now on, after it was told: what was left in the middle decides nothing
/// more, and a new process reads all anew. What [`catching`] runs is left out.
pub fn end_on_panic() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |about| {
        if IS_CAUGHT.get() {
            return;
        }
        tell(about);
        std::process::abort();
    }));
}

/// Runs what may panic for a reason that is not ours; none where it does.
pub fn catching<T>(what: impl FnOnce() -> T) -> Option<T> {
    let before = IS_CAUGHT.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(what)).ok();
    IS_CAUGHT.set(before);
    done
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

/// Prints an error with its causes, outermost first; a cause that the text has already is left out. A refusal of the API
/// server is printed in its own words, and not as the whole structure that it came in.
pub fn causes(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        let refusal = refusal(cause);
        let words = refusal.clone().unwrap_or_else(|| cause.to_string());
        if !text.contains(&words) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&words);
        }
        next = cause.source().filter(|_| refusal.is_none());
    }
    text
}

/// The words of the API server's refusal, where the error is one.
fn refusal(error: &(dyn Error + 'static)) -> Option<String> {
    let Some(kube::Error::Api(status)) = error.downcast_ref::<kube::Error>() else { return None };
    let (code, reason) = (status.code, &status.reason);
    Some(match status.message.as_str() {
        "" => format!("{reason} ({code})"),
        message => format!("{message} ({code} {reason})"),
    })
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    #[derive(thiserror::Error, Debug)]
    #[error("failed to write a status")]
    struct Outer(#[source] kube::Error);

    #[test]
    fn a_refusal_is_told_in_the_servers_words() {
        let status = Status::failure("leases is forbidden", "Forbidden").with_code(403);
        let error = Outer(kube::Error::Api(status.boxed()));
        let expected = "failed to write a status: leases is forbidden (403 Forbidden)";
        assert_eq!(causes(&error), expected);
    }
}
