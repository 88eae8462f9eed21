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

/// Sets how often a change is tried while controllers write the status of its queue.
const TRIES: usize = 10;

/// Changes a queue, unless somebody else did since it was read. Its status does not count: controllers write that all
/// the time.
async fn write(
    step: &Step,
    queues: &Queues,
    is_dry: bool,
    cluster: &Cluster,
) -> Result<Value, Error> {
    let mut body = body(step, queues);
    let resource = names::queues();
    let call = Call::new("patch", &resource).name(&step.queue);
    for _ in 1..TRIES {
        let failure = match cluster.patch(&call, &body, is_dry).await {
            Ok(answer) => return Ok(answer.body),
            Err(failure) => failure,
        };
        let read = Call::new("get", &resource).name(&step.queue);
        let now = if failure.is_conflict() { cluster.get(&read).await.ok() } else { None };
        match now.flatten() {
            Some(now) if is_same(&queues.0[&step.queue].object, &now) => {
                body["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"].clone();
            }
            _ => return Err(cluster.explain(&call, &failure)),
        }
    }
    let answer = cluster.patch(&call, &body, is_dry).await;
    answer.map(|answer| answer.body).map_err(|failure| cluster.explain(&call, &failure))
}

/// Tells whether an object says what it said when it was looked at, but for its status.
fn is_same(seen: &Value, now: &Value) -> bool {
    let parts = ["/spec", "/metadata/uid", "/metadata/labels", "/metadata/annotations"];
    parts.into_iter().all(|part| seen.pointer(part) == now.pointer(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_no_change() {
        let queue = |spec: i32, uid: &str, status: i32| {
            json!({"metadata": {"uid": uid, "resourceVersion": status.to_string()},
                "spec": {"priority": spec}, "status": {"x": status}})
        };
        for (now, expect) in [
            (queue(1, "a", 1), true),
            (queue(1, "a", 2), true),
            (queue(2, "a", 1), false),
            (queue(1, "b", 1), false),
        ] {
            assert_eq!(is_same(&queue(1, "a", 1), &now), expect, "{now}");
        }
    }

    /// The server refuses it where somebody else has changed the queue since.
    #[test]
    fn a_step_is_one_of_the_version_that_was_read() {
        let object = json!({"metadata": {"name": "a", "resourceVersion": "7"}, "spec": {}});
        let queues = Queues::read(vec![object]);
        let sent = |annotations: Value| {
            let spec = json!({"priority": 5});
            body(&Step { queue: "a".to_owned(), spec, annotations, done: "changed" }, &queues)
        };
        let expect = json!({"metadata": {"resourceVersion": "7"}, "spec": {"priority": 5}});
        assert_eq!(sent(Value::Null), expect);
        let metadata = json!({"resourceVersion": "7", "annotations": {"x": null}});
        assert_eq!(sent(json!({"x": null}))["metadata"], metadata);
    }
}
