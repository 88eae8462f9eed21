//! Puts a queue elsewhere in the tree.

use serde_json::{Value, json};

use super::bounds;
use super::how::How;
use super::step::{Step, carry_out};
use crate::cluster::queue::Queues;
use crate::context::Context;
use crate::print::error::{Error, Exit, Problem, number};
use crate::print::output::clean;

/// Flags of `queues move`.
#[derive(Debug, clap::Args)]
pub(crate) struct Move {
    /// Name of the queue
    name: String,
    /// Queue that it goes below
    #[arg(long, value_name = "QUEUE")]
    parent: String,
    #[command(flatten)]
    how: How,
}

/// Runs `queues move`.
pub(super) async fn relocate(args: Move, context: &mut Context) -> Result<Exit, Error> {
    args.how.reach()?;
    let cluster = context.cluster().await?;
    let (queues, uses) = futures::join!(super::read_to("patch", &cluster), super::uses(&cluster));
    let queues = queues?;
    let Move { name, parent, how } = args;
    check(&queues, &name, &parent)?;
    let queue = &queues.0[&name];
    if queue.parent.as_ref() == Some(&parent) {
        context.out.talk(&format!("{} is below {} already", clean(&name), clean(&parent)));
        return Ok(Exit::Ok);
    }
    context.out.talk(&format!(
        "{}  {} -> {}/{}",
        clean(&name),
        queues.path(&name),
        queues.path(&parent),
        clean(&name)
    ));
    if let Some(inside) = uses.ok().and_then(|uses| uses.get(&parent).cloned()) {
        inside.warn_of_queues_below(&parent, context);
    }
    let before = &queue.object["spec"];
    let mut after: Value = before.clone();
    after["parentQueue"] = json!(parent);
    for warning in bounds::warnings(&queues, &name, before, &after) {
        context.out.warn(&warning);
    }
    let step = Step {
        queue: name,
        spec: json!({ "parentQueue": parent }),
        annotations: Value::Null,
        done: "moved",
    };
    carry_out(&[step], &queues, &how, &cluster, context).await
}

/// Refuses queues that do not exist, and a ring.
fn check(queues: &Queues, name: &str, parent: &str) -> Result<(), Error> {
    let wanted = [name, parent].into_iter();
    Error::all(
        wanted.filter(|one| !queues.0.contains_key(*one)).map(|one| queues.unknown(one)).collect(),
    )?;
    if !queues.is_below(parent, name) {
        return Ok(());
    }
    let what = if parent == name {
        format!("queue \"{}\" cannot be below itself", clean(name))
    } else {
        format!("queue \"{}\" is below \"{}\"", clean(parent), clean(name))
    };
    Err(Problem::new(number::VALUE, Exit::Refused, what)
        .line("a ring of queues has no place in the tree, and nothing would run in it")
        .fix("a parent that is not inside what is moved: kubectl kai queues")
        .into())
}
