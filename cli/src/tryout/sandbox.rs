//! `kubectl kai sandbox`: a whole cluster in this process, or simulated nodes for another one.

pub(super) mod attach;
pub(super) mod local;
mod world;

use kai_sandbox::nodes::group::{self, Spec};
use kai_sandbox::nodes::pod::RUN_SECONDS_DEFAULT;
use kai_sandbox::operators::{self, Choice};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use local::{headline, stay};
pub(crate) use world::World;

use crate::print::error::{Error, Exit, Problem, number};

/// Simulated seconds in a second of the demo.
const DEMO_PACE: u32 = 60;
/// Simulated seconds that the demo's work runs: longer than the story, which ends what has to end.
const DEMO_RUN_SECONDS: u64 = 3600;

/// Flags of `sandbox`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubectl kai sandbox                              a cluster to try things on, until Ctrl-C
  kubectl kai sandbox --demo                       the whole product in a minute
  kubectl kai sandbox --nodes 2xH100:8,4xL4:1      other nodes
  kubectl kai sandbox --attach test --nodes 500xA100:8 --operators none
                                                   simulated nodes for the cluster of a context")]
pub struct Args {
    /// Simulated nodes: COUNTxMODEL:GPUS[/MIG-PROFILE] or COUNTxcpu:CORES, comma-separated; none for none
    #[arg(long, value_name = "GROUPS", default_value = "4xH100:8")]
    nodes: String,
    /// Nodes in a rack
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    rack_nodes: u32,
    /// Stand-ins for workload operators: all, none, or names (core, ray, training, argo, notebook, jobset, lws, spark, trainer, scheduler, storage, dra)
    #[arg(long, value_name = "LIST", default_value = "all")]
    operators: String,
    /// Run only nodes and operators, against the cluster of this kubeconfig context
    #[arg(long, value_name = "CONTEXT", conflicts_with_all = ["demo", "port", "limits"])]
    pub(crate) attach: Option<String>,
    /// Tell the product's story with real commands; ends with 0 when it came out as told
    #[arg(long)]
    pub(super) demo: bool,
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
    pub(super) limits: bool,
}

/// Holds what the flags say, understood.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) specs: Vec<Spec>,
    operators: Choice,
    pub(crate) pace: u32,
    /// Simulated seconds that work runs when nothing says how long.
    pub(crate) run_seconds: u64,
    port: u16,
    pub(crate) keep: bool,
}

impl Plan {
    /// Understands the flags.
    ///
    /// # Errors
    /// A group of nodes or an operator that is none.
    pub(crate) fn read(args: &Args) -> Result<Self, Problem> {
        let usage = |what: String| Problem::new(number::VALUE, Exit::Usage, what);
        if args.keep && !args.demo && args.attach.is_none() {
            let what =
                "--keep is for what follows --demo or --attach; the sandbox stays until Ctrl-C";
            return Err(usage(what.to_owned()).fix("leave --keep out   or   --demo --keep"));
        }
        let groups = group::parse(&args.nodes)
            .map_err(|error| usage(error.to_string()).fix("--nodes 4xH100:8"))?;
        let operators =
            operators::parse(&args.operators).map_err(|error| usage(error.to_string()))?;
        Ok(Self {
            specs: group::expand(&groups, args.rack_nodes),
            operators,
            pace: args.pace.unwrap_or(if args.demo { DEMO_PACE } else { 1 }),
            run_seconds: if args.demo { DEMO_RUN_SECONDS } else { RUN_SECONDS_DEFAULT },
            port: args.port,
            keep: args.keep,
        })
    }
}

/// Waits for Ctrl-C or SIGTERM.
///
/// # Errors
/// When the system lets no handler be set.
pub(crate) async fn interrupted() -> Result<Exit, Error> {
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
