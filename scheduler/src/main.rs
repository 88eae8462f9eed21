//! The scheduler's process: command line, logs, signals, exit code.

use std::{io::Write, process::ExitCode};

use kai_scheduler::{Args, Error, client, run};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let args = match Args::from_command_line(std::env::args_os()) {
        Ok(args) => args,
        Err(error) => {
            // Nobody is left to tell where even this cannot be printed.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    if args.version {
        let version = env!("CARGO_PKG_VERSION");
        return match writeln!(std::io::stdout(), "kai-scheduler {version}") {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    log(&args);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "failed to start");
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(schedule(args));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = kai_scheduler::call::causes(&error), "the scheduler ends");
            ExitCode::FAILURE
        }
    }
}

async fn schedule(args: Args) -> Result<(), Error> {
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
    let client = client(&args).await?;
    Box::pin(run(args, client, stop)).await
}

/// The client logs each request that fails, without its address and however often; whoever asked says it once per change.
const CLIENT: &str = "kube_client::client::builder=off";

/// Logs to standard error, at the level of `-v` unless `RUST_LOG` says otherwise.
fn log(args: &Args) {
    let level = match args.v {
        0..=2 => "warn",
        3 => "info",
        4..=5 => "debug",
        6.. => "trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| {
        EnvFilter::new(format!("{level},hyper=warn,rustls=warn,tower=warn,{CLIENT}"))
    });
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if args.log_json { lines.json().init() } else { lines.init() }
}
