//! `sandbox --attach`: simulated nodes and operators for a cluster that exists.

use kai_sandbox::nodes::{Nodes, NodesError, Options};
use kai_sandbox::operators::{self, OperatorsError};

use super::{Plan, interrupted};
use crate::cluster::Failure;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number, sentence};

/// Runs until Ctrl-C or SIGTERM; then the nodes go, unless they are to be kept.
pub(crate) async fn run(name: &str, plan: Plan, context: &mut Context) -> Result<Exit, Error> {
    if context.globals.context.as_deref().is_some_and(|other| other != name) {
        let what = format!("--attach {name} and --context name two clusters");
        return Err(Problem::new(number::FLAGS_CONFLICT, Exit::Usage, what).into());
    }
    context.globals.context = Some(name.to_owned());
    let cluster = context.cluster().await?;
    let client = cluster.client();
    let count = plan.specs.len();
    let nodes = Nodes::new(Options {
        specs: plan.specs,
        pace: plan.pace,
        run_seconds: plan.run_seconds,
        ..Options::default()
    });
    let nodes = match nodes.start(client.clone()).await {
        Ok(nodes) => nodes,
        Err(error) => return Err(nodes_failed(error, &cluster)),
    };
    let operators = match operators::start(client, &plan.operators, plan.pace).await {
        Ok(operators) => operators,
        Err(error) => {
            nodes.remove().await;
            return Err(operators_failed(error, &cluster));
        }
    };
    let kinds =
        if operators.kinds.is_empty() { "none".to_owned() } else { operators.kinds.join(", ") };
    context
        .out
        .talk(&format!("{count} simulated nodes are registered; operators stand in for: {kinds}"));
    let last =
        if plan.keep { "Ctrl-C stops them; the nodes stay." } else { "Ctrl-C removes them again." };
    context.out.talk(last);
    let exit = interrupted().await;
    operators.stop().await;
    if plan.keep {
        nodes.leave().await;
    } else {
        nodes.remove().await;
    }
    exit
}

fn nodes_failed(error: NodesError, cluster: &crate::cluster::Cluster) -> Error {
    match error {
        NodesError::Api { source, .. } => cluster.explain_any(&Failure::from(*source)),
        other @ (NodesError::Taken { .. } | NodesError::Held { .. } | NodesError::Listen(_)) => {
            Problem::new(number::OTHER, Exit::Conflict, sentence(&other)).into()
        }
    }
}

fn operators_failed(error: OperatorsError, cluster: &crate::cluster::Cluster) -> Error {
    match error {
        OperatorsError::Discovery(source) => cluster.explain_any(&Failure::from(*source)),
        other @ OperatorsError::Unknown { .. } => {
            Problem::new(number::VALUE, Exit::Usage, sentence(&other)).into()
        }
        other @ OperatorsError::Missing { .. } => {
            Problem::new(number::KIND_NOT_SERVED, Exit::NotFound, sentence(&other)).into()
        }
    }
}
