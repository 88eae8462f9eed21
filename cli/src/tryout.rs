//! Trying the product without a cluster.
//!
//! ```text
//!  sandbox            -> world: API server + install + nodes + operators + daemons -> kubeconfig, wait
//!  sandbox --demo     -> world -> the story of `demo`
//!  sandbox --attach C -> nodes + operators against the cluster of context C
//! ```

mod demo;
pub mod sandbox;

use kai_sandbox::server::LIMITS;

use crate::context::{Context, Run};
use crate::print::error::{Error, Exit};
use sandbox::{Args, Plan, attach, local};

/// Runs the sandbox; the demo types its commands with `run`.
///
/// # Errors
/// What the user has to know; a demo that did not come out as told has said so and ends with 1.
pub(crate) async fn run(args: Args, context: &mut Context, run: Run) -> Result<Exit, Error> {
    if args.limits {
        for limit in LIMITS {
            context.out.data(limit)?;
        }
        return Ok(Exit::Ok);
    }
    let plan = Plan::read(&args)?;
    match args.attach {
        Some(name) => attach::run(&name, plan, context).await,
        None if args.demo => demo::run(plan, context, run).await,
        None => local::run(plan, context).await,
    }
}
