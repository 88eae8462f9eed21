//! Changes of queues as they are carried out: whom they hit is said first, then it is asked, then each is written.

use serde_json::{Map, Value, json};

use super::hits;
use super::how::{How, Reach};
use crate::cluster::queue::{Queues, count};
use crate::cluster::{Call, Cluster, listing, names};
use crate::context::Context;
use crate::print::error::{Error, Exit};
use crate::print::format::Format;

/// Holds what becomes of a queue.
pub(super) struct Step {
    pub(super) queue: String,
    /// A merge patch of its `spec`.
    pub(super) spec: Value,
    /// A merge patch of its annotations; null where they stay.
    pub(super) annotations: Value,
    /// Holds what it is then, such as `held`.
    pub(super) done: &'static str,
}

/// Says whom the steps hit, asks, and takes them in their order.
///
/// # Errors
/// Nobody says yes, or the server refuses a step; those before it stand.
pub(super) async fn carry_out(
    steps: &[Step],
    queues: &Queues,
    how: &How,
    cluster: &Cluster,
    context: &mut Context,
) -> Result<Exit, Error> {
    let format = Format::read(context.globals.output.as_deref())?;
    let reach = how.reach()?;
    if steps.is_empty() {
        return Ok(Exit::Ok);
    }
    let changes: Vec<_> =
        steps.iter().flat_map(|step| hits::changes(&step.queue, &step.spec)).collect();
    let evicted = Box::pin(hits::say(&changes, cluster, context)).await?;
    match reach {
        Reach::Shown if format.is_table() => return Ok(Exit::Ok),
        Reach::Shown => {
            let changed = steps.iter().map(|step| changed(step, queues)).collect();
            listing::objects(changed, steps.len() > 1, &format, &mut context.out)?;
            return Ok(Exit::Ok);
        }
        Reach::Checked => {}
        Reach::Made if evicted == 0 => context.confirm("Apply?", how.yes)?,
        Reach::Made => {
            let loss = format!("{} would be evicted", count(evicted, "workload"));
            context.confirm_loss(&format!("Apply? {loss}"), &loss, how.yes)?;
        }
    }
    let mut written = Vec::new();
    for step in steps {
        let object = write(step, queues, reach == Reach::Checked, cluster).await?;
        if format.is_table() {
            let end = if reach == Reach::Checked { " (server dry run)" } else { "" };
            context.out.data(&format!("{} {}{end}", listing::name(&object), step.done))?;
        } else {
            written.push(object);
        }
    }
    if !format.is_table() {
        listing::objects(written, steps.len() > 1, &format, &mut context.out)?;
    }
    Ok(Exit::Ok)
}

/// The merge patch of a step, for the version of the queue that was read.
fn body(step: &Step, queues: &Queues) -> Value {
    let queue = &queues.0[&step.queue];
    let mut metadata = Map::new();
    metadata
        .insert("resourceVersion".to_owned(), queue.object["metadata"]["resourceVersion"].clone());
    if !step.annotations.is_null() {
        metadata.insert("annotations".to_owned(), step.annotations.clone());
    }
    json!({ "metadata": metadata, "spec": step.spec })
}

/// The queue as a step would leave it.
fn changed(step: &Step, queues: &Queues) -> Value {
    let mut object = queues.0[&step.queue].object.clone();
    json_patch::merge(&mut object, &body(step, queues));
    object
}

/// Changes a queue, unless somebody else did since it was read.
async fn write(
    step: &Step,
    queues: &Queues,
    is_dry: bool,
    cluster: &Cluster,
) -> Result<Value, Error> {
    let body = body(step, queues);
    let resource = names::queues();
    let call = Call::new("patch", &resource).name(&step.queue);
    let answer = cluster.patch(&call, &body, is_dry).await;
    answer.map(|answer| answer.body).map_err(|failure| cluster.explain(&call, &failure))
}
