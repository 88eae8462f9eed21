//! `kubectl kai sandbox`: a whole cluster in this process, or simulated nodes for another one.
//!
//! ```text
//!  sandbox            -> world: API server + install + nodes + operators + daemons -> kubeconfig, wait
//!  sandbox --demo     -> world -> the story of `demo`
//!  sandbox --attach C -> nodes + operators against the cluster of context C
//! ```

mod attach;

use kai_sandbox::nodes::group::{self, Spec};
use kai_sandbox::operators::{self, Choice};
use kai_sandbox::server::LIMITS;
use tokio::signal::unix::{SignalKind, signal};

use crate::{Context, Error, Exit, Problem, error::number};

/// Simulated seconds in a second of the demo.
const DEMO_PACE: u32 = 60;

/// Flags of `sandbox`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubectl kai sandbox                              a cluster to try things on, until Ctrl-C
  kubectl kai sandbox --demo                       the whole product in a minute
  kubectl kai sandbox --nodes 2xH100:8,4xL4:1      other nodes
  kubectl kai sandbox --attach test --nodes 500xA100:8 --operators none
                                                   simulated nodes for the cluster of a context")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Args {
    /// Simulated nodes: COUNTxMODEL:GPUS or COUNTxcpu:CORES, comma-separated; none for none
    #[arg(long, value_name = "GROUPS", default_value = "4xH100:8")]
    nodes: String,
    /// Nodes in a rack
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    rack_nodes: u32,
    /// Stand-ins for workload operators: all, none, or names (ray, training, argo, notebook, core, scheduler)
    #[arg(long, value_name = "LIST", default_value = "all")]
    operators: String,
    /// Run only nodes and operators, against the cluster of this kubeconfig context
    #[arg(long, value_name = "CONTEXT", conflicts_with_all = ["demo", "port", "limits"])]
    attach: Option<String>,
    /// Tell the product's story with real commands; ends with 0 when it came out as told
    #[arg(long)]
    demo: bool,
    /// Leave the cluster up after --demo; leave the nodes registered after --attach
    #[arg(long)]
    keep: bool,
    /// Simulated seconds that pass in a second (1, with --demo 60)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pace: Option<u32>,
    /// Port of the API server on 127.0.0.1; 0 picks a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Print what the embedded API server leaves out
    #[arg(long)]
    limits: bool,
}

/// What the flags say, understood.
struct Plan {
    specs: Vec<Spec>,
    operators: Choice,
    pace: u32,
    keep: bool,
}

/// Runs the sandbox.
///
/// # Errors
/// What the user has to know; a demo that did not come out as told has said so and ends with 1.
pub async fn run(args: Args, context: &mut Context) -> Result<Exit, Error> {
    if args.limits {
        for limit in LIMITS {
            context.out.data(limit)?;
        }
        return Ok(Exit::Ok);
    }
    let usage = |what: String| Problem::new(number::VALUE, Exit::Usage, what);
    let groups = group::parse(&args.nodes)
        .map_err(|error| usage(error.to_string()).fix("--nodes 4xH100:8"))?;
    let operators = operators::parse(&args.operators).map_err(|error| usage(error.to_string()))?;
    let plan = Plan {
        specs: group::expand(&groups, args.rack_nodes),
        operators,
        pace: args.pace.unwrap_or(if args.demo { DEMO_PACE } else { 1 }),
        keep: args.keep,
    };
    match args.attach {
        Some(name) => attach::run(&name, plan, context).await,
        None => Err(Problem::new(
            number::UNSUPPORTED,
            Exit::Failure,
            "the embedded cluster is not part of this build; --attach is",
        )
        .into()),
    }
}

/// Waits for Ctrl-C or SIGTERM.
///
/// # Errors
/// When the system lets no handler be set.
async fn interrupted() -> Result<Exit, Error> {
    let fail = |error: std::io::Error| {
        Problem::new(number::OTHER, Exit::Failure, format!("failed to listen for signals: {error}"))
    };
    let mut terminate = signal(SignalKind::terminate()).map_err(fail)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(fail)?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(Exit::Ok)
}

/// An error with all its causes, as one sentence.
fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}
