//! The podgrouper's process: command line, logs, signals, exit code.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use kai_daemon::{connect, process, requests};
use kube::Client;
use kube::client::ClientBuilder;
use tower::limit::RateLimitLayer;

use crate::args::Args;
use crate::error::Error;
use crate::run::run;

/// Number of threads: each that asks for memory has an arena of it for itself, and the work is waiting for answers.
const THREADS: usize = 4;

/// Runs the podgrouper with a command line, the program's name first, until a signal ends it.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let words = arguments.into_iter().map(|word| word.to_string_lossy().into_owned());
    let args = Args::from_command_line(words);
    start_log(&args);
    process::end_on_panic();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "failed to start");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(start(args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{}", process::causes(&error));
            ExitCode::FAILURE
        }
    }
}

fn start_log(args: &Args) {
    let level = match args.zap_log_level.as_str() {
        "debug" | "warn" | "error" => args.zap_log_level.as_str(),
        "panic" | "fatal" => "error",
        // KAI's numbers count up from debug.
        text if text.parse::<u8>().is_ok_and(|level| level > 0) => "debug",
        _ => "info",
    };
    let filter = process::filter(&format!("warn,kai_podgrouper={level},kai_daemon={level}"));
    process::log(filter, args.zap_encoder != "console" && !args.zap_devel);
}

async fn start(args: Args) -> Result<(), Error> {
    let client = client(&args).await?;
    run(args, client, process::stop_on_signals()).await
}

/// Names this program in requests.
const AGENT: &str = concat!("kai-podgrouper/", env!("CARGO_PKG_VERSION"));

/// A client that keeps to `--qps` and `--burst` where they are given: on average so many requests a
/// second, and never more than the burst at once.
async fn client(args: &Args) -> Result<Client, Error> {
    let config = connect::config(AGENT, args.kubeconfig.as_deref()).await?;
    let counted = requests::counted(&config);
    let client = ClientBuilder::try_from(config)?.with_layer(&counted);
    let Some(qps) = args.qps.filter(|qps| *qps > 0) else { return Ok(client.build()) };
    let burst = args.burst.max(1);
    let window = Duration::from_secs(u64::from(burst)) / qps;
    let limit = RateLimitLayer::new(u64::from(burst), window);
    Ok(client.with_layer(&limit).build())
}
