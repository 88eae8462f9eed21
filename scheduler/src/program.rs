//! The scheduler's process: command line, logs, signals, exit code.

use std::{ffi::OsString, io::Write, process::ExitCode};

use kai_daemon::process;

use crate::{
    settings::Args,
    start::{Error, client, run},
};

/// Runs the scheduler with a command line, the program's name first, until a signal ends it.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let args = match Args::from_command_line(arguments) {
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
    process::end_on_panic();
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
            tracing::error!(error = process::causes(&error), "the scheduler ends");
            ExitCode::FAILURE
        }
    }
}

async fn schedule(args: Args) -> Result<(), Error> {
    let stop = process::stop_on_signals();
    let client = client(&args).await?;
    Box::pin(run(args, client, stop)).await
}

/// Logs at the level of `-v` unless `RUST_LOG` says otherwise.
fn log(args: &Args) {
    let level = match args.v {
        0..=2 => "warn",
        3 => "info",
        4..=5 => "debug",
        6.. => "trace",
    };
    let directives = std::env::var("RUST_LOG")
        .unwrap_or_else(|_| format!("{level},hyper=warn,rustls=warn,tower=warn"));
    process::log(process::filter(&directives), args.log_json);
}
