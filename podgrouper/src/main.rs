//! The `kai-podgrouper` daemon.

use std::process::ExitCode;
use std::time::Duration;

use kai_podgrouper::{Args, Error, run};
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tower::limit::RateLimitLayer;
use tracing_subscriber::EnvFilter;

// Each thread that asks for memory has an arena of it for itself, and the work is waiting for answers.
#[tokio::main(worker_threads = 4)]
async fn main() -> ExitCode {
    let args = Args::from_command_line(std::env::args());
    start_log(&args);
    match start(args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut why = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(error) = source {
                why = format!("{why}: {error}");
                source = error.source();
            }
            tracing::error!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn start_log(args: &Args) {
    let level = match args.zap_log_level.as_str() {
        "debug" | "warn" | "error" => args.zap_log_level.as_str(),
        "panic" | "fatal" => "error",
        // The peer's numbers count up from debug.
        text if text.parse::<u8>().is_ok_and(|level| level > 0) => "debug",
        _ => "info",
    };
    let filter = EnvFilter::new(format!("warn,kai_podgrouper={level},{CLIENT}"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if args.zap_encoder == "console" || args.zap_devel {
        log.init();
    } else {
        log.json().init();
    }
}

async fn start(args: Args) -> Result<(), Error> {
    let client = client(&args).await?;
    let stop = CancellationToken::new();
    let on_signal = stop.clone();
    let mut terminate = signal(SignalKind::terminate())
        .map_err(|error| Error::Config(format!("failed to wait for signals: {error}")))?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            // Ctrl-C that cannot be waited for leaves SIGTERM.
            Ok(()) = tokio::signal::ctrl_c() => {}
        }
        on_signal.cancel();
    });
    run(args, client, stop).await
}

/// The client logs each request that fails, without its address and however often; whoever asked says it once per change.
const CLIENT: &str = "kube_client::client::builder=off";

/// A client that keeps to `--qps` and `--burst` where they are given: on average so many requests a
/// second, and never more than the burst at once.
async fn client(args: &Args) -> Result<Client, Error> {
    let config = config(args).await?;
    let Some(qps) = args.qps.filter(|qps| *qps > 0) else { return Ok(Client::try_from(config)?) };
    let burst = args.burst.max(1);
    let window = Duration::from_secs(u64::from(burst)) / qps;
    let limit = RateLimitLayer::new(u64::from(burst), window);
    Ok(ClientBuilder::try_from(config)?.with_layer(&limit).build())
}

async fn config(args: &Args) -> Result<Config, Error> {
    match &args.kubeconfig {
        Some(path) => {
            let file = Kubeconfig::read_from(path)
                .map_err(|error| Error::Config(format!("{}: {error}", path.display())))?;
            Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
                .await
                .map_err(|error| Error::Config(format!("{}: {error}", path.display())))
        }
        None => Config::incluster().map_err(|error| {
            Error::Config(format!("not in a cluster ({error}); give --kubeconfig FILE"))
        }),
    }
}
